"""Compiled updates of velocities and positions, (n, 3) arrays in place."""

# mypy: disable-error-code="no-untyped-def"

from pliant.core.typing import Array
from pliant.kernels.jit import SERIAL_ROWS, prange, twin


@twin
def _kick_drift(x, v, f, w, kick, keep, drift):
    for i in prange(x.shape[0]):
        for c in range(3):
            u = keep * v[i, c] + kick * (f[i, c] * w[i, c])
            v[i, c] = u
            x[i, c] += drift * u


@twin
def _kick(v, f, w, kick, out):
    for i in prange(v.shape[0]):
        for c in range(3):
            out[i, c] = v[i, c] + kick * (f[i, c] * w[i, c])


@twin
def _drift(x, v, drift, out):
    for i in prange(x.shape[0]):
        for c in range(3):
            out[i, c] = x[i, c] + drift * v[i, c]


def kick_drift(x: Array, v: Array, f: Array, w: Array, kick: float, keep: float, drift: float) -> None:
    """``v = keep v + kick w f``, then ``x += drift v``; w is the inverse mass (n, 3)."""
    _kick_drift[len(x) >= SERIAL_ROWS](x, v, f, w, kick, keep, drift)


def kick(v: Array, f: Array, w: Array, kick: float, out: Array) -> None:
    """``out = v + kick w f``."""
    _kick[len(v) >= SERIAL_ROWS](v, f, w, kick, out)


def drift(x: Array, v: Array, drift: float, out: Array) -> None:
    """``out = x + drift v``."""
    _drift[len(x) >= SERIAL_ROWS](x, v, drift, out)
