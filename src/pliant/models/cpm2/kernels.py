"""Compiled loops of CPM2: six sub-faces per tet and the volumetric term, in blocks of 16 tets.

With edge vectors a, b, c from corner 0 and outward-weighted normals ``A_1 = b x c``, ``A_2 = c x a``,
``A_3 = a x b``, ``A_0 = -(A_1 + A_2 + A_3)``, the sub-face between corners i and j has the area vector
``(A_j - A_i) / 24``, and ``dV/dx_k = A_k / 6``.

Rest rows: 0 stretch, 1 shear (for the energy times V/2, printed per area), 2 rest volume, 3 lambda / V, then
four per face: the weights of a, b, c in the image of the unit normal, and the floor of the area.
Rows of ``w``: 0 a, 3 b, 6 c, 9 A_0 .. A_3, 21 gradients at a, b, c, 30 at A_0 .. A_3 (printed: forces on
corners).
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.compiled import jit, parallel_jit, prange
from pliant.models.blocks import _reduce_rows
from pliant.models.particles.faces import INSIDE, ROWS, block_gradient, block_printed
from pliant.models.particles.stiffness import block_product, volume_product

SCRATCH = 16 * 42
FIRST = (0, 0, 0, 1, 1, 2)
SECOND = (1, 2, 3, 2, 3, 3)
OF_FACE = 1.0 / 24.0


@jit
def _gather(nodes, x, w, at):
    """Edge vectors from corner 0 into nine rows from ``at``."""
    for i in range(16):
        p = nodes[i, 0]
        q = nodes[i, 1]
        r = nodes[i, 2]
        s = nodes[i, 3]
        for c in range(3):
            o = x[p, c]
            w[16 * (at + c) + i] = x[q, c] - o
            w[16 * (at + 3 + c) + i] = x[r, c] - o
            w[16 * (at + 6 + c) + i] = x[s, c] - o


@jit
def _normals(w):
    """A_0 .. A_3 into rows 9 to 20 from the edge vectors in rows 0 to 8."""
    for i in range(16):
        ax, ay, az = w[i], w[16 + i], w[32 + i]
        bx, by, bz = w[48 + i], w[64 + i], w[80 + i]
        cx, cy, cz = w[96 + i], w[112 + i], w[128 + i]
        ex, ey, ez = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
        fx, fy, fz = cy * az - cz * ay, cz * ax - cx * az, cx * ay - cy * ax
        gx, gy, gz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        w[144 + i] = -(ex + fx + gx)
        w[160 + i] = -(ey + fy + gy)
        w[176 + i] = -(ez + fz + gz)
        w[192 + i] = ex
        w[208 + i] = ey
        w[224 + i] = ez
        w[240 + i] = fx
        w[256 + i] = fy
        w[272 + i] = fz
        w[288 + i] = gx
        w[304 + i] = gy
        w[320 + i] = gz


@jit
def _face(row, r, p, q, w, at, g):
    """m and N into rows 0 to 5 of ``g``; weights are in ``row`` from r, edges and normals in ``w``."""
    r &= INSIDE
    p &= INSIDE
    q &= INSIDE
    at &= INSIDE
    for i in range(16):
        wa, wb, wc = row[r + i], row[r + 16 + i], row[r + 32 + i]
        g[i] = wa * w[at + i] + wb * w[at + 48 + i] + wc * w[at + 96 + i]
        g[16 + i] = wa * w[at + 16 + i] + wb * w[at + 64 + i] + wc * w[at + 112 + i]
        g[32 + i] = wa * w[at + 32 + i] + wb * w[at + 80 + i] + wc * w[at + 128 + i]
    for i in range(48):
        g[48 + i] = (w[q + i] - w[p + i]) * OF_FACE


@jit
def _add_gradients(row, r, p, q, g, w):
    """Add the gradients at m and N (in ``g``) to those at a, b, c and at the two normals."""
    r &= INSIDE
    u = (p + 336) & INSIDE
    v = (q + 336) & INSIDE
    for i in range(16):
        wa, wb, wc = row[r + i], row[r + 16 + i], row[r + 32 + i]
        w[336 + i] += wa * g[i]
        w[352 + i] += wa * g[16 + i]
        w[368 + i] += wa * g[32 + i]
        w[384 + i] += wb * g[i]
        w[400 + i] += wb * g[16 + i]
        w[416 + i] += wb * g[32 + i]
        w[432 + i] += wc * g[i]
        w[448 + i] += wc * g[16 + i]
        w[464 + i] += wc * g[32 + i]
    for i in range(48):
        w[u + i] -= g[48 + i]
    for i in range(48):
        w[v + i] += g[48 + i]


@jit
def _variational(row, w, g):
    """Gradients of the six faces' energy at a, b, c and at A_0 .. A_3, into rows 21 to 41."""
    for i in range(16 * 21):
        w[336 + i] = 0.0
    for f in range(6):
        r = 64 + 64 * f
        p = 144 + 48 * FIRST[f]
        q = 144 + 48 * SECOND[f]
        _face(row, r, p, q, w, 0, g)
        block_gradient(g, row, 0, 16, r + 48)
        _add_gradients(row, r, p, q, g, w)


@jit
def _pull_back(w):
    """Add the gradients at A_k to those at a, b, c: ``A_1 = b x c`` gives ``c x g`` at b, ``g x b`` at c."""
    for i in range(16):
        ax, ay, az = w[i], w[16 + i], w[32 + i]
        bx, by, bz = w[48 + i], w[64 + i], w[80 + i]
        cx, cy, cz = w[96 + i], w[112 + i], w[128 + i]
        ox, oy, oz = w[480 + i], w[496 + i], w[512 + i]
        ex, ey, ez = (w[528 + i] - ox) * OF_FACE, (w[544 + i] - oy) * OF_FACE, (w[560 + i] - oz) * OF_FACE
        fx, fy, fz = (w[576 + i] - ox) * OF_FACE, (w[592 + i] - oy) * OF_FACE, (w[608 + i] - oz) * OF_FACE
        gx, gy, gz = (w[624 + i] - ox) * OF_FACE, (w[640 + i] - oy) * OF_FACE, (w[656 + i] - oz) * OF_FACE
        w[336 + i] += fy * cz - fz * cy + by * gz - bz * gy
        w[352 + i] += fz * cx - fx * cz + bz * gx - bx * gz
        w[368 + i] += fx * cy - fy * cx + bx * gy - by * gx
        w[384 + i] += cy * ez - cz * ey + gy * az - gz * ay
        w[400 + i] += cz * ex - cx * ez + gz * ax - gx * az
        w[416 + i] += cx * ey - cy * ex + gx * ay - gy * ax
        w[432 + i] += ey * bz - ez * by + ay * fz - az * fy
        w[448 + i] += ez * bx - ex * bz + az * fx - ax * fz
        w[464 + i] += ex * by - ey * bx + ax * fy - ay * fx


@jit
def _printed(row, w, g):
    """Forces of the six faces on the corners as printed, into rows 30 to 41."""
    for i in range(16 * 12):
        w[480 + i] = 0.0
    for f in range(6):
        r = 64 + 64 * f
        p = 144 + 48 * FIRST[f]
        q = 144 + 48 * SECOND[f]
        _face(row, r, p, q, w, 0, g)
        block_printed(g, row, 0, 16, r + 48, 1.0, 1.0)
        u = (p + 336) & INSIDE
        v = (q + 336) & INSIDE
        for i in range(48):
            w[u + i] += g[i]
        for i in range(48):
            w[v + i] -= g[i]


@jit
def _blocks(first, last, printed, index, rest, x, buffer, shift, w, g):
    for b in range(first, last):
        nodes = index[b]
        row = rest[b]
        _gather(nodes, x, w, 0)
        _normals(w)
        if printed:
            _printed(row, w, g)
            for i in range(16):
                volume = (w[i] * w[192 + i] + w[16 + i] * w[208 + i] + w[32 + i] * w[224 + i]) / 6.0
                s = row[48 + i] * (volume - row[32 + i]) / 6.0
                for c in range(12):
                    w[480 + 16 * c + i] -= s * w[144 + 16 * c + i]
            for i in range(16):
                for k in range(4):
                    p = (nodes[i, k] + shift) & INSIDE
                    for c in range(3):
                        buffer[p, c] += w[480 + 48 * k + 16 * c + i]
        else:
            _variational(row, w, g)
            _pull_back(w)
            for i in range(16):
                volume = (w[i] * w[192 + i] + w[16 + i] * w[208 + i] + w[32 + i] * w[224 + i]) / 6.0
                s = row[48 + i] * (volume - row[32 + i]) / 6.0
                for c in range(9):
                    w[336 + 16 * c + i] += s * w[192 + 16 * c + i]
            for i in range(16):
                p = (nodes[i, 0] + shift) & INSIDE
                q = (nodes[i, 1] + shift) & INSIDE
                r = (nodes[i, 2] + shift) & INSIDE
                s = (nodes[i, 3] + shift) & INSIDE
                for c in range(3):
                    at_q = w[336 + 16 * c + i]
                    at_r = w[384 + 16 * c + i]
                    at_s = w[432 + 16 * c + i]
                    buffer[q, c] -= at_q
                    buffer[r, c] -= at_r
                    buffer[s, c] -= at_s
                    buffer[p, c] += at_q + at_r + at_s


@jit
def forces_serial(printed, starts, low, high, offset, index, rest, x, buffer, out):
    w, g = np.empty(SCRATCH), np.empty(16 * ROWS)
    for p in range(low.shape[0]):
        _blocks(starts[p], starts[p + 1], printed, index, rest, x, buffer, offset[p] - low[p], w, g)
    _reduce_rows(0, out.shape[0], low, high, offset, buffer, out)


@parallel_jit
def forces_parallel(printed, starts, low, high, offset, index, rest, x, buffer, out):
    n = out.shape[0]
    for p in prange(low.shape[0]):
        w, g = np.empty(SCRATCH), np.empty(16 * ROWS)
        _blocks(starts[p], starts[p + 1], printed, index, rest, x, buffer, offset[p] - low[p], w, g)
    for c in prange(64):
        _reduce_rows(c * n // 64, (c + 1) * n // 64, low, high, offset, buffer, out)


@jit
def _product(row, w, g, d):
    """Gauss-Newton products of the six faces into rows 21 to 41; changes of a, b, c are in rows 42 to 50, of
    A_0 .. A_3 in rows 51 to 62."""
    for i in range(16 * 21):
        w[336 + i] = 0.0
    for f in range(6):
        r = 64 + 64 * f
        p = 144 + 48 * FIRST[f]
        q = 144 + 48 * SECOND[f]
        _face(row, r, p, q, w, 0, g)
        _face(row, r, p + 672, q + 672, w, 672, d)
        block_product(g, d, row, 0, 16, r + 48)
        _add_gradients(row, r, p, q, g, w)


@jit
def _normal_changes(w):
    """Changes of A_0 .. A_3 into rows 51 to 62: ``dA_1 = db x c + b x dc`` and so on."""
    for k in range(3):
        p = 48 * ((k + 1) % 3)
        q = 48 * ((k + 2) % 3)
        o = 864 + 48 * k
        for c in range(3):
            d = 16 * ((c + 1) % 3)
            e = 16 * ((c + 2) % 3)
            for i in range(16):
                w[o + 16 * c + i] = (
                    w[672 + p + d + i] * w[q + e + i]
                    - w[672 + p + e + i] * w[q + d + i]
                    + w[p + d + i] * w[672 + q + e + i]
                    - w[p + e + i] * w[672 + q + d + i]
                )
    for i in range(48):
        w[816 + i] = -(w[864 + i] + w[912 + i] + w[960 + i])


@jit
def _product_blocks(first, last, index, rest, x, dx, buffer, shift, w, g, d, z):
    for b in range(first, last):
        nodes = index[b]
        row = rest[b]
        _gather(nodes, x, w, 0)
        _gather(nodes, dx, w, 42)
        _normals(w)
        _normal_changes(w)
        _product(row, w, g, d)
        _pull_back(w)
        volume_product(nodes, row, 3, x, dx, z)
        for i in range(16):
            for c in range(3):
                at_q = w[336 + 16 * c + i]
                at_r = w[384 + 16 * c + i]
                at_s = w[432 + 16 * c + i]
                buffer[nodes[i, 0] + shift, c] += z[16 * c + i] - (at_q + at_r + at_s)
                buffer[nodes[i, 1] + shift, c] += z[48 + 16 * c + i] + at_q
                buffer[nodes[i, 2] + shift, c] += z[96 + 16 * c + i] + at_r
                buffer[nodes[i, 3] + shift, c] += z[144 + 16 * c + i] + at_s


@jit
def product_serial(starts, low, high, offset, index, rest, x, dx, buffer, out):
    w, g, d, z = np.empty(1024), np.empty(96), np.empty(96), np.empty(288)
    for p in range(low.shape[0]):
        _product_blocks(starts[p], starts[p + 1], index, rest, x, dx, buffer, offset[p] - low[p], w, g, d, z)
    _reduce_rows(0, out.shape[0], low, high, offset, buffer, out)


@parallel_jit
def product_parallel(starts, low, high, offset, index, rest, x, dx, buffer, out):
    n = out.shape[0]
    for p in prange(low.shape[0]):
        w, g, d, z = np.empty(1024), np.empty(96), np.empty(96), np.empty(288)
        _product_blocks(starts[p], starts[p + 1], index, rest, x, dx, buffer, offset[p] - low[p], w, g, d, z)
    for c in prange(64):
        _reduce_rows(c * n // 64, (c + 1) * n // 64, low, high, offset, buffer, out)
