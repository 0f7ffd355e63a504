r"""Compiled forces of energy-momentum steps of springs and volumetric terms.

A spring between :math:`d_0` and :math:`d_1`, with lengths :math:`l_0` and :math:`l_1`, pulls with

.. math:: f = k \Bigl(\frac{l_0 + l_1}2 - L\Bigr)\,\frac{d_0 + d_1}{l_0 + l_1},

which does the work :math:`\tfrac k2 (l_1 - L)^2 - \tfrac k2 (l_0 - L)^2` over the step and acts along the
mean of its ends, so that it has no moment [SimoTarnow1992]_. A tet has the mean of its two pressures on the
discrete gradient of its volume (``volume_gradient``).
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit, prange, twin
from pliant.kernels.tensors import determinant, transposed
from pliant.materials.constitutive.discrete_gradient import volume_gradient
from pliant.models.springs.kernels import TINY, shift_of
from pliant.models.tets.kernels import SCRATCH, gather_edges, scatter_forces, take


@jit
def _spring_blocks(first, last, index, rest, x0, x1, buffer, shift):
    for b in range(first, last):
        nodes = index[b]
        row = rest[b]
        for e in range(2):
            for i in range(16):
                p, q = nodes[i, 0], nodes[i, 1 + e]
                a0, a1, a2 = x0[q, 0] - x0[p, 0], x0[q, 1] - x0[p, 1], x0[q, 2] - x0[p, 2]
                b0, b1, b2 = x1[q, 0] - x1[p, 0], x1[q, 1] - x1[p, 1], x1[q, 2] - x1[p, 2]
                total = np.sqrt(a0 * a0 + a1 * a1 + a2 * a2) + np.sqrt(b0 * b0 + b1 * b1 + b2 * b2)
                s = row[32 + 16 * e + i] * (0.5 - row[16 * e + i] / (total + TINY))
                f0, f1, f2 = s * (a0 + b0), s * (a1 + b1), s * (a2 + b2)
                u, w = np.uint64(p) + shift, np.uint64(q) + shift
                buffer[u, 0] += f0
                buffer[u, 1] += f1
                buffer[u, 2] += f2
                buffer[w, 0] -= f0
                buffer[w, 1] -= f1
                buffer[w, 2] -= f2


@twin
def spring_forces_between(starts, low, offset, index, rest, x0, x1, buffer):
    """Forces of the springs in a step from ``x0`` to ``x1`` into the buffers."""
    for p in prange(low.shape[0]):
        shift = shift_of(low, offset, np.int64(p))
        _spring_blocks(starts[p], starts[p + 1], index, rest, x0, x1, buffer, shift)


@jit
def _volume_blocks(first, last, index, rest, x0, x1, buffer, shift, w0, w1):
    """``rest``: six times the volumes, then the stiffness against volume over 36. Volumes are scaled by the
    rest volume, so that ``volume_gradient`` sees a matrix whose determinant is about one."""
    for b in range(first, last):
        row = rest[b]
        gather_edges(index[b], x0, w0, 0)
        gather_edges(index[b], x1, w1, 0)
        for i in range(16):
            six = row[i]
            unit = 1.0 / np.cbrt(six) if six > 0.0 else 0.0
            d0, d1 = transposed(take(w0, i)), transposed(take(w1, i))
            d0 = (
                unit * d0[0], unit * d0[1], unit * d0[2], unit * d0[3], unit * d0[4], unit * d0[5],
                unit * d0[6], unit * d0[7], unit * d0[8],
            )  # fmt: skip
            d1 = (
                unit * d1[0], unit * d1[1], unit * d1[2], unit * d1[3], unit * d1[4], unit * d1[5],
                unit * d1[6], unit * d1[7], unit * d1[8],
            )  # fmt: skip
            s = -row[16 + i] * six * six * unit * (0.5 * (determinant(d0) + determinant(d1)) - 1.0)
            z = volume_gradient(d0, d1)
            for corner in range(3):
                for c in range(3):
                    w1[48 * corner + 16 * c + i] = s * z[3 * c + corner]
        scatter_forces(index[b], w1, buffer, shift)


@twin
def volume_forces_between(starts, low, offset, index, rest, x0, x1, buffer):
    """Forces of the tets' volumetric terms in a step from ``x0`` to ``x1`` into the buffers."""
    for p in prange(low.shape[0]):
        w0, w1, shift = np.empty(SCRATCH), np.empty(SCRATCH), offset[p] - low[p]
        _volume_blocks(starts[p], starts[p + 1], index, rest, x0, x1, buffer, shift, w0, w1)
