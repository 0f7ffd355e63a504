"""Tets cut by the zero level of a function that is given at their vertices.

A tet with vertices on both sides is cut into a part on each, and these into tets: every polygon is fanned
from its lowest vertex, and every part from its own lowest vertex, so that neighbours agree on their common
faces [DompierreLabbeVallet1999]_. Nothing is moved: volumes add up to rounding. Where the cut would come
within a tenth of an edge's length of a vertex, it goes through that vertex, so no slivers arise.

Cuts from outside subdivide tets so, separate them, or both.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.fracture.tet_topology import FACES, TetEdit, open_faces, shared_faces
from pliant.mesh.mesh import tet_edges

SNAP = 0.1  # share of an edge within which a cut goes through its end


@dataclass(frozen=True)
class Subdivision:
    """Tets (m, 4) cut up: new vertices follow the old ones, number i on edge ends[i] (k, 2) at share[i].

    origin (m,): the old tet of each; side (m,): -1 or 1; on_cut (n + k,): whether a vertex is on the cut.
    """

    tets: IntArray
    ends: IntArray
    share: Array
    origin: IntArray
    side: IntArray
    on_cut: BoolArray


def subdivide(tets: IntArray, level: Array) -> Subdivision:
    """Cut ``tets`` along the zero of ``level`` (n,)."""
    count = len(level)
    sign = np.sign(level).astype(np.int64)
    edges = tet_edges(tets)
    edges = edges[sign[edges[:, 0]] * sign[edges[:, 1]] < 0]
    share = level[edges[:, 0]] / (level[edges[:, 0]] - level[edges[:, 1]])
    sign[edges[share < SNAP, 0]] = 0
    sign[edges[share > 1.0 - SNAP, 1]] = 0
    left = sign[edges[:, 0]] * sign[edges[:, 1]] < 0
    edges, share = edges[left], share[left]
    number = {(a, b): count + i for i, (a, b) in enumerate(edges.tolist())}
    signs = sign[tets]
    cut = (signs.max(axis=1) > 0) & (signs.min(axis=1) < 0)
    whole = np.flatnonzero(~cut)
    side = np.sign(signs[whole].sum(axis=1))
    side[side == 0] = np.where(level[tets[whole[side == 0]]].sum(axis=1) < 0, -1, 1)
    parts: list[tuple[int, ...]] = []
    origin, sides = [], []
    for t in np.flatnonzero(cut).tolist():
        corners = tets[t].tolist()
        for half in (-1, 1):
            new = _part(corners, [half * s for s in signs[t].tolist()], number)
            parts += new
            origin += [t] * len(new)
            sides += [half] * len(new)
    fresh = np.array(parts, np.int64).reshape(-1, 4)
    order = np.argsort(np.concatenate([whole, np.array(origin, np.int64)]), kind="stable")
    return Subdivision(
        np.concatenate([tets[whole], fresh])[order],
        edges,
        share,
        np.concatenate([whole, np.array(origin, np.int64)])[order],
        np.concatenate([side, np.array(sides, np.int64)])[order],
        np.concatenate([sign == 0, np.ones(len(edges), bool)]),
    )


def _part(corners: list[int], sign: list[int], number: dict[tuple[int, int], int]) -> list[tuple[int, ...]]:
    """The tets of the part of a tet where ``sign`` is positive."""
    polygons = []
    rim: dict[int, int] = {}  # the cut, as a ring of directed edges
    for face in FACES.tolist():
        polygon: list[int] = []
        for i in range(3):
            a, b = face[i], face[(i + 1) % 3]
            if sign[a] >= 0:
                polygon.append(corners[a])
            if sign[a] * sign[b] < 0:
                low, high = sorted((corners[a], corners[b]))
                polygon.append(number[low, high])
        if len(polygon) >= 3 and any(sign[k] > 0 for k in face):
            polygons.append(polygon)
    inside = {p for polygon in polygons for p in polygon}
    own = {corners[k] for k in range(4) if sign[k] > 0}
    for polygon in polygons:
        for a, b in zip(polygon, polygon[1:] + polygon[:1], strict=True):
            if a not in own and b not in own:
                rim[b] = a  # the cut sees the edge from the other side
    start = min(rim)
    ring, here = [start], rim[start]
    while here != start:
        ring.append(here)
        here = rim[here]
    polygons.append(ring)
    apex = min(inside)
    found: list[tuple[int, ...]] = []
    for polygon in polygons:
        if apex in polygon:
            continue
        k = polygon.index(min(polygon))
        fan = polygon[k:] + polygon[:k]
        found += [(apex, fan[0], b, c) for b, c in pairwise(fan[1:])]
    return found


def cut_through(tets: IntArray, level: Array) -> tuple[TetEdit, IntArray] | None:
    """Tets cut up where ``level`` (n,) is zero, and parted there; with the side (-1, 1) of each. None where
    all of them are on one side, or nothing separates."""
    edit, made = imprinted(tets, level)
    if (made.side == made.side[0]).all():
        return None
    after = parted(edit.tets, len(edit.parents), made.side, None)
    if after is not None:
        apart = after.parents[:, 0]
        edit = TetEdit(after.tets, edit.parents[apart], edit.weights[apart], edit.origin)
    elif not len(made.ends):
        return None
    return edit, made.side


def imprinted(tets: IntArray, level: Array) -> tuple[TetEdit, Subdivision]:
    """Tets cut up where ``level`` (n,) is zero, and nothing parted."""
    made, count = subdivide(tets, level), len(level)
    parents = np.repeat(np.arange(count + len(made.ends))[:, None], 2, axis=1)
    weights = np.zeros(parents.shape)
    weights[:, 0] = 1.0
    near = np.where(made.share <= 0.5, 0, 1)  # the nearer end is the main parent
    rows = np.arange(len(made.ends))
    parents[count:, 0], parents[count:, 1] = made.ends[rows, near], made.ends[rows, 1 - near]
    share = np.minimum(made.share, 1.0 - made.share)
    weights[count:, 0], weights[count:, 1] = 1.0 - share, share
    return TetEdit(made.tets, parents, weights, made.origin), made


def parted(
    tets: IntArray, count: int, sides: IntArray | None, where: BoolArray | None = None
) -> TetEdit | None:
    """Neighbouring tets of different ``sides`` (m,) parted; only across faces of particles ``where``."""
    joints = shared_faces(tets)
    if sides is not None:
        joints = joints[sides[joints[:, 0] // 4] != sides[joints[:, 1] // 4]]
    if where is not None:
        on = tets[joints[:, 0] // 4][np.arange(len(joints))[:, None], FACES[joints[:, 0] % 4]]
        joints = joints[where[on].all(axis=1)]
    return open_faces(tets, count, joints) if len(joints) else None
