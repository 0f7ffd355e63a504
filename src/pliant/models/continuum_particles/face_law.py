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
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.core.typing import Array
from pliant.kernels.jit import jit
from pliant.kernels.simd_transpose import INSIDE

FLAT = 0.3
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
def face_gradient(mx, my, mz, nx, ny, nz, stretch, shear, floor):
    """Gradient of ``stretch/2 (|m| - 1)^2 + shear/2 gamma^2`` with respect to m and N; six numbers."""
    m = np.sqrt(mx * mx + my * my + mz * mz + TINY)
    n = np.sqrt(nx * nx + ny * ny + nz * nz + TINY * floor * floor)
    sm, dm = softened(m, FLAT)
    sn, dn = softened(n, floor)
    scale = 1.0 / (sm * sn)
    c = (mx * nx + my * ny + mz * nz) * scale
    s = shear * angle_over_sine(c)
    a = (stretch * (m - 1.0) + s * c * dm / sm) / m
    b = s * scale
    e = s * c * dn / (sn * n)
    return (
        a * mx - b * nx,
        a * my - b * ny,
        a * mz - b * nz,
        e * nx - b * mx,
        e * ny - b * my,
        e * nz - b * mz,
    )


@jit
def printed_force(mx, my, mz, nx, ny, nz, stretch, shear, floor, along):
    """``stretch eps n + shear gamma p`` on particle i: n the unit normal, p the direction of m across it.

    eps: ``|m| - 1`` (along = 0, [Everts2006]_ 5.4) or ``m . n - 1`` (along = 1, 7.4); three numbers.
    """
    m = np.sqrt(mx * mx + my * my + mz * mz + TINY)
    n = np.sqrt(nx * nx + ny * ny + nz * nz + TINY * floor * floor)
    dot = (mx * nx + my * ny + mz * nz) / n
    b = shear * angle_over_sine(dot / m) / m
    a = (stretch * (m + along * (dot - m) - 1.0) - b * dot) / n
    return a * nx + b * mx, a * ny + b * my, a * nz + b * mz


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
        mx, my, mz = g[i], g[16 + i], g[32 + i]
        nx, ny, nz = g[48 + i], g[64 + i], g[80 + i]
        m = np.sqrt(mx * mx + my * my + mz * mz)
        n = np.sqrt(nx * nx + ny * ny + nz * nz)
        inverse = 1.0 / (m * n)
        over_m = inverse * n
        over_n = inverse * m
        c = (mx * nx + my * ny + mz * nz) * inverse
        s = rest[b + i] * near(0.5 - 0.5 * c)
        t = s * inverse
        s *= c
        p = rest[a + i] * (1.0 - over_m) + s * over_m * over_m
        q = s * over_n * over_n
        g[96 + i] = p * mx - t * nx
        g[112 + i] = p * my - t * ny
        g[128 + i] = p * mz - t * nz
        g[144 + i] = q * nx - t * mx
        g[160 + i] = q * ny - t * my
        g[176 + i] = q * nz - t * mz
        good = (c >= 0.5) & (m >= FLAT) & (n >= rest[f + i])  # NaN is not good
        bad += 0 if good else 1
    if bad:
        for i in range(16):
            g[96 + i], g[112 + i], g[128 + i], g[144 + i], g[160 + i], g[176 + i] = face_gradient(
                g[i], g[16 + i], g[32 + i], g[48 + i], g[64 + i], g[80 + i],
                rest[a + i], rest[b + i], rest[f + i],
            )  # fmt: skip


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
        mx, my, mz = g[i], g[16 + i], g[32 + i]
        nx, ny, nz = g[48 + i], g[64 + i], g[80 + i]
        m = np.sqrt(mx * mx + my * my + mz * mz)
        n = np.sqrt(nx * nx + ny * ny + nz * nz)
        inverse = 1.0 / (m * n)
        c = (mx * nx + my * ny + mz * nz) * inverse
        s = rest[b + i] * near(0.5 - 0.5 * c)
        t = s * inverse * n
        p = (rest[a + i] * (m - 1.0) - s * c) * inverse * m
        g[96 + i] = p * nx + t * mx
        g[112 + i] = p * ny + t * my
        g[128 + i] = p * nz + t * mz
        bad += 0 if c >= 0.5 else 1  # NaN is not: m or N vanish
    if bad:
        for i in range(16):
            g[96 + i], g[112 + i], g[128 + i] = printed_force(
                g[i], g[16 + i], g[32 + i], g[48 + i], g[64 + i], g[80 + i],
                rest[a + i], rest[b + i], rest[f + i], 0.0,
            )  # fmt: skip


def face_energy(m: Array, n: Array, stretch: Array, shear: Array, floor: Array) -> float:
    """``sum stretch/2 (|m| - 1)^2 + shear/2 gamma^2`` [J] over faces; m, n (e, 3), the rest (e,)."""
    size, area = np.linalg.norm(m, axis=1), np.linalg.norm(n, axis=1)
    sm = size + np.maximum(FLAT - size, 0.0) ** 2 / (2.0 * FLAT)
    sn = area + np.maximum(floor - area, 0.0) ** 2 / (2.0 * floor)
    c = np.einsum("ij,ij->i", m, n) / (sm * sn)
    gamma = np.arccos(np.clip(c, -1.0, 1.0))
    return 0.5 * float(np.sum(stretch * (size - 1.0) ** 2 + shear * gamma**2))


@jit
def _face_gradients(m, n, stretch, shear, floor, out):
    for e in range(m.shape[0]):
        g = face_gradient(
            m[e, 0], m[e, 1], m[e, 2], n[e, 0], n[e, 1], n[e, 2], stretch[e], shear[e], floor[e]
        )
        for c in range(6):
            out[e, c] = g[c]


@jit
def _printed_forces(m, n, stretch, shear, floor, along, out):
    for e in range(m.shape[0]):
        f = printed_force(
            m[e, 0], m[e, 1], m[e, 2], n[e, 0], n[e, 1], n[e, 2], stretch[e], shear[e], floor[e], along
        )
        for c in range(3):
            out[e, c] = f[c]


def face_gradients(m: Array, n: Array, stretch: Array, shear: Array, floor: Array) -> tuple[Array, Array]:
    """Gradients of the faces' energy with respect to m and N; (e, 3) each."""
    out = np.empty((len(m), 6))
    _face_gradients(m, n, stretch, shear, floor, out)
    return out[:, :3], out[:, 3:]


def printed_forces(m: Array, n: Array, stretch: Array, shear: Array, floor: Array, along: float) -> Array:
    """The printed law's forces on particles i (e, 3) [N]."""
    out = np.empty((len(m), 3))
    _printed_forces(m, n, stretch, shear, floor, along, out)
    return out
