"""Compiled loops of CPM1: dual vertices, faces, and what the tets pass on to their particles.

A force evaluation is four passes: positions y of the dual vertices; per face the gradient of its energy,
scattered to particles and dual vertices; per dual vertex the sum of what it got, passed on by its weights,
and the volumetric force of its tet, scattered to the particles; the sum over partitions. The printed form
has no third pass: the volumetric force comes with the first.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.compiled import jit, parallel_jit, prange
from pliant.models.blocks import reduce_rows
from pliant.models.particles.faces import INSIDE, ROWS, block_gradient, block_printed

CHUNKS = 64


@jit
def _points(first, last, index, weights, x, y):
    """``y = sum w x`` for blocks of dual vertices."""
    for b in range(first, last):
        row = weights[b]
        for i in range(16):
            p = index[b, i, 0]
            q = index[b, i, 1]
            r = index[b, i, 2]
            s = index[b, i, 3]
            v = 16 * b + i
            for c in range(3):
                y[v, c] = (
                    row[i] * x[p, c] + row[16 + i] * x[q, c] + row[32 + i] * x[r, c] + row[48 + i] * x[s, c]
                )


@jit
def _gather(o, length, index, x, y, w, at):
    """Into ``w`` from row ``at``: d, then the fan relative to the edge's midpoint; 3 rows each."""
    o &= INSIDE
    t = (16 * at) & INSIDE
    for i in range(16):
        p = index[o + i]
        q = index[o + 16 + i]
        for c in range(3):
            a = x[p, c]
            b = x[q, c]
            w[t + 16 * c + i] = b - a
            w[16 * c + i] = 0.5 * (a + b)
    o += 32
    for _ in range(length):
        u = o & INSIDE
        t = (t + 48) & INSIDE
        for i in range(16):
            v = index[u + i]
            w[t + i] = y[v, 0] - w[i]
            w[t + 16 + i] = y[v, 1] - w[16 + i]
            w[t + 32 + i] = y[v, 2] - w[32 + i]
        o += 16


@jit
def _image_and_area(at, length, r, rest, w, g):
    """``m = along d + sum weight v`` and ``N = 1/2 sum v_k x v_k+1`` into rows 0 to 5 of ``g``."""
    t = (16 * at) & INSIDE
    r = (r + 48) & INSIDE
    for i in range(16):
        a, b = rest[r + i], rest[r + 32 + i]
        g[i] = a * w[t + i] + b * w[t + 48 + i]
        g[16 + i] = a * w[t + 16 + i] + b * w[t + 64 + i]
        g[32 + i] = a * w[t + 32 + i] + b * w[t + 80 + i]
        g[48 + i] = 0.0
        g[64 + i] = 0.0
        g[80 + i] = 0.0
    r += 32
    t += 48
    for _ in range(length - 1):
        r = (r + 16) & INSIDE
        t &= INSIDE
        for i in range(16):
            ax, ay, az = w[t + i], w[t + 16 + i], w[t + 32 + i]
            bx, by, bz = w[t + 48 + i], w[t + 64 + i], w[t + 80 + i]
            b = rest[r + i]
            g[i] += b * bx
            g[16 + i] += b * by
            g[32 + i] += b * bz
            g[48 + i] += 0.5 * (ay * bz - az * by)
            g[64 + i] += 0.5 * (az * bx - ax * bz)
            g[80 + i] += 0.5 * (ax * by - ay * bx)
        t += 48


@jit
def _pull_back(at, length, r, rest, w, g):
    """Gradients at the fan from those at m and N (g, row 6): ``weight m' + 1/2 (v_k+1 - v_k-1) x N'``.

    They take the place of the fan; rows 0 to 2 of ``g`` get the midpoint's, minus the sum of all others.
    """
    first = (16 * at + 48) & INSIDE
    last = (first + 48 * (length - 1)) & INSIDE
    r = (r + 64) & INSIDE
    for i in range(16):
        gx, gy, gz = 0.5 * g[144 + i], 0.5 * g[160 + i], 0.5 * g[176 + i]
        ax = w[first + i] - w[last + i]
        ay = w[first + 16 + i] - w[last + 16 + i]
        az = w[first + 32 + i] - w[last + 32 + i]
        total = rest[r + i]
        g[i] = ay * gz - az * gy - total * g[96 + i]
        g[16 + i] = az * gx - ax * gz - total * g[112 + i]
        g[32 + i] = ax * gy - ay * gx - total * g[128 + i]
    for i in range(48):
        w[i] = 0.0  # v_k-1: for the first the midpoint
    t = first
    for _ in range(length - 1):
        r = (r + 16) & INSIDE
        t &= INSIDE
        for i in range(16):
            gx, gy, gz = 0.5 * g[144 + i], 0.5 * g[160 + i], 0.5 * g[176 + i]
            ax, ay, az = w[t + 48 + i] - w[i], w[t + 64 + i] - w[16 + i], w[t + 80 + i] - w[32 + i]
            a = rest[r + i]
            w[i] = w[t + i]
            w[16 + i] = w[t + 16 + i]
            w[32 + i] = w[t + 32 + i]
            w[t + i] = ay * gz - az * gy + a * g[96 + i]
            w[t + 16 + i] = az * gx - ax * gz + a * g[112 + i]
            w[t + 32 + i] = ax * gy - ay * gx + a * g[128 + i]
        t += 48
    r = (r + 16) & INSIDE
    for i in range(16):
        gx, gy, gz = 0.5 * g[144 + i], 0.5 * g[160 + i], 0.5 * g[176 + i]
        ax, ay, az = w[i], w[16 + i], w[32 + i]
        a = rest[r + i]
        w[last + i] = az * gy - ay * gz + a * g[96 + i]
        w[last + 16 + i] = ax * gz - az * gx + a * g[112 + i]
        w[last + 32 + i] = ay * gx - ax * gy + a * g[128 + i]


@jit
def _scatter(o, at, length, r, index, rest, w, g, x_buffer, x_shift, y_buffer, y_shift):
    """Subtract the gradients from the buffers: of the edge's ends and of the fan."""
    o &= INSIDE
    r = (r + 48) & INSIDE
    for i in range(16):
        a = rest[r + i]
        for c in range(3):
            along, middle = a * g[96 + 16 * c + i], 0.5 * g[16 * c + i]
            w[16 * c + i] = along - middle
            g[16 * c + i] = along + middle
    for i in range(16):
        p = (index[o + i] + x_shift) & INSIDE
        q = (index[o + 16 + i] + x_shift) & INSIDE
        x_buffer[p, 0] += w[i]
        x_buffer[p, 1] += w[16 + i]
        x_buffer[p, 2] += w[32 + i]
        x_buffer[q, 0] -= g[i]
        x_buffer[q, 1] -= g[16 + i]
        x_buffer[q, 2] -= g[32 + i]
    u = o + 32
    t = 16 * at + 48
    for _ in range(length):
        u &= INSIDE
        t &= INSIDE
        for i in range(16):
            v = (index[u + i] + y_shift) & INSIDE
            y_buffer[v, 0] -= w[t + i]
            y_buffer[v, 1] -= w[t + 16 + i]
            y_buffer[v, 2] -= w[t + 32 + i]
        u += 16
        t += 48


@jit
def _faces(
    first, last, printed, length, index_at, rest_at, index, rest, x, y,
    x_buffer, x_shift, y_buffer, y_shift, w, g,
):  # fmt: skip
    """Forces of blocks of faces. Rows of ``w``: 0 midpoint, 3 d, fan."""
    for b in range(first, last):
        n, o, r = length[b], index_at[b], rest_at[b]
        _gather(o, n, index, x, y, w, 3)
        _image_and_area(3, n, r, rest, w, g)
        if printed:
            block_printed(g, rest, r, r + 16, r + 32)
            o &= INSIDE
            for i in range(16):
                p = (index[o + i] + x_shift) & INSIDE
                q = (index[o + 16 + i] + x_shift) & INSIDE
                for c in range(3):
                    x_buffer[p, c] += g[96 + 16 * c + i]
                    x_buffer[q, c] -= g[96 + 16 * c + i]
        else:
            block_gradient(g, rest, r, r + 16, r + 32)
            _pull_back(3, n, r, rest, w, g)
            _scatter(o, 3, n, r, index, rest, w, g, x_buffer, x_shift, y_buffer, y_shift)


@jit
def _edges(nodes, x, w):
    """Edges of a block of tets from their first corner into rows 0 to 8, that corner into rows 9 to 11."""
    for i in range(16):
        p = nodes[i, 0]
        q = nodes[i, 1]
        r = nodes[i, 2]
        s = nodes[i, 3]
        for c in range(3):
            o = x[p, c]
            w[16 * c + i] = x[q, c] - o
            w[48 + 16 * c + i] = x[r, c] - o
            w[96 + 16 * c + i] = x[s, c] - o
            w[144 + 16 * c + i] = o


@jit
def _points_of_edges(row, w):
    """Dual vertices into rows 9 to 11, from the first corners there and the edges in rows 0 to 8."""
    for i in range(16):
        a, b, c = row[16 + i], row[32 + i], row[48 + i]
        w[144 + i] += a * w[i] + b * w[48 + i] + c * w[96 + i]
        w[160 + i] += a * w[16 + i] + b * w[64 + i] + c * w[112 + i]
        w[176 + i] += a * w[32 + i] + b * w[80 + i] + c * w[128 + i]


@jit
def _volumetric(row, w):
    """Volumetric forces on corners 1 to 3 in place of the edges in rows 0 to 8.

    row: rest volume V, lambda / V; ``-lambda (J - 1) dV/dx = -(lambda / V) (vol - V) dV/dx``.
    """
    for i in range(16):
        ax, ay, az = w[i], w[16 + i], w[32 + i]
        bx, by, bz = w[48 + i], w[64 + i], w[80 + i]
        cx, cy, cz = w[96 + i], w[112 + i], w[128 + i]
        gx, gy, gz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
        s = -row[16 + i] * ((ax * gx + ay * gy + az * gz) / 6.0 - row[i]) / 6.0
        w[i] = s * gx
        w[16 + i] = s * gy
        w[32 + i] = s * gz
        w[48 + i] = s * (cy * az - cz * ay)
        w[64 + i] = s * (cz * ax - cx * az)
        w[80 + i] = s * (cx * ay - cy * ax)
        w[96 + i] = s * (ay * bz - az * by)
        w[112 + i] = s * (az * bx - ax * bz)
        w[128 + i] = s * (ax * by - ay * bx)


@jit
def _points_and_volumes(first, last, index, weights, bulk, x, y, buffer, shift, w):
    """Dual vertices of blocks of tets, and their volumetric forces."""
    for b in range(first, last):
        _edges(index[b], x, w)
        _points_of_edges(weights[b], w)
        _volumetric(bulk[b], w)
        for i in range(16):
            for c in range(3):
                y[16 * b + i, c] = w[144 + 16 * c + i]
        for i in range(16):
            p = (index[b, i, 0] + shift) & INSIDE
            q = (index[b, i, 1] + shift) & INSIDE
            r = (index[b, i, 2] + shift) & INSIDE
            s = (index[b, i, 3] + shift) & INSIDE
            for c in range(3):
                fq = w[16 * c + i]
                fr = w[48 + 16 * c + i]
                fs = w[96 + 16 * c + i]
                buffer[q, c] += fq
                buffer[r, c] += fr
                buffer[s, c] += fs
                buffer[p, c] -= fq + fr + fs


@jit
def _pass_on(first, last, volumetric, index, weights, bulk, x, h, buffer, shift, w):
    """Pass the dual vertices' forces h on by weights, with the volumetric forces of their tets."""
    for b in range(first, last):
        if volumetric:
            _edges(index[b], x, w)
            _volumetric(bulk[b], w)
        else:
            for i in range(144):
                w[i] = 0.0
        own = weights[b]
        for i in range(16):
            p = (index[b, i, 0] + shift) & INSIDE
            q = (index[b, i, 1] + shift) & INSIDE
            r = (index[b, i, 2] + shift) & INSIDE
            s = (index[b, i, 3] + shift) & INSIDE
            for c in range(3):
                g = h[16 * b + i, c]
                fq = w[16 * c + i]
                fr = w[48 + 16 * c + i]
                fs = w[96 + 16 * c + i]
                buffer[q, c] += fq + own[16 + i] * g
                buffer[r, c] += fr + own[32 + i] * g
                buffer[s, c] += fs + own[48 + i] * g
                buffer[p, c] += own[i] * g - (fq + fr + fs)


@jit
def _sum_at(first, last, yr, y_buffer, h):
    """What the dual vertices of some blocks got from all partitions, into their rows of ``h``."""
    h[16 * first : 16 * last] = 0.0
    reduce_rows(16 * first, 16 * last, yr[0], yr[1], yr[2], y_buffer, h)


@jit
def _first_pass(p, together, index, weights, bulk, starts, middle, xr, x_buffer, scratch, x, y):
    begin = starts[p]
    if together:
        begin = middle[p]
        shift = xr[2, p] - xr[0, p]
        _points_and_volumes(starts[p], begin, index, weights, bulk, x, y, x_buffer, shift, np.empty(scratch))
    _points(begin, starts[p + 1], index, weights, x, y)


@jit
def _second_pass(
    p, printed, f_starts, length, index_at, rest_at, f_index, rest, xr, yr, x_buffer, y_buffer, scratch, x, y
):
    w, g = np.empty(scratch), np.empty(16 * ROWS)
    _faces(
        f_starts[p], f_starts[p + 1], printed, length, index_at, rest_at, f_index, rest, x, y,
        x_buffer, xr[2, p] - xr[0, p], y_buffer, yr[2, p] - yr[0, p], w, g,
    )  # fmt: skip


@jit
def _third_pass(
    p, volumetric, index, weights, bulk, starts, middle, xr, yr, x_buffer, y_buffer, scratch, x, h
):
    w, shift = np.empty(scratch), xr[2, p] - xr[0, p]
    a, m, b = starts[p], middle[p], starts[p + 1]
    _sum_at(a, b, yr, y_buffer, h)
    _pass_on(a, m, volumetric, index, weights, bulk, x, h, x_buffer, shift, w)
    _pass_on(m, b, False, index, weights, bulk, x, h, x_buffer, shift, w)


@jit
def forces_serial(
    printed, volumetric, index, weights, bulk, starts, middle,
    f_starts, length, index_at, rest_at, f_index, rest, xr, yr, x_buffer, y_buffer, scratch, x, y, h, out,
):  # fmt: skip
    parts, together = xr.shape[1], printed and volumetric
    for p in range(parts):
        _first_pass(p, together, index, weights, bulk, starts, middle, xr, x_buffer, scratch, x, y)
    for p in range(parts):
        _second_pass(
            p, printed, f_starts, length, index_at, rest_at, f_index, rest, xr, yr,
            x_buffer, y_buffer, scratch, x, y,
        )  # fmt: skip
    if not printed:
        for p in range(parts):
            _third_pass(
                p, volumetric, index, weights, bulk, starts, middle, xr, yr,
                x_buffer, y_buffer, scratch, x, h,
            )  # fmt: skip
    reduce_rows(0, out.shape[0], xr[0], xr[1], xr[2], x_buffer, out)


@parallel_jit
def forces_parallel(
    printed, volumetric, index, weights, bulk, starts, middle,
    f_starts, length, index_at, rest_at, f_index, rest, xr, yr, x_buffer, y_buffer, scratch, x, y, h, out,
):  # fmt: skip
    parts, n, together = xr.shape[1], out.shape[0], printed and volumetric
    for p in prange(parts):
        _first_pass(p, together, index, weights, bulk, starts, middle, xr, x_buffer, scratch, x, y)
    for p in prange(parts):
        _second_pass(
            p, printed, f_starts, length, index_at, rest_at, f_index, rest, xr, yr,
            x_buffer, y_buffer, scratch, x, y,
        )  # fmt: skip
    if not printed:
        for p in prange(parts):
            _third_pass(
                p, volumetric, index, weights, bulk, starts, middle, xr, yr,
                x_buffer, y_buffer, scratch, x, h,
            )  # fmt: skip
    for c in prange(CHUNKS):
        reduce_rows(c * n // CHUNKS, (c + 1) * n // CHUNKS, xr[0], xr[1], xr[2], x_buffer, out)


@jit
def _vectors(first, last, length, index_at, rest_at, index, rest, x, y, out, w, g):
    for b in range(first, last):
        _gather(index_at[b], length[b], index, x, y, w, 3)
        _image_and_area(3, length[b], rest_at[b], rest, w, g)
        for i in range(16):
            for c in range(6):
                out[16 * b + i, c] = g[16 * c + i]


@jit
def vectors_serial(index, weights, length, index_at, rest_at, f_index, rest, scratch, x, y, out):
    """m and N of every face, (slots, 6)."""
    w, g = np.empty(scratch), np.empty(16 * ROWS)
    _points(0, index.shape[0], index, weights, x, y)
    _vectors(0, length.shape[0], length, index_at, rest_at, f_index, rest, x, y, out, w, g)


@parallel_jit
def vectors_parallel(index, weights, length, index_at, rest_at, f_index, rest, scratch, x, y, out):
    blocks, faces = index.shape[0], length.shape[0]
    for c in prange(CHUNKS):
        _points(c * blocks // CHUNKS, (c + 1) * blocks // CHUNKS, index, weights, x, y)
    for c in prange(CHUNKS):
        w, g = np.empty(scratch), np.empty(16 * ROWS)
        a = c * faces // CHUNKS
        b = (c + 1) * faces // CHUNKS
        _vectors(a, b, length, index_at, rest_at, f_index, rest, x, y, out, w, g)
