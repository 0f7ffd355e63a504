"""Compiled energies of the mass-spring model, summed over fixed partitions."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit, prange, twin
from pliant.kernels.tensors import determinant
from pliant.models.tets.kernels import SCRATCH, gather_edges, take

LANES = 16 * 9  # columns of the scratch: the lanes' sums


@jit
def _spring_blocks(first, last, index, rest, x, w):
    """``sum k (l - L)^2 / 2`` of some blocks of pairs."""
    for i in range(16):
        w[LANES + i] = 0.0
    for b in range(first, last):
        nodes = index[b]
        row = rest[b]
        for e in range(2):
            for i in range(16):
                p = nodes[i, 0]
                q = nodes[i, 1 + e]
                for c in range(3):
                    w[16 * c + i] = x[q, c] - x[p, c]
            for i in range(16):
                length = np.sqrt(w[i] * w[i] + w[16 + i] * w[16 + i] + w[32 + i] * w[32 + i])
                stretch = length - row[16 * e + i]
                w[LANES + i] += 0.5 * row[32 + 16 * e + i] * stretch * stretch
    total = 0.0
    for i in range(16):
        total += w[LANES + i]
    return total


@jit
def _volume_blocks(first, last, index, rest, x, w):
    """``sum (lambda - mu) (v - V)^2 / (2 V)`` of some blocks."""
    for i in range(16):
        w[LANES + i] = 0.0
    for b in range(first, last):
        row = rest[b]
        gather_edges(index[b], x, w, 0)
        for i in range(16):
            d = take(w, i)
            change = determinant(d) - row[i]
            w[LANES + i] += 0.5 * row[16 + i] * change * change
    total = 0.0
    for i in range(16):
        total += w[LANES + i]
    return total


@twin
def energy(starts, index, rest, x, springs):
    """Energy [J] of springs, or of the volumetric terms; partitions are summed in order."""
    sums = np.empty(starts.shape[0] - 1)
    for p in prange(starts.shape[0] - 1):
        w = np.empty(SCRATCH)
        if springs:
            sums[p] = _spring_blocks(starts[p], starts[p + 1], index, rest, x, w)
        else:
            sums[p] = _volume_blocks(starts[p], starts[p + 1], index, rest, x, w)
    total = 0.0
    for p in range(sums.shape[0]):
        total += sums[p]
    return total
