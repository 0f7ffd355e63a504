"""Pairs of particles and obstacles that may touch within a step, and what they remember from tick to tick."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.contact.obstacle import ObstacleRuntime
from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.models.multires import contact_kernels
from pliant.models.multires.contact_kernels import Touching

FIRM = 1.5  # stiffness of a contact, in particle masses by the square of the tick
SLOW = 0.7  # viscosity of a contact without restitution, in particle masses by the tick


def near_obstacles(
    obstacles: Sequence[ObstacleRuntime], x: Array, v: Array, edge: float, times: Array, dt: float
) -> list[BoolArray]:
    """For each obstacle the particles (n,) that may touch it within dt, where it is at some ``times`` in
    it."""
    found, reach = [], 0.5 * edge + 2.0 * dt * np.linalg.norm(v, axis=1)
    for obstacle in obstacles:
        shape, flags = obstacle.rigid(times), np.zeros(len(x), bool)
        contact_kernels.near_shape(
            shape.kind, shape.size, shape.frame, np.ascontiguousarray(shape.places), x, reach, flags
        )
        found.append(flags)
    return found


class ObstacleContact:
    """Contacts of one body with rigid shapes: penalty forces on its particles, read at every tick.

    A contact has the stiffness ``1.5 m / dt^2`` of the particle's mass and the tick at which it began: as
    stiff as the ticks allow, as the simulated mass is never less than the particles'. Where ticks grow longer
    it softens; that takes energy and never gives any."""

    def __init__(self, mass: Array) -> None:
        self.mass = mass
        self.obstacles: list[ObstacleRuntime] | None = None
        self.pairs = self._none()

    def _none(self) -> Touching:
        return Touching(
            np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3, 3)), np.zeros((0, 1, 3)),
            np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros((0, 3)),
            np.zeros(0, bool), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 8)), FIRM, np.zeros(0), self.mass,
        )  # fmt: skip

    @property
    def stored(self) -> float:
        """Energy [J] in all contacts."""
        return float(self.pairs.stored.sum())

    @property
    def particles(self) -> IntArray:
        """Particles that may touch something in this step, each once."""
        return np.unique(self.pairs.particle)

    def prepare(
        self, obstacles: Sequence[ObstacleRuntime], x: Array, v: Array, edge: float, time: float, dt: float,
        ticks: int,
    ) -> float:  # fmt: skip
        """Find the pairs of a step of ``ticks`` from ``time`` on; x, v (n, 3) of the particles. Returns the
        energy [J] that contacts lose because their ticks are longer than when they began."""
        old, before = self.pairs, self.obstacles
        if not obstacles:
            self.pairs, self.obstacles = self._none(), []
            return float(old.stored.sum())
        times: Array = time + np.arange(ticks + 1.0) * (dt / ticks)
        shapes = [obstacle.rigid(times) for obstacle in obstacles]
        places = np.empty((len(shapes), ticks + 1, 3))
        for o, shape in enumerate(shapes):
            places[o] = shape.places
        ends = np.array([time, time + 0.5 * dt, time + dt])
        found = [np.flatnonzero(flags) for flags in near_obstacles(obstacles, x, v, edge, ends, dt)]
        shape_of = np.repeat(np.arange(len(shapes)), [len(some) for some in found])
        particle = np.concatenate(found)
        n = len(particle)
        restitution = np.array([shape.restitution for shape in shapes])
        self.pairs = Touching(
            np.array([shape.kind for shape in shapes], np.int64),
            np.array([shape.friction for shape in shapes]),
            np.stack([np.resize(shape.size, 3) for shape in shapes]),
            np.stack([shape.frame for shape in shapes]),
            places, particle, shape_of, np.zeros(n), np.zeros(n), np.zeros((n, 3)), np.zeros(n, bool),
            np.zeros((n, 3)), np.zeros(n), np.zeros((len(shapes), 8)), FIRM,
            SLOW * np.clip(1.0 - restitution, 0.0, 1.0), self.mass,
        )  # fmt: skip
        self.obstacles = list(obstacles)
        return float(old.stored.sum()) - self._continue(old, before, dt / ticks)

    def _continue(self, old: Touching, before: list[ObstacleRuntime] | None, dt: float) -> float:
        """Let pairs that touched go on; returns the energy [J] in them."""
        now, obstacles = self.pairs, self.obstacles
        assert obstacles is not None
        place = np.arange(len(obstacles)) if before is None else np.array(
            [next((k for k, o in enumerate(obstacles) if o is one), -1) for one in before], np.int64
        )  # fmt: skip
        rows = np.flatnonzero(old.touches)
        shape = place[old.shape[rows]] if len(rows) else rows
        count = max(len(self.mass), 1)
        keys = now.shape * count + now.particle
        wanted = shape * count + old.particle[rows]
        order = np.argsort(keys, kind="stable")
        where = np.minimum(np.searchsorted(keys[order], wanted), max(len(keys) - 1, 0))
        if not len(keys) or not len(rows):
            return 0.0
        there = order[where]
        same = (keys[there] == wanted) & (shape >= 0)
        to, source = there[same], rows[same]
        share = np.minimum(1.0, FIRM * self.mass[old.particle[source]] / dt**2 / old.stiffness[source])
        now.touches[to] = True
        now.stiffness[to] = share * old.stiffness[source]
        now.viscosity[to] = np.minimum(
            old.viscosity[source], now.slow[now.shape[to]] * self.mass[now.particle[to]] / dt
        )
        now.anchor[to] = old.anchor[source]
        now.force[to] = share[:, None] * old.force[source]
        now.stored[to] = share * old.stored[source]
        return float(now.stored.sum())

    def report(self) -> None:
        """Hand impulses, work and heat of the step to the obstacles."""
        for obstacle, out in zip(self.obstacles or (), self.pairs.out, strict=True):
            obstacle.take_contacts(out)

    def copy(self) -> Touching:
        """What changes in a step, to take it again."""
        p = self.pairs
        return p._replace(
            stiffness=p.stiffness.copy(), viscosity=p.viscosity.copy(), anchor=p.anchor.copy(),
            touches=p.touches.copy(), force=p.force.copy(), stored=p.stored.copy(), out=p.out.copy(),
        )  # fmt: skip

    def cut(self, parents: IntArray, mass: Array) -> None:
        """Forget all contacts: particles have other numbers now."""
        self.mass = mass
        self.pairs = self._none()

    # ----------------------------------------------------------------------------------------- restart

    def state(self) -> dict[str, AnyArray]:
        p = self.pairs
        names = ("particle", "shape", "stiffness", "viscosity", "anchor", "touches", "force", "stored")
        rows = np.flatnonzero(p.touches)
        return {f"touch-{name}": getattr(p, name)[rows] for name in names}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        values: Any = {name[6:]: np.array(state[name]) for name in state if name.startswith("touch-")}
        self.pairs, self.obstacles = self._none()._replace(**values), None
