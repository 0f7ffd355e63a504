"""``pliant hello``: the first scene, from nothing to a run, a graph and a movie."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from pliant.cli import options
from pliant.cli.output import counting, say, say_json
from pliant.core.errors import MissingExtra, RunError
from pliant.core.tables import Table

if TYPE_CHECKING:
    from pliant.render.worker_pool import DrawingTeam
    from pliant.run.store import Run

EXAMPLES = {"hello": ("pliant hello", "pliant hello --no-movie --force")}
RUN, GRAPH, MOVIE = Path("hello.pliant"), Path("hello.png"), Path("hello.mp4")
SIZE, EVERY = "400x304", 2  # of the movie: each second frame of 51
NEXT = """
Next:
  pliant studio hello.pliant         open it in the browser (needs the extra studio)
  pliant new beam                    write beam.toml, a commented scene to change and run
  pliant examples                    list the other scenes
  pliant export hello.pliant bear.usd   frames for Blender, Houdini and others (extra usd)"""


def hello(
    movie: options.Movie = True,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run the first scene, a gummy bear on a shaken plate, in the current folder.

    Writes hello.pliant (the run), hello.png (a graph of the head's motion) and hello.mp4 (a movie). A second
    call replaces what the first one wrote.
    """
    from pliant.render.worker_pool import DrawingTeam, drawable

    with ExitStack() as stack:  # one process draws: a second one takes longer to start than it saves
        compiling = _compile_beside()
        team = stack.enter_context(DrawingTeam(1)) if movie and drawable() else None
        from pliant.cli.run import run_into, tell
        from pliant.examples import text
        from pliant.scene.load import parse

        scene = parse(text("hello"), Path(), "hello.toml")
        if RUN.exists() and not force and not _ours(scene.title):
            raise RunError(f"{RUN} exists already and is not from pliant hello.", hint="--force replaces it.")
        run = run_into(scene, RUN, None, True, quiet or json)
        if compiling is not None:
            compiling.wait()
        if not json:
            tell(run, json=False, quiet=quiet)
        made, missing = _draw(run, scene.title, movie, team, quiet or json)
    if json:
        say_json({"files": [str(RUN), *made], **missing, **run.info()})
    elif not quiet:
        for path in made:
            say(f"{path} written")
        if missing:
            what = "movie" if made else "graph and movie"
            say(f"no {what}: {' '.join(filter(None, missing.values()))}")
        say(NEXT)


def _draw(
    run: "Run", title: str, movie: bool, team: "DrawingTeam | None", silent: bool
) -> tuple[list[str], Table]:
    """Write the graph while other processes draw the movie; gives the files and what was missing for more."""
    from pliant.render import plot, render
    from pliant.run.requests import RenderRequest

    made: list[str] = []
    asked = RenderRequest(size=SIZE, ground=0.0, every=EVERY, force=True)
    drawing = Event()

    def progress(done: int, whole: int) -> None:
        drawing.set()
        if count is not None:
            count(done, whole)

    with counting("drawing", silent or not movie) as count, ThreadPoolExecutor(1) as beside:
        film = beside.submit(render, [run], MOVIE, asked, progress=progress, team=team) if movie else None
        while film is not None and not film.done() and not drawing.wait(0.02):
            pass  # the graph would only delay what the other process waits for
        try:
            made.append(str(plot([run], ["head.x", "head.z"], GRAPH, title=title, force=True)))
            if film is not None:
                made.append(str(film.result()))
        except MissingExtra as error:
            return made, {"missing": error.message, "hint": error.hint}
    return made, {}


def _compile_beside() -> "subprocess.Popen[bytes] | None":
    """On a first start, compile the kernels of the model in a second process while this one makes the mesh.

    A kernel that both need is compiled once; the other process waits for it.
    """
    from pliant.core.environment import environment
    from pliant.mesh.cache import folder

    kernels = folder().parent / "kernels"
    if (os.cpu_count() or 1) > 1 and not (kernels.is_dir() and any(kernels.iterdir())):
        silent = subprocess.DEVNULL
        command = [sys.executable, "-m", "pliant.cli.hello"]
        return subprocess.Popen(command, env=environment(), stdin=silent, stdout=silent, stderr=silent)
    return None


def compile_kernels() -> None:
    """Take a frame of the first scene with a block in place of the bear: it needs no mesher."""
    from pliant.examples import text
    from pliant.mesh.shapes import box
    from pliant.scene.load import parse

    scene = parse(text("hello"), Path())
    simulation = replace(
        scene, bodies=[replace(scene.bodies[0], shape=box(0.1, 0.1, 0.1, divisions=(4, 4, 4)))]
    ).simulation()
    simulation.start()
    simulation.advance()


def _ours(title: str) -> bool:
    """Whether hello.pliant is a run of the first scene, complete or not."""
    from pliant.core.errors import PliantError
    from pliant.run.store import load
    from pliant.scene.load import read

    try:
        load(RUN)
        return read(RUN / "scene.toml").title == title
    except PliantError:
        return False


if __name__ == "__main__":
    compile_kernels()
