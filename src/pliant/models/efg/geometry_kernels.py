"""Compiled searches: pairs of phyxels within reach of each other, segments that pass through triangles."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.core.typing import AnyArray, Array, IntArray
from pliant.kernels.jit import jit

MOST_CELLS = 4_000_000


@jit
def _cells(x, low, size, dims, out):
    for i in range(x.shape[0]):
        key = 0
        for c in range(3):
            key = key * dims[c] + min(dims[c] - 1, max(0, int((x[i, c] - low[c]) / size)))
        out[i] = key


@jit
def _row(i, x, h, most, low, size, dims, first, order, out, at, write):
    """Neighbours of ``i``: j with ``|x_ij| < (h_i + h_j) / 2``; their number, written at ``out[at:]``."""
    reach = 0.5 * (h[i] + most)
    a0 = max(0, int((x[i, 0] - reach - low[0]) / size))
    b0 = min(dims[0] - 1, int((x[i, 0] + reach - low[0]) / size))
    a1 = max(0, int((x[i, 1] - reach - low[1]) / size))
    b1 = min(dims[1] - 1, int((x[i, 1] + reach - low[1]) / size))
    a2 = max(0, int((x[i, 2] - reach - low[2]) / size))
    b2 = min(dims[2] - 1, int((x[i, 2] + reach - low[2]) / size))
    count = 0
    for p in range(a0, b0 + 1):
        for q in range(a1, b1 + 1):
            line = (p * dims[1] + q) * dims[2]
            for k in range(first[line + a2], first[line + b2 + 1]):
                j = order[k]
                d0, d1, d2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
                pair = 0.5 * (h[i] + h[j])
                if j != i and d0 * d0 + d1 * d1 + d2 * d2 < pair * pair * (1.0 - 1e-9):
                    if write:
                        out[at + count] = j
                    count += 1
    return count


@jit
def _search(x, h, most, low, size, dims, first, order):
    n = x.shape[0]
    starts = np.zeros(n + 1, np.int64)
    none = np.zeros(1, np.uint32)
    for i in range(n):
        starts[i + 1] = starts[i] + _row(i, x, h, most, low, size, dims, first, order, none, 0, False)
    around = np.empty(starts[n], np.uint32)
    for i in range(n):
        _row(i, x, h, most, low, size, dims, first, order, around, starts[i], True)
        around[starts[i] : starts[i + 1]].sort()
    return starts, around


def neighbours(x: Array, h: Array) -> tuple[IntArray, AnyArray]:
    """CSR rows (starts, around) of the pairs with ``|x_ij| < (h_i + h_j) / 2``, both ways round, sorted.

    x (n, 3) [m], h (n,) [m]. Cells are half the largest support wide, or wider where that makes too many.
    """
    low, extent = x.min(axis=0), np.ptp(x, axis=0)
    size = 0.5 * float(h.max())
    while np.prod(np.floor(extent / size) + 1.0) > MOST_CELLS:
        size *= 1.5
    dims = (np.floor(extent / size) + 1.0).astype(np.int64)
    cell = np.empty(len(x), np.int64)
    _cells(x, low, size, dims, cell)
    order = np.argsort(cell, kind="stable")
    first = np.searchsorted(cell[order], np.arange(int(np.prod(dims)) + 1))
    starts, around = _search(x, h, float(h.max()), low, size, dims, first, order)
    return starts, around


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
