"""Lattices of a block: its structured tets, the triangles of its six sides, and shapes made of them."""

from itertools import permutations
from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator

from pliant.core.typing import AnyArray, Array, IntArray
from pliant.mesh.mesh import Surface, TetMesh
from pliant.mesh.shapes.common import Shape, Size, target_edge

CELL_LIMIT = 5_000_000


def lattice_points(x: AnyArray, y: AnyArray, z: AnyArray) -> AnyArray:
    """All points of the lattice of three coordinate lists, x slowest; shape (len(x) len(y) len(z), 3)."""
    return np.stack(np.meshgrid(x, y, z, indexing="ij"), axis=-1).reshape(-1, 3)


Split = Literal["alternating", "uniform"]


def alternating_tets(cells: tuple[int, int, int]) -> IntArray:
    """Six tets a cell, all positive, conforming across cells; shape (6 nx ny nz, 4).

    As :func:`kuhn_tets`, with every second cell along each axis mirrored: paths lead from the corner whose
    three indices are even to the one whose indices are odd, so that the diagonals of neighbours meet
    (the reflected Kuhn or "union jack" triangulation). No direction is preferred, and along an axis with an
    even number of cells the mesh is its own mirror image.
    """
    strides = _strides(cells)
    index = lattice_points(*(np.arange(n) for n in cells))
    odd = index % 2
    start, step = (index + odd) @ strides, (1 - 2 * odd) * strides
    mirrored = odd.sum(axis=1) % 2 == 1
    paths = []
    for order in permutations(range(3)):
        first = start + step[:, order[0]]
        second = first + step[:, order[1]]
        swap = mirrored ^ bool(np.linalg.det(np.eye(3)[list(order)]) < 0)
        middle = np.where(swap, second, first), np.where(swap, first, second)
        paths.append(np.stack([start, *middle, start + step.sum(axis=1)], axis=-1))
    return np.asarray(np.stack(paths, axis=1).reshape(-1, 4), dtype=np.int64)


def _strides(cells: tuple[int, int, int]) -> IntArray:
    """By how much the number of a lattice point grows along each axis."""
    return np.array([(cells[1] + 1) * (cells[2] + 1), cells[2] + 1, 1])


def kuhn_tets(cells: tuple[int, int, int]) -> IntArray:
    """Six tets a cell, all positive, conforming across cells; shape (6 nx ny nz, 4).

    Each tet is a path from the low corner of its cell to the high one along the axes in some order
    (Kuhn's triangulation of the cube); odd orders have their two middle points swapped. All cells are split
    alike, so that the mesh is softer across the common diagonal than along it.
    """
    strides = _strides(cells)
    low = lattice_points(*(np.arange(n) for n in cells)) @ strides
    paths = []
    for order in permutations(range(3)):
        first, second = strides[order[0]], strides[order[0]] + strides[order[1]]
        odd = np.linalg.det(np.eye(3)[list(order)]) < 0
        paths.append([0, second, first, strides.sum()] if odd else [0, first, second, strides.sum()])
    return np.asarray((low[:, None, None] + np.array(paths)[None]).reshape(-1, 4), dtype=np.int64)


def block_surface(x: Array, y: Array, z: Array, *, alternating: bool = False) -> tuple[Array, IntArray]:
    """The six sides of a lattice, closed and facing outward, two triangles a quad.

    The diagonals run from the low to the high corner, as those of :func:`kuhn_tets` do, or alternate as those
    of :func:`alternating_tets`.
    Returns points (n, 3), only those on the sides, and triangles (m, 3).
    """
    axes = (x, y, z)
    counts = [len(a) for a in axes]
    number = np.arange(np.prod(counts)).reshape(counts)
    triangles = []
    for axis in range(3):
        for end in (0, -1):
            side = np.take(number, end, axis=axis)
            if (axis == 1) == (end == -1):
                a, b, c, d = side[:-1, :-1], side[:-1, 1:], side[1:, 1:], side[1:, :-1]
            else:
                a, b, c, d = side[:-1, :-1], side[1:, :-1], side[1:, 1:], side[:-1, 1:]
            if alternating:
                turned = np.indices(a.shape).sum(axis=0) % 2 == 1
                a, b, c, d = (np.where(turned, q, p) for p, q in ((a, b), (b, c), (c, d), (d, a)))
            triangles += [
                np.stack([a, b, c], axis=-1).reshape(-1, 3),
                np.stack([a, c, d], axis=-1).reshape(-1, 3),
            ]
    used, flat = np.unique(np.concatenate(triangles), return_inverse=True)
    index = np.unravel_index(used, counts)
    points = np.stack([a[i] for a, i in zip(axes, index, strict=True)], axis=-1)
    return points, flat.reshape(-1, 3).astype(np.int64)


def steps(length: float, edge: float, least: int = 1) -> int:
    """How many steps of about ``edge`` fit into ``length``."""
    return max(least, round(length / edge))


def checked_divisions(divisions: tuple[int, int, int]) -> tuple[int, int, int]:
    if min(divisions) < 1:
        raise ValueError(f"expected at least one division along each axis, got {list(divisions)}")
    cells = divisions[0] * divisions[1] * divisions[2]
    if cells > CELL_LIMIT:
        raise ValueError(f"{list(divisions)} divisions make {cells} cells, more than {CELL_LIMIT}")
    return divisions


Divisions = Annotated[tuple[int, int, int], AfterValidator(checked_divisions)]


class BlockLattice(Shape):
    """A block from the origin to ``size`` [m]; with ``divisions`` it is a lattice of six tets a cell."""

    size: Size
    divisions: Divisions | None

    def surface(self, edge: float | None = None) -> Surface:
        """The six sides in steps of about ``edge`` (a sixth of the shortest side), or in ``divisions``."""
        x, y, z = self.size
        cells = self.divisions
        if cells is None:
            target = target_edge(edge, self._default_edge(), 2 * (x * y + y * z + z * x))
            cells = steps(x, target), steps(y, target), steps(z, target)
        alternating = self.divisions is not None and self.alternating
        points, triangles = block_surface(*self._axes(cells), alternating=alternating)
        return Surface(self._placed(points), triangles)

    @property
    def alternating(self) -> bool:
        """Whether the diagonals of neighbouring cells are mirror images."""
        return False

    def volume(self) -> TetMesh | None:
        """The lattice's tets, six a cell, if there are ``divisions``."""
        if self.divisions is None:
            return None
        points = self._placed(lattice_points(*self._axes(self.divisions)))
        tets = alternating_tets if self.alternating else kuhn_tets
        return TetMesh(points, tets(self.divisions))

    def _axes(self, cells: tuple[int, int, int]) -> list[Array]:
        return [np.linspace(0.0, length, n + 1) for length, n in zip(self.size, cells, strict=True)]

    def _default_edge(self) -> float:
        return min(self.size) / 6

    def _placed(self, points: Array) -> Array:
        return points
