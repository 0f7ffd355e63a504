"""Lattices of a block: its structured tets, and the triangles of its six sides."""

from itertools import permutations

import numpy as np

from pliant.core.typing import Array, IntArray


def lattice_points(x: Array, y: Array, z: Array) -> Array:
    """All points of the lattice of three coordinate lists, x slowest; shape (len(x) len(y) len(z), 3)."""
    return np.stack(np.meshgrid(x, y, z, indexing="ij"), axis=-1).reshape(-1, 3)


def kuhn_tets(cells: tuple[int, int, int]) -> IntArray:
    """Six tets a cell, all positive, conforming across cells; shape (6 nx ny nz, 4).

    Each tet is a path from the low corner of its cell to the high one along the axes in some order
    (Kuhn's triangulation of the cube); odd orders have their two middle points swapped.
    """
    strides = np.array([(cells[1] + 1) * (cells[2] + 1), cells[2] + 1, 1])
    low = (
        np.stack(np.meshgrid(*(np.arange(n) for n in cells), indexing="ij"), axis=-1).reshape(-1, 3) @ strides
    )
    paths = []
    for order in permutations(range(3)):
        first, second = strides[order[0]], strides[order[0]] + strides[order[1]]
        odd = np.linalg.det(np.eye(3)[list(order)]) < 0
        paths.append([0, second, first, strides.sum()] if odd else [0, first, second, strides.sum()])
    return np.asarray((low[:, None, None] + np.array(paths)[None]).reshape(-1, 4), dtype=np.int64)


def block_surface(x: Array, y: Array, z: Array) -> tuple[Array, IntArray]:
    """The six sides of a lattice, closed and facing outward, two triangles a quad.

    The diagonals run from the low to the high corner, as those of :func:`kuhn_tets` do.
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
