"""Laws with a full stiffness and a plastic strain, on a block of tets (see ``laws.py``).

Rest rows go on after column 10 with the 21 constants of V C (upper triangle, row by row, Voigt's order xx,
yy, zz, yz, xz, xy and engineering shears) and the plastic strain (6, tensor components), in rest coordinates.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.kernels.jit import jit
from pliant.models.fem.laws import ENERGY, own_bulk
from pliant.models.tets.kernels import (
    ROOT,
    TINY,
    combine,
    deform,
    deform_block,
    inlined,
    right_cauchy_green,
    rotation_weights,
    spread,
    stretch_block,
    take,
)

STIFFNESS = 16 * 11
PLASTIC = 16 * 32
COLUMNS = 38


@inlined
def elastic_strain(row, i, m):
    """``m - 1 - plastic strain`` (6), its shears doubled."""
    m0, m1, m2, m3, m4, m5 = m
    return (
        m0 - 1.0 - row[PLASTIC + i],
        m1 - 1.0 - row[PLASTIC + 16 + i],
        m2 - 1.0 - row[PLASTIC + 32 + i],
        2.0 * (m3 - row[PLASTIC + 48 + i]),
        2.0 * (m4 - row[PLASTIC + 64 + i]),
        2.0 * (m5 - row[PLASTIC + 80 + i]),
    )


@inlined
def hooke(row, i, e):
    """``V C e`` of an engineering strain (6)."""
    e0, e1, e2, e3, e4, e5 = e
    k = STIFFNESS + i
    return (
        row[k] * e0
        + row[k + 16] * e1
        + row[k + 32] * e2
        + row[k + 48] * e3
        + row[k + 64] * e4
        + row[k + 80] * e5,
        row[k + 16] * e0
        + row[k + 96] * e1
        + row[k + 112] * e2
        + row[k + 128] * e3
        + row[k + 144] * e4
        + row[k + 160] * e5,
        row[k + 32] * e0
        + row[k + 112] * e1
        + row[k + 176] * e2
        + row[k + 192] * e3
        + row[k + 208] * e4
        + row[k + 224] * e5,
        row[k + 48] * e0
        + row[k + 128] * e1
        + row[k + 192] * e2
        + row[k + 240] * e3
        + row[k + 256] * e4
        + row[k + 272] * e5,
        row[k + 64] * e0
        + row[k + 144] * e1
        + row[k + 208] * e2
        + row[k + 256] * e3
        + row[k + 288] * e4
        + row[k + 304] * e5,
        row[k + 80] * e0
        + row[k + 160] * e1
        + row[k + 224] * e2
        + row[k + 272] * e3
        + row[k + 304] * e4
        + row[k + 320] * e5,
    )


@inlined
def unrotated(r, f):
    """The symmetric part of ``R^T F`` (6)."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = r
    f00, f01, f02, f10, f11, f12, f20, f21, f22 = f
    return (
        r00 * f00 + r10 * f10 + r20 * f20,
        r01 * f01 + r11 * f11 + r21 * f21,
        r02 * f02 + r12 * f12 + r22 * f22,
        0.5 * (r01 * f02 + r11 * f12 + r21 * f22 + r02 * f01 + r12 * f11 + r22 * f21),
        0.5 * (r00 * f02 + r10 * f12 + r20 * f22 + r02 * f00 + r12 * f10 + r22 * f20),
        0.5 * (r00 * f01 + r10 * f11 + r20 * f21 + r01 * f00 + r11 * f10 + r21 * f20),
    )


@inlined
def rotated(r, t, o0, o1, o2):
    """``R (T + [o]x)`` of a symmetric T (6) and the axial vector of a skew matrix."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = r
    t00, t11, t22, t12, t02, t01 = t
    a01, a10 = t01 - o2, t01 + o2
    a02, a20 = t02 + o1, t02 - o1
    a12, a21 = t12 - o0, t12 + o0
    return (
        r00 * t00 + r01 * a10 + r02 * a20,
        r00 * a01 + r01 * t11 + r02 * a21,
        r00 * a02 + r01 * a12 + r02 * t22,
        r10 * t00 + r11 * a10 + r12 * a20,
        r10 * a01 + r11 * t11 + r12 * a21,
        r10 * a02 + r11 * a12 + r12 * t22,
        r20 * t00 + r21 * a10 + r22 * a20,
        r20 * a01 + r21 * t11 + r22 * a21,
        r20 * a02 + r21 * a12 + r22 * t22,
    )


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


@jit
def general_corotational(w, row, extra, share, forces, energy):
    r"""Hooke's law with a full stiffness on :math:`U - 1 - \epsilon_p`, where F = R U.

    .. math:: W = \tfrac12\,e : C : e,\quad e = U - 1 - \epsilon_p,\quad P = R (T + \Omega),\quad T = C : e,

    :math:`\Omega` being the skew matrix that makes :math:`P F^T` symmetric: with it P is the exact gradient
    of W and torques vanish. It is zero for isotropic elasticity, where T and U commute.

    Source: [Cairns2012]_ section 3.3 and algorithm 4.1. Differs: without Omega (the text's plastic forces
    are R P e) a body with plastic strain would set itself spinning.
    """
    deform_block(w, row)
    stretch_block(w)
    if energy:
        for i in range(16):
            f = take(w, i)
            c = right_cauchy_green(f)
            a, b, g = rotation_weights(w[ROOT + i], w[144 + i], w[160 + i])
            r = combine(f, c, a, b, g)
            u = unrotated(r, f)
            e = elastic_strain(row, i, u)
            t = hooke(row, i, e)
            w[ENERGY + i] += half_product(e, t) - 0.5 * own_bulk(row, i, 1.0 - share) * trace(e) * trace(e)
    if forces:
        for i in range(16):
            f = take(w, i)
            c = right_cauchy_green(f)
            a, b, g = rotation_weights(w[ROOT + i], w[144 + i], w[160 + i])
            r = combine(f, c, a, b, g)
            u = unrotated(r, f)
            e = elastic_strain(row, i, u)
            t0, t1, t2, t3, t4, t5 = hooke(row, i, e)
            q = extra[i] - own_bulk(row, i, 1.0 - share) * trace(e)
            t = (t0 + q, t1 + q, t2 + q, t3, t4, t5)
            o0, o1, o2 = balancing_spin(u, t)
            p = rotated(r, t, o0, o1, o2)
            spread(w, row, i, p)


@jit
def general_st_venant_kirchhoff(w, row, extra, share, forces, energy):
    r""":math:`P = F\,C : (E - \epsilon_p)` with Green's strain E; its gradient is exact as it stands."""
    if energy:
        for i in range(16):
            f = deform(w, row, i)
            c = right_cauchy_green(f)
            m = green(c)
            e = elastic_strain(row, i, m)
            t = hooke(row, i, e)
            w[ENERGY + i] += half_product(e, t) - 0.5 * own_bulk(row, i, 1.0 - share) * trace(e) * trace(e)
    if forces:
        for i in range(16):
            f = deform(w, row, i)
            c = right_cauchy_green(f)
            m = green(c)
            e = elastic_strain(row, i, m)
            t0, t1, t2, t3, t4, t5 = hooke(row, i, e)
            q = extra[i] - own_bulk(row, i, 1.0 - share) * trace(e)
            p = rotated(f, (t0 + q, t1 + q, t2 + q, t3, t4, t5), 0.0, 0.0, 0.0)
            spread(w, row, i, p)


@inlined
def green(c):
    """``1 + E`` from C = 1 + 2 E."""
    c0, c1, c2, c3, c4, c5 = c
    return 0.5 * (c0 + 1.0), 0.5 * (c1 + 1.0), 0.5 * (c2 + 1.0), 0.5 * c3, 0.5 * c4, 0.5 * c5


@inlined
def trace(e):
    e0, e1, e2, _e3, _e4, _e5 = e
    return e0 + e1 + e2


@inlined
def half_product(e, t):
    e0, e1, e2, e3, e4, e5 = e
    t0, t1, t2, t3, t4, t5 = t
    return 0.5 * (e0 * t0 + e1 * t1 + e2 * t2 + e3 * t3 + e4 * t4 + e5 * t5)


@inlined
def orthonormal_columns(f):
    """Columns of F made orthonormal one after the other; the third by the right-hand rule."""
    f00, f01, _f02, f10, f11, _f12, f20, f21, _f22 = f
    s = 1.0 / np.sqrt(f00 * f00 + f10 * f10 + f20 * f20 + TINY)
    a0, a1, a2 = s * f00, s * f10, s * f20
    along = a0 * f01 + a1 * f11 + a2 * f21
    b0, b1, b2 = f01 - along * a0, f11 - along * a1, f21 - along * a2
    s = 1.0 / np.sqrt(b0 * b0 + b1 * b1 + b2 * b2 + TINY)
    b0, b1, b2 = s * b0, s * b1, s * b2
    return a0, b0, a1 * b2 - a2 * b1, a1, b1, a2 * b0 - a0 * b2, a2, b2, a0 * b1 - a1 * b0


@jit
def gram_schmidt(w, row, extra, share):
    r"""Warped stiffness as printed: :math:`P = R\,C : (sym(R^T F) - 1 - \epsilon_p)`, R by Gram-Schmidt.

    Source: [Cairns2012]_ section 4.2, eq. (4.1). It prefers the first axis, has no energy and leaves a
    torque. Differs: the third axis by the right-hand rule, so that an inverted tet is turned back.
    """
    for i in range(16):
        f = deform(w, row, i)
        r = orthonormal_columns(f)
        u = unrotated(r, f)
        e = elastic_strain(row, i, u)
        t0, t1, t2, t3, t4, t5 = hooke(row, i, e)
        q = extra[i] - own_bulk(row, i, 1.0 - share) * trace(e)
        p = rotated(r, (t0 + q, t1 + q, t2 + q, t3, t4, t5), 0.0, 0.0, 0.0)
        spread(w, row, i, p)
