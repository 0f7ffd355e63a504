"""Driven particles of a rigid body: joints that hold some of its degrees of freedom."""

from typing import Self

import numpy as np

from pliant.core.typing import Array, IntArray

MOST = 60  # degrees of freedom that are looked at: more of a rigid body say nothing new
RANK = 1e-10  # directions that are held by less than this share do not count


class Joints:
    r"""Velocities (or small moves) of some degrees of freedom of a body's particles, J u = b.

    ``hold`` changes a twist u by the least impulse (in the body's own inertia) that brings
    it there, :math:`u + W J^T (J W J^T)^+ (b - J u)`; ``yielding`` (6, 6) is W with what is held taken out.
    """

    def __init__(self, rows: IntArray, axes: IntArray) -> None:
        self.rows, self.axes = rows, axes

    @classmethod
    def of(cls, inverse_mass: Array) -> Self | None:
        """The driven degrees of freedom (zero inverse mass), or None."""
        if inverse_mass.all():
            return None
        rows, axes = np.nonzero(inverse_mass == 0.0)
        step = max(1, len(rows) // MOST)
        step += step % 3 == 0  # so that all axes are among them
        return cls(rows[::step], axes[::step])

    def prepare(self, arms: Array, yielding: Array) -> None:
        """Take the body's present ``arms`` (n, 3), and its ``yielding`` W (6, 6) when it is free."""
        r, k = arms[self.rows], self.axes
        self.count = len(arms)
        self.J = np.zeros((len(r), 6))
        each = np.arange(len(r))
        self.J[each, k] = 1.0
        a, b = (k + 1) % 3, (k + 2) % 3  # d = e_k: r x d
        self.J[each, 3 + a] = r[each, b]
        self.J[each, 3 + b] = -r[each, a]
        self.root = np.linalg.cholesky(yielding)
        A = self.J @ self.root
        values, vectors = np.linalg.eigh(A.T @ A)
        held = values > RANK * max(float(values[-1]), 1e-300)
        inverse = np.where(held, 1.0 / np.where(held, values, 1.0), 0.0)
        self.inverse = (vectors * inverse) @ vectors.T
        self.A = A
        free = self.root @ vectors[:, ~held]  # nothing, to the last bit, where all six are held
        self.yielding = free @ free.T

    def hold(self, twist: Array, wanted: Array) -> Array:
        """Change ``twist`` so that the joints have the velocities ``wanted`` (n, 3); the impulse (6,)."""
        return self._change(twist, wanted[self.rows, self.axes] - self.J @ twist)

    def shift(self, twist: Array, off: Array) -> Array:
        """Change ``twist`` so that the joints' velocities change by ``off`` (n, 3); the impulse (6,)."""
        return self._change(twist, off[self.rows, self.axes])

    def _change(self, twist: Array, off: Array) -> Array:
        change = self.inverse @ (self.A.T @ off)
        twist += self.root @ change
        return np.asarray(np.linalg.solve(self.root.T, change))

    def gap(self, off: Array) -> float:
        """The largest of ``off`` (n, 3) at the joints."""
        return float(np.abs(off[self.rows, self.axes]).max())

    def shared(self, impulse: Array) -> Array:
        """Forces (n, 3) at the joints, the least that have the resultant ``impulse`` (6,)."""
        out = np.zeros((self.count, 3))
        squares = self.J.T @ self.J
        scale = 1.0 / np.sqrt(np.maximum(np.diag(squares), 1e-300))
        even = scale[:, None] * squares * scale
        least = scale * (np.linalg.pinv(even, rcond=RANK, hermitian=True) @ (scale * impulse))
        out[self.rows, self.axes] = self.J @ least
        return out
