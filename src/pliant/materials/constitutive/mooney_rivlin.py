r"""The Mooney-Rivlin law of rubber, compressible by a decoupled volumetric term.

.. math:: W = c_{10} (\bar I_1 - 3) + c_{01} (\bar I_2 - 3) + \tfrac K2 (J - 1)^2, \qquad
          \bar I_1 = g^2 I_1,\; \bar I_2 = g^4 I_2,\; g = J^{-1/3},

with :math:`I_1 = tr C`, :math:`I_2 = \tfrac12 (I_1^2 - tr C^2)`. The parameter ``ratio`` is
:math:`c_{01} / c_{10}`; their sum is :math:`\mu / 2`, so that small strains are those of linear elasticity.

.. math:: P = 2 (c_{10} g^2 + c_{01} g^4 I_1)\,F - 2 c_{01} g^4\,F C
          + \bigl( (2 c_{10} g I_1 + 4 c_{01} g^3 I_2)\,g' + K (J - 1) \bigr)\,cof F.

Source: [Mooney1940]_, [Rivlin1948]_. Differs: where J is below 0.1, g continues along its tangent, so that
crushed and inverted elements have a finite energy. Bodies that are turned inside out do not recover.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.core.tables import TableView
from pliant.kernels.jit import inlined
from pliant.kernels.tensors import combine, determinant, right_cauchy_green
from pliant.materials.constitutive.law import LawFunctions
from pliant.materials.constitutive.neo_hookean import green_invariants, volumetric

LEAST = 0.1  # J below which g goes on along its tangent
HIGHEST = LEAST ** (-1.0 / 3.0)


@inlined
def isochoric_scale(j):
    """g and its derivative by J."""
    if j > LEAST:
        g = 1.0 / np.cbrt(j)
        slope = -g / (3.0 * j)
    else:
        slope = -HIGHEST / (3.0 * LEAST)
        g = HIGHEST + slope * (j - LEAST)
    return g, slope


@inlined
def invariants(f, s):
    """The three principal invariants of Green's strain, and J."""
    t, pairs, third = green_invariants(f)
    return t, pairs, third, determinant(f)


@inlined
def energy(i, mu, bulk, k):
    t, pairs, third, j = i
    if j > LEAST:  # by logarithms, which keep the digits of small strains
        swell = np.log1p(2.0 * t + 4.0 * pairs + 8.0 * third) / 3.0  # log J^(2/3)
        first = 3.0 * np.expm1(np.log1p(2.0 / 3.0 * t) - swell)
        second = 3.0 * np.expm1(np.log1p(4.0 / 3.0 * (t + pairs)) - 2.0 * swell)
    else:
        g, _ = isochoric_scale(j)
        first = g * g * (3.0 + 2.0 * t) - 3.0
        second = g * g * g * g * (3.0 + 4.0 * (t + pairs)) - 3.0
    return mu * (k[0] * first + k[1] * second) + 0.5 * bulk * (j - 1.0) * (j - 1.0)


@inlined
def stress(f, s, mu, bulk, pressure, k):
    c = right_cauchy_green(f)
    c00, c11, c22, c12, c02, c01 = c
    first = c00 + c11 + c22
    second = c00 * c11 + c11 * c22 + c22 * c00 - c12 * c12 - c02 * c02 - c01 * c01
    j = determinant(f)
    g, slope = isochoric_scale(j)
    a, b = 2.0 * mu * k[0], 2.0 * mu * k[1] * g * g
    q = (a * first + 2.0 * b * second) * g * slope + bulk * (j - 1.0) + pressure
    return combine(f, c, g * g * (a + b * first), -g * g * b, q)


def constants(parameters: TableView) -> list[float]:
    """c10 and c01 over the shear modulus."""
    ratio = parameters["ratio"]
    if not ratio >= 0.0:
        raise ValueError(f"law-parameters.ratio (c01 / c10) must not be negative, got {ratio:g}")
    return [0.5 / (1.0 + ratio), 0.5 * ratio / (1.0 + ratio)]


FUNCTIONS = LawFunctions(invariants, energy, stress, volumetric, constants=constants)
