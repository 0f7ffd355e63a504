"""Compiled loops of CPM1: dual vertices, faces, and what the tets pass on to their particles.

A force evaluation is four passes: positions y of the dual vertices; per face the gradient of its energy,
scattered to particles and dual vertices; per dual vertex the sum of what it got, passed on by its weights,
and the volumetric force of its tet, scattered to the particles; the sum over partitions. The printed form
has no third pass: the volumetric force comes with the first.

Dual vertices: index rows of 16 are their four particles. Rows of ``w``: 0 to 11 corners, then forces on them;
12 the dual vertex or the force on it.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.element_blocks import reduce_rows
from pliant.kernels.jit import jit, partition, partition_count, prange, twin
from pliant.kernels.simd_transpose import add, put_run, take, take_run
from pliant.models.continuum_particles.cpm1.face_kernels import (
    gather,
    image_and_area,
    pull_back,
    scatter,
    scatter_ends,
)
from pliant.models.continuum_particles.face_law import ROWS, block_gradient, block_printed

OTHER = 16 * 15  # doubles of scratch for a block of dual vertices


@jit
def _corners(o, index, x, w):
    for k in range(4):
        take(x, index, o + 16 * k, w, 48 * k)


@jit
def _forces(o, index, w, buffer, shift):
    for k in range(4):
        add(buffer, shift, index, o + 16 * k, w, 48 * k)


@jit
def _point(row, w):
    """The dual vertices into rows 12 to 14 from the corners."""
    for i in range(16):
        p, q, r = row[16 + i], row[32 + i], row[48 + i]
        x, y, z = w[i], w[16 + i], w[32 + i]
        w[192 + i] = x + (p * (w[48 + i] - x) + q * (w[96 + i] - x) + r * (w[144 + i] - x))
        w[208 + i] = y + (p * (w[64 + i] - y) + q * (w[112 + i] - y) + r * (w[160 + i] - y))
        w[224 + i] = z + (p * (w[80 + i] - z) + q * (w[128 + i] - z) + r * (w[176 + i] - z))


@jit
def points(first, last, index, weights, x, y, w):
    """``y = sum w x`` for blocks of dual vertices."""
    for b in range(first, last):
        _corners(64 * b, index, x, w)
        _point(weights[b], w)
        put_run(y, 16 * b, w, 192)


@jit
def _volumetric(own, w):
    """Volumetric forces on the corners in place of them.

    own: rest volume V, lambda / V; ``-lambda (J - 1) dV/dx = -(lambda / V) (vol - V) dV/dx``.
    """
    for i in range(16):
        ox, oy, oz = w[i], w[16 + i], w[32 + i]
        ax, ay, az = w[48 + i] - ox, w[64 + i] - oy, w[80 + i] - oz
        bx, by, bz = w[96 + i] - ox, w[112 + i] - oy, w[128 + i] - oz
        cx, cy, cz = w[144 + i] - ox, w[160 + i] - oy, w[176 + i] - oz
        ux, uy, uz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
        s = -own[16 + i] * ((ax * ux + ay * uy + az * uz) / 6.0 - own[i]) / 6.0
        ux *= s
        uy *= s
        uz *= s
        vx, vy, vz = s * (cy * az - cz * ay), s * (cz * ax - cx * az), s * (cx * ay - cy * ax)
        zx, zy, zz = s * (ay * bz - az * by), s * (az * bx - ax * bz), s * (ax * by - ay * bx)
        w[i] = -(ux + vx + zx)
        w[16 + i] = -(uy + vy + zy)
        w[32 + i] = -(uz + vz + zz)
        w[48 + i] = ux
        w[64 + i] = uy
        w[80 + i] = uz
        w[96 + i] = vx
        w[112 + i] = vy
        w[128 + i] = vz
        w[144 + i] = zx
        w[160 + i] = zy
        w[176 + i] = zz


@jit
def _points_and_volumes(first, last, index, weights, bulk, x, y, buffer, shift, w):
    """Dual vertices of blocks of tets, and their volumetric forces."""
    for b in range(first, last):
        _corners(64 * b, index, x, w)
        _point(weights[b], w)
        _volumetric(bulk[b], w)
        put_run(y, 16 * b, w, 192)
        _forces(64 * b, index, w, buffer, shift)


@jit
def pass_on(b, index, weights, h, w, buffer, shift):
    """Add a block of dual vertices' forces h by their weights to rows 0 to 11, and scatter those."""
    row = weights[b]
    take_run(h, 16 * b, w, 192)
    for k in range(0, 64, 16):
        t = 3 * k
        for i in range(16):
            share = row[k + i]
            w[t + i] += share * w[192 + i]
            w[t + 16 + i] += share * w[208 + i]
            w[t + 32 + i] += share * w[224 + i]
    _forces(64 * b, index, w, buffer, shift)


@jit
def _share(first, last, volumetric, index, weights, bulk, x, h, buffer, shift, w):
    """Pass the dual vertices' forces on, with the volumetric forces of their tets."""
    for b in range(first, last):
        if volumetric:
            _corners(64 * b, index, x, w)
            _volumetric(bulk[b], w)
        else:
            for i in range(192):
                w[i] = 0.0
        pass_on(b, index, weights, h, w, buffer, shift)


@jit
def sum_at(first, last, yr, y_buffer, h):
    """What the dual vertices of some blocks got from all partitions, into their rows of ``h``; cleared."""
    begin, end = 16 * first, 16 * last
    h[begin:end] = 0.0
    for p in range(yr.shape[1]):
        shift = yr[2, p] - yr[0, p]
        for i in range(max(begin, yr[0, p]), min(end, yr[1, p])):
            for c in range(4):
                h[i, c] += y_buffer[i + shift, c]
                y_buffer[i + shift, c] = 0.0


@jit
def _faces(
    first, last, printed, count, closed, index_at, rest_at, index, rest, x, y,
    x_buffer, x_shift, y_buffer, y_shift, w, g,
):  # fmt: skip
    """Forces of blocks of faces. Rows of ``w``: 0 gathered, from the middle on gradients."""
    for b in range(first, last):
        n, o, r = count[b], index_at[b], rest_at[b]
        gather(o, n, closed[b], index, x, y, w, 0)
        image_and_area(0, n, r, rest, w, g)
        if printed:
            block_printed(g, rest, r, r + 16, r + 32)
            scatter_ends(o, index, g, 96, x_buffer, x_shift)
        else:
            to = 9 + 3 * n
            block_gradient(g, rest, r, r + 16, r + 32)
            pull_back(0, to, n, closed[b], r, rest, w, g)
            scatter(o, to, n, closed[b], index, w, x_buffer, x_shift, y_buffer, y_shift)


@jit
def _first_pass(p, together, index, weights, bulk, starts, middle, xr, x_buffer, x, y):
    begin, w = starts[p], np.empty(OTHER)
    if together:
        begin = middle[p]
        shift = xr[2, p] - xr[0, p]
        _points_and_volumes(starts[p], begin, index, weights, bulk, x, y, x_buffer, shift, w)
    points(begin, starts[p + 1], index, weights, x, y, w)


@jit
def _second_pass(
    p, printed, f_starts, count, closed, index_at, rest_at, f_index, rest, xr, yr,
    x_buffer, y_buffer, scratch, x, y,
):  # fmt: skip
    w, g = np.empty(scratch), np.empty(16 * ROWS)
    _faces(
        f_starts[p], f_starts[p + 1], printed, count, closed, index_at, rest_at, f_index, rest, x, y,
        x_buffer, xr[2, p] - xr[0, p], y_buffer, yr[2, p] - yr[0, p], w, g,
    )  # fmt: skip


@jit
def _third_pass(p, volumetric, index, weights, bulk, starts, middle, xr, yr, x_buffer, y_buffer, x, h):
    w, shift = np.empty(OTHER), xr[2, p] - xr[0, p]
    a, m, b = starts[p], middle[p], starts[p + 1]
    sum_at(a, b, yr, y_buffer, h)
    _share(a, m, volumetric, index, weights, bulk, x, h, x_buffer, shift, w)
    _share(m, b, False, index, weights, bulk, x, h, x_buffer, shift, w)


@twin
def forces(
    printed, volumetric, index, weights, bulk, starts, middle, f_starts, count, closed,
    index_at, rest_at, f_index, rest, xr, yr, x_buffer, y_buffer, scratch, x, y, h, out,
):  # fmt: skip
    """Add the elastic forces [N] to ``out`` (n, 3)."""
    parts, together = xr.shape[1], printed and volumetric
    for p in prange(parts):
        _first_pass(np.int64(p), together, index, weights, bulk, starts, middle, xr, x_buffer, x, y)
    for p in prange(parts):
        _second_pass(
            np.int64(p), printed, f_starts, count, closed, index_at, rest_at, f_index, rest, xr, yr,
            x_buffer, y_buffer, scratch, x, y,
        )  # fmt: skip
    if not printed:
        for p in prange(parts):
            _third_pass(
                np.int64(p), volumetric, index, weights, bulk, starts, middle, xr, yr, x_buffer, y_buffer,
                x, h,
            )  # fmt: skip
    for p in prange(partition_count(out.shape[0])):
        begin, end = partition(p, out.shape[0])
        reduce_rows(begin, end, xr[0], xr[1], xr[2], x_buffer, out)


@jit
def vectors(index, weights, count, closed, index_at, rest_at, f_index, rest, scratch, x, y, out):
    """m and 2 N of every face, (slots, 6)."""
    w, g = np.empty(scratch), np.empty(16 * ROWS)
    points(0, weights.shape[0], index, weights, x, y, w)
    for b in range(count.shape[0]):
        gather(index_at[b], count[b], closed[b], f_index, x, y, w, 0)
        image_and_area(0, count[b], rest_at[b], rest, w, g)
        for i in range(16):
            for c in range(6):
                out[16 * b + i, c] = g[16 * c + i]
