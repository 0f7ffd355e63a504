"""Nodal rotations: how the surroundings of each particle have turned since rest."""

# mypy: disable-error-code="no-untyped-def"

from typing import Any

import numpy as np

from pliant.compiled import SERIAL_ROWS, jit, parallel_jit, prange
from pliant.typing import Array, BoolArray

PARTS = 64


@jit
def _cofactor(a, c):
    c[0, 0] = a[1, 1] * a[2, 2] - a[1, 2] * a[2, 1]
    c[0, 1] = a[1, 2] * a[2, 0] - a[1, 0] * a[2, 2]
    c[0, 2] = a[1, 0] * a[2, 1] - a[1, 1] * a[2, 0]
    c[1, 0] = a[0, 2] * a[2, 1] - a[0, 1] * a[2, 2]
    c[1, 1] = a[0, 0] * a[2, 2] - a[0, 2] * a[2, 0]
    c[1, 2] = a[0, 1] * a[2, 0] - a[0, 0] * a[2, 1]
    c[2, 0] = a[0, 1] * a[1, 2] - a[0, 2] * a[1, 1]
    c[2, 1] = a[0, 2] * a[1, 0] - a[0, 0] * a[1, 2]
    c[2, 2] = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    return a[0, 0] * c[0, 0] + a[0, 1] * c[0, 1] + a[0, 2] * c[0, 2]


@jit
def _polar(a, c):
    """Turn ``a`` into its rotation by Newton's iteration ``(s A + A^-T / s) / 2``; identity if inverted."""
    size = 0.0
    for k in range(9):
        size += a.flat[k] * a.flat[k]
    size = np.sqrt(size / 3.0)
    good = size > 0.0
    if good:
        for i in range(3):
            for j in range(3):
                a[i, j] /= size
    for _ in range(12):
        det = _cofactor(a, c)
        if not (good and det > 1e-4):
            good = False
            break
        p = 0.0
        q = 0.0
        for i in range(3):
            for j in range(3):
                c[i, j] /= det
                p += a[i, j] * a[i, j]
                q += c[i, j] * c[i, j]
        s = np.sqrt(np.sqrt(q / p))
        change = 0.0
        for i in range(3):
            for j in range(3):
                new = 0.5 * (s * a[i, j] + c[i, j] / s)
                change += (new - a[i, j]) ** 2
                a[i, j] = new
        if change < 1e-6:
            break
    if not good:
        for i in range(3):
            for j in range(3):
                a[i, j] = 1.0 if i == j else 0.0


@jit
def _rotations(begin, end, starts, around, rest, x, upright, out):
    c = np.empty((3, 3))
    for i in range(begin, end):
        a = out[i]
        a[:] = 0.0
        if upright[i]:
            a[0, 0] = a[1, 1] = a[2, 2] = 1.0
            continue
        for k in range(starts[i], starts[i + 1]):
            j = around[k]
            for p in range(3):
                d = x[j, p] - x[i, p]
                a[p, 0] += d * (rest[j, 0] - rest[i, 0])
                a[p, 1] += d * (rest[j, 1] - rest[i, 1])
                a[p, 2] += d * (rest[j, 2] - rest[i, 2])
        _polar(a, c)


@jit
def _rotations_serial(starts, around, rest, x, upright, out):
    _rotations(0, x.shape[0], starts, around, rest, x, upright, out)


@parallel_jit
def _rotations_parallel(starts, around, rest, x, upright, out):
    n = x.shape[0]
    for p in prange(PARTS):
        _rotations(p * n // PARTS, (p + 1) * n // PARTS, starts, around, rest, x, upright, out)


def nodal_rotations(graph: Any, rest: Array, x: Array, upright: BoolArray, out: Array) -> None:
    """Rotations (n, 3, 3): polar factor of ``sum_j (x_j - x_i)(X_j - X_i)^T`` over the neighbours of i.

    graph: neighbours as a CSR matrix; ``upright`` nodes keep the identity, as do inverted ones.
    """
    run = _rotations_parallel if len(x) >= SERIAL_ROWS else _rotations_serial
    run(graph.indptr, graph.indices, rest, x, upright, out)
