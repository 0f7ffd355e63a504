"""The surface through the centres of a lattice body's outer elements, for contact.

Where the body is at least two elements thick it is the boundary of the full cubes of neighbours; a sheet one
element thick gives its squares, a row its segments (two corners equal), a lone element a point.
"""

from collections.abc import Callable

import numpy as np

from pliant.core.typing import BoolArray, IntArray

_FACES = ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))
_SQUARES = (
    ((1, 0, 0), (1, 1, 0), (0, 1, 0)),
    ((0, 1, 0), (0, 1, 1), (0, 0, 1)),
    ((0, 0, 1), (1, 0, 1), (1, 0, 0)),
)


def lattice_quads(at: Callable[[tuple[int, int, int]], IntArray], count: int) -> IntArray:
    """All squares of four neighbours (q, 4); ``at(offset)`` gives each element's neighbour there, or -1."""
    found = [np.column_stack([np.arange(count), *(at(o) for o in square)]) for square in _SQUARES]
    quads = np.concatenate(found)
    return quads[(quads >= 0).all(axis=1)]


def swept_triangles(cubes: IntArray, quads: IntArray, edges: IntArray, count: int) -> IntArray:
    """Triangles (m, 3) of the surface of ``cubes`` (c, 8, in VTK's order), of ``quads`` (q, 4) that belong to
    no cube, of ``edges`` (e, 2) that belong to no quad, and of elements that belong to none.

    Boundary triangles face outward; the others have two sides.
    """
    faces = cubes[:, np.array(_FACES)].reshape(-1, 4)
    key, first, times = np.unique(_keys(faces, count), return_index=True, return_counts=True)
    outer = faces[np.sort(first[times == 1])]
    sheet = quads[~np.isin(_keys(quads, count), key)]
    sides = np.concatenate([faces, sheet])[:, [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]]].reshape(-1, 2)
    rows = edges[~np.isin(_keys(edges, count), np.unique(_keys(sides, count)))]
    alone = np.setdiff1d(np.arange(count), np.concatenate([sides.ravel(), rows.ravel()]))
    squares = np.concatenate([outer, sheet])
    both = np.stack([squares[:, [0, 1, 2]], squares[:, [0, 2, 3]]], axis=1).reshape(-1, 3)
    triangles = [both, rows[:, [0, 1, 1]], alone[:, None][:, [0, 0, 0]]]
    return np.concatenate(triangles).astype(np.int64)


def _keys(cells: IntArray, count: int) -> IntArray:
    """One number per lattice cell: the lowest and the highest element of a square are opposite corners."""
    keys: IntArray = cells.min(axis=1) * np.int64(count) + cells.max(axis=1)
    return keys


def intact(cells: IntArray, edges: IntArray, broken: BoolArray, count: int) -> IntArray:
    """Those of ``cells`` (c, k) none of whose connections is broken; ``broken`` (e,) belongs to ``edges``."""
    if not broken.any() or not len(cells):
        return cells
    return cells[~np.isin(_pairs(cells, count), np.unique(_keys(edges[broken], count))).any(axis=1)]


def connected(cells: IntArray, edges: IntArray, count: int) -> IntArray:
    """Those of ``cells`` (c, k) all of whose elements are connected to each other by ``edges`` (e, 2)."""
    return cells[np.isin(_pairs(cells, count), np.unique(_keys(edges, count))).all(axis=1)]


def _pairs(cells: IntArray, count: int) -> IntArray:
    """The keys of all pairs of elements of each cell (c, k (k - 1) / 2)."""
    a, b = np.triu_indices(cells.shape[1], 1)
    pairs = np.sort(np.stack([cells[:, a], cells[:, b]], axis=-1), axis=-1)
    keys: IntArray = pairs[..., 0] * np.int64(count) + pairs[..., 1]
    return keys
