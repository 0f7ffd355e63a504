r"""Cracks through tets: the surroundings of a particle parted along a plane.

A particle that breaks has a plane through it. Edges opposite to it that the plane crosses are divided where
it does, and every tet at such an edge with them, beyond the broken surroundings too. Then each tet around
the particle lies on one side, and those on different sides come apart along faces in the plane. This is the
local remeshing of [OBrienHodgins1999]_ 4.3.

Differs: tets next to the crack are divided at their edges one by one, which always fits together; where the
plane would leave less than a fifth of an edge, or a third of the body's spacing, it goes through the edge's
end instead, and no edge is divided twice, so that neither slivers nor ever smaller tets arise.
"""

from dataclasses import dataclass, field

import numpy as np

from pliant.fracture.tets import FACES, TetEdit, open_faces, shared_faces
from pliant.typing import Array, BoolArray, IntArray

SNAP = 0.2  # least share of an edge that a crack leaves
LEAST = 0.4  # least length that it leaves [spacings]
NEIGHBOURS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))


@dataclass
class Planes:
    """Planes chosen in one step: edges to divide with their shares, and the levels around each particle."""

    tets: IntArray
    x: Array
    spacing: float
    made: BoolArray  # particles that cracks made on edges: what ends there is not divided again
    edges: dict[tuple[int, int], float] = field(default_factory=dict)
    around: list[tuple[int, dict[int, float]]] = field(default_factory=list)

    def add(self, node: int, own: IntArray, normal: Array) -> bool:
        """Take the plane across ``normal`` through ``node``, whose tets are rows ``own`` of ``tets``; False
        if all of them are on one side, or if another plane of this step divides them already."""
        corners = np.unique(self.tets[own])
        away = self.x[corners] - self.x[node]
        level = dict(zip(corners.tolist(), (away @ normal).tolist(), strict=True))
        level[node] = 0.0
        crossed = self._crossed(own, node, level)
        for a, b in crossed:  # go through ends that are too near
            share = level[a] / (level[a] - level[b]) if level[a] * level[b] < 0.0 else 0.5
            length = float(np.linalg.norm(self.x[b] - self.x[a]))
            least = max(SNAP, LEAST * self.spacing / length)
            if min(share, 1.0 - share) < least or self.made[a] or self.made[b]:
                level[a if share < 0.5 else b] = 0.0
        crossed = [(a, b) for a, b in crossed if level[a] * level[b] < 0.0]
        signs = {np.sign(_side(level, corners)) for corners in self.tets[own].tolist()} if not crossed else {}
        if any(edge in self.edges for edge in self._all_edges(own)) or (not crossed and len(signs) < 2):
            return False
        for a, b in crossed:
            self.edges[a, b] = level[a] / (level[a] - level[b])
        self.around.append((node, level))
        return True

    def _all_edges(self, own: IntArray) -> list[tuple[int, int]]:
        pairs = self.tets[own][:, NEIGHBOURS].reshape(-1, 2)
        return [(min(a, b), max(a, b)) for a, b in pairs.tolist()]

    def _crossed(self, own: IntArray, node: int, level: dict[int, float]) -> list[tuple[int, int]]:
        found = {(a, b) for a, b in self._all_edges(own) if level[a] * level[b] < 0.0}
        return sorted(found)

    def edit(self) -> tuple[TetEdit, IntArray] | None:
        """What becomes of the tets, and the particles of ``x`` on the faces that open; None: nothing."""
        count = len(self.x)
        tets, parents, weights, origin = divided(self.tets, count, self.edges)
        pairs = []
        for node, level in self.around:
            own = np.flatnonzero((tets == node).any(axis=1))
            local = tets[own]
            side = np.array([_side(level, corners) > 0.0 for corners in local.tolist()])
            joints = shared_faces(local)
            on = local[joints[:, 0] // 4][np.arange(len(joints))[:, None], FACES[joints[:, 0] % 4]]
            cut = (on == node).any(axis=1) & (side[joints[:, 0] // 4] != side[joints[:, 1] // 4])
            pairs.append(own[joints[cut] // 4] * 4 + joints[cut] % 4)
        faces = np.concatenate(pairs) if pairs else np.zeros((0, 2), np.int64)
        after = open_faces(tets, len(parents), faces) if len(faces) else None
        if after is None:
            return None
        first = after.parents[:, 0]
        rims = np.unique(tets[faces[:, 0] // 4][np.arange(len(faces))[:, None], FACES[faces[:, 0] % 4]])
        return TetEdit(after.tets, parents[first], weights[first], origin), rims[rims < count]


def _side(level: dict[int, float], corners: list[int]) -> float:
    """On which side of its plane a tet around a particle is; vertices in the plane are not in ``level``."""
    return sum(level.get(corner, 0.0) for corner in corners)


def divided(
    tets: IntArray, count: int, edges: dict[tuple[int, int], float]
) -> tuple[IntArray, IntArray, Array, IntArray]:
    """Tets with ``edges`` divided at the given shares, one after the other; parents and weights (n, 2) of all
    vertices, new ones last; the old tet of each."""
    parents = np.repeat(np.arange(count + len(edges))[:, None], 2, axis=1)
    weights = np.zeros(parents.shape)
    weights[:, 0] = 1.0
    touched = np.zeros(count, bool)
    touched[[end for edge in edges for end in edge]] = True
    near = np.flatnonzero(touched[tets].sum(axis=1) >= 2)
    rest = np.setdiff1d(np.arange(len(tets)), near)
    now, from_ = tets[near], near
    for new, ((a, b), share) in enumerate(edges.items(), count):
        nearer = (a, b) if share <= 0.5 else (b, a)
        parents[new], weights[new] = nearer, (max(share, 1.0 - share), min(share, 1.0 - share))
        at = (now == a).any(axis=1) & (now == b).any(axis=1)
        first, second = now[at].copy(), now[at].copy()
        first[first == b] = new
        second[second == a] = new
        now = np.concatenate([now[~at], first, second])
        from_ = np.concatenate([from_[~at], from_[at], from_[at]])
    origin = np.concatenate([rest, from_])
    order = np.argsort(origin, kind="stable")
    return np.concatenate([tets[rest], now])[order], parents, weights, origin[order]
