"""Compiled loops of CPM2: six sub-faces per tet and the volumetric term, in blocks of 16 tets.

With edge vectors a, b, c from corner 0 and ``A_1 = b x c``, ``A_2 = c x a``, ``A_3 = a x b`` (dV/dx_k =
A_k / 6), the image of a face's unit normal is a sum of a, b, c with fixed weights, its area vector one of
A_1 .. A_3.

Rest rows: 0 rest volume, 1 lambda / V, then nine per face: weights of a, b, c, weights of A_1 .. A_3,
stretch, shear, floor. Rows of ``w``: 0 a, 3 b, 6 c, 9 A_1 .. A_3, 18 gradients at a, b, c, 27 at A_1 .. A_3;
changes of the first eighteen from row 36 on.

Printed form: the area vector of face (i, j) is ``(A_j - A_i) / 24`` with ``A_0 = -A_1 - A_2 - A_3``, and the
image of its rest area vector is ``(B_j - B_i) / 24``, B_k = F times A_k at rest. Their product is J times the
rest area squared, whatever the deformation. Rest rows: 0 and 1 as above, 2 stretch, 3 shear, weights of a, b,
c in B_1 (4), B_2 (7), B_3 (10), then two per face: rest area A, 1 / (24 A)^2. Rows of ``w``: 9 A_1 .. A_3,
18 A_0, 21 J, 22 1 / J, 24 B_0 .. B_3, 36 the forces of the six faces on their first corners, then 0 to 11
those on the corners.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import inlined, jit, prange, twin
from pliant.kernels.simd_transpose import INSIDE, add, take
from pliant.kernels.tensors import add_lane, cross, dot, lane, minus, plus, put_lane, scaled
from pliant.models.continuum_particles.face_law import (
    ROWS,
    block_energy,
    block_gradient,
    block_product,
    printed_force,
    volume_product,
)

FIRST = (0, 0, 0, 1, 1, 2)  # corners of the six faces
SECOND = (1, 2, 3, 2, 3, 3)
HEAD = 2  # rest rows of the tet
PER_FACE = 9
PRINTED_HEAD = 13
PRINTED_PER_FACE = 2
AREAS = (18, 9, 12, 15)  # rows of A_0 .. A_3
IMAGES = (24, 27, 30, 33)  # rows of B_0 .. B_3
SCRATCH = 16 * 54


@jit
def _gather(o, index, x, w, at):
    """Edge vectors from corner 0 into nine rows from ``at``; corners are the four index rows from o on."""
    t = (16 * at) & INSIDE
    for k in range(4):
        take(x, index, o + 16 * k, w, t + 48 * k)
    for i in range(48):
        first = w[t + i]
        w[t + i] = w[t + 48 + i] - first
        w[t + 48 + i] = w[t + 96 + i] - first
        w[t + 96 + i] = w[t + 144 + i] - first


@jit
def _normals(w):
    """A_1 .. A_3 into rows 9 to 17 from the edge vectors in rows 0 to 8."""
    for i in range(16):
        a, b, c = lane(w, i), lane(w, 48 + i), lane(w, 96 + i)
        put_lane(w, 144 + i, cross(b, c))
        put_lane(w, 192 + i, cross(c, a))
        put_lane(w, 240 + i, cross(a, b))


@jit
def _face(row, r, w, at, g):
    """m and N into rows 0 to 5 of ``g``; weights are in ``row`` from r, a .. A_3 in ``w`` from ``at``."""
    r &= INSIDE
    t = (16 * at) & INSIDE
    for i in range(16):
        a, b = scaled(row[r + i], lane(w, t + i)), scaled(row[r + 16 + i], lane(w, t + 48 + i))
        put_lane(g, i, plus(plus(a, b), scaled(row[r + 32 + i], lane(w, t + 96 + i))))
        a, b = scaled(row[r + 48 + i], lane(w, t + 144 + i)), scaled(row[r + 64 + i], lane(w, t + 192 + i))
        put_lane(g, 48 + i, plus(plus(a, b), scaled(row[r + 80 + i], lane(w, t + 240 + i))))


@jit
def _add_gradients(row, r, g, w):
    """Add the gradients at m and N (``g``, row 6) to those at a, b, c and at A_1 .. A_3."""
    r &= INSIDE
    for i in range(16):
        m = lane(g, 96 + i)
        add_lane(w, 288 + i, scaled(row[r + i], m))
        add_lane(w, 336 + i, scaled(row[r + 16 + i], m))
        add_lane(w, 384 + i, scaled(row[r + 32 + i], m))
    for i in range(16):
        n = lane(g, 144 + i)
        add_lane(w, 432 + i, scaled(row[r + 48 + i], n))
        add_lane(w, 480 + i, scaled(row[r + 64 + i], n))
        add_lane(w, 528 + i, scaled(row[r + 80 + i], n))


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
        volume = dot(lane(w, i), lane(w, 144 + i)) / 6.0
        s = row[16 + i] * (volume - row[i]) / 6.0
        for c in range(9):
            w[288 + 16 * c + i] += s * w[144 + 16 * c + i]


@inlined  # a call would keep its loop from being packed
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
    """Forces ``A0 (E eps n + G gamma p)`` of face (i, j) on corner i into rows from ``to`` on.

    With ``d = m . n`` the stretch is d - 1 and ``gamma p = gamma/tan gamma (m / d - n)``.
    """
    r &= INSIDE
    s, t = (16 * AREAS[first]) & INSIDE, (16 * AREAS[second]) & INSIDE
    u, v = (16 * IMAGES[first]) & INSIDE, (16 * IMAGES[second]) & INSIDE
    o = (16 * to) & INSIDE
    bad = 0
    for i in range(16):
        area = row[r + i]
        n = minus(lane(w, t + i), lane(w, s + i))
        m = minus(lane(w, v + i), lane(w, u + i))
        nn = dot(n, n)
        over_n = 1.0 / np.sqrt(nn)
        d = 24.0 * area * w[336 + i] * over_n
        over_d = nn * over_n * w[352 + i] * row[r + 16 + i]  # of m times 24 A
        z = dot(m, m) * over_d * over_d - 1.0
        shear = row[48 + i] * area * angle_over_tangent(z)
        a = (row[32 + i] * area * (d - 1.0) - shear) * over_n
        b = shear * over_d
        put_lane(w, o + i, plus(scaled(a, n), scaled(b, m)))
        good = (z <= 1.0) & (d > 0.0)  # NaN is not good
        bad += 0 if good else 1
    if bad:
        for i in range(16):
            area = row[r + i]
            n = minus(lane(w, t + i), lane(w, s + i))
            m = scaled(1.0 / (24.0 * area), minus(lane(w, v + i), lane(w, u + i)))
            put_lane(w, o + i, printed_force(m, n, row[32 + i] * area, row[48 + i] * area, area, 1.0))


@jit
def _images(row, w):
    """J and 1 / J, A_0, and B_0 .. B_3, from the edge vectors and A_1 .. A_3."""
    for i in range(16):
        volume = dot(lane(w, i), lane(w, 144 + i)) / 6.0
        w[336 + i] = volume / row[i]
        w[352 + i] = row[i] / volume
    for c in range(0, 48, 16):
        for i in range(16):
            x, y, z = w[c + i], w[48 + c + i], w[96 + c + i]
            p = row[64 + i] * x + row[80 + i] * y + row[96 + i] * z
            q = row[112 + i] * x + row[128 + i] * y + row[144 + i] * z
            r = row[160 + i] * x + row[176 + i] * y + row[192 + i] * z
            w[432 + c + i] = p
            w[480 + c + i] = q
            w[528 + c + i] = r
            w[384 + c + i] = -(p + q + r)
            w[288 + c + i] = -(w[144 + c + i] + w[192 + c + i] + w[240 + c + i])


@jit
def _printed(row, w):
    """Forces on the corners as printed into rows 0 to 11, the volumetric ones with them."""
    _images(row, w)
    for f in range(6):
        _printed_face(row, 16 * (PRINTED_HEAD + PRINTED_PER_FACE * f), w, FIRST[f], SECOND[f], 36 + 3 * f)
    for c in range(0, 48, 16):
        for i in range(16):
            s = -row[16 + i] * row[i] * (w[336 + i] - 1.0) / 6.0
            f01, f02, f03 = w[576 + c + i], w[624 + c + i], w[672 + c + i]
            f12, f13, f23 = w[720 + c + i], w[768 + c + i], w[816 + c + i]
            p, q, r = s * w[144 + c + i], s * w[192 + c + i], s * w[240 + c + i]
            w[c + i] = f01 + f02 + f03 - (p + q + r)
            w[48 + c + i] = f12 + f13 - f01 + p
            w[96 + c + i] = f23 - f02 - f12 + q
            w[144 + c + i] = r - f03 - f13 - f23


@jit
def _to_corners(sign, w):
    """``sign`` times rows 18 to 26 (a, b, c) into rows 3 to 11, minus their sum into rows 0 to 2."""
    for i in range(48):
        p, q, r = sign * w[288 + i], sign * w[336 + i], sign * w[384 + i]
        w[i] = -(p + q + r)
        w[48 + i] = p
        w[96 + i] = q
        w[144 + i] = r


@jit
def _scatter(o, index, w, buffer, shift):
    """Add rows 0 to 11 to the corners."""
    for k in range(4):
        add(buffer, shift, index, o + 16 * k, w, 48 * k)


@jit
def _blocks(first, last, printed, index, rest, x, buffer, shift, w, g):
    for b in range(first, last):
        row = rest[b]
        _gather(64 * b, index, x, w, 0)
        _normals(w)
        if printed:
            _printed(row, w)
        else:
            _variational(row, w, g)
            _to_corners(-1.0, w)
        _scatter(64 * b, index, w, buffer, shift)


@twin
def forces(printed, starts, low, offset, index, rest, x, buffer):
    """The elastic forces [N] into the buffers."""
    for p in prange(low.shape[0]):
        w, g = np.empty(SCRATCH), np.empty(16 * ROWS)
        _blocks(starts[p], starts[p + 1], printed, index, rest, x, buffer, offset[p] - low[p], w, g)


@jit
def _block_energies(first, last, index, rest, x, w, g):
    total = 0.0
    for b in range(first, last):
        row = rest[b]
        _gather(64 * b, index, x, w, 0)
        _normals(w)
        for f in range(6):
            r = 16 * (HEAD + PER_FACE * f)
            _face(row, r, w, 0, g)
            total += block_energy(g, row, r + 96, r + 112, r + 128)
        for i in range(16):
            change = dot(lane(w, i), lane(w, 144 + i)) / 6.0 - row[i]
            total += 0.5 * row[16 + i] * change * change
    return total


@twin
def energies(starts, index, rest, x, out):
    """The elastic energy [J] of each partition of the variational form, into ``out``."""
    for p in prange(out.shape[0]):
        w, g = np.empty(SCRATCH), np.empty(16 * ROWS)
        out[p] = _block_energies(starts[p], starts[p + 1], index, rest, x, w, g)


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
        row = rest[b]
        _gather(64 * b, index, x, w, 0)
        _gather(64 * b, index, dx, w, 36)
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
        _to_corners(1.0, w)
        volume_product(index, 64 * b, row, 1, x, dx, z)
        for i in range(192):
            w[i] += z[i]
        _scatter(64 * b, index, w, buffer, shift)


@twin
def product(starts, low, offset, index, rest, x, dx, buffer):
    """``K dx`` with the Gauss-Newton stiffness into the buffers."""
    for p in prange(low.shape[0]):
        w, g, d, z = np.empty(SCRATCH), np.empty(16 * ROWS), np.empty(96), np.empty(384)
        _product_blocks(starts[p], starts[p + 1], index, rest, x, dx, buffer, offset[p] - low[p], w, g, d, z)


@jit
def face_vectors(x, tets, edge_weights, area_weights, m, n):
    """Images of the rest normals and area vectors [m2] of all sub-faces, (t, 6, 3), from the weights of the
    edges x_k - x_0 and of the vectors ``A_k = 6 dV/dx_k``, (t, 6, 3)."""
    e, a = np.empty((3, 3)), np.empty((3, 3))
    for t in range(tets.shape[0]):
        for k in range(3):
            for c in range(3):
                e[k, c] = x[tets[t, k + 1], c] - x[tets[t, 0], c]
        for k in range(3):
            p, q = e[(k + 1) % 3], e[(k + 2) % 3]
            a[k, 0] = p[1] * q[2] - p[2] * q[1]
            a[k, 1] = p[2] * q[0] - p[0] * q[2]
            a[k, 2] = p[0] * q[1] - p[1] * q[0]
        for f in range(6):
            for c in range(3):
                m[t, f, c] = n[t, f, c] = 0.0
                for k in range(3):
                    m[t, f, c] += edge_weights[t, f, k] * e[k, c]
                    n[t, f, c] += area_weights[t, f, k] * a[k, c]
