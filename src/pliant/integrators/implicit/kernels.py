"""Compiled vector work of the implicit solvers; every sum has a fixed order, whatever the threads."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit


@jit
def dot(a, b):
    """``a . b`` of flat arrays, in eight running sums."""
    n = a.shape[0]
    whole = n - n % 8
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    for i in range(0, whole, 8):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
        s4 += a[i + 4] * b[i + 4]
        s5 += a[i + 5] * b[i + 5]
        s6 += a[i + 6] * b[i + 6]
        s7 += a[i + 7] * b[i + 7]
    for i in range(whole, n):
        s0 += a[i] * b[i]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@jit
def residual(x, y, f, mass, w, inertia, scale, out):
    """``out = inertia m (x - y) - scale f`` on free degrees of freedom (w > 0), else 0; returns (|out|^2, the
    sum of f^2 on the driven ones)."""
    total = 0.0
    held = 0.0
    for i in range(x.shape[0]):
        m = inertia * mass[i]
        for c in range(3):
            if w[i, c] == 0.0:
                out[i, c] = 0.0
                held += f[i, c] * f[i, c]
            else:
                g = m * (x[i, c] - y[i, c]) - scale * f[i, c]
                out[i, c] = g
                total += g * g
    return total, held


@jit
def free_norm(f, w):
    """Euclidean norm of f over the free degrees of freedom."""
    total = 0.0
    for i in range(f.shape[0]):
        for c in range(3):
            if w[i, c] != 0.0:
                total += f[i, c] * f[i, c]
    return np.sqrt(total)


@jit
def inertia_energy(x, y, mass, w):
    """``sum m |x - y|^2 / 2`` over the free degrees of freedom."""
    total = 0.0
    for i in range(x.shape[0]):
        for c in range(3):
            if w[i, c] != 0.0:
                d = x[i, c] - y[i, c]
                total += mass[i] * d * d
    return 0.5 * total


@jit
def move(x, p, a, out):
    """``out = x + a p`` of flat arrays."""
    for i in range(x.shape[0]):
        out[i] = x[i] + a * p[i]


@jit
def stage_velocity(x, base, w, h, known, out):
    """``out = (x - base) / h`` on free degrees of freedom, the known velocity on driven ones."""
    for i in range(x.shape[0]):
        for c in range(3):
            out[i, c] = (x[i, c] - base[i, c]) / h if w[i, c] != 0.0 else known[i, c]


@jit
def history_down(q, s, y, rho, first, count, alpha):
    """First loop of the two-loop recursion on flat q, newest pair first; slots are a ring from ``first``."""
    size = s.shape[0]
    for k in range(count - 1, -1, -1):
        j = (first + k) % size
        a = rho[j] * dot(s[j], q)
        alpha[j] = a
        row = y[j]
        for i in range(q.shape[0]):
            q[i] -= a * row[i]


@jit
def history_up(p, s, y, rho, first, count, alpha):
    """Second loop: oldest pair first."""
    size = s.shape[0]
    for k in range(count):
        j = (first + k) % size
        b = alpha[j] - rho[j] * dot(y[j], p)
        row = s[j]
        for i in range(p.shape[0]):
            p[i] += b * row[i]


@jit
def pair(x, moved, g, changed, s, y):
    """``s = moved - x``, ``y = changed - g`` (flat); returns s . y."""
    for i in range(x.shape[0]):
        s[i] = moved[i] - x[i]
        y[i] = changed[i] - g[i]
    return dot(s, y)


@jit
def rotate_to_rest(g, rotations, place, factor, out):
    """``out[place] = factor R^T g``, (n, 3) into a flat float32 vector with node i at ``place[i]``."""
    for i in range(g.shape[0]):
        r = rotations[i]
        a = factor * g[i, 0]
        b = factor * g[i, 1]
        c = factor * g[i, 2]
        k = place[i]
        out[k] = r[0, 0] * a + r[1, 0] * b + r[2, 0] * c
        out[k + 1] = r[0, 1] * a + r[1, 1] * b + r[2, 1] * c
        out[k + 2] = r[0, 2] * a + r[1, 2] * b + r[2, 2] * c


@jit
def rotate_from_rest(z, rotations, place, factor, w, out):
    """``out = factor R z[place]`` on free degrees of freedom, else 0."""
    for i in range(out.shape[0]):
        r = rotations[i]
        k = place[i]
        a = np.float64(z[k])
        b = np.float64(z[k + 1])
        c = np.float64(z[k + 2])
        for d in range(3):
            value = factor * (r[d, 0] * a + r[d, 1] * b + r[d, 2] * c)
            out[i, d] = value if w[i, d] != 0.0 else 0.0


@jit
def rotate(rotations, g):
    """``g = R g`` in place, row by row."""
    for i in range(g.shape[0]):
        r = rotations[i]
        a, b, c = g[i, 0], g[i, 1], g[i, 2]
        for d in range(3):
            g[i, d] = r[d, 0] * a + r[d, 1] * b + r[d, 2] * c
