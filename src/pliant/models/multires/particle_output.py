"""The body's particles from the state of the levels: compiled passes over all of them, once a step of the
World."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.jit import LIGHT_ROWS, jit, prange, twin
from pliant.models.multires.level_state import LevelState
from pliant.models.multires.transfer_kernels import interpolate_flagged

CHUNK = 256  # rows that stay in the innermost cache from one loop to the next


@jit
def _write_range(a, b, constrained, coarse, own, rest, prescribed, x, v, written):
    """Two loops with few arrays each: more than eight at like addresses throw each other out of caches."""
    d, speed = own
    flags, corners, weights = constrained
    interpolate_flagged(a, b, flags, corners, weights, coarse[0], coarse[1], d, speed)
    for i in range(a, b):
        for c in range(3):
            if not prescribed[i, c]:
                x[i, c] = rest[i, c] + d[i, c]
                v[i, c] = speed[i, c]
            written[i, c] = x[i, c]
            written[i, 3 + c] = v[i, c]


@twin
def _write(constrained, coarse, own, rest, prescribed, x, v, written):
    n = x.shape[0]
    for k in prange((n + CHUNK - 1) // CHUNK):
        a = np.int64(k) * CHUNK
        _write_range(a, min(a + CHUNK, n), constrained, coarse, own, rest, prescribed, x, v, written)


@twin
def _changed(x, v, written, prescribed, flags):
    for i in prange(x.shape[0]):
        other = False
        for c in range(3):
            other |= ((x[i, c] != written[i, c]) | (v[i, c] != written[i, 3 + c])) & (not prescribed[i, c])
        flags[i] = other


def write_particles(
    motion: LevelState, constrained: BoolArray, prescribed: BoolArray, x: Array, v: Array, written: Array
) -> None:
    """Write positions ``rest + d`` and velocities of the finest nodes, where they are not prescribed.

    ``constrained`` nodes take the values of their parent tets first. x and v are kept in ``written`` (n, 6).
    """
    hierarchy = motion.hierarchy
    corners, weights = np.zeros((0, 4), int), np.zeros((0, 4))
    if hierarchy.transfers:
        corners, weights = hierarchy.transfers[-1].parent_corners, hierarchy.transfers[-1].parent_weights
    coarse, own = (motion.d[-2:][0], motion.v[-2:][0]), (motion.d[-1], motion.v[-1])
    rest, flags = hierarchy.levels[-1].points, (constrained, corners, weights)
    _write[len(x) >= LIGHT_ROWS](flags, coarse, own, rest, prescribed, x, v, written)


def changed(x: Array, v: Array, written: Array, prescribed: BoolArray) -> IntArray:
    """Particles that were moved or given another velocity since they were written, except prescribed ones."""
    flags = np.empty(len(x), np.bool_)
    _changed[len(x) >= LIGHT_ROWS](x, v, written, prescribed, flags)
    return np.flatnonzero(flags)
