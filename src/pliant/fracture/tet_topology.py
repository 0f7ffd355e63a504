"""Topology of tets with open faces: the particles that follow from them, and the pieces.

Two tets are connected where they share a face; a vertex belongs to all tets around it that are connected
through faces at that vertex. So opening faces makes exactly the particles that the crack needs, and pieces
that would touch in a vertex or an edge alone are separate.
"""

from dataclasses import dataclass

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.interfaces import blend
from pliant.mesh.topology import components, merge_points

FACES = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])  # outward, opposite to each corner


@dataclass(frozen=True)
class TetEdit:
    """Tets (m, 4) over new particles: where these come from, ``rest = weights . old rest[parents]`` with
    parents, weights (n, k), and the old tet that each tet is, or is a part of, (m,)."""

    tets: IntArray
    parents: IntArray
    weights: Array
    origin: IntArray

    def blended(self, values: Array) -> Array:
        """Old values per particle (n, ...) at the new ones."""
        return blend(values, self.parents, self.weights)


def shared_faces(tets: IntArray) -> IntArray:
    """Pairs (f, 2) of half-faces (4 t + k is opposite to corner k of tet t) that are one face of two tets."""
    faces = np.sort(tets[:, FACES].reshape(-1, 3), axis=1)
    order = np.lexsort(faces.T[::-1])
    ordered = faces[order]
    same = (ordered[1:] == ordered[:-1]).all(axis=1)
    return np.column_stack([order[:-1][same], order[1:][same]])


def pieces(tets: IntArray) -> tuple[int, IntArray]:
    """Number of pieces, and the piece of each tet: those that are connected through faces."""
    return components(len(tets), shared_faces(tets) // 4)


def opened(tets: IntArray, count: int, pairs: IntArray) -> tuple[IntArray, IntArray]:
    """Open the faces ``pairs`` (rows of ``shared_faces``): tets over new particles, and the old particle of
    each, (n,): those of 0 to ``count`` - 1 stay, new ones follow."""
    touched = np.unique(tets[pairs[:, 0] // 4][:, FACES][np.arange(len(pairs)), pairs[:, 0] % 4])
    mine = np.zeros(count, bool)
    mine[touched] = True
    near = np.flatnonzero(mine[tets].any(axis=1))
    local = tets[near]
    joints = shared_faces(local)
    apart = {tuple(sorted(pair)) for pair in pairs.tolist()}
    around = near[joints // 4] * 4 + joints % 4
    closed = np.array([tuple(sorted(pair)) not in apart for pair in around.tolist()], bool)
    joints = joints[closed]
    links = corner_links(local, joints)
    links = links[mine[local.ravel()[links[:, 0]]]]
    _, group = components(local.size, links)
    corner = np.flatnonzero(mine[local.ravel()])  # in the order of tets
    fresh = local.copy().ravel()
    fresh[corner], owner = named_copies(local.ravel()[corner], group[corner], count)
    out = tets.copy()
    out[near] = fresh.reshape(-1, 4)
    return out, owner


def named_copies(vertex: IntArray, group: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Numbers of corners (c,) at each ``vertex`` (c,) of 0 to ``count`` - 1, one for each ``group`` (c,) of
    them, and the vertex of each number (n,): the first group at a vertex keeps it, others follow."""
    _, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    owner = vertex[first]
    order = np.lexsort((first, owner))
    keeps = np.ones(len(order), bool)
    keeps[1:] = owner[order][1:] != owner[order][:-1]
    name = np.empty(len(first), np.int64)
    name[order[keeps]] = owner[order[keeps]]
    name[order[~keeps]] = count + np.arange((~keeps).sum())
    return name[inverse.reshape(-1)], np.concatenate([np.arange(count), owner[order[~keeps]]])


def corner_links(tets: IntArray, joints: IntArray) -> IntArray:
    """Corners (4 t + k) of the two tets at each joint that are the same vertex, (3 f, 2)."""
    a, b = joints[:, 0], joints[:, 1]
    ca = 4 * (a // 4)[:, None] + FACES[a % 4]
    cb = 4 * (b // 4)[:, None] + FACES[b % 4]
    flat = tets.ravel()
    ca = np.take_along_axis(ca, np.argsort(flat[ca], axis=1), axis=1)
    cb = np.take_along_axis(cb, np.argsort(flat[cb], axis=1), axis=1)
    return np.column_stack([ca.ravel(), cb.ravel()])


def open_faces(tets: IntArray, count: int, pairs: IntArray) -> TetEdit | None:
    """The edit that opens ``pairs``; None where that makes no new particle."""
    fresh, parents = opened(tets, count, pairs)
    if len(parents) == count:
        return None
    return TetEdit(fresh, parents[:, None], np.ones((len(parents), 1)), np.arange(len(tets)))


def boundary_twins(rest: Array, triangles: IntArray) -> BoolArray:
    """Which boundary triangles (m, 3) lie on another one in the rest shape: the faces of cracks."""
    _, of = merge_points(rest)
    keys = np.sort(of[triangles], axis=1)
    _, inverse, uses = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(uses[inverse.reshape(-1)] > 1)
