"""The loop: advances a System frame by frame and samples its measures; writes nothing."""

from collections.abc import Callable, Sequence

import numpy as np

from pliant.protocols import Columns, Integrator, Measure, Topology
from pliant.simulation.step import StepPlan
from pliant.simulation.system import System
from pliant.simulation.watchdog import Watchdog
from pliant.typing import Array


class Simulation:
    """A System, an integrator and a step plan; ``frame`` counts the frames that are done."""

    def __init__(
        self, system: System, integrator: Integrator, plan: StepPlan, fps: float, measures: Sequence[Measure]
    ) -> None:
        self.system, self.integrator, self.plan, self.fps = system, integrator, plan, fps
        prepared = [(m.prepare(system), m.every) for m in measures]
        own = [a for _, a in system.actions if isinstance(a, Columns)]
        self._per_frame: list[Columns] = [*(m for m, every in prepared if every == "frame"), *own]
        self._per_step: list[Columns] = [m for m, every in prepared if every == "step"]
        self.columns = ("time", *(c for m in self._per_frame for c in m.columns))
        self.step_columns = (
            ("time", *(c for m in self._per_step for c in m.columns)) if self._per_step else ()
        )
        self.frame = 0
        self._changing = [p for p in system.world.parts if isinstance(p.mechanics, Topology)]
        self._versions = [p.mechanics.topology_version for p in self._changing]  # type: ignore[attr-defined]
        self.watchdog = Watchdog(system.world, plan)

    @property
    def time(self) -> float:
        return self.frame / self.fps

    def start(self) -> None:
        """Bring forces and driven particles up to date at time zero."""
        system, world = self.system, self.system.world
        system.activate(0.0)
        system.evaluate(0.0, world.x, world.v, world.f)
        self.watchdog.check(world, 0.0)

    def advance(self, poll: Callable[[], None] | None = None) -> Array | None:
        """Compute the next frame; returns the rows of step series, if any.

        ``poll`` is called between steps and may raise to stop.
        """
        system, world = self.system, self.system.world
        dt, count = self.plan.seconds, self.plan.per_frame
        rows = np.zeros((count, len(self.step_columns))) if self._per_step else None
        first = self.frame * count
        for k in range(count):
            time = (first + k) * dt
            system.activate(time)
            if system.happen(time):
                system.evaluate(time, world.x, world.v, world.f)
            self.integrator.step(system, time, dt)
            after = (first + k + 1) * dt
            system.account(after, dt)
            if self._changing:
                self._take_over_topology(after)
            if rows is not None:
                rows[k] = [after, *(value for m in self._per_step for value in m.values(after))]
            if poll is not None:
                poll()
        self.frame += 1
        self.watchdog.check(world, self.time)
        return rows

    def row(self) -> list[float]:
        """The row of frame series at the present state."""
        return [self.time, *(value for m in self._per_frame for value in m.values(self.time))]

    def row_of_steps(self) -> list[float]:
        """The row of step series at the present state."""
        return [self.time, *(value for m in self._per_step for value in m.values(self.time))]

    def _take_over_topology(self, time: float) -> None:
        world = self.system.world
        for k, part in enumerate(self._changing):
            mechanics = part.mechanics
            assert isinstance(mechanics, Topology)
            if mechanics.topology_version != self._versions[k]:
                self._versions[k] = mechanics.topology_version
                world.resize(part, mechanics.structure, mechanics.parents)
                self.system.rebind()
                self.system.evaluate(time, world.x, world.v, world.f)
