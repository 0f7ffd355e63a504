r"""Compiled plastic flow of lattice elements: a plastic deformation :math:`F_p` each, with determinant one.

F is the least-squares deformation of an element's connections (weights 1/L^2); with
:math:`F_e = F F_p^{-1}`, :math:`e = \tfrac12 \log F_e^T F_e` and
:math:`q = 2 \mu \sqrt{\tfrac32\,dev\,e : dev\,e}`, :math:`F_p` becomes
:math:`\exp(s\,(1 - yield/q)\,dev\,e)\,F_p` where q exceeds the yield stress.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import SERIAL_ROWS, jit, prange, twin


@jit
def _times(a, b, out):
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@jit
def _inverse(a, out):
    """The inverse of a (3, 3) into ``out``; returns the determinant (0: there is none)."""
    c0 = a[1, 1] * a[2, 2] - a[1, 2] * a[2, 1]
    c1 = a[1, 2] * a[2, 0] - a[1, 0] * a[2, 2]
    c2 = a[1, 0] * a[2, 1] - a[1, 1] * a[2, 0]
    det = a[0, 0] * c0 + a[0, 1] * c1 + a[0, 2] * c2
    if det == 0.0:
        return 0.0
    r = 1.0 / det
    out[0, 0], out[1, 0], out[2, 0] = r * c0, r * c1, r * c2
    out[0, 1] = r * (a[0, 2] * a[2, 1] - a[0, 1] * a[2, 2])
    out[1, 1] = r * (a[0, 0] * a[2, 2] - a[0, 2] * a[2, 0])
    out[2, 1] = r * (a[0, 1] * a[2, 0] - a[0, 0] * a[2, 1])
    out[0, 2] = r * (a[0, 1] * a[1, 2] - a[0, 2] * a[1, 1])
    out[1, 2] = r * (a[0, 2] * a[1, 0] - a[0, 0] * a[1, 2])
    out[2, 2] = r * (a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0])
    return det


@jit
def _hencky(c, e, w):
    """``log(C) / 2`` by the Padé approximant ``3 A (2 + A) (6 + 6 A + A^2)^-1`` of log(1 + A), into e; w is
    scratch (3, 3, 3). Its error is below 1e-4 for strains up to 0.2."""
    a, square, inverse = w[0], w[1], w[2]
    for i in range(3):
        for j in range(3):
            a[i, j] = c[i, j] - (1.0 if i == j else 0.0)
    _times(a, a, square)
    for i in range(3):
        for j in range(3):
            e[i, j] = 6.0 * a[i, j] + square[i, j] + (6.0 if i == j else 0.0)
            square[i, j] = 3.0 * (2.0 * a[i, j] + square[i, j])
    if _inverse(e, inverse) == 0.0:
        e[:] = 0.0
        return
    _times(square, inverse, e)
    for i in range(3):
        for j in range(3):
            e[i, j] *= 0.5


@jit
def _mises(e):
    """``sqrt(3/2 dev e : dev e)``; e becomes its deviator."""
    mean = (e[0, 0] + e[1, 1] + e[2, 2]) / 3.0
    total = 0.0
    for i in range(3):
        e[i, i] -= mean
        for j in range(3):
            total += e[i, j] * e[i, j]
    return np.sqrt(1.5 * total)


@jit
def element_deformation(i, first, other, which, bearing, reference, x, f, w):
    """The least-squares deformation of element i into f; False where its connections do not span space."""
    a, b, inverse = w[0], w[1], w[2]
    a[:] = 0.0
    b[:] = 0.0
    d, u = np.empty(3), np.empty(3)
    for k in range(first[i], first[i + 1]):
        if not bearing[which[k]]:
            continue
        j = other[k]
        square = 0.0
        for c in range(3):
            d[c] = reference[j, c] - reference[i, c]
            u[c] = x[j, c] - x[i, c]
            square += d[c] * d[c]
        for c in range(3):
            for e in range(3):
                a[c, e] += d[c] * d[e] / square
                b[c, e] += u[c] * d[e] / square
    mean = (a[0, 0] + a[1, 1] + a[2, 2]) / 3.0
    det = _inverse(a, inverse)
    if det <= 1e-6 * mean * mean * mean:
        return False
    _times(b, inverse, f)
    return True


@twin
def element_flow(first, other, which, bearing, reference, x, shear, yield_, share, most, plastic, changed):
    """Let the plastic deformations ``plastic`` (n, 3, 3) follow; ``changed`` (n,): where they did."""
    for p in prange((x.shape[0] + 63) // 64):
        f, e, fe = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
        w, new = np.empty((3, 3, 3)), np.empty((3, 3))
        for i in range(64 * p, min(64 * (p + 1), x.shape[0])):
            changed[i] = False
            if not element_deformation(i, first, other, which, bearing, reference, x, f, w):
                continue
            own = plastic[i]
            _inverse(own, e)
            _times(f, e, fe)
            for r in range(3):
                for c in range(3):
                    new[r, c] = fe[0, r] * fe[0, c] + fe[1, r] * fe[1, c] + fe[2, r] * fe[2, c]
            _hencky(new, e, w)
            q = 2.0 * shear * _mises(e)
            if not q > yield_:
                continue
            s = share * (1.0 - yield_ / q)
            for r in range(3):
                for c in range(3):
                    e[r, c] *= s
            _times(e, e, w[0])
            _times(e, w[0], w[1])
            for r in range(3):
                for c in range(3):
                    one = 1.0 if r == c else 0.0
                    f[r, c] = one + e[r, c] + 0.5 * w[0, r, c] + w[1, r, c] / 6.0
            _times(f, own, new)
            det = _inverse(new, f)
            if not det > 0.0:
                continue
            scale = 1.0 / np.cbrt(det)
            for r in range(3):
                for c in range(3):
                    new[r, c] *= scale
            if most > 0.0 and _too_large(new, own, most, e, fe, w):
                continue
            for r in range(3):
                for c in range(3):
                    own[r, c] = new[r, c]
            changed[i] = True


@jit
def _too_large(new, old, most, e, c, w):
    """Whether a plastic deformation has an equivalent strain above ``most``, and a larger one than before."""
    sizes = np.empty(2)
    for k in range(2):
        f = new if k == 0 else old
        for i in range(3):
            for j in range(3):
                c[i, j] = f[0, i] * f[0, j] + f[1, i] * f[1, j] + f[2, i] * f[2, j]
        _hencky(c, e, w)
        sizes[k] = 2.0 / 3.0 * _mises(e)
    return sizes[0] > most and sizes[0] > sizes[1]


@jit
def connection_flow(edges, reference, born, plastic, changed, bearing, row, lane, rest, stiffness, x):
    """Give the connections of ``changed`` elements the rest lengths :math:`L = L_0 |\\bar F_p D| / |D|`, with
    the mean of their ends' plastic deformations, and stiffnesses that go with L^-4. Returns the energy [J]
    that they store less at ``x``."""
    heat = 0.0
    for c in range(edges.shape[0]):
        i, j = edges[c, 0], edges[c, 1]
        if not bearing[c] or not (changed[i] or changed[j]):
            continue
        square, stretched, now = 0.0, 0.0, 0.0
        for r in range(3):
            total = 0.0
            for k in range(3):
                total += 0.5 * (plastic[i, r, k] + plastic[j, r, k]) * (reference[j, k] - reference[i, k])
            stretched += total * total
            square += (reference[j, r] - reference[i, r]) ** 2
            now += (x[j, r] - x[i, r]) ** 2
        now = np.sqrt(now)
        old, k0 = rest[row[c], lane[c]], stiffness[c]
        new = born[c] * np.sqrt(stretched / square)
        k1 = k0 * (old / new) ** 4
        heat += 0.5 * k0 * (now - old) ** 2 - 0.5 * k1 * (now - new) ** 2
        rest[row[c], lane[c]] = new
        rest[row[c], 32 + lane[c]] = k1
        stiffness[c] = k1
    return heat


PARALLEL_ROWS = SERIAL_ROWS // 4
