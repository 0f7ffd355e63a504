r"""Products of the mass-spring model's stiffness with a displacement, without a matrix.

Spring of length l, rest length L, direction n: :math:`K = k\,n n^T + k \max(0, 1 - L/l) (1 - n n^T)`; the
maximum keeps it positive semi-definite where a spring is compressed. Volumetric term of a tet with volume
gradients g: :math:`(\lambda - \mu)\,g g^T / V`.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit, prange, twin
from pliant.models.springs.kernels import TINY
from pliant.models.tets.kernels import SCRATCH, gather_edges, scatter_forces


@jit
def _spring_blocks(first, last, index, rest, x, dx, buffer, shift, w):
    for b in range(first, last):
        nodes = index[b]
        row = rest[b]
        for e in range(2):
            for i in range(16):
                p = nodes[i, 0]
                q = nodes[i, 1 + e]
                for c in range(3):
                    w[16 * c + i] = x[q, c] - x[p, c]
                    w[48 + 16 * c + i] = dx[q, c] - dx[p, c]
            for i in range(16):
                a, b0, c0 = w[i], w[16 + i], w[32 + i]
                u, v, z = w[48 + i], w[64 + i], w[80 + i]
                stiffness = row[32 + 16 * e + i]
                square = a * a + b0 * b0 + c0 * c0 + TINY
                side = stiffness * max(0.0, 1.0 - row[16 * e + i] / np.sqrt(square))
                along = (stiffness - side) * (a * u + b0 * v + c0 * z) / square
                w[i] = along * a + side * u
                w[16 + i] = along * b0 + side * v
                w[32 + i] = along * c0 + side * z
            for i in range(16):
                p = nodes[i, 0] + shift
                q = nodes[i, 1 + e] + shift
                for c in range(3):
                    g = w[16 * c + i]
                    buffer[p, c] -= g
                    buffer[q, c] += g


@twin
def spring_product(starts, low, offset, index, rest, x, dx, buffer):
    """``K dx`` of the springs into the buffers."""
    for p in prange(low.shape[0]):
        w = np.empty(SCRATCH)
        _spring_blocks(starts[p], starts[p + 1], index, rest, x, dx, buffer, offset[p] - low[p], w)


@jit
def _volume_blocks(first, last, index, rest, x, dx, buffer, shift, w):
    for b in range(first, last):
        row = rest[b]
        gather_edges(index[b], x, w, 0)
        gather_edges(index[b], dx, w, 144)
        for i in range(16):
            a0, a1, a2 = w[i], w[16 + i], w[32 + i]
            b0, b1, b2 = w[48 + i], w[64 + i], w[80 + i]
            c0, c1, c2 = w[96 + i], w[112 + i], w[128 + i]
            p0, p1, p2 = b1 * c2 - b2 * c1, b2 * c0 - b0 * c2, b0 * c1 - b1 * c0
            q0, q1, q2 = c1 * a2 - c2 * a1, c2 * a0 - c0 * a2, c0 * a1 - c1 * a0
            r0, r1, r2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
            change = p0 * w[144 + i] + p1 * w[160 + i] + p2 * w[176 + i]
            change += q0 * w[192 + i] + q1 * w[208 + i] + q2 * w[224 + i]
            change += r0 * w[240 + i] + r1 * w[256 + i] + r2 * w[272 + i]
            s = row[16 + i] * change
            w[i], w[16 + i], w[32 + i] = s * p0, s * p1, s * p2
            w[48 + i], w[64 + i], w[80 + i] = s * q0, s * q1, s * q2
            w[96 + i], w[112 + i], w[128 + i] = s * r0, s * r1, s * r2
        scatter_forces(index[b], w, buffer, shift)


@twin
def volume_product(starts, low, offset, index, rest, x, dx, buffer):
    """``K dx`` of the volumetric terms into the buffers."""
    for p in prange(low.shape[0]):
        w = np.empty(SCRATCH)
        _volume_blocks(starts[p], starts[p + 1], index, rest, x, dx, buffer, offset[p] - low[p], w)
