"""Compiled updates of velocities and positions, (n, 3) arrays in place."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.core.typing import Array
from pliant.kernels.jit import LIGHT_ROWS, ROW_PARTITIONS, SERIAL_ROWS, prange, twin


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


@twin
def _scheme_energy(v, f, w, closing, dt, out):
    n, parts = v.shape[0], out.shape[0]
    first = 0.5 * dt * (1.0 - 2.0 * closing)
    second = 0.5 * dt * dt * closing * (1.0 - closing)
    for p in prange(parts):
        total = 0.0
        for i in range(p * n // parts, (p + 1) * n // parts):
            for c in range(3):
                if w[i, c] > 0.0:
                    total += f[i, c] * (first * v[i, c] - second * w[i, c] * f[i, c])
        out[p] = total


def scheme_energy(v: Array, f: Array, w: Array, closing: float, dt: float) -> float:
    """``KickDrift.scheme_energy`` [J]."""
    parallel = len(v) >= LIGHT_ROWS
    out = np.empty(ROW_PARTITIONS if parallel else 1)
    _scheme_energy[parallel](v, f, w, closing, dt, out)
    return float(out.sum())


def kick_drift(x: Array, v: Array, f: Array, w: Array, kick: float, keep: float, drift: float) -> None:
    """``v = keep v + kick w f``, then ``x += drift v``; w is the inverse mass (n, 3)."""
    _kick_drift[len(x) >= SERIAL_ROWS](x, v, f, w, kick, keep, drift)


def kick(v: Array, f: Array, w: Array, kick: float, out: Array) -> None:
    """``out = v + kick w f``."""
    _kick[len(v) >= SERIAL_ROWS](v, f, w, kick, out)


def drift(x: Array, v: Array, drift: float, out: Array) -> None:
    """``out = x + drift v``."""
    _drift[len(x) >= SERIAL_ROWS](x, v, drift, out)
