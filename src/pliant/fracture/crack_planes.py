r"""Cracks through tets: the surroundings of a particle parted along a plane.

A particle that breaks has a plane through it. Edges opposite to it that the plane crosses are divided where
it does, and every tet at such an edge with them, beyond the broken surroundings too. Then each tet around
the particle lies on one side, and those on different sides separate along faces in the plane. This is the
local remeshing of [OBrienHodgins1999]_ 4.3.

A crack keeps to its plane: particles that are on it already count as in the plane, however far they are from
it, so that what its front adds from step to step is one sheet.

Differs: tets next to the crack are divided at their edges one by one, which always fits together; where the
plane would leave less than a fifth of an edge, or a third of the body's spacing, it goes through the edge's
end instead, and no edge is divided twice, so that neither slivers nor ever smaller tets arise. A crack that
would cut off less than a dozen tets' worth goes round it, so that it leaves no dust.
"""

from dataclasses import dataclass, field

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.fracture.tet_topology import FACES, TetEdit, corner_links, open_faces, pieces, shared_faces
from pliant.mesh.mesh import tet_volumes
from pliant.mesh.triangles import double_areas

SNAP = 0.2  # least share of an edge that a crack leaves
LEAST = 0.4  # least length that it leaves [spacings]
NEIGHBOURS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))


@dataclass(frozen=True)
class CrackPlane:
    """Where a crack goes: across ``normal`` at ``offset`` = normal . x [m]; ``crack``: its number."""

    normal: Array
    offset: float
    crack: int


@dataclass(frozen=True)
class CrackOpening:
    """What a step's planes make of the tets. rims: old particles on the faces that open; owner (n,): which of
    the planes each new particle lies in, or -1; corners (c, 2): corners 4 t + k of the new tets that lay on
    each other at the faces that open, three for each face, with a third of its area (c,) [m2] at rest."""

    edit: TetEdit
    rims: IntArray
    owner: IntArray
    corners: IntArray
    area: Array


@dataclass
class CrackPlanes:
    """Planes chosen in one step: edges to divide with their shares, and the levels around each particle.

    x (n, 3): rest positions [m]; made (n,): particles that cracks made on edges, what ends there is not
    divided again; crack (n,): the crack that a particle is on, or -1; smallest: least volume of a piece [m3].
    """

    tets: IntArray
    x: Array
    spacing: float
    made: BoolArray
    crack: AnyArray
    smallest: float = 0.0
    edges: dict[tuple[int, int], float] = field(default_factory=dict)
    divides: list[int] = field(default_factory=list)  # the plane that divides each of the edges
    around: list[tuple[int, dict[int, float]]] = field(default_factory=list)
    planes: list[CrackPlane] = field(default_factory=list)

    def add(self, node: int, own: IntArray, plane: CrackPlane) -> bool:
        """Take ``plane`` around ``node``, whose tets are rows ``own`` of ``tets``; False if all of them are
        on one side, or if another plane of this step divides them already."""
        corners = np.unique(self.tets[own])
        away = self.x[corners] @ plane.normal - plane.offset
        away[self.crack[corners] == plane.crack] = 0.0
        level = dict(zip(corners.tolist(), away.tolist(), strict=True))
        level[node] = 0.0
        crossed = self._crossed(own, level)
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
            self.divides.append(len(self.planes))
        self.around.append((node, level))
        self.planes.append(plane)
        return True

    @property
    def nodes(self) -> IntArray:
        """The particles that are to be parted."""
        return np.array([node for node, _ in self.around])

    def _all_edges(self, own: IntArray) -> list[tuple[int, int]]:
        pairs = self.tets[own][:, NEIGHBOURS].reshape(-1, 2)
        return [(min(a, b), max(a, b)) for a, b in pairs.tolist()]

    def _crossed(self, own: IntArray, level: dict[int, float]) -> list[tuple[int, int]]:
        found = {(a, b) for a, b in self._all_edges(own) if level[a] * level[b] < 0.0}
        return sorted(found)

    def edit(self) -> CrackOpening | None:
        """What becomes of the tets; None: nothing."""
        count = len(self.x)
        tets, parents, weights, origin = divided(self.tets, count, self.edges)
        chosen = [self._faces(tets, node, level) for node, level in self.around]
        faces = np.concatenate(chosen) if chosen else np.zeros((0, 2), np.int64)
        plane = np.repeat(np.arange(len(chosen)), [len(own) for own in chosen])
        rest = self.x[parents[:, 0]] * weights[:, :1] + self.x[parents[:, 1]] * weights[:, 1:]
        kept = self._drop_small_pieces(tets, rest, faces)
        faces, plane = faces[kept], plane[kept]
        after = open_faces(tets, len(parents), faces) if len(faces) else None
        if after is None:
            return None
        first = after.parents[:, 0]
        on = _corners(tets, faces[:, 0])
        owner = np.full(len(parents), -1)
        owner[on[::-1]] = plane[::-1, None]
        owner[count:] = self.divides
        rims = np.unique(on)
        edit = TetEdit(after.tets, parents[first], weights[first], origin)
        area = np.repeat(double_areas(rest, on) / 6.0, 3)
        return CrackOpening(edit, rims[rims < count], owner[first], corner_links(tets, faces), area)

    def _faces(self, tets: IntArray, node: int, level: dict[int, float]) -> IntArray:
        """Faces (f, 2) at ``node`` between tets on different sides of its plane."""
        own = np.flatnonzero((tets == node).any(axis=1))
        local = tets[own]
        side = np.array([_side(level, corners) > 0.0 for corners in local.tolist()])
        joints = shared_faces(local)
        cut = (_corners(local, joints[:, 0]) == node).any(axis=1)
        cut &= side[joints[:, 0] // 4] != side[joints[:, 1] // 4]
        return np.asarray(own[joints[cut] // 4] * 4 + joints[cut] % 4)

    def _drop_small_pieces(self, tets: IntArray, rest: Array, faces: IntArray) -> BoolArray:
        """Which of ``faces`` may open: each piece that would be too small stays with the neighbour that it
        has most area in common with."""
        kept = np.ones(len(faces), bool)
        after = open_faces(tets, len(rest), faces) if len(faces) and self.smallest > 0.0 else None
        if after is None:
            return kept
        _, piece = pieces(after.tets)
        small = np.bincount(piece, tet_volumes(rest, tets)) < self.smallest
        ends = piece[faces // 4]
        areas = double_areas(rest, _corners(tets, faces[:, 0]))
        for small_piece in np.flatnonzero(small).tolist():
            mine = np.flatnonzero((ends == small_piece).any(axis=1) & (ends[:, 0] != ends[:, 1]))
            if len(mine):
                other = ends[mine].sum(axis=1) - small_piece
                kept[mine[other == np.argmax(np.bincount(other, areas[mine]))]] = False
        return kept


def _corners(tets: IntArray, half: IntArray) -> IntArray:
    """Corners (f, 3) of half-faces 4 t + k."""
    return np.asarray(tets[half // 4][np.arange(len(half))[:, None], FACES[half % 4]])


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
