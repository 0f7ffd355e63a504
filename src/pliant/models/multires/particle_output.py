"""What is simulated, as the body's particles show it: compiled passes over all of them, once a step of the
World."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.jit import LIGHT_ROWS, jit, parallel_jit, prange

PARTS = 64
CHUNK = 256  # rows that stay in the innermost cache from one loop to the next


@jit
def _hang_range(a, b, flags, corners, weights, coarse_d, coarse_v, d, v):
    for i in range(a, b):
        if not flags[i]:
            continue
        x = 0.0
        y = 0.0
        z = 0.0
        p = 0.0
        q = 0.0
        r = 0.0
        for k in range(4):
            j = corners[i, k]
            w = weights[i, k]
            x += w * coarse_d[j, 0]
            y += w * coarse_d[j, 1]
            z += w * coarse_d[j, 2]
            p += w * coarse_v[j, 0]
            q += w * coarse_v[j, 1]
            r += w * coarse_v[j, 2]
        d[i, 0] = x
        d[i, 1] = y
        d[i, 2] = z
        v[i, 0] = p
        v[i, 1] = q
        v[i, 2] = r


@jit
def interpolate_flagged(flags, corners, weights, coarse_d, coarse_v, d, v):
    """``d_i = sum_k w_ik coarse_d[corner_ik]`` for the flagged nodes, and v likewise: values of parent
    tets."""
    _hang_range(0, flags.shape[0], flags, corners, weights, coarse_d, coarse_v, d, v)


@jit
def _show_range(a, b, hanging, coarse, own, rest, driven, x, v, last):
    """Two loops with few arrays each: more than eight at like addresses throw each other out of caches."""
    d, speed = own
    _hang_range(a, b, hanging[0], hanging[1], hanging[2], coarse[0], coarse[1], d, speed)
    for i in range(a, b):
        for c in range(3):
            if not driven[i, c]:
                x[i, c] = rest[i, c] + d[i, c]
                v[i, c] = speed[i, c]
            last[i, c] = x[i, c]
            last[i, 3 + c] = v[i, c]


@jit
def _show_serial(hanging, coarse, own, rest, driven, x, v, last):
    for a in range(0, x.shape[0], CHUNK):
        _show_range(a, min(a + CHUNK, x.shape[0]), hanging, coarse, own, rest, driven, x, v, last)


@parallel_jit
def _show_parallel(hanging, coarse, own, rest, driven, x, v, last):
    n = x.shape[0]
    for p in prange(PARTS):
        _show_range(p * n // PARTS, (p + 1) * n // PARTS, hanging, coarse, own, rest, driven, x, v, last)


@jit
def _changed_range(a, b, x, v, last, driven, flags):
    for i in range(a, b):
        other = False
        for c in range(3):
            other |= ((x[i, c] != last[i, c]) | (v[i, c] != last[i, 3 + c])) & (not driven[i, c])
        flags[i] = other


@jit
def _changed_serial(x, v, last, driven, flags):
    _changed_range(0, x.shape[0], x, v, last, driven, flags)


@parallel_jit
def _changed_parallel(x, v, last, driven, flags):
    n = x.shape[0]
    for p in prange(PARTS):
        _changed_range(p * n // PARTS, (p + 1) * n // PARTS, x, v, last, driven, flags)


def write_particles(
    hanging: tuple[BoolArray, IntArray, Array],
    coarse: tuple[Array, Array],
    own: tuple[Array, Array],
    rest: Array,
    driven: BoolArray,
    x: Array,
    v: Array,
    last: Array,
) -> None:
    """Places ``rest + d`` and velocities of the finest nodes, where they are not driven.

    Nodes that hang take the values of their parent tets first (flags, corners and weights): ``own``
    displacements and velocities from the ``coarse`` ones. What is shown is kept in ``last`` (n, 6).
    """
    run = _show_parallel if len(x) >= LIGHT_ROWS else _show_serial
    run(hanging, coarse, own, rest, driven, x, v, last)


def changed(x: Array, v: Array, last: Array, driven: BoolArray) -> IntArray:
    """Particles that somebody else has moved or kicked since they were shown, but the driven ones."""
    flags = np.empty(len(x), np.bool_)
    run = _changed_parallel if len(x) >= LIGHT_ROWS else _changed_serial
    run(x, v, last, driven, flags)
    return np.flatnonzero(flags)
