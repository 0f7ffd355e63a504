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
_PAIRS = ("particle", "shape", "stiffness", "viscosity", "anchor", "touches", "force", "stored")
_SHAPES = ("kinds", "friction", "sizes", "frames", "places", "speed", "slow")


def near_obstacles(
    obstacles: Sequence[ObstacleRuntime], x: Array, reach: Array, times: Array
) -> list[BoolArray]:
    """For each obstacle the particles (n,) that are within ``reach`` (n,) of it, where it is at ``times``."""
    found = []
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
    it softens; that takes energy and never gives any.

    A contact that lasts a few ticks may return more than it took. ``taken`` [J] is what contacts have turned
    to heat since the body last touched nothing; where it would fall below zero, that is not heat but a gain,
    which ``gained`` returns.

    Pairs are looked for at the beginning of a step, within a reach that is ``wider`` times half an edge and
    twice the way at the present velocity. A particle that was pulled into a shape from farther away would
    begin to touch it deep inside, with energy from nothing: ``missed`` finds it, and the step is taken again
    with a wider reach."""

    def __init__(self, mass: Array) -> None:
        self.mass = mass
        self.wider = 1.0
        self.taken = 0.0
        self.obstacles: list[ObstacleRuntime] | None = None
        self.pairs = self._none()

    def _none(self) -> Touching:
        return Touching(
            np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3, 3)), np.zeros((0, 1, 3)),
            np.zeros((0, 3)), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0),
            np.zeros((0, 3)), np.zeros(0, bool), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 8)), FIRM,
            np.zeros(0), self.mass,
        )  # fmt: skip

    @property
    def stored(self) -> float:
        """Energy [J] in all contacts."""
        return float(self.pairs.stored.sum())

    @property
    def particles(self) -> IntArray:
        """Particles that may touch something in this step, each once."""
        return np.unique(self.pairs.particle)

    def kept(self) -> Touching:
        """The pairs as they are now, for when an evaluation of forces is taken back."""
        changed = ("stiffness", "viscosity", "anchor", "touches", "force", "stored")
        return self.pairs._replace(**{name: getattr(self.pairs, name).copy() for name in changed})

    def prepare(
        self, obstacles: Sequence[ObstacleRuntime], x: Array, v: Array, edge: float, time: float, dt: float,
        ticks: int,
    ) -> None:  # fmt: skip
        """Find the pairs of a step of ``ticks`` from ``time`` on; x, v (n, 3) of the particles. Those that
        touched go on; where ticks are longer than when they began, they lose energy."""
        old, before = self.pairs, self.obstacles
        if not obstacles:
            self.pairs, self.obstacles = self._none(), []
            return
        times: Array = time + np.arange(ticks + 1.0) * (dt / ticks)
        shapes = [obstacle.rigid(times) for obstacle in obstacles]
        places = np.empty((len(shapes), ticks + 1, 3))
        for o, shape in enumerate(shapes):
            places[o] = shape.places
        ends = np.array([time, time + 0.5 * dt, time + dt])
        reach = self.wider * (0.5 * edge + 2.0 * dt * np.linalg.norm(v, axis=1))
        found = [np.flatnonzero(flags) for flags in near_obstacles(obstacles, x, reach, ends)]
        shape_of = np.repeat(np.arange(len(shapes)), [len(some) for some in found])
        particle = np.concatenate(found)
        n = len(particle)
        restitution = np.array([shape.restitution for shape in shapes])
        self.pairs = Touching(
            np.array([shape.kind for shape in shapes], np.int64),
            np.array([shape.friction for shape in shapes]),
            np.stack([np.resize(shape.size, 3) for shape in shapes]),
            np.stack([shape.frame for shape in shapes]),
            places, (places[:, 1] - places[:, 0]) * (ticks / dt), particle, shape_of,
            np.zeros(n), np.zeros(n), np.zeros((n, 3)), np.zeros(n, bool),
            np.zeros((n, 3)), np.zeros(n), np.zeros((len(shapes), 8)), FIRM,
            SLOW * np.clip(1.0 - restitution, 0.0, 1.0), self.mass,
        )  # fmt: skip
        self.obstacles = list(obstacles)
        self._continue(old, before, dt / ticks)

    def _continue(self, old: Touching, before: list[ObstacleRuntime] | None, dt: float) -> None:
        """Let pairs that touched go on."""
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
            return
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

    def missed(self, obstacles: Sequence[ObstacleRuntime], x: Array, time: float) -> bool:
        """Whether particles at x (n, 3) are inside a shape at ``time`` that they are not paired with; then
        the next pairs are looked for in a wider reach."""
        inside = near_obstacles(obstacles, x, np.zeros(len(x)), np.array([time]))
        for o, flags in enumerate(inside):
            flags[self.pairs.particle[self.pairs.shape == o]] = False
        found = any(bool(flags.any()) for flags in inside)
        self.wider *= 2.0 if found else 1.0
        return found

    def gained(self) -> float:
        """What contacts gave [J] by the end of this step beyond what they had taken: it is no heat."""
        out = self.pairs.out
        self.taken += float(out[:, 7].sum())
        gain = max(0.0, -self.taken)
        if gain > 0.0:
            out[int(np.argmin(out[:, 7])), 7] += gain
        self.taken = max(0.0, self.taken) if self.pairs.touches.any() else 0.0
        return gain

    def soften(self, share: float) -> None:
        """Make the springs of all contacts weaker; those that begin later are as stiff as ever."""
        self.pairs.stiffness[:] *= share

    def finish_step(self, dt: float) -> None:
        """Hand impulses, work and heat of the step, in ticks of dt, to the obstacles; the shapes are where
        they are at its end."""
        p, self.wider = self.pairs, 1.0
        for obstacle, out in zip(self.obstacles or (), p.out, strict=True):
            obstacle.take_contacts(out)
        if len(p.kinds):
            last = np.ascontiguousarray(p.places[:, -1:])
            self.pairs = p._replace(places=last, speed=(p.places[:, -1] - p.places[:, -2]) / dt)

    def continue_after_cut(self, before: "ObstacleContact", parents: IntArray) -> None:
        """Take over the contacts of the body before a cut; particles continue ``parents``, and share their
        contacts by mass."""
        p, touched = before.pairs, np.flatnonzero(before.pairs.touches)
        order = touched[np.argsort(p.particle[touched], kind="stable")]
        first = np.searchsorted(p.particle[order], parents)
        sizes = np.searchsorted(p.particle[order], parents, "right") - first
        particle = np.repeat(np.arange(len(parents)), sizes)
        start = np.repeat(first - np.cumsum(sizes) + sizes, sizes)
        rows = order[start + np.arange(len(particle))]
        share = self.mass[particle] / before.mass[p.particle[rows]]
        self.obstacles, self.taken = before.obstacles, before.taken
        self.pairs = p._replace(
            particle=particle, shape=p.shape[rows], stiffness=share * p.stiffness[rows],
            viscosity=share * p.viscosity[rows], anchor=p.anchor[rows], touches=p.touches[rows],
            force=share[:, None] * p.force[rows], stored=share * p.stored[rows], mass=self.mass,
        )  # fmt: skip

    # ----------------------------------------------------------------------------------------- restart

    def state(self) -> dict[str, AnyArray]:
        p = self.pairs
        rows = np.flatnonzero(p.touches)
        found = {f"touch-{name}": getattr(p, name)[rows] for name in _PAIRS}
        found |= {f"touch-{name}": getattr(p, name) for name in _SHAPES}
        return found | {"contact-taken": np.array(self.taken)}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        values: Any = {name[6:]: np.array(state[name]) for name in state if name.startswith("touch-")}
        self.pairs, self.obstacles = self._none()._replace(**values), None
        self.taken = float(state["contact-taken"])
