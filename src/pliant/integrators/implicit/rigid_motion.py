r"""Rigid motion of the connected parts of the bodies: guesses that turn with them, and exact momenta.

Sums run over the particles of a part, with masses m, centre c, velocity of the centre :math:`v_c`, arms
:math:`r = x - c`, inertia :math:`I = \sum m (r \cdot r\,1 - r r^T)` and spin :math:`\omega = I^{-1} \sum m
r \times v`.
"""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from pliant.state.world import World

MIDPOINT_ROUNDS = 8
DEGENERATE = 1e-9  # of the largest moment of inertia: about such an axis nothing turns


class ConnectedParts:
    """The connected parts of all bodies for one topology: label (n,) of each particle.

    Parts whose particles are all free may be turned (``free``, (parts,)); of the others, directions in which
    all their particles are free (``loose``, (parts, 3)) still have a momentum of their own.
    """

    def __init__(self, graph: "csr_array", world: "World") -> None:
        from scipy.sparse.csgraph import connected_components

        count, label = connected_components(graph, directed=False)
        self.count: int = int(count)
        self.label: IntArray = label.astype(np.int64)
        self.mass: Array = world.mass
        self._mask: Array = world.inverse_mass.copy()
        driven = np.stack([self._held(world.inverse_mass[:, k] == 0.0) for k in range(3)], axis=1)
        self.loose: BoolArray = ~driven
        self.free: BoolArray = np.asarray(self.loose.all(axis=1))
        self.total: Array = np.asarray(np.bincount(self.label, world.mass, minlength=self.count), float)

    def fits(self, world: "World") -> bool:
        """Whether the same degrees of freedom are prescribed as when it was made."""
        return np.array_equal(self._mask, world.inverse_mass)

    def _held(self, rows: BoolArray) -> BoolArray:
        return np.bincount(self.label[rows], minlength=self.count) > 0

    def touched(self, rows: IntArray) -> BoolArray:
        """Parts (parts,) that have any of the particles ``rows``."""
        return np.bincount(self.label[rows], minlength=self.count) > 0

    def sums(self, values: Array) -> Array:
        """Sums of vectors (n, 3) over each part, (parts, 3), in the order of the particles."""
        sums = [np.bincount(self.label, values[:, k], minlength=self.count) for k in range(3)]
        return np.stack(sums, axis=1)

    def mean(self, values: Array) -> Array:
        """Means of vectors (n, 3), weighted by mass, (parts, 3)."""
        return np.asarray(self.sums(self.mass[:, None] * values) / self.total[:, None])

    def inertia(self, arms: Array) -> Array:
        """Inertia (parts, 3, 3) [kg m2] about the origin of ``arms`` (n, 3)."""
        out = np.zeros((self.count, 3, 3))
        for a in range(3):
            for b in range(a, 3):
                product = np.bincount(self.label, self.mass * arms[:, a] * arms[:, b], minlength=self.count)
                out[:, a, b] -= product
                if a == b:
                    out += product[:, None, None] * np.eye(3)
                else:
                    out[:, b, a] -= product
        return out

    def spin_for(self, arms: Array, momentum: Array) -> Array:
        """The spin (parts, 3) [rad/s] of rigid motion with the angular ``momentum`` (parts, 3)."""
        inverse = np.linalg.pinv(self.inertia(arms), rcond=DEGENERATE, hermitian=True)
        return np.asarray(np.einsum("kij,kj->ki", inverse, momentum))

    def angular_momentum(self, x: Array, v: Array) -> Array:
        """``sum m x cross v`` (parts, 3) [kg m2/s] about the origin."""
        return self.sums(self.mass[:, None] * np.cross(x, v))

    # ------------------------------------------------------------------------------------- guess

    def ahead(
        self, x: Array, v: Array, dt: float, target: Array, between: bool, deform: bool = True
    ) -> Array:
        r"""Where particles are after ``dt`` if each part goes on as it moves: its shape
        :math:`r + dt (v - v_c - \omega \times r)`, moved rigidly to where it is nearest to ``target``, by
        mass, which is where inertia leads the stage. between: the target is that of an energy-momentum step.
        deform: else its shape r, as it is now, which is the solution for stiff bodies. Straight on in parts
        that are held somewhere.
        """
        label, out = self.label, x + dt * v
        if not self.free.any():
            return out
        centre, speed = self.mean(x), self.mean(v)
        arms, relative = x - centre[label], v - speed[label]
        column = self.mass[:, None]
        spin = self.spin_for(arms, self.sums(column * np.cross(arms, relative)))
        shape = arms + dt * (relative - np.cross(spin[label], arms)) if deform else arms
        aim = self.mean(target)
        if between:
            turns = self._midpoint_turns(arms, relative, spin, dt)
        else:
            turns = self._nearest_turns(shape, target - aim[label], rotations(dt * spin))
        moves = self.free[label]
        out[moves] = aim[label[moves]] + np.einsum("nij,nj->ni", turns[label[moves]], shape[moves])
        return out

    def _nearest_turns(self, shape: Array, target: Array, first: Array) -> Array:
        """The rotations (parts, 3, 3) that bring ``shape`` (n, 3) nearest to ``target`` (n, 3); ``first``
        where that is not unique."""
        products = np.empty((self.count, 3, 3))
        for a in range(3):
            for b in range(3):
                weights = self.mass * target[:, a] * shape[:, b]
                products[:, a, b] = np.bincount(self.label, weights, minlength=self.count)
        left, sizes, right = np.linalg.svd(products)
        sign = np.sign(np.linalg.det(np.einsum("kij,kjl->kil", left, right)))
        left[:, :, 2] *= sign[:, None]
        found = np.einsum("kij,kjl->kil", left, right)
        unique = sizes[:, 1] + sign * sizes[:, 2] > DEGENERATE * sizes[:, 0]
        return np.where((unique & self.free)[:, None, None], found, first)

    def _midpoint_turns(self, arms: Array, relative: Array, spin: Array, dt: float) -> Array:
        r"""The rotations (parts, 3, 3) of rigid energy-momentum steps: :math:`x_1 - x_0 = dt\,w \times x_m`
        with
        :math:`I(x_m)\,w = \sum m\,x_m \times v_0`, by iteration on the mean positions."""
        column, label = self.mass[:, None], self.label
        for _ in range(MIDPOINT_ROUNDS):
            half = 0.5 * dt * skew_matrices(spin)
            inverse = np.linalg.inv(np.eye(3) - half)
            middle = np.einsum("nij,nj->ni", inverse[label], arms)
            spin = self.spin_for(middle, self.sums(column * np.cross(middle, relative)))
        half = 0.5 * dt * skew_matrices(spin)
        return np.asarray(np.einsum("kij,kjl->kil", np.linalg.inv(np.eye(3) - half), np.eye(3) + half))

    # ----------------------------------------------------------------------------------- momenta

    def balance(self, surplus: Array, v: Array, held: BoolArray) -> None:
        """Take the sum of ``surplus`` (n, 3) [kg m/s] out of the velocities of each part, in directions in
        which nothing holds it; held (parts,): parts to leave alone."""
        change = np.where(self.loose & ~held[:, None], self.sums(surplus) / self.total[:, None], 0.0)
        v -= change[self.label]

    def turned_half(self, before: Array, after: Array, v: Array, leave: BoolArray) -> Array:
        """Velocities ``v`` (n, 3), means over a step from ``before`` to ``after``, turned about the parts'
        centres to the end of the step, by half of what each part turned; leave (parts,): parts to leave as
        they are."""
        label, speed = self.label, self.mean(v)
        arms, ends = before - self.mean(before)[label], after - self.mean(after)[label]
        whole = self._nearest_turns(arms, ends, np.tile(np.eye(3), (self.count, 1, 1)))
        turns = half_rotations(whole)
        turns[leave | ~self.free] = np.eye(3)
        return np.asarray(speed[label] + np.einsum("nij,nj->ni", turns[label], v - speed[label]))

    def restoring_spin(self, x: Array, v: Array, momentum: Array) -> Array:
        """Velocities (n, 3) of rigid rotations about the parts' centres that bring their angular momentum to
        ``momentum`` (parts, 3); zero in parts that are held."""
        arms = x - self.mean(x)[self.label]
        missing = np.where(self.free[:, None], momentum - self.angular_momentum(x, v), 0.0)
        return np.cross(self.spin_for(arms, missing)[self.label], arms)

    def deformation_velocity(self, x: Array, v: Array) -> Array:
        """Velocities (n, 3) less the rigid motion of each free part; held parts have none."""
        label, speed = self.label, self.mean(v)
        arms, relative = x - self.mean(x)[label], v - speed[label]
        spin = self.spin_for(arms, self.sums(self.mass[:, None] * np.cross(arms, relative)))
        return np.where(self.free[label, None], relative - np.cross(spin[label], arms), v)


def rotations(turns: Array) -> Array:
    """Rotation matrices (k, 3, 3) about vectors (k, 3) by their lengths [rad]."""
    angle = np.linalg.norm(turns, axis=1)
    small = angle < 1e-8
    safe = np.where(small, 1.0, angle)
    first = np.where(small, 1.0, np.sin(safe) / safe)
    second = np.where(small, 0.5, (1.0 - np.cos(safe)) / safe**2)
    skew = skew_matrices(turns)
    square = np.einsum("kij,kjl->kil", skew, skew)
    return np.asarray(np.eye(3) + first[:, None, None] * skew + second[:, None, None] * square)


def half_rotations(turns: Array) -> Array:
    """Rotations (k, 3, 3) by half the angle of ``turns``; the identity for half turns, which have no axis."""
    cosine = 0.5 * (np.trace(turns, axis1=1, axis2=2) - 1.0)  # of the whole angle
    axis = 0.5 * np.stack(
        [turns[:, 2, 1] - turns[:, 1, 2], turns[:, 0, 2] - turns[:, 2, 0], turns[:, 1, 0] - turns[:, 0, 1]],
        axis=1,
    )
    sine = np.linalg.norm(axis, axis=1)
    angle = np.arctan2(sine, cosine)
    factor = np.where(sine > 1e-12, 0.5 * angle / np.maximum(sine, 1e-12), 0.5)
    return rotations(factor[:, None] * axis)


def skew_matrices(vectors: Array) -> Array:
    """The matrices (k, 3, 3) of cross products with vectors (k, 3) from the left."""
    skew = np.zeros((len(vectors), 3, 3))
    skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0] = vectors.T
    skew[:, 1, 2], skew[:, 2, 0], skew[:, 0, 1] = -vectors.T
    return skew


def without_rigid_motion(arms: Array, mass: Array, field: Array) -> Array:
    """A field of vectors (n, 3) less the rigid motion nearest to it, by mass; ``arms`` (n, 3) from the
    centre.

    What is left has no momentum and no angular momentum.
    """
    rest = field - np.sum(mass[:, None] * field, axis=0) / mass.sum()
    moment = np.sum(mass[:, None] * np.cross(arms, rest), axis=0)
    square = np.einsum("n,ni,nj->ij", mass, arms, arms)
    inertia = np.trace(square) * np.eye(3) - square
    spin = np.linalg.pinv(inertia, rcond=DEGENERATE, hermitian=True) @ moment
    return np.asarray(rest - np.cross(spin, arms))
