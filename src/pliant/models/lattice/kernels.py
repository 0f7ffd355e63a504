"""Compiled loops over elements and connections: strains, breaking."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.jit import SERIAL_ROWS, jit, prange, twin


@twin
def _strains(first, other, which, lengths, intact, reference, inverse, x, out):
    """Strain (xx, yy, zz, yz, xz, xy) of elements in the axes of ``reference``.

    Least squares over an element's connections: ``q . e = (l - L) / L`` with q made of the connection's
    direction in the reference; ``inverse`` (n, 36) holds the normal equations' inverse.
    """
    for i in prange(x.shape[0]):
        s0 = s1 = s2 = s3 = s4 = s5 = 0.0
        for k in range(first[i], first[i + 1]):
            c = which[k]
            if not intact[c]:
                continue
            j = other[k]
            dx = x[j, 0] - x[i, 0]
            dy = x[j, 1] - x[i, 1]
            dz = x[j, 2] - x[i, 2]
            e = np.sqrt(dx * dx + dy * dy + dz * dz) / lengths[c] - 1.0
            nx = reference[j, 0] - reference[i, 0]
            ny = reference[j, 1] - reference[i, 1]
            nz = reference[j, 2] - reference[i, 2]
            e /= nx * nx + ny * ny + nz * nz
            s0 += e * nx * nx
            s1 += e * ny * ny
            s2 += e * nz * nz
            s3 += e * 2.0 * ny * nz
            s4 += e * 2.0 * nx * nz
            s5 += e * 2.0 * nx * ny
        for r in range(6):
            m = inverse[i]
            out[i, r] = (
                m[6 * r] * s0
                + m[6 * r + 1] * s1
                + m[6 * r + 2] * s2
                + m[6 * r + 3] * s3
                + m[6 * r + 4] * s4
                + m[6 * r + 5] * s5
            )


def element_strains(
    table: tuple[IntArray, IntArray, IntArray], lengths: Array, intact: BoolArray, reference: Array,
    inverse: Array, x: Array,
) -> Array:  # fmt: skip
    """Strains (n, 6) of all elements; ``table`` lists connections by element (first, other end, which)."""
    out = np.empty((len(x), 6))
    _strains[len(x) >= SERIAL_ROWS](*table, lengths, intact, reference, inverse, x, out)
    return out


@jit
def element_largest_stress(strain, lam, mu, out):
    """Largest principal value of ``2 mu e + lambda tr e`` (n,), in closed form."""
    for i in range(strain.shape[0]):
        xx, yy, zz = strain[i, 0], strain[i, 1], strain[i, 2]
        yz, xz, xy = strain[i, 3], strain[i, 4], strain[i, 5]
        trace = xx + yy + zz
        m = trace / 3.0
        a, b, c = xx - m, yy - m, zz - m
        p = np.sqrt((a * a + b * b + c * c + 2.0 * (xy * xy + xz * xz + yz * yz)) / 6.0)
        top = m
        if p > 1e-300:
            det = (a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz)) / (p * p * p)
            r = min(max(0.5 * det, -1.0), 1.0)
            top = m + 2.0 * p * np.cos(np.arccos(r) / 3.0)
        out[i] = 2.0 * mu * top + lam * trace


@jit
def connection_overstretched(edges, intact, limit, x, out):
    """Which connections are longer than ``limit`` (m,) [m]; returns how many."""
    found = 0
    for c in range(edges.shape[0]):
        out[c] = False
        if intact[c]:
            i, j = edges[c, 0], edges[c, 1]
            square = (x[j, 0] - x[i, 0]) ** 2 + (x[j, 1] - x[i, 1]) ** 2 + (x[j, 2] - x[i, 2]) ** 2
            if square > limit[c] * limit[c]:
                out[c] = True
                found += 1
    return found
