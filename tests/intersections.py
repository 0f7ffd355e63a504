"""An exact audit of surfaces: which edges of one pass through triangles of another."""

from fractions import Fraction

import numpy as np

from pliant.core.typing import Array, IntArray

ROUNDING = 1e-14  # of the product of lengths: determinants below it are taken again in rational numbers


def _exact(points: tuple[Array, ...]) -> int:
    a, b, c, d = ([Fraction(float(value)) for value in p] for p in points)
    u, v, w = ([p[k] - d[k] for k in range(3)] for p in (a, b, c))
    det = (
        u[0] * (v[1] * w[2] - v[2] * w[1])
        - u[1] * (v[0] * w[2] - v[2] * w[0])
        + u[2] * (v[0] * w[1] - v[1] * w[0])
    )
    return (det > 0) - (det < 0)


def sides(a: Array, b: Array, c: Array, d: Array) -> IntArray:
    """Signs of the volumes of tets (n,), exact."""
    u, v, w = a - d, b - d, c - d
    det = np.einsum("ij,ij->i", u, np.cross(v, w))
    bound = ROUNDING * np.prod([np.abs(one).sum(axis=1) for one in (u, v, w)], axis=0)
    out: IntArray = np.sign(det).astype(np.int64)
    for k in np.flatnonzero(np.abs(det) <= bound):
        out[k] = _exact((a[k], b[k], c[k], d[k]))
    return out


def edges_of(triangles: IntArray) -> IntArray:
    pairs = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def crossings(x: Array, edges: IntArray, triangles: IntArray) -> int:
    """Number of ``edges`` (e, 2) that pass through ``triangles`` (t, 3) without a common vertex."""
    low, high = x[edges].min(axis=1), x[edges].max(axis=1)
    tri_low, tri_high = x[triangles].min(axis=1), x[triangles].max(axis=1)
    found = []
    for k in range(len(triangles)):
        near = np.flatnonzero(((low <= tri_high[k]) & (high >= tri_low[k])).all(axis=1))
        found.append(np.column_stack([near, np.full(len(near), k)]))
    pairs = np.concatenate(found)
    e, t = edges[pairs[:, 0]], triangles[pairs[:, 1]]
    apart = (e[:, :, None] != t[:, None, :]).all(axis=(1, 2))
    e, t = e[apart], t[apart]
    p, q = x[e[:, 0]], x[e[:, 1]]
    a, b, c = (x[t[:, k]] for k in range(3))
    through = sides(a, b, c, p) * sides(a, b, c, q) < 0
    p, q, a, b, c = (one[through] for one in (p, q, a, b, c))
    first, second, third = sides(p, q, a, b), sides(p, q, b, c), sides(p, q, c, a)
    return int(((first == second) & (second == third) & (first != 0)).sum())


def intersecting(x: Array, one: IntArray, two: IntArray) -> int:
    """Number of intersections of two surfaces (t, 3), or of one with itself."""
    if one is two:
        return crossings(x, edges_of(one), one)
    return crossings(x, edges_of(one), two) + crossings(x, edges_of(two), one)
