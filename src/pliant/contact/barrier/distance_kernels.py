r"""Distances of points to triangles and of edges to edges, the barrier and the mollifier.

A stencil is four vertices. Its distance is :math:`d = |\sum_k w_k x_k|` with the weights w of the nearest
points, so that :math:`\partial d / \partial x_k = w_k n`, n the unit vector between them.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit

POINT_TRIANGLE, EDGE_EDGE, POINT_PLANE = 0, 1, 2
TINY = 1e-300


@jit
def _nearest_on_segment(p, a, b):
    """Where on the segment a b the point nearest to p is, from 0 to 1, and the squared distance."""
    dot = 0.0
    length = 0.0
    for c in range(3):
        e = b[c] - a[c]
        dot += e * (p[c] - a[c])
        length += e * e
    t = 0.0
    if length > 0.0:
        t = min(max(dot / length, 0.0), 1.0)
    square = 0.0
    for c in range(3):
        r = p[c] - (a[c] + t * (b[c] - a[c]))
        square += r * r
    return t, square


@jit
def _direction(x, w, n):
    """Distance and unit vector of ``sum w x``; (0, 0, 1) where that is zero."""
    square = 0.0
    for c in range(3):
        n[c] = w[0] * x[0, c] + w[1] * x[1, c] + w[2] * x[2, c] + w[3] * x[3, c]
        square += n[c] * n[c]
    d = np.sqrt(square)
    if d > TINY:
        for c in range(3):
            n[c] /= d
    else:
        n[0] = 0.0
        n[1] = 0.0
        n[2] = 1.0
    return d


@jit
def point_triangle(x, w, n):
    """Distance of point x[0] to triangle x[1:4]; weights (4,) and unit vector (3,) from the triangle to the
    point. Degenerate triangles count as their edges."""
    t, best = _nearest_on_segment(x[0], x[1], x[2])
    w[1], w[2], w[3] = t - 1.0, -t, 0.0
    t, square = _nearest_on_segment(x[0], x[2], x[3])
    if square < best:
        best = square
        w[1], w[2], w[3] = 0.0, t - 1.0, -t
    t, square = _nearest_on_segment(x[0], x[3], x[1])
    if square < best:
        best = square
        w[1], w[2], w[3] = -t, 0.0, t - 1.0
    aa = ab = bb = ap = bp = 0.0
    for c in range(3):
        a = x[2, c] - x[1, c]
        b = x[3, c] - x[1, c]
        p = x[0, c] - x[1, c]
        aa += a * a
        ab += a * b
        bb += b * b
        ap += a * p
        bp += b * p
    det = aa * bb - ab * ab
    if det > 1e-14 * aa * bb:
        u = (bb * ap - ab * bp) / det
        v = (aa * bp - ab * ap) / det
        if u > 0.0 and v > 0.0 and u + v < 1.0:
            w[1], w[2], w[3] = u + v - 1.0, -u, -v
    w[0] = 1.0
    return _direction(x, w, n)


@jit
def edge_edge(x, w, n):
    """Distance of the edges x[0:2] and x[2:4]; weights (4,) and unit vector (3,) from the second to the
    first."""
    t, best = _nearest_on_segment(x[0], x[2], x[3])
    w[0], w[1], w[2], w[3] = 1.0, 0.0, t - 1.0, -t
    t, square = _nearest_on_segment(x[1], x[2], x[3])
    if square < best:
        best = square
        w[0], w[1], w[2], w[3] = 0.0, 1.0, t - 1.0, -t
    t, square = _nearest_on_segment(x[2], x[0], x[1])
    if square < best:
        best = square
        w[0], w[1], w[2], w[3] = 1.0 - t, t, -1.0, 0.0
    t, square = _nearest_on_segment(x[3], x[0], x[1])
    if square < best:
        best = square
        w[0], w[1], w[2], w[3] = 1.0 - t, t, 0.0, -1.0
    aa = ab = bb = ar = br = 0.0
    for c in range(3):
        a = x[1, c] - x[0, c]
        b = x[3, c] - x[2, c]
        r = x[0, c] - x[2, c]
        aa += a * a
        ab += a * b
        bb += b * b
        ar += a * r
        br += b * r
    det = aa * bb - ab * ab
    if det > 1e-14 * aa * bb:
        u = (ab * br - bb * ar) / det
        v = (aa * br - ab * ar) / det
        if 0.0 < u < 1.0 and 0.0 < v < 1.0:
            square = 0.0
            for c in range(3):
                r = x[0, c] + u * (x[1, c] - x[0, c]) - x[2, c] - v * (x[3, c] - x[2, c])
                square += r * r
            if square < best:
                w[0], w[1], w[2], w[3] = 1.0 - u, u, v - 1.0, -v
    return _direction(x, w, n)


@jit
def point_plane(x, normal, w, n):
    """Signed distance of point x[0] to the plane through x[1]."""
    w[0], w[1], w[2], w[3] = 1.0, -1.0, 0.0, 0.0
    d = 0.0
    for c in range(3):
        n[c] = normal[c]
        d += normal[c] * (x[0, c] - x[1, c])
    return d


@jit
def stencil_distance(kind, x, normal, w, n):
    """The distance of a stencil of a kind; normal (3,): that of the plane."""
    if kind == POINT_TRIANGLE:
        return point_triangle(x, w, n)
    if kind == EDGE_EDGE:
        return edge_edge(x, w, n)
    return point_plane(x, normal, w, n)


@jit
def motion_bound(kind, p):
    """An upper bound of the speed at which the distance of a stencil with displacements p (4, 3) shrinks."""
    many = 2 if kind == POINT_PLANE else 4
    m0 = m1 = m2 = 0.0
    for k in range(many):
        m0 += p[k, 0] / many
        m1 += p[k, 1] / many
        m2 += p[k, 2] / many
    split = 2 if kind == EDGE_EDGE else 1
    one = two = 0.0
    for k in range(many):
        size = np.sqrt((p[k, 0] - m0) ** 2 + (p[k, 1] - m1) ** 2 + (p[k, 2] - m2) ** 2)
        if k < split:
            one = max(one, size)
        else:
            two = max(two, size)
    return one + two


@jit
def barrier(s):
    """``b(s) = -(1 - s)^2 ln s`` and its first two derivatives, for 0 < s < 1."""
    log = np.log(s)
    q = 1.0 - s
    return -q * q * log, 2.0 * q * log - q * q / s, -2.0 * log + 4.0 * q / s + q * q / (s * s)


@jit
def mollifier(x, threshold, grad):
    r"""The edge-edge mollifier :math:`m = (2 - c / e) c / e` of [LiEtAl2020]_ where
    :math:`c = |u \times v|^2`, u and v the edges, is below the ``threshold`` e; else 1. grad (4, 3) is its
    gradient."""
    uu = uv = vv = 0.0
    for k in range(3):
        u = x[1, k] - x[0, k]
        v = x[3, k] - x[2, k]
        uu += u * u
        uv += u * v
        vv += v * v
    c = 0.0
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        across = (x[1, i] - x[0, i]) * (x[3, j] - x[2, j]) - (x[1, j] - x[0, j]) * (x[3, i] - x[2, i])
        c += across * across
    if c >= threshold:
        for i in range(4):
            for k in range(3):
                grad[i, k] = 0.0
        return 1.0
    s = c / threshold
    slope = (2.0 - 2.0 * s) / threshold
    for k in range(3):
        u = x[1, k] - x[0, k]
        v = x[3, k] - x[2, k]
        du = slope * 2.0 * (u * vv - v * uv)
        dv = slope * 2.0 * (v * uu - u * uv)
        grad[0, k], grad[1, k], grad[2, k], grad[3, k] = -du, du, -dv, dv
    return (2.0 - s) * s
