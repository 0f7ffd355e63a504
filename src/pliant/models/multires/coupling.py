"""The coupling of levels: which nodes are active, how loads reach them, and the sub-steps of one step."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.level_state import LevelState
from pliant.models.multires.substep_kernels import FORCES, Contacts, heat_stride

if TYPE_CHECKING:
    from pliant.models.multires.contact_input import NearbyObstacles

SAFETY = 0.95  # of the largest stable step of damped motion

Times = tuple[int, float, IntArray, int]  # ticks, seconds of a tick, ticks of each level's step, finest level


class Coupling(ABC):
    """How levels move together. A node is active where it is integrated in time; all others follow.

    active: active nodes of each level; active_stacked: the same in arrays that hold all levels, and where
    each level begins; constrained: nodes of each level that follow their parent tets; replaced: nodes of each
    level that take the values of finer ones; finest_active: the finest level with active nodes. points (n, 3)
    [m]: rest positions of all nodes; mass [kg]: of each level's nodes, as they move; heat (1,): energy [J]
    that damping has taken (empty: not counted); force_imbalance (3,) [N]: the sum by which forces between
    nodes have missed zero lately.
    """

    # Velocities are at the time of positions, each level's forces acting on their own at its steps; or
    # velocities are in the middle of each level's step, with all forces on a node at once.
    synchronous: ClassVar[bool]
    inverse: list[Array]  # 1 / mass (n, 3) of each level's nodes, zero for prescribed degrees of freedom

    def __init__(self, hierarchy: Hierarchy, motion: LevelState) -> None:
        self.hierarchy, self.motion = hierarchy, motion
        self.points = np.concatenate([level.points for level in hierarchy.levels])
        self.stacked_mass: Array = np.concatenate([level.mass for level in hierarchy.levels])
        self.mass = motion.by_level(self.stacked_mass)
        self.contact_scratch = np.zeros(len(self.points)), np.zeros_like(self.points)  # radii, positions
        self.heat: Array = np.zeros(0)
        self.force_imbalance: Array = np.zeros(3)
        none = np.zeros(0, np.int64)
        self.active: list[IntArray] = [none for _ in hierarchy.levels]
        self.replaced: list[IntArray] = list(self.active)
        self.constrained: list[BoolArray] = []
        self.active_stacked: tuple[IntArray, IntArray] = (none, none)
        self.finest_active = 0

    @abstractmethod
    def set_active(self, split: list[BoolArray]) -> None:
        """Set the active nodes, where ``split`` nodes of each level are replaced by finer ones."""

    @abstractmethod
    def update_inverse_mass(self) -> None:
        """Bring ``inverse`` up to date with masses and prescribed degrees of freedom."""

    @abstractmethod
    def restrict_loads(self, values: Array) -> Array:
        """Forces [N] or impulses [N s] (n, 3) on the finest nodes as equivalent ones on active nodes, by
        their virtual work, in an array that holds all levels."""

    @abstractmethod
    def apply_impulses(self, rows: IntArray, impulses: Array) -> None:
        """Change the velocities of active nodes by impulses [N s] (m, 3) on the finest nodes ``rows``."""

    @abstractmethod
    def prolongate(self) -> None:
        """Give every node of every level the values of the finest active ones there, except the constrained
        ones of the finest level: these are interpolated where particles are written."""

    @abstractmethod
    def refresh_ghosts(self) -> None:
        """Give the nodes around active ones the values that forces on these read."""

    @abstractmethod
    def stable_steps(self) -> list[float]:
        """Largest stable step [s] of each level."""

    @abstractmethod
    def energy(self) -> tuple[float, float]:
        """Kinetic and elastic energy [J] of what is simulated."""

    @abstractmethod
    def update_forces(self, nodes: list[IntArray]) -> None:
        """Compute the forces of the present state into ``motion.f``, at least those on these active nodes."""

    @abstractmethod
    def _begin_step(self, dt: float, counts: list[int]) -> BoolArray:
        """Prepare sub-steps; whether the forces of each level are computed outside of the compiled loop."""

    @abstractmethod
    def _run_substeps(self, cursor: IntArray, times: Times, outside: BoolArray, contacts: Contacts) -> int:
        """Run the compiled loop from ``cursor`` (tick, level, stage) on; what it stopped for."""

    @abstractmethod
    def _level_forces(self, k: int, seconds: float) -> None:
        """Compute the forces of level k; where ``seconds`` is not zero, add the heat of that time."""

    def advance(self, time: float, dt: float, counts: list[int], near: "NearbyObstacles") -> None:
        """Move everything by dt [s]; level k takes ``counts[k]`` steps (powers of two), and is pushed out of
        the obstacles near it after each."""
        ticks = counts[self.finest_active]
        periods = np.array([max(ticks // count, 1) for count in counts])
        times = (ticks, dt / ticks, periods, self.finest_active)
        outside = self._begin_step(dt, counts)
        contacts = near.contacts(time, dt, ticks, self)
        cursor = np.zeros(3, np.int64)
        while self._run_substeps(cursor, times, outside, contacts) == FORCES:
            tick, k = int(cursor[0]), int(cursor[1])
            stride = heat_stride(counts[k])
            counted = (tick // periods[k]) % stride == 0 and tick < ticks
            self._level_forces(k, stride * dt / counts[k] if counted else 0.0)
        for obstacle, row in zip(near.obstacles, contacts.reaction, strict=True):
            obstacle.take_contacts(row)

    def substep_counts(self, dt: float) -> list[int]:
        """Steps of each level within ``dt`` [s]: powers of two, at least as many as the coarser level's."""
        found = list[int]()
        for limit in self.stable_steps():
            count = 2 ** int(np.ceil(np.log2(max(dt / limit, 1.0)) - 1e-9))
            found.append(max(count, *found[-1:]) if found else count)
        return found

    def momenta(self) -> tuple[Array, Array]:
        """Linear [kg m/s] and angular momentum [kg m2/s] of the active nodes."""
        linear, angular = np.zeros(3), np.zeros(3)
        for k, nodes in enumerate(self.active):
            p = self.mass[k][nodes, None] * self.motion.v[k][nodes]
            x = self.hierarchy.levels[k].points[nodes] + self.motion.d[k][nodes]
            linear += p.sum(axis=0)
            angular += np.cross(x, p).sum(axis=0)
        return linear, angular

    def set_momentum(self, linear: Array) -> None:
        """Give a free body this linear momentum by a uniform velocity. Its angular velocity is left alone:
        levels differ in their moments of inertia, so that it cannot be kept together with the angular
        momentum."""
        mass = sum(float(mass[nodes].sum()) for mass, nodes in zip(self.mass, self.active, strict=True))
        change = (linear - self.momenta()[0]) / mass
        for v, nodes in zip(self.motion.v, self.active, strict=True):
            v[nodes] += change

    def _kinetic_energy(self) -> float:
        total = 0.0
        for mass, v, nodes in zip(self.mass, self.motion.v, self.active, strict=True):
            total += 0.5 * float(np.sum(mass[nodes, None] * v[nodes] ** 2))
        return total


def damped_step(critical_step: float, beta: float) -> float:
    """Largest step [s] of symplectic Euler with ``f = -K (d + beta v)``, with a margin: the limit is
    ``sqrt(beta^2 + c^2) - beta`` with the undamped critical step ``c = 2 / omega``."""
    return float(min(0.75 * critical_step, SAFETY * (np.hypot(beta, critical_step) - beta)))


def largest_damping(critical_step: float, step: float) -> float:
    """The largest beta [s] for which ``damped_step`` still allows the step; not positive where none does."""
    whole = step / SAFETY
    return float((critical_step**2 / whole - whole) / 2.0)
