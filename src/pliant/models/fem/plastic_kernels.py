"""Compiled loops of plastic flow."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.kernels.eigen3 import symmetric_eigen
from pliant.kernels.jit import jit, parallel_jit, prange
from pliant.models.fem import kernels
from pliant.models.fem.general import PLASTIC, elastic_strain, green, orthonormal_columns, unrotated
from pliant.models.fem.laws import LAMBDA, MU
from pliant.models.tets.kernels import (
    ROOT,
    SCRATCH,
    combine,
    deform_block,
    determinant,
    gather_edges,
    inlined,
    right_cauchy_green,
    rotation_weights,
    stretch_block,
    take,
)

GENERAL_COROTATIONAL, GRAM_SCHMIDT = kernels.GENERAL_COROTATIONAL, kernels.GRAM_SCHMIDT
STRAIN = 16 * 16  # columns of the scratch: elastic strain (6), heat, lanes that flowed
CREEP, CAP = 16, 32  # columns of a plastic row, after the yield limit


@inlined
def norm(e0, e1, e2, e3, e4, e5):
    """Frobenius norm of a symmetric tensor (6)."""
    return np.sqrt(e0 * e0 + e1 * e1 + e2 * e2 + 2.0 * (e3 * e3 + e4 * e4 + e5 * e5))


@jit
def _strain_block(w, row, law):
    """Elastic strain (6, tensor components) of each lane into the columns at STRAIN."""
    deform_block(w, row)
    if law == GENERAL_COROTATIONAL:
        stretch_block(w)
    for i in range(16):
        f = take(w, i)
        c = right_cauchy_green(f)
        if law == GENERAL_COROTATIONAL:
            a, b, g = rotation_weights(w[ROOT + i], w[144 + i], w[160 + i])
            r = combine(f, c, a, b, g)
            m = unrotated(r, f)
        elif law == GRAM_SCHMIDT:
            r = orthonormal_columns(f)
            m = unrotated(r, f)
        else:
            m = green(c)
        e0, e1, e2, e3, e4, e5 = elastic_strain(row, i, m)
        w[STRAIN + i] = e0
        w[STRAIN + 16 + i] = e1
        w[STRAIN + 32 + i] = e2
        w[STRAIN + 48 + i] = 0.5 * e3
        w[STRAIN + 64 + i] = 0.5 * e4
        w[STRAIN + 80 + i] = 0.5 * e5


@jit
def _flow_lane(w, row, plastic, i, dt):
    """Move what exceeds the yield limit of lane ``i`` to its plastic strain; the energy it took."""
    e0, e1, e2 = w[STRAIN + i], w[STRAIN + 16 + i], w[STRAIN + 32 + i]
    e3, e4, e5 = w[STRAIN + 48 + i], w[STRAIN + 64 + i], w[STRAIN + 80 + i]
    mean = (e0 + e1 + e2) / 3.0
    e0, e1, e2 = e0 - mean, e1 - mean, e2 - mean
    size = norm(e0, e1, e2, e3, e4, e5)
    if not size > plastic[i]:
        return 0.0
    share = -np.expm1(-plastic[CREEP + i] * dt) * (1.0 - plastic[i] / size)
    k = PLASTIC + i
    old = (row[k], row[k + 16], row[k + 32], row[k + 48], row[k + 64], row[k + 80])
    p0, p1, p2 = old[0] + share * e0, old[1] + share * e1, old[2] + share * e2
    p3, p4, p5 = old[3] + share * e3, old[4] + share * e4, old[5] + share * e5
    keep = min(1.0, plastic[CAP + i] / norm(p0, p1, p2, p3, p4, p5))
    row[k], row[k + 16], row[k + 32] = keep * p0, keep * p1, keep * p2
    row[k + 48], row[k + 64], row[k + 80] = keep * p3, keep * p4, keep * p5
    after = norm(
        e0 - (row[k] - old[0]),
        e1 - (row[k + 16] - old[1]),
        e2 - (row[k + 32] - old[2]),
        e3 - (row[k + 48] - old[3]),
        e4 - (row[k + 64] - old[4]),
        e5 - (row[k + 80] - old[5]),
    )
    return row[MU + i] * (size * size - after * after)


@jit
def _printed_lane(w, row, plastic, i, dt):
    """Algorithm 4.1 as printed, on the strain 6-vector with engineering shears."""
    e0, e1, e2 = w[STRAIN + i], w[STRAIN + 16 + i], w[STRAIN + 32 + i]
    e3, e4, e5 = w[STRAIN + 48 + i], w[STRAIN + 64 + i], w[STRAIN + 80 + i]
    before = norm(e0, e1, e2, e3, e4, e5)
    size = np.sqrt(e0 * e0 + e1 * e1 + e2 * e2 + 4.0 * (e3 * e3 + e4 * e4 + e5 * e5))
    if not size > plastic[i]:
        return 0.0
    share = min(1.0, dt * plastic[CREEP + i])
    square = 0.0
    for c in range(6):
        row[PLASTIC + 16 * c + i] += share * w[STRAIN + 16 * c + i]
        square += (1.0 if c < 3 else 4.0) * row[PLASTIC + 16 * c + i] ** 2
    keep = min(1.0, plastic[CAP + i] / np.sqrt(square))
    for c in range(6):
        row[PLASTIC + 16 * c + i] *= keep
    left = (1.0 - share) * (1.0 - share)
    trace = e0 + e1 + e2
    return (1.0 - left) * (row[MU + i] * before * before + 0.5 * row[LAMBDA + i] * trace * trace)


@jit
def _small_blocks(first, last, index, rest, plastic, law, printed, dt, x, w):
    flowed = 0
    heat = 0.0
    for b in range(first, last):
        row = rest[b]
        gather_edges(index[b], x, w, 0)
        _strain_block(w, row, law)
        for i in range(16):
            if row[MU + i] > 0.0:
                if printed:
                    lost = _printed_lane(w, row, plastic[b], i, dt)
                else:
                    lost = _flow_lane(w, row, plastic[b], i, dt)
                if lost != 0.0:
                    flowed += 1
                    heat += lost
    return flowed, heat


@jit
def small_serial(starts, index, rest, plastic, law, printed, dt, x):
    """Plastic strain in the rest rows grows; how many tets flowed, and the energy it took [J]."""
    flowed, heat = 0, 0.0
    w = np.empty(SCRATCH)
    for p in range(starts.shape[0] - 1):
        n, lost = _small_blocks(starts[p], starts[p + 1], index, rest, plastic, law, printed, dt, x, w)
        flowed += n
        heat += lost
    return flowed, heat


@parallel_jit
def small_parallel(starts, index, rest, plastic, law, printed, dt, x):
    """As ``small_serial``."""
    parts = starts.shape[0] - 1
    counts, losses = np.zeros(parts, np.int64), np.zeros(parts)
    for p in prange(parts):
        w = np.empty(SCRATCH)
        n, lost = _small_blocks(starts[p], starts[p + 1], index, rest, plastic, law, printed, dt, x, w)
        counts[p] = n
        losses[p] = lost
    flowed, heat = 0, 0.0
    for p in range(parts):
        flowed += counts[p]
        heat += losses[p]
    return flowed, heat


@jit
def _large_lane(w, row, plastic, flow, i, dt, values, vectors):
    """Return the logarithmic strains of lane ``i``; the energy it took. Inverted tets do not flow."""
    f = take(w, i)
    c00, c11, c22, c12, c02, c01 = right_cauchy_green(f)
    if not determinant(f) > 0.0:
        return 0.0
    mean = (c00 + c11 + c22) / 3.0
    size = norm(c00 - mean, c11 - mean, c22 - mean, c12, c02, c01)
    least = mean - np.sqrt(2.0 / 3.0) * size  # no eigenvalue is smaller
    if 0.5 * size <= plastic[i] * least:  # no logarithm of the stretches can pass the limit
        return 0.0
    symmetric_eigen(c00, c11, c22, c12, c02, c01, values, vectors)
    if not values[0] > 0.0:
        return 0.0
    h0, h1, h2 = 0.5 * np.log(values[0]), 0.5 * np.log(values[1]), 0.5 * np.log(values[2])
    mean = (h0 + h1 + h2) / 3.0
    h0, h1, h2 = h0 - mean, h1 - mean, h2 - mean
    size = np.sqrt(h0 * h0 + h1 * h1 + h2 * h2)
    if not size > plastic[i]:
        return 0.0
    share = -np.expm1(-plastic[CREEP + i] * dt) * (1.0 - plastic[i] / size)
    share = min(share, (plastic[CAP + i] - flow[i]) / size)
    if not share > 0.0:
        return 0.0
    flow[i] += share * size
    g = (np.exp(-share * h0), np.exp(-share * h1), np.exp(-share * h2))
    for b in range(3):
        k = 48 * b + i
        old = (row[k], row[k + 16], row[k + 32])
        new0, new1, new2 = 0.0, 0.0, 0.0
        for m in range(3):
            along = g[m] * (old[0] * vectors[0, m] + old[1] * vectors[1, m] + old[2] * vectors[2, m])
            new0 += along * vectors[0, m]
            new1 += along * vectors[1, m]
            new2 += along * vectors[2, m]
        row[k], row[k + 16], row[k + 32] = new0, new1, new2
    return row[MU + i] * size * size * share * (2.0 - share)


@jit
def _large_blocks(first, last, index, rest, plastic, flow, dt, x, w):
    values, vectors = np.empty(3), np.empty((3, 3))
    flowed = 0
    heat = 0.0
    for b in range(first, last):
        row = rest[b]
        gather_edges(index[b], x, w, 0)
        deform_block(w, row)
        for i in range(16):
            if row[MU + i] > 0.0:
                lost = _large_lane(w, row, plastic[b], flow[b], i, dt, values, vectors)
                if lost != 0.0:
                    flowed += 1
                    heat += lost
    return flowed, heat


@jit
def large_serial(starts, index, rest, plastic, flow, dt, x):
    """``D_m^-1`` in the rest rows flows; how many tets did, and the energy it took [J]."""
    flowed, heat = 0, 0.0
    w = np.empty(SCRATCH)
    for p in range(starts.shape[0] - 1):
        n, lost = _large_blocks(starts[p], starts[p + 1], index, rest, plastic, flow, dt, x, w)
        flowed += n
        heat += lost
    return flowed, heat


@parallel_jit
def large_parallel(starts, index, rest, plastic, flow, dt, x):
    """As ``large_serial``."""
    parts = starts.shape[0] - 1
    counts, losses = np.zeros(parts, np.int64), np.zeros(parts)
    for p in prange(parts):
        w = np.empty(SCRATCH)
        n, lost = _large_blocks(starts[p], starts[p + 1], index, rest, plastic, flow, dt, x, w)
        counts[p] = n
        losses[p] = lost
    flowed, heat = 0, 0.0
    for p in range(parts):
        flowed += counts[p]
        heat += losses[p]
    return flowed, heat
