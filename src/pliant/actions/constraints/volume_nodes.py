"""A compiled projection that keeps the volumes of nodes."""

# mypy: disable-error-code="no-untyped-def"

from typing import TYPE_CHECKING

import numpy as np

from pliant.actions.constraints.volume_tets import tet_gradients
from pliant.core.typing import AnyArray, Array
from pliant.interfaces import Structure
from pliant.kernels.jit import jit
from pliant.mesh.mesh import tet_volumes

if TYPE_CHECKING:
    from pliant.actions.volume_constraint import VolumeConstraint
    from pliant.materials import ResolvedMaterial as Material


@jit
def _nodal(tets, per_tet, out):
    """A quarter of each tet's value to each of its particles."""
    out[:] = 0.0
    for t in range(tets.shape[0]):
        s = 0.25 * per_tet[t]
        for k in range(4):
            out[tets[t, k]] += s


@jit
def _pull(tets, gradients, multipliers, out):
    """``out = B^T multipliers`` for nodal volumes; (n, 3)."""
    out[:] = 0.0
    for t in range(tets.shape[0]):
        p, q, r, s = tets[t, 0], tets[t, 1], tets[t, 2], tets[t, 3]
        m = 0.25 * (multipliers[p] + multipliers[q] + multipliers[r] + multipliers[s])
        g = gradients[t]
        for c in range(3):
            out[p, c] += m * g[0, c]
            out[q, c] += m * g[1, c]
            out[r, c] += m * g[2, c]
            out[s, c] += m * g[3, c]


@jit
def _change(tets, gradients, move, out):
    """``out = B move`` for nodal volumes; (n,)."""
    out[:] = 0.0
    for t in range(tets.shape[0]):
        p, q, r, s = tets[t, 0], tets[t, 1], tets[t, 2], tets[t, 3]
        g = gradients[t]
        total = 0.0
        for c in range(3):
            total += g[0, c] * move[p, c] + g[1, c] * move[q, c] + g[2, c] * move[r, c] + g[3, c] * move[s, c]
        total *= 0.25
        out[p] += total
        out[q] += total
        out[r] += total
        out[s] += total


class NodeVolumes:
    """One constraint per particle, by Newton with preconditioned conjugate gradients.

    The preconditioner is the factorised ``B W B^T`` of the rest shape: turning the body leaves that matrix
    as it is, so it serves for large rotations too. Remembers a pressure per particle.
    """

    def __init__(self, structure: Structure, material: "Material", options: "VolumeConstraint") -> None:
        self.tets = np.ascontiguousarray(structure.cells["tetra"], dtype=np.int64)
        self.start = structure.rest
        n = len(structure.rest)
        self.volumes = tet_volumes(structure.rest, self.tets)
        self.rest = np.zeros(n)
        _nodal(self.tets, self.volumes, self.rest)
        self.gradients = np.zeros((len(self.tets), 4, 3))
        self.tolerance = options.tolerance or 1e-5
        self.pressure: Array = np.zeros(n)
        self._pulled, self._product, self._error = np.zeros((n, 3)), np.zeros(n), np.zeros(n)
        self._factored: AnyArray | None = None

    def begin(self, x: Array) -> None:
        return

    def _factor(self, w: AnyArray) -> None:
        """Factorise the rest shape's ``B W B^T`` (slightly shifted) for these inverse masses."""
        from scipy.sparse import csr_matrix, eye
        from scipy.sparse.linalg import splu

        n, tets = len(self.rest), self.tets
        tet_gradients(tets, self.start, self.volumes, self.gradients)
        nodes, others = np.repeat(tets, 4, axis=1), np.tile(tets, 4)
        axes = np.arange(3)
        columns = (3 * others[:, :, None] + axes).ravel()
        entries = 0.25 * np.tile(self.gradients, (1, 4, 1)).ravel()
        rows = np.repeat(nodes.ravel(), 3)
        B = csr_matrix((entries, (rows, columns)), shape=(n, 3 * n))
        A = B @ csr_matrix((w.ravel(), (np.arange(3 * n), np.arange(3 * n)))) @ B.T
        self._shift = 1e-9 * float(A.diagonal().max())
        self._solve = splu((A + 1e-6 * float(A.diagonal().max()) * eye(n)).tocsc()).solve
        self._factored = w.copy()

    def _times(self, y: Array, w: Array) -> Array:
        """``(B W B^T + shift) y``."""
        _pull(self.tets, self.gradients, y, self._pulled)
        _change(self.tets, self.gradients, self._pulled * w, self._product)
        return self._product + self._shift * y

    def add_forces(self, x: Array, out: Array) -> None:
        if self.pressure.any():
            tet_gradients(self.tets, x, self.volumes, self.gradients)
            _pull(self.tets, self.gradients, self.pressure, self._pulled)
            out += self._pulled

    def potential_energy(self, x: Array) -> float:
        """Zero: the constraint is exact."""
        return 0.0

    def project(self, x: Array, v: Array, w: Array, dt: float) -> None:
        if self._factored is None or not np.array_equal(self._factored, w):
            self._factor(w)
        for _ in range(8):
            tet_gradients(self.tets, x, self.volumes, self.gradients)
            _nodal(self.tets, self.volumes, self._error)
            error = self._error - self.rest
            if np.abs(error / self.rest).max() <= self.tolerance:
                break
            y = self._solved(error, w)
            _pull(self.tets, self.gradients, y, self._pulled)
            move = self._pulled * w
            x -= move
            v -= move / dt
            self.pressure -= y / dt**2

    def state(self) -> dict[str, AnyArray]:
        return {"pressure": self.pressure}

    def _solved(self, error: Array, w: Array) -> Array:
        """Multipliers that undo ``error``, to a third of the tolerance."""
        y = np.zeros_like(error)
        residual = error
        z = self._solve(residual)
        p, rz = z, float(residual @ z)
        for _ in range(200):
            if np.abs(residual / self.rest).max() <= 0.3 * self.tolerance or rz <= 0.0:
                break
            product = self._times(p, w)
            alpha = rz / float(p @ product)
            y += alpha * p
            residual = residual - alpha * product
            z = self._solve(residual)
            new = float(residual @ z)
            p, rz = z + (new / rz) * p, new
        return y
