r"""Compiled passes over phyxels: deformation and stress, then forces. Each row only reads from others, in
fixed order, so the bytes are the same for any number of threads.

A row of ``rows`` (n, 16) is all that neighbours ask for: X (3), u (3), Q (9), k. A row of ``solid`` (n, 18)
is what only the phyxel itself needs: A^-1 (6), V mu, V lambda, V k_v, k, V, flat (0 or 1), projector (6).
With :math:`y_{ij} = w_{ij} X_{ij}`:

.. math:: H_i = \Bigl(\sum_j u_{ij} y_{ij}^T\Bigr) A_i^{-1}, \quad F_i = 1 + H_i, \quad
          Q_i = V_i P(F_i) A_i^{-1} - k_i H_i, \quad
          f_i = \sum_j (Q_i + Q_j)\,y_{ij} + w_{ij} (k_i + k_j)\,u_{ij},

which is minus the gradient of :math:`\sum_i V_i W(F_i) + \tfrac12 k_i \sum_j w_{ij} |u_{ij} - H_i X_{ij}|^2`.

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
    times,
    times_symmetric,
    transposed,
)
from pliant.models.tet_kernels import inlined

PARTS = 64
PARALLEL_PAIRS = 40_000
INVERSE, V_MU, V_LAMBDA, V_KV, K, VOLUME, FLAT, PROJECTOR = 0, 6, 7, 8, 9, 10, 11, 12  # columns of solid
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
def gather(i, starts, around, weight, rows):
    """``sum_j u_ij y_ij^T`` (9) and ``sum_j w_ij |u_ij|^2``."""
    x0, x1, x2 = rows[i, 0], rows[i, 1], rows[i, 2]
    u0, u1, u2 = rows[i, 3], rows[i, 4], rows[i, 5]
    m00 = m01 = m02 = m10 = m11 = m12 = m20 = m21 = m22 = square = 0.0
    for k in range(starts[i], starts[i + 1]):
        j = around[k]
        w = np.float64(weight[k])
        d0, d1, d2 = rows[j, 3] - u0, rows[j, 4] - u1, rows[j, 5] - u2
        y0, y1, y2 = w * (rows[j, 0] - x0), w * (rows[j, 1] - x1), w * (rows[j, 2] - x2)
        m00 += d0 * y0
        m01 += d0 * y1
        m02 += d0 * y2
        m10 += d1 * y0
        m11 += d1 * y1
        m12 += d1 * y2
        m20 += d2 * y0
        m21 += d2 * y1
        m22 += d2 * y2
        square += w * (d0 * d0 + d1 * d1 + d2 * d2)
    return (m00, m01, m02, m10, m11, m12, m20, m21, m22), square


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
def load(a, b, x, rows):
    """Displacements from positions."""
    for i in range(a, b):
        rows[i, 3] = x[i, 0] - rows[i, 0]
        rows[i, 4] = x[i, 1] - rows[i, 1]
        rows[i, 5] = x[i, 2] - rows[i, 2]


@jit
def strain_rows(a, b, starts, around, weight, rows, solid, law, flow, plastic, energy):
    """First pass: Q of the rows a to b, and their energy if asked for."""
    total = 0.0
    for i in range(a, b):
        m, square = gather(i, starts, around, weight, rows)
        inverse = take_six(solid, i, INVERSE)
        h = times_symmetric(m, inverse)
        f = plus_unit(h)
        p = stress(f, solid, i, law, flow, plastic)
        q = times_symmetric(p, inverse)
        k = solid[i, K]
        put(
            rows, i, 6,
            (
                q[0] - k * h[0], q[1] - k * h[1], q[2] - k * h[2], q[3] - k * h[3], q[4] - k * h[4],
                q[5] - k * h[5], q[6] - k * h[6], q[7] - k * h[7], q[8] - k * h[8],
            ),
        )  # fmt: skip
        if energy:
            total += stored(f, solid, i, law, flow, plastic) + 0.5 * k * (square - contract(h, m))
    return total


@inlined
def contract(a, b):
    return (
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5] + a[6] * b[6]
        + a[7] * b[7] + a[8] * b[8]
    )  # fmt: skip


@jit
def force_rows(a, b, starts, around, weight, rows, sign, out):
    """Second pass: add ``sign`` times the forces on the rows a to b."""
    for i in range(a, b):
        x0, x1, x2 = rows[i, 0], rows[i, 1], rows[i, 2]
        u0, u1, u2 = rows[i, 3], rows[i, 4], rows[i, 5]
        q00, q01, q02, q10, q11, q12, q20, q21, q22 = take(rows, i, 6)
        own = rows[i, 15]
        f0 = f1 = f2 = 0.0
        for k in range(starts[i], starts[i + 1]):
            j = around[k]
            w = np.float64(weight[k])
            d0, d1, d2 = rows[j, 0] - x0, rows[j, 1] - x1, rows[j, 2] - x2
            s = own + rows[j, 15]
            f0 += w * (
                (q00 + rows[j, 6]) * d0 + (q01 + rows[j, 7]) * d1 + (q02 + rows[j, 8]) * d2
                + s * (rows[j, 3] - u0)
            )  # fmt: skip
            f1 += w * (
                (q10 + rows[j, 9]) * d0 + (q11 + rows[j, 10]) * d1 + (q12 + rows[j, 11]) * d2
                + s * (rows[j, 4] - u1)
            )  # fmt: skip
            f2 += w * (
                (q20 + rows[j, 12]) * d0 + (q21 + rows[j, 13]) * d1 + (q22 + rows[j, 14]) * d2
                + s * (rows[j, 5] - u2)
            )  # fmt: skip
        out[i, 0] += sign * f0
        out[i, 1] += sign * f1
        out[i, 2] += sign * f2


@jit
def tangent_rows(a, b, starts, around, weight, rows, solid, gradients, flow, plastic, k_share):
    r"""First pass of products with the stiffness: Q of displacements dx in ``rows``.

    :math:`dP = F\,(C : sym(F^T dF))`: symmetric, positive semi-definite, exact at rest, and zero for rigid
    velocities. ``gradients`` (n, 9) holds F. k_share: 1 with, 0 without the hourglass term.
    """
    for i in range(a, b):
        m, _ = gather(i, starts, around, weight, rows)
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
        q = times_symmetric(p, inverse)
        k = k_share * solid[i, K]
        rows[i, 15] = k
        put(
            rows, i, 6,
            (
                q[0] - k * h[0], q[1] - k * h[1], q[2] - k * h[2], q[3] - k * h[3], q[4] - k * h[4],
                q[5] - k * h[5], q[6] - k * h[6], q[7] - k * h[7], q[8] - k * h[8],
            ),
        )  # fmt: skip


@jit
def gradient_rows(a, b, starts, around, weight, rows, solid, out):
    """F of the rows a to b, into ``out`` (n, 9)."""
    for i in range(a, b):
        m, _ = gather(i, starts, around, weight, rows)
        h = times_symmetric(m, take_six(solid, i, INVERSE))
        put(out, i, 0, plus_unit(h))


# ------------------------------------------------------------------------ whole passes, serial and parallel


@jit
def forces_serial(starts, around, weight, rows, solid, law, flow, plastic, x, forces, energy, out):
    """Add the forces on all phyxels to ``out`` if ``forces``; their energy [J] if ``energy``."""
    n = x.shape[0]
    load(0, n, x, rows)
    total = 0.0
    for p in range(PARTS):
        a, b = p * n // PARTS, (p + 1) * n // PARTS
        total += strain_rows(a, b, starts, around, weight, rows, solid, law, flow, plastic, energy)
    if forces:
        force_rows(0, n, starts, around, weight, rows, 1.0, out)
    return total


@parallel_jit
def forces_parallel(starts, around, weight, rows, solid, law, flow, plastic, x, forces, energy, out):
    """As ``forces_serial``."""
    n = x.shape[0]
    parts = np.zeros(PARTS)
    for p in prange(PARTS):
        load(p * n // PARTS, (p + 1) * n // PARTS, x, rows)
    for p in prange(PARTS):
        a, b = p * n // PARTS, (p + 1) * n // PARTS
        parts[p] = strain_rows(a, b, starts, around, weight, rows, solid, law, flow, plastic, energy)
    if forces:
        for p in prange(PARTS):
            force_rows(p * n // PARTS, (p + 1) * n // PARTS, starts, around, weight, rows, 1.0, out)
    total = 0.0
    for p in range(PARTS):
        total += parts[p]
    return total


@parallel_jit
def gradients(starts, around, weight, rows, solid, x, out):
    """Deformation gradients of all phyxels at ``x``, (n, 9)."""
    n = x.shape[0]
    for p in prange(PARTS):
        load(p * n // PARTS, (p + 1) * n // PARTS, x, rows)
    for p in prange(PARTS):
        gradient_rows(p * n // PARTS, (p + 1) * n // PARTS, starts, around, weight, rows, solid, out)


@parallel_jit
def product(starts, around, weight, rows, solid, flow, plastic, gradients, dx, k_share, out):
    """Add K dx to ``out``, with the deformation gradients (n, 9) of where K is taken."""
    n = dx.shape[0]
    for p in prange(PARTS):
        for i in range(p * n // PARTS, (p + 1) * n // PARTS):
            rows[i, 3], rows[i, 4], rows[i, 5] = dx[i, 0], dx[i, 1], dx[i, 2]
    for p in prange(PARTS):
        a, b = p * n // PARTS, (p + 1) * n // PARTS
        tangent_rows(a, b, starts, around, weight, rows, solid, gradients, flow, plastic, k_share)
    for p in prange(PARTS):
        force_rows(p * n // PARTS, (p + 1) * n // PARTS, starts, around, weight, rows, -1.0, out)
    for p in prange(PARTS):
        for i in range(p * n // PARTS, (p + 1) * n // PARTS):
            rows[i, 15] = solid[i, K]


@parallel_jit
def stresses(gradients, solid, law, flow, plastic, out):
    """First Piola-Kirchhoff stresses P [Pa], (n, 9), for given deformation gradients."""
    n = solid.shape[0]
    for p in prange(PARTS):
        for i in range(p * n // PARTS, (p + 1) * n // PARTS):
            s = stress(take(gradients, i, 0), solid, i, law, flow, plastic)
            v = 1.0 / solid[i, VOLUME]
            put(
                out, i, 0,
                (
                    v * s[0], v * s[1], v * s[2], v * s[3], v * s[4], v * s[5], v * s[6], v * s[7], v * s[8],
                ),
            )  # fmt: skip
