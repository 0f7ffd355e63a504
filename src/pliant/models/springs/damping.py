"""Compiled damping of the springs: ``beta k`` times the rate of their length, along them."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit, parallel_jit, prange
from pliant.models.springs.kernels import TINY, shift_of


@jit
def _damping_blocks(first, last, index, rest, beta, x, v, buffer, shift, w):
    for b in range(first, last):
        nodes = index[b]
        row = rest[b]
        for e in range(2):
            for i in range(16):
                p = nodes[i, 0]
                q = nodes[i, 1 + e]
                w[i] = x[q, 0] - x[p, 0]
                w[16 + i] = x[q, 1] - x[p, 1]
                w[32 + i] = x[q, 2] - x[p, 2]
                w[48 + i] = v[q, 0] - v[p, 0]
                w[64 + i] = v[q, 1] - v[p, 1]
                w[80 + i] = v[q, 2] - v[p, 2]
            for i in range(16):
                dx = w[i]
                dy = w[16 + i]
                dz = w[32 + i]
                rate = dx * w[48 + i] + dy * w[64 + i] + dz * w[80 + i]
                s = beta * row[32 + 16 * e + i] * rate / (dx * dx + dy * dy + dz * dz + TINY)
                w[i] = s * dx
                w[16 + i] = s * dy
                w[32 + i] = s * dz
            for i in range(16):
                p = np.uint64(nodes[i, 0]) + shift
                q = np.uint64(nodes[i, 1 + e]) + shift
                for c in range(3):
                    g = w[16 * c + i]
                    buffer[p, c] += g
                    buffer[q, c] -= g


@jit
def spring_damping_serial(starts, low, offset, index, rest, beta, x, v, buffer):
    w = np.empty(96)
    for p in range(low.shape[0]):
        shift = shift_of(low, offset, p)
        _damping_blocks(starts[p], starts[p + 1], index, rest, beta, x, v, buffer, shift, w)


@parallel_jit
def spring_damping_parallel(starts, low, offset, index, rest, beta, x, v, buffer):
    for p in prange(low.shape[0]):
        w = np.empty(96)
        shift = shift_of(low, offset, np.int64(p))
        _damping_blocks(starts[p], starts[p + 1], index, rest, beta, x, v, buffer, shift, w)
