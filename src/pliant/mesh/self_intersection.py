"""Kernels: which triangles of a surface cut each other."""

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.mesh.bvh_kernels import STACK
from pliant.mesh.kernel import kernel


@kernel
def side(a: Array, b: Array, c: Array, d: Array) -> float:
    """Six times the volume of the tetrahedron abcd; 0 when it is lost in rounding."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    wx, wy, wz = d[0] - a[0], d[1] - a[1], d[2] - a[2]
    p, q, r = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    bound = (abs(uy * vz) + abs(uz * vy)) * abs(wx)
    bound += (abs(uz * vx) + abs(ux * vz)) * abs(wy) + (abs(ux * vy) + abs(uy * vx)) * abs(wz)
    value = p * wx + q * wy + r * wz
    return value if abs(value) > 1e-14 * bound else 0.0


@kernel
def segment_cuts(p: Array, q: Array, t: Array) -> bool:
    """Does the open segment pq pass through the triangle ``t`` (9,), or through one of its edges?"""
    a, b, c = t[0:3], t[3:6], t[6:9]
    if side(a, b, c, p) * side(a, b, c, q) >= 0:
        return False
    s0, s1, s2 = side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)
    return (s0 >= 0 and s1 >= 0 and s2 >= 0) or (s0 <= 0 and s1 <= 0 and s2 <= 0)


@kernel
def coplanar_overlap(s: Array, t: Array) -> bool:
    """Do two triangles of one plane overlap in an area? Separating axes among their edge normals."""
    n = np.empty(3)
    for c in range(3):
        i, j = (c + 1) % 3, (c + 2) % 3
        n[c] = (s[3 + i] - s[i]) * (s[6 + j] - s[j]) - (s[3 + j] - s[j]) * (s[6 + i] - s[i])
    drop = 0
    for c in range(1, 3):
        if abs(n[c]) > abs(n[drop]):
            drop = c
    x, y = (drop + 1) % 3, (drop + 2) % 3
    for which in range(2):
        edges = s if which == 0 else t
        for k in range(3):
            i, j = 3 * k, 3 * ((k + 1) % 3)
            nx, ny = edges[j + y] - edges[i + y], edges[i + x] - edges[j + x]
            lo_s, hi_s, lo_t, hi_t = np.inf, -np.inf, np.inf, -np.inf
            for v in range(3):
                ps = nx * s[3 * v + x] + ny * s[3 * v + y]
                pt = nx * t[3 * v + x] + ny * t[3 * v + y]
                lo_s, hi_s = min(lo_s, ps), max(hi_s, ps)
                lo_t, hi_t = min(lo_t, pt), max(hi_t, pt)
            slack = 1e-12 * (hi_s - lo_s + hi_t - lo_t)
            if hi_s <= lo_t + slack or hi_t <= lo_s + slack:
                return False
    return True


@kernel
def triangles_cut(s: Array, t: Array) -> bool:
    """Do two triangles (9,), (9,) cut each other, or overlap in their common plane?"""
    a, b, c = t[0:3], t[3:6], t[6:9]
    s0, s1, s2 = side(a, b, c, s[0:3]), side(a, b, c, s[3:6]), side(a, b, c, s[6:9])
    if (s0 > 0 and s1 > 0 and s2 > 0) or (s0 < 0 and s1 < 0 and s2 < 0):
        return False
    if s0 == 0 and s1 == 0 and s2 == 0:
        return coplanar_overlap(s, t)
    for k in range(3):
        i, j = 3 * k, 3 * ((k + 1) % 3)
        if segment_cuts(s[i : i + 3], s[j : j + 3], t) or segment_cuts(t[i : i + 3], t[j : j + 3], s):
            return True
    return False


@kernel
def cutting_pairs(
    corners: Array, triangles: IntArray, lo: Array, hi: Array, child: IntArray, first: IntArray,
    count: IntArray, order: IntArray,
) -> int:  # fmt: skip
    """Number of pairs of triangles that cut each other and share no vertex index."""
    stack = np.empty(STACK, np.int64)
    low, high = np.empty(3), np.empty(3)
    found = 0
    for i in range(triangles.shape[0]):
        for c in range(3):
            low[c] = min(corners[i, c], corners[i, 3 + c], corners[i, 6 + c])
            high[c] = max(corners[i, c], corners[i, 3 + c], corners[i, 6 + c])
        stack[0] = 0
        top = 1
        while top > 0:
            top -= 1
            k = stack[top]
            if (lo[k] > high).any() or (hi[k] < low).any():
                continue
            if child[k] >= 0:
                stack[top] = child[k]
                stack[top + 1] = child[k] + 1
                top += 2
                continue
            for n in range(first[k], first[k] + count[k]):
                j = order[n]
                if j <= i:
                    continue
                shared = False
                for a in range(3):
                    for b in range(3):
                        shared |= triangles[i, a] == triangles[j, b]
                if not shared and triangles_cut(corners[i], corners[j]):
                    found += 1
    return found
