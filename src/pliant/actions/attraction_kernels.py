"""The compiled loops of the action ``attraction``."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.kernels.jit import SERIAL_ROWS, jit, prange, twin


@twin
def _pairs(rows, mass, x, constant, softening, out):
    for a in prange(rows.shape[0]):
        i = rows[a]
        fx, fy, fz = 0.0, 0.0, 0.0
        for b in range(rows.shape[0]):
            j = rows[b]
            if i == j:
                continue
            dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            square = dx * dx + dy * dy + dz * dz + softening * softening
            pull = constant * (mass[i] * mass[j]) / (square * np.sqrt(square))
            fx += pull * dx
            fy += pull * dy
            fz += pull * dz
        out[i, 0] += fx
        out[i, 1] += fy
        out[i, 2] += fz


def add_attraction(
    rows: IntArray, mass: Array, x: Array, constant: float, softening: float, out: Array
) -> None:
    """Add ``sum_j G m_i m_j d / (|d|^2 + s^2)^(3/2)``, d from i to j, to ``out`` for all pairs of rows."""
    _pairs[len(rows) ** 2 >= SERIAL_ROWS](rows, mass, x, constant, softening, out)


@jit
def attraction_energy(rows, mass, x, constant, softening):
    """``-sum G m_i m_j / sqrt(|d|^2 + s^2)`` [J] over all pairs of ``rows``."""
    total = 0.0
    for a in range(rows.shape[0]):
        i, own = rows[a], 0.0
        for b in range(a):
            j = rows[b]
            dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            own += mass[j] / np.sqrt(dx * dx + dy * dy + dz * dz + softening * softening)
        total -= constant * mass[i] * own
    return total
