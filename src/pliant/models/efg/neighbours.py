"""Pairs of phyxels within reach of each other, by a grid of cells."""

# mypy: disable-error-code="no-untyped-def"

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
