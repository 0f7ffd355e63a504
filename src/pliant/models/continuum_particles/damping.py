r"""Internal damping of tets: a viscous stress in proportion to the rate of Green's strain.

.. math:: f = -\beta \frac{\partial}{\partial v} \sum \tfrac{V}{2} (2\mu |\dot E|^2
    + \lambda (\mathrm{tr} \dot E)^2), \qquad \dot E = \mathrm{sym}(F^T \dot F)

At small strains that is :math:`-\beta K v` with the stiffness of linear elasticity. It keeps momentum and
angular momentum exactly, and never gives energy.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.kernels.element_blocks import ElementBlocks
from pliant.kernels.jit import jit, prange, twin
from pliant.models.tets.fields import edge_matrices


def damping_rows(
    blocks: ElementBlocks, rest: Array, tets: IntArray, volumes: Array, lame: tuple[Array, Array]
) -> Array:
    """Rest rows of the kernel: the inverse edge matrix (9), 2 mu V, lambda V."""
    inverse = np.linalg.inv(edge_matrices(rest, tets)).reshape(-1, 9)
    lam, mu = lame
    return blocks.rows(*inverse.T, 2.0 * mu * volumes, lam * volumes)


@jit
def _damping(first, last, index, rest, beta, x, v, buffer, shift, w):
    for b in range(first, last):
        row = rest[b]
        for k in range(3):
            t = 16 * 3 * k
            for i in range(16):
                p = index[b, i, 0]
                q = index[b, i, k + 1]
                for c in range(3):
                    w[t + 16 * c + i] = x[q, c] - x[p, c]
                    w[144 + t + 16 * c + i] = v[q, c] - v[p, c]
        for k in range(3):  # columns of F and of dF/dt
            for c in range(3):
                o = 16 * (18 + 3 * k + c)
                for i in range(16):
                    a = row[16 * k + i]
                    e = row[16 * (3 + k) + i]
                    g = row[16 * (6 + k) + i]
                    w[o + i] = a * w[16 * c + i] + e * w[48 + 16 * c + i] + g * w[96 + 16 * c + i]
                    w[o + 144 + i] = (
                        a * w[144 + 16 * c + i] + e * w[192 + 16 * c + i] + g * w[240 + 16 * c + i]
                    )
        for k in range(3):  # E, into the rows of the edges
            for j in range(3):
                f = 16 * (18 + 3 * k)
                g = 16 * (18 + 3 * j)
                o = 16 * (3 * k + j)
                for i in range(16):
                    w[o + i] = 0.5 * (
                        w[f + i] * w[g + 144 + i]
                        + w[f + 16 + i] * w[g + 160 + i]
                        + w[f + 32 + i] * w[g + 176 + i]
                        + w[g + i] * w[f + 144 + i]
                        + w[g + 16 + i] * w[f + 160 + i]
                        + w[g + 32 + i] * w[f + 176 + i]
                    )
        for i in range(16):
            s = beta * row[16 * 10 + i] * (w[i] + w[64 + i] + w[128 + i])
            m = beta * row[16 * 9 + i]
            for o in range(9):
                w[16 * o + i] = m * w[16 * o + i] + (s if o % 4 == 0 else 0.0)
        for k in range(3):  # P = F S, columns
            for c in range(3):
                o = 16 * (9 + 3 * k + c)
                for i in range(16):
                    w[o + i] = (
                        w[288 + 16 * c + i] * w[16 * k + i]
                        + w[336 + 16 * c + i] * w[16 * (3 + k) + i]
                        + w[384 + 16 * c + i] * w[16 * (6 + k) + i]
                    )
        for k in range(3):  # forces of the three edges' ends: P times row k of the inverse
            for c in range(3):
                o = 16 * (3 * k + c)
                for i in range(16):
                    w[o + i] = (
                        w[144 + 16 * c + i] * row[16 * 3 * k + i]
                        + w[192 + 16 * c + i] * row[16 * (3 * k + 1) + i]
                        + w[240 + 16 * c + i] * row[16 * (3 * k + 2) + i]
                    )
        for k in range(3):
            for i in range(16):
                p = index[b, i, 0] + shift
                q = index[b, i, k + 1] + shift
                for c in range(3):
                    g = w[16 * (3 * k + c) + i]
                    buffer[q, c] -= g
                    buffer[p, c] += g


@twin
def damping_forces(starts, low, offset, index, rest, beta, x, v, buffer):
    """The damping forces [N] of all tets into the buffers."""
    for p in prange(low.shape[0]):
        w = np.empty(16 * 36)
        _damping(starts[p], starts[p + 1], index, rest, beta, x, v, buffer, offset[p] - low[p], w)
