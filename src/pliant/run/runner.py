"""Running a scene into a run folder, and going on with one."""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pliant.core.diagnostics import Diagnostics
from pliant.core.errors import Diverged, Interrupted, PliantError, RunError
from pliant.kernels.compile_events import when_compiling
from pliant.kernels.jit import set_threads
from pliant.run.progress import RunProgress, progress_reporter
from pliant.run.recorder import begin, create, write_frame, write_replay
from pliant.run.store import Run, RunWriter, load
from pliant.run.store.manifest import version_differences
from pliant.run.store.run_folder import refuse_existing
from pliant.run.store.topology import first_frames, read_topology
from pliant.scene.check import examine
from pliant.scene.load import parse
from pliant.scene.scene import Scene
from pliant.scene.to_toml import to_toml
from pliant.simulation.simulation import Simulation

COMPILING = "compiling kernels (kept for later runs)"
CHECKPOINT_SECONDS = 1.0  # at least this long between checkpoints, and twenty times what the last one took


def run_scene(
    scene: Scene,
    to: str | Path | None = None,
    *,
    threads: int | None = None,
    force: bool = False,
    progress: RunProgress | None = None,
    scene_text: str | None = None,
) -> Run:
    """Simulate ``scene`` into the folder ``to``; frames are on disk as soon as they are reported.

    Raises Diverged, Interrupted or another PliantError after stating in the folder how it ended.
    """
    show = progress or RunProgress()
    folder = Path(to) if to is not None else default_folder(scene)
    refuse_existing(folder, force)
    used = set_threads(threads)
    diagnostics = Diagnostics(lambda entry: show.note(str(entry)))
    with when_compiling(lambda: show.working(None, COMPILING)):
        structures = scene.structures(diagnostics, show.working)
        simulation = scene.simulation(structures)
        examine(scene, simulation, diagnostics)
        frames = scene.time.frames()
        simulation.start()
    writer = create(scene, simulation, folder, frames, used, scene_text or to_toml(scene), force)
    diagnostics.listen(lambda entry: writer.log(str(entry)))
    try:
        return _loop(simulation, writer, frames, scene.record.velocities, show, begin)
    finally:
        write_replay(scene, simulation, folder)


def resume(
    path: str | Path, *, threads: int | None = None, progress: RunProgress | bool | None = None
) -> Run:
    """Continue an interrupted or killed run from its newest checkpoint, with bit-identical results;
    ``progress`` as in ``Scene.run``."""
    with progress_reporter(progress) as show:
        return _resume(Path(path), threads, show)


def _resume(folder: Path, threads: int | None, show: RunProgress) -> Run:
    earlier = load(folder)
    home = Path(earlier.manifest.get("folder", "."))
    scene = parse(earlier.scene_text, home, str(folder / "scene.toml"), meshes=False)
    _same_meshes(scene, earlier.manifest.get("inputs", {}))
    diagnostics = Diagnostics(lambda entry: show.note(str(entry)))
    if differences := version_differences(earlier.manifest):
        diagnostics.warn(f"begun with {differences}: the results may not be bit-identical")
    set_threads(threads)
    writer = RunWriter.reopen(folder)
    try:
        with when_compiling(lambda: show.working(None, COMPILING)):
            simulation, fresh = _simulation_at_checkpoint(scene, writer)
    except BaseException:
        writer.finish("interrupted", "could not be resumed")
        raise
    diagnostics.listen(lambda entry: writer.log(str(entry)))
    diagnostics.collect(simulation.diagnostics, past=False)
    first = begin if fresh else None
    try:
        return _loop(simulation, writer, scene.time.frames(), scene.record.velocities, show, first)
    finally:
        write_replay(scene, simulation, folder)


def _same_meshes(scene: Scene, begun: Mapping[str, str]) -> None:
    """RunError where a mesh that an action reads again (bodies are kept in the run) is not what it was."""
    now = scene.input_hashes()
    for action in scene.actions:
        name = str(action.mesh)
        if name in begun and now.get(name) != begun[name]:
            what = "has changed since the run began" if name in now else f"is not in {scene.folder}"
            raise RunError(f"The mesh {name} of action '{action.kind}' {what}.", hint="Put it back.")


def _simulation_at_checkpoint(scene: Scene, writer: RunWriter) -> tuple[Simulation, bool]:
    """The Simulation as it was at the newest checkpoint; True with it where it has to start over."""
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
            hint="Resume it with the versions that its manifest.json names, or run its scene.toml again.",
        )
    if point is None:
        simulation.start()
        return simulation, writer.frames_done == 0
    frame, state = point
    version = int(state["topology_version"])
    if version:
        later = [record.structure for record in read_topology(writer.path, version)]
        simulation.system.restore_topology(later, state)
    simulation.restore(frame, state)
    return simulation, False


def _loop(
    simulation: Simulation,
    writer: RunWriter,
    frames: int,
    velocities: bool,
    show: RunProgress,
    prelude: Callable[[Simulation, RunWriter, bool], None] | None,
) -> Run:
    """Advance and write until all frames are done; say in the folder how it ended."""
    state, message = "failed", "stopped by an internal error"
    started, first = time.perf_counter(), simulation.frame
    try:
        with stop_signals() as poll:
            if prelude is not None:
                prelude(simulation, writer, velocities)
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
                if end or now - last > max(CHECKPOINT_SECONDS, 20.0 * cost):
                    writer.write_checkpoint(simulation.frame, simulation.state())
                    last = time.perf_counter()
                    cost = last - now
                done = simulation.frame - first
                show.frame(simulation.frame + 1, frames, done / simulation.fps, now - started)
        _report_numerical_loss(simulation)
        state, message = "done", ""
    except Diverged as error:
        state, message = "diverged", str(error)
        raise
    except Interrupted as error:
        state, message = "interrupted", error.message
        error.hint = f"Continue with: pliant resume {writer.path}"
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


def _report_numerical_loss(simulation: "Simulation") -> None:
    """One line about the energy that the time integration lost, where its scheme does not keep it."""
    integrator, system = simulation.integrator, simulation.system
    if integrator.keeps_energy or integrator.order == 0:
        return
    system.energy_ledger.total(system)  # books the loss up to now
    totals = system.totals
    simulation.diagnostics.note(
        f"integrator '{integrator.kind}' lost {totals.numerical:.4g} J (energy.numerical), of "
        f"{totals.dissipated:.4g} J that left the motion in all"
    )


def default_folder(scene: Scene) -> Path:
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
