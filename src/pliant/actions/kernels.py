"""Compiled loops of actions."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.core.typing import Array
from pliant.kernels.jit import SERIAL_ROWS, jit, prange, twin


@twin
def _weight(mass, g, out):
    gx, gy, gz = g[0], g[1], g[2]
    for i in prange(mass.shape[0]):
        m = mass[i]
        out[i, 0] += m * gx
        out[i, 1] += m * gy
        out[i, 2] += m * gz


def add_weight(mass: Array, g: Array, out: Array) -> None:
    """``out += m g`` with g (3,)."""
    _weight[len(mass) >= SERIAL_ROWS](mass, g, out)


@jit
def add_rows(rows, values, out):
    """``out[rows] += values``."""
    for k in range(rows.shape[0]):
        i = rows[k]
        for c in range(3):
            out[i, c] += values[k, c]


@twin
def _drag(mass, rate, v, out):
    for i in prange(mass.shape[0]):
        s = rate * mass[i]
        for c in range(3):
            out[i, c] -= s * v[i, c]


def add_mass_damping(mass: Array, rate: float, v: Array, out: Array) -> None:
    """``out -= rate m v``."""
    _drag[len(mass) >= SERIAL_ROWS](mass, rate, v, out)


@jit
def twice_area(x, i, j, k):
    """The vector area of a triangle, doubled."""
    ax = x[j, 0] - x[i, 0]
    ay = x[j, 1] - x[i, 1]
    az = x[j, 2] - x[i, 2]
    bx = x[k, 0] - x[i, 0]
    by = x[k, 1] - x[i, 1]
    bz = x[k, 2] - x[i, 2]
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@jit
def add_pressure(triangles, pressure, x, out):
    """Add ``-p n A`` of each triangle, a third to each corner (serial: triangles share corners)."""
    for t in range(triangles.shape[0]):
        i = triangles[t, 0]
        j = triangles[t, 1]
        k = triangles[t, 2]
        nx, ny, nz = twice_area(x, i, j, k)
        s = -pressure / 6.0
        fx, fy, fz = s * nx, s * ny, s * nz
        for corner in (i, j, k):
            out[corner, 0] += fx
            out[corner, 1] += fy
            out[corner, 2] += fz


def _quadratic_rule() -> tuple[Array, Array, Array]:
    """Weights (q,), shape functions (q, 6) and their derivatives (q, 6, 2) of a quadratic triangle at the six
    points of Dunavant's rule of degree 4, which is exact for a pressure (normals are quadratic too)."""
    points, weights = [], []
    for weight, a in ((0.223381589678011, 0.445948490915965), (0.109951743655322, 0.091576213509771)):
        points += [(a, a), (1.0 - 2.0 * a, a), (a, 1.0 - 2.0 * a)]
        weights += 3 * [0.5 * weight]
    shapes, slopes = [], []
    for r, s in points:
        q = 1.0 - r - s
        shapes.append([q * (2 * q - 1), r * (2 * r - 1), s * (2 * s - 1), 4 * q * r, 4 * r * s, 4 * q * s])
        corners = [[1 - 4 * q, 1 - 4 * q], [4 * r - 1, 0.0], [0.0, 4 * s - 1]]
        slopes.append([*corners, [4 * (q - r), -4 * r], [4 * s, 4 * r], [-4 * s, 4 * (q - s)]])
    return np.array(weights), np.array(shapes), np.array(slopes)


_RULE_WEIGHTS, _RULE_SHAPES, _RULE_SLOPES = _quadratic_rule()


@jit
def add_quadratic_pressure(faces, pressure, x, out):
    """Add ``-p int N_i n dA`` over quadratic triangles (k, 6), three corners and the middles of 01, 12, 02
    (serial: faces share particles)."""
    for t in range(faces.shape[0]):
        for q in range(_RULE_WEIGHTS.shape[0]):
            a = np.zeros(3)
            b = np.zeros(3)
            for k in range(6):
                for c in range(3):
                    a[c] += _RULE_SLOPES[q, k, 0] * x[faces[t, k], c]
                    b[c] += _RULE_SLOPES[q, k, 1] * x[faces[t, k], c]
            s = -pressure * _RULE_WEIGHTS[q]
            fx = s * (a[1] * b[2] - a[2] * b[1])
            fy = s * (a[2] * b[0] - a[0] * b[2])
            fz = s * (a[0] * b[1] - a[1] * b[0])
            for k in range(6):
                i = faces[t, k]
                out[i, 0] += _RULE_SHAPES[q, k] * fx
                out[i, 1] += _RULE_SHAPES[q, k] * fy
                out[i, 2] += _RULE_SHAPES[q, k] * fz


@jit
def add_wind(triangles, half_density, wind, x, v, out):
    """Add quadratic drag on triangles that move into the medium; returns the power it takes [W].

    A triangle with unit normal n, area A and velocity u relative to the medium feels
    ``-half_density A (u.n)^2 n`` where ``u.n > 0``.
    """
    power = 0.0
    for t in range(triangles.shape[0]):
        i = triangles[t, 0]
        j = triangles[t, 1]
        k = triangles[t, 2]
        nx, ny, nz = twice_area(x, i, j, k)
        double_area = np.sqrt(nx * nx + ny * ny + nz * nz)
        if double_area <= 0.0:
            continue
        ux = (v[i, 0] + v[j, 0] + v[k, 0]) / 3.0
        uy = (v[i, 1] + v[j, 1] + v[k, 1]) / 3.0
        uz = (v[i, 2] + v[j, 2] + v[k, 2]) / 3.0
        speed = ((ux - wind[0]) * nx + (uy - wind[1]) * ny + (uz - wind[2]) * nz) / double_area
        if speed <= 0.0:
            continue
        s = -half_density * speed * speed * 0.5 / 3.0
        fx = s * nx
        fy = s * ny
        fz = s * nz
        power += 3.0 * (fx * ux + fy * uy + fz * uz)
        for corner in (i, j, k):
            out[corner, 0] += fx
            out[corner, 1] += fy
            out[corner, 2] += fz
    return power


@jit
def hold_rows(rows, axes, origin, x, v):
    """Put the held degrees of freedom back where they began, at rest."""
    for k in range(rows.shape[0]):
        i = rows[k]
        for c in range(3):
            if axes[c]:
                x[i, c] = origin[k, c]
                v[i, c] = 0.0
