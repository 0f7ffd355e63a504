"""Compiled sums over pairs that only neighbours and weights decide."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.kernels.jit import inlined, jit
from pliant.models.efg.row_layout import INVERSE, LEVER, REST, VOLUME, take_six


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
def frequency_bound(starts, around, weight, solid, mass):
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
