"""Compiled loops of CPM2: six sub-faces per tet and the volumetric term, in blocks of 16 tets.

With edge vectors a, b, c from corner 0 and ``A_1 = b x c``, ``A_2 = c x a``, ``A_3 = a x b`` (dV/dx_k =
A_k / 6), the image of a face's unit normal is a sum of a, b, c with fixed weights, its area vector one of
A_1 .. A_3.

Rest rows: 0 rest volume, 1 lambda / V, then nine per face: weights of a, b, c, weights of A_1 .. A_3,
stretch, shear, floor. Rows of ``w``: 0 a, 3 b, 6 c, 9 A_1 .. A_3, 18 gradients at a, b, c, 27 at A_1 .. A_3;
changes of the first eighteen from row 36 on.

Printed form: the area vector of face (i, j) is ``(A_j - A_i) / 24`` with ``A_0 = -A_1 - A_2 - A_3``, and its
product with the image of the unit normal is J times the rest area, whatever the deformation. Rest rows: 0
and 1 as above, 2 stretch, 3 shear, then four per face: weights of a, b, c, rest area. Rows of ``w``: 18 A_0,
21 J, 22 the forces of the six faces on their first corners, then 0 to 11 the forces on the corners.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.compiled import jit, parallel_jit, prange
from pliant.models.blocks import reduce_rows
from pliant.models.particles.faces import INSIDE, ROWS, block_gradient, printed_force
from pliant.models.particles.stiffness import block_product, volume_product

FIRST = (0, 0, 0, 1, 1, 2)  # corners of the six faces
SECOND = (1, 2, 3, 2, 3, 3)
HEAD = 2  # rest rows of the tet
PER_FACE = 9
PRINTED_HEAD = 4
PRINTED_PER_FACE = 4
AREAS = (18, 9, 12, 15)  # rows of A_0 .. A_3


@jit
def _gather(nodes, x, w, at):
    """Edge vectors from corner 0 into nine rows from ``at``."""
    t = (16 * at) & INSIDE
    for i in range(16):
        p = nodes[i, 0]
        q = nodes[i, 1]
        r = nodes[i, 2]
        s = nodes[i, 3]
        for c in range(3):
            o = x[p, c]
            w[t + 16 * c + i] = x[q, c] - o
            w[t + 48 + 16 * c + i] = x[r, c] - o
            w[t + 96 + 16 * c + i] = x[s, c] - o


@jit
def _normals(w):
    """A_1 .. A_3 into rows 9 to 17 from the edge vectors in rows 0 to 8."""
    for i in range(16):
        ax, ay, az = w[i], w[16 + i], w[32 + i]
        bx, by, bz = w[48 + i], w[64 + i], w[80 + i]
        cx, cy, cz = w[96 + i], w[112 + i], w[128 + i]
        w[144 + i] = by * cz - bz * cy
        w[160 + i] = bz * cx - bx * cz
        w[176 + i] = bx * cy - by * cx
        w[192 + i] = cy * az - cz * ay
        w[208 + i] = cz * ax - cx * az
        w[224 + i] = cx * ay - cy * ax
        w[240 + i] = ay * bz - az * by
        w[256 + i] = az * bx - ax * bz
        w[272 + i] = ax * by - ay * bx


@jit
def _face(row, r, w, at, g):
    """m and N into rows 0 to 5 of ``g``; weights are in ``row`` from r, a .. A_3 in ``w`` from ``at``."""
    r &= INSIDE
    t = (16 * at) & INSIDE
    for i in range(16):
        wa, wb, wc = row[r + i], row[r + 16 + i], row[r + 32 + i]
        g[i] = wa * w[t + i] + wb * w[t + 48 + i] + wc * w[t + 96 + i]
        g[16 + i] = wa * w[t + 16 + i] + wb * w[t + 64 + i] + wc * w[t + 112 + i]
        g[32 + i] = wa * w[t + 32 + i] + wb * w[t + 80 + i] + wc * w[t + 128 + i]
        va, vb, vc = row[r + 48 + i], row[r + 64 + i], row[r + 80 + i]
        g[48 + i] = va * w[t + 144 + i] + vb * w[t + 192 + i] + vc * w[t + 240 + i]
        g[64 + i] = va * w[t + 160 + i] + vb * w[t + 208 + i] + vc * w[t + 256 + i]
        g[80 + i] = va * w[t + 176 + i] + vb * w[t + 224 + i] + vc * w[t + 272 + i]


@jit
def _add_gradients(row, r, g, w):
    """Add the gradients at m and N (``g``, row 6) to those at a, b, c and at A_1 .. A_3."""
    r &= INSIDE
    for i in range(16):
        wa, wb, wc = row[r + i], row[r + 16 + i], row[r + 32 + i]
        gx, gy, gz = g[96 + i], g[112 + i], g[128 + i]
        w[288 + i] += wa * gx
        w[304 + i] += wa * gy
        w[320 + i] += wa * gz
        w[336 + i] += wb * gx
        w[352 + i] += wb * gy
        w[368 + i] += wb * gz
        w[384 + i] += wc * gx
        w[400 + i] += wc * gy
        w[416 + i] += wc * gz
    for i in range(16):
        wa, wb, wc = row[r + 48 + i], row[r + 64 + i], row[r + 80 + i]
        gx, gy, gz = g[144 + i], g[160 + i], g[176 + i]
        w[432 + i] += wa * gx
        w[448 + i] += wa * gy
        w[464 + i] += wa * gz
        w[480 + i] += wb * gx
        w[496 + i] += wb * gy
        w[512 + i] += wb * gz
        w[528 + i] += wc * gx
        w[544 + i] += wc * gy
        w[560 + i] += wc * gz


@jit
def _pull_back(w):
    """Add the gradients at A_k to those at a, b, c: ``A_1 = b x c`` gives ``c x g`` at b, ``g x b`` at c."""
    for i in range(16):
        ax, ay, az = w[i], w[16 + i], w[32 + i]
        bx, by, bz = w[48 + i], w[64 + i], w[80 + i]
        cx, cy, cz = w[96 + i], w[112 + i], w[128 + i]
        ex, ey, ez = w[432 + i], w[448 + i], w[464 + i]
        fx, fy, fz = w[480 + i], w[496 + i], w[512 + i]
        gx, gy, gz = w[528 + i], w[544 + i], w[560 + i]
        w[288 + i] += fy * cz - fz * cy + by * gz - bz * gy
        w[304 + i] += fz * cx - fx * cz + bz * gx - bx * gz
        w[320 + i] += fx * cy - fy * cx + bx * gy - by * gx
        w[336 + i] += cy * ez - cz * ey + gy * az - gz * ay
        w[352 + i] += cz * ex - cx * ez + gz * ax - gx * az
        w[368 + i] += cx * ey - cy * ex + gx * ay - gy * ax
        w[384 + i] += ey * bz - ez * by + ay * fz - az * fy
        w[400 + i] += ez * bx - ex * bz + az * fx - ax * fz
        w[416 + i] += ex * by - ey * bx + ax * fy - ay * fx


@jit
def _variational(row, w, g):
    """Gradients of the energy at a, b, c into rows 18 to 26, the volumetric one with them."""
    for i in range(16 * 18):
        w[288 + i] = 0.0
    for f in range(6):
        r = 16 * (HEAD + PER_FACE * f)
        _face(row, r, w, 0, g)
        block_gradient(g, row, r + 96, r + 112, r + 128)
        _add_gradients(row, r, g, w)
    _pull_back(w)
    for i in range(16):
        volume = (w[i] * w[144 + i] + w[16 + i] * w[160 + i] + w[32 + i] * w[176 + i]) / 6.0
        s = row[16 + i] * (volume - row[i]) / 6.0
        for c in range(9):
            w[288 + 16 * c + i] += s * w[144 + 16 * c + i]


@jit
def angle_over_tangent(z):
    """``gamma / tan gamma`` of ``z = tan^2 gamma`` from 0 to 1 (45 degrees), to 3e-10; in pairs."""
    v = z * z
    a = 1.0 - 0.33333333293301176 * z
    b = 0.19999990275947294 - 0.14285317963907634 * z
    c = 0.11104706788646872 - 0.0903674234208323 * z
    d = 0.07417496964337096 - 0.057607160831973724 * z
    e = 0.03832744598390858 - 0.01926108132340485 * z
    f = 0.006207254534053645 - 0.0009362994720001956 * z
    w = v * v
    return (a + v * b) + w * ((c + v * d) + w * (e + v * f))


@jit
def _printed_face(row, r, w, first, second, to):
    """Forces ``A0 (E eps n + G gamma p)`` of a face on its first corner into rows from ``to`` on.

    With ``d = m . n`` the stretch is d - 1 and ``gamma p = gamma/tan gamma (m / d - n)``.
    """
    r &= INSIDE
    s = (16 * first) & INSIDE
    t = (16 * second) & INSIDE
    o = (16 * to) & INSIDE
    bad = 0
    for i in range(16):
        wa, wb, wc, area = row[r + i], row[r + 16 + i], row[r + 32 + i], row[r + 48 + i]
        mx = wa * w[i] + wb * w[48 + i] + wc * w[96 + i]
        my = wa * w[16 + i] + wb * w[64 + i] + wc * w[112 + i]
        mz = wa * w[32 + i] + wb * w[80 + i] + wc * w[128 + i]
        nx, ny, nz = w[t + i] - w[s + i], w[t + 16 + i] - w[s + 16 + i], w[t + 32 + i] - w[s + 32 + i]
        nn = nx * nx + ny * ny + nz * nz
        dot = 24.0 * area * w[336 + i]
        inverse = 1.0 / (np.sqrt(nn) * dot)
        over_d = nn * inverse
        z = (mx * mx + my * my + mz * mz) * over_d * over_d - 1.0
        shear = row[48 + i] * area * angle_over_tangent(z)
        b = shear * over_d
        a = (row[32 + i] * area * (dot * dot * inverse - 1.0) - shear) * dot * inverse
        w[o + i] = a * nx + b * mx
        w[o + 16 + i] = a * ny + b * my
        w[o + 32 + i] = a * nz + b * mz
        good = (z <= 1.0) & (dot > 0.0)  # NaN is not good
        bad += 0 if good else 1
    if bad:
        for i in range(16):
            wa, wb, wc, area = row[r + i], row[r + 16 + i], row[r + 32 + i], row[r + 48 + i]
            w[o + i], w[o + 16 + i], w[o + 32 + i] = printed_force(
                wa * w[i] + wb * w[48 + i] + wc * w[96 + i],
                wa * w[16 + i] + wb * w[64 + i] + wc * w[112 + i],
                wa * w[32 + i] + wb * w[80 + i] + wc * w[128 + i],
                w[t + i] - w[s + i], w[t + 16 + i] - w[s + 16 + i], w[t + 32 + i] - w[s + 32 + i],
                row[32 + i] * area, row[48 + i] * area, area, 1.0,
            )  # fmt: skip


@jit
def _printed(row, w):
    """Forces on the corners as printed into rows 0 to 11, the volumetric ones with them."""
    for i in range(16):
        volume = (w[i] * w[144 + i] + w[16 + i] * w[160 + i] + w[32 + i] * w[176 + i]) / 6.0
        w[336 + i] = volume / row[i]
        for c in range(3):
            w[288 + 16 * c + i] = -(w[144 + 16 * c + i] + w[192 + 16 * c + i] + w[240 + 16 * c + i])
    for f in range(6):
        r = 16 * (PRINTED_HEAD + PRINTED_PER_FACE * f)
        _printed_face(row, r, w, AREAS[FIRST[f]], AREAS[SECOND[f]], 22 + 3 * f)
    for c in range(3):
        k = 16 * c
        for i in range(16):
            s = -row[16 + i] * row[i] * (w[336 + i] - 1.0) / 6.0
            f01, f02, f03 = w[352 + k + i], w[400 + k + i], w[448 + k + i]
            f12, f13, f23 = w[496 + k + i], w[544 + k + i], w[592 + k + i]
            w[k + i] = f01 + f02 + f03 + s * w[288 + k + i]
            w[48 + k + i] = f12 + f13 - f01 + s * w[144 + k + i]
            w[96 + k + i] = f23 - f02 - f12 + s * w[192 + k + i]
            w[144 + k + i] = s * w[240 + k + i] - f03 - f13 - f23


@jit
def _scatter(nodes, w, sign, buffer, shift):
    """Add ``sign`` times rows 18 to 26 (a, b, c) to the corners, minus their sum to the first."""
    for i in range(16):
        p = (nodes[i, 0] + shift) & INSIDE
        q = (nodes[i, 1] + shift) & INSIDE
        r = (nodes[i, 2] + shift) & INSIDE
        s = (nodes[i, 3] + shift) & INSIDE
        for c in range(3):
            at_q = sign * w[288 + 16 * c + i]
            at_r = sign * w[336 + 16 * c + i]
            at_s = sign * w[384 + 16 * c + i]
            buffer[q, c] += at_q
            buffer[r, c] += at_r
            buffer[s, c] += at_s
            buffer[p, c] -= at_q + at_r + at_s


@jit
def _blocks(first, last, printed, index, rest, x, buffer, shift, w, g):
    for b in range(first, last):
        nodes = index[b]
        row = rest[b]
        _gather(nodes, x, w, 0)
        _normals(w)
        if printed:
            _printed(row, w)
            for i in range(16):
                for k in range(4):
                    p = (nodes[i, k] + shift) & INSIDE
                    for c in range(3):
                        buffer[p, c] += w[48 * k + 16 * c + i]
        else:
            _variational(row, w, g)
            _scatter(nodes, w, -1.0, buffer, shift)


@jit
def forces_serial(printed, starts, low, high, offset, index, rest, x, buffer, out):
    w, g = np.empty(16 * 40), np.empty(16 * ROWS)
    for p in range(low.shape[0]):
        _blocks(starts[p], starts[p + 1], printed, index, rest, x, buffer, offset[p] - low[p], w, g)
    reduce_rows(0, out.shape[0], low, high, offset, buffer, out)


@parallel_jit
def forces_parallel(printed, starts, low, high, offset, index, rest, x, buffer, out):
    n = out.shape[0]
    for p in prange(low.shape[0]):
        w, g = np.empty(16 * 40), np.empty(16 * ROWS)
        _blocks(starts[p], starts[p + 1], printed, index, rest, x, buffer, offset[p] - low[p], w, g)
    for c in prange(64):
        reduce_rows(c * n // 64, (c + 1) * n // 64, low, high, offset, buffer, out)


@jit
def _normal_changes(w):
    """Changes of A_1 .. A_3 into rows 45 to 53: ``dA_1 = db x c + b x dc`` and so on."""
    for k in range(3):
        p = 48 * ((k + 1) % 3)
        q = 48 * ((k + 2) % 3)
        o = 720 + 48 * k
        for c in range(3):
            d = 16 * ((c + 1) % 3)
            e = 16 * ((c + 2) % 3)
            for i in range(16):
                w[o + 16 * c + i] = (
                    w[576 + p + d + i] * w[q + e + i]
                    - w[576 + p + e + i] * w[q + d + i]
                    + w[p + d + i] * w[576 + q + e + i]
                    - w[p + e + i] * w[576 + q + d + i]
                )


@jit
def _product_blocks(first, last, index, rest, x, dx, buffer, shift, w, g, d, z):
    """Products with the Gauss-Newton stiffness: faces through rows 18 to 26 of ``w``, volumes in ``z``."""
    for b in range(first, last):
        nodes = index[b]
        row = rest[b]
        _gather(nodes, x, w, 0)
        _gather(nodes, dx, w, 36)
        _normals(w)
        _normal_changes(w)
        for i in range(16 * 18):
            w[288 + i] = 0.0
        for f in range(6):
            r = 16 * (HEAD + PER_FACE * f)
            _face(row, r, w, 0, g)
            _face(row, r, w, 36, d)
            block_product(g, d, row, r + 96, r + 112, r + 128)
            _add_gradients(row, r, g, w)
        _pull_back(w)
        _scatter(nodes, w, 1.0, buffer, shift)
        volume_product(nodes, row, 1, x, dx, z)
        for i in range(16):
            for k in range(4):
                p = (nodes[i, k] + shift) & INSIDE
                for c in range(3):
                    buffer[p, c] += z[48 * k + 16 * c + i]


@jit
def product_serial(starts, low, high, offset, index, rest, x, dx, buffer, out):
    w, g, d, z = np.empty(16 * 54), np.empty(16 * ROWS), np.empty(96), np.empty(288)
    for p in range(low.shape[0]):
        _product_blocks(starts[p], starts[p + 1], index, rest, x, dx, buffer, offset[p] - low[p], w, g, d, z)
    reduce_rows(0, out.shape[0], low, high, offset, buffer, out)


@parallel_jit
def product_parallel(starts, low, high, offset, index, rest, x, dx, buffer, out):
    n = out.shape[0]
    for p in prange(low.shape[0]):
        w, g, d, z = np.empty(16 * 54), np.empty(16 * ROWS), np.empty(96), np.empty(288)
        _product_blocks(starts[p], starts[p + 1], index, rest, x, dx, buffer, offset[p] - low[p], w, g, d, z)
    for c in prange(64):
        reduce_rows(c * n // 64, (c + 1) * n // 64, low, high, offset, buffer, out)
