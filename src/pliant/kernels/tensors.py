"""Scalar functions of vectors and 3x3 matrices for compiled loops: products, invariants, the nearest
rotation, eigenvalues.

Vectors are tuples of three numbers; matrices of nine, row by row; symmetric ones of six, xx, yy, zz, yz, xz,
xy. Most are written into their caller (``inlined``): a call would keep its loop from being packed.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.kernels.jit import inlined, jit

TINY = 1e-300  # keeps empty lanes (padding) from dividing by zero
SWEEPS = 60


@inlined
def lane(w, k):
    """The vector (3) whose components lie in three rows of 16 lanes, the first at ``w[k]``."""
    return w[k], w[k + 16], w[k + 32]


@inlined
def put_lane(w, k, a):
    """Write the vector a (3) to where ``lane`` reads it."""
    w[k], w[k + 16], w[k + 32] = a


@inlined
def add_lane(w, k, a):
    """Add the vector a (3) to the one in lane k."""
    ax, ay, az = a
    w[k] += ax
    w[k + 16] += ay
    w[k + 32] += az


@inlined
def scaled(s, a):
    """``s a`` of a vector (3)."""
    ax, ay, az = a
    return s * ax, s * ay, s * az


@inlined
def plus(a, b):
    """The sum of two vectors (3)."""
    ax, ay, az = a
    bx, by, bz = b
    return ax + bx, ay + by, az + bz


@inlined
def minus(a, b):
    """The difference of two vectors (3)."""
    ax, ay, az = a
    bx, by, bz = b
    return ax - bx, ay - by, az - bz


@inlined
def dot(a, b):
    """The inner product of two vectors (3)."""
    ax, ay, az = a
    bx, by, bz = b
    return ax * bx + ay * by + az * bz


@inlined
def cross(a, b):
    """The cross product of two vectors (3)."""
    ax, ay, az = a
    bx, by, bz = b
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


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
def times_symmetric(a, s):
    """``a s`` of a matrix (9) and a symmetric one as xx, yy, zz, yz, xz, xy."""
    s00, s11, s22, s12, s02, s01 = s
    return times(a, (s00, s01, s02, s01, s11, s12, s02, s12, s22))


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
def stretch_root(first, j8, last):
    r"""The sum of the signed principal stretches, :math:`\lambda = tr(R^T F)`, from the coefficients of its
    ``quartic``.

    R is the rotation (determinant +1, also where F is inverted) that is nearest to F. The sum is the largest
    root of

    .. math:: \lambda^4 - 2 I_1 \lambda^2 - 8 J \lambda + 2 I_2 - I_1^2, \quad
              I_1 = tr\,C,\; I_2 = tr\,C^2,\; C = F^T F,\; J = \det F,

    and its derivative is R itself, :math:`R (\lambda^3 - I_1 \lambda - 2 J) = (\lambda^2 + I_1) F - 2 F C
    + 2 \lambda\,cof F`. Newton's iteration from :math:`\sqrt{3 I_1}` falls onto that root from above.

    Source: [LinChitaluKomura2022]_. Differs: the root by iteration instead of a formula with trigonometric
    functions, so that a loop over a block of tets is packed (``models/tets/kernels.stretch_block``).
    """
    root = np.sqrt(3.0 * first)
    for _ in range(SWEEPS):
        square = root * root
        p = (square - 2.0 * first) * square - j8 * root + last
        slope = 4.0 * root * (square - first) - j8
        root = root - p / (slope + TINY)
        if not p > 3e-15 * square * square:
            break
    return root


@jit
def stretch(f, c):
    """(root, I1, 8 J): what ``rotation_weights`` takes, of F and C."""
    first, j8, last = quartic(f, c)
    return stretch_root(first, j8, last), first, j8


@jit
def rotation(f):
    """The rotation nearest to F (determinant +1)."""
    c = right_cauchy_green(f)
    root, first, j8 = stretch(f, c)
    a, b, g = rotation_weights(root, first, j8)
    return combine(f, c, a, b, g)


@inlined
def norm(e):
    """Frobenius norm of a symmetric tensor (6)."""
    e0, e1, e2, e3, e4, e5 = e
    return np.sqrt(e0 * e0 + e1 * e1 + e2 * e2 + 2.0 * (e3 * e3 + e4 * e4 + e5 * e5))


@inlined
def _jacobi(p, q, pq):
    """(t, cos, sin) of the rotation that makes the entry ``pq`` beside the diagonal entries p and q zero."""
    if pq == 0.0:
        t, c, s = 0.0, 1.0, 0.0
    else:
        half = 0.5 * (q - p) / pq
        t = 1.0 / (abs(half) + np.sqrt(half * half + 1.0))
        t = -t if half < 0.0 else t
        c = 1.0 / np.sqrt(t * t + 1.0)
        s = t * c
    return t, c, s


@jit
def symmetric_eigen(m):
    """Jacobi's rotations until the matrix m (xx, yy, zz, yz, xz, xy) is diagonal; returns its eigenvalues
    (3), ascending, and the eigenvectors (9) as columns of a matrix, row by row."""
    a00, a11, a22, a12, a02, a01 = m
    x0, x1, x2 = 1.0, 0.0, 0.0
    y0, y1, y2 = 0.0, 1.0, 0.0
    z0, z1, z2 = 0.0, 0.0, 1.0
    for _ in range(12):
        if abs(a01) + abs(a02) + abs(a12) <= 1e-16 * (abs(a00) + abs(a11) + abs(a22)):
            break
        t, c, s = _jacobi(a00, a11, a01)
        a00, a11, a01 = a00 - t * a01, a11 + t * a01, 0.0
        a02, a12 = c * a02 - s * a12, s * a02 + c * a12
        x0, y0 = c * x0 - s * y0, s * x0 + c * y0
        x1, y1 = c * x1 - s * y1, s * x1 + c * y1
        x2, y2 = c * x2 - s * y2, s * x2 + c * y2
        t, c, s = _jacobi(a00, a22, a02)
        a00, a22, a02 = a00 - t * a02, a22 + t * a02, 0.0
        a01, a12 = c * a01 - s * a12, s * a01 + c * a12
        x0, z0 = c * x0 - s * z0, s * x0 + c * z0
        x1, z1 = c * x1 - s * z1, s * x1 + c * z1
        x2, z2 = c * x2 - s * z2, s * x2 + c * z2
        t, c, s = _jacobi(a11, a22, a12)
        a11, a22, a12 = a11 - t * a12, a22 + t * a12, 0.0
        a01, a02 = c * a01 - s * a02, s * a01 + c * a02
        y0, z0 = c * y0 - s * z0, s * y0 + c * z0
        y1, z1 = c * y1 - s * z1, s * y1 + c * z1
        y2, z2 = c * y2 - s * z2, s * y2 + c * z2
    if a00 > a11:
        a00, a11, x0, y0, x1, y1, x2, y2 = a11, a00, y0, x0, y1, x1, y2, x2
    if a11 > a22:
        a11, a22, y0, z0, y1, z1, y2, z2 = a22, a11, z0, y0, z1, y1, z2, y2
    if a00 > a11:
        a00, a11, x0, y0, x1, y1, x2, y2 = a11, a00, y0, x0, y1, x1, y2, x2
    return (a00, a11, a22), (x0, y0, z0, x1, y1, z1, x2, y2, z2)
