"""The laws of the efg model on one phyxel: stress and energy from its deformation gradient."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.models.tets.kernels import combine, determinant, inlined, right_cauchy_green, times

HOOKE, NEO_HOOKEAN = 0, 1
LAWS = {"hooke": HOOKE, "neo-hookean": NEO_HOOKEAN}


@inlined
def times_symmetric(a, s):
    """``a s`` of a matrix (9) and a symmetric one as xx, yy, zz, yz, xz, xy."""
    s00, s11, s22, s12, s02, s01 = s
    return times(a, (s00, s01, s02, s01, s11, s12, s02, s12, s22))


@inlined
def neo_hookean_stress(f, mu, lam, kv):
    r"""Stable neo-Hookean: :math:`P = \mu' (1 - 1/(I_1 + 1)) F + (\lambda' (J - 1) - \tfrac34 \mu') cof F`.

    :math:`\mu' = \tfrac43 \mu`, :math:`\lambda' = \lambda + \tfrac56 \mu + k_v` ([SmithDeGoesKim2018]_).
    """
    c = right_cauchy_green(f)
    mu43 = 4.0 / 3.0 * mu
    a = mu43 - mu43 / (c[0] + c[1] + c[2] + 1.0)
    return combine(f, c, a, 0.0, (lam + 5.0 / 6.0 * mu + kv) * (determinant(f) - 1.0) - mu)


@inlined
def neo_hookean_energy(f, mu, lam, kv):
    c00, c11, c22, c12, c02, c01 = right_cauchy_green(f)
    e00, e11, e22 = 0.5 * (c00 - 1.0), 0.5 * (c11 - 1.0), 0.5 * (c22 - 1.0)
    e12, e02, e01 = 0.5 * c12, 0.5 * c02, 0.5 * c01
    t, j = e00 + e11 + e22, determinant(f)
    if j > 0.5:  # small differences of terms of first order, taken analytically
        pairs = e00 * e11 + e11 * e22 + e22 * e00 - e12 * e12 - e02 * e02 - e01 * e01
        third = determinant((e00, e01, e02, e01, e11, e12, e02, e12, e22))
        shape = 0.75 * (t * (j - 1.0) - 4.0 * pairs - 8.0 * third) / (j + 1.0) + 0.25 * t
    else:
        shape = t - 0.75 * (j - 1.0)
    shape -= 0.5 * np.log1p(0.5 * t)
    return 4.0 / 3.0 * mu * shape + 0.5 * (lam + 5.0 / 6.0 * mu + kv) * (j - 1.0) * (j - 1.0)


@inlined
def green_strain(f, unit, plastic):
    """``(F^T F - unit) / 2 - plastic``, symmetric (6)."""
    c00, c11, c22, c12, c02, c01 = right_cauchy_green(f)
    u00, u11, u22, u12, u02, u01 = unit
    p00, p11, p22, p12, p02, p01 = plastic
    return (
        0.5 * (c00 - u00) - p00,
        0.5 * (c11 - u11) - p11,
        0.5 * (c22 - u22) - p22,
        0.5 * (c12 - u12) - p12,
        0.5 * (c02 - u02) - p02,
        0.5 * (c01 - u01) - p01,
    )


@inlined
def hooke_stress(f, e, unit, mu, lam, kv):
    r"""Hooke's law on Green's strain e: :math:`P = F (2 \mu e + \lambda\,tr(e)\,1) + k_v (J - 1)\,cof F`.

    ``unit`` is 1, or the projector onto what the neighbours sample; then k_v is left out by the caller.
    """
    e00, e11, e22, e12, e02, e01 = e
    u00, u11, u22, u12, u02, u01 = unit
    t = lam * (e00 + e11 + e22)
    m = 2.0 * mu
    s = (
        m * e00 + t * u00,
        m * e11 + t * u11,
        m * e22 + t * u22,
        m * e12 + t * u12,
        m * e02 + t * u02,
        m * e01 + t * u01,
    )
    p = times_symmetric(f, s)
    if kv != 0.0:
        c = right_cauchy_green(f)
        q = combine(f, c, 0.0, 0.0, kv * (determinant(f) - 1.0))
        return (
            p[0] + q[0], p[1] + q[1], p[2] + q[2], p[3] + q[3], p[4] + q[4], p[5] + q[5],
            p[6] + q[6], p[7] + q[7], p[8] + q[8],
        )  # fmt: skip
    return p


@inlined
def hooke_energy(f, e, mu, lam, kv):
    e00, e11, e22, e12, e02, e01 = e
    t = e00 + e11 + e22
    square = e00 * e00 + e11 * e11 + e22 * e22 + 2.0 * (e12 * e12 + e02 * e02 + e01 * e01)
    out = mu * square + 0.5 * lam * t * t
    if kv != 0.0:
        j = determinant(f)
        out += 0.5 * kv * (j - 1.0) * (j - 1.0)
    return out
