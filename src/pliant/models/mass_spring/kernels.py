"""Compiled loops of the mass-spring model: springs, their damping, and the volumetric term per tet."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.compiled import jit, parallel_jit, prange

TINY = 1e-300  # keeps a collapsed spring (length zero) from dividing by zero: its force is zero


@jit
def _shift(low, offset, p):
    """What turns a particle into its row of partition p's part of the buffer; unsigned, modulo 2^64, so that
    the compiler need not think of negative indices."""
    return np.uint64(offset[p]) - np.uint64(low[p])


@jit
def _pull(dx, dy, dz, length, stiffness):
    """The force of a spring over its vector d."""
    return stiffness * (1.0 - length / np.sqrt(dx * dx + dy * dy + dz * dz + TINY))


@jit
def _spring_blocks(first, last, index, rest, x, buffer, shift, w):
    for b in range(first, last):
        nodes = index[b]
        row = rest[b]
        for i in range(16):
            p = nodes[i, 0]
            q = nodes[i, 1]
            r = nodes[i, 2]
            px = x[p, 0]
            py = x[p, 1]
            pz = x[p, 2]
            w[i] = px - x[q, 0]
            w[16 + i] = py - x[q, 1]
            w[32 + i] = pz - x[q, 2]
            w[48 + i] = px - x[r, 0]
            w[64 + i] = py - x[r, 1]
            w[80 + i] = pz - x[r, 2]
        for i in range(16):
            s = _pull(w[i], w[16 + i], w[32 + i], row[i], row[16 + i])
            t = _pull(w[48 + i], w[64 + i], w[80 + i], row[32 + i], row[48 + i])
            w[i] *= s
            w[16 + i] *= s
            w[32 + i] *= s
            w[48 + i] *= t
            w[64 + i] *= t
            w[80 + i] *= t
        for i in range(16):
            p = np.uint64(nodes[i, 0]) + shift
            q = np.uint64(nodes[i, 1]) + shift
            r = np.uint64(nodes[i, 2]) + shift
            qx = w[i]
            qy = w[16 + i]
            qz = w[32 + i]
            rx = w[48 + i]
            ry = w[64 + i]
            rz = w[80 + i]
            buffer[p, 0] -= qx + rx
            buffer[p, 1] -= qy + ry
            buffer[p, 2] -= qz + rz
            buffer[q, 0] += qx
            buffer[q, 1] += qy
            buffer[q, 2] += qz
            buffer[r, 0] += rx
            buffer[r, 1] += ry
            buffer[r, 2] += rz


@jit
def spring_forces_serial(starts, low, offset, index, rest, x, buffer):
    w = np.empty(96)
    for p in range(low.shape[0]):
        _spring_blocks(starts[p], starts[p + 1], index, rest, x, buffer, _shift(low, offset, p), w)


@parallel_jit
def spring_forces_parallel(starts, low, offset, index, rest, x, buffer):
    for p in prange(low.shape[0]):
        w = np.empty(96)
        _spring_blocks(starts[p], starts[p + 1], index, rest, x, buffer, _shift(low, offset, p), w)


@jit
def _damping_blocks(first, last, index, rest, beta, x, v, buffer, shift, w):
    for b in range(first, last):
        nodes = index[b]
        row = rest[b]
        for e in range(2):
            for i in range(16):
                p = nodes[i, 0]
                q = nodes[i, 1 + e]
                w[i] = x[q, 0] - x[p, 0]
                w[16 + i] = x[q, 1] - x[p, 1]
                w[32 + i] = x[q, 2] - x[p, 2]
                w[48 + i] = v[q, 0] - v[p, 0]
                w[64 + i] = v[q, 1] - v[p, 1]
                w[80 + i] = v[q, 2] - v[p, 2]
            for i in range(16):
                dx = w[i]
                dy = w[16 + i]
                dz = w[32 + i]
                rate = dx * w[48 + i] + dy * w[64 + i] + dz * w[80 + i]
                s = beta * row[32 * e + 16 + i] * rate / (dx * dx + dy * dy + dz * dz + TINY)
                w[i] = s * dx
                w[16 + i] = s * dy
                w[32 + i] = s * dz
            for i in range(16):
                p = np.uint64(nodes[i, 0]) + shift
                q = np.uint64(nodes[i, 1 + e]) + shift
                for c in range(3):
                    g = w[16 * c + i]
                    buffer[p, c] += g
                    buffer[q, c] -= g


@jit
def spring_damping_serial(starts, low, offset, index, rest, beta, x, v, buffer):
    w = np.empty(96)
    for p in range(low.shape[0]):
        shift = _shift(low, offset, p)
        _damping_blocks(starts[p], starts[p + 1], index, rest, beta, x, v, buffer, shift, w)


@parallel_jit
def spring_damping_parallel(starts, low, offset, index, rest, beta, x, v, buffer):
    for p in prange(low.shape[0]):
        w = np.empty(96)
        shift = _shift(low, offset, p)
        _damping_blocks(starts[p], starts[p + 1], index, rest, beta, x, v, buffer, shift, w)


@jit
def _volume_blocks(first, last, index, rest, x, buffer, shift, w):
    for b in range(first, last):
        nodes = index[b]
        row = rest[b]
        for i in range(16):
            p = nodes[i, 0]
            q = nodes[i, 1]
            r = nodes[i, 2]
            s = nodes[i, 3]
            px = x[p, 0]
            py = x[p, 1]
            pz = x[p, 2]
            w[i] = px - x[q, 0]
            w[16 + i] = py - x[q, 1]
            w[32 + i] = pz - x[q, 2]
            w[48 + i] = px - x[r, 0]
            w[64 + i] = py - x[r, 1]
            w[80 + i] = pz - x[r, 2]
            w[96 + i] = px - x[s, 0]
            w[112 + i] = py - x[s, 1]
            w[128 + i] = pz - x[s, 2]
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
            volume = (ax * gx + ay * gy + az * gz) / -6.0  # edges point to the first particle
            s = -row[16 + i] * (volume - row[i]) / 6.0
            w[i] = s * gx
            w[16 + i] = s * gy
            w[32 + i] = s * gz
            w[48 + i] = s * (cy * az - cz * ay)
            w[64 + i] = s * (cz * ax - cx * az)
            w[80 + i] = s * (cx * ay - cy * ax)
            w[96 + i] = s * (ay * bz - az * by)
            w[112 + i] = s * (az * bx - ax * bz)
            w[128 + i] = s * (ax * by - ay * bx)
        for i in range(16):
            p = np.uint64(nodes[i, 0]) + shift
            q = np.uint64(nodes[i, 1]) + shift
            r = np.uint64(nodes[i, 2]) + shift
            s = np.uint64(nodes[i, 3]) + shift
            qx = w[i]
            qy = w[16 + i]
            qz = w[32 + i]
            rx = w[48 + i]
            ry = w[64 + i]
            rz = w[80 + i]
            sx = w[96 + i]
            sy = w[112 + i]
            sz = w[128 + i]
            buffer[q, 0] += qx
            buffer[q, 1] += qy
            buffer[q, 2] += qz
            buffer[r, 0] += rx
            buffer[r, 1] += ry
            buffer[r, 2] += rz
            buffer[s, 0] += sx
            buffer[s, 1] += sy
            buffer[s, 2] += sz
            buffer[p, 0] -= qx + rx + sx
            buffer[p, 1] -= qy + ry + sy
            buffer[p, 2] -= qz + rz + sz


@jit
def force_serial(low, offset, spring_starts, springs, spring_rest, tet_starts, tets, tet_rest, x, buffer):
    w = np.empty(144)
    for p in range(low.shape[0]):
        shift = _shift(low, offset, p)
        _spring_blocks(spring_starts[p], spring_starts[p + 1], springs, spring_rest, x, buffer, shift, w)
        _volume_blocks(tet_starts[p], tet_starts[p + 1], tets, tet_rest, x, buffer, shift, w)


@parallel_jit
def force_parallel(low, offset, spring_starts, springs, spring_rest, tet_starts, tets, tet_rest, x, buffer):
    for p in prange(low.shape[0]):
        w = np.empty(144)
        shift = _shift(low, offset, p)
        _spring_blocks(spring_starts[p], spring_starts[p + 1], springs, spring_rest, x, buffer, shift, w)
        _volume_blocks(tet_starts[p], tet_starts[p + 1], tets, tet_rest, x, buffer, shift, w)
