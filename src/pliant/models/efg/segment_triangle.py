"""Which lines pass through which triangles."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.kernels.jit import jit


@jit
def _hits(start, d, low, high, triangles, line, where, write):
    """Write the hits, or count them; Moeller and Trumbore's test, with a box in front of it."""
    count = 0
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        lo0, lo1, lo2 = min(a[0], b[0], c[0]), min(a[1], b[1], c[1]), min(a[2], b[2], c[2])
        hi0, hi1, hi2 = max(a[0], b[0], c[0]), max(a[1], b[1], c[1]), max(a[2], b[2], c[2])
        e0, e1, e2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
        g0, g1, g2 = c[0] - a[0], c[1] - a[1], c[2] - a[2]
        for k in range(start.shape[0]):
            if low[k, 0] > hi0 or high[k, 0] < lo0 or low[k, 1] > hi1 or high[k, 1] < lo1:
                continue
            if low[k, 2] > hi2 or high[k, 2] < lo2:
                continue
            d0, d1, d2 = d[k, 0], d[k, 1], d[k, 2]
            p0, p1, p2 = d1 * g2 - d2 * g1, d2 * g0 - d0 * g2, d0 * g1 - d1 * g0
            det = p0 * e0 + p1 * e1 + p2 * e2
            if abs(det) < 1e-300:
                continue
            r0, r1, r2 = start[k, 0] - a[0], start[k, 1] - a[1], start[k, 2] - a[2]
            u = (r0 * p0 + r1 * p1 + r2 * p2) / det
            if u < 0.0 or u > 1.0:
                continue
            q0, q1, q2 = r1 * e2 - r2 * e1, r2 * e0 - r0 * e2, r0 * e1 - r1 * e0
            v = (d0 * q0 + d1 * q1 + d2 * q2) / det
            s = (g0 * q0 + g1 * q1 + g2 * q2) / det
            if v < 0.0 or u + v > 1.0 or s < 0.0 or s > 1.0:
                continue
            if write:
                line[count] = k
                where[count, 0] = start[k, 0] + s * d0
                where[count, 1] = start[k, 1] + s * d1
                where[count, 2] = start[k, 2] + s * d2
            count += 1
    return count


def crossed(start: Array, d: Array, triangles: Array) -> tuple[IntArray, Array]:
    """The segments ``start + s d`` (m, 3) that pass through ``triangles`` (t, 3, 3), and where; one entry for
    each segment and triangle."""
    low, high = np.minimum(start, start + d), np.maximum(start, start + d)
    line, where = np.zeros(0, np.int64), np.zeros((0, 3))
    count = _hits(start, d, low, high, triangles, line, where, False)
    line, where = np.zeros(count, np.int64), np.zeros((count, 3))
    _hits(start, d, low, high, triangles, line, where, True)
    return line, where
