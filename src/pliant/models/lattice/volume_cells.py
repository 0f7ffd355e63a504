"""Volume terms of a lattice body: cells of eight elements that resist changes of their volume."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.element_blocks import make_blocks
from pliant.models.lattice import cell_kernels
from pliant.models.tets.stiffness import assemble

if TYPE_CHECKING:
    from scipy.sparse import bsr_array

_DIAGONALS = np.array([[6, 0], [7, 1], [4, 2], [5, 3]])
_SIGNS = np.array([[1.0, -1.0, -1.0, 1.0], [1.0, 1.0, -1.0, -1.0], [1.0, 1.0, 1.0, 1.0]])


def mean_edges(x: Array, cells: IntArray) -> Array:
    """Mean edges (c, 3, 3) of ``cells`` (c, 8), one in each row [m]."""
    diagonals = x[cells[:, _DIAGONALS[:, 0]]] - x[cells[:, _DIAGONALS[:, 1]]]
    return np.asarray(0.25 * np.einsum("ek,ikc->iec", _SIGNS, diagonals))


def mean_volumes(x: Array, cells: IntArray) -> Array:
    """Determinants (c,) of the mean edges of ``cells`` [m3]."""
    return np.asarray(np.linalg.det(mean_edges(x, cells)))


class VolumeCells:
    r"""Cells (c, 8) of elements in VTK's order that store

    .. math:: w V \left[\tfrac12 (\lambda - \mu) (J - 1)^2 + \tfrac12 E \max(0, \tfrac12 - J)^2\right],

    J the volume of the mean edges over that at rest, ``volumes`` (c,) [m3]. The connections alone have
    :math:`\lambda = \mu`; the first term adds what is missing. The second one keeps cells from turning inside
    out, which costs connections nothing. An element shares its volume out among the cells that it belongs to;
    w is the sum of a cell's shares. bulk, young: :math:`\lambda - \mu` and E [Pa]; factors (c,) scale the
    stiffness of cells.
    """

    def __init__(self, cells: IntArray, volumes: Array, bulk: float, young: float, count: int) -> None:
        self.cells, self.volumes, self.bulk, self.young = cells, volumes, bulk, young
        shares = 1.0 / np.maximum(np.bincount(cells.ravel(), minlength=count), 1)
        self.weights = shares[cells].sum(axis=1)
        self.factors = np.ones(len(cells))
        self.blocks = make_blocks(cells, count, columns=4)
        self._near = np.empty_like(self.blocks.buffer)
        self.write()

    def write(self) -> None:
        """Take over the present volumes and factors."""
        size = self.factors * self.weights * np.abs(self.volumes)
        unit = np.where(self.factors > 0.0, 1.0 / (64.0 * self.volumes), 0.0)
        self.rest = self.blocks.rows(unit, self.bulk * size, self.young * size)

    def add_forces(self, x: Array, out: Array) -> None:
        s = self.blocks
        cell_kernels.cell_forces[s.parallel](
            s.low, s.high, s.offset, s.starts, s.index, self.rest, x, self._near, s.buffer, out
        )

    def energy(self, x: Array) -> float:
        s = self.blocks
        return float(cell_kernels.cell_energy[s.parallel](s.starts, s.index, self.rest, x))

    def add_product(self, x: Array, dx: Array, out: Array) -> None:
        """Add ``K dx`` to ``out``."""
        self._add_scaled(1.0, True, x, dx, out)

    def add_damping(self, beta: float, x: Array, v: Array, out: Array) -> None:
        """Add the forces that resist changes of volume, ``beta`` times the stiffness, to ``out``."""
        if self.bulk > 0.0:
            self._add_scaled(-beta, False, x, v, out)

    def _add_scaled(self, scale: float, barrier: bool, x: Array, dx: Array, out: Array) -> None:
        s = self.blocks
        cell_kernels.cell_product[s.parallel](
            s.starts, s.low, s.offset, s.index, self.rest, scale, barrier, x, dx, s.buffer
        )
        s.add_to(out)

    def add_forces_between(self, before: Array, after: Array, out: Array) -> None:
        """Add the forces of an energy-momentum step to ``out``."""
        s = self.blocks
        cell_kernels.cell_forces_between[s.parallel](
            s.starts, s.low, s.offset, s.index, self.rest, before, after, s.buffer
        )
        s.add_to(out)

    def ratios(self, x: Array) -> Array:
        """Volume ratios J (c,)."""
        return np.asarray(cell_kernels.cell_ratios(self.cells, self.volumes, x))

    def _gradients(self, x: Array) -> Array:
        """Derivatives of J by the places of the corners (c, 8, 3) [1/m]."""
        edges = mean_edges(x, self.cells)
        p, q, r = edges[:, 0], edges[:, 1], edges[:, 2]
        by_edge = np.stack([np.cross(q, r), np.cross(r, p), np.cross(p, q)], axis=1)
        by_diagonal = 0.25 * np.einsum("ek,iec->ikc", _SIGNS, by_edge) / self.volumes[:, None, None]
        out = np.zeros((len(self.cells), 8, 3))
        out[:, _DIAGONALS[:, 0]], out[:, _DIAGONALS[:, 1]] = by_diagonal, -by_diagonal
        return out

    def stiffness(self, x: Array) -> "bsr_array":
        """The stiffness matrix (3n, 3n) [N/m] where the cells at ``x`` have their rest volumes."""
        g = self._gradients(x).reshape(len(self.cells), 24)
        size = self.bulk * self.factors * self.weights * np.abs(self.volumes)
        return assemble(
            size[:, None, None] * g[:, :, None] * g[:, None, :], self.cells, self.blocks.particle_count
        )

    def resultant(self, x: Array, above: BoolArray) -> tuple[Array, float]:
        """Force [N] of the cells across a section on the elements ``above`` (n,), and the sum of their
        magnitudes."""
        J, size = self.ratios(x), self.factors * self.weights * np.abs(self.volumes)
        barrier = self.young * np.maximum(0.0, cell_kernels.CRUSHED - J)
        pressure = size * (self.bulk * (J - 1.0) - barrier)
        f = -pressure[:, None, None] * self._gradients(x)
        side = above[self.cells]
        mixed = side.any(axis=1) & ~side.all(axis=1)
        on_above = (f * side[:, :, None]).sum(axis=1)[mixed]
        return on_above.sum(axis=0), float(np.linalg.norm(on_above, axis=1).sum())
