"""Kernel: one pass of edge collapses over a triangle surface."""

# mypy: disable-error-code="untyped-decorator"

import math

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.jit import jit

TURN = 0.5  # a collapse may turn a triangle's normal by at most acos(0.5) = 60 degrees


@jit
def quadric_value(q: Array, x: float, y: float, z: float) -> float:
    """Weighted mean squared distance [m2] of a point from the planes summed in ``q`` (11,).

    ``q`` holds the sums of w nx nx, w nx ny, w nx nz, w ny ny, w ny nz, w nz nz, w nx d, w ny d, w nz d,
    w d d and w, for planes n x + d = 0.
    """
    value = q[0] * x * x + q[3] * y * y + q[5] * z * z + q[9]
    value += 2 * (q[1] * x * y + q[2] * x * z + q[4] * y * z + q[6] * x + q[7] * y + q[8] * z)
    return max(value, 0.0) / q[10] if q[10] > 0 else 0.0


@jit
def best_place(q: Array, a: Array, b: Array, out: Array) -> float:
    """The place for the merged vertex of edge ab in ``out`` (3,), and its mean squared distance.

    The minimum of the quadric where it is well defined and near the edge, else the best of both ends and
    the middle.
    """
    best = np.inf
    for k in range(3):
        s = 0.5 * k
        x, y, z = a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2])
        value = quadric_value(q, x, y, z)
        if value < best:
            best = value
            out[0], out[1], out[2] = x, y, z
    c00, c01, c02 = q[3] * q[5] - q[4] * q[4], q[2] * q[4] - q[1] * q[5], q[1] * q[4] - q[2] * q[3]
    c11, c12, c22 = q[0] * q[5] - q[2] * q[2], q[1] * q[2] - q[0] * q[4], q[0] * q[3] - q[1] * q[1]
    det = q[0] * c00 + q[1] * c01 + q[2] * c02
    if det > 1e-4 * q[10] ** 3:
        x = -(c00 * q[6] + c01 * q[7] + c02 * q[8]) / det
        y = -(c01 * q[6] + c11 * q[7] + c12 * q[8]) / det
        z = -(c02 * q[6] + c12 * q[7] + c22 * q[8]) / det
        length = (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2
        gap = (x - 0.5 * (a[0] + b[0])) ** 2 + (y - 0.5 * (a[1] + b[1])) ** 2 + (z - 0.5 * (a[2] + b[2])) ** 2
        value = quadric_value(q, x, y, z)
        if gap <= length and value < best:
            best = value
            out[0], out[1], out[2] = x, y, z
    return best


@jit
def edge_costs(points: Array, quadrics: Array, edges: IntArray, cost: Array, place: Array) -> None:
    """Mean squared distance in ``cost`` (e,) and merged position in ``place`` (e, 3) of every edge."""
    for e in range(edges.shape[0]):
        i, j = edges[e, 0], edges[e, 1]
        cost[e] = best_place(quadrics[i] + quadrics[j], points[i], points[j], place[e])


@jit
def keeps_shape(points: Array, triangles: IntArray, ring: IntArray, v: int, w: int, x: Array) -> bool:
    """May v move to x, the triangles ``ring`` at v that do not hold w neither turning over nor vanishing?"""
    p = np.empty((2, 3, 3))
    for n in range(ring.shape[0]):
        t = triangles[ring[n]]
        if t[0] == w or t[1] == w or t[2] == w:
            continue
        for k in range(3):
            for c in range(3):
                p[0, k, c] = points[t[k], c]
                p[1, k, c] = x[c] if t[k] == v else points[t[k], c]
        n0 = np.cross(p[0, 1] - p[0, 0], p[0, 2] - p[0, 0])
        n1 = np.cross(p[1, 1] - p[1, 0], p[1, 2] - p[1, 0])
        l0, l1 = math.sqrt((n0 * n0).sum()), math.sqrt((n1 * n1).sum())
        longest = 0.0
        for k in range(3):
            longest = max(longest, ((p[1, k] - p[1, k - 1]) ** 2).sum())
        if l1 < 0.05 * longest or (n0 * n1).sum() < TURN * l0 * l1:
            return False
    return True


@jit
def collapse_pass(
    points: Array, triangles: IntArray, edges: IntArray, order: IntArray, place: Array, start: IntArray,
    ring: IntArray, quadrics: Array, target: IntArray, uses: IntArray,
) -> int:  # fmt: skip
    """Collapse edges in the given ``order``; ``target`` (n,) says which vertex each one became.

    An edge is collapsed when no triangle near it has changed in this pass, when its ends share exactly as
    many neighbours as the edge has triangles (the link condition: no new pinches), and when no triangle
    turns over. ``ring[start[v] : start[v + 1]]`` are the triangles at v. Returns the number of collapses.
    """
    locked: BoolArray = np.zeros(points.shape[0], dtype=np.bool_)
    mark = np.zeros(points.shape[0], dtype=np.int64)
    done = 0
    for n in range(order.shape[0]):
        e = order[n]
        v, w = edges[e, 0], edges[e, 1]
        if locked[v] or locked[w]:
            continue
        at_v, at_w = ring[start[v] : start[v + 1]], ring[start[w] : start[w + 1]]
        for t in at_v:
            for k in range(3):
                mark[triangles[t, k]] = 2 * n + 1
        common = 0
        for t in at_w:
            for k in range(3):
                u = triangles[t, k]
                if mark[u] == 2 * n + 1 and u not in (v, w):
                    mark[u] = 2 * n + 2
                    common += 1
        if common != uses[e]:
            continue
        x = place[e]
        if not (
            keeps_shape(points, triangles, at_v, v, w, x) and keeps_shape(points, triangles, at_w, w, v, x)
        ):
            continue
        for t in at_v:
            for k in range(3):
                locked[triangles[t, k]] = True
        for t in at_w:
            for k in range(3):
                locked[triangles[t, k]] = True
        points[v] = x
        quadrics[v] += quadrics[w]
        target[w] = v
        done += 1
    return done
