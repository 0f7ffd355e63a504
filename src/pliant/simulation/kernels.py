"""Compiled loops over the particles of the World."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.core.typing import Array
from pliant.kernels.jit import LIGHT_ROWS, ROW_PARTITIONS, parallel_jit, prange, twin

PARALLEL_ROWS = 50_000  # below, one thread has copied before the others have woken up


@parallel_jit
def _copy_parallel(source, out):
    for i in prange(source.shape[0]):
        for c in range(3):
            out[i, c] = source[i, c]


def copy_rows(source: Array, out: Array) -> None:
    """``out = source``, (n, 3) arrays."""
    if source.shape[0] < PARALLEL_ROWS:
        out[:] = source
    else:
        _copy_parallel(source, out)


@twin
def _work(f0, f1, x0, x1, out):
    n, parts = x0.shape[0], out.shape[0]
    for p in prange(parts):
        total = 0.0
        for i in range(p * n // parts, (p + 1) * n // parts):
            for c in range(3):
                total += (f0[i, c] + f1[i, c]) * (x1[i, c] - x0[i, c])
        out[p] = 0.5 * total


def force_work(f0: Array, f1: Array, x0: Array, x1: Array) -> float:
    """``sum (f0 + f1) . (x1 - x0) / 2`` of (n, 3) arrays: work [J] of forces that go from f0 to f1."""
    parallel = len(x0) >= LIGHT_ROWS
    out = np.empty(ROW_PARTITIONS if parallel else 1)
    _work[parallel](f0, f1, x0, x1, out)
    return float(out.sum())


@twin
def curvature_work(x, f, memory, ratio, out):
    """``sum moved . (f - f0) - (x - x0) . changed`` of (n, 3) arrays, in parts, into ``out``; ``memory`` has
    x0, f0, moved and changed. Then moved becomes ``x - x0 - ratio moved`` and changed the same of forces, x0
    and f0 become x and f."""
    n, parts = x.shape[0], out.shape[0]
    for p in prange(parts):
        total = 0.0
        for i in range(p * n // parts, (p + 1) * n // parts):
            for c in range(3):
                dx, df = x[i, c] - memory[0, i, c], f[i, c] - memory[1, i, c]
                total += memory[2, i, c] * df - dx * memory[3, i, c]
                memory[0, i, c], memory[1, i, c] = x[i, c], f[i, c]
                memory[2, i, c] = dx - ratio * memory[2, i, c]
                memory[3, i, c] = df - ratio * memory[3, i, c]
        out[p] = total
