r"""Products with CPM1's Gauss-Newton stiffness.

.. math:: K = \sum_e A_0 h_0 (E\, \nabla\epsilon\, \nabla\epsilon^T + G\, D^T D)
    + \sum_t \tfrac{\lambda}{V}\, \nabla vol\, \nabla vol^T

where :math:`D = \delta\hat m - R\,\delta\hat N` is the relative turning of m and N, R the smallest rotation
that takes :math:`\hat N` to :math:`\hat m`. It has no negative eigenvalues and is exact at rest.
Dropped: what second derivatives of m's length, of the angle and of N would add.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.compiled import jit, parallel_jit, prange
from pliant.models.blocks import reduce_rows
from pliant.models.cpm1.kernels import (
    CHUNKS,
    _gather,
    _image_and_area,
    _points,
    _pull_back,
    _scatter,
    _sum_at,
)
from pliant.models.particles.faces import INSIDE, ROWS
from pliant.models.particles.stiffness import block_product, volume_product


@jit
def _area_change(at, other, length, w, d):
    """``dN = 1/2 sum dv_k x v_k+1 + v_k x dv_k+1`` into rows 3 to 5 of ``d``; changes are in rows other."""
    for i in range(48):
        d[48 + i] = 0.0
    t = 16 * at + 48
    u = 16 * other + 48
    for _ in range(length - 1):
        t &= INSIDE
        u &= INSIDE
        for i in range(16):
            ax, ay, az = w[t + i], w[t + 16 + i], w[t + 32 + i]
            bx, by, bz = w[t + 48 + i], w[t + 64 + i], w[t + 80 + i]
            px, py, pz = w[u + i], w[u + 16 + i], w[u + 32 + i]
            qx, qy, qz = w[u + 48 + i], w[u + 64 + i], w[u + 80 + i]
            d[48 + i] += 0.5 * (py * bz - pz * by + ay * qz - az * qy)
            d[64 + i] += 0.5 * (pz * bx - px * bz + az * qx - ax * qz)
            d[80 + i] += 0.5 * (px * by - py * bx + ax * qy - ay * qx)
        t += 48
        u += 48


@jit
def _faces(
    first, last, length, index_at, rest_at, index, rest, x, y, dx, dy,
    x_buffer, x_shift, y_buffer, y_shift, w, g, d,
):  # fmt: skip
    """Rows of ``w``: 0 midpoint, 3 d, fan; after that their changes."""
    for b in range(first, last):
        n, o, r = length[b], index_at[b], rest_at[b]
        other = 6 + 3 * n
        _gather(o, n, index, dx, dy, w, other)
        _gather(o, n, index, x, y, w, 3)
        _image_and_area(3, n, r, rest, w, g)
        _image_and_area(other, n, r, rest, w, d)
        _area_change(3, other, n, w, d)
        block_product(g, d, rest, r, r + 16, r + 32)
        for i in range(96, 192):
            g[i] = -g[i]
        _pull_back(3, n, r, rest, w, g)
        _scatter(o, 3, n, r, index, rest, w, g, x_buffer, x_shift, y_buffer, y_shift)


@jit
def _pass_on(first, last, index, weights, bulk, x, dx, h, buffer, shift, w):
    """As ``kernels._pass_on``, with the products of the volumetric stiffness."""
    for b in range(first, last):
        volume_product(index[b], bulk[b], 1, x, dx, w)
        own = weights[b]
        for i in range(16):
            for k in range(4):
                p = (index[b, i, k] + shift) & INSIDE
                for c in range(3):
                    buffer[p, c] += w[16 * (3 * k + c) + i] + own[16 * k + i] * h[16 * b + i, c]


@jit
def _last_pass(p, index, weights, bulk, starts, xr, yr, x_buffer, y_buffer, scratch, x, dx, h):
    a, b, shift = starts[p], starts[p + 1], xr[2, p] - xr[0, p]
    _sum_at(a, b, yr, y_buffer, h)
    _pass_on(a, b, index, weights, bulk, x, dx, h, x_buffer, shift, np.empty(scratch))


@jit
def _face_pass(
    p, f_starts, length, index_at, rest_at, f_index, rest, xr, yr, x_buffer, y_buffer, scratch, x, dx, y, dy
):
    w, g, d = np.empty(scratch), np.empty(16 * ROWS), np.empty(96)
    _faces(
        f_starts[p], f_starts[p + 1], length, index_at, rest_at, f_index, rest, x, y, dx, dy,
        x_buffer, xr[2, p] - xr[0, p], y_buffer, yr[2, p] - yr[0, p], w, g, d,
    )  # fmt: skip


@jit
def product_serial(
    index, weights, bulk, starts,
    f_starts, length, index_at, rest_at, f_index, rest, xr, yr, x_buffer, y_buffer, scratch,
    x, dx, y, dy, h, out,
):  # fmt: skip
    _points(0, index.shape[0], index, weights, x, y)
    _points(0, index.shape[0], index, weights, dx, dy)
    for p in range(xr.shape[1]):
        _face_pass(
            p, f_starts, length, index_at, rest_at, f_index, rest, xr, yr,
            x_buffer, y_buffer, scratch, x, dx, y, dy,
        )  # fmt: skip
    for p in range(xr.shape[1]):
        _last_pass(p, index, weights, bulk, starts, xr, yr, x_buffer, y_buffer, scratch, x, dx, h)
    reduce_rows(0, out.shape[0], xr[0], xr[1], xr[2], x_buffer, out)


@parallel_jit
def product_parallel(
    index, weights, bulk, starts,
    f_starts, length, index_at, rest_at, f_index, rest, xr, yr, x_buffer, y_buffer, scratch,
    x, dx, y, dy, h, out,
):  # fmt: skip
    blocks, n = index.shape[0], out.shape[0]
    for c in prange(CHUNKS):
        _points(c * blocks // CHUNKS, (c + 1) * blocks // CHUNKS, index, weights, x, y)
        _points(c * blocks // CHUNKS, (c + 1) * blocks // CHUNKS, index, weights, dx, dy)
    for p in prange(xr.shape[1]):
        _face_pass(
            p, f_starts, length, index_at, rest_at, f_index, rest, xr, yr,
            x_buffer, y_buffer, scratch, x, dx, y, dy,
        )  # fmt: skip
    for p in prange(xr.shape[1]):
        _last_pass(p, index, weights, bulk, starts, xr, yr, x_buffer, y_buffer, scratch, x, dx, h)
    for c in prange(CHUNKS):
        reduce_rows(c * n // CHUNKS, (c + 1) * n // CHUNKS, xr[0], xr[1], xr[2], x_buffer, out)
