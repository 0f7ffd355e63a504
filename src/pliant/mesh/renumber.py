"""Numbering a mesh so that neighbours in space are neighbours in memory."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from pliant.core.typing import IntArray
from pliant.mesh.mesh import TetMesh, tet_edges


def ordered(mesh: TetMesh) -> TetMesh:
    """The same mesh without unused points: points in reverse Cuthill-McKee order, tets by their lowest point.

    Corners of a tet keep their orientation; each tet starts with its lowest point. Groups and regions follow.
    """
    used = np.unique(mesh.tets)
    compact = np.searchsorted(used, mesh.tets)
    sequence = cuthill_mckee(len(used), compact)
    number = np.empty(len(used), dtype=np.int64)
    number[sequence] = np.arange(len(used))
    tets = lowest_first(number[compact])
    rank = np.lexsort(np.sort(tets, axis=1).T[::-1])
    return replace(
        mesh,
        points=np.ascontiguousarray(mesh.points[used][sequence]),
        tets=np.ascontiguousarray(tets[rank]),
        groups=_renumbered(mesh.groups, used, number),
        regions=None if mesh.regions is None else mesh.regions[rank],
    )


def cuthill_mckee(count: int, tets: IntArray) -> IntArray:
    """The points in an order that keeps the ends of every edge close together; shape (count,).

    Source: Cuthill and McKee, Reducing the bandwidth of sparse symmetric matrices (1969), reversed.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    edges = tet_edges(tets)
    both = np.concatenate([edges, edges[:, ::-1]])
    graph = coo_array((np.ones(len(both), np.int8), (both[:, 0], both[:, 1])), shape=(count, count)).tocsr()
    return np.asarray(reverse_cuthill_mckee(graph, symmetric_mode=True), dtype=np.int64)


def lowest_first(tets: IntArray) -> IntArray:
    """Tets with their lowest point first, turned by even permutations only; shape (m, 4)."""
    turns = np.array([[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])
    return np.take_along_axis(tets, turns[np.argmin(tets, axis=1)], axis=1)


def _renumbered(groups: Mapping[str, IntArray], used: IntArray, number: IntArray) -> dict[str, IntArray]:
    return {name: number[np.searchsorted(used, np.intersect1d(i, used))] for name, i in groups.items()}
