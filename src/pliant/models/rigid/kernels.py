"""Rotation of rigid bodies: quaternions, free rotation, and the rows of the World that follow."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.core.typing import Array
from pliant.kernels.jit import jit


@jit
def turn_matrix(q, out):
    """The rotation matrix (3, 3) of a unit quaternion (w, x, y, z)."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    out[0, 0], out[0, 1], out[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    out[1, 0], out[1, 1], out[1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    out[2, 0], out[2, 1], out[2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)


@jit
def _spin_about(q, k, angle, momentum):
    """Turn the body by ``angle`` about its own axis k: q from the right, the body's momentum against it."""
    c, s = np.cos(0.5 * angle), np.sin(0.5 * angle)
    a, b = (k + 1) % 3, (k + 2) % 3
    w, p, u, v = q[0], q[1 + k], q[1 + a], q[1 + b]
    q[0], q[1 + k] = w * c - p * s, w * s + p * c
    q[1 + a], q[1 + b] = u * c + v * s, v * c - u * s
    c, s = np.cos(angle), np.sin(angle)
    m, n = momentum[a], momentum[b]
    momentum[a], momentum[b] = m * c + n * s, n * c - m * s


@jit
def free_rotation(q, angular, inertia, dt, steps):
    r"""Rotate a free body for ``dt``, in ``steps`` of exact rotations about its principal axes.

    The energy :math:`\sum \Pi_k^2 / 2 I_k` of the momentum :math:`\Pi = R^T L` in the body is split into its
    three terms, each of which is a rotation at a constant rate: symmetric, symplectic, and L in space
    stays what it is ([DullweberLeimkuhlerMcLachlan1997]_, section III). Differs: three such passes, over
    1.35, -1.70 and 1.35 of the step, make the scheme one of fourth order.
    """
    R = np.empty((3, 3))
    outer = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))
    for part in range(3 * steps):
        h = dt / steps * (1.0 - 2.0 * outer if part % 3 == 1 else outer)
        turn_matrix(q, R)
        own = np.empty(3)
        for k in range(3):
            own[k] = R[0, k] * angular[0] + R[1, k] * angular[1] + R[2, k] * angular[2]
        for k, share in ((0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5)):
            _spin_about(q, k, share * h * own[k] / inertia[k], own)
        size = np.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
        for k in range(4):
            q[k] /= size


@jit
def follow(centre, turn, arms, twist, w, x, v):
    """Rows of a body at ``centre`` (3,) turned by ``turn`` (3, 3), with its ``twist`` (6,): velocity of the
    centre and spin. Driven degrees of freedom (w zero) are left alone."""
    for i in range(arms.shape[0]):
        a0 = turn[0, 0] * arms[i, 0] + turn[0, 1] * arms[i, 1] + turn[0, 2] * arms[i, 2]
        a1 = turn[1, 0] * arms[i, 0] + turn[1, 1] * arms[i, 1] + turn[1, 2] * arms[i, 2]
        a2 = turn[2, 0] * arms[i, 0] + turn[2, 1] * arms[i, 1] + turn[2, 2] * arms[i, 2]
        if w[i, 0] != 0.0:
            x[i, 0] = centre[0] + a0
            v[i, 0] = twist[0] + twist[4] * a2 - twist[5] * a1
        if w[i, 1] != 0.0:
            x[i, 1] = centre[1] + a1
            v[i, 1] = twist[1] + twist[5] * a0 - twist[3] * a2
        if w[i, 2] != 0.0:
            x[i, 2] = centre[2] + a2
            v[i, 2] = twist[2] + twist[3] * a1 - twist[4] * a0


@jit
def resultant(x, centre, f):
    """Sum of ``f`` (n, 3) at ``x`` (n, 3), and of their moments about ``centre``, (6,)."""
    out = np.zeros(6)
    for i in range(x.shape[0]):
        a, b, c = x[i, 0] - centre[0], x[i, 1] - centre[1], x[i, 2] - centre[2]
        out[0] += f[i, 0]
        out[1] += f[i, 1]
        out[2] += f[i, 2]
        out[3] += b * f[i, 2] - c * f[i, 1]
        out[4] += c * f[i, 0] - a * f[i, 2]
        out[5] += a * f[i, 1] - b * f[i, 0]
    return out


@jit
def inertial_forces(turn, arms, mass, spin, straight, gain, out):
    """``m a`` (n, 3) of particles of a body whose centre is accelerated by ``straight``, its spin by
    ``gain``."""
    for i in range(arms.shape[0]):
        r0 = turn[0, 0] * arms[i, 0] + turn[0, 1] * arms[i, 1] + turn[0, 2] * arms[i, 2]
        r1 = turn[1, 0] * arms[i, 0] + turn[1, 1] * arms[i, 1] + turn[1, 2] * arms[i, 2]
        r2 = turn[2, 0] * arms[i, 0] + turn[2, 1] * arms[i, 1] + turn[2, 2] * arms[i, 2]
        u0, u1, u2 = spin[1] * r2 - spin[2] * r1, spin[2] * r0 - spin[0] * r2, spin[0] * r1 - spin[1] * r0
        out[i, 0] = mass[i] * (straight[0] + gain[1] * r2 - gain[2] * r1 + spin[1] * u2 - spin[2] * u1)
        out[i, 1] = mass[i] * (straight[1] + gain[2] * r0 - gain[0] * r2 + spin[2] * u0 - spin[0] * u2)
        out[i, 2] = mass[i] * (straight[2] + gain[0] * r1 - gain[1] * r0 + spin[0] * u1 - spin[1] * u0)


def cross(a: Array, b: Array) -> Array:
    """The cross product of two vectors (3,)."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def quaternion_of(R: Array) -> Array:
    """The unit quaternion (w, x, y, z) of a rotation matrix (3, 3); w is not negative."""
    d = np.diag(R)
    squares = np.array([1 + d.sum(), 1 + 2 * d[0] - d.sum(), 1 + 2 * d[1] - d.sum(), 1 + 2 * d[2] - d.sum()])
    k = int(np.argmax(squares))
    a = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    q = np.empty(4)
    if k == 0:
        q[0], q[1:] = squares[0], a
    else:
        i = k - 1
        q[0] = a[i]
        for j in range(3):
            q[1 + j] = squares[k] if j == i else R[i, j] + R[j, i]
    q /= np.linalg.norm(q)
    return np.asarray(q if q[0] >= 0 else -q)


def turned(q: Array, turn: Array) -> Array:
    """The quaternion ``q`` after a turn by the vector ``turn`` (3,) [rad] in space."""
    angle = float(np.linalg.norm(turn))
    if angle == 0.0:
        return q
    w, u = np.cos(0.5 * angle), np.sin(0.5 * angle) * turn / angle
    out = np.concatenate([[w * q[0] - u @ q[1:]], w * q[1:] + q[0] * u + cross(u, q[1:])])
    return np.asarray(out / np.linalg.norm(out))
