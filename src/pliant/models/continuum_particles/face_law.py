r"""The law of a dual face: stretch and shear of a vector m against a normal N, for one face, for blocks of 16
and for whole arrays.

m is the image of the rest normal (length 1 at rest), N the face's present area vector. Stretch is
:math:`\epsilon = |m| - 1`, shear :math:`\gamma = \angle(m, N)`. The angle itself is never formed: forces need
:math:`\gamma/\sin\gamma`, a polynomial in :math:`(1 - \cos\gamma)/2`.

Where m or N shrink below ``FLAT`` of their rest size, the lengths in :math:`\cos\gamma` are replaced by
:math:`(r^2 + r_0^2)/2 r_0` (smoothly, the same value and slope at :math:`r_0`): a flattened face pushes back
with a finite force instead of an infinite one, and the energy stays an energy.

``block_gradient`` and ``block_printed`` work on 16 faces at once. Rows of their scratch ``g``: 0 m, 3 N,
6 results. They take every face as a regular one (sheared by at most 60 degrees, not flattened) in a loop
without branches that becomes packed; a block that turns out to have another goes face by face again.
``block_product`` and ``volume_product`` are products with the Gauss-Newton stiffness of faces and of tets.
"""

# mypy: disable-error-code="no-untyped-def"

from math import comb

import numpy as np

from pliant.core.typing import Array
from pliant.kernels.jit import inlined, jit
from pliant.kernels.simd_transpose import INSIDE, take
from pliant.kernels.tensors import cross, dot, lane, minus, plus, put_lane, scaled

FLAT = 0.3
ANGLE_SERIES = tuple(2.0 * 2.0**k / (k * k * comb(2 * k, k)) for k in range(12, 0, -1))
TINY = 1e-30
ROWS = 12  # of 16 numbers each, in the scratch of a block


@jit
def forward(u):
    """``gamma / sin gamma`` of ``u = (1 - cos gamma)/2`` from 0 to 1/2, to 4e-11."""
    p = -28.896613132560276 + 12.889391560755001 * u
    p = 31.304574032684485 + u * p
    p = -19.252269626185804 + u * p
    p = 8.200319560071325 + u * p
    p = -1.8445549263225933 + u * p
    p = 0.7085764454274377 + u * p
    p = 0.2939852562944888 + u * p
    p = 0.373007585307595 + u * p
    p = 0.40618645625446037 + u * p
    p = 0.45714665366375073 + u * p
    p = 0.5333332988703686 + u * p
    p = 0.6666666667163338 + u * p
    return 1.0 + u * p


@jit
def near(u):
    """``gamma / sin gamma`` of u from 0 to 1/4 (60 degrees), to 9e-12; in pairs, for short chains."""
    v = u * u
    a = 1.0 + 0.6666666666925544 * u
    b = 0.5333333165829719 + 0.4571446304091849 * u
    c = 0.4062774268564777 + 0.37085106794858647 * u
    d = 0.3249101391759963 + 0.4213841769512025 * u
    e = -0.07050501734678012 + 0.9292220634233672 * u
    w = v * v
    return (a + v * b) + w * ((c + v * d) + w * e)


@jit
def angle_over_sine(c):
    """``gamma / sin gamma`` of ``c = cos gamma``; past 90 degrees by reflection, and finite at 180."""
    u = 0.5 - 0.5 * abs(c)
    if c >= 0.0:
        return forward(u)
    return 0.5 * np.pi / np.sqrt(abs(u) * (1.0 - u) + TINY) - forward(u)


@jit
def softened(length, floor):
    """A length that stays above ``floor / 2``, and the slope of it."""
    below = max(floor - length, 0.0)
    return length + below * below / (2.0 * floor), 1.0 - below / floor


@jit
def face_gradient(m, n, stretch, shear, floor):
    """Gradients (3), (3) of ``stretch/2 (|m| - 1)^2 + shear/2 gamma^2`` with respect to m and N."""
    size = np.sqrt(dot(m, m) + TINY)
    area = np.sqrt(dot(n, n) + TINY * floor * floor)
    sm, dm = softened(size, FLAT)
    sn, dn = softened(area, floor)
    scale = 1.0 / (sm * sn)
    c = dot(m, n) * scale
    s = shear * angle_over_sine(c)
    a = (stretch * (size - 1.0) + s * c * dm / sm) / size
    b = s * scale
    e = s * c * dn / (sn * area)
    return minus(scaled(a, m), scaled(b, n)), minus(scaled(e, n), scaled(b, m))


@jit
def printed_force(m, n, stretch, shear, floor, along):
    """``stretch eps n + shear gamma p`` on particle i: n the unit normal, p the direction of m across it.

    eps: ``|m| - 1`` (along = 0, [Everts2006]_ 5.4) or ``m . n - 1`` (along = 1, 7.4); a vector (3).
    """
    size = np.sqrt(dot(m, m) + TINY)
    area = np.sqrt(dot(n, n) + TINY * floor * floor)
    normal = dot(m, n) / area
    b = shear * angle_over_sine(normal / size) / size
    a = (stretch * (size + along * (normal - size) - 1.0) - b * normal) / area
    return plus(scaled(a, n), scaled(b, m))


@jit
def block_gradient(g, rest, a, b, f):
    """m and N in rows 0 to 5 of ``g``: the gradients with respect to them go into rows 6 to 11.

    stretch, shear and floor stand in ``rest`` from a, b and f on.
    """
    a &= INSIDE
    b &= INSIDE
    f &= INSIDE
    bad = 0
    for i in range(16):
        m, n = lane(g, i), lane(g, 48 + i)
        size, area = np.sqrt(dot(m, m)), np.sqrt(dot(n, n))
        inverse = 1.0 / (size * area)
        over_m = inverse * area
        over_n = inverse * size
        c = dot(m, n) * inverse
        s = rest[b + i] * near(0.5 - 0.5 * c)
        t = s * inverse
        s *= c
        p = rest[a + i] * (1.0 - over_m) + s * over_m * over_m
        q = s * over_n * over_n
        put_lane(g, 96 + i, minus(scaled(p, m), scaled(t, n)))
        put_lane(g, 144 + i, minus(scaled(q, n), scaled(t, m)))
        good = (c >= 0.5) & (size >= FLAT) & (area >= rest[f + i])  # NaN is not good
        bad += 0 if good else 1
    if bad:
        for i in range(16):
            m, n = lane(g, i), lane(g, 48 + i)
            at_m, at_n = face_gradient(m, n, rest[a + i], rest[b + i], rest[f + i])
            put_lane(g, 96 + i, at_m)
            put_lane(g, 144 + i, at_n)


@jit
def block_printed(g, rest, a, b, f):
    """m and N in rows 0 to 5 of ``g``: the printed forces on particles i of CPM1 go into rows 6 to 8.

    stretch, shear and floor stand in ``rest`` from a, b and f on.
    """
    a &= INSIDE
    b &= INSIDE
    f &= INSIDE
    bad = 0
    for i in range(16):
        m, n = lane(g, i), lane(g, 48 + i)
        size, area = np.sqrt(dot(m, m)), np.sqrt(dot(n, n))
        inverse = 1.0 / (size * area)
        c = dot(m, n) * inverse
        s = rest[b + i] * near(0.5 - 0.5 * c)
        t = s * inverse * area
        p = (rest[a + i] * (size - 1.0) - s * c) * inverse * size
        put_lane(g, 96 + i, plus(scaled(p, n), scaled(t, m)))
        bad += 0 if c >= 0.5 else 1  # NaN is not: m or N vanish
    if bad:
        for i in range(16):
            m, n = lane(g, i), lane(g, 48 + i)
            put_lane(g, 96 + i, printed_force(m, n, rest[a + i], rest[b + i], rest[f + i], 0.0))


@inlined
def _angle_squared(c):
    """``arccos(c)^2``: with y = 1 - c it is :math:`2 \\sum_k (2y)^k / (k^2 \\binom{2k}{k})`, for small angles
    summed to rounding."""
    y = 1.0 - c
    if abs(y) < 0.1:
        total = 0.0
        for k in range(len(ANGLE_SERIES)):
            total = ANGLE_SERIES[k] + y * total
        return y * total
    return np.arccos(min(max(c, -1.0), 1.0)) ** 2


@jit
def _face_energy(m, n, stretch, shear, floor):
    """``stretch/2 (|m| - 1)^2 + shear/2 gamma^2`` of one face [J]."""
    size = np.sqrt(dot(m, m) + TINY)
    area = np.sqrt(dot(n, n) + TINY * floor * floor)
    cosine = dot(m, n) / (_softened(size, FLAT) * _softened(area, floor))
    return 0.5 * (stretch * (size - 1.0) ** 2 + shear * _angle_squared(cosine))


@jit
def block_energy(g, rest, a, b, f):
    """Energy [J] of 16 faces, m and N in rows 0 to 5 of ``g``; constants stand in ``rest`` as for
    ``block_gradient``, and so do faces that are not regular."""
    a &= INSIDE
    b &= INSIDE
    f &= INSIDE
    bad, total = 0, 0.0
    for i in range(16):
        m, n = lane(g, i), lane(g, 48 + i)
        size, area = np.sqrt(dot(m, m)), np.sqrt(dot(n, n))
        c = dot(m, n) / (size * area)
        k = near(0.5 - 0.5 * c)
        g[96 + i] = 0.5 * (rest[a + i] * (size - 1.0) * (size - 1.0) + rest[b + i] * k * k * (1.0 - c * c))
        good = (c >= 0.5) & (size >= FLAT) & (area >= rest[f + i])  # NaN is not good
        bad += 0 if good else 1
    for i in range(16):
        if bad:
            g[96 + i] = _face_energy(lane(g, i), lane(g, 48 + i), rest[a + i], rest[b + i], rest[f + i])
        total += g[96 + i]
    return total


@jit
def _face_gradients(m, n, stretch, shear, floor, at_m, at_n):
    for e in range(m.shape[0]):
        p, q = face_gradient(_row(m, e), _row(n, e), stretch[e], shear[e], floor[e])
        at_m[e, 0], at_m[e, 1], at_m[e, 2] = p
        at_n[e, 0], at_n[e, 1], at_n[e, 2] = q


@jit
def _printed_forces(m, n, stretch, shear, floor, along, out):
    for e in range(m.shape[0]):
        f = printed_force(_row(m, e), _row(n, e), stretch[e], shear[e], floor[e], along)
        out[e, 0], out[e, 1], out[e, 2] = f


@inlined
def _row(a, i):
    return a[i, 0], a[i, 1], a[i, 2]


def face_gradients(m: Array, n: Array, stretch: Array, shear: Array, floor: Array) -> tuple[Array, Array]:
    """Gradients of the faces' energy with respect to m and N; (e, 3) each."""
    at_m, at_n = np.empty_like(m), np.empty_like(m)
    _face_gradients(m, n, stretch, shear, floor, at_m, at_n)
    return at_m, at_n


def printed_forces(m: Array, n: Array, stretch: Array, shear: Array, floor: Array, along: float) -> Array:
    """The printed law's forces on particles i (e, 3) [N]."""
    out = np.empty((len(m), 3))
    _printed_forces(m, n, stretch, shear, floor, along, out)
    return out


OPPOSED = 0.01  # keeps the rotation between m and N finite where they are opposed


@jit
def _softened(length, floor):
    """As ``softened``, without a branch."""
    below = 0.5 * (floor - length + abs(floor - length))
    return length + below * below / (2.0 * floor)


@jit
def face_product(m, n, u, v, stretch, shear, floor):
    """``stretch m^ (m^ . u) + shear D^T D`` applied to changes u of m and v of N; two vectors (3).

    ``D = (u - m^ m^.u)/|m| - R (v - n^ n^.v)/|N|``; ``R a = c a + k x a + k (k.a)/(1 + c)``, k = n^ x m^.
    """
    size = np.sqrt(dot(m, m) + TINY)
    area = np.sqrt(dot(n, n) + TINY * floor * floor)
    sm, sn = _softened(size, FLAT), _softened(area, floor)
    m, n = _over(m, size), _over(n, area)
    c, k = dot(m, n), cross(n, m)
    kx, ky, kz = k
    turn = 1.0 / (1.0 + c + OPPOSED * (1.0 - c))
    mu = dot(m, u)
    ax, ay, az = _over(minus(v, scaled(dot(n, v), n)), sn)
    ka = turn * (kx * ax + ky * ay + kz * az)
    ux, uy, uz = _over(minus(u, scaled(mu, m)), sm)
    dx = ux - (c * ax + ky * az - kz * ay + ka * kx)
    dy = uy - (c * ay + kz * ax - kx * az + ka * ky)
    dz = uz - (c * az + kx * ay - ky * ax + ka * kz)
    d = (shear * dx, shear * dy, shear * dz)
    kd = turn * dot(k, d)
    b = plus(minus(scaled(c, d), cross(k, d)), scaled(kd, k))
    p = plus(scaled(stretch * mu, m), _over(minus(d, scaled(dot(m, d), m)), sm))
    qx, qy, qz = minus(b, scaled(dot(n, b), n))
    return p, (-qx / sn, -qy / sn, -qz / sn)


@inlined
def _over(a, s):
    ax, ay, az = a
    return ax / s, ay / s, az / s


@jit
def block_product(g, d, rest, a, b, f):
    """Products with changes of m and N (rows 0 to 5 of ``g`` and ``d``) into rows 6 to 11 of ``g``."""
    a &= INSIDE
    b &= INSIDE
    f &= INSIDE
    for i in range(16):
        m, n, u, v = lane(g, i), lane(g, 48 + i), lane(d, i), lane(d, 48 + i)
        p, q = face_product(m, n, u, v, rest[a + i], rest[b + i], rest[f + i])
        put_lane(g, 96 + i, p)
        put_lane(g, 144 + i, q)


@jit
def volume_product(index, o, row, at, x, dx, w):
    """``lambda/V grad vol (grad vol . dx)`` of a block of tets into rows 0 to 11 of ``w`` (corner, axis).

    Corners are the four index rows from ``o`` on; lambda / V is in row ``at`` of ``row``. Needs 24 rows.
    """
    for k in range(4):
        take(x, index, o + 16 * k, w, 48 * k)
        take(dx, index, o + 16 * k, w, 192 + 48 * k)
    for t in (0, 192):
        for i in range(48):
            first = w[t + i]
            w[t + i] = w[t + 48 + i] - first
            w[t + 48 + i] = w[t + 96 + i] - first
            w[t + 96 + i] = w[t + 144 + i] - first
    for i in range(16):
        a, b, c = lane(w, i), lane(w, 48 + i), lane(w, 96 + i)
        e, f, g = cross(b, c), cross(c, a), cross(a, b)
        change = dot(e, lane(w, 192 + i))
        change += dot(f, lane(w, 240 + i))
        change += dot(g, lane(w, 288 + i))
        s = row[16 * at + i] * change / 36.0
        put_lane(w, i, scaled(-s, plus(plus(e, f), g)))
        put_lane(w, 48 + i, scaled(s, e))
        put_lane(w, 96 + i, scaled(s, f))
        put_lane(w, 144 + i, scaled(s, g))
