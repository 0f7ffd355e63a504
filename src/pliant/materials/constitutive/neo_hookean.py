r"""The stable neo-Hookean law: defined and smooth through inversion.

.. math:: W = \tfrac\mu2 (I_1 - 3) + \tfrac\lambda2 (J - 1)^2 - \tfrac34 \mu (J - 1)
          - \tfrac\mu2 \log\tfrac{I_1 + 1}{4}, \qquad
          P = \mu \Bigl(1 - \tfrac1{I_1 + 1}\Bigr) F + (\lambda (J - 1) - \tfrac34 \mu)\,cof F.

Here mu and lambda are 4/3 of Lame's mu, and Lame's lambda + 5/6 mu: that makes small strains right.

Source: [SmithDeGoesKim2018]_, with their alpha multiplied out. Differs: a constant makes W zero at rest.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.kernels.jit import inlined, jit
from pliant.kernels.tensors import combine, determinant, right_cauchy_green
from pliant.materials.constitutive.discrete_gradient import logarithm_slope, mean, volume_gradient
from pliant.materials.constitutive.law import LawFunctions


@inlined
def green_invariants(f):
    """The three principal invariants of Green's strain E."""
    c00, c11, c22, c12, c02, c01 = right_cauchy_green(f)
    e00, e11, e22 = 0.5 * (c00 - 1.0), 0.5 * (c11 - 1.0), 0.5 * (c22 - 1.0)
    e12, e02, e01 = 0.5 * c12, 0.5 * c02, 0.5 * c01
    pairs = e00 * e11 + e11 * e22 + e22 * e00 - e12 * e12 - e02 * e02 - e01 * e01
    third = determinant((e00, e01, e02, e01, e11, e12, e02, e12, e22))
    return e00 + e11 + e22, pairs, third


@inlined
def invariants(f, s):
    """``tr E``, J, and ``J^2 - 1 - 2 tr E``."""
    t, pairs, third = green_invariants(f)
    return t, determinant(f), 4.0 * pairs + 8.0 * third, 0.0


@inlined
def energy(i, mu, bulk, k):
    t, j, higher, _ = i  # I1 - 3 = 2 t
    if j > 0.5:  # small differences of terms of first order, taken analytically
        shape = 0.75 * (t * (j - 1.0) - higher) / (j + 1.0) + 0.25 * t
    else:
        shape = t - 0.75 * (j - 1.0)
    shape -= 0.5 * np.log1p(0.5 * t)
    return 4.0 / 3.0 * mu * shape + 0.5 * (bulk + mu / 6.0) * (j - 1.0) * (j - 1.0)


@inlined
def stress(f, s, mu, bulk, pressure, k):
    c = right_cauchy_green(f)
    c00, c11, c22, _, _, _ = c
    mu43 = 4.0 / 3.0 * mu
    a = mu43 - mu43 / (c00 + c11 + c22 + 1.0)
    g = (bulk + mu / 6.0) * (determinant(f) - 1.0) - 0.75 * mu43 + pressure
    return combine(f, c, a, 0.0, g)


@inlined
def volumetric(f, s):
    return determinant(f) - 1.0


@jit
def between(f0, f1, mu, bulk, pressure, k):
    r"""With :math:`d = (I_1^1 - I_1^0) / (I_1^0 + 1)`,
    :math:`P = \mu (1 - \tfrac{\ln(1 + d) / d}{I_1^0 + 1})\,F_m
    + (\lambda (\tfrac12 (J_0 + J_1) - 1) - \tfrac34 \mu)\,Z`, Z of ``volume_gradient``."""
    a0, a1, a2, _, _, _ = right_cauchy_green(f0)
    b0, b1, b2, _, _, _ = right_cauchy_green(f1)
    before = a0 + a1 + a2 + 1.0
    mu43 = 4.0 / 3.0 * mu
    a = mu43 - mu43 * logarithm_slope((b0 - a0 + b1 - a1 + b2 - a2) / before) / before
    volume = 0.5 * (determinant(f0) + determinant(f1))
    q = (bulk + mu / 6.0) * (volume - 1.0) - 0.75 * mu43 + pressure
    m, z = mean(f0, f1), volume_gradient(f0, f1)
    return (
        a * m[0] + q * z[0], a * m[1] + q * z[1], a * m[2] + q * z[2],
        a * m[3] + q * z[3], a * m[4] + q * z[4], a * m[5] + q * z[5],
        a * m[6] + q * z[6], a * m[7] + q * z[7], a * m[8] + q * z[8],
    )  # fmt: skip


FUNCTIONS = LawFunctions(invariants, energy, stress, volumetric, between=between)
