"""How long a run will take: a first part of it is simulated and timed, and so is writing a frame."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba.core.event import Event, Listener, install_listener

from pliant.core.errors import Diverged
from pliant.core.typing import Array
from pliant.scene.scene import Scene
from pliant.simulation.simulation import Simulation

TRIAL, LONGEST, SHARE = 0.25, 1.5, 0.1
"""CPU seconds spent on timing steps: at least, at most, and between them this share of the estimate. Where
actions start or end later, timing goes on to there if the most allows it."""
FEWEST, SLOW = 8, 10.0
"""Steps to be timed in any case, and times the median above which one of so few does not count: it loads
compiled code or factorises a matrix."""
PARTED = 2.1
"""How much longer steps take once a body is cut or cracked: more particles, smaller cells, contact of the new
faces. A rough allowance: nine shipped scenes took 1.1 to 4.7 times as long as their whole bodies did."""
WRITES = 5  # frames that are written to see how long that takes


@dataclass(frozen=True)
class RunTime:
    """Estimated wall time [s] of the loop of a run, and its CPU time [s], which other jobs hardly change;
    covered: simulated time [s] that was measured; uncounted: what may make the rest of the run slower than
    that, in words."""

    wall: float
    cpu: float
    covered: float
    uncounted: tuple[str, ...]


class _Enough(Exception):
    """Timing has lasted long enough."""


class _CompileClocks(Listener):  # type: ignore[misc]
    """Wall and CPU seconds spent on compiling, by both clocks: on a busy machine they differ."""

    def __init__(self) -> None:
        self.spent, self._depth, self._start = np.zeros(2), 0, np.zeros(2)

    def on_start(self, event: Event) -> None:
        self._start = self._start if self._depth else _clocks()
        self._depth += 1

    def on_end(self, event: Event) -> None:
        self._depth -= 1
        if not self._depth:
            self.spent += _clocks() - self._start


def _clocks() -> Array:
    """Wall time and CPU time [s]."""
    return np.array([time.perf_counter(), time.process_time()])


class _Stopwatch:
    """Counts planned steps, wall time and CPU time, the first step apart: it loads code and factorises
    matrices. What was timed before actions last started or ended stands for that part of the run alone."""

    def __init__(
        self, simulation: Simulation, steps: int, duration: float, between: Callable[[], object]
    ) -> None:
        self.simulation, self.steps, self.duration, self.between = simulation, steps, duration, between
        self.frames = self.polls = 0
        self.begin = self.start = self.now = _clocks()
        self.first = np.zeros(2)  # the clocks after the first step
        self.skipped = 0.0  # planned steps before ``start``
        self.laps: list[Array] = []  # of steps since ``start``, while they are few
        self._change = -np.inf

    def poll(self) -> None:
        """Called after every step, the planned ones and parts of them."""
        before, self.now = self.now, _clocks()
        self.polls += 1
        self.between()
        change = self._next_change()
        if (self.frames == 0 and self.polls == 1) or change > self._change:
            self.start, self.skipped, self.laps = self.now, self.done, []
            if self._change == -np.inf:
                self.first = self.now
        elif len(self.laps) <= FEWEST:
            self.laps.append(self.now - before)
        self._change = change
        spent = float(self.now[1] - self.first[1])
        if spent > TRIAL and (len(self.laps) >= FEWEST or spent > LONGEST):
            more = LONGEST if change < self.duration else min(LONGEST, SHARE * float(self.later[1]))
            if spent > more:
                raise _Enough

    def _next_change(self) -> float:
        """When actions start or end next [s]."""
        later = self.simulation.later
        return min(self.simulation.system.schedule.next_change(), later[0].time if later else np.inf)

    def end_frame(self) -> None:
        """Called when a frame is complete."""
        self.now = _clocks()
        self.frames, self.polls = self.frames + 1, 0

    @property
    def done(self) -> float:
        """Planned steps that were taken; those of a frame that is not complete by the step's present size."""
        plan, guard = self.simulation.plan, self.simulation.guard
        parts = self.simulation.system.substeps * (1.0 if guard is None else guard.factor)
        return self.frames * plan.per_frame + min(self.polls / parts, plan.per_frame)

    @property
    def per_step(self) -> Array:
        """Wall and CPU seconds of a planned step, whatever it was divided into and how often it was taken
        again."""
        spent, count = self.now - self.start, self.done - self.skipped
        if 1 < len(self.laps) <= FEWEST:
            usual = [lap for lap in self.laps if lap[1] <= SLOW * np.median([each[1] for each in self.laps])]
            spent, count = np.sum(usual, axis=0), count * len(usual) / len(self.laps)
        return np.asarray(spent / max(count, 1e-9))

    @property
    def later(self) -> Array:
        """Wall and CPU seconds of all steps but the first."""
        if not self.done > self.skipped:
            return self.start - self.first
        return np.asarray(self.start - self.first + (self.steps - self.skipped) * self.per_step)


def estimated_time(
    scene: Scene, simulation: Simulation, between: Callable[[], object] = lambda: None
) -> RunTime:
    """Simulate the first part of a started ``simulation``, and say how long all of it will take.

    ``between`` is called between steps; what it raises ends the trial.
    """
    frames = scene.time.frames()
    steps = (frames - 1) * simulation.plan.per_frame
    compiled = _CompileClocks()
    with suppress(_Enough, Diverged), install_listener("numba:compile", compiled):
        watch = _Stopwatch(simulation, steps, scene.time.duration, between)
        while simulation.frame < frames - 1:
            simulation.advance(watch.poll)
            watch.end_frame()
    covered = min(watch.done * simulation.plan.seconds, scene.time.duration)
    first = np.maximum(0.0, watch.first - watch.begin - compiled.spent)  # runs find the code compiled
    later = watch.later if simulation.frame < frames - 1 else watch.now - watch.first
    if _parts(scene) and simulation.frame < frames - 1:
        later *= 1.0 + (PARTED - 1.0) * (1.0 - watch.done / max(steps, 1))
    wall, cpu = (first + later + frames * _frame_seconds(scene, simulation)).tolist()
    return RunTime(wall, cpu, covered, tuple(_uncounted(scene, simulation, covered)))


def _parts(scene: Scene) -> bool:
    """Whether bodies may be cut or crack."""
    cut = any(action.parts_bodies for action in scene.actions)
    return cut or any(body.resolved_material.strength is not None for body in scene.bodies)


def _frame_seconds(scene: Scene, simulation: Simulation) -> Array:
    """Wall and CPU seconds of sampling the measures and writing a frame."""
    from pliant.run.recorder import begin, create, write_frame

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "trial.pliant"
        writer = create(scene, simulation, folder, WRITES + 1, 1, "", False)
        simulation.frame, frame = 0, simulation.frame
        try:
            begin(simulation, writer, scene.record.velocities)
            rows = None
            if simulation.step_columns:
                rows = np.tile(simulation.row_of_steps(), (simulation.plan.per_frame, 1))
            start = _clocks()
            for _ in range(WRITES):
                simulation.frame += 1
                write_frame(simulation, writer, scene.record.velocities, rows, False)
            return np.asarray((_clocks() - start) / WRITES)
        finally:
            simulation.frame = frame
            writer.finish("interrupted", "")


def _uncounted(scene: Scene, simulation: Simulation, covered: float) -> Iterator[str]:
    """What may happen after the measured part."""
    if covered >= scene.time.duration * (1.0 - 1e-9):
        return
    later = [action.kind for action in scene.actions if covered < action.starts < scene.time.duration]
    if later:
        yield f"actions that start later ({', '.join(dict.fromkeys(later))})"
    if simulation.guard is not None and simulation.guard.retakes:
        yield "steps that are shortened where energy would rise"
    between = scene.contact.between and len(scene.bodies) > 1
    if between or any(scene.located(action).scenery((0.0, 0.0, 1.0)) is not None for action in scene.actions):
        yield "contact"
    if _parts(scene):
        yield f"cuts and cracks beyond a factor of {PARTED:g}"
    if any(body.model.own_step and body.model.deforms for body in scene.bodies):
        yield "changes of resolution"
