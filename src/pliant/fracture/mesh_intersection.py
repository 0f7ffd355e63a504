"""Where two triangle meshes cut each other: points and segments, combinatorially consistent.

Every decision is the sign of one of two determinants, each computed once and in one order of its arguments:
a vertex against a triangle's plane, and an edge against an edge. Neighbouring triangles therefore agree on
what passes between them, whatever rounding does; a zero counts as positive.
"""

from dataclasses import dataclass

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
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
    order = np.argsort(edges.edge, kind="stable")
    start = np.cumsum(edges.uses) - edges.uses
    counts = edges.uses[edge]
    place = np.repeat(np.arange(len(edge)), counts)
    within = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[start[edge][place] + within] // 3, place


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
