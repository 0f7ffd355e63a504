"""Eigenvalues and eigenvectors of symmetric 3x3 matrices, compiled."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.kernels.jit import inlined, jit


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
