"""Turns of rigid bodies, in numbers: quick cross products of single vectors, unit quaternions."""

import numpy as np

from pliant.core.typing import Array


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
