"""Compiled loops of CPM1: dual vertices, faces, and what the tets pass on to their particles.

A force evaluation is four passes: positions y of the dual vertices; per face the gradient of its energy,
scattered to particles and dual vertices; the sum of what each dual vertex got; per tet that sum by its
weights and the volumetric force, scattered to the particles. The printed form stops after the second and
adds the volumetric force.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.compiled import jit, parallel_jit, prange
from pliant.models.blocks import _reduce_rows
from pliant.models.particles.faces import face_gradient, printed_force

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
def _gather(o, length, ring, index, x, y, w, at):
    """Into ``w`` from row ``at``: d (3 rows), fan and ring relative to the edge's midpoint (3 rows each)."""
    for i in range(16):
        p = index[o + i]
        q = index[o + 16 + i]
        for c in range(3):
            a = x[p, c]
            b = x[q, c]
            w[16 * (at + c) + i] = b - a
            w[16 * c + i] = 0.5 * (a + b)
    t = 16 * (at + 3)
    o += 32
    for _ in range(length):
        for i in range(16):
            v = index[o + i]
            w[t + i] = y[v, 0] - w[i]
            w[t + 16 + i] = y[v, 1] - w[16 + i]
            w[t + 32 + i] = y[v, 2] - w[32 + i]
        o += 16
        t += 48
    for _ in range(ring):
        for i in range(16):
            v = index[o + i]
            w[t + i] = x[v, 0] - w[i]
            w[t + 16 + i] = x[v, 1] - w[16 + i]
            w[t + 32 + i] = x[v, 2] - w[32 + i]
        o += 16
        t += 48


@jit
def _image(at, length, ring, r, rest, w, to):
    """The image m of the rest normal, ``along d + sum weight ring``, into rows ``to`` of ``w``."""
    for i in range(16):
        a = rest[r + i]
        w[16 * to + i] = a * w[16 * at + i]
        w[16 * (to + 1) + i] = a * w[16 * (at + 1) + i]
        w[16 * (to + 2) + i] = a * w[16 * (at + 2) + i]
    t = 16 * (at + 3 + 3 * length)
    for _ in range(ring):
        r += 16
        for i in range(16):
            a = rest[r + i]
            w[16 * to + i] += a * w[t + i]
            w[16 * (to + 1) + i] += a * w[t + 16 + i]
            w[16 * (to + 2) + i] += a * w[t + 32 + i]
        t += 48


@jit
def _area(at, length, w, to):
    """The area vector ``1/2 sum v_k x v_k+1`` into rows ``to`` of ``w``."""
    for i in range(48):
        w[16 * to + i] = 0.0
    t = 16 * (at + 3)
    n = 16 * to
    for _ in range(length - 1):
        for i in range(16):
            ax = w[t + i]
            ay = w[t + 16 + i]
            az = w[t + 32 + i]
            bx = w[t + 48 + i]
            by = w[t + 64 + i]
            bz = w[t + 80 + i]
            w[n + i] += 0.5 * (ay * bz - az * by)
            w[n + 16 + i] += 0.5 * (az * bx - ax * bz)
            w[n + 32 + i] += 0.5 * (ax * by - ay * bx)
        t += 48


@jit
def _pull_back(at, length, w, g):
    """Gradients at the fan from that at N (rows ``g``): ``h_k = 1/2 (v_k+1 - v_k-1) x g``, over the fan.

    Rows ``g + 3`` get the midpoint's, ``1/2 (v_0 - v_last) x g``.
    """
    first = 16 * (at + 3)
    last = first + 48 * (length - 1)
    n = 16 * g
    for i in range(16):
        gx = 0.5 * w[n + i]
        gy = 0.5 * w[n + 16 + i]
        gz = 0.5 * w[n + 32 + i]
        ax = w[first + i] - w[last + i]
        ay = w[first + 16 + i] - w[last + 16 + i]
        az = w[first + 32 + i] - w[last + 32 + i]
        w[n + 48 + i] = ay * gz - az * gy
        w[n + 64 + i] = az * gx - ax * gz
        w[n + 80 + i] = ax * gy - ay * gx
        w[i] = 0.0  # v_k-1, for the first the midpoint
        w[16 + i] = 0.0
        w[32 + i] = 0.0
    t = first
    for k in range(length):
        more = 1.0 if k + 1 < length else 0.0
        s = t + 48 if k + 1 < length else t
        for i in range(16):
            gx = 0.5 * w[n + i]
            gy = 0.5 * w[n + 16 + i]
            gz = 0.5 * w[n + 32 + i]
            ax = more * w[s + i] - w[i]
            ay = more * w[s + 16 + i] - w[16 + i]
            az = more * w[s + 32 + i] - w[32 + i]
            w[i] = w[t + i]
            w[16 + i] = w[t + 16 + i]
            w[32 + i] = w[t + 32 + i]
            w[t + i] = ay * gz - az * gy
            w[t + 16 + i] = az * gx - ax * gz
            w[t + 32 + i] = ax * gy - ay * gx
        t += 48


@jit
def _scatter(o, at, length, ring, r, index, rest, w, m, g, x_buffer, x_shift, y_buffer, y_shift):
    """Subtract the gradients from the buffers: m's (rows ``m``) by weights, the midpoint's, the fan's."""
    for i in range(16):
        p = index[o + i] + x_shift
        q = index[o + 16 + i] + x_shift
        a = rest[r + i]
        for c in range(3):
            ends = a * w[16 * (m + c) + i]
            w[16 * c + i] = 0.5 * w[16 * (g + 3 + c) + i]
            x_buffer[p, c] += ends
            x_buffer[q, c] -= ends
    u = o + 32 + 16 * length
    s = r
    for _ in range(ring):
        s += 16
        for i in range(16):
            v = index[u + i] + x_shift
            a = rest[s + i]
            for c in range(3):
                f = a * w[16 * (m + c) + i]
                w[16 * c + i] -= 0.5 * f
                x_buffer[v, c] -= f
        u += 16
    for i in range(16):
        p = index[o + i] + x_shift
        q = index[o + 16 + i] + x_shift
        for c in range(3):
            x_buffer[p, c] -= w[16 * c + i]
            x_buffer[q, c] -= w[16 * c + i]
    u = o + 32
    t = 16 * (at + 3)
    for _ in range(length):
        for i in range(16):
            v = index[u + i] + y_shift
            y_buffer[v, 0] -= w[t + i]
            y_buffer[v, 1] -= w[t + 16 + i]
            y_buffer[v, 2] -= w[t + 32 + i]
        u += 16
        t += 48


@jit
def _faces(
    first, last, printed, length, ring, index_at, rest_at, index, rest, x, y,
    x_buffer, x_shift, y_buffer, y_shift, w,
):  # fmt: skip
    """Forces of blocks of faces. Rows of ``w``: 0 midpoint, 3 m, 6 N (and 9 after it), 12 d, fan, ring."""
    for b in range(first, last):
        n, k = length[b], ring[b]
        o, r = index_at[b], rest_at[b]
        _gather(o, n, k, index, x, y, w, 12)
        _image(12, n, k, r + 48, rest, w, 3)
        _area(12, n, w, 6)
        if printed:
            for i in range(16):
                fx, fy, fz = printed_force(
                    w[48 + i], w[64 + i], w[80 + i], w[96 + i], w[112 + i], w[128 + i],
                    rest[r + i], rest[r + 16 + i], rest[r + 32 + i], 0.0,
                )  # fmt: skip
                w[48 + i] = fx
                w[64 + i] = fy
                w[80 + i] = fz
            for i in range(16):
                p = index[o + i] + x_shift
                q = index[o + 16 + i] + x_shift
                for c in range(3):
                    f = w[48 + 16 * c + i]
                    x_buffer[p, c] += f
                    x_buffer[q, c] -= f
        else:
            for i in range(16):
                ax, ay, az, bx, by, bz = face_gradient(
                    w[48 + i], w[64 + i], w[80 + i], w[96 + i], w[112 + i], w[128 + i],
                    rest[r + i], rest[r + 16 + i], rest[r + 32 + i],
                )  # fmt: skip
                w[48 + i] = ax
                w[64 + i] = ay
                w[80 + i] = az
                w[96 + i] = bx
                w[112 + i] = by
                w[128 + i] = bz
            _pull_back(12, n, w, 6)
            _scatter(o, 12, n, k, r + 48, index, rest, w, 3, 6, x_buffer, x_shift, y_buffer, y_shift)


@jit
def _tets(first, last, index, weights, bulk, x, h, pull, buffer, shift, w):
    """Pass the dual vertices' forces h on by weights (if ``pull``), and add the volumetric force.

    bulk rows: rest volume V, lambda / V; ``-lambda (J - 1) dV/dx = -(lambda / V) (vol - V) dV/dx``.
    """
    for b in range(first, last):
        row = bulk[b]
        for i in range(16):
            p = index[b, i, 0]
            q = index[b, i, 1]
            r = index[b, i, 2]
            s = index[b, i, 3]
            for c in range(3):
                w[16 * c + i] = x[q, c] - x[p, c]
                w[48 + 16 * c + i] = x[r, c] - x[p, c]
                w[96 + 16 * c + i] = x[s, c] - x[p, c]
        for i in range(16):
            ax = w[i]
            ay = w[16 + i]
            az = w[32 + i]
            bx = w[48 + i]
            by = w[64 + i]
            bz = w[80 + i]
            cx = w[96 + i]
            cy = w[112 + i]
            cz = w[128 + i]
            gx = by * cz - bz * cy
            gy = bz * cx - bx * cz
            gz = bx * cy - by * cx
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
        if pull:
            own = weights[b]
            for i in range(16):
                p = index[b, i, 0] + shift
                q = index[b, i, 1] + shift
                r = index[b, i, 2] + shift
                s = index[b, i, 3] + shift
                for c in range(3):
                    g = h[16 * b + i, c]
                    fq = w[16 * c + i]
                    fr = w[48 + 16 * c + i]
                    fs = w[96 + 16 * c + i]
                    buffer[q, c] += fq + own[16 + i] * g
                    buffer[r, c] += fr + own[32 + i] * g
                    buffer[s, c] += fs + own[48 + i] * g
                    buffer[p, c] += own[i] * g - (fq + fr + fs)
        else:
            for i in range(16):
                p = index[b, i, 0] + shift
                q = index[b, i, 1] + shift
                r = index[b, i, 2] + shift
                s = index[b, i, 3] + shift
                for c in range(3):
                    fq = w[16 * c + i]
                    fr = w[48 + 16 * c + i]
                    fs = w[96 + 16 * c + i]
                    buffer[q, c] += fq
                    buffer[r, c] += fr
                    buffer[s, c] += fs
                    buffer[p, c] -= fq + fr + fs


@jit
def forces_serial(
    printed, volumetric, starts, low, high, offset, index, weights, bulk, buffer,
    f_starts, length, ring, index_at, rest_at, f_index, rest, xr, yr, x_buffer, y_buffer, scratch,
    x, y, h, out,
):  # fmt: skip
    w = np.empty(scratch)
    _points(0, index.shape[0], index, weights, x, y)
    for p in range(xr.shape[1]):
        _faces(
            f_starts[p], f_starts[p + 1], printed, length, ring, index_at, rest_at, f_index, rest, x, y,
            x_buffer, xr[2, p] - xr[0, p], y_buffer, yr[2, p] - yr[0, p], w,
        )  # fmt: skip
    if not printed:
        h.fill(0.0)
        _reduce_rows(0, h.shape[0], yr[0], yr[1], yr[2], y_buffer, h)
    if volumetric or not printed:
        for p in range(low.shape[0]):
            _tets(
                starts[p], starts[p + 1], index, weights, bulk, x, h, not printed,
                buffer, offset[p] - low[p], w,
            )  # fmt: skip
        _reduce_rows(0, out.shape[0], low, high, offset, buffer, out)
    _reduce_rows(0, out.shape[0], xr[0], xr[1], xr[2], x_buffer, out)


@parallel_jit
def forces_parallel(
    printed, volumetric, starts, low, high, offset, index, weights, bulk, buffer,
    f_starts, length, ring, index_at, rest_at, f_index, rest, xr, yr, x_buffer, y_buffer, scratch,
    x, y, h, out,
):  # fmt: skip
    blocks, n, slots = index.shape[0], out.shape[0], h.shape[0]
    for c in prange(CHUNKS):
        _points(c * blocks // CHUNKS, (c + 1) * blocks // CHUNKS, index, weights, x, y)
    for p in prange(xr.shape[1]):
        w = np.empty(scratch)
        _faces(
            f_starts[p], f_starts[p + 1], printed, length, ring, index_at, rest_at, f_index, rest, x, y,
            x_buffer, xr[2, p] - xr[0, p], y_buffer, yr[2, p] - yr[0, p], w,
        )  # fmt: skip
    if not printed:
        for c in prange(CHUNKS):
            a = c * slots // CHUNKS
            b = (c + 1) * slots // CHUNKS
            h[a:b] = 0.0
            _reduce_rows(a, b, yr[0], yr[1], yr[2], y_buffer, h)
    if volumetric or not printed:
        for p in prange(low.shape[0]):
            w = np.empty(scratch)
            _tets(
                starts[p], starts[p + 1], index, weights, bulk, x, h, not printed,
                buffer, offset[p] - low[p], w,
            )  # fmt: skip
        for c in prange(CHUNKS):
            _reduce_rows(c * n // CHUNKS, (c + 1) * n // CHUNKS, low, high, offset, buffer, out)
    for c in prange(CHUNKS):
        _reduce_rows(c * n // CHUNKS, (c + 1) * n // CHUNKS, xr[0], xr[1], xr[2], x_buffer, out)


@jit
def _vectors(first, last, length, ring, index_at, rest_at, index, rest, x, y, out, w):
    for b in range(first, last):
        _gather(index_at[b], length[b], ring[b], index, x, y, w, 12)
        _image(12, length[b], ring[b], rest_at[b] + 48, rest, w, 3)
        _area(12, length[b], w, 6)
        for i in range(16):
            for c in range(6):
                out[16 * b + i, c] = w[16 * (3 + c) + i]


@jit
def vectors_serial(index, weights, length, ring, index_at, rest_at, f_index, rest, scratch, x, y, out):
    """m and N of every face, (slots, 6)."""
    _points(0, index.shape[0], index, weights, x, y)
    _vectors(0, length.shape[0], length, ring, index_at, rest_at, f_index, rest, x, y, out, np.empty(scratch))


@parallel_jit
def vectors_parallel(index, weights, length, ring, index_at, rest_at, f_index, rest, scratch, x, y, out):
    blocks, faces = index.shape[0], length.shape[0]
    for c in prange(CHUNKS):
        _points(c * blocks // CHUNKS, (c + 1) * blocks // CHUNKS, index, weights, x, y)
    for c in prange(CHUNKS):
        w = np.empty(scratch)
        a = c * faces // CHUNKS
        b = (c + 1) * faces // CHUNKS
        _vectors(a, b, length, ring, index_at, rest_at, f_index, rest, x, y, out, w)
