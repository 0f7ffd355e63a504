"""``pliant run`` and ``pliant resume``: simulate a scene into a run folder, and go on with one."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.cli import options
from pliant.cli.output import say, say_json
from pliant.core.text import seconds

if TYPE_CHECKING:
    from pliant.run.store import Run
    from pliant.scene.scene import Scene

EXAMPLES = {
    "run": (
        "pliant run beam.toml",
        "pliant run beam.toml -o soft.pliant --set bodies.beam.material.young='1 MPa'",
        "pliant run beam.toml --model mass-spring --duration 2 --force",
    ),
    "resume": ("pliant resume beam.pliant",),
}


@options.takes(options.RunChanges)
def run(
    scene: options.SceneFile,
    output: options.Output = None,
    threads: options.Threads = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    **changes: Any,
) -> None:
    """Simulate a scene. Frames are on disk when they are reported; an interrupted run can be resumed."""
    found = options.read_scene(scene, changes)
    with options.about(scene):
        simulate(found, output or Path(f"{scene.stem}.pliant"), threads, force, json, quiet)


def simulate(found: "Scene", folder: Path, threads: int | None, force: bool, json: bool, quiet: bool) -> None:
    """Run the Scene ``found`` into ``folder`` and say how it went."""
    tell(run_into(found, folder, threads, force, quiet or json), json, quiet)


def run_into(found: "Scene", folder: Path, threads: int | None, force: bool, quiet: bool) -> "Run":
    """Run the Scene ``found`` into ``folder``, with progress unless ``quiet``."""
    from pliant.run.progress import progress_reporter
    from pliant.run.runner import run_scene
    from pliant.scene.to_toml import to_toml

    text = to_toml(found, absolute=True)
    with progress_reporter(not quiet) as show:
        return run_scene(found, folder, threads=threads, force=force, progress=show, scene_text=text)


def tell(done: "Run", json: bool, quiet: bool) -> None:
    """Say what a finished run came to."""
    info = done.info()
    if json:
        say_json({"path": str(done.path), **info})
    elif not quiet:
        speed = info["real_time_factor"]
        rate = f" ({speed:.3g} x real time)" if speed else ""
        say(
            f"{done.path.name}: {info['frames']} frames, {info['duration']:g} s simulated in "
            f"{seconds(info['wall'])}{rate}"
        )


def resume(
    run: options.RunFolder,
    threads: options.Threads = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Continue an interrupted or killed run, with bit-identical results."""
    from pliant.run.progress import progress_reporter
    from pliant.run.runner import resume as resume_run
    from pliant.run.store import load

    load(run)  # before any progress is shown
    with progress_reporter(not (quiet or json)) as show:
        done = resume_run(run, threads=threads, progress=show)
    tell(done, json, quiet)
