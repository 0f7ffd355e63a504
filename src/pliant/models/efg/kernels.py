r"""Compiled passes over phyxels: deformation and stress, then forces. Each phyxel only reads from others, in
fixed order, so the bytes are the same for any number of threads.

With :math:`y_{ij} = w_{ij} X_{ij}`:

.. math:: H_i = \Bigl(\sum_j u_{ij} y_{ij}^T\Bigr) A_i^{-1}, \quad F_i = 1 + H_i, \quad
          Q_i = V_i P(F_i) A_i^{-1} - k_i H_i, \quad
          f_i = \sum_j (Q_i + Q_j)\,y_{ij} + w_{ij} (k_i + k_j)\,u_{ij},

which is minus the gradient of :math:`\sum_i V_i W(F_i) + \tfrac12 k_i \sum_j w_{ij} |u_{ij} - H_i X_{ij}|^2`.

Differences of pairs are multiplied out, so that all that is left to do per pair is a weighted sum of twelve
numbers of the neighbour, which the compiler packs: in the first pass ``u X^T`` (9) and u (3), in the second
Q (9) and ``b = Q X + k u`` (3). X counts from the middle of the body and u from the first phyxel's, to lose
no digits. A row of ``solid`` (n, 26) is what only the phyxel itself needs; its columns are named below.

Source: [Stegmayr2008]_ 3.2 and 4.1.1. Differs: signs and factors (the strain has its half, the force is then
not twice that; the volume force has the sign that restores), weights symmetric in i and j, and the second
term, which stiffens the motions that H does not see.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.compiled import jit, parallel_jit, prange
from pliant.models.efg.laws import (
    HOOKE,
    green_strain,
    hooke_energy,
    hooke_stress,
    neo_hookean_energy,
    neo_hookean_stress,
    times_symmetric,
)
from pliant.models.tet_kernels import determinant, inlined, times, transposed

PARTS = 64
PARALLEL_PAIRS = 40_000
# columns of solid: A^-1 (6), constants times volume, hourglass k, volume, flat (0 or 1), projector (6),
INVERSE, V_MU, V_LAMBDA, V_KV, K, VOLUME, FLAT, PROJECTOR = 0, 6, 7, 8, 9, 10, 11, 12
REST, LEVER, WEIGHT, K_AROUND, COLUMNS = 18, 21, 24, 25, 26  # X (3), sums over pairs: y (3), w, w k_j
ELASTIC, SMALL, LARGE = 0, 1, 2  # kinds of plastic flow
UNIT = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
NONE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inlined
def take(a, i, k):
    """Nine numbers of a row as a matrix."""
    return (
        a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3], a[i, k + 4], a[i, k + 5], a[i, k + 6], a[i, k + 7],
        a[i, k + 8],
    )  # fmt: skip


@inlined
def take_six(a, i, k):
    return a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3], a[i, k + 4], a[i, k + 5]


@inlined
def put(a, i, k, m):
    a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3], a[i, k + 4] = m[0], m[1], m[2], m[3], m[4]
    a[i, k + 5], a[i, k + 6], a[i, k + 7], a[i, k + 8] = m[5], m[6], m[7], m[8]


@jit
def weigh(a, b, around, weight, rows, total):
    """``sum_k w_k rows[j_k]`` over the pairs a to b, (12,); four at a time keep the adders busy."""
    for c in range(12):
        total[c] = 0.0
    k = a
    while k + 4 <= b:
        j0, j1, j2, j3 = around[k], around[k + 1], around[k + 2], around[k + 3]
        w0, w1 = np.float64(weight[k]), np.float64(weight[k + 1])
        w2, w3 = np.float64(weight[k + 2]), np.float64(weight[k + 3])
        for c in range(12):
            total[c] += (w0 * rows[j0, c] + w1 * rows[j1, c]) + (w2 * rows[j2, c] + w3 * rows[j3, c])
        k += 4
    while k < b:
        j0 = around[k]
        w0 = np.float64(weight[k])
        for c in range(12):
            total[c] += w0 * rows[j0, c]
        k += 1


@jit
def fit(i, starts, around, weight, first, solid, sums, total):
    """``sum_j u_ij y_ij^T`` (9); the weighted sum of u around stays in ``sums``."""
    weigh(starts[i], starts[i + 1], around, weight, first, total)
    x0, x1, x2 = solid[i, REST], solid[i, REST + 1], solid[i, REST + 2]
    y0, y1, y2 = solid[i, LEVER], solid[i, LEVER + 1], solid[i, LEVER + 2]
    u0, u1, u2 = first[i, 9], first[i, 10], first[i, 11]
    s0, s1, s2 = total[9], total[10], total[11]
    sums[i, 0], sums[i, 1], sums[i, 2] = s0, s1, s2
    return (
        total[0] - s0 * x0 - u0 * y0, total[1] - s0 * x1 - u0 * y1, total[2] - s0 * x2 - u0 * y2,
        total[3] - s1 * x0 - u1 * y0, total[4] - s1 * x1 - u1 * y1, total[5] - s1 * x2 - u1 * y2,
        total[6] - s2 * x0 - u2 * y0, total[7] - s2 * x1 - u2 * y1, total[8] - s2 * x2 - u2 * y2,
    )  # fmt: skip


@jit
def squares(i, starts, around, weight, first):
    """``sum_j w_ij |u_ij|^2``, by differences."""
    out = 0.0
    for k in range(starts[i], starts[i + 1]):
        j = around[k]
        d0, d1, d2 = first[j, 9] - first[i, 9], first[j, 10] - first[i, 10], first[j, 11] - first[i, 11]
        out += np.float64(weight[k]) * (d0 * d0 + d1 * d1 + d2 * d2)
    return out


@inlined
def plus_unit(h):
    return h[0] + 1.0, h[1], h[2], h[3], h[4] + 1.0, h[5], h[6], h[7], h[8] + 1.0


@jit
def stress(f, solid, i, law, flow, plastic):
    """V P, the stress times the rest volume, (9)."""
    mu, lam, kv = solid[i, V_MU], solid[i, V_LAMBDA], solid[i, V_KV]
    if solid[i, FLAT] != 0.0:
        unit = take_six(solid, i, PROJECTOR)
        ft = times_symmetric(f, unit)
        return hooke_stress(ft, green_strain(ft, unit, NONE), unit, mu, lam, 0.0)
    if flow == LARGE:
        back = take(plastic, i, 0)
        fe = times(f, back)
        if law == HOOKE:
            p = hooke_stress(fe, green_strain(fe, UNIT, NONE), UNIT, mu, lam, kv)
        else:
            p = neo_hookean_stress(fe, mu, lam, kv)
        return times(p, transposed(back))
    if law == HOOKE:
        own = take_six(plastic, i, 0) if flow == SMALL else NONE
        return hooke_stress(f, green_strain(f, UNIT, own), UNIT, mu, lam, kv)
    return neo_hookean_stress(f, mu, lam, kv)


@jit
def stored(f, solid, i, law, flow, plastic):
    """V W, the elastic energy [J]."""
    mu, lam, kv = solid[i, V_MU], solid[i, V_LAMBDA], solid[i, V_KV]
    if solid[i, FLAT] != 0.0:
        unit = take_six(solid, i, PROJECTOR)
        ft = times_symmetric(f, unit)
        return hooke_energy(ft, green_strain(ft, unit, NONE), mu, lam, 0.0)
    fe = times(f, take(plastic, i, 0)) if flow == LARGE else f
    if law == HOOKE:
        own = take_six(plastic, i, 0) if flow == SMALL else NONE
        return hooke_energy(fe, green_strain(fe, UNIT, own), mu, lam, kv)
    return neo_hookean_energy(fe, mu, lam, kv)


@jit
def load_one(i, u0, u1, u2, solid, first):
    x0, x1, x2 = solid[i, REST], solid[i, REST + 1], solid[i, REST + 2]
    first[i, 0], first[i, 1], first[i, 2] = u0 * x0, u0 * x1, u0 * x2
    first[i, 3], first[i, 4], first[i, 5] = u1 * x0, u1 * x1, u1 * x2
    first[i, 6], first[i, 7], first[i, 8] = u2 * x0, u2 * x1, u2 * x2
    first[i, 9], first[i, 10], first[i, 11] = u0, u1, u2


@jit
def load(a, b, x, rest, solid, first):
    """Displacements, counted from that of the first phyxel."""
    s0, s1, s2 = x[0, 0] - rest[0, 0], x[0, 1] - rest[0, 1], x[0, 2] - rest[0, 2]
    for i in range(a, b):
        load_one(
            i, x[i, 0] - rest[i, 0] - s0, x[i, 1] - rest[i, 1] - s1, x[i, 2] - rest[i, 2] - s2, solid, first
        )


@jit
def leave(i, h, p, k, inverse, solid, first, second):
    """``Q = V P A^-1 - k H`` and ``b = Q X + k u`` of a phyxel, for its neighbours."""
    q = times_symmetric(p, inverse)
    x0, x1, x2 = solid[i, REST], solid[i, REST + 1], solid[i, REST + 2]
    q0, q1, q2 = q[0] - k * h[0], q[1] - k * h[1], q[2] - k * h[2]
    q3, q4, q5 = q[3] - k * h[3], q[4] - k * h[4], q[5] - k * h[5]
    q6, q7, q8 = q[6] - k * h[6], q[7] - k * h[7], q[8] - k * h[8]
    put(second, i, 0, (q0, q1, q2, q3, q4, q5, q6, q7, q8))
    second[i, 9] = q0 * x0 + q1 * x1 + q2 * x2 + k * first[i, 9]
    second[i, 10] = q3 * x0 + q4 * x1 + q5 * x2 + k * first[i, 10]
    second[i, 11] = q6 * x0 + q7 * x1 + q8 * x2 + k * first[i, 11]


@jit
def strain_rows(a, b, starts, around, weight, solid, first, second, sums, law, flow, plastic, energy):
    """First pass: Q of the phyxels a to b, and their energy if asked for."""
    whole = 0.0
    total = np.empty(12)
    for i in range(a, b):
        m = fit(i, starts, around, weight, first, solid, sums, total)
        inverse = take_six(solid, i, INVERSE)
        h = times_symmetric(m, inverse)
        f = plus_unit(h)
        p = stress(f, solid, i, law, flow, plastic)
        k = solid[i, K]
        leave(i, h, p, k, inverse, solid, first, second)
        if energy:
            whole += stored(f, solid, i, law, flow, plastic)
            if k != 0.0:
                whole += 0.5 * k * (squares(i, starts, around, weight, first) - contract(h, m))
    return whole


@inlined
def contract(a, b):
    return (
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5] + a[6] * b[6]
        + a[7] * b[7] + a[8] * b[8]
    )  # fmt: skip


@jit
def force_rows(a, b, starts, around, weight, solid, first, second, sums, k_share, sign, out):
    """Second pass: add ``sign`` times the forces on the phyxels a to b."""
    total = np.empty(12)
    for i in range(a, b):
        weigh(starts[i], starts[i + 1], around, weight, second, total)
        x0, x1, x2 = solid[i, REST], solid[i, REST + 1], solid[i, REST + 2]
        y0, y1, y2 = solid[i, LEVER], solid[i, LEVER + 1], solid[i, LEVER + 2]
        q00, q01, q02, q10, q11, q12, q20, q21, q22 = take(second, i, 0)
        k = k_share * solid[i, K]
        around_k = k * solid[i, WEIGHT] + k_share * solid[i, K_AROUND]
        f0 = q00 * y0 + q01 * y1 + q02 * y2 + k * sums[i, 0] - around_k * first[i, 9]
        f1 = q10 * y0 + q11 * y1 + q12 * y2 + k * sums[i, 1] - around_k * first[i, 10]
        f2 = q20 * y0 + q21 * y1 + q22 * y2 + k * sums[i, 2] - around_k * first[i, 11]
        out[i, 0] += sign * (f0 + total[9] - total[0] * x0 - total[1] * x1 - total[2] * x2)
        out[i, 1] += sign * (f1 + total[10] - total[3] * x0 - total[4] * x1 - total[5] * x2)
        out[i, 2] += sign * (f2 + total[11] - total[6] * x0 - total[7] * x1 - total[8] * x2)


@jit
def tangent_rows(a, b, starts, around, weight, solid, first, second, sums, gradients, flow, plastic, k_share):
    r"""First pass of products with the stiffness: Q of the displacements dx in ``first``.

    :math:`dP = F\,(C : sym(F^T dF))`: symmetric, positive semi-definite, exact at rest, and zero for rigid
    velocities. ``gradients`` (n, 9) holds F. k_share: 1 with, 0 without the hourglass term.
    """
    total = np.empty(12)
    for i in range(a, b):
        m = fit(i, starts, around, weight, first, solid, sums, total)
        inverse = take_six(solid, i, INVERSE)
        h = times_symmetric(m, inverse)
        f, df = take(gradients, i, 0), h
        if solid[i, FLAT] != 0.0:
            f = times_symmetric(f, take_six(solid, i, PROJECTOR))
        elif flow == LARGE:
            back = take(plastic, i, 0)
            f = times(f, back)
            df = times(h, back)
        g = times(transposed(f), df)
        mu, lam = solid[i, V_MU], solid[i, V_LAMBDA] + solid[i, V_KV]
        t = lam * (g[0] + g[4] + g[8])
        s = (
            2.0 * mu * g[0] + t, 2.0 * mu * g[4] + t, 2.0 * mu * g[8] + t,
            mu * (g[5] + g[7]), mu * (g[2] + g[6]), mu * (g[1] + g[3]),
        )  # fmt: skip
        p = times_symmetric(f, s)
        if flow == LARGE and solid[i, FLAT] == 0.0:
            p = times(p, transposed(take(plastic, i, 0)))
        leave(i, h, p, k_share * solid[i, K], inverse, solid, first, second)


@jit
def gradient_rows(a, b, starts, around, weight, solid, first, sums, out):
    """F of the phyxels a to b, into ``out`` (n, 9)."""
    total = np.empty(12)
    for i in range(a, b):
        m = fit(i, starts, around, weight, first, solid, sums, total)
        h = times_symmetric(m, take_six(solid, i, INVERSE))
        put(out, i, 0, plus_unit(h))


# ------------------------------------------------------------------------ whole passes, serial and parallel


@jit
def forces_serial(
    starts, around, weight, rest, solid, first, second, sums, law, flow, plastic, x, forces, energy, out
):
    """Add the forces on all phyxels to ``out`` if ``forces``; their energy [J] if ``energy``."""
    n = x.shape[0]
    load(0, n, x, rest, solid, first)
    total = 0.0
    for p in range(PARTS):
        a, b = p * n // PARTS, (p + 1) * n // PARTS
        total += strain_rows(
            a, b, starts, around, weight, solid, first, second, sums, law, flow, plastic, energy
        )
    if forces:
        force_rows(0, n, starts, around, weight, solid, first, second, sums, 1.0, 1.0, out)
    return total


@parallel_jit
def forces_parallel(
    starts, around, weight, rest, solid, first, second, sums, law, flow, plastic, x, forces, energy, out
):
    """As ``forces_serial``."""
    n = x.shape[0]
    parts = np.zeros(PARTS)
    for p in prange(PARTS):
        load(p * n // PARTS, (p + 1) * n // PARTS, x, rest, solid, first)
    for p in prange(PARTS):
        a, b = p * n // PARTS, (p + 1) * n // PARTS
        parts[p] = strain_rows(
            a, b, starts, around, weight, solid, first, second, sums, law, flow, plastic, energy
        )
    if forces:
        for p in prange(PARTS):
            a, b = p * n // PARTS, (p + 1) * n // PARTS
            force_rows(a, b, starts, around, weight, solid, first, second, sums, 1.0, 1.0, out)
    total = 0.0
    for p in range(PARTS):
        total += parts[p]
    return total


@parallel_jit
def gradients(starts, around, weight, rest, solid, first, second, sums, x, out):
    """Deformation gradients of all phyxels at ``x``, (n, 9)."""
    n = x.shape[0]
    for p in prange(PARTS):
        load(p * n // PARTS, (p + 1) * n // PARTS, x, rest, solid, first)
    for p in prange(PARTS):
        a, b = p * n // PARTS, (p + 1) * n // PARTS
        gradient_rows(a, b, starts, around, weight, solid, first, sums, out)


@parallel_jit
def product(
    starts, around, weight, rest, solid, first, second, sums, flow, plastic, gradients, dx, k_share, out
):
    """Add K dx to ``out``, with the deformation gradients (n, 9) of where K is taken."""
    n = dx.shape[0]
    for p in prange(PARTS):
        for i in range(p * n // PARTS, (p + 1) * n // PARTS):
            load_one(i, dx[i, 0] - dx[0, 0], dx[i, 1] - dx[0, 1], dx[i, 2] - dx[0, 2], solid, first)
    for p in prange(PARTS):
        a, b = p * n // PARTS, (p + 1) * n // PARTS
        tangent_rows(
            a, b, starts, around, weight, solid, first, second, sums, gradients, flow, plastic, k_share
        )
    for p in prange(PARTS):
        a, b = p * n // PARTS, (p + 1) * n // PARTS
        force_rows(a, b, starts, around, weight, solid, first, second, sums, k_share, -1.0, out)


@parallel_jit
def cauchy(gradients, solid, law, flow, plastic, sigma, bound, volume):
    r"""Cauchy stresses ``P F^T / |J|`` [Pa] (n, 9), J (n,), and what no principal stress exceeds (n,):
    :math:`tr/3 + 2 \sqrt{J_2 / 3}`."""
    n = solid.shape[0]
    for p in prange(PARTS):
        for i in range(p * n // PARTS, (p + 1) * n // PARTS):
            f = take(gradients, i, 0)
            j = determinant(f)
            t = times(stress(f, solid, i, law, flow, plastic), transposed(f))
            over = 1.0 / (solid[i, VOLUME] * max(abs(j), 1e-12))
            s0, s1, s2 = t[0] * over, t[4] * over, t[8] * over
            s3, s4, s5 = 0.5 * (t[5] + t[7]) * over, 0.5 * (t[2] + t[6]) * over, 0.5 * (t[1] + t[3]) * over
            put(sigma, i, 0, (s0, s5, s4, s5, s1, s3, s4, s3, s2))
            mean = (s0 + s1 + s2) / 3.0
            d0, d1, d2 = s0 - mean, s1 - mean, s2 - mean
            half = 0.5 * (d0 * d0 + d1 * d1 + d2 * d2) + s3 * s3 + s4 * s4 + s5 * s5
            bound[i] = mean + 2.0 * np.sqrt(half / 3.0)
            volume[i] = j


@jit
def row_sums(starts, around, weight, rest, out):
    """Per phyxel the sums over its pairs of w X X^T (6: xx, yy, zz, yz, xz, xy), w X (3) and w; (n, 10)."""
    for i in range(starts.shape[0] - 1):
        a0 = a1 = a2 = a3 = a4 = a5 = l0 = l1 = l2 = total = 0.0
        for k in range(starts[i], starts[i + 1]):
            j, w = around[k], np.float64(weight[k])
            d0, d1, d2 = rest[j, 0] - rest[i, 0], rest[j, 1] - rest[i, 1], rest[j, 2] - rest[i, 2]
            a0 += w * d0 * d0
            a1 += w * d1 * d1
            a2 += w * d2 * d2
            a3 += w * d1 * d2
            a4 += w * d0 * d2
            a5 += w * d0 * d1
            l0 += w * d0
            l1 += w * d1
            l2 += w * d2
            total += w
        out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4], out[i, 5] = a0, a1, a2, a3, a4, a5
        out[i, 6], out[i, 7], out[i, 8], out[i, 9] = l0, l1, l2, total


@jit
def sum_around(starts, around, weight, values, out):
    """``sum_j w_ij values_j`` (n,)."""
    for i in range(starts.shape[0] - 1):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += np.float64(weight[k]) * values[around[k]]
        out[i] = total


@inlined
def square_of_product(s, y0, y1, y2):
    """``|s y|^2`` of a symmetric matrix (6) and a vector."""
    p0 = s[0] * y0 + s[5] * y1 + s[4] * y2
    p1 = s[5] * y0 + s[1] * y1 + s[3] * y2
    p2 = s[4] * y0 + s[3] * y1 + s[2] * y2
    return p0 * p0 + p1 * p1 + p2 * p2


@jit
def quickest(starts, around, weight, solid, mass):
    r"""The largest entry on the diagonal of the matrix of :math:`\sum_i V_i |\nabla u|^2`, over the mass
    [1/m2 m3/kg]: what the square of the highest frequency goes with."""
    most = 0.0
    for i in range(starts.shape[0] - 1):
        own = take_six(solid, i, INVERSE)
        total = solid[i, VOLUME] * square_of_product(
            own, solid[i, LEVER], solid[i, LEVER + 1], solid[i, LEVER + 2]
        )
        for k in range(starts[i], starts[i + 1]):
            j, w = around[k], np.float64(weight[k])
            y0 = w * (solid[j, REST] - solid[i, REST])
            y1 = w * (solid[j, REST + 1] - solid[i, REST + 1])
            y2 = w * (solid[j, REST + 2] - solid[i, REST + 2])
            total += solid[j, VOLUME] * square_of_product(take_six(solid, j, INVERSE), y0, y1, y2)
        most = max(most, total / mass[i])
    return most
