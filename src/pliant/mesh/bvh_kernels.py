"""Kernels: a tree of boxes over triangles, and nearest points from it.

A tree is a tuple of arrays. Node k has the box ``lo[k]..hi[k]``; its triangles are
``order[first[k] : first[k] + count[k]]``; its children are ``child[k]`` and ``child[k] + 1``, or none
where ``child[k]`` is -1. Node 0 is the root.
"""

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.mesh.kernel import kernel

LEAF = 6  # triangles in a leaf, at most
STACK = 128  # nodes on the way down: the depth is below log2(2^63)


@kernel
def build(lower: Array, upper: Array) -> tuple[Array, Array, IntArray, IntArray, IntArray, IntArray]:
    """(lo, hi, child, first, count, order) from the boxes of the triangles, each (m, 3).

    Nodes are halved at the median box centre along the longest side of the node; equal centres keep
    their order, so the tree depends on the input only.
    """
    m = lower.shape[0]
    size = 2 * m + 1
    lo, hi = np.empty((size, 3)), np.empty((size, 3))
    child, first, count = np.full(size, -1), np.zeros(size, np.int64), np.zeros(size, np.int64)
    order = np.arange(m)
    count[0] = m
    used, k = 1, 0
    while k < used:
        a, b = first[k], first[k] + count[k]
        for c in range(3):
            lo[k, c], hi[k, c] = np.inf, -np.inf
            for i in range(a, b):
                lo[k, c] = min(lo[k, c], lower[order[i], c])
                hi[k, c] = max(hi[k, c], upper[order[i], c])
        if count[k] > LEAF:
            axis = 0
            for c in range(1, 3):
                if hi[k, c] - lo[k, c] > hi[k, axis] - lo[k, axis]:
                    axis = c
            part = order[a:b].copy()
            centre = np.empty(b - a)
            for i in range(b - a):
                centre[i] = lower[part[i], axis] + upper[part[i], axis]
            rank = np.argsort(centre, kind="mergesort")
            for i in range(b - a):
                order[a + i] = part[rank[i]]
            half = (b - a) // 2
            child[k] = used
            first[used], count[used] = a, half
            first[used + 1], count[used + 1] = a + half, b - a - half
            used += 2
        k += 1
    return (
        lo[:used].copy(),
        hi[:used].copy(),
        child[:used].copy(),
        first[:used].copy(),
        count[:used].copy(),
        order,
    )


@kernel
def nearest_on_triangle(px: float, py: float, pz: float, corners: Array) -> tuple[float, float, float]:
    """The point of the triangle ``corners`` (9,) that is nearest to p.

    The region of p (corner, edge or face) follows from the dot products of p with the two edges at each
    corner, as in Ericson, Real-Time Collision Detection (2005), section 5.1.5.
    """
    ax, ay, az = corners[0], corners[1], corners[2]
    ux, uy, uz = corners[3] - ax, corners[4] - ay, corners[5] - az
    vx, vy, vz = corners[6] - ax, corners[7] - ay, corners[8] - az
    wx, wy, wz = px - ax, py - ay, pz - az
    uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
    uw, vw = ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
    s, t = 0.0, 0.0
    d3, d4 = uw - uu, vw - uv  # edges dotted with p - b
    d5, d6 = uw - uv, vw - vv  # and with p - c
    va, vb, vc = d3 * d6 - d5 * d4, d5 * vw - uw * d6, uw * d4 - d3 * vw
    if uw <= 0 and vw <= 0:
        pass
    elif d3 >= 0 and d4 <= d3:
        s = 1.0
    elif d6 >= 0 and d5 <= d6:
        t = 1.0
    elif vc <= 0 and uw >= 0 and d3 <= 0:
        s = uw / (uw - d3) if uw > d3 else 0.0
    elif vb <= 0 and vw >= 0 and d6 <= 0:
        t = vw / (vw - d6) if vw > d6 else 0.0
    elif va <= 0 and d4 - d3 >= 0 and d5 - d6 >= 0:
        total = (d4 - d3) + (d5 - d6)
        t = (d4 - d3) / total if total > 0 else 0.0
        s = 1.0 - t
    else:
        total = va + vb + vc
        if total > 0:
            s, t = vb / total, vc / total
    return ax + s * ux + t * vx, ay + s * uy + t * vy, az + s * uz + t * vz


@kernel
def box_gap(x: float, y: float, z: float, lo: Array, hi: Array) -> float:
    """Squared distance of a point from a box."""
    dx = max(lo[0] - x, 0.0, x - hi[0])
    dy = max(lo[1] - y, 0.0, y - hi[1])
    dz = max(lo[2] - z, 0.0, z - hi[2])
    return float(dx * dx + dy * dy + dz * dz)


@kernel
def nearest(
    queries: Array, corners: Array, lo: Array, hi: Array, child: IntArray, first: IntArray,
    count: IntArray, order: IntArray, out: Array, which: IntArray,
) -> None:  # fmt: skip
    """For each query (q, 3) the nearest point of all triangles in ``out`` and its triangle in ``which``."""
    stack = np.empty(STACK, np.int64)
    for q in range(queries.shape[0]):
        x, y, z = queries[q, 0], queries[q, 1], queries[q, 2]
        best = np.inf
        stack[0] = 0
        top = 1
        while top > 0:
            top -= 1
            k = stack[top]
            if box_gap(x, y, z, lo[k], hi[k]) >= best:
                continue
            c = child[k]
            if c >= 0:
                swap = box_gap(x, y, z, lo[c], hi[c]) < box_gap(x, y, z, lo[c + 1], hi[c + 1])
                stack[top] = c + 1 if swap else c
                stack[top + 1] = c if swap else c + 1
                top += 2
                continue
            for i in range(first[k], first[k] + count[k]):
                t = order[i]
                a, b, d = nearest_on_triangle(x, y, z, corners[t])
                gap = (a - x) ** 2 + (b - y) ** 2 + (d - z) ** 2
                if gap < best:
                    best = gap
                    out[q, 0], out[q, 1], out[q, 2] = a, b, d
                    which[q] = t
