"""Gauss-Newton products of one face and one block of tets, as compiled scalar functions."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit
from pliant.kernels.simd_transpose import INSIDE, take
from pliant.models.continuum_particles.face_law import FLAT, TINY

OPPOSED = 0.01  # keeps the rotation between m and N finite where they are opposed


@jit
def _softened(length, floor):
    """As ``faces.softened``, without a branch."""
    below = 0.5 * (floor - length + abs(floor - length))
    return length + below * below / (2.0 * floor)


@jit
def face_product(mx, my, mz, nx, ny, nz, ux, uy, uz, vx, vy, vz, stretch, shear, floor):
    """``stretch m^ (m^ . u) + shear D^T D`` applied to changes u of m and v of N; six numbers.

    ``D = (u - m^ m^.u)/|m| - R (v - n^ n^.v)/|N|``; ``R a = c a + k x a + k (k.a)/(1 + c)``, k = n^ x m^.
    """
    m = np.sqrt(mx * mx + my * my + mz * mz + TINY)
    n = np.sqrt(nx * nx + ny * ny + nz * nz + TINY * floor * floor)
    sm = _softened(m, FLAT)
    sn = _softened(n, floor)
    mx, my, mz = mx / m, my / m, mz / m
    nx, ny, nz = nx / n, ny / n, nz / n
    c = mx * nx + my * ny + mz * nz
    kx, ky, kz = ny * mz - nz * my, nz * mx - nx * mz, nx * my - ny * mx
    turn = 1.0 / (1.0 + c + OPPOSED * (1.0 - c))
    mu = mx * ux + my * uy + mz * uz
    nv = nx * vx + ny * vy + nz * vz
    ax, ay, az = (vx - nv * nx) / sn, (vy - nv * ny) / sn, (vz - nv * nz) / sn
    ka = turn * (kx * ax + ky * ay + kz * az)
    dx = (ux - mu * mx) / sm - (c * ax + ky * az - kz * ay + ka * kx)
    dy = (uy - mu * my) / sm - (c * ay + kz * ax - kx * az + ka * ky)
    dz = (uz - mu * mz) / sm - (c * az + kx * ay - ky * ax + ka * kz)
    dx, dy, dz = shear * dx, shear * dy, shear * dz
    md = mx * dx + my * dy + mz * dz
    kd = turn * (kx * dx + ky * dy + kz * dz)
    bx = c * dx - (ky * dz - kz * dy) + kd * kx
    by = c * dy - (kz * dx - kx * dz) + kd * ky
    bz = c * dz - (kx * dy - ky * dx) + kd * kz
    nb = nx * bx + ny * by + nz * bz
    s = stretch * mu
    return (
        s * mx + (dx - md * mx) / sm,
        s * my + (dy - md * my) / sm,
        s * mz + (dz - md * mz) / sm,
        -(bx - nb * nx) / sn,
        -(by - nb * ny) / sn,
        -(bz - nb * nz) / sn,
    )


@jit
def block_product(g, d, rest, a, b, f):
    """Products with changes of m and N (rows 0 to 5 of ``g`` and ``d``) into rows 6 to 11 of ``g``."""
    a &= INSIDE
    b &= INSIDE
    f &= INSIDE
    for i in range(16):
        mx, my, mz, nx, ny, nz = face_product(
            g[i], g[16 + i], g[32 + i], g[48 + i], g[64 + i], g[80 + i],
            d[i], d[16 + i], d[32 + i], d[48 + i], d[64 + i], d[80 + i],
            rest[a + i], rest[b + i], rest[f + i],
        )  # fmt: skip
        g[96 + i] = mx
        g[112 + i] = my
        g[128 + i] = mz
        g[144 + i] = nx
        g[160 + i] = ny
        g[176 + i] = nz


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
        ax, ay, az = w[i], w[16 + i], w[32 + i]
        bx, by, bz = w[48 + i], w[64 + i], w[80 + i]
        cx, cy, cz = w[96 + i], w[112 + i], w[128 + i]
        ex, ey, ez = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
        fx, fy, fz = cy * az - cz * ay, cz * ax - cx * az, cx * ay - cy * ax
        gx, gy, gz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        change = ex * w[192 + i] + ey * w[208 + i] + ez * w[224 + i]
        change += fx * w[240 + i] + fy * w[256 + i] + fz * w[272 + i]
        change += gx * w[288 + i] + gy * w[304 + i] + gz * w[320 + i]
        s = row[16 * at + i] * change / 36.0
        w[i] = -s * (ex + fx + gx)
        w[16 + i] = -s * (ey + fy + gy)
        w[32 + i] = -s * (ez + fz + gz)
        w[48 + i] = s * ex
        w[64 + i] = s * ey
        w[80 + i] = s * ez
        w[96 + i] = s * fx
        w[112 + i] = s * fy
        w[128 + i] = s * fz
        w[144 + i] = s * gx
        w[160 + i] = s * gy
        w[176 + i] = s * gz
