r"""Stresses of energy-momentum steps: discrete gradients of an energy between two deformations F0 and F1.

A step that keeps energy and angular momentum needs a stress P with

.. math:: P : (F_1 - F_0) = W(F_1) - W(F_0), \qquad P F_m^T\ \text{symmetric},\quad F_m = \tfrac12 (F_0 +
F_1).

Both hold for :math:`P = F_m S` with a symmetric S that obeys :math:`\tfrac12 S : (C_1 - C_0) = W_1 - W_0`,
because :math:`F_m^T (F_1 - F_0)` has the symmetric part :math:`\tfrac12 (C_1 - C_0)` [SimoTarnow1992]_. Laws
with a closed form of S have it beside their stress; all others are corrected along
:math:`C_1 - C_0` (``corrected_stress``) [Gonzalez2000]_.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.kernels.jit import inlined, jit
from pliant.kernels.tensors import determinant, right_cauchy_green, symmetric_eigen, times_symmetric

LEAST_SUM = 0.02  # of two principal stretches: smaller ones count as this, with their sign
LEAST_VOLUMES = 0.4  # J0 + J1 below which the change of volume is followed along F instead of C
LEAST_VOLUME = 0.05  # |J| below which the correction is taken along F instead of C
NO_CHANGE = 1e-20  # of |C1 - C0|^2: keeps the correction finite where nothing changes


@inlined
def mean(a, b):
    """The mean of two matrices (9)."""
    return (
        0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]), 0.5 * (a[3] + b[3]),
        0.5 * (a[4] + b[4]), 0.5 * (a[5] + b[5]), 0.5 * (a[6] + b[6]), 0.5 * (a[7] + b[7]),
        0.5 * (a[8] + b[8]),
    )  # fmt: skip


@inlined
def symmetric_mean(a, b):
    """The mean of two symmetric matrices (6)."""
    return (
        0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]),
        0.5 * (a[3] + b[3]), 0.5 * (a[4] + b[4]), 0.5 * (a[5] + b[5]),
    )  # fmt: skip


@inlined
def cofactors(f):
    """``cof F`` (9), the derivative of det F."""
    f00, f01, f02, f10, f11, f12, f20, f21, f22 = f
    return (
        f11 * f22 - f12 * f21, f12 * f20 - f10 * f22, f10 * f21 - f11 * f20,
        f02 * f21 - f01 * f22, f00 * f22 - f02 * f20, f01 * f20 - f00 * f21,
        f01 * f12 - f02 * f11, f02 * f10 - f00 * f12, f00 * f11 - f01 * f10,
    )  # fmt: skip


@inlined
def symmetric_cofactors(c):
    """``cof C`` of a symmetric matrix (6)."""
    c00, c11, c22, c12, c02, c01 = c
    return (
        c11 * c22 - c12 * c12, c00 * c22 - c02 * c02, c00 * c11 - c01 * c01,
        c02 * c01 - c00 * c12, c01 * c12 - c02 * c11, c12 * c02 - c01 * c22,
    )  # fmt: skip


@jit
def volume_gradient(f0, f1):
    r"""A matrix Z (9) with :math:`Z : (F_1 - F_0) = J_1 - J_0` and :math:`Z F_m^T` symmetric,

    .. math:: Z = F_m \frac{2}{J_0 + J_1}\,\tfrac16 (cof\,C_0 + 4\,cof\,C_m + cof\,C_1),

    which is exact because Simpson's rule is, for the derivative of det C along a straight line. Where
    J0 + J1 is small, the same rule along F, which leaves a torque of third order in the step.
    """
    j0, j1 = determinant(f0), determinant(f1)
    fm = mean(f0, f1)
    if j0 + j1 < LEAST_VOLUMES:
        a, b, c = cofactors(f0), cofactors(fm), cofactors(f1)
        return (
            (a[0] + 4.0 * b[0] + c[0]) / 6.0, (a[1] + 4.0 * b[1] + c[1]) / 6.0,
            (a[2] + 4.0 * b[2] + c[2]) / 6.0, (a[3] + 4.0 * b[3] + c[3]) / 6.0,
            (a[4] + 4.0 * b[4] + c[4]) / 6.0, (a[5] + 4.0 * b[5] + c[5]) / 6.0,
            (a[6] + 4.0 * b[6] + c[6]) / 6.0, (a[7] + 4.0 * b[7] + c[7]) / 6.0,
            (a[8] + 4.0 * b[8] + c[8]) / 6.0,
        )  # fmt: skip
    c0, c1 = right_cauchy_green(f0), right_cauchy_green(f1)
    x, y, z = symmetric_cofactors(c0), symmetric_cofactors(symmetric_mean(c0, c1)), symmetric_cofactors(c1)
    s = 1.0 / (3.0 * (j0 + j1))
    return times_symmetric(
        fm,
        (
            s * (x[0] + 4.0 * y[0] + z[0]), s * (x[1] + 4.0 * y[1] + z[1]), s * (x[2] + 4.0 * y[2] + z[2]),
            s * (x[3] + 4.0 * y[3] + z[3]), s * (x[4] + 4.0 * y[4] + z[4]), s * (x[5] + 4.0 * y[5] + z[5]),
        ),
    )  # fmt: skip


@inlined
def _over(t, total):
    """``t`` over a sum of two stretches, which keeps away from zero and keeps its sign."""
    least = -LEAST_SUM if total < 0.0 else LEAST_SUM
    return t / (least if abs(total) < LEAST_SUM else total)


@jit
def stretch_stress(fm, a, t):
    r""":math:`F_m S` of the stress t (6) that is conjugate to the stretch U, with a (6) the mean of U0 and
    U1: :math:`S = 2 Y`, :math:`A Y + Y A = T`.

    Then :math:`\tfrac12 S : (C_1 - C_0) = Y : (A\,dU + dU A) = T : dU`. Solved in the eigenvectors of A,
    where :math:`Y_{ij} = T_{ij} / (a_i + a_j)`; inverted elements have negative sums.
    """
    values, n = symmetric_eigen(a)
    t00, t11, t22, t12, t02, t01 = t
    n00, n01, n02, n10, n11, n12, n20, n21, n22 = n
    m00, m10, m20 = t00 * n00 + t01 * n10 + t02 * n20, t01 * n00 + t11 * n10 + t12 * n20, t02 * n00 + t12 * n10 + t22 * n20  # noqa: E501  # fmt: skip
    m01, m11, m21 = t00 * n01 + t01 * n11 + t02 * n21, t01 * n01 + t11 * n11 + t12 * n21, t02 * n01 + t12 * n11 + t22 * n21  # noqa: E501  # fmt: skip
    m02, m12, m22 = t00 * n02 + t01 * n12 + t02 * n22, t01 * n02 + t11 * n12 + t12 * n22, t02 * n02 + t12 * n12 + t22 * n22  # noqa: E501  # fmt: skip
    a0, a1, a2 = values[0], values[1], values[2]
    y00 = 2.0 * _over(n00 * m00 + n10 * m10 + n20 * m20, a0 + a0)
    y11 = 2.0 * _over(n01 * m01 + n11 * m11 + n21 * m21, a1 + a1)
    y22 = 2.0 * _over(n02 * m02 + n12 * m12 + n22 * m22, a2 + a2)
    y12 = 2.0 * _over(n01 * m02 + n11 * m12 + n21 * m22, a1 + a2)
    y02 = 2.0 * _over(n00 * m02 + n10 * m12 + n20 * m22, a0 + a2)
    y01 = 2.0 * _over(n00 * m01 + n10 * m11 + n20 * m21, a0 + a1)
    p00, p01, p02 = n00 * y00 + n01 * y01 + n02 * y02, n00 * y01 + n01 * y11 + n02 * y12, n00 * y02 + n01 * y12 + n02 * y22  # noqa: E501  # fmt: skip
    p10, p11, p12 = n10 * y00 + n11 * y01 + n12 * y02, n10 * y01 + n11 * y11 + n12 * y12, n10 * y02 + n11 * y12 + n12 * y22  # noqa: E501  # fmt: skip
    p20, p21, p22 = n20 * y00 + n21 * y01 + n22 * y02, n20 * y01 + n21 * y11 + n22 * y12, n20 * y02 + n21 * y12 + n22 * y22  # noqa: E501  # fmt: skip
    return times_symmetric(
        fm,
        (
            p00 * n00 + p01 * n01 + p02 * n02, p10 * n10 + p11 * n11 + p12 * n12,
            p20 * n20 + p21 * n21 + p22 * n22, p10 * n20 + p11 * n21 + p12 * n22,
            p00 * n20 + p01 * n21 + p02 * n22, p00 * n10 + p01 * n11 + p02 * n12,
        ),
    )  # fmt: skip


@inlined
def _second_piola(f, p, j):
    """``S = F^-1 P`` (6), its symmetric part."""
    x = cofactors(f)
    s = 1.0 / j
    return (
        s * (x[0] * p[0] + x[3] * p[3] + x[6] * p[6]),
        s * (x[1] * p[1] + x[4] * p[4] + x[7] * p[7]),
        s * (x[2] * p[2] + x[5] * p[5] + x[8] * p[8]),
        0.5 * s * (x[1] * p[2] + x[4] * p[5] + x[7] * p[8] + x[2] * p[1] + x[5] * p[4] + x[8] * p[7]),
        0.5 * s * (x[0] * p[2] + x[3] * p[5] + x[6] * p[8] + x[2] * p[0] + x[5] * p[3] + x[8] * p[6]),
        0.5 * s * (x[0] * p[1] + x[3] * p[4] + x[6] * p[7] + x[1] * p[0] + x[4] * p[3] + x[7] * p[6]),
    )


@jit
def corrected_stress(f0, f1, p0, p1, gain):
    r"""A stress for any law, from those at both ends (9) and the change of energy density ``gain``:

    .. math:: S = \bar S + \frac{gain - \tfrac12 \bar S : dC}{\tfrac12\,dC : dC}\,dC, \qquad
              \bar S = \tfrac12 (F_0^{-1} P_0 + F_1^{-1} P_1),\; dC = C_1 - C_0.

    Where an end is nearly flat, the same along F, :math:`P = \bar P + (gain - \bar P : dF) / |dF|^2\,dF`,
    which keeps the energy and leaves a torque.
    """
    j0, j1 = determinant(f0), determinant(f1)
    if abs(j0) < LEAST_VOLUME or abs(j1) < LEAST_VOLUME:
        p = mean(p0, p1)
        done = size = 0.0
        for k in range(9):
            d = f1[k] - f0[k]
            done += p[k] * d
            size += d * d
        s = (gain - done) / (size + NO_CHANGE)
        return (
            p[0] + s * (f1[0] - f0[0]), p[1] + s * (f1[1] - f0[1]), p[2] + s * (f1[2] - f0[2]),
            p[3] + s * (f1[3] - f0[3]), p[4] + s * (f1[4] - f0[4]), p[5] + s * (f1[5] - f0[5]),
            p[6] + s * (f1[6] - f0[6]), p[7] + s * (f1[7] - f0[7]), p[8] + s * (f1[8] - f0[8]),
        )  # fmt: skip
    x, y = right_cauchy_green(f0), right_cauchy_green(f1)
    d0, d1, d2 = y[0] - x[0], y[1] - x[1], y[2] - x[2]
    d3, d4, d5 = y[3] - x[3], y[4] - x[4], y[5] - x[5]
    s0, s1, s2, s3, s4, s5 = symmetric_mean(_second_piola(f0, p0, j0), _second_piola(f1, p1, j1))
    done = 0.5 * (s0 * d0 + s1 * d1 + s2 * d2) + s3 * d3 + s4 * d4 + s5 * d5
    size = 0.5 * (d0 * d0 + d1 * d1 + d2 * d2) + d3 * d3 + d4 * d4 + d5 * d5
    s = (gain - done) / (size + NO_CHANGE)
    stress = (s0 + s * d0, s1 + s * d1, s2 + s * d2, s3 + s * d3, s4 + s * d4, s5 + s * d5)
    return times_symmetric(mean(f0, f1), stress)


@inlined
def logarithm_slope(d):
    """``ln(1 + d) / d``, also where d is small."""
    if abs(d) < 1e-4:
        return 1.0 - d * (0.5 - d * (1.0 / 3.0 - d * (0.25 - 0.2 * d)))
    return np.log1p(d) / d
