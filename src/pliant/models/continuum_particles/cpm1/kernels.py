r"""Compiled loops of CPM1: dual vertices, faces, and what the tets pass on to their particles.

A force evaluation is four passes: positions y of the dual vertices; per face the gradient of its energy,
scattered to particles and dual vertices; per dual vertex the sum of what it got, passed on by its weights,
and the volumetric force of its tet, scattered to the particles; the sum over partitions. The printed form
has no third pass: the volumetric force comes with the first.

Arguments c and f are ``layout.VertexRows`` and ``layout.FaceBlocks``. Dual vertices: index rows of 16 are
their four particles. Rows of ``w``: 0 to 11 corners, then forces on them;
12 the dual vertex or the force on it.

Products use the Gauss-Newton stiffness

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
from pliant.kernels.simd_transpose import INSIDE, add, put_run, take, take_run
from pliant.kernels.tensors import cross, dot, lane, minus, plus, put_lane, scaled
from pliant.models.continuum_particles.cpm1.face_kernels import (
    gather,
    image_and_area,
    pull_back,
    scatter,
    scatter_ends,
)
from pliant.models.continuum_particles.face_law import (
    ROWS,
    block_energy,
    block_gradient,
    block_printed,
    block_product,
    volume_product,
)

OTHER = 16 * 15  # doubles of scratch for a block of dual vertices
PRODUCT_SCRATCH = 16 * 24


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
def _points(first, last, c, x, y, w):
    """``y = sum w x`` for blocks of dual vertices."""
    for b in range(first, last):
        _corners(64 * b, c.particles, x, w)
        _point(c.weights[b], w)
        put_run(y, 16 * b, w, 192)


@jit
def _volumetric(own, w):
    """Volumetric forces on the corners in place of them.

    own: rest volume V, lambda / V; ``-lambda (J - 1) dV/dx = -(lambda / V) (vol - V) dV/dx``.
    """
    for i in range(16):
        o = lane(w, i)
        a, b, c = minus(lane(w, 48 + i), o), minus(lane(w, 96 + i), o), minus(lane(w, 144 + i), o)
        e = cross(b, c)
        s = -own[16 + i] * (dot(a, e) / 6.0 - own[i]) / 6.0
        u, v, z = scaled(s, e), scaled(s, cross(c, a)), scaled(s, cross(a, b))
        put_lane(w, i, scaled(-1.0, plus(plus(u, v), z)))
        put_lane(w, 48 + i, u)
        put_lane(w, 96 + i, v)
        put_lane(w, 144 + i, z)


@jit
def _points_and_volumes(first, last, c, x, y, buffer, shift, w):
    """Dual vertices of blocks of tets, and their volumetric forces."""
    for b in range(first, last):
        _corners(64 * b, c.particles, x, w)
        _point(c.weights[b], w)
        _volumetric(c.bulk[b], w)
        put_run(y, 16 * b, w, 192)
        _forces(64 * b, c.particles, w, buffer, shift)


@jit
def _pass_on(b, c, h, w, buffer, shift):
    """Add a block of dual vertices' forces h by their weights to rows 0 to 11, and scatter those."""
    row = c.weights[b]
    take_run(h, 16 * b, w, 192)
    for k in range(0, 64, 16):
        t = 3 * k
        for i in range(16):
            share = row[k + i]
            w[t + i] += share * w[192 + i]
            w[t + 16 + i] += share * w[208 + i]
            w[t + 32 + i] += share * w[224 + i]
    _forces(64 * b, c.particles, w, buffer, shift)


@jit
def _share(first, last, volumetric, c, x, h, buffer, shift, w):
    """Pass the dual vertices' forces on, with the volumetric forces of their tets."""
    for b in range(first, last):
        if volumetric:
            _corners(64 * b, c.particles, x, w)
            _volumetric(c.bulk[b], w)
        else:
            for i in range(192):
                w[i] = 0.0
        _pass_on(b, c, h, w, buffer, shift)


@jit
def _sum_at(first, last, f, h):
    """What the dual vertices of some blocks got from all partitions, into their rows of ``h``; cleared."""
    begin, end, yr = 16 * first, 16 * last, f.y_ranges
    h[begin:end] = 0.0
    for p in range(yr.shape[1]):
        shift = yr[2, p] - yr[0, p]
        for i in range(max(begin, yr[0, p]), min(end, yr[1, p])):
            for c in range(4):
                h[i, c] += f.y_buffer[i + shift, c]
                f.y_buffer[i + shift, c] = 0.0


@jit
def _first_pass(p, together, c, f, x, y):
    begin, w = c.starts[p], np.empty(OTHER)
    if together:
        begin, shift = c.middle[p], f.x_ranges[2, p] - f.x_ranges[0, p]
        _points_and_volumes(c.starts[p], begin, c, x, y, f.x_buffer, shift, w)
    _points(begin, c.starts[p + 1], c, x, y, w)


@jit
def _second_pass(p, printed, f, x, y):
    """Forces of a partition's faces. Rows of ``w``: 0 gathered, from the middle on gradients."""
    w, g = np.empty(f.scratch), np.empty(16 * ROWS)
    x_shift, y_shift = f.x_ranges[2, p] - f.x_ranges[0, p], f.y_ranges[2, p] - f.y_ranges[0, p]
    for b in range(f.starts[p], f.starts[p + 1]):
        n, o, r, closed = f.vertices[b], f.index_at[b], f.rest_at[b], f.closed[b]
        gather(o, n, closed, f.rows, x, y, w, 0)
        image_and_area(0, n, r, f.rest, w, g)
        if printed:
            block_printed(g, f.rest, r, r + 16, r + 32)
            scatter_ends(o, f.rows, g, 96, f.x_buffer, x_shift)
        else:
            to = 9 + 3 * n
            block_gradient(g, f.rest, r, r + 16, r + 32)
            pull_back(0, to, n, closed, r, f.rest, w, g)
            scatter(o, to, n, closed, f.rows, w, f.x_buffer, x_shift, f.y_buffer, y_shift)


@jit
def _third_pass(p, volumetric, c, f, x, h):
    w, shift = np.empty(OTHER), f.x_ranges[2, p] - f.x_ranges[0, p]
    a, m, b = c.starts[p], c.middle[p], c.starts[p + 1]
    _sum_at(a, b, f, h)
    _share(a, m, volumetric, c, x, h, f.x_buffer, shift, w)
    _share(m, b, False, c, x, h, f.x_buffer, shift, w)


@twin
def forces(printed, volumetric, c, f, x, y, h, out):
    """Add the elastic forces [N] of faces f and of the tets' volumetric term to ``out`` (n, 3)."""
    parts, together = f.x_ranges.shape[1], printed and volumetric
    for p in prange(parts):
        _first_pass(np.int64(p), together, c, f, x, y)
    for p in prange(parts):
        _second_pass(np.int64(p), printed, f, x, y)
    if not printed:
        for p in prange(parts):
            _third_pass(np.int64(p), volumetric, c, f, x, h)
    for p in prange(partition_count(out.shape[0])):
        begin, end = partition(p, out.shape[0])
        reduce_rows(begin, end, f.x_ranges[0], f.x_ranges[1], f.x_ranges[2], f.x_buffer, out)


@jit
def _points_and_energies(first, last, c, x, y, w):
    """Dual vertices of blocks, and the volumetric energy [J] of their tets."""
    total = 0.0
    for b in range(first, last):
        _corners(64 * b, c.particles, x, w)
        _point(c.weights[b], w)
        put_run(y, 16 * b, w, 192)
        own = c.bulk[b]
        for i in range(16):
            o = lane(w, i)
            p, q, r = minus(lane(w, 48 + i), o), minus(lane(w, 96 + i), o), minus(lane(w, 144 + i), o)
            change = dot(p, cross(q, r)) / 6.0 - own[i]
            total += 0.5 * own[16 + i] * change * change
    return total


@jit
def _face_energies(p, f, x, y):
    w, g = np.empty(f.scratch), np.empty(16 * ROWS)
    total = 0.0
    for b in range(f.starts[p], f.starts[p + 1]):
        n, r = f.vertices[b], f.rest_at[b]
        gather(f.index_at[b], n, f.closed[b], f.rows, x, y, w, 0)
        image_and_area(0, n, r, f.rest, w, g)
        total += block_energy(g, f.rest, r, r + 16, r + 32)
    return total


@twin
def energies(c, f, x, y, out):
    """The elastic energy [J] of each partition of the variational form, into ``out``."""
    for p in prange(out.shape[0]):
        w = np.empty(OTHER)
        out[p] = _points_and_energies(c.starts[p], c.starts[p + 1], c, x, y, w)
    for p in prange(out.shape[0]):
        out[p] += _face_energies(np.int64(p), f, x, y)


@jit
def vectors(c, f, x, y, out):
    """m and 2 N of every face, (slots, 6)."""
    w, g = np.empty(f.scratch), np.empty(16 * ROWS)
    _points(0, c.weights.shape[0], c, x, y, w)
    for b in range(f.vertices.shape[0]):
        gather(f.index_at[b], f.vertices[b], f.closed[b], f.rows, x, y, w, 0)
        image_and_area(0, f.vertices[b], f.rest_at[b], f.rest, w, g)
        for i in range(16):
            for k in range(6):
                out[16 * b + i, k] = g[16 * k + i]


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
def _product_first_pass(p, c, x, y, dx, dy):
    w = np.empty(PRODUCT_SCRATCH)
    _points(c.starts[p], c.starts[p + 1], c, x, y, w)
    _points(c.starts[p], c.starts[p + 1], c, dx, dy, w)


@jit
def _product_second_pass(p, f, x, y, dx, dy):
    """Rows of ``w``: gathered positions, gathered changes, gradients."""
    w, g, d = np.empty(f.scratch), np.empty(16 * ROWS), np.empty(96)
    x_shift, y_shift = f.x_ranges[2, p] - f.x_ranges[0, p], f.y_ranges[2, p] - f.y_ranges[0, p]
    for b in range(f.starts[p], f.starts[p + 1]):
        n, o, r, closed = f.vertices[b], f.index_at[b], f.rest_at[b], f.closed[b]
        other = 9 + 3 * n
        gather(o, n, closed, f.rows, x, y, w, 0)
        gather(o, n, closed, f.rows, dx, dy, w, other)
        image_and_area(0, n, r, f.rest, w, g)
        image_and_area(other, n, r, f.rest, w, d)
        _area_change(0, other, n, w, d)
        block_product(g, d, f.rest, r, r + 16, r + 32)
        for i in range(96, 192):
            g[i] = -g[i]
        pull_back(0, 2 * other, n, closed, r, f.rest, w, g)
        scatter(o, 2 * other, n, closed, f.rows, w, f.x_buffer, x_shift, f.y_buffer, y_shift)


@jit
def _product_third_pass(p, c, f, x, dx, h):
    """As ``_third_pass``, with the products of the volumetric stiffness."""
    a, b, w = c.starts[p], c.starts[p + 1], np.empty(PRODUCT_SCRATCH)
    _sum_at(a, b, f, h)
    for k in range(a, b):
        volume_product(c.particles, 64 * k, c.bulk[k], 1, x, dx, w)
        _pass_on(k, c, h, w, f.x_buffer, f.x_ranges[2, p] - f.x_ranges[0, p])


@twin
def product(c, f, x, dx, y, dy, h, out):
    """Add ``K dx`` to ``out`` (n, 3)."""
    for p in prange(f.x_ranges.shape[1]):
        _product_first_pass(np.int64(p), c, x, y, dx, dy)
    for p in prange(f.x_ranges.shape[1]):
        _product_second_pass(np.int64(p), f, x, y, dx, dy)
    for p in prange(f.x_ranges.shape[1]):
        _product_third_pass(np.int64(p), c, f, x, dx, h)
    for p in prange(partition_count(out.shape[0])):
        begin, end = partition(p, out.shape[0])
        reduce_rows(begin, end, f.x_ranges[0], f.x_ranges[1], f.x_ranges[2], f.x_buffer, out)
