"""Eigenvalues and eigenvectors of symmetric 3x3 matrices, compiled."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit


@jit
def symmetric_eigen(c00, c11, c22, c12, c02, c01, values, vectors):
    """Jacobi's rotations until the matrix is diagonal; values ascending (3,), vectors in columns (3, 3)."""
    a = np.empty((3, 3))
    a[0, 0], a[1, 1], a[2, 2] = c00, c11, c22
    a[1, 2], a[0, 2], a[0, 1] = c12, c02, c01
    for i in range(3):
        for j in range(3):
            vectors[i, j] = 1.0 if i == j else 0.0
    for _ in range(12):
        off = abs(a[0, 1]) + abs(a[0, 2]) + abs(a[1, 2])
        if off <= 1e-16 * (abs(a[0, 0]) + abs(a[1, 1]) + abs(a[2, 2])):
            break
        for p in range(2):
            for q in range(p + 1, 3):
                if a[p, q] == 0.0:
                    continue
                half = 0.5 * (a[q, q] - a[p, p]) / a[p, q]
                t = 1.0 / (abs(half) + np.sqrt(half * half + 1.0))
                t = -t if half < 0.0 else t
                c = 1.0 / np.sqrt(t * t + 1.0)
                s = t * c
                a[p, p] -= t * a[p, q]
                a[q, q] += t * a[p, q]
                a[p, q] = 0.0
                k = 3 - p - q  # the third axis
                kp, kq = (min(k, p), max(k, p)), (min(k, q), max(k, q))
                x, y = a[kp[0], kp[1]], a[kq[0], kq[1]]
                a[kp[0], kp[1]] = c * x - s * y
                a[kq[0], kq[1]] = s * x + c * y
                for i in range(3):
                    x, y = vectors[i, p], vectors[i, q]
                    vectors[i, p] = c * x - s * y
                    vectors[i, q] = s * x + c * y
    for i in range(3):
        values[i] = a[i, i]
    for i in range(2):  # ascending
        for j in range(2 - i):
            if values[j] > values[j + 1]:
                values[j], values[j + 1] = values[j + 1], values[j]
                for k in range(3):
                    vectors[k, j], vectors[k, j + 1] = vectors[k, j + 1], vectors[k, j]
