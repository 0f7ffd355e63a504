"""Exact tests of edges against triangles, in rational numbers where rounding could change the answer."""

from fractions import Fraction
from itertools import product

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray

ROUNDING = 1e-14  # of the product of lengths: determinants below it are computed again in rational numbers
Point = list[Fraction]


def orientations(a: Array, b: Array, c: Array, d: Array) -> IntArray:
    """Exact signs of ``det(a - d, b - d, c - d)``, six times the volumes of tets (n,); points (n, 3)."""
    u, v, w = a - d, b - d, c - d
    det = np.einsum("ij,ij->i", u, np.cross(v, w))
    bound = ROUNDING * np.prod([np.abs(one).sum(axis=1) for one in (u, v, w)], axis=0)
    signs: IntArray = np.sign(det).astype(np.int64)
    for k in np.flatnonzero(np.abs(det) <= bound):
        signs[k] = _sign3(*(_rational(p[k]) for p in (a, b, c, d)))
    return signs


def edges_meet_triangles(p: Array, q: Array, a: Array, b: Array, c: Array) -> BoolArray:
    """Which edges pq (n, 3) have a point in common with their triangle abc (n, 3); touching counts."""
    below, above = orientations(a, b, c, p), orientations(a, b, c, q)
    met = below * above < 0
    s, e, i, j, k3 = (array[met] for array in (p, q, a, b, c))
    turns = np.stack([orientations(s, e, *side) for side in ((i, j), (j, k3), (k3, i))])
    met[met] = (turns.min(axis=0) >= 0) | (turns.max(axis=0) <= 0)  # the line passes inside all three edges
    for k in np.flatnonzero((below * above == 0) & (np.abs(below) + np.abs(above) > 0)):
        end = p[k] if below[k] == 0 else q[k]
        met[k] = _in_triangle(*(_rational(point) for point in (end, a[k], b[k], c[k])))
    for k in np.flatnonzero((below == 0) & (above == 0)):
        met[k] = _coplanar(*(_rational(point) for point in (p[k], q[k], a[k], b[k], c[k])))
    return np.asarray(met)


def _rational(point: Array) -> Point:
    return [Fraction(float(value)) for value in point]


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


def _sign3(a: Point, b: Point, c: Point, d: Point) -> int:
    u, v, w = ([x - y for x, y in zip(p, d, strict=True)] for p in (a, b, c))
    return _sign(sum((u[k] * n for k, n in enumerate(_cross(v, w))), Fraction()))


def _cross(v: Point, w: Point) -> Point:
    return [v[k - 2] * w[k - 1] - v[k - 1] * w[k - 2] for k in range(3)]


def _flat(*points: Point) -> list[tuple[Fraction, Fraction]]:
    """Points of a plane in two coordinates. Left out is an axis along which the triangle of the last three
    points is seen with an area (the first one for a triangle without area)."""
    a, b, c = points[-3:]
    normal = _cross([x - y for x, y in zip(b, a, strict=True)], [x - y for x, y in zip(c, a, strict=True)])
    axis = next((k for k in range(3) if normal[k]), 0)
    return [(p[axis - 2], p[axis - 1]) for p in points]


def _sign2(a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], c: tuple[Fraction, Fraction]) -> int:
    return _sign((a[0] - c[0]) * (b[1] - c[1]) - (a[1] - c[1]) * (b[0] - c[0]))


def _in_triangle(p: Point, a: Point, b: Point, c: Point) -> bool:
    """Whether a point of the triangle's plane is in the triangle, its edges included."""
    s, t, u, v = _flat(p, a, b, c)
    return not {-1, 1} <= {_sign2(s, t, u), _sign2(s, u, v), _sign2(s, v, t)}


def _coplanar(p: Point, q: Point, a: Point, b: Point, c: Point) -> bool:
    """Whether an edge in the triangle's plane has a point in common with it."""
    if _in_triangle(p, a, b, c) or _in_triangle(q, a, b, c):
        return True
    s, e, *corners = _flat(p, q, a, b, c)
    sides = zip(corners, corners[1:] + corners[:1], strict=True)
    return any(
        _sign2(s, e, i) * _sign2(s, e, j) <= 0 and _sign2(i, j, s) * _sign2(i, j, e) <= 0
        for i, j in sides
        if _overlap((s, e), (i, j))
    )


def _overlap(one: tuple[tuple[Fraction, Fraction], ...], two: tuple[tuple[Fraction, Fraction], ...]) -> bool:
    """Whether the boxes of two segments have a point in common."""
    return all(
        min(x[k] for x in near) <= max(x[k] for x in far)
        for k, (near, far) in product(range(2), ((one, two), (two, one)))
    )
