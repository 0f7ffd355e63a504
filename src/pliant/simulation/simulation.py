"""The loop: advances a System frame by frame and samples its measures; writes nothing."""

import math
from bisect import bisect_left, insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.core.diagnostics import Diagnostics
from pliant.core.errors import IncompatibleError, SceneError
from pliant.core.text import noun_of
from pliant.core.typing import AnyArray, Array
from pliant.interfaces import (
    ActionRuntime,
    EnergyKeeping,
    EnergyTotals,
    HideBody,
    Integrator,
    IntegratorState,
    MeasureSampler,
    SelfStepping,
    StoredEnergy,
)
from pliant.measures.base import MeasureParameters
from pliant.simulation.divergence import DivergenceCheck
from pliant.simulation.energy_guard import WINDOW, EnergyGuard
from pliant.simulation.frame_guard import FrameGuard
from pliant.simulation.guard_messages import GuardMessages
from pliant.simulation.nonlinear_correction import NonlinearCorrection
from pliant.simulation.protocol_check import check_integrator
from pliant.simulation.step_change import StepChange
from pliant.simulation.system import System
from pliant.simulation.thread_tuning import ThreadTuner
from pliant.simulation.time_step import StepPlan, substeps
from pliant.state.world import BodyState

INTEGRATOR_KEYS = "integrator/"  # prefix of the integrator's arrays in checkpoints


class BodySeriesSampler(MeasureSampler):
    """The series of a body's model, under the body's name."""

    def __init__(self, part: BodyState) -> None:
        self.mechanics = part.mechanics
        self.series_names = tuple(f"{part.name}.{name}" for name in part.mechanics.series_names)

    def sample(self, time: float) -> Sequence[float]:
        return list(self.mechanics.sample_series())


@dataclass(frozen=True)
class DeferredAction:
    """An action that is prepared when it starts: its time [s], its number among the scene's actions, what
    messages call it, and how to make its runtime."""

    time: float
    number: int
    label: str
    prepare: Callable[[], ActionRuntime]


class Simulation:
    """A System, an integrator and a step plan; ``frame`` counts the frames that are done."""

    def __init__(
        self,
        system: System,
        integrator: Integrator,
        plan: StepPlan,
        fps: float,
        measures: Sequence[MeasureParameters],
    ) -> None:
        self.system, self.integrator, self.plan, self.fps = system, integrator, plan, fps
        check_integrator(system, integrator)
        prepared = [(m.prepare(system), m.every) for m in measures]
        system.topology.followers += [m for m, _ in prepared]
        self.integrator_state = integrator.start(system)
        bodies = [BodySeriesSampler(p) for p in system.world.bodies if p.mechanics.series_names]
        acting = [a for _, a in system.actions]
        self._averaging: list[ActionRuntime | IntegratorState] = [*acting, self.integrator_state]
        self._per_frame: list[MeasureSampler | ActionRuntime | IntegratorState] = [
            *(m for m, every in prepared if every == "frame"), *self._averaging, *bodies,
        ]  # fmt: skip
        self._per_step = [m for m, every in prepared if every == "step"]
        self.columns = ("time", *(c for m in self._per_frame for c in m.series_names))
        self.step_columns = (
            ("time", *(c for m in self._per_step for c in m.series_names)) if self._per_step else ()
        )
        self.frame, self.started = 0, False
        self.later: list[DeferredAction] = []  # actions that join when they start, the next one first
        self._joined: list[tuple[DeferredAction, float, ActionRuntime]] = []  # those that have, and when [s]
        self._numbers = list(range(len(system.actions)))
        self._looked_at = system.world.topology_version
        self.guard: EnergyGuard | None = None
        self.frame_guard: FrameGuard | None = None
        self._guard()
        self.step_change = StepChange()
        self.thread_tuner = ThreadTuner()
        self.divergence_check = DivergenceCheck(system.world, plan)
        self._check()
        self.diagnostics = Diagnostics()
        self.messages = GuardMessages(self.diagnostics, plan.seconds)
        self._collect_diagnostics()

    def _guard(self) -> None:
        """Guard the run if scheme and bodies keep energy; where bodies repeat steps it only stops runs."""
        found = [part.mechanics for part in self.system.world.bodies]
        known = all(m.offer(EnergyKeeping if m.offer(SelfStepping) else StoredEnergy) for m in found)
        alone = all((own := m.offer(EnergyKeeping)) is not None and own.checks_steps for m in found)
        constrained = any(acting.account == "numerical" for _, acting in self.system.actions)
        if self.integrator.keeps_energy and known and not (alone and constrained):  # which is not booked then
            self.guard = EnergyGuard(self.plan.refine and not alone, self.system.world, alone)
            self.system.energy_ledger.correction = None if alone else NonlinearCorrection()
        if self.integrator.stability == math.inf and self.integrator.order and known and not alone:
            self.frame_guard = FrameGuard(self.system.world)

    def _check(self) -> None:
        """Refuse integrators that a body cannot serve, and series that share a name."""
        for part in self.system.world.bodies:
            for needed in self.integrator.requires:
                if part.mechanics.offer(needed) is None:
                    raise IncompatibleError(
                        f"Integrator '{self.integrator.kind}' needs {noun_of(needed.__name__)}, which model "
                        f"'{part.model.kind}' of body '{part.name}' does not have.",
                        hint="Use an explicit integrator such as leapfrog.",
                    )
        names = [*self.columns, *self.step_columns[1:]]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise SceneError(
                f"Two series are called '{twice[0]}'.", hint="Give one measure or action another name."
            )

    def _collect_diagnostics(self) -> None:
        """Collect what bodies and actions report, and note what is missing from the energies."""
        for part in self.system.world.bodies:
            label = f"body '{part.name}'"
            self.diagnostics.collect(part.mechanics.diagnostics, label)
            if not part.mechanics.offer(StoredEnergy) and not part.mechanics.contact_surface().rigid:
                self.diagnostics.note("its model has no energy, so energy.total does not balance", label)
        for label, acting in self.system.actions:
            self.diagnostics.collect(acting.diagnostics, label)
        self.diagnostics.collect(self.integrator_state.diagnostics)

    @property
    def time(self) -> float:
        return self.frame / self.fps

    def start(self) -> None:
        """Bring forces and driven particles up to date at time zero."""
        system, world = self.system, self.system.world
        system.activate(0.0)
        system.evaluate(0.0, world.x, world.v, world.f)
        system.energy_ledger.totals, system.energy_ledger.start = EnergyTotals(), None
        self._guard()
        system.energy_ledger.use(self.integrator, self.plan.seconds / system.substeps)
        system.energy_ledger.open()
        if self.guard is not None:
            self.guard.pushed = self._starts_inside()
        self.divergence_check.check(world, 0.0)
        self.started = True

    def _starts_inside(self) -> bool:
        """Whether bodies start inside obstacles, which then push them out at once and do work on them."""
        x, radius = self.system.world.x, self.system.world.radius
        return any(bool((each.distances(0.0, x)[0] < radius).any()) for each in self.system.obstacles)

    def state(self) -> dict[str, AnyArray]:
        """Everything that a restart needs beyond the scene: that of the System, and of the integrator."""
        own = {f"{INTEGRATOR_KEYS}{name}": array for name, array in self.integrator_state.state().items()}
        own["joined/numbers"] = np.array([due.number for due, _, _ in self._joined], np.int64)
        own["joined/times"] = np.array([time for _, time, _ in self._joined], float)
        own |= {f"joined/{due.number}": a.rows for due, _, a in self._joined if a.rows is not None}
        own |= {} if self.guard is None else self.guard.state()
        own |= {} if self.frame_guard is None else self.frame_guard.state()
        return self.system.state() | own

    def _join_again(self, state: Mapping[str, AnyArray]) -> None:
        """Prepare the actions that had joined before the checkpoint, for the particles that they hold."""
        world = self.system.world
        world.x[:], world.v[:] = state["x"], state["v"]
        for number, time in zip(state.get("joined/numbers", ()), state.get("joined/times", ()), strict=True):
            due = next(each for each in self.later if each.number == number)
            self.later.remove(due)
            world.restored_rows = state.get(f"joined/{number}")
            try:
                runtime = due.prepare()
            finally:
                world.restored_rows = None
            runtime.requests = tuple(each for each in runtime.requests if not isinstance(each, HideBody))
            self._join(due, float(time), runtime)

    def restore(self, frame: int, state: Mapping[str, AnyArray]) -> None:
        """Continue after ``frame`` from a checkpoint."""
        self.frame = frame
        self._join_again(state)
        self.system.restore(state)
        self.integrator_state.restore(
            {
                name.removeprefix(INTEGRATOR_KEYS): array
                for name, array in state.items()
                if name.startswith(INTEGRATOR_KEYS)
            }
        )
        for guard in (self.guard, self.frame_guard):
            if guard is not None:
                guard.restore(state)
        self.system.energy_ledger.use(self.integrator, self.system.energy_ledger.dt)
        self._looked_at = self.system.world.topology_version
        self.started = True

    def advance(self, poll: Callable[[], None] | None = None) -> Array | None:
        """Compute the next frame; returns the rows of step series, if any.

        ``poll`` is called between steps and may raise to stop.
        """
        if not self.started:
            self.start()
        count = self.plan.per_frame
        rows = np.zeros((count, len(self.step_columns))) if self._per_step else None
        first = self.frame * count
        for averaging in self._averaging:
            averaging.reset()
        if self.system.world.contact_impulses is not None:
            self.system.world.contact_impulses.reset()
        self.thread_tuner.begin(count)
        done = 0
        with np.errstate(over="ignore", invalid="ignore"):  # the divergence_check speaks of what diverges
            while done < count:
                continues = self._begin_window((first + done) * self.plan.seconds)
                span = self._window_span(first + done, count - done)
                done += self._take_window(first, done, span, continues, rows, poll)
        self.frame += 1
        self.divergence_check.check(self.system.world, self.time)
        return rows

    # ------------------------------------------------------------------------------------ windows

    def _begin_window(self, time: float) -> bool:
        """What happens at ``time``, before any step from there; True where nothing did."""
        while self.later and self.later[0].time <= time + 1e-12:
            due = self.later.pop(0)
            self._join(due, time, due.prepare())
        changed = self._prepare_step(time)
        self._look_at_topology()
        return not changed

    def _window_span(self, first: int, most: int) -> int:
        """Planned steps until something happens, at most the guard's window and ``most``."""
        dt = self.plan.seconds
        until = min(self.system.schedule.next_change(), self.later[0].time if self.later else math.inf)
        windows = 1 if self.guard is None else max(1, round(self.plan.per_frame / WINDOW))
        span = min(most, math.ceil(self.plan.per_frame / windows))
        if until < math.inf:
            span = min(span, max(1, math.ceil((until - 1e-12) / dt * (1.0 - 1e-12)) - first))
        return span

    def _take_window(
        self,
        frame_start: int,
        done: int,
        span: int,
        continues: bool,
        rows: Array | None,
        poll: Callable[[], None] | None,
    ) -> int:
        """Take ``span`` planned steps; shorter ones, again, where the guard rejects them. Returns how many
        were taken: fewer where the topology changed."""
        guard = self.guard
        first = frame_start + done
        if guard is None:
            return self._take_frame_steps(first, done, span, rows, poll)
        kept = {name: np.array(array) for name, array in self.state().items()} if guard.retakes else {}
        guard.begin(self.system, continues)
        while True:
            taken, changed = self._take_steps(first, done, span, guard.factor, rows, poll)
            time = (first + taken) * self.plan.seconds
            if changed:
                guard.pass_over(self.system)
                if guard.exceeded and not guard.broken:
                    self.divergence_check.stop_for_energy(self.system.world, time, guard.gained, guard.factor)
                self.messages.gain(guard)
                return taken
            verdict = guard.judge(self.system, span)
            if verdict == "accept":
                self.messages.growth(time, guard)
                self.messages.gain(guard)
                return span
            if verdict == "diverged":
                self.divergence_check.stop_for_energy(self.system.world, time, guard.cause, guard.finest)
            self.messages.rejection(time, guard)
            self.system.restore(kept)
            guard.begin_attempt(self.system)

    def _take_frame_steps(
        self,
        first: int,
        done: int,
        span: int,
        rows: Array | None,
        poll: Callable[[], None] | None,
    ) -> int:
        """Take ``span`` planned steps that are not taken again; returns how many were taken."""
        guard = self.frame_guard
        if guard is not None:
            guard.begin(self.system)
        taken, changed = self._take_steps(first, done, span, 1.0, rows, poll)
        if guard is not None and (cause := guard.end(self.system, changed)):
            time = (first + taken) * self.plan.seconds
            self.divergence_check.stop_for_gain(self.system.world, time, cause)
        return taken

    def _take_steps(
        self,
        first: int,
        done: int,
        span: int,
        factor: float,
        rows: Array | None,
        poll: Callable[[], None] | None,
    ) -> tuple[int, bool]:
        """Take planned steps ``first`` to ``first + span``, ``factor`` times as finely; returns how many were
        taken, and whether the topology changed in the last of them.

        Planned steps are divided one by one, where anybody looks at the state between them, or all together.
        """
        system, guard, dt = self.system, self.guard, self.plan.seconds
        version = system.world.topology_version
        each = 1 if rows is not None or system.topology.possible or factor == int(factor) else span
        for k in range(0, span, each):
            parts = system.substeps * math.ceil(each * factor)
            h, begin, end = each * dt / parts, (first + k) * dt, (first + k + each) * dt
            if system.world.contact_impulses is not None:
                system.world.contact_impulses.reset_steps()
            for j in range(parts):
                start = begin + j * h
                if j or k:
                    self._prepare_step(start)
                self.step_change.begin_step(system, self.integrator, h)
                self.integrator.step(system, self.integrator_state, start, h)
                if system.finish_step(end if j == parts - 1 else begin + (j + 1) * h, h):
                    self.integrator_state.reset_history()
                if guard is not None and span - k <= 3 * each and parts - j <= 3:
                    guard.watch(system.world.f)
                if poll is not None:
                    poll()
                self.thread_tuner.tick()
            if rows is not None:
                rows[done + k] = [end, *(value for m in self._per_step for value in m.sample(end))]
            self._look_at_topology()
            if system.world.topology_version != version:
                return k + each, True
        return span, False

    def _join(self, due: DeferredAction, time: float, runtime: ActionRuntime) -> None:
        self.add_action(due.label, runtime, time, due.number)
        self._joined.append((due, time, runtime))

    def _prepare_step(self, time: float) -> bool:
        changed = self.system.prepare_step(time)
        if changed:
            self.integrator_state.reset_history()
        return changed

    def add_action(self, label: str, action: ActionRuntime, time: float, number: int) -> None:
        """Let ``action`` act from the step boundary ``time`` on, as number ``number`` of the actions."""
        self.diagnostics.collect(action.diagnostics, label)
        self.system.add_action(label, action, time, bisect_left(self._numbers, number))
        insort(self._numbers, number)
        if "stable_step" in action.members:
            self.system.substeps = max(
                self.system.substeps, substeps(self.system, self.integrator, self.plan)
            )

    def cancel_action(self, action: ActionRuntime, number: int) -> None:
        """Undo ``add_action`` of an action that has done nothing yet."""
        self._numbers.remove(number)
        self.system.cancel_action(action)

    def defer(self, later: Sequence[DeferredAction], numbers: Sequence[int]) -> None:
        """Actions that join when they start, and the numbers of those that are there from the beginning."""
        self.later = sorted(later, key=lambda each: each.time)
        self._numbers = list(numbers)

    def _look_at_topology(self) -> None:
        version = self.system.world.topology_version
        if version != self._looked_at:
            self._looked_at = version
            needed, tracker = substeps(self.system, self.integrator, self.plan), self.system.topology
            self.system.substeps = needed if tracker.resampled else max(self.system.substeps, needed)
            tracker.resampled = []

    def row(self) -> list[float]:
        """The row of frame series at the present state."""
        return [self.time, *(value for m in self._per_frame for value in m.sample(self.time))]

    def row_of_steps(self) -> list[float]:
        """The row of step series at the present state."""
        return [self.time, *(value for m in self._per_step for value in m.sample(self.time))]
