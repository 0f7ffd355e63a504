"""Rows of the compiled passes over phyxels, and sums over neighbours: moments, the least-squares fit, forces
(``kernels.py``).
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.kernels.jit import inlined, jit
from pliant.kernels.tensors import times_symmetric

PARTS = 64
PARALLEL_PAIRS = 40_000
# columns of material: A^-1 (6), constants times volume, hourglass k, volume, flat (0 or 1), projector (6),
INVERSE, V_MU, V_LAMBDA, V_KV, K, VOLUME, FLAT, PROJECTOR = 0, 6, 7, 8, 9, 10, 11, 12
REST, LEVER, WEIGHT, K_AROUND, COLUMNS = 18, 21, 24, 25, 26  # X (3), sums over pairs: y (3), w, w k_j
ELASTIC, SMALL, LARGE = 0, 1, 2  # kinds of plastic flow


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


@inlined
def plus_unit(h):
    return h[0] + 1.0, h[1], h[2], h[3], h[4] + 1.0, h[5], h[6], h[7], h[8] + 1.0


@inlined
def contract(a, b):
    return (
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5] + a[6] * b[6]
        + a[7] * b[7] + a[8] * b[8]
    )  # fmt: skip


@jit
def weighted_sum(a, b, around, weight, rows, total):
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
def least_squares_fit(i, starts, around, weight, u_rows, material, u_sum, total):
    """``sum_j u_ij y_ij^T`` (9); the weighted sum of u around stays in ``u_sum``."""
    weighted_sum(starts[i], starts[i + 1], around, weight, u_rows, total)
    x0, x1, x2 = material[i, REST], material[i, REST + 1], material[i, REST + 2]
    y0, y1, y2 = material[i, LEVER], material[i, LEVER + 1], material[i, LEVER + 2]
    u0, u1, u2 = u_rows[i, 9], u_rows[i, 10], u_rows[i, 11]
    s0, s1, s2 = total[9], total[10], total[11]
    u_sum[i, 0], u_sum[i, 1], u_sum[i, 2] = s0, s1, s2
    return (
        total[0] - s0 * x0 - u0 * y0, total[1] - s0 * x1 - u0 * y1, total[2] - s0 * x2 - u0 * y2,
        total[3] - s1 * x0 - u1 * y0, total[4] - s1 * x1 - u1 * y1, total[5] - s1 * x2 - u1 * y2,
        total[6] - s2 * x0 - u2 * y0, total[7] - s2 * x1 - u2 * y1, total[8] - s2 * x2 - u2 * y2,
    )  # fmt: skip


@jit
def displacement_squares(i, starts, around, weight, u_rows):
    """``sum_j w_ij |u_ij|^2``, by differences."""
    out = 0.0
    for k in range(starts[i], starts[i + 1]):
        j = around[k]
        d0, d1 = u_rows[j, 9] - u_rows[i, 9], u_rows[j, 10] - u_rows[i, 10]
        d2 = u_rows[j, 11] - u_rows[i, 11]
        out += np.float64(weight[k]) * (d0 * d0 + d1 * d1 + d2 * d2)
    return out


@jit
def store_displacement(i, u0, u1, u2, material, u_rows):
    x0, x1, x2 = material[i, REST], material[i, REST + 1], material[i, REST + 2]
    u_rows[i, 0], u_rows[i, 1], u_rows[i, 2] = u0 * x0, u0 * x1, u0 * x2
    u_rows[i, 3], u_rows[i, 4], u_rows[i, 5] = u1 * x0, u1 * x1, u1 * x2
    u_rows[i, 6], u_rows[i, 7], u_rows[i, 8] = u2 * x0, u2 * x1, u2 * x2
    u_rows[i, 9], u_rows[i, 10], u_rows[i, 11] = u0, u1, u2


@jit
def store_displacements(a, b, x, rest, material, u_rows):
    """Displacements, counted from that of the first phyxel."""
    s0, s1, s2 = x[0, 0] - rest[0, 0], x[0, 1] - rest[0, 1], x[0, 2] - rest[0, 2]
    for i in range(a, b):
        u0, u1, u2 = x[i, 0] - rest[i, 0] - s0, x[i, 1] - rest[i, 1] - s1, x[i, 2] - rest[i, 2] - s2
        store_displacement(i, u0, u1, u2, material, u_rows)


@jit
def store_stress_moments(i, h, p, k, inverse, material, u_rows, q_rows):
    """``Q = V P A^-1 - k H`` and ``b = Q X + k u`` of a phyxel, for its neighbours."""
    q = times_symmetric(p, inverse)
    x0, x1, x2 = material[i, REST], material[i, REST + 1], material[i, REST + 2]
    q0, q1, q2 = q[0] - k * h[0], q[1] - k * h[1], q[2] - k * h[2]
    q3, q4, q5 = q[3] - k * h[3], q[4] - k * h[4], q[5] - k * h[5]
    q6, q7, q8 = q[6] - k * h[6], q[7] - k * h[7], q[8] - k * h[8]
    put(q_rows, i, 0, (q0, q1, q2, q3, q4, q5, q6, q7, q8))
    q_rows[i, 9] = q0 * x0 + q1 * x1 + q2 * x2 + k * u_rows[i, 9]
    q_rows[i, 10] = q3 * x0 + q4 * x1 + q5 * x2 + k * u_rows[i, 10]
    q_rows[i, 11] = q6 * x0 + q7 * x1 + q8 * x2 + k * u_rows[i, 11]


@jit
def gradient_rows(a, b, starts, around, weight, material, u_rows, u_sum, out):
    """F of the phyxels a to b, into ``out`` (n, 9)."""
    total = np.empty(12)
    for i in range(a, b):
        m = least_squares_fit(i, starts, around, weight, u_rows, material, u_sum, total)
        h = times_symmetric(m, take_six(material, i, INVERSE))
        if material[i, FLAT] != 0.0:
            h = times_symmetric(h, take_six(material, i, PROJECTOR))
        put(out, i, 0, plus_unit(h))


@jit
def force_rows(a, b, starts, around, weight, material, u_rows, q_rows, u_sum, k_share, sign, out):
    """Second pass: add ``sign`` times the forces on the phyxels a to b."""
    total = np.empty(12)
    for i in range(a, b):
        weighted_sum(starts[i], starts[i + 1], around, weight, q_rows, total)
        x0, x1, x2 = material[i, REST], material[i, REST + 1], material[i, REST + 2]
        y0, y1, y2 = material[i, LEVER], material[i, LEVER + 1], material[i, LEVER + 2]
        q00, q01, q02, q10, q11, q12, q20, q21, q22 = take(q_rows, i, 0)
        k = k_share * material[i, K]
        around_k = k * material[i, WEIGHT] + k_share * material[i, K_AROUND]
        f0 = q00 * y0 + q01 * y1 + q02 * y2 + k * u_sum[i, 0] - around_k * u_rows[i, 9]
        f1 = q10 * y0 + q11 * y1 + q12 * y2 + k * u_sum[i, 1] - around_k * u_rows[i, 10]
        f2 = q20 * y0 + q21 * y1 + q22 * y2 + k * u_sum[i, 2] - around_k * u_rows[i, 11]
        out[i, 0] += sign * (f0 + total[9] - total[0] * x0 - total[1] * x1 - total[2] * x2)
        out[i, 1] += sign * (f1 + total[10] - total[3] * x0 - total[4] * x1 - total[5] * x2)
        out[i, 2] += sign * (f2 + total[11] - total[6] * x0 - total[7] * x1 - total[8] * x2)


@jit
def neighbour_moments(starts, around, weight, rest, out):
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
def neighbour_sum(starts, around, weight, values, out):
    """``sum_j w_ij values_j`` (n,)."""
    for i in range(starts.shape[0] - 1):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += np.float64(weight[k]) * values[around[k]]
        out[i] = total


@inlined
def product(s, y0, y1, y2):
    """``s y`` of a symmetric matrix (6) and a vector."""
    return (
        s[0] * y0 + s[5] * y1 + s[4] * y2,
        s[5] * y0 + s[1] * y1 + s[3] * y2,
        s[4] * y0 + s[3] * y1 + s[2] * y2,
    )


@inlined
def slope_square(material, i, y0, y1, y2):
    """``|A^-1 y|^2`` of phyxel i, in the directions that its neighbours sample."""
    if material[i, FLAT] != 0.0:
        y0, y1, y2 = product(take_six(material, i, PROJECTOR), y0, y1, y2)
    p0, p1, p2 = product(take_six(material, i, INVERSE), y0, y1, y2)
    return p0 * p0 + p1 * p1 + p2 * p2


@jit
def frequency_bound(starts, around, weight, material, mass):
    r"""The largest entry on the diagonal of the matrix of :math:`\sum_i V_i |\nabla u|^2`, over the mass
    [1/m2 m3/kg]: what the square of the highest frequency goes with."""
    most = 0.0
    for i in range(starts.shape[0] - 1):
        y0, y1, y2 = material[i, LEVER], material[i, LEVER + 1], material[i, LEVER + 2]
        total = material[i, VOLUME] * slope_square(material, i, y0, y1, y2)
        for k in range(starts[i], starts[i + 1]):
            j, w = around[k], np.float64(weight[k])
            y0 = w * (material[j, REST] - material[i, REST])
            y1 = w * (material[j, REST + 1] - material[i, REST + 1])
            y2 = w * (material[j, REST + 2] - material[i, REST + 2])
            total += material[j, VOLUME] * slope_square(material, j, y0, y1, y2)
        most = max(most, total / mass[i])
    return most
