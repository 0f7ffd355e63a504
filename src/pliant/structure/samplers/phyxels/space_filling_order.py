"""Numbering points so that neighbours in space are neighbours in memory."""

import numpy as np

from pliant.core.typing import Array, IntArray

_BITS = 20


def along_curve(points: Array, spacing: float) -> IntArray:
    """The points sorted along Morton's curve through cells of ``spacing``; ties keep their order."""
    cells = np.floor((points - points.min(axis=0)) / spacing + 0.37).astype(np.uint64)  # off every lattice
    code = np.zeros(len(points), np.uint64)
    for bit in range(_BITS):
        for axis in range(3):
            code |= ((cells[:, axis] >> np.uint64(bit)) & np.uint64(1)) << np.uint64(3 * bit + axis)
    return np.argsort(code, kind="stable")
