r"""Products of the fem model's stiffness with a displacement, without a matrix.

All have the form :math:`df = -\sum V\,A\,(C : sym(A^T dF))\,D_m^{-T}`: symmetric and positive semi-definite
for any A, and the exact linear stiffness at rest, where A = 1.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit, prange, twin
from pliant.kernels.tensors import TINY, rotated, unrotated
from pliant.materials.constitutive.anisotropic import hooke, isotropic_hooke
from pliant.materials.constitutive.gram_schmidt import orthonormal_columns
from pliant.models.fem.law_blocks import LAMBDA, MU, STIFFNESS, stiffness_of
from pliant.models.tets.kernels import (
    SCRATCH,
    deform,
    deform_block,
    gather_edges,
    put,
    rotate_block,
    scatter_forces,
    spread,
    stretch_block,
    take,
)

FRAME = 16 * 9  # where the frame A is kept while the columns 0 to 8 hold dF
STRETCHED, POLAR, ORTHONORMAL = 0, 1, 2


@jit
def _scaled_block(w):
    """A = F / sqrt(|F|^2 / 3)."""
    for i in range(16):
        f00, f01, f02, f10, f11, f12, f20, f21, f22 = take(w, i)
        square = f00 * f00 + f01 * f01 + f02 * f02 + f10 * f10 + f11 * f11 + f12 * f12
        s = np.sqrt(3.0 / (square + f20 * f20 + f21 * f21 + f22 * f22 + TINY))
        put(w, i, (s * f00, s * f01, s * f02, s * f10, s * f11, s * f12, s * f20, s * f21, s * f22))


@jit
def _orthonormal_block(w):
    for i in range(16):
        f = take(w, i)
        r = orthonormal_columns(f)
        put(w, i, r)


@jit
def frame_block(w, frame):
    if frame == STRETCHED:
        _scaled_block(w)
    elif frame == POLAR:
        stretch_block(w)
        rotate_block(w)
    else:
        _orthonormal_block(w)
    for k in range(144):
        w[FRAME + k] = w[k]


@jit
def isotropic_block(w, row):
    for i in range(16):
        d = deform(w, row, i)
        a = take(w, FRAME + i)
        t = isotropic_hooke(row[MU + i], row[LAMBDA + i], unrotated(a, d))
        p = rotated(a, t, 0.0, 0.0, 0.0)
        spread(w, row, i, p)


@jit
def general_block(w, row):
    for i in range(16):
        d = deform(w, row, i)
        a = take(w, FRAME + i)
        e0, e1, e2, e3, e4, e5 = unrotated(a, d)
        t = hooke(stiffness_of(row, i), (e0, e1, e2, 2.0 * e3, 2.0 * e4, 2.0 * e5))
        p = rotated(a, t, 0.0, 0.0, 0.0)
        spread(w, row, i, p)


@jit
def _product_blocks(first, last, index, rest, frame, x, dx, buffer, shift, w):
    general = rest.shape[1] > STIFFNESS
    for b in range(first, last):
        row = rest[b]
        gather_edges(index[b], x, w, 0)
        deform_block(w, row)
        frame_block(w, frame)
        gather_edges(index[b], dx, w, 0)
        if general:
            general_block(w, row)
        else:
            isotropic_block(w, row)
        scatter_forces(index[b], w, buffer, shift)


@twin
def tet_stiffness_product(starts, low, offset, index, rest, frame, x, dx, buffer):
    r"""Minus the product with ``dx`` (n, 3), into the buffers.

    frame: POLAR or ORTHONORMAL (Gram-Schmidt) take A = R, the warped stiffness of [Cairns2012]_ (3.11);
    STRETCHED takes :math:`A = F / \sqrt{|F|^2 / 3}`, which leaves no torque: it serves damping.
    """
    for p in prange(low.shape[0]):
        shift, w = offset[p] - low[p], np.empty(SCRATCH)
        _product_blocks(starts[p], starts[p + 1], index, rest, frame, x, dx, buffer, shift, w)
