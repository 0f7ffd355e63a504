r"""Compiled forces, damping, energies and stiffness products of springs in blocks of 16 pairs, and those of
the volumetric terms of tets.

Stiffness of a spring of length l, rest length L, direction n: :math:`K = k\,n n^T + k \max(0, 1 - L/l)
(1 - n n^T)`; the maximum keeps it positive semi-definite where a spring is compressed. Volumetric term of a
tet with volume gradients g: :math:`(\lambda - \mu)\,g g^T / V`.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.element_blocks import reduce_rows
from pliant.kernels.jit import jit, packing, partition, partition_count, prange, twin
from pliant.kernels.tensors import cross, determinant, dot, lane, plus, put_lane, scaled
from pliant.models.tets.kernels import SCRATCH, gather_edges, scatter_forces, take

TINY = 1e-300  # keeps a collapsed spring (length zero) from dividing by zero: its force is zero


@jit
def shift_of(low, offset, p):
    """What turns a particle into its row of partition p's part of the buffer; unsigned, modulo 2^64, so that
    the compiler need not think of negative indices."""
    return np.uint64(offset[p]) - np.uint64(low[p])


@jit
def bring_near(first, last, x, near, shift):
    """Copy the positions of the particles ``first`` to ``last`` into rows of four."""
    for i in range(first, last):
        r = np.uint64(i) + shift
        near[r, 0] = x[i, 0]
        near[r, 1] = x[i, 1]
        near[r, 2] = x[i, 2]
        near[r, 3] = 0.0


@jit
def add_row(buffer, r, f0, f1, f2, f3):
    b0, b1, b2, b3 = buffer[r, 0], buffer[r, 1], buffer[r, 2], buffer[r, 3]
    buffer[r, 0] = b0 + f0
    buffer[r, 1] = b1 + f1
    buffer[r, 2] = b2 + f2
    buffer[r, 3] = b3 + f3


@jit
def edge_row(near, p, r, w, k):
    """The vector from particle r to particle p, into ``w[k:k + 4]``."""
    d0, d1 = near[p, 0] - near[r, 0], near[p, 1] - near[r, 1]
    d2, d3 = near[p, 2] - near[r, 2], near[p, 3] - near[r, 3]
    w[k] = d0
    w[k + 1] = d1
    w[k + 2] = d2
    w[k + 3] = d3


@jit
def _pull(dx, dy, dz, zero, length, stiffness):
    """The force of a spring over its vector."""
    return stiffness * (1.0 - length / np.sqrt(dx * dx + dy * dy + dz * dz + (zero * zero + TINY)))


@jit
def _spring_blocks(first, last, index, rest, near, buffer, shift, w, pull):
    for b in range(first, last):
        nodes = index[b]
        row = rest[b]
        for i in range(16):
            p = np.uint64(nodes[i, 0]) + shift
            edge_row(near, p, np.uint64(nodes[i, 1]) + shift, w, 4 * i)
            edge_row(near, p, np.uint64(nodes[i, 2]) + shift, w, 64 + 4 * i)
        for i in range(32):
            k = 4 * i
            pull[i] = _pull(w[k], w[k + 1], w[k + 2], w[k + 3], row[i], row[32 + i])
        for i in range(16):
            k = 4 * i
            s = pull[i]
            t = pull[16 + i]
            q0, q1, q2, q3 = s * w[k], s * w[k + 1], s * w[k + 2], s * w[k + 3]
            r0, r1, r2, r3 = t * w[64 + k], t * w[65 + k], t * w[66 + k], t * w[67 + k]
            add_row(buffer, np.uint64(nodes[i, 0]) + shift, -(q0 + r0), -(q1 + r1), -(q2 + r2), -(q3 + r3))
            add_row(buffer, np.uint64(nodes[i, 1]) + shift, q0, q1, q2, q3)
            add_row(buffer, np.uint64(nodes[i, 2]) + shift, r0, r1, r2, r3)


@jit
def _volume_blocks(first, last, index, rest, near, buffer, shift, w, f):
    """Pairs of tets (``pairs.py``); ``rest``: six times the volumes of the two, then their stiffness
    against volume over 36. With s and t the two pressures and ``m = s c - t d``, the forces on
    the far ends of a, b, c, d are ``b x m``, ``m x a``, ``s a x b`` and ``-t a x b``.
    """
    for n in range(first, last):
        nodes = index[n]
        row = rest[n]
        for i in range(16):
            p = np.uint64(nodes[i, 0]) + shift
            k = 4 * i
            edge_row(near, np.uint64(nodes[i, 1]) + shift, p, w, k)
            edge_row(near, np.uint64(nodes[i, 2]) + shift, p, w, 64 + k)
            edge_row(near, np.uint64(nodes[i, 3]) + shift, p, w, 128 + k)
            edge_row(near, np.uint64(nodes[i, 4]) + shift, p, w, 192 + k)
        for i in range(16):
            k = 4 * i
            ax, ay, az, a0 = w[k], w[k + 1], w[k + 2], w[k + 3]
            bx, by, bz, b0 = w[64 + k], w[65 + k], w[66 + k], w[67 + k]
            cx, cy, cz, c0 = w[128 + k], w[129 + k], w[130 + k], w[131 + k]
            dx, dy, dz, d0 = w[192 + k], w[193 + k], w[194 + k], w[195 + k]
            zero = (a0 + b0) + (c0 + d0)
            nx = ay * bz - az * by
            ny = az * bx - ax * bz
            nz = ax * by - ay * bx
            s = row[32 + i] * (row[i] - (cx * nx + cy * ny + cz * nz))
            t = row[48 + i] * (row[16 + i] + (dx * nx + dy * ny + dz * nz))
            mx = s * cx - t * dx
            my = s * cy - t * dy
            mz = s * cz - t * dz
            f[k] = by * mz - bz * my
            f[k + 1] = bz * mx - bx * mz
            f[k + 2] = bx * my - by * mx
            f[k + 3] = zero
            f[k + 64] = my * az - mz * ay
            f[k + 65] = mz * ax - mx * az
            f[k + 66] = mx * ay - my * ax
            f[k + 67] = zero
            f[k + 128] = s * nx
            f[k + 129] = s * ny
            f[k + 130] = s * nz
            f[k + 131] = zero
            f[k + 192] = -t * nx
            f[k + 193] = -t * ny
            f[k + 194] = -t * nz
            f[k + 195] = zero
        for i in range(16):
            k = 4 * i
            q0, q1, q2, q3 = f[k], f[k + 1], f[k + 2], f[k + 3]
            r0, r1, r2, r3 = f[k + 64], f[k + 65], f[k + 66], f[k + 67]
            s0, s1, s2, s3 = f[k + 128], f[k + 129], f[k + 130], f[k + 131]
            t0, t1, t2, t3 = f[k + 192], f[k + 193], f[k + 194], f[k + 195]
            add_row(buffer, np.uint64(nodes[i, 1]) + shift, q0, q1, q2, q3)
            add_row(buffer, np.uint64(nodes[i, 2]) + shift, r0, r1, r2, r3)
            add_row(buffer, np.uint64(nodes[i, 3]) + shift, s0, s1, s2, s3)
            add_row(buffer, np.uint64(nodes[i, 4]) + shift, t0, t1, t2, t3)
            p0, p1 = -((q0 + r0) + (s0 + t0)), -((q1 + r1) + (s1 + t1))
            p2, p3 = -((q2 + r2) + (s2 + t2)), -((q3 + r3) + (s3 + t3))
            add_row(buffer, np.uint64(nodes[i, 0]) + shift, p0, p1, p2, p3)


@jit
def _partition(p, low, high, offset, springs, spring_rest, tets, tet_rest, x, near, buffer):
    """All forces of one partition; ``springs`` and ``tets`` are (starts, index)."""
    w = np.empty(256)
    f = np.empty(256)
    shift = shift_of(low, offset, p)
    bring_near(low[p], high[p], x, near, shift)
    starts, index = springs
    _spring_blocks(starts[p], starts[p + 1], index, spring_rest, near, buffer, shift, w, f)
    starts, index = tets
    _volume_blocks(starts[p], starts[p + 1], index, tet_rest, near, buffer, shift, w, f)


@packing
@twin
def forces(low, high, offset, springs, spring_rest, tets, tet_rest, x, near, buffer, out):
    """Add the forces of springs and tets to ``out``; ``near`` is scratch."""
    for p in prange(low.shape[0]):
        _partition(np.int64(p), low, high, offset, springs, spring_rest, tets, tet_rest, x, near, buffer)
    for p in prange(partition_count(out.shape[0])):
        begin, end = partition(p, out.shape[0])
        reduce_rows(begin, end, low, high, offset, buffer, out)


@jit
def _gather(nodes, e, x, w, at):
    """Vectors of the first (e = 0) or second springs of a block of pairs, into ``w[at:]``."""
    for i in range(16):
        p = nodes[i, 0]
        q = nodes[i, 1 + e]
        for c in range(3):
            w[at + 16 * c + i] = x[q, c] - x[p, c]


@jit
def _scatter(nodes, e, w, buffer, shift):
    """Add the forces in ``w`` to the particles where the springs meet, and subtract them from the others."""
    for i in range(16):
        p = np.uint64(nodes[i, 0]) + shift
        q = np.uint64(nodes[i, 1 + e]) + shift
        for c in range(3):
            g = w[16 * c + i]
            buffer[p, c] += g
            buffer[q, c] -= g


@jit
def _damping_blocks(first, last, index, rest, beta, x, v, buffer, shift, w):
    for b in range(first, last):
        row = rest[b]
        for e in range(2):
            _gather(index[b], e, x, w, 0)
            _gather(index[b], e, v, w, 48)
            for i in range(16):
                d = lane(w, i)
                s = beta * row[32 + 16 * e + i] * dot(d, lane(w, 48 + i)) / (dot(d, d) + TINY)
                put_lane(w, i, scaled(s, d))
            _scatter(index[b], e, w, buffer, shift)


@twin
def spring_damping(starts, low, offset, index, rest, beta, x, v, buffer):
    """``beta k`` times the rate of the springs' lengths, as forces into the buffers."""
    for p in prange(low.shape[0]):
        w = np.empty(96)
        shift = shift_of(low, offset, np.int64(p))
        _damping_blocks(starts[p], starts[p + 1], index, rest, beta, x, v, buffer, shift, w)


LANES = 16 * 9  # columns of the scratch: the lanes' sums


@jit
def _spring_energies(first, last, index, rest, x, w):
    """``sum k (l - L)^2 / 2`` of some blocks of pairs."""
    for i in range(16):
        w[LANES + i] = 0.0
    for b in range(first, last):
        row = rest[b]
        for e in range(2):
            _gather(index[b], e, x, w, 0)
            for i in range(16):
                stretch = np.sqrt(dot(lane(w, i), lane(w, i))) - row[16 * e + i]
                w[LANES + i] += 0.5 * row[32 + 16 * e + i] * stretch * stretch
    total = 0.0
    for i in range(16):
        total += w[LANES + i]
    return total


@jit
def _volume_energies(first, last, index, rest, x, w):
    """``sum (lambda - mu) (v - V)^2 / (2 V)`` of some blocks."""
    for i in range(16):
        w[LANES + i] = 0.0
    for b in range(first, last):
        row = rest[b]
        gather_edges(index[b], x, w, 0)
        for i in range(16):
            d = take(w, i)
            change = determinant(d) - row[i]
            w[LANES + i] += 0.5 * row[16 + i] * change * change
    total = 0.0
    for i in range(16):
        total += w[LANES + i]
    return total


@twin
def spring_energy(starts, index, rest, x, springs):
    """Energy [J] of springs, or of the volumetric terms; partitions are summed in order."""
    sums = np.empty(starts.shape[0] - 1)
    for p in prange(starts.shape[0] - 1):
        w = np.empty(SCRATCH)
        if springs:
            sums[p] = _spring_energies(starts[p], starts[p + 1], index, rest, x, w)
        else:
            sums[p] = _volume_energies(starts[p], starts[p + 1], index, rest, x, w)
    total = 0.0
    for p in range(sums.shape[0]):
        total += sums[p]
    return total


@jit
def _spring_products(first, last, index, rest, x, dx, buffer, shift, w):
    for b in range(first, last):
        row = rest[b]
        for e in range(2):
            _gather(index[b], e, x, w, 0)
            _gather(index[b], e, dx, w, 48)
            for i in range(16):
                d, u = lane(w, i), lane(w, 48 + i)
                stiffness = row[32 + 16 * e + i]
                square = dot(d, d) + TINY
                side = stiffness * max(0.0, 1.0 - row[16 * e + i] / np.sqrt(square))
                along = (stiffness - side) * dot(d, u) / square
                put_lane(w, i, scaled(-1.0, plus(scaled(along, d), scaled(side, u))))
            _scatter(index[b], e, w, buffer, shift)


@twin
def spring_product(starts, low, offset, index, rest, x, dx, buffer):
    """``K dx`` of the springs into the buffers."""
    for p in prange(low.shape[0]):
        w = np.empty(SCRATCH)
        shift = shift_of(low, offset, np.int64(p))
        _spring_products(starts[p], starts[p + 1], index, rest, x, dx, buffer, shift, w)


@jit
def _volume_products(first, last, index, rest, x, dx, buffer, shift, w):
    for b in range(first, last):
        row = rest[b]
        gather_edges(index[b], x, w, 0)
        gather_edges(index[b], dx, w, 144)
        for i in range(16):
            p, q, r = lane(w, i), lane(w, 48 + i), lane(w, 96 + i)
            e, f, g = cross(q, r), cross(r, p), cross(p, q)
            change = dot(e, lane(w, 144 + i))
            change += dot(f, lane(w, 192 + i))
            change += dot(g, lane(w, 240 + i))
            s = row[16 + i] * change
            put_lane(w, i, scaled(s, e))
            put_lane(w, 48 + i, scaled(s, f))
            put_lane(w, 96 + i, scaled(s, g))
        scatter_forces(index[b], w, buffer, shift)


@twin
def volume_product(starts, low, offset, index, rest, x, dx, buffer):
    """``K dx`` of the volumetric terms into the buffers."""
    for p in prange(low.shape[0]):
        w = np.empty(SCRATCH)
        _volume_products(starts[p], starts[p + 1], index, rest, x, dx, buffer, offset[p] - low[p], w)
