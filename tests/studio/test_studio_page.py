"""The studio as a person uses it, in a real browser."""

from pathlib import Path
from typing import Any

import numpy as np
from serving import Served
from steps import STATE, box_select, build, enter, particles, places, replayed, save_take, state, wait

OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


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
    page.evaluate("() => { window.button = document.getElementById('run'); }")
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
    kept = "window.button.isConnected && window.button.textContent === 'Pause'"
    assert page.evaluate(kept)  # frames come and go under a finger that presses it
    page.click("#run")
    wait(page, f"!{STATE}.status.playing")

    last = state(page, "status.frame")
    page.select_option("#colour", "stress")
    wait(page, "document.getElementById('colourbar').textContent.includes('stress [Pa]')")
    page.evaluate(
        """() => { const slider = document.getElementById('scrub'); slider.value = '14';
               slider.dispatchEvent(new Event('input')); }"""
    )
    wait(page, f"{STATE}.frame.frame === 14 && 'stress' in {STATE}.frame.units")
    values = page.evaluate("() => Math.max(...studio.app.viewer.bodies[0].shownValues())")
    assert values > 10.0
    page.screenshot(path=pictures / "5-stress.png")

    save_take(page, "my-take")
    assert page.inner_text("#file-name") == "beam.toml", "the scene keeps its own file"
    page.screenshot(path=pictures / "6-saved.png")
    assert page.problems == []
    assert "pull" in replayed(studio.folder, "my-take", last + 1)


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
    answer = page.goto(studio.url[:-3] + "xyz")
    assert answer.status == 403
    assert "Beam" not in page.content()
    page.goto(studio.url.split("?")[0])
    page.wait_for_selector(".notice.error >> text=This page does not know its token.")
    assert not state(page, "connected")
    assert "Beam" not in page.content()


def test_the_pace_that_is_measured_is_told_and_the_integrator_is_auto(page: Any, studio: Served) -> None:
    enter(page, studio)
    assert page.input_value("[aria-label=integrator]") == "auto"
    build(page)
    wait(page, f"{STATE}.pace")
    ratio = state(page, "pace.ratio")
    assert 0.0 < ratio < 0.8, "45 particles of soft rubber"
    assert "faster than real time" in page.inner_text("#pace-estimate")
    assert "Measured over the first" in page.get_attribute("#pace-estimate", "title")
    assert "faster than real time" in page.inner_text(".card.body.open .estimate")
    other = page.context.new_page()
    other.goto(studio.url + "&quick")
    other.wait_for_function(f"() => window.studio && {STATE}.pace")
    assert other.evaluate(f"() => {STATE}.pace.ratio") == ratio
