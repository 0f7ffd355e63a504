"""What this machine can do at most: memory bandwidth and arithmetic peak, measured in the same run."""

# mypy: disable-error-code="no-untyped-def"

import time
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from pliant.kernels.jit import parallel_jit, prange, set_threads


@dataclass(frozen=True)
class Machine:
    """bandwidth [B/s] of a large triad; peak [flop/s] of packed multiply-adds; threads in use."""

    bandwidth: float
    peak: float
    threads: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@parallel_jit
def _triad(a, b, c):
    for i in prange(a.size):
        a[i] = b[i] + 3.0 * c[i]


@parallel_jit
def _polynomials(out, rounds):
    for p in prange(out.shape[0]):
        row = out[p]
        for _ in range(rounds):
            for i in range(row.size):
                x = row[i]
                y = 0.5 * x + 0.25
                y = y * x + 0.125
                y = y * x + 0.0625
                y = y * x + 0.03125
                y = y * x + 0.015625
                y = y * x + 0.0078125
                y = y * x + 0.00390625
                row[i] = y * x + 0.001953125


def fastest(action: Any, repeats: int = 5) -> float:
    """Shortest wall time of ``action`` over some repeats [s]."""
    action()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best


@lru_cache(maxsize=4)
def measure_machine(threads: int | None = None) -> Machine:
    """Bandwidth and peak with ``threads`` threads (None: all)."""
    used = set_threads(threads)
    a, b, c = (np.ones(8_000_000) for _ in range(3))
    seconds = fastest(lambda: _triad(a, b, c))
    rows, rounds = np.full((2 * used, 512), 0.5), 4000
    flops = rows.size * rounds * 16
    peak = flops / fastest(lambda: _polynomials(rows, rounds), 3)
    return Machine(bandwidth=3 * a.nbytes / seconds, peak=peak, threads=used)
