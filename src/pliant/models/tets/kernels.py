"""Pieces of compiled loops over tetrahedra: gather, deformation, rotation, scatter.

A block is 16 tets (``element_blocks.py``). Its scratch ``w`` is flat, one column of 16 lanes per quantity, so
that loops over the lanes become packed instructions: ``w[16 * c + i]``. Columns 0 to 8 hold the edges, then F
row by row, then the forces on corners 1 to 3; columns 9 to 12 hold the invariants and the root below. A rest
row holds ``D_m^-1`` row by row in its columns 0 to 8. Functions marked ``inlined`` are written into their
caller: called ones would keep its loop from being packed.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import inlined, jit
from pliant.kernels.tensors import SWEEPS, TINY, combine, quartic, right_cauchy_green, rotation_weights

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


@jit
def deform_block(w, row):
    """F into the columns 0 to 8, in place of the edges."""
    for i in range(16):
        f = deform(w, row, i)
        put(w, i, f)


@jit
def stretch_block(w):
    """``tensors.stretch_root`` of each F in a block, all lanes at once: two or three sweeps do near rest."""
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
