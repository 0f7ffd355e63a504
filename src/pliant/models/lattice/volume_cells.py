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
    stiffness of cells, damage (c,) takes its share of it away.
    """

    def __init__(self, cells: IntArray, volumes: Array, bulk: float, young: float, count: int) -> None:
        self.cells, self.volumes, self.bulk, self.young = cells, volumes, bulk, young
        shares = 1.0 / np.maximum(np.bincount(cells.ravel(), minlength=count), 1)
        self.weights = shares[cells].sum(axis=1)
        self.factors, self.damage = np.ones(len(cells)), np.zeros(len(cells))
        self.blocks = make_blocks(cells, count, columns=4)
        self._slot = np.empty(len(cells), np.int64)
        self._slot[self.blocks.order] = self.blocks.slots
        self._connections: IntArray | None = None
        self._near = np.empty_like(self.blocks.buffer)
        self.write()

    @property
    def sizes(self) -> Array:
        """Volumes (c,) [m3] that the cells stand for, less what damage has taken."""
        return np.asarray((1.0 - self.damage) * self.factors * self.weights * np.abs(self.volumes))

    def write(self) -> None:
        """Take over the present volumes, factors and damage."""
        sizes = self.sizes
        unit = np.where(sizes > 0.0, 1.0 / (64.0 * self.volumes), 0.0)
        self.rest = self.blocks.rows(unit, self.bulk * sizes, self.young * sizes)

    def connections(self, edges: IntArray) -> IntArray:
        """The numbers (c, 28) of the connections ``edges`` between the elements of each cell."""
        if self._connections is None:
            a, b = np.triu_indices(8, 1)
            low = np.minimum(self.cells[:, a], self.cells[:, b])
            high = np.maximum(self.cells[:, a], self.cells[:, b])
            count = np.int64(self.blocks.particle_count)
            self._connections = np.searchsorted(edges[:, 0] * count + edges[:, 1], low * count + high)
        return self._connections

    def take_damage(self, which: IntArray, damage: Array, x: Array) -> float:
        """Give the cells ``which`` (k,) their ``damage`` (k,); returns the energy [J] that this takes at
        ``x``."""
        before = self.densities(which, x) @ self.sizes[which]
        self.damage[which] = damage
        sizes = self.sizes[which]
        row, lane = self._slot[which] // 16, self._slot[which] % 16
        self.rest[row, lane] = np.where(sizes > 0.0, 1.0 / (64.0 * self.volumes[which]), 0.0)
        self.rest[row, 16 + lane], self.rest[row, 32 + lane] = self.bulk * sizes, self.young * sizes
        return float(before - self.densities(which, x) @ sizes)

    def densities(self, which: IntArray, x: Array) -> Array:
        """Energy of the cells ``which`` over the volumes that they stand for [J/m3]."""
        J = cell_kernels.cell_ratios(self.cells[which], self.volumes[which], x)
        crushed = np.maximum(0.0, cell_kernels.CRUSHED - J)
        return np.asarray(0.5 * self.bulk * (J - 1.0) ** 2 + 0.5 * self.young * crushed**2)

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
        J = self.ratios(x)
        barrier = self.young * np.maximum(0.0, cell_kernels.CRUSHED - J)
        pressure = self.sizes * (self.bulk * (J - 1.0) - barrier)
        f = -pressure[:, None, None] * self._gradients(x)
        side = above[self.cells]
        mixed = side.any(axis=1) & ~side.all(axis=1)
        on_above = (f * side[:, :, None]).sum(axis=1)[mixed]
        return on_above.sum(axis=0), float(np.linalg.norm(on_above, axis=1).sum())
