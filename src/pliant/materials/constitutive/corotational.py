r"""Corotational linear elasticity: Hooke's law in the frame of the nearest rotation R, where F = R U.

.. math:: W = \mu |F - R|^2 + \tfrac\lambda2 (tr(R^T F) - 3)^2, \qquad
          P = 2 \mu (F - R) + \lambda\,(tr(R^T F) - 3)\,R,

and P is the exact gradient of W, because :math:`F - R` is orthogonal to changes of R. With a full stiffness C
and a plastic strain,

.. math:: W = \tfrac12\,e : C : e,\quad e = U - 1 - \epsilon_p,\quad P = R (T + \Omega),\quad T = C : e,

:math:`\Omega` being the skew matrix that makes :math:`P F^T` symmetric: with it P is the exact gradient of W
and torques vanish. It is zero for isotropic elasticity, where T and U commute.

Source: [Cairns2012]_ eq. (3.11), section 3.3 and algorithm 4.1; [MuellerGross2004]_. Differs: those warp the
stiffness, which is the same force; R is the exact polar rotation, with determinant +1 also where F is
inverted; without Omega (the printed plastic forces are R P e) a body with plastic strain would start to spin.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from pliant.kernels.jit import inlined
from pliant.kernels.tensors import (
    TINY,
    combine,
    right_cauchy_green,
    rotated,
    rotation_weights,
    unrotated,
)
from pliant.materials.constitutive.discrete_gradient import stretch_stress
from pliant.materials.constitutive.law import LawFunctions


@inlined
def invariants(f, s):
    """``|F - R|^2`` and ``tr(R^T F) - 3``."""
    root, first, j8 = s
    c = right_cauchy_green(f)
    a, b, g = rotation_weights(root, first, j8)
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = combine(f, c, 1.0 - a, -b, -g)
    shape = m00 * m00 + m01 * m01 + m02 * m02 + m10 * m10 + m11 * m11 + m12 * m12
    shape += m20 * m20 + m21 * m21 + m22 * m22
    return shape, root - 3.0, 0.0, 0.0


@inlined
def energy(i, mu, bulk, k):
    shape, theta, _, _ = i
    return mu * shape + 0.5 * (bulk - 2.0 / 3.0 * mu) * theta * theta


@inlined
def stress(f, s, mu, bulk, pressure, k):
    root, first, j8 = s
    c = right_cauchy_green(f)
    mu2 = 2.0 * mu
    a, b, g = rotation_weights(root, first, j8)
    q = (bulk - mu2 / 3.0) * (root - 3.0) + pressure - mu2
    return combine(f, c, mu2 + q * a, q * b, q * g)


@inlined
def volumetric(f, s):
    return s[0] - 3.0


@inlined
def frame(f, s):
    """R and U."""
    root, first, j8 = s
    c = right_cauchy_green(f)
    a, b, g = rotation_weights(root, first, j8)
    r = combine(f, c, a, b, g)
    return r, unrotated(r, f)


@inlined
def balancing_spin(u, t):
    r"""The axial vector of the skew matrix that makes :math:`(T + \Omega) U` symmetric.

    :math:`\Omega U + U \Omega = U T - T U`, that is :math:`(tr U\,1 - U)\,\omega = axial(U T - T U)`.
    """
    u00, u11, u22, u12, u02, u01 = u
    t00, t11, t22, t12, t02, t01 = t
    k0 = (u02 * t01 + u12 * t11 + u22 * t12) - (t02 * u01 + t12 * u11 + t22 * u12)
    k1 = (u00 * t02 + u01 * t12 + u02 * t22) - (t00 * u02 + t01 * u12 + t02 * u22)
    k2 = (u01 * t00 + u11 * t01 + u12 * t02) - (t01 * u00 + t11 * u01 + t12 * u02)
    total = u00 + u11 + u22
    g00, g11, g22 = total - u00, total - u11, total - u22
    a00, a11, a22 = g11 * g22 - u12 * u12, g00 * g22 - u02 * u02, g00 * g11 - u01 * u01
    a12, a02, a01 = g00 * u12 + u01 * u02, g11 * u02 + u01 * u12, g22 * u01 + u02 * u12
    det = g00 * a00 - u01 * a01 - u02 * a02
    s = 1.0 / (det + 1e-15 * total * total * total + TINY)
    return (
        s * (a00 * k0 + a01 * k1 + a02 * k2),
        s * (a01 * k0 + a11 * k1 + a12 * k2),
        s * (a02 * k0 + a12 * k1 + a22 * k2),
    )


@inlined
def first_piola(r, u, t):
    o0, o1, o2 = balancing_spin(u, t)
    return rotated(r, t, o0, o1, o2)


FUNCTIONS = LawFunctions(
    invariants, energy, stress, volumetric, frame, first_piola, mean_stress=stretch_stress, packed=True
)
