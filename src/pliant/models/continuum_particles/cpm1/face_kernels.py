"""Compiled pieces of CPM1's faces, 16 at a time: gather, image and area, gradients, scatter.

A face is a polygon of dual vertices around an edge (i, j). Everything is measured from an origin: a closed
polygon's own first vertex, or the edge's midpoint for an open one, which is closed through it. With u_k the
other vertices, ``m = a (x_i - o) + b (x_j - o) + sum w_k u_k`` and ``2 N = sum u_k x u_k+1``; two triangles
together are one product, ``u_2 x (u_3 - u_1)``.

Rows of the scratch ``w`` from ``at`` on: 0 origin, 3 x_i - o, 6 x_j - o, 9 the u_k. Index rows: i, j, the
closed polygon's origin, the vertices. Rest rows: 0 stretch, 1 shear, 2 floor, 3 a, 4 b, 5 the origin's own
weight ``-(a + b + sum w)``, 6 the w_k.
"""

# mypy: disable-error-code="no-untyped-def"

from pliant.kernels.jit import jit
from pliant.kernels.simd_transpose import INSIDE, add, subtract, take, take_from
from pliant.kernels.tensors import add_lane, cross, lane, minus, plus, put_lane, scaled

HEAD = 6  # rest rows before the weights of the vertices
LEAST = 3  # vertices of a polygon apart from its origin; smaller ones name their origin again


@jit
def gather(o, n, closed, index, x, y, w, at):
    """Rows of ``w`` from ``at`` on for a block whose index rows begin at ``o``."""
    t = (16 * at) & INSIDE
    if closed:
        take(y, index, o + 32, w, t)
        take_from(x, index, o, w, t + 48, t)
        take_from(x, index, o + 16, w, t + 96, t)
        o += 48
    else:
        take(x, index, o, w, t + 48)
        take(x, index, o + 16, w, t + 96)
        for i in range(48):
            half = 0.5 * (w[t + 96 + i] - w[t + 48 + i])
            w[t + i] = w[t + 48 + i] + half
            w[t + 48 + i] = -half
            w[t + 96 + i] = half
        o += 32
    u = t + 144
    for _ in range(n):
        take_from(y, index, o, w, u, t)
        o += 16
        u += 48


@jit
def image_and_area(at, n, r, rest, w, g):
    """m into rows 0 to 2 of ``g``, twice the area vector into rows 3 to 5."""
    t = (16 * at) & INSIDE
    r &= INSIDE
    for i in range(16):
        a, b = rest[r + 48 + i], rest[r + 64 + i]
        c, d, e = rest[r + 96 + i], rest[r + 112 + i], rest[r + 128 + i]
        u, v, z = lane(w, t + 144 + i), lane(w, t + 192 + i), lane(w, t + 240 + i)
        ends = plus(scaled(a, lane(w, t + 48 + i)), scaled(b, lane(w, t + 96 + i)))
        put_lane(g, i, plus(plus(ends, plus(scaled(c, u), scaled(d, v))), scaled(e, z)))
        put_lane(g, 48 + i, cross(v, minus(z, u)))
    t += 240
    r += 144
    for _ in range((n - LEAST) // 2):
        t &= INSIDE
        r &= INSIDE
        for i in range(16):
            d, e = rest[r + i], rest[r + 16 + i]
            u, v, z = lane(w, t + i), lane(w, t + 48 + i), lane(w, t + 96 + i)
            add_lane(g, i, plus(scaled(d, v), scaled(e, z)))
            add_lane(g, 48 + i, cross(v, minus(z, u)))
        t += 96
        r += 32
    if (n - LEAST) & 1:
        t &= INSIDE
        r &= INSIDE
        for i in range(16):
            u, v = lane(w, t + i), lane(w, t + 48 + i)
            add_lane(g, i, scaled(rest[r + i], v))
            add_lane(g, 48 + i, cross(u, v))


@jit
def pull_back(at, to, n, closed, r, rest, w, g):
    """Gradients at origin, ends and vertices into the rows from ``to`` on, laid out as those from ``at`` on.

    From those at m and 2 N in ``g`` (rows 6 and 9): ``w_k m' + (u_k+1 - u_k-1) x N'`` at a vertex. An open
    polygon's origin passes its own on to the ends.
    """
    t = (16 * at + 144) & INSIDE
    o = (16 * to) & INSIDE
    r &= INSIDE
    last = (t + 48 * (n - 1)) & INSIDE
    end = (o + 144 + 48 * (n - 1)) & INSIDE
    final = (r + 96 + 16 * (n - 1)) & INSIDE
    for i in range(16):
        m, area = lane(g, 96 + i), lane(g, 144 + i)
        across = cross(minus(lane(w, t + i), lane(w, last + i)), area)
        put_lane(w, o + i, plus(scaled(rest[r + 80 + i], m), across))
        put_lane(w, o + 48 + i, scaled(rest[r + 48 + i], m))
        put_lane(w, o + 96 + i, scaled(rest[r + 64 + i], m))
    if not closed:
        for i in range(48):
            half = 0.5 * w[o + i]
            w[o + 48 + i] += half
            w[o + 96 + i] += half
    for i in range(16):
        m, area = lane(g, 96 + i), lane(g, 144 + i)
        put_lane(w, o + 144 + i, plus(scaled(rest[r + 96 + i], m), cross(lane(w, t + 48 + i), area)))
        put_lane(w, end + i, minus(scaled(rest[final + i], m), cross(lane(w, last - 48 + i), area)))
    o += 192
    r += 112
    for _ in range(n - 2):
        t &= INSIDE
        o &= INSIDE
        r &= INSIDE
        for i in range(16):
            across = cross(minus(lane(w, t + 96 + i), lane(w, t + i)), lane(g, 144 + i))
            put_lane(w, o + i, plus(scaled(rest[r + i], lane(g, 96 + i)), across))
        t += 48
        o += 48
        r += 16


@jit
def scatter_ends(o, index, g, at, buffer, shift):
    """Add the force in three rows from ``g[at]`` on to particles i, and subtract it from particles j."""
    add(buffer, shift, index, o, g, at)
    subtract(buffer, shift, index, o + 16, g, at)


@jit
def scatter(o, to, n, closed, index, w, x_buffer, x_shift, y_buffer, y_shift):
    """Subtract the gradients in the rows from ``to`` on from the buffers of particles and dual vertices."""
    t = (16 * to) & INSIDE
    subtract(x_buffer, x_shift, index, o, w, t + 48)
    subtract(x_buffer, x_shift, index, o + 16, w, t + 96)
    o += 32
    if closed:
        subtract(y_buffer, y_shift, index, o, w, t)
        o += 16
    t += 144
    for _ in range(n):
        subtract(y_buffer, y_shift, index, o, w, t)
        o += 16
        t += 48
