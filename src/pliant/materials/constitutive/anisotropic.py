"""Hooke's law with a full stiffness matrix and a plastic strain, for laws linear in a strain measure.

Stiffnesses are tuples of 21 constants, the upper triangle row by row in Voigt's order xx, yy, zz, yz, xz, xy
with engineering shears; strains here have their shears doubled.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from pliant.kernels.jit import inlined


@inlined
def elastic_strain(m, plastic):
    """``m - 1 - plastic`` of a strain measure m = strain + 1 and the plastic strain (6, tensor components),
    its shears doubled."""
    m0, m1, m2, m3, m4, m5 = m
    p0, p1, p2, p3, p4, p5 = plastic
    return m0 - 1.0 - p0, m1 - 1.0 - p1, m2 - 1.0 - p2, 2.0 * (m3 - p3), 2.0 * (m4 - p4), 2.0 * (m5 - p5)


@inlined
def hooke(stiffness, e):
    """``C e`` (6)."""
    (c00, c01, c02, c03, c04, c05, c11, c12, c13, c14, c15, c22, c23, c24, c25, c33, c34, c35, c44, c45, c55) = stiffness  # fmt: skip  # noqa: E501
    e0, e1, e2, e3, e4, e5 = e
    return (
        c00 * e0 + c01 * e1 + c02 * e2 + c03 * e3 + c04 * e4 + c05 * e5,
        c01 * e0 + c11 * e1 + c12 * e2 + c13 * e3 + c14 * e4 + c15 * e5,
        c02 * e0 + c12 * e1 + c22 * e2 + c23 * e3 + c24 * e4 + c25 * e5,
        c03 * e0 + c13 * e1 + c23 * e2 + c33 * e3 + c34 * e4 + c35 * e5,
        c04 * e0 + c14 * e1 + c24 * e2 + c34 * e3 + c44 * e4 + c45 * e5,
        c05 * e0 + c15 * e1 + c25 * e2 + c35 * e3 + c45 * e4 + c55 * e5,
    )


@inlined
def isotropic_hooke(mu, lam, e):
    r""":math:`2 \mu e + \lambda\,tr(e)\,1` of a tensor (6, its own shears)."""
    e0, e1, e2, e3, e4, e5 = e
    mu2 = 2.0 * mu
    q = lam * (e0 + e1 + e2)
    return mu2 * e0 + q, mu2 * e1 + q, mu2 * e2 + q, mu2 * e3, mu2 * e4, mu2 * e5


@inlined
def trace(e):
    e0, e1, e2, _e3, _e4, _e5 = e
    return e0 + e1 + e2


@inlined
def half_product(e, t):
    """The energy density ``e : t / 2``."""
    e0, e1, e2, e3, e4, e5 = e
    t0, t1, t2, t3, t4, t5 = t
    return 0.5 * (e0 * t0 + e1 * t1 + e2 * t2 + e3 * t3 + e4 * t4 + e5 * t5)


@inlined
def with_pressure(t, q):
    t0, t1, t2, t3, t4, t5 = t
    return t0 + q, t1 + q, t2 + q, t3, t4, t5
