"""Kernels of a tree of boxes over triangles: nearest points, winding numbers, triangles that cut each other.

A tree is a tuple of arrays. Node k has the box ``lo[k]..hi[k]``; its triangles are
``order[first[k] : first[k] + count[k]]``; its children are ``child[k]`` and ``child[k] + 1``, or none
where ``child[k]`` is -1. Node 0 is the root.
"""

# mypy: disable-error-code="untyped-decorator, no-any-return"

import math

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.kernels.jit import jit

LEAF = 6  # triangles in a leaf, at most
STACK = 128  # nodes on the way down: the depth is below log2(2^63)


def build(lower: Array, upper: Array) -> tuple[Array, Array, IntArray, IntArray, IntArray, IntArray]:
    """(lo, hi, child, first, count, order) from the boxes of the triangles, each (m, 3).

    Nodes are halved at the median box centre along the longest side of the node; equal centres keep
    their order, so the tree depends on the input only.
    """
    m = len(lower)
    size = 2 * m + 1
    lo, hi = np.empty((size, 3)), np.empty((size, 3))
    child, first, count = np.full(size, -1), np.zeros(size, np.int64), np.zeros(size, np.int64)
    order, spare, centre = np.arange(m), np.empty(m, np.int64), np.empty(m)
    used = _split(lower, upper, lo, hi, child, first, count, order, spare, centre)
    return (
        lo[:used].copy(),
        hi[:used].copy(),
        child[:used].copy(),
        first[:used].copy(),
        count[:used].copy(),
        order,
    )


@jit
def _split(
    lower: Array, upper: Array, lo: Array, hi: Array, child: IntArray, first: IntArray, count: IntArray,
    order: IntArray, spare: IntArray, centre: Array,
) -> int:  # fmt: skip
    """Fills the arrays of ``build``; the number of nodes. Arrays are made outside and sorted by a loop of
    our own, which is quicker to compile."""
    count[0] = order.shape[0]
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
            for i in range(a, b):
                centre[order[i]] = lower[order[i], axis] + upper[order[i], axis]
            _sort(order, spare, centre, a, b)
            half = (b - a) // 2
            child[k] = used
            first[used], count[used] = a, half
            first[used + 1], count[used + 1] = a + half, b - a - half
            used += 2
        k += 1
    return used


@jit
def _sort(order: IntArray, spare: IntArray, key: Array, a: int, b: int) -> None:
    """Merge sort of ``order[a:b]`` by ``key[order]``; equal keys keep their order."""
    width = 1
    while width < b - a:
        for start in range(a, b, 2 * width):
            middle, end = min(start + width, b), min(start + 2 * width, b)
            i, j = start, middle
            for n in range(start, end):
                left = j >= end or (i < middle and key[order[i]] <= key[order[j]])
                spare[n] = order[i] if left else order[j]
                i, j = (i + 1, j) if left else (i, j + 1)
        for n in range(a, b):
            order[n] = spare[n]
        width *= 2


@jit
def nearest_on_triangle(px: float, py: float, pz: float, corners: Array) -> tuple[float, float, float]:
    """The point of the triangle ``corners`` (9,) that is nearest_points to p.

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


@jit
def box_gap(x: float, y: float, z: float, lo: Array, hi: Array) -> float:
    """Squared distance of a point from a box."""
    dx = max(lo[0] - x, 0.0, x - hi[0])
    dy = max(lo[1] - y, 0.0, y - hi[1])
    dz = max(lo[2] - z, 0.0, z - hi[2])
    return float(dx * dx + dy * dy + dz * dz)


@jit
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


@jit
def solid_angle(x: float, y: float, z: float, t: Array) -> float:
    """Signed solid angle of the triangle ``t`` (9,) seen from a point [sr].

    Source: Van Oosterom and Strackee, The solid angle of a plane triangle (1983), Eq. (8).
    """
    ax, ay, az = t[0] - x, t[1] - y, t[2] - z
    bx, by, bz = t[3] - x, t[4] - y, t[5] - z
    cx, cy, cz = t[6] - x, t[7] - y, t[8] - z
    a = math.sqrt(ax * ax + ay * ay + az * az)
    b = math.sqrt(bx * bx + by * by + bz * bz)
    c = math.sqrt(cx * cx + cy * cy + cz * cz)
    det = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    ab, bc, ca = ax * bx + ay * by + az * bz, bx * cx + by * cy + bz * cz, cx * ax + cy * ay + cz * az
    return 2.0 * math.atan2(det, a * b * c + ab * c + bc * a + ca * b)


def moments(corners: Array, first: IntArray, count: IntArray, order: IntArray) -> tuple[Array, Array]:
    """Per node: the sum of area vectors (3) with the area-weighted centre (3), and the radius about it."""
    dipole, radius = np.zeros((len(first), 6)), np.zeros(len(first))
    _moments(corners, first, count, order, dipole, radius)
    return dipole, radius


@jit
def _moments(
    corners: Array, first: IntArray, count: IntArray, order: IntArray, dipole: Array, radius: Array
) -> None:
    """Fills the arrays of ``moments``."""
    for k in range(first.shape[0]):
        total = 0.0
        for i in range(first[k], first[k] + count[k]):
            t = corners[order[i]]
            ux, uy, uz = t[3] - t[0], t[4] - t[1], t[5] - t[2]
            vx, vy, vz = t[6] - t[0], t[7] - t[1], t[8] - t[2]
            nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
            area = math.sqrt(nx * nx + ny * ny + nz * nz)
            total += area
            dipole[k, 0] += nx / 2
            dipole[k, 1] += ny / 2
            dipole[k, 2] += nz / 2
            for c in range(3):
                dipole[k, 3 + c] += area * (t[c] + t[3 + c] + t[6 + c]) / 3
        if total > 0:
            for c in range(3):
                dipole[k, 3 + c] /= total
        for i in range(first[k], first[k] + count[k]):
            t = corners[order[i]]
            for j in range(3):
                gap = 0.0
                for c in range(3):
                    gap += (t[3 * j + c] - dipole[k, 3 + c]) ** 2
                radius[k] = max(radius[k], math.sqrt(gap))


@jit
def winding(
    queries: Array, corners: Array, child: IntArray, first: IntArray, count: IntArray, order: IntArray,
    dipole: Array, radius: Array, far: float, out: Array,
) -> None:  # fmt: skip
    r"""Generalised winding number of the triangles about each query, in ``out`` (q,).

    A node farther away than ``far`` radii counts as one dipole, :math:`N \cdot r / (4 \pi |r|^3)`; nearer
    leaves are summed triangle by triangle. Source: Barill et al., Fast winding numbers for soups and
    clouds (2018), section 3 (first-order term only).
    """
    stack = np.empty(STACK, np.int64)
    for q in range(queries.shape[0]):
        x, y, z = queries[q, 0], queries[q, 1], queries[q, 2]
        total = 0.0
        stack[0] = 0
        top = 1
        while top > 0:
            top -= 1
            k = stack[top]
            rx, ry, rz = dipole[k, 3] - x, dipole[k, 4] - y, dipole[k, 5] - z
            r = math.sqrt(rx * rx + ry * ry + rz * rz)
            if r > far * radius[k]:
                total += (dipole[k, 0] * rx + dipole[k, 1] * ry + dipole[k, 2] * rz) / (r * r * r)
            elif child[k] >= 0:
                stack[top] = child[k]
                stack[top + 1] = child[k] + 1
                top += 2
            else:
                for i in range(first[k], first[k] + count[k]):
                    total += solid_angle(x, y, z, corners[order[i]])
        out[q] = total / (4 * math.pi)


@jit
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


@jit
def segment_cuts(p: Array, q: Array, t: Array) -> bool:
    """Does the open segment pq pass through the triangle ``t`` (9,), or through one of its edges?"""
    a, b, c = t[0:3], t[3:6], t[6:9]
    if side(a, b, c, p) * side(a, b, c, q) >= 0:
        return False
    s0, s1, s2 = side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)
    return (s0 >= 0 and s1 >= 0 and s2 >= 0) or (s0 <= 0 and s1 <= 0 and s2 <= 0)


@jit
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


@jit
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


@jit
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
