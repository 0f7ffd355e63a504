"""Compiled updates of velocities and positions, (n, 3) arrays in place."""

# mypy: disable-error-code="no-untyped-def"

from pliant.core.typing import Array
from pliant.kernels.jit import SERIAL_ROWS, jit, parallel_jit, prange

PARTS = 64


@jit
def _kick_drift(a, b, x, v, f, w, kick, keep, drift):
    for i in range(a, b):
        for c in range(3):
            u = keep * v[i, c] + kick * (f[i, c] * w[i, c])
            v[i, c] = u
            x[i, c] += drift * u


@jit
def _kick(a, b, v, f, w, kick, out):
    for i in range(a, b):
        for c in range(3):
            out[i, c] = v[i, c] + kick * (f[i, c] * w[i, c])


@jit
def _drift(a, b, x, v, drift, out):
    for i in range(a, b):
        for c in range(3):
            out[i, c] = x[i, c] + drift * v[i, c]


@jit
def _kick_drift_serial(x, v, f, w, kick, keep, drift):
    _kick_drift(0, x.shape[0], x, v, f, w, kick, keep, drift)


@parallel_jit
def _kick_drift_parallel(x, v, f, w, kick, keep, drift):
    n = x.shape[0]
    for p in prange(PARTS):
        _kick_drift(p * n // PARTS, (p + 1) * n // PARTS, x, v, f, w, kick, keep, drift)


@jit
def _kick_serial(v, f, w, kick, out):
    _kick(0, v.shape[0], v, f, w, kick, out)


@parallel_jit
def _kick_parallel(v, f, w, kick, out):
    n = v.shape[0]
    for p in prange(PARTS):
        _kick(p * n // PARTS, (p + 1) * n // PARTS, v, f, w, kick, out)


@jit
def _drift_serial(x, v, drift, out):
    _drift(0, x.shape[0], x, v, drift, out)


@parallel_jit
def _drift_parallel(x, v, drift, out):
    n = x.shape[0]
    for p in prange(PARTS):
        _drift(p * n // PARTS, (p + 1) * n // PARTS, x, v, drift, out)


def kick_drift(x: Array, v: Array, f: Array, w: Array, kick: float, keep: float, drift: float) -> None:
    """``v = keep v + kick w f``, then ``x += drift v``; w is the inverse mass (n, 3)."""
    run = _kick_drift_parallel if x.shape[0] >= SERIAL_ROWS else _kick_drift_serial
    run(x, v, f, w, kick, keep, drift)


def kick(v: Array, f: Array, w: Array, kick: float, out: Array) -> None:
    """``out = v + kick w f``."""
    run = _kick_parallel if v.shape[0] >= SERIAL_ROWS else _kick_serial
    run(v, f, w, kick, out)


def drift(x: Array, v: Array, drift: float, out: Array) -> None:
    """``out = x + drift v``."""
    run = _drift_parallel if x.shape[0] >= SERIAL_ROWS else _drift_serial
    run(x, v, drift, out)
