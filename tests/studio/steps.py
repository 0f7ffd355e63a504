"""What people do in the studio, for tests in a browser."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from serving import ROOT, Served

from pliant.run.store import load

STATE = "studio.app.store.state"


def wait(page: Any, condition: str) -> None:
    try:
        page.wait_for_function(f"() => {condition}", polling=50)
    except Exception as error:
        told = page.evaluate(
            f"() => JSON.stringify([{STATE}.status, {STATE}.frame?.frame, {STATE}.built, {STATE}.progress])"
        )
        notices = page.inner_text("#notices")
        raise AssertionError(f"waited for {condition}\n{told}\n{notices}\n{page.problems}") from error


def state(page: Any, what: str) -> Any:
    return page.evaluate(f"() => {STATE}.{what}")


def enter(page: Any, studio: Served, quick: bool = "PLIANT_SCREENSHOTS" not in os.environ) -> None:
    page.goto(studio.url + "&quick" * quick)
    wait(page, f"window.studio && {STATE}.connected && {STATE}.catalogue")


def build(page: Any) -> None:
    page.click("#build")
    wait(page, f"{STATE}.scene && {STATE}.frame && !{STATE}.progress")


def places(page: Any, body: str = "") -> np.ndarray[Any, Any]:
    """Where the particles of a body (the first one) are on the page (n, 2)."""
    return np.array(
        page.evaluate(
            """(name) => {
          const viewer = studio.app.viewer, body = viewer.body(name) ?? viewer.bodies[0];
          const area = viewer.stage.renderer.domElement.getBoundingClientRect();
          viewer.stage.camera.updateMatrixWorld();
          const place = viewer.stage.camera.position.clone(), out = [];
          for (let i = 0; i < body.particles.length / 3; i++) {
            place.fromArray(body.particles, 3 * i).project(viewer.stage.camera);
            const [u, v] = [(place.x + 1) / 2, (1 - place.y) / 2];
            out.push([area.left + u * area.width, area.top + v * area.height]);
          }
          return out;
        }""",
            body,
        )
    )


def spot_of(page: Any, point: list[float]) -> np.ndarray[Any, Any]:
    """Where a point [m] is on the page (2,)."""
    return np.array(
        page.evaluate(
            """(point) => {
          const stage = studio.app.viewer.stage, area = stage.renderer.domElement.getBoundingClientRect();
          stage.camera.updateMatrixWorld();
          const place = stage.camera.position.clone().fromArray(point).project(stage.camera);
          const [u, v] = [(place.x + 1) / 2, (1 - place.y) / 2];
          return [area.left + u * area.width, area.top + v * area.height];
        }""",
            point,
        )
    )


def particles(page: Any, body: str = "") -> np.ndarray[Any, Any]:
    found = page.evaluate(
        "(name) => Array.from((studio.app.viewer.body(name) ?? studio.app.viewer.bodies[0]).particles)", body
    )
    return np.array(found).reshape(-1, 3)


def box_select(page: Any, ids: Any) -> None:
    """Draw a box around particles, through the body."""
    page.click("#tool-box")
    page.check("#through")
    spots = places(page)[ids]
    low, high = spots.min(axis=0) - 5, spots.max(axis=0) + 5
    page.mouse.move(*low)
    page.mouse.down()
    page.mouse.move(*((low + high) / 2))
    page.mouse.move(*high)
    page.mouse.up()


def replayed(folder: Path, take: str, expected: int | None = None) -> str:
    """Run a saved take from the command line; its scene, once all frames are the same to the byte."""
    command = [sys.executable, "-m", "pliant", "run", f"{take}.toml", "-o", f"{take}-again.pliant", "--quiet"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NUMBA_NUM_THREADS": "1"}
    subprocess.run(command, cwd=folder, env=environment, check=True, timeout=300)
    taken, again = load(folder / f"{take}.pliant"), load(folder / f"{take}-again.pliant")
    assert len(taken) == len(again)
    assert taken.state == "done"
    assert expected is None or len(taken) == expected
    for one, other in zip(taken.frames, again.frames, strict=True):
        assert one.positions.tobytes() == other.positions.tobytes(), f"frame {one.index}"
    return taken.scene_text


def save_take(page: Any, name: str) -> None:
    page.click("#save")
    page.fill("#save-name", name)
    page.click("#save-take")
    page.wait_for_selector(".notice.done")


def pause(page: Any) -> int:
    """Pause; the frame that was come to."""
    page.click("#run")
    wait(page, f"!{STATE}.status.playing")
    return int(state(page, "status.frame"))


def pixels(page: Any) -> Any:
    """The picture as it is now (height, width, 4)."""
    import base64
    import io

    from PIL import Image

    data = page.evaluate(
        "() => { studio.app.viewer.stage.render(); "
        "return studio.app.viewer.stage.renderer.domElement.toDataURL('image/png'); }"
    )
    with Image.open(io.BytesIO(base64.b64decode(data.split(",")[1]))) as image:
        return np.asarray(image.convert("RGBA")).astype(int)
