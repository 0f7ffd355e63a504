"""A take: a simulation that is played with, recorded as it goes."""

import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pliant.actions.loads import PullRuntime
from pliant.contact.obstacle import ObstacleRuntime
from pliant.core.errors import Diverged, InputError, PliantError
from pliant.core.tables import Table
from pliant.interfaces import FieldData, Structure
from pliant.run.live_session import LiveSession
from pliant.run.recorder import add_decisions, begin_recording, write_frame
from pliant.run.store import Run, RunWriter, load
from pliant.scene.scene import Scene
from pliant.scene.to_toml import scene_text, to_table_of
from pliant.studio.view_arrays import ShownBody

OPEN_END = 1800.0  # longest take that has no end of its own [s]
REACH = 1.6  # particles within this many spacings of the grabbed one are pulled along
SHARE = 0.3  # of the spring's stable step that a pull may use up


class Take:
    """A Scene's simulation with live input and a recorder."""

    def __init__(self, scene: Scene, structures: list[Structure], folder: Path, open_end: bool) -> None:
        self.scene, self.structures = scene, structures
        self.simulation = scene.simulation(structures)
        self.simulation.start()
        self.live = LiveSession(scene, self.simulation)
        self.frames = round(OPEN_END * scene.time.fps) + 1 if open_end else scene.time.frames()
        self._folder = folder
        self._writer: RunWriter | None = None
        self._run: Run | None = None
        self.rows: list[list[float]] = []  # series rows that nobody has seen yet
        self.busy = 0.0  # seconds of work of the last frame
        self.failed = False  # what was computed last cannot be gone on with
        self.left_out: list[int] = []  # live actions that could not happen and were taken back
        self._begun = False

    @property
    def frame(self) -> int:
        return self.simulation.frame

    @property
    def ended(self) -> bool:
        return self.failed or self.frame >= self.frames - 1

    def bodies(self) -> list[ShownBody]:
        return [
            ShownBody(p.name, p.model.kind, p.rows, p.structure, p.mechanics)
            for p in self.simulation.system.world.bodies
        ]

    def targets(self) -> list[list[Table]]:
        """For each action of the scene the particles that it acts on, by body; none where they are not yet
        known."""
        world = self.simulation.system.world
        found: list[list[Table]] = []
        for action in self.scene.actions:
            found.append([])
            if action.mark is None or action.late:
                continue
            with suppress(PliantError):
                rows = action.acted_on(world)
                for part in world.bodies:
                    ids = rows[(rows >= part.rows.start) & (rows < part.rows.stop)] - part.rows.start
                    if len(ids):
                        found[-1].append({"body": part.name, "ids": [int(k) for k in ids]})
        return found

    def field(self, body: ShownBody, name: str) -> FieldData:
        """A field of the present state."""
        world = self.simulation.system.world
        x, v = world.x[body.rows], world.v[body.rows]
        if name == "displacement":
            return FieldData(x - body.structure.rest, unit="m")
        if name == "velocity":
            return FieldData(v, unit="m/s")
        if name == "force":
            self.simulation.system.complete_forces()
            return FieldData(world.f[body.rows], unit="N")
        return body.mechanics.fields(x, v, [name])[name]

    def advance(self, poll: Callable[[], None]) -> bool:
        """Compute and record a frame; True where the topology changed.

        A live action that cannot happen is taken back, and the take can go on; any other error ends it.
        """
        if not self._begun:
            self._writer = begin_recording(self.scene, self.simulation, self._folder, self.frames)
            self._begun = True
            self.rows.append(self.simulation.row())
        assert self._writer is not None
        start, before, steps = time.perf_counter(), self.simulation.frame, 0

        def count() -> None:
            nonlocal steps
            steps += 1
            poll()

        self.live.before_frame()
        version = self.simulation.system.world.topology_version
        try:
            found = self.simulation.advance(count)
        except PliantError as error:
            self.left_out = [] if steps else self.live.take_back()
            if not self.left_out:
                self.failed, self.simulation.frame = True, before
                self.finish("diverged" if isinstance(error, Diverged) else "failed", str(error))
            raise
        self.live.settled()
        changed = self.simulation.system.world.topology_version != version
        row = write_frame(self.simulation, self._writer, self.scene.record.velocities, found, changed)
        self.rows.append(row)
        del self.rows[:-2000]
        self.busy = time.perf_counter() - start
        return changed

    def recorded(self) -> Run | None:
        """The run so far; None before the first frame."""
        if not self._begun:
            return None
        self._run = load(self._folder) if self._run is None else self._run.refresh()
        return self._run

    def grab(self, body: str, particle: int, strength: float) -> tuple[int, list[float]]:
        """Take hold of a body near one of its particles; the action's number and the place held [m]."""
        world = self.simulation.system.world
        part = world.bodies_named(body, "pull")[0]
        rest, spacing = part.structure.rest, part.structure.spacing
        if particle >= len(rest):
            raise InputError(f"Body '{body}' has no particle {particle}.")
        near = ((rest - rest[particle]) ** 2).sum(axis=1) <= (REACH * spacing) ** 2
        ids = [int(k) for k in near.nonzero()[0]]
        mass = float(part.structure.mass[near].sum())
        most = mass * (SHARE / self.simulation.plan.seconds) ** 2
        stiffness = min(strength * part.material.young * spacing, most)
        centre = (part.structure.mass[near, None] * world.x[part.rows][near]).sum(axis=0) / mass
        place = [float(c) for c in centre]
        number = self.live.add(
            {
                "type": "pull",
                "select": {"body": body, "ids": ids},
                "target": place,
                "stiffness": stiffness,
                "damping": min(0.4 * (stiffness * mass) ** 0.5, 0.1 * mass / self.simulation.plan.seconds),
            }
        )
        return number, place

    def hands(self) -> Table:
        """What is held and where the tools are: forces [N] and places [m] by action number."""
        now, world = self.live.now, self.simulation.system.world
        pulls, barriers = [], []
        for number, entry in enumerate(self.live.entries):
            if entry.acting is None or not entry.acting.active(now):
                continue
            if isinstance(entry.acting, PullRuntime):
                force = entry.acting.force(now, world.x, world.v)
                place = entry.acting.centre(world.x)
                target = entry.acting.path.at(now)
                pulls.append({"id": number, "force": _list(force), "at": _list(place), "to": _list(target)})
            elif isinstance(entry.acting, ObstacleRuntime):
                barrier = entry.acting
                felt = barrier.sample(now)[:3]
                barriers.append({"id": number, "at": _list(barrier.path.at(now)), "force": _list(felt)})
        return {"pulls": pulls, "barriers": barriers}

    def table(self) -> Table:
        """The scene with everything that hands did so far, and the step of this take."""
        plan = self.simulation.plan
        time = replace(self.scene.time, step=plan.seconds, refine=plan.refine)
        table = to_table_of(replace(self.scene, time=time, step=None))
        table["actions"] = self.live.tables()
        return table

    def text(self, top: Table | None = None) -> str:
        """The scene file that replays this take: its actions, step, length, and ``top`` (title, camera)."""
        table = self.table()
        if top is not None:
            table.pop("camera", None)
            table |= top
        table["time"]["duration"] = max(self.frame, 1) / self.scene.time.fps
        add_decisions(table, self.simulation)
        return scene_text(table)

    def finish(self, state: str = "interrupted", message: str = "") -> None:
        """Write no more."""
        if self._writer is not None:
            self._writer.finish(state, message)
            self._writer = None

    def discard(self) -> None:
        """Let go of the take and its frames."""
        self.finish()
        shutil.rmtree(self._folder, ignore_errors=True)

    def keep(self, place: Path, top: Table | None = None) -> str:
        """Copy the take, with the scene that replays it, to the new run folder ``place``; that scene."""
        if not self._begun:
            raise InputError("Nothing has been recorded yet.", hint="Run the simulation first.")
        if self._writer is not None:
            self._writer.finish("interrupted", "")
        try:
            shutil.copytree(self._folder, place)
        finally:
            if self._writer is not None:
                self._writer = RunWriter.reopen(self._folder)
        kept = RunWriter.reopen(place)
        text = self.text(top)
        kept.write_scene(text)
        kept.finish("done")
        return text


def _list(values: Iterable[float]) -> list[float]:
    return [float(value) for value in values]
