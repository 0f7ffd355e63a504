"""Scenes and runs in a notebook: the studio's viewer inline, or a picture where that cannot be."""

import html
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.errors import PliantError

if TYPE_CHECKING:
    from pliant.recording import Run
    from pliant.scene.scene import Scene

SECONDS = 15.0  # for the server to come up


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
    import tempfile

    from pliant.scene.dump import to_toml

    folder = Path(tempfile.mkdtemp(prefix="pliant-view-"))
    path = folder / "scene.toml"
    path.write_text(to_toml(scene), encoding="utf-8")
    try:
        return _inline(path, height)
    except (PliantError, ImportError) as error:
        bodies = ", ".join(str(body.name) for body in scene.bodies)
        text = html.escape(f"Scene '{scene.title}': {bodies}. {error}")
        return View(f"<p>{text}</p>", None)


def _inline(path: Path, height: int) -> View:
    from pliant.extras import need

    need("The viewer", "starlette", "uvicorn", "websockets", extra="studio")
    from pliant.studio.serve import Studio

    studio: Any = Studio(path)
    threading.Thread(target=studio.run, daemon=True, name="pliant-view").start()
    end = time.monotonic() + SECONDS
    while not studio.server.started and time.monotonic() < end:
        time.sleep(0.02)
    address = f"{studio.address}&embedded"
    style = f"width:100%;height:{int(height)}px;border:0;border-radius:8px"
    return View(f'<iframe src="{html.escape(address)}" style="{style}"></iframe>', address)
