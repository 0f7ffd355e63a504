r"""Phyxels that fit their neighbourhood by a quadratic polynomial.

With the basis :math:`p = (x, y, z, x^2, y^2, z^2, yz, xz, xy)` of places relative to phyxel i, the fit that
minimises :math:`\sum_j w_{ij} |u_{ij} - a\,p(X_{ij})|^2` through the phyxel's own displacement is
:math:`a = \sum_j w_{ij} u_{ij} p_{ij}^T M_i^{-1}`, :math:`M_i = \sum_j w_{ij} p_{ij} p_{ij}^T`. Its first
three columns are the gradient of displacement, so :math:`F_i = I + \sum_j u_j \otimes G_{ij}` with fixed G,
exact for quadratic fields. The energy is :math:`\sum_i V_i W(F_i)` plus, against motions that the fit does
not see, :math:`\tfrac12 \sum_i k_i \sum_j w_{ij} |u_{ij} - a\,p_{ij}|^2` with the k of the linear basis;
forces are its exact gradient. Momenta are kept, because the fit is exact for rigid motions.

Source: [Stegmayr2008]_ 3.2.3, which names the basis and uses the linear one. The support is ``WIDER`` times
that of the linear basis: the fit has nine unknowns instead of three.
"""

# mypy: disable-error-code="no-untyped-def"

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import Array, IntArray, Kernel
from pliant.interfaces import Damped, FieldData, Mechanics, StableStep, StoredEnergy, Structure, Tangent
from pliant.kernels.jit import specialised
from pliant.materials.constitutive import law_named
from pliant.materials.constitutive.law import Law
from pliant.models.critical_step import explicit_limit
from pliant.models.efg import fields
from pliant.models.efg.mls_kernels import put, take
from pliant.models.efg.support import make_support, neighbour_graph, supports
from pliant.models.tets.fields import equivalent, stress_fields

if TYPE_CHECKING:
    from scipy.sparse import bsr_array, csr_array

    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.efg.model import Efg

WIDER = 1.35
WORST = 1e-9  # least eigenvalue of M over the largest, places in units of h

invariants: Kernel = None  # of the law that the loop is compiled for
energy: Kernel = None
stress: Kernel = None


def _law_rows(f_rows, volumes, mu, bulk, k, p_rows):
    """``V P`` of each phyxel into ``p_rows`` (n, 9), and the sum of ``V W`` [J]."""
    total, s = 0.0, (0.0, 0.0, 0.0)
    for i in range(f_rows.shape[0]):
        f, v = take(f_rows, i, 0), volumes[i]
        total += v * energy(invariants(f, s), mu, bulk, k)
        put(p_rows, i, 0, stress(f, s, v * mu, v * bulk, 0.0, k))
    return total


@cache
def law_rows(law: Law) -> Kernel:
    """The loop over phyxels, compiled for a law that needs no rotation."""
    own = law.functions
    names = {"invariants": own.invariants, "energy": own.energy, "stress": own.stress}
    return specialised(_law_rows, law.kind.replace("-", "_"), names, cache=law.cached)


def basis(d: Array) -> Array:
    """``(x, y, z, x^2, y^2, z^2, yz, xz, xy)`` of places (m, 3); shape (m, 9)."""
    return np.concatenate([d, d**2, d[:, [1, 0, 0]] * d[:, [2, 2, 1]]], axis=1)


class QuadraticPhyxels(Mechanics):
    """Forces, energy and fields of an elastic body of phyxels with the quadratic basis."""

    capabilities = frozenset({StoredEnergy, Damped, Tangent})
    field_names = tuple(name for name in fields.NAMES if name != "plastic")

    def __init__(self, structure: Structure, material: "Material", model: "Efg") -> None:
        self.structure, self.material = structure, material
        self.damping_time = material.damping or 0.0
        self.law = law_named(model.law)
        self.constants = self.law.constants(model.law_parameters)
        self.inversion_safe = self.law.safe
        self.volumes = structure.mass / material.density
        self.volume_stiffness = model.volume_stiffness
        h = WIDER * supports(structure.rest, model, structure.spacing)
        self.support = make_support(structure.rest, h, model.support == "nearest")
        self._build(model.hourglass * material.young)

    def _build(self, hourglass: float) -> None:
        """The sparse matrices of gradients (3n, n), row 3 i + b that along axis b at phyxel i, and of the
        hourglass term (n, n)."""
        from scipy.sparse import coo_array

        s, rest, n = self.support, self.structure.rest, len(self.volumes)
        slopes, pairs = [], []
        for i in range(n):
            around = s.around[s.starts[i] : s.starts[i + 1]].astype(np.int64)
            w = s.weight[s.starts[i] : s.starts[i + 1]].astype(np.float64)
            d = rest[around] - rest[i]
            p = basis(d / s.h[i])
            moments = p.T @ (w[:, None] * p)
            values = np.linalg.eigvalsh(moments)
            if not values[0] > WORST * values[-1]:
                raise IncompatibleError(
                    f"basis = 'quadratic': particle {i} has too few neighbours ({len(around)}) to fit a "
                    "quadratic field.",
                    hint="Give a smaller edge, a larger reach, or basis = 'linear'.",
                )
            fit = np.linalg.solve(moments, (w[:, None] * p).T)  # (9, m): a of unit displacements around
            slope = fit[:3] / s.h[i]
            slopes.append(_with_centre(i, around, slope))
            left = np.eye(len(around)) - p @ fit  # what the fit leaves of unit displacements around
            stiffness = hourglass * self.volumes[i] / float(np.sum(w * np.einsum("ij,ij->i", d, d)))
            own = stiffness * left.T @ (w[:, None] * left)
            own = np.concatenate([-own.sum(axis=0, keepdims=True), own])
            own = np.concatenate([-own.sum(axis=1, keepdims=True), own], axis=1)
            nodes = np.concatenate([[i], around])
            pairs.append((np.repeat(nodes, len(nodes)), np.tile(nodes, len(nodes)), own.ravel()))
        rows, columns, data = (np.concatenate(parts) for parts in zip(*slopes, strict=True))
        self.slopes: csr_array = coo_array((data, (rows, columns)), shape=(3 * n, n)).tocsr()
        self.slopes_transposed: csr_array = self.slopes.T.tocsr()
        rows, columns, data = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
        self.hourglass: csr_array = coo_array((data, (rows, columns)), shape=(n, n)).tocsr()

    # ---------------------------------------------------------------------------------- forces

    def gradients(self, x: Array) -> Array:
        """Deformation gradients F of the phyxels, (n, 9), row by row."""
        h = (self.slopes @ (x - self.structure.rest)).reshape(-1, 3, 3)  # derivative, component
        return np.ascontiguousarray((h.transpose(0, 2, 1) + np.eye(3)).reshape(-1, 9))

    def _evaluate(self, x: Array) -> tuple[float, Array]:
        """Energy of the law [J], and ``V P`` (n, 3, 3) [J]."""
        f = self.gradients(x)
        lam, mu = self.material.lame
        p = np.empty_like(f)
        total = float(law_rows(self.law)(f, self.volumes, mu, lam + 2.0 * mu / 3.0, self.constants, p))
        p = p.reshape(-1, 3, 3)
        if self.volume_stiffness:
            F = f.reshape(-1, 3, 3)
            cofactor = np.stack([np.cross(F[:, :, k - 2], F[:, :, k - 1]) for k in range(3)], axis=2)
            own = self.volume_stiffness * self.volumes
            change = np.linalg.det(F) - 1.0
            total += 0.5 * float(own @ change**2)
            p = p + (own * change)[:, None, None] * cofactor
        return total, p

    def _spread(self, p: Array) -> Array:
        """``G^T p`` (n, 3): minus the forces of ``V P`` (n, 3, 3)."""
        return np.asarray(self.slopes_transposed @ p.transpose(0, 2, 1).reshape(-1, 3))

    def add_elastic_forces(self, x: Array, out: Array) -> None:
        out -= self._spread(self._evaluate(x)[1]) + self.hourglass @ (x - self.structure.rest)

    def energy(self, x: Array) -> float:
        """Elastic energy [J], that of the hourglass control included."""
        return self._evaluate(x)[0] + self.hourglass_energy(x)

    def hourglass_energy(self, x: Array) -> float:
        """The part of the energy that keeps motions in check which the fit does not see [J]."""
        u = x - self.structure.rest
        return 0.5 * float(np.sum(u * (self.hourglass @ u)))

    def _add_product(self, x: Array, dx: Array, out: Array, hourglass: bool) -> None:
        """Hooke's stiffness in the rotated frame of each phyxel."""
        U, _, W = np.linalg.svd(self.gradients(x).reshape(-1, 3, 3))
        U[:, :, 2] *= np.sign(np.linalg.det(U) * np.linalg.det(W))[:, None]
        turn = U @ W
        strain = turn.transpose(0, 2, 1) @ (self.slopes @ dx).reshape(-1, 3, 3).transpose(0, 2, 1)
        strain = 0.5 * (strain + strain.transpose(0, 2, 1))
        lam, mu = self.material.lame
        trace = (lam + self.volume_stiffness) * np.trace(strain, axis1=1, axis2=2)
        stress = 2.0 * mu * strain + trace[:, None, None] * np.eye(3)
        out += self._spread(self.volumes[:, None, None] * (turn @ stress))
        if hourglass:
            out += self.hourglass @ dx

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        """Add ``K dx``; it leaves out the stiffness that present stresses bring."""
        self._add_product(x, dx, out, True)

    def add_damping_forces(self, x: Array, v: Array, out: Array) -> None:
        self._add_product(x, -self.damping_time * v, out, False)

    def rest_stiffness(self) -> "bsr_array":
        """The stiffness matrix at rest (3n, 3n) [N/m], scipy BSR with 3x3 blocks."""
        from scipy.sparse import bsr_array, diags_array, eye_array, kron

        lam, mu = self.material.lame
        n = len(self.volumes)
        G = [self.slopes[np.arange(n) * 3 + b] for b in range(3)]
        V = diags_array(self.volumes)
        unit = [[np.eye(3)[[a]].T @ np.eye(3)[[b]] for b in range(3)] for a in range(3)]
        same = self.hourglass + sum(mu * (g.T @ V @ g) for g in G)
        whole = kron(same, eye_array(3))
        for a in range(3):
            for b in range(3):
                block = (lam + self.volume_stiffness) * (G[a].T @ V @ G[b]) + mu * (G[b].T @ V @ G[a])
                whole = whole + kron(block, unit[a][b])
        return bsr_array(whole.tocsr(), blocksize=(3, 3))

    def neighbour_graph(self) -> "csr_array":
        """Which phyxels feel each other: those with a neighbour in common; CSR (n, n) without diagonal."""
        return neighbour_graph(self.support)

    def stable_step(self) -> StableStep:
        return explicit_limit(self, self.structure, self.damping_time)

    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, FieldData]:
        """Fields per phyxel; see ``efg_fields``."""
        F = self.gradients(x).reshape(-1, 3, 3)
        P = self._evaluate(x)[1] / self.volumes[:, None, None]
        E = 0.5 * (F.transpose(0, 2, 1) @ F - np.eye(3))
        J = np.linalg.det(F)
        sigma = P @ F.transpose(0, 2, 1) / np.maximum(np.abs(J), 1e-12)[:, None, None]
        found = stress_fields(0.5 * (sigma + sigma.transpose(0, 2, 1)), names, "particle")
        if "strain" in names:
            found["strain"] = FieldData(equivalent(E))
        if "inverted" in names:
            found["inverted"] = FieldData(J <= 0.0)
        return found


def _with_centre(i: int, around: IntArray, slope: Array) -> tuple[IntArray, IntArray, Array]:
    """Rows, columns and entries of the derivatives (3, m) at phyxel ``i``, whose own entry makes them zero in
    sum."""
    nodes = np.concatenate([[i], around])
    entries = np.concatenate([-slope.sum(axis=1, keepdims=True), slope], axis=1)
    return np.repeat(3 * i + np.arange(3), len(nodes)), np.tile(nodes, 3), entries.ravel()
