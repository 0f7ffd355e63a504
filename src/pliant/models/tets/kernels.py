"""Pieces of compiled loops over tetrahedra: gather, deformation, rotation, scatter.

A block is 16 tets (``models/blocks.py``). Its scratch ``w`` is flat, one column of 16 lanes per quantity, so
that loops over the lanes become packed instructions: ``w[16 * c + i]``. Columns 0 to 8 hold the edges, then F
row by row, then the forces on corners 1 to 3; columns 9 to 12 hold the invariants and the root below. A rest
row holds ``D_m^-1`` row by row in its columns 0 to 8. Functions marked ``inlined`` are written into their
caller: called ones would keep its loop from being packed.
"""

# mypy: disable-error-code="no-untyped-def"

from typing import Any

import numba
import numpy as np

from pliant.kernels.jit import jit

inlined: Any = numba.njit(inline="always", error_model="numpy")

TINY = 1e-300  # keeps empty lanes (padding) from dividing by zero
SWEEPS = 60
SCRATCH = 16 * 32  # doubles of scratch that a thread needs
ROOT = 16 * 12


@jit
def gather_edges(nodes, x, w, at):
    """Edges from corner 0 to corners 1, 2, 3, into ``w[at:]``."""
    for i in range(16):
        p = nodes[i, 0]
        q = nodes[i, 1]
        r = nodes[i, 2]
        s = nodes[i, 3]
        for c in range(3):
            origin = x[p, c]
            k = at + 16 * c + i
            w[k] = x[q, c] - origin
            w[48 + k] = x[r, c] - origin
            w[96 + k] = x[s, c] - origin


@jit
def scatter_forces(nodes, w, buffer, shift):
    """Add the forces on corners 1, 2, 3 and minus their sum on corner 0."""
    for i in range(16):
        p = nodes[i, 0] + shift
        q = nodes[i, 1] + shift
        r = nodes[i, 2] + shift
        s = nodes[i, 3] + shift
        for c in range(3):
            fq = w[16 * c + i]
            fr = w[48 + 16 * c + i]
            fs = w[96 + 16 * c + i]
            buffer[q, c] += fq
            buffer[r, c] += fr
            buffer[s, c] += fs
            buffer[p, c] -= fq + fr + fs


@inlined
def deform(w, row, i):
    """``F = D_s D_m^-1`` from the edges at ``w[i]``, row by row."""
    a0, a1, a2 = w[i], w[16 + i], w[32 + i]
    b0, b1, b2 = w[48 + i], w[64 + i], w[80 + i]
    c0, c1, c2 = w[96 + i], w[112 + i], w[128 + i]
    p, q, r = row[i], row[48 + i], row[96 + i]
    f00 = a0 * p + b0 * q + c0 * r
    f10 = a1 * p + b1 * q + c1 * r
    f20 = a2 * p + b2 * q + c2 * r
    p, q, r = row[16 + i], row[64 + i], row[112 + i]
    f01 = a0 * p + b0 * q + c0 * r
    f11 = a1 * p + b1 * q + c1 * r
    f21 = a2 * p + b2 * q + c2 * r
    p, q, r = row[32 + i], row[80 + i], row[128 + i]
    f02 = a0 * p + b0 * q + c0 * r
    f12 = a1 * p + b1 * q + c1 * r
    f22 = a2 * p + b2 * q + c2 * r
    return f00, f01, f02, f10, f11, f12, f20, f21, f22


@inlined
def put(w, i, m):
    """A matrix (9) into the columns 0 to 8, row by row."""
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = m
    w[i] = m00
    w[16 + i] = m01
    w[32 + i] = m02
    w[48 + i] = m10
    w[64 + i] = m11
    w[80 + i] = m12
    w[96 + i] = m20
    w[112 + i] = m21
    w[128 + i] = m22


@inlined
def take(w, i):
    """The matrix in the columns 0 to 8."""
    return w[i], w[16 + i], w[32 + i], w[48 + i], w[64 + i], w[80 + i], w[96 + i], w[112 + i], w[128 + i]


@inlined
def spread(w, row, i, p):
    """Forces on corners 1 to 3, the columns of ``-P D_m^-T``, where P is a stress times the rest volume."""
    p00, p01, p02, p10, p11, p12, p20, p21, p22 = p
    x, y, z = row[i], row[16 + i], row[32 + i]
    w[i] = -(p00 * x + p01 * y + p02 * z)
    w[16 + i] = -(p10 * x + p11 * y + p12 * z)
    w[32 + i] = -(p20 * x + p21 * y + p22 * z)
    x, y, z = row[48 + i], row[64 + i], row[80 + i]
    w[48 + i] = -(p00 * x + p01 * y + p02 * z)
    w[64 + i] = -(p10 * x + p11 * y + p12 * z)
    w[80 + i] = -(p20 * x + p21 * y + p22 * z)
    x, y, z = row[96 + i], row[112 + i], row[128 + i]
    w[96 + i] = -(p00 * x + p01 * y + p02 * z)
    w[112 + i] = -(p10 * x + p11 * y + p12 * z)
    w[128 + i] = -(p20 * x + p21 * y + p22 * z)


@inlined
def times(a, b):
    """The product of two matrices (9)."""
    a00, a01, a02, a10, a11, a12, a20, a21, a22 = a
    b00, b01, b02, b10, b11, b12, b20, b21, b22 = b
    return (
        a00 * b00 + a01 * b10 + a02 * b20,
        a00 * b01 + a01 * b11 + a02 * b21,
        a00 * b02 + a01 * b12 + a02 * b22,
        a10 * b00 + a11 * b10 + a12 * b20,
        a10 * b01 + a11 * b11 + a12 * b21,
        a10 * b02 + a11 * b12 + a12 * b22,
        a20 * b00 + a21 * b10 + a22 * b20,
        a20 * b01 + a21 * b11 + a22 * b21,
        a20 * b02 + a21 * b12 + a22 * b22,
    )


@inlined
def transposed(a):
    """The transpose of a matrix (9)."""
    a00, a01, a02, a10, a11, a12, a20, a21, a22 = a
    return a00, a10, a20, a01, a11, a21, a02, a12, a22


@inlined
def right_cauchy_green(f):
    """``C = F^T F`` as xx, yy, zz, yz, xz, xy."""
    f00, f01, f02, f10, f11, f12, f20, f21, f22 = f
    return (
        f00 * f00 + f10 * f10 + f20 * f20,
        f01 * f01 + f11 * f11 + f21 * f21,
        f02 * f02 + f12 * f12 + f22 * f22,
        f01 * f02 + f11 * f12 + f21 * f22,
        f00 * f02 + f10 * f12 + f20 * f22,
        f00 * f01 + f10 * f11 + f20 * f21,
    )


@inlined
def determinant(f):
    f00, f01, f02, f10, f11, f12, f20, f21, f22 = f
    return f00 * (f11 * f22 - f12 * f21) + f01 * (f12 * f20 - f10 * f22) + f02 * (f10 * f21 - f11 * f20)


@inlined
def combine(f, c, a, b, g):
    """``F (a 1 + b C) + g cof F`` of a matrix f (9) and symmetric c (6)."""
    f00, f01, f02, f10, f11, f12, f20, f21, f22 = f
    c00, c11, c22, c12, c02, c01 = c
    m00, m11, m22 = a + b * c00, a + b * c11, a + b * c22
    m12, m02, m01 = b * c12, b * c02, b * c01
    return (
        f00 * m00 + f01 * m01 + f02 * m02 + g * (f11 * f22 - f12 * f21),
        f00 * m01 + f01 * m11 + f02 * m12 + g * (f12 * f20 - f10 * f22),
        f00 * m02 + f01 * m12 + f02 * m22 + g * (f10 * f21 - f11 * f20),
        f10 * m00 + f11 * m01 + f12 * m02 + g * (f02 * f21 - f01 * f22),
        f10 * m01 + f11 * m11 + f12 * m12 + g * (f00 * f22 - f02 * f20),
        f10 * m02 + f11 * m12 + f12 * m22 + g * (f01 * f20 - f00 * f21),
        f20 * m00 + f21 * m01 + f22 * m02 + g * (f01 * f12 - f02 * f11),
        f20 * m01 + f21 * m11 + f22 * m12 + g * (f02 * f10 - f00 * f12),
        f20 * m02 + f21 * m12 + f22 * m22 + g * (f00 * f11 - f01 * f10),
    )


@inlined
def quartic(f, c):
    """Coefficients (I1, 8 J, 2 I2 - I1^2) of the quartic whose largest root is tr(R^T F)."""
    c00, c11, c22, c12, c02, c01 = c
    first = c00 + c11 + c22
    second = c00 * c00 + c11 * c11 + c22 * c22 + 2.0 * (c01 * c01 + c02 * c02 + c12 * c12)
    j = determinant(f)
    return first, 8.0 * j, 2.0 * second - first * first


@inlined
def rotation_weights(root, first, j8):
    """(a, b, g) with ``R = F (a 1 + b C) + g cof F``.

    The denominator is 2 (s1 + s2)(s2 + s3)(s3 + s1) of the signed singular values; where it vanishes the
    rotation is not unique, and the guard makes R small instead of infinite.
    """
    cube = root * root * root
    inverse = 1.0 / (cube - first * root - 0.25 * j8 + 1e-15 * cube + TINY)
    return (root * root + first) * inverse, -2.0 * inverse, 2.0 * root * inverse


@jit
def deform_block(w, row):
    """F into the columns 0 to 8, in place of the edges."""
    for i in range(16):
        f = deform(w, row, i)
        put(w, i, f)


@jit
def stretch_block(w):
    r"""The sum of the signed principal stretches, :math:`\lambda = tr(R^T F)`, of each F in a block.

    R is the rotation (determinant +1, also where F is inverted) that is nearest to F. The sum is the largest
    root of

    .. math:: \lambda^4 - 2 I_1 \lambda^2 - 8 J \lambda + 2 I_2 - I_1^2, \quad
              I_1 = tr\,C,\; I_2 = tr\,C^2,\; C = F^T F,\; J = \det F,

    and its derivative is R itself, :math:`R (\lambda^3 - I_1 \lambda - 2 J) = (\lambda^2 + I_1) F - 2 F C
    + 2 \lambda\,cof F`. Newton's iteration from :math:`\sqrt{3 I_1}` falls onto that root from above.

    Source: [LinChitaluKomura2022]_. Differs: the root by iteration instead of a formula with trigonometric
    functions, so that the loop is packed; two or three sweeps do near rest.
    """
    for i in range(16):
        f = take(w, i)
        c = right_cauchy_green(f)
        first, j8, last = quartic(f, c)
        w[144 + i] = first
        w[160 + i] = j8
        w[176 + i] = last
        w[ROOT + i] = np.sqrt(3.0 * first)
    for _ in range(SWEEPS):
        off = 0
        for i in range(16):
            root = w[ROOT + i]
            square = root * root
            p = (square - 2.0 * w[144 + i]) * square - w[160 + i] * root + w[176 + i]
            slope = 4.0 * root * (square - w[144 + i]) - w[160 + i]
            w[ROOT + i] = root - p / (slope + TINY)
            off += 1 if p > 3e-15 * square * square else 0
        if off == 0:
            break


@jit
def rotate_block(w):
    """R in place of F; the root and the invariants are those of ``stretch_block``."""
    for i in range(16):
        f = take(w, i)
        c = right_cauchy_green(f)
        a, b, g = rotation_weights(w[ROOT + i], w[144 + i], w[160 + i])
        r = combine(f, c, a, b, g)
        put(w, i, r)
