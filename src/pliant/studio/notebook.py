"""Scenes and runs in a notebook: the studio's viewer inline, or a picture where that cannot be."""

import html
import os
import re
import shutil
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.core.errors import MissingExtra, PliantError

if TYPE_CHECKING:
    from pliant.run.store import Run
    from pliant.scene.scene import Scene

SECONDS = 15.0  # for the server to come up
ORIGIN = re.compile(r"https?://[A-Za-z0-9.\-]+(:\d+)?")
FAR = ("PLIANT_PICTURES", "COLAB_RELEASE_TAG", "JUPYTERHUB_USER", "CODESPACES", "KAGGLE_KERNEL_RUN_TYPE")
"""Variables of places whose browser runs on another machine; the first is for those who want pictures."""


class View:
    """What a notebook shows: ``_repr_html_`` is an inline page, or a picture."""

    def __init__(self, text: str, address: str | None) -> None:
        self.text, self.address = text, address

    def _repr_html_(self) -> str:
        return self.text


def view_run(run: "Run", height: int = 480) -> View:
    """The viewer on a recorded run."""
    from pliant.render.notebook import html as picture

    try:
        return _inline(run.path, height)
    except (PliantError, ImportError) as error:
        return View(f"{picture(run)}<p><i>{html.escape(str(error))}</i></p>", None)


def view_scene(scene: "Scene", height: int = 480) -> View:
    """The viewer on a scene, ready to run; its file is a draft in a temporary folder."""
    folder = Path(tempfile.mkdtemp(prefix="pliant-view-"))
    try:
        return _inline(_draft(scene, folder), height)
    except (PliantError, ImportError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        return View(f"{_first_frame(scene)}<p><i>{html.escape(str(error))}</i></p>", None)


def _draft(scene: "Scene", folder: Path) -> Path:
    """The scene as a file in ``folder``, with its meshes beside it."""
    from pliant.mesh.io import write_surface, write_volume
    from pliant.mesh.mesh import Surface, TetMesh
    from pliant.scene.to_toml import to_toml

    bodies = []
    for body in scene.bodies:
        source = body.mesh if body.mesh is not None else body.shape
        if isinstance(source, Surface):
            name = f"{body.name}.ply"
            write_surface(folder / name, source)
        elif isinstance(source, TetMesh):
            name = f"{body.name}.vtu"
            write_volume(folder / name, source)
        elif isinstance(source, (str, Path)):
            name = f"{body.name}{Path(source).suffix}"
            shutil.copyfile((scene.folder or Path()) / source, folder / name)
        else:
            bodies.append(body)
            continue
        bodies.append(replace(body, shape=None, mesh=name))
    path = folder / "scene.toml"
    path.write_text(to_toml(replace(scene, bodies=bodies, folder=folder)), encoding="utf-8")
    return path


def _first_frame(scene: "Scene") -> str:
    """A picture of the scene before anything has moved."""
    from pliant.render.notebook import html as picture
    from pliant.run.recorder import begin_recording
    from pliant.run.store import load

    with tempfile.TemporaryDirectory(prefix="pliant-view-") as folder:
        place = Path(folder) / f"{scene.title or 'scene'}.pliant"
        simulation = scene.simulation()
        simulation.start()
        begin_recording(scene, simulation, place, 1).finish("done")
        return picture(load(place))


def _check_place() -> None:
    """MissingExtra where the browser is not on this machine, which only a picture can reach."""
    far = next((name for name in FAR if name in os.environ), None)
    if far is not None:
        raise MissingExtra(
            f"The viewer needs a browser on this machine ({far} says that it is elsewhere).",
            hint="Set PLIANT_VIEW=inline if ports are forwarded.",
        )


def _notebook_origins() -> list[str]:
    """Who may frame the viewer: the origin in PLIANT_NOTEBOOK_ORIGIN, or notebooks on this machine."""
    given = os.environ.get("PLIANT_NOTEBOOK_ORIGIN", "")
    if ORIGIN.fullmatch(given):
        return [given]
    here = [f"{scheme}://{host}:*" for scheme in ("http", "https") for host in ("localhost", "127.0.0.1")]
    return [*here, "vscode-webview:"]


def _inline(path: Path, height: int) -> View:
    from pliant.core.environment import need

    if os.environ.get("PLIANT_VIEW") != "inline":
        _check_place()
    need("The viewer", "starlette", "uvicorn", "websockets", extra="studio")
    from pliant.studio.serve import Studio

    studio = Studio(path, framed_by=_notebook_origins())
    threading.Thread(target=studio.run, daemon=True, name="pliant-view").start()
    end = time.monotonic() + SECONDS
    while not studio.server.started and time.monotonic() < end:
        time.sleep(0.02)
    address = f"{studio.address}&embedded"
    style = f"width:100%;height:{int(height)}px;border:0;border-radius:8px"
    return View(f'<iframe src="{html.escape(address)}" style="{style}"></iframe>', address)
