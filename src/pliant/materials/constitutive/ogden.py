r"""The Ogden law of rubber, compressible by a decoupled volumetric term.

.. math:: W = \sum_p \frac{\mu_p}{\alpha_p} \sum_i (\bar\lambda_i^{\alpha_p} - 1) + \tfrac K2 (J - 1)^2,
          \qquad \bar\lambda_i = g \lambda_i,\; g = J^{-1/3},

with the principal stretches :math:`\lambda_i`. The parameters ``alpha`` and ``mu`` are lists of equal length;
only the ratios of the :math:`\mu_p` count: they are scaled so that :math:`\sum \mu_p \alpha_p = 2 \mu`, and
small strains are those of linear elasticity. Each product must be positive. With :math:`N_i` the eigenvectors
of C,

.. math:: P = F \sum_i \frac{b_i}{\lambda_i^2} N_i N_i^T + \Bigl( \frac{g'}{g} \sum_i b_i + K (J - 1) \Bigr)
          cof F, \qquad b_i = \sum_p \mu_p \bar\lambda_i^{\alpha_p}.

One term with alpha = 2 is :math:`\tfrac\mu2 (\bar I_1 - 3)`; terms with 2 and -2 are Mooney and Rivlin's law.

Source: [Ogden1972]_; the default is the fit printed there to the measurements of [Treloar1944]_. Differs:
where J is below 0.1, g continues along its tangent, and stretches count as 0.001 at least, so that energies
are finite everywhere. Bodies that are turned inside out do not recover.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.core.tables import TableView
from pliant.kernels.jit import inlined, jit
from pliant.kernels.tensors import combine, determinant, right_cauchy_green, symmetric_eigen, times_symmetric
from pliant.materials.constitutive.law import LawFunctions
from pliant.materials.constitutive.mooney_rivlin import LEAST, isochoric_scale
from pliant.materials.constitutive.neo_hookean import volumetric

FLOOR = 1e-6  # of the squares of stretches


@inlined
def invariants(f, s):
    """The squares of the principal stretches, and J."""
    values, _ = symmetric_eigen(right_cauchy_green(f))
    return values[0], values[1], values[2], determinant(f)


@inlined
def isochoric_logarithms(values, j):
    """The logarithms of the three isochoric stretches."""
    h0 = 0.5 * np.log(max(values[0], FLOOR))
    h1 = 0.5 * np.log(max(values[1], FLOOR))
    h2 = 0.5 * np.log(max(values[2], FLOOR))
    if j > LEAST:
        shift = -(h0 + h1 + h2) / 3.0
    else:
        g, _ = isochoric_scale(j)
        shift = np.log(g)
    return h0 + shift, h1 + shift, h2 + shift


@jit
def energy(i, mu, bulk, k):
    values, j = (i[0], i[1], i[2]), i[3]
    h0, h1, h2 = isochoric_logarithms(values, j)
    total = 0.0
    for p in range(k.shape[0] // 2):
        a = k[2 * p]
        x, y, z = a * h0, a * h1, a * h2
        own = np.expm1(x) + np.expm1(y) + np.expm1(z)
        if j > LEAST:  # the sum of x, y, z is zero: what rounding leaves of it is of first order
            own -= x + y + z
        total += k[2 * p + 1] / a * own
    return mu * total + 0.5 * bulk * (j - 1.0) * (j - 1.0)


@jit
def stress(f, s, mu, bulk, pressure, k):
    c = right_cauchy_green(f)
    values, n = symmetric_eigen(c)
    j = determinant(f)
    h0, h1, h2 = isochoric_logarithms(values, j)
    b0 = b1 = b2 = 0.0
    for p in range(k.shape[0] // 2):
        a, own = k[2 * p], mu * k[2 * p + 1]
        b0 += own * np.exp(a * h0)
        b1 += own * np.exp(a * h1)
        b2 += own * np.exp(a * h2)
    g, slope = isochoric_scale(j)
    q = slope / g * (b0 + b1 + b2) + bulk * (j - 1.0) + pressure
    b0 = b0 / values[0] if values[0] > FLOOR else 0.0
    b1 = b1 / values[1] if values[1] > FLOOR else 0.0
    b2 = b2 / values[2] if values[2] > FLOOR else 0.0
    t = (
        b0 * n[0] * n[0] + b1 * n[1] * n[1] + b2 * n[2] * n[2],
        b0 * n[3] * n[3] + b1 * n[4] * n[4] + b2 * n[5] * n[5],
        b0 * n[6] * n[6] + b1 * n[7] * n[7] + b2 * n[8] * n[8],
        b0 * n[3] * n[6] + b1 * n[4] * n[7] + b2 * n[5] * n[8],
        b0 * n[0] * n[6] + b1 * n[1] * n[7] + b2 * n[2] * n[8],
        b0 * n[0] * n[3] + b1 * n[1] * n[4] + b2 * n[2] * n[5],
    )
    m = times_symmetric(f, t)
    v = combine(f, c, 0.0, 0.0, q)
    return (
        m[0] + v[0], m[1] + v[1], m[2] + v[2], m[3] + v[3], m[4] + v[4], m[5] + v[5],
        m[6] + v[6], m[7] + v[7], m[8] + v[8],
    )  # fmt: skip


def constants(parameters: TableView) -> list[float]:
    """alpha and mu over the shear modulus, term by term."""
    alpha, mu = parameters["alpha"], parameters["mu"]
    if len(alpha) != len(mu) or not alpha:
        raise ValueError(
            f"law-parameters: alpha and mu need as many numbers each, got {len(alpha)} and {len(mu)}"
        )
    products = [a * m for a, m in zip(alpha, mu, strict=True)]
    if not all(product > 0.0 for product in products):
        raise ValueError("law-parameters: each alpha times its mu must be positive, or the law is unstable")
    return [x for a, m in zip(alpha, mu, strict=True) for x in (a, 2.0 * m / sum(products))]


FUNCTIONS = LawFunctions(invariants, energy, stress, volumetric, constants=constants)
