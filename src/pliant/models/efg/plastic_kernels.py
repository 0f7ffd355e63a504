"""Compiled plastic flow of phyxels, once per accepted step."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.kernels.eigen3 import symmetric_eigen
from pliant.kernels.jit import jit, parallel_jit, prange
from pliant.models.efg.laws import green_strain
from pliant.models.efg.row_layout import FLAT, LARGE, PARTS, UNIT, V_MU, take, take_six
from pliant.models.tets.kernels import determinant, right_cauchy_green, times

LIMIT, RATE, CAP, HARDENING = 0, 1, 2, 3  # constants: yield as a norm of strain, creep [1/s], largest norm
FLOWED = 9  # column of ``plastic``: accumulated norm


@jit
def norm(e):
    """Frobenius norm of a symmetric tensor (6)."""
    return np.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + 2.0 * (e[3] * e[3] + e[4] * e[4] + e[5] * e[5]))


@jit
def small_one(i, f, solid, constants, plastic, dt):
    """Additive flow on Green's strain; the energy it took [J]."""
    e = green_strain(f, UNIT, take_six(plastic, i, 0))
    mean = (e[0] + e[1] + e[2]) / 3.0
    d = (e[0] - mean, e[1] - mean, e[2] - mean, e[3], e[4], e[5])
    size = norm(d)
    limit = constants[LIMIT]
    if not size > limit:
        return 0.0
    share = -np.expm1(-constants[RATE] * dt) * (1.0 - limit / size)
    old = take_six(plastic, i, 0)
    new = (
        old[0] + share * d[0], old[1] + share * d[1], old[2] + share * d[2],
        old[3] + share * d[3], old[4] + share * d[4], old[5] + share * d[5],
    )  # fmt: skip
    keep = min(1.0, constants[CAP] / max(norm(new), 1e-300))
    for c in range(6):
        plastic[i, c] = keep * new[c]
    left = (
        d[0] - plastic[i, 0] + old[0], d[1] - plastic[i, 1] + old[1], d[2] - plastic[i, 2] + old[2],
        d[3] - plastic[i, 3] + old[3], d[4] - plastic[i, 4] + old[4], d[5] - plastic[i, 5] + old[5],
    )  # fmt: skip
    after = norm(left)
    return solid[i, V_MU] * (size * size - after * after)


@jit
def large_one(i, f, solid, constants, plastic, dt, values, vectors):
    """Multiplicative flow: ``Fp^-1 <- Fp^-1 V exp(-share dev log) V^T``; the energy it took [J]."""
    back = take(plastic, i, 0)
    fe = times(f, back)
    c = right_cauchy_green(fe)
    symmetric_eigen(c[0], c[1], c[2], c[3], c[4], c[5], values, vectors)
    if not (values[0] > 1e-12 and determinant(fe) > 0.0):
        return 0.0
    h0, h1, h2 = 0.5 * np.log(values[0]), 0.5 * np.log(values[1]), 0.5 * np.log(values[2])
    mean = (h0 + h1 + h2) / 3.0
    h0, h1, h2 = h0 - mean, h1 - mean, h2 - mean
    size = np.sqrt(h0 * h0 + h1 * h1 + h2 * h2)
    limit = constants[LIMIT] * (1.0 + constants[HARDENING] * plastic[i, FLOWED])
    if not size > limit:
        return 0.0
    share = -np.expm1(-constants[RATE] * dt) * (1.0 - limit / size)
    share = min(share, (constants[CAP] - plastic[i, FLOWED]) / size)
    if not share > 0.0:
        return 0.0
    plastic[i, FLOWED] += share * size
    g = (np.exp(-share * h0), np.exp(-share * h1), np.exp(-share * h2))
    for r in range(3):
        b0, b1, b2 = back[3 * r], back[3 * r + 1], back[3 * r + 2]
        n0, n1, n2 = 0.0, 0.0, 0.0
        for m in range(3):
            along = g[m] * (b0 * vectors[0, m] + b1 * vectors[1, m] + b2 * vectors[2, m])
            n0 += along * vectors[0, m]
            n1 += along * vectors[1, m]
            n2 += along * vectors[2, m]
        plastic[i, 3 * r], plastic[i, 3 * r + 1], plastic[i, 3 * r + 2] = n0, n1, n2
    return solid[i, V_MU] * size * size * share * (2.0 - share)


@parallel_jit
def flow_all(gradients, solid, constants, kind, plastic, dt):
    """Let ``plastic`` flow; how many phyxels did, and the energy it took [J]."""
    n = solid.shape[0]
    counts, losses = np.zeros(PARTS, np.int64), np.zeros(PARTS)
    for p in prange(PARTS):
        values, vectors = np.empty(3), np.empty((3, 3))
        for i in range(p * n // PARTS, (p + 1) * n // PARTS):
            if solid[i, FLAT] != 0.0:
                continue
            f = take(gradients, i, 0)
            if kind == LARGE:
                lost = large_one(i, f, solid, constants, plastic, dt, values, vectors)
            else:
                lost = small_one(i, f, solid, constants, plastic, dt)
            if lost != 0.0:
                counts[p] += 1
                losses[p] += lost
    flowed, heat = 0, 0.0
    for p in range(PARTS):
        flowed += counts[p]
        heat += losses[p]
    return flowed, heat
