"""Where two triangle meshes cut each other: points and segments, combinatorially consistent.

Every decision is the sign of one of two determinants, each computed once and in one order of its arguments:
a vertex against a triangle's plane, and an edge against an edge. Neighbouring triangles therefore agree on
what passes between them, whatever rounding does; a zero counts as positive. ``retriangulate``
cuts one triangle up along the segments inside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.csr import incidence, take_rows
from pliant.mesh.topology import Edges


class DegenerateIntersection(Exception):
    """Two meshes that touch in a way that rounding cannot resolve; a slight shift of one helps."""


@dataclass(frozen=True)
class EdgeTriangleHits:
    """Edges of one mesh that pass through triangles of the other: edge (k,), triangle (k,), the share of the
    edge before the hit (k,), and where it is (k, 3) [m]. Edges are numbered as in ``Edges.pairs``."""

    edge: IntArray
    triangle: IntArray
    share: Array
    points: Array


@dataclass(frozen=True)
class MeshIntersection:
    """How a surface and a sheet cut each other.

    of_surface: edges of the surface through triangles of the sheet; of_sheet: the other way round. Points are
    numbered through, the former first. segments (g, 2) of points; surface_triangle, sheet_triangle (g,):
    the two triangles that a segment lies in.
    """

    of_surface: EdgeTriangleHits
    of_sheet: EdgeTriangleHits
    segments: IntArray
    surface_triangle: IntArray
    sheet_triangle: IntArray


def intersect_meshes(
    points: Array, edges: Edges, sheet_points: Array, sheet_edges: Edges
) -> MeshIntersection:
    """The crossing of the surface ``edges.triangles`` with the sheet ``sheet_edges.triangles``."""
    own, other = (points, edges), (sheet_points, sheet_edges)
    of_surface = _hits(own, other, first=True)
    of_sheet = _hits(other, own, first=False)
    s1, i1 = _around(edges, of_surface.edge)
    c2, i2 = _around(sheet_edges, of_sheet.edge)
    surface = np.concatenate([s1, of_sheet.triangle[i2]])
    sheet = np.concatenate([of_surface.triangle[i1], c2])
    point = np.concatenate([i1, len(of_surface.edge) + i2])
    order = np.lexsort((point, sheet, surface))
    surface, sheet, point = surface[order], sheet[order], point[order]
    if len(point) % 2 or not (
        np.array_equal(surface[::2], surface[1::2]) and np.array_equal(sheet[::2], sheet[1::2])
    ):
        raise DegenerateIntersection
    again = (surface[2::2] == surface[:-2:2]) & (sheet[2::2] == sheet[:-2:2])
    if again.any():
        raise DegenerateIntersection
    return MeshIntersection(of_surface, of_sheet, point.reshape(-1, 2), surface[::2], sheet[::2])


def _around(edges: Edges, edge: IntArray) -> tuple[IntArray, IntArray]:
    """Triangles at each of the named edges, and the place in ``edge`` that each belongs to."""
    entries, starts = incidence(edges.edge, len(edges.uses))
    ends, found = take_rows(starts, entries, edge)
    return found // 3, np.repeat(np.arange(len(edge)), np.diff(ends))


def _hits(one: tuple[Array, Edges], two: tuple[Array, Edges], first: bool) -> EdgeTriangleHits:
    """Edges of ``one`` through triangles of ``two``; ``first``: one is the surface."""
    (p, edges), (q, others) = one, two
    e, t = _near(p[edges.pairs], q[others.triangles])
    a, b = edges.pairs[e].T
    corners = others.triangles[t]
    c0, c1, c2 = q[corners[:, 0]], q[corners[:, 1]], q[corners[:, 2]]
    before, after = _volume(c0, c1, c2, p[a]), _volume(c0, c1, c2, p[b])
    kept = (before >= 0) != (after >= 0)
    e, t, a, b, corners = e[kept], t[kept], a[kept], b[kept], corners[kept]
    before, after = before[kept], after[kept]
    sides = [_passes(p, q, a, b, corners[:, k], corners[:, (k + 1) % 3], first) for k in range(3)]
    kept = (sides[0] == sides[1]) & (sides[1] == sides[2])
    e, t, a, b = e[kept], t[kept], a[kept], b[kept]
    share = before[kept] / (before[kept] - after[kept])
    return EdgeTriangleHits(e, t, share, p[a] + share[:, None] * (p[b] - p[a]))


def _passes(p: Array, q: Array, a: IntArray, b: IntArray, c: IntArray, d: IntArray, first: bool) -> BoolArray:
    """On which side the line a -> b of ``p`` passes the line c -> d of ``q``."""
    low, high = np.minimum(c, d), np.maximum(c, d)
    value = _volume(p[a], p[b], q[low], q[high]) if first else _volume(q[low], q[high], p[a], p[b])
    return np.asarray((value >= 0) != (c > d))


def _volume(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Six times the signed volume of tets, by plain products: the same for the same arguments anywhere."""
    u, v, w = (b - a).T, (c - a).T, (d - a).T
    x = u[1] * v[2] - u[2] * v[1]
    y = u[2] * v[0] - u[0] * v[2]
    z = u[0] * v[1] - u[1] * v[0]
    return np.asarray(x * w[0] + y * w[1] + z * w[2])


def _near(edges: Array, triangles: Array) -> tuple[IntArray, IntArray]:
    """Pairs of edges (e, 2, 3) and triangles (t, 3, 3) whose boxes overlap, in lexicographic order."""
    from scipy.spatial import cKDTree

    lo, hi = triangles.min(axis=1), triangles.max(axis=1)
    low, high = edges.min(axis=1), edges.max(axis=1)
    able = np.flatnonzero(((high >= lo.min(axis=0)) & (low <= hi.max(axis=0))).all(axis=1))
    if not len(able):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    radius = 0.5 * float(np.linalg.norm(hi - lo, axis=1).max())
    reach = radius + 0.5 * np.linalg.norm(high[able] - low[able], axis=1)
    found = cKDTree(0.5 * (lo + hi)).query_ball_point(
        0.5 * (low[able] + high[able]), reach * (1.0 + 1e-9), return_sorted=True
    )
    counts = np.array([len(row) for row in found])
    e = np.repeat(able, counts)
    t = np.concatenate([np.asarray(row, np.int64) for row in found])
    kept = ((high[e] >= lo[t]) & (low[e] <= hi[t])).all(axis=1)
    return e[kept], t[kept]


Triangle = tuple[int, int, int]

ON_EDGE = 1e-6  # share of a triangle's height within which a point counts as on its edge


class _Mesh:
    """A triangulation in the plane as a table of half-edges: (u, v) -> w for each triangle u, v, w."""

    def __init__(self, flat: Array) -> None:
        self.p = [(float(x), float(y)) for x, y in flat]
        self.third: dict[tuple[int, int], int] = {}

    def side(self, a: int, b: int, c: int) -> float:
        """Twice the signed area of a, b, c."""
        (ax, ay), (bx, by), (cx, cy) = self.p[a], self.p[b], self.p[c]
        return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)

    def add(self, a: int, b: int, c: int) -> None:
        self.third[a, b], self.third[b, c], self.third[c, a] = c, a, b

    def remove(self, a: int, b: int, c: int) -> None:
        del self.third[a, b], self.third[b, c], self.third[c, a]

    def triangles(self) -> list[Triangle]:
        """Each triangle once, lowest vertex first."""
        return [(a, b, c) for (a, b), c in self.third.items() if a < b and a < c]

    def insert(self, p: int) -> None:
        """Put a point inside: split the triangle that holds it best, or the edge that it lies on."""
        best, home = -np.inf, (0, 0, 0)
        for a, b, c in self.triangles():
            area = max(self.side(a, b, c), 1e-300)
            score = min(self.side(a, b, p), self.side(b, c, p), self.side(c, a, p)) / area
            if score > best:
                best, home = score, (a, b, c)
        u, v, w = home
        area = max(self.side(u, v, w), 1e-300)
        near = [k for k in ((u, v, w), (v, w, u), (w, u, v)) if self.side(k[0], k[1], p) < ON_EDGE * area]
        near = [k for k in near if (k[1], k[0]) in self.third]
        if near:
            u, v, w = min(near, key=lambda k: self.side(k[0], k[1], p))
            z = self.third[v, u]
            self.remove(u, v, w)
            self.remove(v, u, z)
            self.add(u, p, w)
            self.add(p, v, w)
            self.add(v, p, z)
            self.add(p, u, z)
            return
        self.remove(u, v, w)
        self.add(u, v, p)
        self.add(v, w, p)
        self.add(w, u, p)

    def crosses(self, a: int, b: int, u: int, v: int) -> bool:
        if a in (u, v) or b in (u, v):
            return False
        return (self.side(a, b, u) > 0) != (self.side(a, b, v) > 0) and (self.side(u, v, a) > 0) != (
            self.side(u, v, b) > 0
        )

    def force(self, a: int, b: int) -> None:
        """Make a, b an edge by flipping those that cross it."""
        if (a, b) in self.third or (b, a) in self.third:
            return
        inner = [(u, v) for u, v in self.third if u < v and (v, u) in self.third]
        queue = [(u, v) for u, v in inner if self.crosses(a, b, u, v)]
        for _ in range(50 + len(queue) ** 2 * 4):
            if not queue:
                break
            u, v = queue.pop(0)
            w, z = self.third[u, v], self.third[v, u]
            if self.side(u, z, w) <= 0 or self.side(z, v, w) <= 0:
                queue.append((u, v))
                continue
            self.remove(u, v, w)
            self.remove(v, u, z)
            self.add(u, z, w)
            self.add(z, v, w)
            if self.crosses(a, b, w, z):
                queue.append((min(w, z), max(w, z)))
        if (a, b) not in self.third and (b, a) not in self.third:
            raise DegenerateIntersection


def retriangulate(
    corners: Array, on_edges: Sequence[Sequence[int]], points: Array, segments: Sequence[tuple[int, int]]
) -> list[Triangle]:
    """The triangle ``corners`` (3, 3) cut up so that every one of ``segments`` is an edge.

    Vertices 0 to 2 are the corners, 3 + i is ``points[i]`` (k, 3); on_edges: for each edge (0-1, 1-2, 2-0)
    the vertices on it, in order; the others lie inside. Triangles wind as the whole one does.
    """
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    drop = int(np.argmax(np.abs(normal)))
    axes = [(1, 2), (2, 0), (0, 1)][drop]
    flat = np.concatenate([corners, points])[:, axes]
    if normal[drop] < 0:
        flat = flat[:, ::-1]
    mesh = _Mesh(flat)
    mesh.add(0, 1, 2)
    for k, (start, end) in enumerate(((0, 1), (1, 2), (2, 0))):
        here = start
        for p in on_edges[k]:
            apex = mesh.third[here, end]
            mesh.remove(here, end, apex)
            mesh.add(here, p, apex)
            mesh.add(p, end, apex)
            here = p
    placed = {0, 1, 2, *(p for edge in on_edges for p in edge)}
    for p in range(3, len(flat)):
        if p not in placed:
            mesh.insert(p)
    for a, b in segments:
        mesh.force(a, b)
    return mesh.triangles()
