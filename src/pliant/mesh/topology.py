"""How triangles hang together, judged by position (a texture seam is not a hole); sharp edges and corners."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray


def merge_points(points: Array) -> tuple[Array, IntArray]:
    """The distinct points in order of first use, and for every point its number among them (n,)."""
    _, first, inverse = np.unique(points + 0.0, axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return points[np.sort(first)], rank[inverse.reshape(-1)]


def components(count: int, pairs: IntArray) -> tuple[int, IntArray]:
    """Number of connected parts of a graph on ``count`` vertices, and each vertex' part (count,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(pairs), dtype=np.int8)
    graph = coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    found, labels = connected_components(graph, directed=False)
    return int(found), np.asarray(labels, dtype=np.int64)


@dataclass(frozen=True)
class Edges:
    """The edges of triangles (m, 3) over ``count`` points, each with the half-edges that lie on it.

    Half-edge 3 i + k runs from corner k of triangle i to the next corner.
    """

    triangles: IntArray
    count: int

    @cached_property
    def half(self) -> IntArray:
        """Start and end of every half-edge; shape (3 m, 2)."""
        return self.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)

    @cached_property
    def _grouped(self) -> tuple[IntArray, IntArray, IntArray]:
        low, high = self.half.min(axis=1), self.half.max(axis=1)
        keys, inverse, uses = np.unique(low * self.count + high, return_inverse=True, return_counts=True)
        return keys, inverse.reshape(-1), uses

    @property
    def pairs(self) -> IntArray:
        """The distinct edges, lower vertex first; shape (e, 2)."""
        keys = self._grouped[0]
        return np.column_stack([keys // self.count, keys % self.count])

    @property
    def edge(self) -> IntArray:
        """The edge under every half-edge; shape (3 m,)."""
        return self._grouped[1]

    @property
    def uses(self) -> IntArray:
        """Number of triangles at every edge; shape (e,)."""
        return self._grouped[2]

    @cached_property
    def balance(self) -> IntArray:
        """Half-edges along minus half-edges against the edge's direction; shape (e,)."""
        sign = np.where(self.half[:, 0] < self.half[:, 1], 1, -1)
        return np.bincount(self.edge, sign, len(self.uses)).astype(np.int64)

    @property
    def open_half(self) -> IntArray:
        """Half-edges on the rim, which no other triangle shares; shape (b, 2)."""
        return np.asarray(self.half[self.uses[self.edge] == 1])

    @cached_property
    def twins(self) -> IntArray:
        """For every edge with exactly two triangles: its two half-edges; shape (t, 2)."""
        order = np.argsort(self.edge, kind="stable")
        start = np.cumsum(self.uses) - self.uses
        first = start[self.uses == 2]
        return np.column_stack([order[first], order[first + 1]])

    def patches(self) -> tuple[int, IntArray]:
        """Parts connected across edges that two triangles share, and each triangle's part (m,)."""
        return components(len(self.triangles), self.twins // 3)

    def bodies(self) -> tuple[int, IntArray]:
        """Parts connected through vertices, and each triangle's part (m,)."""
        _, labels = components(self.count, self.half)
        used, part = np.unique(labels[self.triangles[:, 0]], return_inverse=True)
        return len(used), part.reshape(-1)


def rim_loops(half: IntArray) -> list[IntArray]:
    """Rim half-edges (b, 2) chained into closed loops of vertices, each in half-edge direction.

    Where several loops meet at a vertex they are split there, so that no loop visits a vertex twice; a
    chain that does not close (edges of opposite winding side by side) is left out.
    """
    onward: dict[int, list[int]] = {}
    for a, b in half.tolist():
        onward.setdefault(a, []).append(b)
    loops: list[IntArray] = []
    for start in sorted(onward):
        while onward[start]:
            path, place, here = [start], {start: 0}, start
            while onward.get(here):
                here = onward[here].pop(0)
                if here in place:
                    k = place[here]
                    loops.append(np.array(path[k:], dtype=np.int64))
                    for gone in path[k + 1 :]:
                        del place[gone]
                    path = path[: k + 1]
                else:
                    place[here] = len(path)
                    path.append(here)
    return loops


def consistent_flips(edges: Edges) -> BoolArray:
    """Which triangles to flip so that neighbours across two-triangle edges wind the same way; (m,).

    In every patch the larger half of the triangles stays as it is. A patch that cannot be wound
    consistently (a Moebius strip) keeps one seam where it is not.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    m = len(edges.triangles)
    twins = edges.twins
    a, b = twins[:, 0], twins[:, 1]
    against = (edges.half[a, 0] == edges.half[b, 0]).astype(np.int64)
    if not against.any():
        return np.zeros(m, dtype=bool)
    i, j = a // 3, b // 3
    one_per_pair = np.unique(np.minimum(i, j) * m + np.maximum(i, j), return_index=True)[1]
    i, j, against = i[one_per_pair], j[one_per_pair], against[one_per_pair]
    weight = coo_array((against + 1, (i, j)), shape=(m, m)).tocsr()
    both = (weight + weight.T).tocsr()
    _, patch = edges.patches()
    flips = np.zeros(m, dtype=np.int64)
    for part in np.unique(patch[np.concatenate([i[against == 1], j[against == 1]])]):
        members = np.flatnonzero(patch == part)
        order, before = breadth_first_order(both, members[0], directed=False)
        turned = np.asarray(both[order[1:], before[order[1:]]]).ravel() - 1
        for t, parent, turn in zip(
            order[1:].tolist(), before[order[1:]].tolist(), turned.tolist(), strict=True
        ):
            flips[t] = flips[parent] ^ turn
        if 2 * flips[members].sum() > len(members):
            flips[members] ^= 1
    return flips.astype(bool)


def is_closed(points: Array, triangles: IntArray) -> bool:
    """Whether two triangles meet at every edge."""
    merged, of = merge_points(points)
    return bool((Edges(of[triangles], len(merged)).uses == 2).all())


SHARP = 40.0  # degrees between the normals of two neighbours, or between two sharp edges at a corner


class SharpFeatures(NamedTuple):
    """Sharp edges (k, 2), and the vertices where they end, meet or turn (c,)."""

    edges: IntArray
    corners: IntArray


def features(points: Array, triangles: IntArray, sharp: float = SHARP) -> SharpFeatures:
    """The sharp edges and corners of triangles whose neighbours share vertices."""
    edges = Edges(triangles, len(points))
    twins = edges.twins
    a, b, c = (points[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1), np.finfo(float).tiny)[:, None]
    cosine = np.einsum("ij,ij->i", normal[twins[:, 0] // 3], normal[twins[:, 1] // 3])
    pairs = edges.half[twins[cosine < np.cos(np.radians(sharp)), 0]]
    return SharpFeatures(pairs, np.flatnonzero(_corners(points, pairs, sharp)))


def _corners(points: Array, pairs: IntArray, sharp: float) -> BoolArray:
    """Vertices with one sharp edge, with three or more, or with two that are not in line."""
    count = np.bincount(pairs.reshape(-1), minlength=len(points))
    along = points[pairs[:, 1]] - points[pairs[:, 0]]
    along /= np.maximum(np.linalg.norm(along, axis=1), np.finfo(float).tiny)[:, None]
    out = np.zeros((len(points), 3))
    np.add.at(out, pairs[:, 0], along)
    np.add.at(out, pairs[:, 1], -along)
    bend = np.linalg.norm(out, axis=1) > 2 * np.sin(np.radians(sharp) / 2)
    return np.asarray((count == 1) | (count > 2) | ((count == 2) & bend))


def nearest_on_segments(queries: Array, start: Array, end: Array) -> tuple[Array, Array]:
    """The nearest points (q, 3) of segments (k, 3), (k, 3) to queries, and their distances (q,)."""
    best, out = np.full(len(queries), np.inf), queries.copy()
    step = max(1, 2_000_000 // max(len(queries), 1))
    for k in range(0, len(start), step):
        a, u = start[k : k + step], end[k : k + step] - start[k : k + step]
        w = queries[:, None] - a[None]
        square = np.maximum((u * u).sum(axis=1), np.finfo(float).tiny)
        s = np.clip(np.einsum("qkc,kc->qk", w, u) / square, 0.0, 1.0)
        gap = np.linalg.norm(w - s[..., None] * u, axis=2)
        which = gap.argmin(axis=1)
        rows = np.arange(len(queries))
        closer = gap[rows, which] < best
        place = a[which] + s[rows, which, None] * u[which]
        out = np.where(closer[:, None], place, out)
        best = np.where(closer, gap[rows, which], best)
    return out, best
