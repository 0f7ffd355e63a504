"""The studio as a person uses it, in a real browser."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from serving import ROOT, Served

from pliant.recording import load

STATE = "studio.app.store.state"
OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def wait(page: Any, condition: str) -> None:
    try:
        page.wait_for_function(f"() => {condition}", polling=50)
    except Exception as error:
        told = page.evaluate(
            f"() => JSON.stringify([{STATE}.status, {STATE}.frame, {STATE}.built, {STATE}.progress])"
        )
        notices = page.inner_text("#notices")
        raise AssertionError(f"waited for {condition}\n{told}\n{notices}\n{page.problems}") from error


def state(page: Any, what: str) -> Any:
    return page.evaluate(f"() => {STATE}.{what}")


def enter(page: Any, studio: Served) -> None:
    page.goto(studio.url + "&quick")
    wait(page, f"window.studio && {STATE}.connected && {STATE}.catalogue")


def build(page: Any) -> None:
    page.click("#build")
    wait(page, f"{STATE}.scene && {STATE}.frame && !{STATE}.progress")


def places(page: Any) -> np.ndarray[Any, Any]:
    """Where the particles of the first body are on the page (n, 2)."""
    return np.array(
        page.evaluate(
            """() => {
          const viewer = studio.app.viewer, body = viewer.bodies[0];
          const area = viewer.stage.renderer.domElement.getBoundingClientRect();
          viewer.stage.camera.updateMatrixWorld();
          const place = viewer.stage.camera.position.clone(), out = [];
          for (let i = 0; i < body.particles.length / 3; i++) {
            place.fromArray(body.particles, 3 * i).project(viewer.stage.camera);
            const [u, v] = [(place.x + 1) / 2, (1 - place.y) / 2];
            out.push([area.left + u * area.width, area.top + v * area.height]);
          }
          return out;
        }"""
        )
    )


def particles(page: Any) -> np.ndarray[Any, Any]:
    found = page.evaluate("() => Array.from(studio.app.viewer.bodies[0].particles)")
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


def test_a_take_from_an_example_to_the_same_bytes_on_the_command_line(
    page: Any, studio: Served, pictures: Path
) -> None:
    enter(page, studio)
    page.screenshot(path=pictures / "1-start.png")

    page.click("#open")
    page.screenshot(path=pictures / "2-open.png")
    page.click("[data-name=spinning]")
    wait(page, f"{STATE}.scene && {STATE}.table.title !== 'Beam' && !{STATE}.progress")
    assert state(page, "scene.bodies.length") >= 1
    page.click("#open")
    page.click("[data-name='beam.toml']")
    wait(page, f"{STATE}.scene && {STATE}.scene.bodies[0].name === 'beam' && !{STATE}.progress")

    rest = particles(page)
    left = np.flatnonzero(rest[:, 0] < 1e-6)
    page.evaluate("() => studio.app.store.look({section: 'off'})")
    box_select(page, left)
    chosen = set(page.evaluate(f"() => [...{STATE}.selection.ids]"))
    assert set(left) <= chosen < set(range(len(rest)))
    page.screenshot(path=pictures / "3-selected.png")
    page.click("#do-fix")
    wait(
        page, f"{STATE}.table.actions.length === 2 && {STATE}.built === {STATE}.version && !{STATE}.progress"
    )
    assert set(state(page, "table.actions[1].select.ids")) == chosen

    page.keyboard.press("Escape")
    page.click("#tool-pull")
    tip = int(np.argmax(rest @ [1.0, -0.5, 0.5]))
    spot = places(page)[tip]
    page.mouse.move(*(spot + np.array([-3, 3])))
    page.mouse.down()
    page.mouse.move(*(spot + np.array([0, -20])))
    wait(page, f"{STATE}.frame.frame > 3 && {STATE}.frame.pulls.length")
    wait(page, "document.getElementById('force').textContent.endsWith('N')")
    before = page.evaluate(f"() => Math.hypot(...{STATE}.frame.pulls[0].force)")
    page.evaluate(
        """() => { window.most = 0; studio.app.store.on(['frame'], (state) => {
          const forces = state.frame.pulls.map((pull) => Math.hypot(...pull.force));
          window.most = Math.max(window.most, ...forces); }); }"""
    )
    page.mouse.move(*(spot + np.array([10, -140])), steps=4)
    wait(page, f"window.most > {2 * before} && {STATE}.frame.frame > 12")
    page.screenshot(path=pictures / "4-pulled.png")
    assert particles(page)[tip, 2] > rest[tip, 2] + 0.01
    page.mouse.up()
    wait(page, f"!{STATE}.frame.pulls.length && {STATE}.frame.frame > 20")
    page.click("#run")
    wait(page, f"!{STATE}.status.playing")

    last = state(page, "status.frame")
    page.select_option("#colour", "stress")
    wait(page, "document.getElementById('colourbar').textContent.includes('stress [Pa]')")
    page.evaluate(
        """() => { const slider = document.getElementById('scrub'); slider.value = '14';
               slider.dispatchEvent(new Event('input')); }"""
    )
    wait(page, f"{STATE}.frame.frame === 14 && {STATE}.frame.colour === 'stress'")
    values = page.evaluate("() => Math.max(...studio.app.viewer.bodies[0].shownValues())")
    assert values > 10.0
    page.screenshot(path=pictures / "5-stress.png")

    page.click("#save")
    page.fill("#save-name", "my-take")
    page.click("#save-take")
    page.wait_for_selector(".notice.done")
    page.screenshot(path=pictures / "6-saved.png")
    assert page.problems == []

    folder = studio.folder
    command = [sys.executable, "-m", "pliant", "run", "my-take.toml", "-o", "again.pliant", "--quiet"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NUMBA_NUM_THREADS": "1"}
    subprocess.run(command, cwd=folder, env=environment, check=True, timeout=200)
    taken, again = load(folder / "my-take.pliant"), load(folder / "again.pliant")
    assert len(taken) == len(again) == last + 1
    assert "pull" in taken.scene_text
    assert taken.state == "done"
    for one, other in zip(taken.frames, again.frames, strict=True):
        assert one.positions.tobytes() == other.positions.tobytes()


def test_uploads_undo_and_a_lost_connection(
    page: Any, studio: Served, pictures: Path, tmp_path: Path
) -> None:
    enter(page, studio)
    bad, good = tmp_path / "bad.obj", tmp_path / "tet.obj"
    bad.write_text("this is no mesh\n")
    good.write_text(OBJ)
    page.click("#open")
    page.set_input_files("#mesh-file", bad)
    page.wait_for_selector(".notice.error")
    assert not list(studio.folder.glob("*.obj"))
    page.screenshot(path=pictures / "7-bad-file.png")

    page.click("#open")
    page.set_input_files("#mesh-file", good)
    page.wait_for_selector("#health-dialog")
    page.screenshot(path=pictures / "8-health.png")
    page.click("#add-body")
    wait(page, f"{STATE}.table.bodies.length === 2")
    page.click("#undo")
    wait(page, f"{STATE}.table.bodies.length === 1")
    page.click("#redo")
    wait(page, f"{STATE}.table.bodies.length === 2")

    page.evaluate("() => studio.drop()")
    wait(page, f"!{STATE}.connected")
    wait(page, f"{STATE}.connected && {STATE}.table.bodies.length === 2")
    assert (studio.folder / ".studio-autosave.toml").read_text().count("[[bodies]]") == 2
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.wait_for_selector("#help-dialog")
    page.screenshot(path=pictures / "9-help.png")
    assert page.problems == []


def test_two_pages_share_one_studio(page: Any, studio: Served) -> None:
    enter(page, studio)
    other = page.context.new_page()
    enter(other, studio)
    build(page)
    wait(other, f"{STATE}.scene && {STATE}.frame")
    page.click("#step")
    wait(page, f"{STATE}.frame.frame === 1")
    wait(other, f"{STATE}.frame.frame === 1")
    other.fill("#title", "Shared")
    other.press("#title", "Enter")
    other.evaluate("() => document.activeElement.blur()")
    wait(page, f"{STATE}.table.title === 'Shared'")


def test_a_wrong_token_gets_nothing(page: Any, studio: Served) -> None:
    for url in (studio.url[:-3] + "xyz", studio.url.split("?")[0]):
        answer = page.goto(url)
        assert answer.status == 403
        assert "Beam" not in page.content()
