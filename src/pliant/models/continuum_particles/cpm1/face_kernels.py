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
        ux, uy, uz = w[t + 144 + i], w[t + 160 + i], w[t + 176 + i]
        vx, vy, vz = w[t + 192 + i], w[t + 208 + i], w[t + 224 + i]
        zx, zy, zz = w[t + 240 + i], w[t + 256 + i], w[t + 272 + i]
        g[i] = (a * w[t + 48 + i] + b * w[t + 96 + i]) + (c * ux + d * vx) + e * zx
        g[16 + i] = (a * w[t + 64 + i] + b * w[t + 112 + i]) + (c * uy + d * vy) + e * zy
        g[32 + i] = (a * w[t + 80 + i] + b * w[t + 128 + i]) + (c * uz + d * vz) + e * zz
        zx -= ux
        zy -= uy
        zz -= uz
        g[48 + i] = vy * zz - vz * zy
        g[64 + i] = vz * zx - vx * zz
        g[80 + i] = vx * zy - vy * zx
    t += 240
    r += 144
    for _ in range((n - LEAST) // 2):
        t &= INSIDE
        r &= INSIDE
        for i in range(16):
            d, e = rest[r + i], rest[r + 16 + i]
            vx, vy, vz = w[t + 48 + i], w[t + 64 + i], w[t + 80 + i]
            zx, zy, zz = w[t + 96 + i], w[t + 112 + i], w[t + 128 + i]
            g[i] += d * vx + e * zx
            g[16 + i] += d * vy + e * zy
            g[32 + i] += d * vz + e * zz
            zx -= w[t + i]
            zy -= w[t + 16 + i]
            zz -= w[t + 32 + i]
            g[48 + i] += vy * zz - vz * zy
            g[64 + i] += vz * zx - vx * zz
            g[80 + i] += vx * zy - vy * zx
        t += 96
        r += 32
    if (n - LEAST) & 1:
        t &= INSIDE
        r &= INSIDE
        for i in range(16):
            d = rest[r + i]
            ux, uy, uz = w[t + i], w[t + 16 + i], w[t + 32 + i]
            vx, vy, vz = w[t + 48 + i], w[t + 64 + i], w[t + 80 + i]
            g[i] += d * vx
            g[16 + i] += d * vy
            g[32 + i] += d * vz
            g[48 + i] += uy * vz - uz * vy
            g[64 + i] += uz * vx - ux * vz
            g[80 + i] += ux * vy - uy * vx


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
        mx, my, mz = g[96 + i], g[112 + i], g[128 + i]
        gx, gy, gz = g[144 + i], g[160 + i], g[176 + i]
        ax, ay, az = (
            w[t + i] - w[last + i],
            w[t + 16 + i] - w[last + 16 + i],
            w[t + 32 + i] - w[last + 32 + i],
        )
        a = rest[r + 80 + i]
        w[o + i] = a * mx + (ay * gz - az * gy)
        w[o + 16 + i] = a * my + (az * gx - ax * gz)
        w[o + 32 + i] = a * mz + (ax * gy - ay * gx)
        a = rest[r + 48 + i]
        w[o + 48 + i] = a * mx
        w[o + 64 + i] = a * my
        w[o + 80 + i] = a * mz
        a = rest[r + 64 + i]
        w[o + 96 + i] = a * mx
        w[o + 112 + i] = a * my
        w[o + 128 + i] = a * mz
    if not closed:
        for i in range(48):
            half = 0.5 * w[o + i]
            w[o + 48 + i] += half
            w[o + 96 + i] += half
    for i in range(16):
        mx, my, mz = g[96 + i], g[112 + i], g[128 + i]
        gx, gy, gz = g[144 + i], g[160 + i], g[176 + i]
        ax, ay, az = w[t + 48 + i], w[t + 64 + i], w[t + 80 + i]
        a = rest[r + 96 + i]
        w[o + 144 + i] = a * mx + (ay * gz - az * gy)
        w[o + 160 + i] = a * my + (az * gx - ax * gz)
        w[o + 176 + i] = a * mz + (ax * gy - ay * gx)
        ax, ay, az = w[last - 48 + i], w[last - 32 + i], w[last - 16 + i]
        a = rest[final + i]
        w[end + i] = a * mx - (ay * gz - az * gy)
        w[end + 16 + i] = a * my - (az * gx - ax * gz)
        w[end + 32 + i] = a * mz - (ax * gy - ay * gx)
    o += 192
    r += 112
    for _ in range(n - 2):
        t &= INSIDE
        o &= INSIDE
        r &= INSIDE
        for i in range(16):
            gx, gy, gz = g[144 + i], g[160 + i], g[176 + i]
            ax, ay, az = (
                w[t + 96 + i] - w[t + i],
                w[t + 112 + i] - w[t + 16 + i],
                w[t + 128 + i] - w[t + 32 + i],
            )
            a = rest[r + i]
            w[o + i] = a * g[96 + i] + (ay * gz - az * gy)
            w[o + 16 + i] = a * g[112 + i] + (az * gx - ax * gz)
            w[o + 32 + i] = a * g[128 + i] + (ax * gy - ay * gx)
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
