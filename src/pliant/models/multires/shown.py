"""What is simulated, as the body's particles show it: compiled passes over all of them, once a step of the
World."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.compiled import SERIAL_ROWS, jit, parallel_jit, prange
from pliant.typing import Array, IntArray

PARTS = 64


@jit
def _show_range(a, b, rest, d, speed, w, x, v, last_x, last_v):
    for i in range(a, b):
        for c in range(3):
            if w[i, c] > 0.0:
                x[i, c] = rest[i, c] + d[i, c]
                v[i, c] = speed[i, c]
            last_x[i, c] = x[i, c]
            last_v[i, c] = v[i, c]


@jit
def _show_serial(rest, d, speed, w, x, v, last_x, last_v):
    _show_range(0, x.shape[0], rest, d, speed, w, x, v, last_x, last_v)


@parallel_jit
def _show_parallel(rest, d, speed, w, x, v, last_x, last_v):
    n = x.shape[0]
    for p in prange(PARTS):
        _show_range(p * n // PARTS, (p + 1) * n // PARTS, rest, d, speed, w, x, v, last_x, last_v)


@jit
def _changed_range(a, b, x, v, last_x, last_v, w, flags):
    for i in range(a, b):
        other = False
        for c in range(3):
            other |= (w[i, c] > 0.0) & ((x[i, c] != last_x[i, c]) | (v[i, c] != last_v[i, c]))
        flags[i] = other


@jit
def _changed_serial(x, v, last_x, last_v, w, flags):
    _changed_range(0, x.shape[0], x, v, last_x, last_v, w, flags)


@parallel_jit
def _changed_parallel(x, v, last_x, last_v, w, flags):
    n = x.shape[0]
    for p in prange(PARTS):
        _changed_range(p * n // PARTS, (p + 1) * n // PARTS, x, v, last_x, last_v, w, flags)


def show(
    rest: Array, d: Array, speed: Array, w: Array, x: Array, v: Array, last_x: Array, last_v: Array
) -> None:
    """Places and velocities of the finest nodes, where they are not driven (w: inverse masses (n, 3)); what
    is shown is kept in ``last_x`` and ``last_v``."""
    run = _show_parallel if len(x) >= SERIAL_ROWS else _show_serial
    run(rest, d, speed, w, x, v, last_x, last_v)


def changed(x: Array, v: Array, last_x: Array, last_v: Array, w: Array) -> IntArray:
    """Particles that somebody else has moved or kicked since they were shown, but the driven ones."""
    flags = np.empty(len(x), np.bool_)
    run = _changed_parallel if len(x) >= SERIAL_ROWS else _changed_serial
    run(x, v, last_x, last_v, w, flags)
    return np.flatnonzero(flags)
