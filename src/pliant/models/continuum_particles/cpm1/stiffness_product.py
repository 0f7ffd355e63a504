r"""Products with CPM1's Gauss-Newton stiffness.

.. math:: K = \sum_e A_0 h_0 (E\, \nabla\epsilon\, \nabla\epsilon^T + G\, D^T D)
    + \sum_t \tfrac{\lambda}{V}\, \nabla vol\, \nabla vol^T

where :math:`D = \delta\hat m - R\,\delta\hat N` is the relative turning of m and N, R the smallest rotation
that takes :math:`\hat N` to :math:`\hat m`. It has no negative eigenvalues and is exact at rest.
Dropped: what second derivatives of m's length, of the angle and of N would add.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.element_blocks import reduce_rows
from pliant.kernels.jit import jit, partition, partition_count, prange, twin
from pliant.kernels.simd_transpose import INSIDE
from pliant.models.continuum_particles.cpm1.face_kernels import gather, image_and_area, pull_back, scatter
from pliant.models.continuum_particles.cpm1.kernels import pass_on, points, sum_at
from pliant.models.continuum_particles.face_law import ROWS
from pliant.models.continuum_particles.stiffness import block_product, volume_product

OTHER = 16 * 24


@jit
def _area_change(at, other, n, w, d):
    """``2 dN = sum du_k x u_k+1 + u_k x du_k+1`` into rows 3 to 5 of ``d``; changes are in rows other."""
    for i in range(48):
        d[48 + i] = 0.0
    t = 16 * at + 144
    u = 16 * other + 144
    for _ in range(n - 1):
        t &= INSIDE
        u &= INSIDE
        for i in range(16):
            ax, ay, az = w[t + i], w[t + 16 + i], w[t + 32 + i]
            bx, by, bz = w[t + 48 + i], w[t + 64 + i], w[t + 80 + i]
            px, py, pz = w[u + i], w[u + 16 + i], w[u + 32 + i]
            qx, qy, qz = w[u + 48 + i], w[u + 64 + i], w[u + 80 + i]
            d[48 + i] += py * bz - pz * by + ay * qz - az * qy
            d[64 + i] += pz * bx - px * bz + az * qx - ax * qz
            d[80 + i] += px * by - py * bx + ax * qy - ay * qx
        t += 48
        u += 48


@jit
def _faces(
    first, last, count, closed, index_at, rest_at, index, rest, x, y, dx, dy,
    x_buffer, x_shift, y_buffer, y_shift, w, g, d,
):  # fmt: skip
    """Rows of ``w``: gathered positions, gathered changes, gradients."""
    for b in range(first, last):
        n, o, r = count[b], index_at[b], rest_at[b]
        other = 9 + 3 * n
        gather(o, n, closed[b], index, x, y, w, 0)
        gather(o, n, closed[b], index, dx, dy, w, other)
        image_and_area(0, n, r, rest, w, g)
        image_and_area(other, n, r, rest, w, d)
        _area_change(0, other, n, w, d)
        block_product(g, d, rest, r, r + 16, r + 32)
        for i in range(96, 192):
            g[i] = -g[i]
        pull_back(0, 2 * other, n, closed[b], r, rest, w, g)
        scatter(o, 2 * other, n, closed[b], index, w, x_buffer, x_shift, y_buffer, y_shift)


@jit
def _first_pass(p, index, weights, starts, x, y, dx, dy):
    w = np.empty(OTHER)
    points(starts[p], starts[p + 1], index, weights, x, y, w)
    points(starts[p], starts[p + 1], index, weights, dx, dy, w)


@jit
def _face_pass(
    p, f_starts, count, closed, index_at, rest_at, f_index, rest, xr, yr,
    x_buffer, y_buffer, scratch, x, dx, y, dy,
):  # fmt: skip
    w, g, d = np.empty(scratch), np.empty(16 * ROWS), np.empty(96)
    _faces(
        f_starts[p], f_starts[p + 1], count, closed, index_at, rest_at, f_index, rest, x, y, dx, dy,
        x_buffer, xr[2, p] - xr[0, p], y_buffer, yr[2, p] - yr[0, p], w, g, d,
    )  # fmt: skip


@jit
def _last_pass(p, index, weights, bulk, starts, xr, yr, x_buffer, y_buffer, x, dx, h):
    """As ``kernels._third_pass``, with the products of the volumetric stiffness."""
    a, b, w = starts[p], starts[p + 1], np.empty(OTHER)
    sum_at(a, b, yr, y_buffer, h)
    for k in range(a, b):
        volume_product(index, 64 * k, bulk[k], 1, x, dx, w)
        pass_on(k, index, weights, h, w, x_buffer, xr[2, p] - xr[0, p])


@twin
def product(
    index, weights, bulk, starts,
    f_starts, count, closed, index_at, rest_at, f_index, rest, xr, yr, x_buffer, y_buffer, scratch,
    x, dx, y, dy, h, out,
):  # fmt: skip
    """Add ``K dx`` to ``out`` (n, 3)."""
    for p in prange(xr.shape[1]):
        _first_pass(np.int64(p), index, weights, starts, x, y, dx, dy)
    for p in prange(xr.shape[1]):
        _face_pass(
            np.int64(p), f_starts, count, closed, index_at, rest_at, f_index, rest, xr, yr,
            x_buffer, y_buffer, scratch, x, dx, y, dy,
        )  # fmt: skip
    for p in prange(xr.shape[1]):
        _last_pass(np.int64(p), index, weights, bulk, starts, xr, yr, x_buffer, y_buffer, x, dx, h)
    for p in prange(partition_count(out.shape[0])):
        begin, end = partition(p, out.shape[0])
        reduce_rows(begin, end, xr[0], xr[1], xr[2], x_buffer, out)
