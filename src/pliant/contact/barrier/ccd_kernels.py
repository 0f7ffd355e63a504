"""Additive continuous collision detection along straight moves."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.contact.barrier.distance_kernels import motion_bound, stencil_distance
from pliant.core.typing import Array, IntArray
from pliant.kernels.jit import SERIAL_ROWS, jit, partition, partition_count, prange, twin

KEEP = 0.2  # of a distance that a move leaves at least
CLOSE = 1.2  # times that: where the search along a move ends
ROUNDS = 2000
FEWER = 1.0 - 1e-9  # against rounding, where a bound of a distance is used for it


@jit
def safe_move(kind, x, p, normal, offset, most, w, n, y):
    """The largest share of the displacements p (4, 3), at most ``most``, along which the distance of the
    stencil x (4, 3) beyond ``offset`` keeps a fifth; found by steps that the distance allows, as in
    additive CCD [LiKaufmanJiang2021]_. w (4,), n (3,), y (4, 3): room to work in."""
    start = stencil_distance(kind, x, normal, w, n) - offset
    speed = motion_bound(kind, p)
    if speed * most <= (1.0 - KEEP) * start:
        return most
    if not start > 0.0:
        return 0.0
    least = KEEP * start
    t = (start - least) / speed
    for _ in range(ROUNDS):
        for k in range(4):
            for c in range(3):
                y[k, c] = x[k, c] + t * p[k, c]
        d = stencil_distance(kind, y, normal, w, n) - offset
        if d <= CLOSE * least:
            break
        t += (d - least) / speed
        if t >= most:
            return most
    return t


@twin
def _safe_moves(x, p, kinds, stencils, normals, offsets, since, known, most, out):
    count = kinds.shape[0]
    for q in prange(partition_count(count)):
        first, last = partition(np.int64(q), count)
        places, moves = np.empty((4, 3)), np.empty((4, 3))
        w, n, y = np.empty(4), np.empty(3), np.empty((4, 3))
        best = most
        which = -1
        for s in range(first, last):
            for k in range(4):
                for c in range(3):
                    places[k, c] = x[stencils[s, k], c]
                    moves[k, c] = p[stencils[s, k], c]
                    y[k, c] = places[k, c] - since[stencils[s, k], c]
            least = known[s] - motion_bound(kinds[s], y)  # of its distance
            if motion_bound(kinds[s], moves) * best <= (1.0 - KEEP) * FEWER * least:
                continue
            found = safe_move(kinds[s], places, moves, normals[s], offsets[s], best, w, n, y)
            if found < best:
                best = found
                which = s
        out[q, 0] = best
        out[q, 1] = which


def largest_move(
    x: Array, p: Array, kinds: IntArray, stencils: IntArray, normals: Array, offsets: Array, since: Array,
    known: Array, most: float = 1.0,
) -> tuple[float, int]:  # fmt: skip
    """The largest share of the displacements p (v, 3) of vertices x (v, 3) that all stencils allow, and the
    stencil that allows no more, or -1. known (s,): their distances with vertices at ``since`` (v, 3), which
    tell where there is no need to look."""
    if not len(kinds):
        return most, -1
    out = np.empty((partition_count(len(kinds)), 2))
    _safe_moves[len(kinds) >= SERIAL_ROWS](
        x, p, kinds, stencils, normals, offsets, since, known, most, out
    )  # fmt: skip
    best = int(np.argmin(out[:, 0]))
    return float(out[best, 0]), int(out[best, 1])
