r"""Elastic energies of phyxels as compliant constraints.

Phyxel i is held by six constraints, the components of Green's strain :math:`E_i = (F_i^T F_i - 1)/2 = 0`,
with the compliance :math:`(V_i C)^{-1}` of Hooke's law C: the energy :math:`\tfrac12 E : V C : E`
[ServinLacoursiereMelin2006]_. Linearised at x, the multipliers after a move dx are
:math:`\lambda_i = V_i C (E_i + sym(F_i^T dF_i))`. Eliminated from the equations of a step they leave the
stiffness :math:`\sum_i B_i^T V_i C B_i`, with :math:`B\,dx = sym(F^T dF)`, and that of the multipliers
themselves, :math:`\sum_i \lambda_i : sym(dF_i^T dF_i)`, from which compressive multipliers are left out, so
that it is never negative. The hourglass energy is quadratic in the positions and enters as it is.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import Array
from pliant.interfaces import ElasticConstraints
from pliant.models.efg import mls_kernels
from pliant.models.efg.support import SIX, FitMatrices, fit_matrices, full

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from pliant.models.efg.mechanics import EfgMechanics


class PhyxelConstraints(ElasticConstraints):
    """The constraints of an elastic body."""

    def __init__(self, mechanics: "EfgMechanics") -> None:
        self.mechanics = mechanics

    def check_constraints(self) -> None:
        """Refuse what changes the rest shape or the neighbours."""
        own = self.mechanics
        if own.plasticity is not None or own.cracking is not None:
            raise IncompatibleError(
                "Integrator 'compliant-constraints' is for elastic bodies: the material has a yield stress "
                "or a strength.",
                hint='Leave these out, or use integrator = "implicit-euler".',
            )

    @cached_property
    def fit(self) -> FitMatrices:
        own = self.mechanics
        return fit_matrices(own.support, own.reference, own.material_rows[:, mls_kernels.K])

    @cached_property
    def _gradient(self) -> Any:
        """dF of all phyxels (9n) from dx (3n), rows in the order of ``F.reshape(-1)``."""
        from scipy.sparse import coo_array

        n, rows, columns, values = len(self.mechanics.volumes), [], [], []
        for b, derivative in enumerate(self.fit.sampled):
            entries = derivative.tocoo()
            for k in range(3):
                rows.append(9 * entries.row + 3 * k + b)
                columns.append(3 * entries.col + k)
                values.append(entries.data)
        where = np.concatenate(rows), np.concatenate(columns)
        return coo_array((np.concatenate(values), where), shape=(9 * n, 3 * n)).tocsr()

    def _deformation(self, x: Array) -> Array:
        """F (n, 3, 3), within the directions that neighbours sample."""
        F = self.mechanics.gradients(x).reshape(-1, 3, 3)
        return np.asarray(F @ self.mechanics.support.projector)

    def multipliers(self, x: Array, dx: Array) -> Array:
        F = self._deformation(x)
        dF = (self._gradient @ dx.reshape(-1)).reshape(-1, 3, 3)
        unit = self.mechanics.support.projector
        E = 0.5 * (np.einsum("nka,nkb->nab", F, F) - unit)
        turned = np.einsum("nka,nkb->nab", F, dF)
        E += 0.5 * (turned + turned.transpose(0, 2, 1))
        mu, lam = self._constants()
        S = 2.0 * mu[:, None, None] * E + (lam * np.trace(E, axis1=1, axis2=2))[:, None, None] * unit
        return np.stack([S[:, a, b] for a, b in SIX], axis=1)

    def _constants(self) -> tuple[Array, Array]:
        """Lame's constants times the volume (n,) [J]."""
        rows = self.mechanics.material_rows
        return rows[:, mls_kernels.V_MU], rows[:, mls_kernels.V_LAMBDA] + rows[:, mls_kernels.V_KV]

    def constraint_stiffness(self, x: Array, multipliers: Array) -> "csr_array":
        from scipy.sparse import bsr_array

        F, n = self._deformation(x), len(x)
        mu, lam = self._constants()
        values, vectors = np.linalg.eigh(full(multipliers))
        tension = np.einsum("nik,nk,njk->nij", vectors, np.maximum(values, 0.0), vectors)
        one = np.eye(3)
        FF = np.einsum("nkc,nlc->nkl", F, F)
        blocks = np.einsum("n,nkl,ab->nkalb", mu, FF, one)
        blocks += np.einsum("n,nkb,nla->nkalb", mu, F, F)
        blocks += np.einsum("n,nka,nlb->nkalb", lam, F, F)
        blocks += np.einsum("nab,kl->nkalb", tension, one)
        own = bsr_array((blocks.reshape(n, 9, 9), np.arange(n), np.arange(n + 1)), shape=(9 * n, 9 * n))
        G = self._gradient
        found: csr_array = ((G.T @ (own @ G)) + self._hourglass).tocsr()
        return found

    @cached_property
    def _hourglass(self) -> Any:
        from scipy.sparse import eye_array, kron

        return kron(self.fit.hourglass, eye_array(3), format="csr")
