"""Joining the pieces of a tet mesh that touch each other nowhere, or in points and edges alone."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array, IntArray
from pliant.mesh.mesh import TetMesh, boundary_triangles, tet_volumes
from pliant.mesh.topology import components

FARTHEST = 3.0  # edges between pieces that are joined, at most
TRIED = 6  # nearest faces that are tried for each of a piece's
BRIDGES = 3  # prisms between two pieces, at most
if TYPE_CHECKING:
    from scipy.spatial import cKDTree

_FACES = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])


def pieces_of(tets: IntArray) -> tuple[int, IntArray]:
    """Number of pieces that are connected through faces, and the piece of each tet."""
    keys = np.sort(tets[:, _FACES].reshape(-1, 3), axis=1)
    _, label = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(label.reshape(-1), kind="stable")
    same = np.flatnonzero(np.diff(label.reshape(-1)[order]) == 0)
    pairs = np.column_stack([order[same], order[same + 1]]) // 4
    return components(len(tets), pairs)


def joined(mesh: TetMesh) -> TetMesh:
    """The mesh with each piece joined to the nearest other one by up to three prisms of three tets between
    their boundary triangles, beginning with the largest piece. MeshError where pieces are farther apart than
    three edges."""
    from scipy.spatial import cKDTree

    number, of = pieces_of(mesh.tets)
    if number == 1:
        return mesh
    sizes = np.bincount(of)
    whole, left = {int(np.argmax(sizes))}, set(range(number)) - {int(np.argmax(sizes))}
    edge = float(np.cbrt(np.abs(tet_volumes(mesh.points, mesh.tets)).mean() * 8.5))
    faces = [boundary_triangles(mesh.tets[of == k]) for k in range(number)]
    middles = [mesh.points[each].mean(axis=1) for each in faces]
    bridges = list[IntArray]()
    while left:
        there = np.concatenate([middles[k] for k in sorted(whole)])
        known = np.concatenate([faces[k] for k in sorted(whole)])
        tree = cKDTree(there)
        gaps = {k: float(np.min(tree.query(middles[k])[0])) for k in sorted(left)}
        k = min(gaps, key=lambda each: (gaps[each], each))
        found = _bridges(mesh.points, faces[k], middles[k], known, tree, edge)
        if gaps[k] > FARTHEST * edge or not found:
            raise MeshError(
                f"A piece of {sizes[k]} tets is {gaps[k]:.3g} m away from the others: too far to be joined.",
                hint='Join it in the surface, make a body of it, or leave out pieces = "joined".',
            )
        bridges += found
        whole.add(k)
        left.discard(k)
    tets = np.concatenate([mesh.tets, *bridges])
    regions = mesh.regions
    if regions is not None:
        regions = np.concatenate([regions, np.full(len(tets) - len(mesh.tets), regions[0])])
    return replace(mesh, tets=tets, regions=regions)


def _bridges(
    points: Array, mine: IntArray, middles: Array, others: IntArray, tree: "cKDTree", edge: float
) -> list[IntArray]:
    """Prisms (3, 4) from the triangles ``mine`` to the nearest of ``others``, no triangle used twice."""
    near, which = tree.query(middles, k=min(TRIED, len(others)))
    near, which = np.reshape(near, (len(mine), -1)), np.reshape(which, (len(mine), -1))
    found, used = list[IntArray](), set[int]()
    for row in np.argsort(near[:, 0], kind="stable"):
        if len(found) == BRIDGES or (found and near[row, 0] > 2.0 * near.min() + 0.5 * edge):
            break
        if used & set(mine[row].tolist()):
            continue
        best, least = None, 1e-3 * edge**3
        for k in which[row]:
            if used & set(others[k].tolist()):
                continue
            for turn in range(3):
                tets = _prism(others[k], np.roll(mine[row][::-1], turn))
                volume = tet_volumes(points, tets)
                if np.abs(volume).min() > least:
                    least = float(np.abs(volume).min())
                    best = np.where((volume < 0.0)[:, None], tets[:, [1, 0, 2, 3]], tets)
        if best is not None:
            found.append(best)
            used |= set(best.ravel().tolist())
    return found


def _prism(a: IntArray, b: IntArray) -> IntArray:
    """Three tets between the triangles a and b."""
    return np.array([[a[0], a[1], a[2], b[2]], [a[0], a[1], b[2], b[1]], [a[0], b[1], b[2], b[0]]])
