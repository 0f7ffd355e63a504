"""Running a scene into a run folder, and going on with one."""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pliant.errors import Diverged, Interrupted, PliantError, RunError
from pliant.models import MODELS
from pliant.parameters import to_table
from pliant.protocols import Deciding, Memory

if TYPE_CHECKING:
    from pliant.recording import BodyRecord, Run, RunWriter
    from pliant.scene.scene import Scene
    from pliant.simulation.simulation import Simulation
    from pliant.simulation.step import StepPlan
    from pliant.simulation.world import World

CHECKPOINT_SECONDS = 1.0  # at least this long between checkpoints, and twenty times what the last one took


class RunProgress(Protocol):
    """Whoever wants to see a run go on."""

    def note(self, text: str) -> None:
        """Something worth saying: a warning, a choice that was made."""

    def working(self, fraction: float | None, text: str) -> None:
        """Preparation goes on (meshing, compiling); fraction 0 to 1 where it is known."""

    def started(self, frames: int, plan: "StepPlan") -> None:
        """The loop starts; ``frames`` are to be made."""

    def frame(self, done: int, frames: int, simulated: float, wall: float) -> None:
        """``done`` of ``frames`` are on disk, ``simulated`` seconds took ``wall`` seconds in this process."""

    def finished(self, state: str, message: str) -> None:
        """The run ended as done, interrupted, diverged or failed."""


class Silent:
    """Shows nothing."""

    def note(self, text: str) -> None: ...
    def working(self, fraction: float | None, text: str) -> None: ...
    def started(self, frames: int, plan: "StepPlan") -> None: ...
    def frame(self, done: int, frames: int, simulated: float, wall: float) -> None: ...
    def finished(self, state: str, message: str) -> None: ...


def run_scene(
    scene: "Scene",
    to: str | Path | None = None,
    *,
    threads: int | None = None,
    force: bool = False,
    progress: RunProgress | None = None,
    scene_text: str | None = None,
) -> "Run":
    """Simulate ``scene`` into the folder ``to``; frames are on disk as soon as they are reported.

    Raises Diverged, Interrupted or another PliantError after stating in the folder how it ended.
    """
    from pliant.compiled import set_threads
    from pliant.recording.place import refuse_existing
    from pliant.scene.check import plain_warnings
    from pliant.scene.dump import to_toml

    show = progress or Silent()
    folder = Path(to) if to is not None else default_folder(scene)
    refuse_existing(folder, force)
    used = set_threads(threads)
    structures = scene.structures(show.note, show.working)
    show.working(None, "compiling kernels")
    simulation = scene.simulation(structures)
    for text in plain_warnings(scene, simulation):
        show.note(text)
    frames = scene.time.frames()
    simulation.start()
    writer = _create(scene, simulation, folder, frames, used, scene_text or to_toml(scene), force)
    try:
        return _loop(simulation, writer, frames, scene.record.velocities, show, _begin)
    finally:
        write_replay(scene, simulation, folder)


def _create(
    scene: "Scene", simulation: "Simulation", folder: Path, frames: int, threads: int, text: str, force: bool
) -> "RunWriter":
    from pliant.recording import RunWriter

    plan = simulation.plan
    writer = RunWriter.create(
        folder,
        manifest=_manifest(scene, simulation, threads),
        scene=text,
        columns=simulation.columns,
        step_columns=simulation.step_columns,
        frames_total=frames,
        steps_per_frame=plan.per_frame,
        force=force,
    )
    writer.log(f"step {plan.seconds:.6g} s: {plan.reason}")
    return writer


def begin_recording(scene: "Scene", simulation: "Simulation", folder: Path, frames: int) -> "RunWriter":
    """A new run folder that holds the initial state of a started ``simulation``; ``write_frame`` goes on."""
    from pliant.compiled import threads_in_use
    from pliant.scene.dump import to_toml

    writer = _create(scene, simulation, folder, frames, threads_in_use(), to_toml(scene), True)
    _begin(simulation, writer, scene.record.velocities)
    return writer


def write_frame(
    simulation: "Simulation", writer: "RunWriter", velocities: bool, steps: Any, changed: bool
) -> list[float]:
    """Write the frame that ``simulation`` has come to, with its topology where that ``changed``; gives the
    row of its series."""
    world = simulation.system.world
    if changed:
        writer.write_topology(world.topology_version, _records(world), simulation.frame)
    return _write(simulation, writer, velocities, steps)


def _begin(simulation: "Simulation", writer: "RunWriter", velocities: bool) -> None:
    """Topology, frame and checkpoint of the initial state."""
    world = simulation.system.world
    writer.write_topology(world.topology_version, _records(world), 0)
    first = [simulation.row_of_steps()] if simulation.step_columns else None
    _write(simulation, writer, velocities, first)
    writer.write_checkpoint(0, simulation.system.state())


def resume(path: str | Path, *, threads: int | None = None, progress: RunProgress | None = None) -> "Run":
    """Go on with an interrupted or killed run from its newest checkpoint, bit for bit."""
    from pliant.compiled import set_threads
    from pliant.recording import RunWriter, load
    from pliant.recording.manifest import version_differences
    from pliant.scene.load import parse

    show = progress or Silent()
    folder = Path(path)
    earlier = load(folder)
    home = Path(earlier.manifest.get("folder", "."))
    scene = parse(earlier.scene_text, home, str(folder / "scene.toml"), meshes=False)
    _same_meshes(scene, earlier.manifest.get("inputs", {}))
    if differences := version_differences(earlier.manifest):
        show.note(f"begun with {differences}: it may not go on bit for bit")
    set_threads(threads)
    writer = RunWriter.reopen(folder)
    try:
        show.working(None, "compiling kernels")
        simulation, fresh = _simulation_at_checkpoint(scene, writer)
    except BaseException:
        writer.finish("interrupted", "could not be resumed")
        raise
    begin = _begin if fresh else None
    try:
        return _loop(simulation, writer, scene.time.frames(), scene.record.velocities, show, begin)
    finally:
        write_replay(scene, simulation, folder)


def write_replay(scene: "Scene", simulation: "Simulation", folder: Path) -> None:
    """``replay.toml`` beside the scene of a run in which bodies decided by what they measured on this
    machine: the same scene with their decisions, which repeats the run to the byte."""
    from pliant.scene.dump import scene_text, to_table_of

    table = to_table_of(scene, absolute=True)
    if add_decisions(table, simulation):
        (folder / "replay.toml").write_text(scene_text(table))


def add_decisions(table: dict[str, Any], simulation: "Simulation") -> bool:
    """Write what bodies decided (see ``Deciding``) into the bodies of a scene's ``table``; whether any
    did."""
    found = False
    bodies = {body.get("name"): body for body in table["bodies"]}
    for part in simulation.system.world.parts:
        if isinstance(part.mechanics, Deciding) and part.mechanics.decisions:
            bodies[part.name]["model"]["decisions"] = [list(pair) for pair in part.mechanics.decisions]
            found = True
    return found


def _same_meshes(scene: "Scene", begun: Mapping[str, str]) -> None:
    """RunError where a mesh that an action reads again (bodies are kept in the run) is not what it was."""
    now = scene.input_hashes()
    for action in scene.actions:
        name = str(getattr(action, "mesh", None))
        if name in begun and now.get(name) != begun[name]:
            what = "has changed since the run began" if name in now else f"is not in {scene.folder}"
            raise RunError(f"The mesh {name} of action '{action.kind}' {what}.", hint="Put it back.")


def _simulation_at_checkpoint(scene: "Scene", writer: "RunWriter") -> tuple["Simulation", bool]:
    """The Simulation as it was at the newest checkpoint; True with it where it has to start over."""
    from pliant.recording.topology import first_frames, read_topology

    point = writer.latest_checkpoint()
    known = 0 in first_frames(writer.path)
    recorded = {r.name: r.structure for r in read_topology(writer.path, 0)} if known else {}
    structures = [recorded[body.name] for body in scene.bodies if body.name] if known else None
    simulation = scene.simulation(structures)
    planned = writer.manifest["steps_per_frame"]
    if simulation.plan.per_frame != planned:
        raise RunError(
            f"{writer.path} was made with {planned} steps a frame; now they would be "
            f"{simulation.plan.per_frame}, which would not continue it bit for bit.",
            hint="Resume it with the versions that its manifest.json names, or run its scene.toml anew.",
        )
    if point is None:
        simulation.start()
        return simulation, writer.frames_done == 0
    frame, state = point
    version = int(state["topology_version"])
    if version:
        later = [record.structure for record in read_topology(writer.path, version)]
        simulation.system.adopt(later, state)
    simulation.restore(frame, state)
    return simulation, False


def _loop(
    simulation: "Simulation",
    writer: "RunWriter",
    frames: int,
    velocities: bool,
    show: RunProgress,
    begin: "Callable[[Simulation, RunWriter, bool], None] | None",
) -> "Run":
    """Advance and write until all frames are done; say in the folder how it ended."""
    from pliant.recording import load

    state, message = "failed", "stopped by an internal error"
    started, first = time.perf_counter(), simulation.frame
    try:
        with stop_signals() as poll:
            if begin is not None:
                begin(simulation, writer, velocities)
            show.started(frames, simulation.plan)
            last, cost = time.perf_counter(), 0.0
            while simulation.frame < frames - 1:
                version = simulation.system.world.topology_version
                rows = simulation.advance(poll)
                world = simulation.system.world
                if simulation.frame >= writer.frames_done:
                    write_frame(simulation, writer, velocities, rows, world.topology_version != version)
                else:
                    simulation.row()
                now = time.perf_counter()
                end = simulation.frame == frames - 1
                if simulation.resumable and (end or now - last > max(CHECKPOINT_SECONDS, 20.0 * cost)):
                    writer.write_checkpoint(simulation.frame, simulation.system.state())
                    last = time.perf_counter()
                    cost = last - now
                for text in simulation.warnings():
                    show.note(text)
                    writer.log(text)
                done = simulation.frame - first
                show.frame(simulation.frame + 1, frames, done / simulation.fps, now - started)
        state, message = "done", ""
    except Diverged as error:
        state, message = "diverged", str(error)
        raise
    except Interrupted as error:
        state, message = "interrupted", error.message
        error.hint = f"Go on with: pliant resume {writer.path}"
        raise
    except PliantError as error:
        message = str(error)
        raise
    finally:
        try:
            writer.log(f"{state} after {writer.frames_done} frames {message}".rstrip())
            writer.finish(state, message)
        finally:
            show.finished(state, message)
    return load(writer.path)


def _write(simulation: "Simulation", writer: "RunWriter", velocities: bool, rows: Any) -> list[float]:
    world = simulation.system.world
    arrays: dict[str, Any] = {"positions": world.x}
    if velocities:
        arrays["velocities"] = world.v
    for part in world.parts:
        if isinstance(part.mechanics, Memory):
            state = part.mechanics.state()
            for name in getattr(part.mechanics, "recorded", ()):
                arrays[f"memory.{part.name}.{name}"] = state[name]
    row = simulation.row()
    writer.write_frame(simulation.frame, world.topology_version, arrays, row, rows)
    return row


def _records(world: "World") -> list["BodyRecord"]:
    from pliant.recording import BodyRecord

    return [
        BodyRecord(
            part.name,
            (part.rows.start, part.rows.stop),
            MODELS.describe(part.model),
            to_table(part.material),
            part.structure,
        )
        for part in world.parts
    ]


def _manifest(scene: "Scene", simulation: "Simulation", threads: int) -> dict[str, Any]:
    from pliant.measures.state import part_volume

    world, plan = simulation.system.world, simulation.plan
    bodies = [
        {
            "name": part.name,
            "model": part.model.kind,
            "particles": part.count,
            "cells": max((len(c) for n, c in part.structure.cells.items() if n != "triangle"), default=0),
            "mass": float(part.structure.mass.sum()),
            "volume": part_volume(part, part.structure.rest),
        }
        for part in world.parts
    ]
    return {
        "title": scene.title,
        "bodies": bodies,
        "duration": scene.time.duration,
        "fps": scene.time.fps,
        "step": plan.seconds,
        "step_reason": plan.reason,
        "integrator": scene.time.integrator.kind,
        "threads": threads,
        "inputs": scene.input_hashes(),
        "folder": str((scene.folder or Path()).absolute()),
    }


def default_folder(scene: "Scene") -> Path:
    """Where a run goes that was not told: after the scene's title, in the current folder."""
    words = "".join(c if c.isalnum() else "-" for c in scene.title.lower()).strip("-")
    return Path(f"{words or 'run'}.pliant")


@contextmanager
def stop_signals() -> Iterator[Callable[[], None]]:
    """Turns Ctrl-C and SIGTERM into an Interrupted raised by the function it gives, between steps."""
    caught: list[int] = []

    def poll() -> None:
        if caught:
            raise Interrupted(f"Interrupted ({signal.Signals(caught[0]).name}).")

    if threading.current_thread() is not threading.main_thread():
        yield poll
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda got, _: caught.append(got)) for number in signals]
    try:
        yield poll
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
