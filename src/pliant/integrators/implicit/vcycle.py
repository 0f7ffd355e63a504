"""Compiled two-level cycle on 3x3 block rows, in single precision.

Each sweep writes its row out: a function called for a row made the sweeps take 1.2 to 1.4 times as long.
"""

# mypy: disable-error-code="no-untyped-def"

from pliant.kernels.jit import jit


@jit
def forward_sweep(starts, columns, blocks, diagonal, inverse, b, x):
    """Gauss-Seidel from x = 0, first row to last: ``(L + D) x = b``."""
    for i in range(inverse.shape[0]):
        k3 = 3 * i
        r0 = b[k3]
        r1 = b[k3 + 1]
        r2 = b[k3 + 2]
        for k in range(starts[i], diagonal[i]):
            j = columns[k]
            a = blocks[k]
            x0 = x[j]
            x1 = x[j + 1]
            x2 = x[j + 2]
            r0 -= a[0] * x0 + a[1] * x1 + a[2] * x2
            r1 -= a[3] * x0 + a[4] * x1 + a[5] * x2
            r2 -= a[6] * x0 + a[7] * x1 + a[8] * x2
        d = inverse[i]
        x[k3] = d[0] * r0 + d[1] * r1 + d[2] * r2
        x[k3 + 1] = d[3] * r0 + d[4] * r1 + d[5] * r2
        x[k3 + 2] = d[6] * r0 + d[7] * r1 + d[8] * r2


@jit
def remainder(starts, columns, blocks, diagonal, x, r):
    """Residual after a forward sweep from zero, ``r = -U x``: only the part above the diagonal is left."""
    for i in range(diagonal.shape[0]):
        k3 = 3 * i
        r0 = x.dtype.type(0.0)
        r1 = r0
        r2 = r0
        for k in range(diagonal[i] + 1, starts[i + 1]):
            j = columns[k]
            a = blocks[k]
            x0 = x[j]
            x1 = x[j + 1]
            x2 = x[j + 2]
            r0 -= a[0] * x0 + a[1] * x1 + a[2] * x2
            r1 -= a[3] * x0 + a[4] * x1 + a[5] * x2
            r2 -= a[6] * x0 + a[7] * x1 + a[8] * x2
        r[k3] = r0
        r[k3 + 1] = r1
        r[k3 + 2] = r2


@jit
def backward_sweep(starts, columns, blocks, inverse, b, x):
    """Gauss-Seidel from last row to first, on the present x.

    The rows lie in the order of their use, without diagonal blocks; in each, what was just computed is last.
    """
    n = inverse.shape[0]
    for m in range(n):
        i = n - 1 - m
        k3 = 3 * i
        r0 = b[k3]
        r1 = b[k3 + 1]
        r2 = b[k3 + 2]
        for k in range(starts[m], starts[m + 1]):
            j = columns[k]
            a = blocks[k]
            x0 = x[j]
            x1 = x[j + 1]
            x2 = x[j + 2]
            r0 -= a[0] * x0 + a[1] * x1 + a[2] * x2
            r1 -= a[3] * x0 + a[4] * x1 + a[5] * x2
            r2 -= a[6] * x0 + a[7] * x1 + a[8] * x2
        d = inverse[i]
        x[k3] = d[0] * r0 + d[1] * r1 + d[2] * r2
        x[k3 + 1] = d[3] * r0 + d[4] * r1 + d[5] * r2
        x[k3 + 2] = d[6] * r0 + d[7] * r1 + d[8] * r2


@jit
def restrict(starts, columns, blocks, r, coarse):
    """``coarse += P^T r`` with 3x6 blocks; ``columns`` are places in the coarse vector."""
    for i in range(starts.shape[0] - 1):
        r0 = r[3 * i]
        r1 = r[3 * i + 1]
        r2 = r[3 * i + 2]
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            a = blocks[k]
            for c in range(6):
                coarse[j + c] += a[c] * r0 + a[6 + c] * r1 + a[12 + c] * r2


@jit
def prolong(starts, columns, blocks, coarse, x):
    """``x += P coarse``."""
    for i in range(starts.shape[0] - 1):
        s0 = x[3 * i]
        s1 = x[3 * i + 1]
        s2 = x[3 * i + 2]
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            a = blocks[k]
            for c in range(6):
                z = coarse[j + c]
                s0 += a[c] * z
                s1 += a[6 + c] * z
                s2 += a[12 + c] * z
        x[3 * i] = s0
        x[3 * i + 1] = s1
        x[3 * i + 2] = s2
