"""Hands on a running simulation: what they do is logged as actions, so that the take replays to the byte.

Everything happens at the step boundary between two frames, at the time ``n dt`` of its step number n. A new
action is one with ``from = n dt``, one that ends gets ``until = n dt``. What is steered (a tool, a pull) goes
in a straight line during the next frame: two keys, a quarter of a step inside its ends, with still moments
between frames. Rounding of times therefore never reaches a value, and a scene with the same keys in its file
computes the same bytes. What changes bodies, and everything that comes after that, is ``late``: a replay
prepares it at the same boundary, with the same particles.
"""

from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from pydantic import ValidationError

from pliant.actions import ACTIONS
from pliant.actions.base import ActionParameters
from pliant.core.curves import Curve
from pliant.core.errors import IncompatibleError, InputError
from pliant.core.tables import Table
from pliant.core.typing import Vector
from pliant.interfaces import ActionRuntime
from pliant.scene.scene import Scene
from pliant.simulation.simulation import Simulation

_QUARTER = 0.25  # steps


@dataclass
class LiveAction:
    """An action of the take: its scene table, its runtime, and the keys of what was steered."""

    table: Table
    acting: ActionRuntime | None  # None: one of the scene's late actions, which nobody can reach yet
    label: str = ""
    series: str | None = None  # what the names of its series begin with
    times: list[float] = field(default_factory=list)
    values: list[Vector] = field(default_factory=list)
    wanted: Vector | None = None
    fresh: bool = False  # has come since the last frame
    void: bool = False  # could not happen

    @property
    def told(self) -> bool:
        """Whether the scene of the take has it: what ended before it began is left out."""
        until = self.table.get("until")
        return not self.void and (until is None or until > self.table.get("from", 0.0))


class LiveSession:
    """Takes input between frames; ``tables`` gives all actions of the take for a scene file."""

    def __init__(self, scene: Scene, simulation: Simulation) -> None:
        self._scene, self._simulation = scene, simulation
        runtimes = dict(simulation.system.actions)
        labels = [f"action {number} ('{action.kind}')" for number, action in enumerate(scene.actions, 1)]
        self.entries = [
            LiveAction(ACTIONS.describe(action), runtimes.get(label), label, action.series_label)
            for action, label in zip(scene.actions, labels, strict=True)
        ]

    def go_on_from(self, before: "LiveSession") -> list[int]:
        """Take over from the input whose ``tables`` this scene begins with, when its replay has come as far:
        numbers stay as they were, and what was steered can be steered on. The numbers of what came new."""
        runtimes = dict(self._simulation.system.actions)
        replayed, merged = iter(self.entries), []
        for entry in before.entries:
            if not entry.told:
                merged.append(LiveAction(entry.table, None, void=True))
                continue
            own = next(replayed)
            own.times, own.values, own.wanted = entry.times, entry.values, entry.wanted
            merged.append(own)
        new = [replace(entry, fresh=True) for entry in replayed]
        self.entries = merged + new
        for entry in self.entries:
            if entry.acting is None and not entry.void:
                entry.acting = runtimes.get(entry.label)
        return list(range(len(merged), len(self.entries)))

    @property
    def now(self) -> float:
        """The boundary [s] at which input takes effect."""
        return self._step() * self._simulation.plan.seconds

    def _step(self) -> int:
        return self._simulation.frame * self._simulation.plan.per_frame

    def add(self, table: Table) -> int:
        """Let an action start now; returns its number. InputError where it cannot."""
        given = {key: value for key, value in table.items() if key not in ("from", "until", "at", "late")}
        system, action = self._simulation.system, _build(given)
        if not action.live:
            raise IncompatibleError(
                f"'{action.kind}' cannot start while the simulation runs.", hint="Reset first, then add it."
            )
        after = any(entry.table.get("late") for entry in self.entries)
        if action.changes_bodies or after or system.world.topology_version > 0:
            given["late"] = True
        if action.once:
            given["at"] = self.now
        taken = {entry.series for entry in self.entries if entry.told and entry.series}
        if action.series_label in taken and "name" not in given:  # series of a replay need names that differ
            names = (f"{action.series_label}-{k}" for k in count(2))
            given["name"] = next(name for name in names if name not in taken)
        runtime = self._scene.prepared(_build(given), system.world)
        number = len(self.entries)
        label = f"action {number + 1} ('{action.kind}')"
        self._simulation.add_action(label, runtime, self.now, number)
        if not action.once:
            given["from"] = self.now
        series = action.series_label and given.get("name", action.series_label)
        self.entries.append(LiveAction(given, runtime, label, series, fresh=True))
        return len(self.entries) - 1

    def end(self, number: int) -> None:
        """Let an action end now; one that has ended stays as it is."""
        entry = self._entry(number)
        if "at" in entry.table:
            raise InputError(f"A {entry.table['type']} has happened and cannot end.", hint="Reset undoes it.")
        if entry.acting is not None and entry.acting.until > self.now:
            self._simulation.system.end_action(entry.acting, self.now)
            entry.table["until"] = self.now

    def steer(self, number: int, target: Vector) -> None:
        """Let a tool or a pull go to ``target`` [m] during the next frame; the last one said counts."""
        entry = self._entry(number)
        if ACTIONS[entry.table["type"]].steered is None:
            raise InputError(f"A {entry.table['type']} cannot be steered.")
        runtime: Any = entry.acting
        if runtime is None:
            raise InputError("It has not started yet.")
        if not entry.values and not runtime.path.is_constant:
            raise InputError("It moves by keys of its own.", hint="Add a tool to move by hand.")
        entry.wanted = (float(target[0]) + 0.0, float(target[1]) + 0.0, float(target[2]) + 0.0)

    def before_frame(self) -> None:
        """Turn what was steered since the last frame into keys; call it before every ``advance``."""
        plan, first = self._simulation.plan, self._step()
        for entry in self.entries:
            runtime: Any = entry.acting
            if entry.wanted is None or runtime is None:
                continue
            x, y, z = entry.values[-1] if entry.values else map(float, runtime.path.at(self.now))
            here = (x, y, z)
            if entry.wanted != here and runtime.until > self.now:
                entry.times.append((first + _QUARTER) * plan.seconds)
                entry.times.append((first + plan.per_frame - _QUARTER) * plan.seconds)
                entry.values += [here, entry.wanted]
                runtime.path = Curve(entry.times[-4:], entry.values[-4:])
            entry.wanted = None

    def take_back(self) -> list[int]:
        """Take back what has come since the last frame and could not happen; the numbers of those."""
        taken = [k for k, entry in enumerate(self.entries) if entry.fresh and "at" in entry.table]
        for number in taken:
            entry = self.entries[number]
            assert entry.acting is not None
            self._simulation.cancel_action(entry.acting, number)
            entry.acting, entry.void, entry.fresh = None, True, False
        return taken

    def settled(self) -> None:
        """A frame has been computed with everything that came before it."""
        for entry in self.entries:
            entry.fresh = False

    def tables(self) -> list[Table]:
        """All actions so far as scene tables; those that ended before they began are left out."""
        found = []
        for entry in self.entries:
            if not entry.told:
                continue
            table = dict(entry.table)
            if entry.values:
                keys = [{"time": t, "value": list(v)} for t, v in zip(entry.times, entry.values, strict=True)]
                table[str(ACTIONS[table["type"]].steered)] = {"keys": keys}
            found.append(table)
        return found

    def _entry(self, number: int) -> LiveAction:
        if not 0 <= number < len(self.entries):
            raise InputError(f"There is no action {number + 1}.")
        return self.entries[number]


def _build(table: Table) -> ActionParameters:
    """The action of a table; InputError with the first problem where it is not valid."""
    try:
        return ACTIONS.build(table)
    except ValidationError as error:
        text = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise InputError(f"{table.get('type')}: {text}") from error
    except ValueError as error:
        raise InputError(f"{table.get('type')}: {error}") from error
