"""Bodies shaped by hand while they run: groups, clay, glue, the knife, tools, brushes, keys."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serving import Served
from steps import (
    STATE,
    build,
    enter,
    particles,
    pause,
    places,
    replayed,
    save_take,
    spot_of,
    state,
    wait,
)

CLAY = """
schema = 1
title = "Clay and jelly"
[time]
duration = 200.0  # longer than the slowest machine needs for the test
fps = 25
[[bodies]]
name = "clay"
shape = { box = { size = [0.3, 0.1, 0.1] } }
edge = 0.05
model = "lattice"
material = { young = 5e4, poisson = 0.25, density = 1000 }
[[bodies]]
name = "jelly"
shape = { box = { size = [0.12, 0.12, 0.12], divisions = [2, 2, 2] } }
model = "fem"
material = { young = 5e4, poisson = 0.3, density = 1000 }
position = [0.1, 0, 0.12]
[[actions]]
type = "damping"
rate = 2
"""
TOOL = """
schema = 1
title = "A ball and a block"
[time]
duration = 40.0
fps = 25
[[bodies]]
name = "block"
shape = { box = { size = [0.2, 0.2, 0.1], divisions = [4, 4, 2] } }
material = { young = 2e4, poisson = 0.3, density = 1000 }
[[actions]]
type = "fix"
select = { body = "block", plane = { axis = "z", at = "min" } }
[[actions]]
type = "tool"
name = "ball"
sphere = { radius = 0.04 }
position = [0.1, 0.1, 0.2]
"""


@pytest.mark.parametrize("scene", [CLAY], indirect=True)
def test_groups_clay_glue_and_the_knife_replay_to_the_byte(page: Any, scene: Served, pictures: Path) -> None:
    enter(page, scene)
    wait(page, f"{STATE}.estimates.length === 2 && {STATE}.estimates[1].particles === 27")
    build(page)
    page.select_option("#select-by", "clay: x low end")
    page.fill("#group-name", "left end")
    page.click("#name-group")
    wait(page, f"{STATE}.scene.bodies[0].groups['left end'] && !{STATE}.progress")
    page.click("#do-fix")
    wait(page, f"{STATE}.table.actions.length === 2 && {STATE}.built === {STATE}.version")
    assert state(page, "table.actions[1].select") == {"body": "clay", "group": "left end"}
    page.screenshot(path=pictures / "10-group.png")
    page.select_option("#speed", "1/10 ×")  # few frames, however slow the machine
    page.click("#run")
    wait(page, f"{STATE}.frame.frame > 2")
    page.select_option("#select-by", "clay: z high end")
    for number, deed in enumerate(("keep-shape", "stiffen", "glue"), 1):
        page.click(f"#do-{deed}")
        wait(page, f"{STATE}.live.size === {number}")
    page.keyboard.press("Escape")

    spots = places(page, "jelly")
    middle, low = spots.mean(axis=0), spots[:, 1].min() - 25
    page.click("#tool-knife")
    page.mouse.move(middle[0] + 9, low)
    page.mouse.down()
    page.mouse.move(*middle, steps=2)
    page.screenshot(path=pictures / "11-knife.png")
    page.mouse.up()
    wait(page, f"{STATE}.live.size === 4 && studio.app.viewer.body('jelly').particles.length > 3 * 27")
    before = state(page, "frame.frame")
    page.select_option("#select-by", "jelly: z high end")  # particles that came with the cut among them
    page.click("#do-kick")
    wait(page, f"{STATE}.live.size === 5 && {STATE}.frame.frame > {before + 5}")
    last = pause(page)
    page.screenshot(path=pictures / "12-cut.png")
    assert len(particles(page, "jelly")) > 27
    save_take(page, "clay")
    text = replayed(scene.folder, "clay", last + 1)
    for kind in ("renormalise", "attributes", "glue", "cut", "impulse"):
        assert f'type = "{kind}"' in text
    assert page.problems == []


@pytest.mark.parametrize("scene", [CLAY], indirect=True)
def test_what_cannot_happen_is_taken_back_and_the_take_goes_on(page: Any, scene: Served) -> None:
    enter(page, scene)
    build(page)
    page.click("#step")
    wait(page, f"{STATE}.frame.frame === 1")
    glue = {"type": "glue", "select": {"body": "clay", "all": True}, "to": "jelly", "reach": 1e-4}
    page.evaluate("(table) => studio.app.say({do: 'add', table})", glue)
    wait(page, f"{STATE}.live.size === 1")
    page.click("#step")
    page.wait_for_selector(".notice.error")
    assert "nothing is closer" in page.inner_text(".notice.error")
    wait(page, f"{STATE}.live.size === 0")
    page.click("#step")
    wait(page, f"{STATE}.frame.frame === 2")
    save_take(page, "none")
    assert "glue" not in replayed(scene.folder, "none", 3)


@pytest.mark.parametrize("scene", [TOOL], indirect=True)
def test_a_tool_a_brush_keys_a_picture_and_a_recorded_run(page: Any, scene: Served, pictures: Path) -> None:
    enter(page, scene)
    build(page)
    page.click("#tool-paint")
    rest = particles(page)
    front = np.flatnonzero((rest[:, 1] < 1e-6) & (rest[:, 2] > 0.1 - 1e-6))  # the upper front edge
    edge = places(page)[front[np.argsort(rest[front, 0])]]
    page.mouse.move(*edge[0])
    page.mouse.down()
    one = state(page, "selection.ids.size")
    for spot in edge[1:]:
        page.mouse.move(*spot, steps=2)
    page.mouse.up()
    chosen = set(page.evaluate(f"() => [...{STATE}.selection.ids]"))
    assert 0 < one < len(chosen)
    assert set(front.tolist()) <= chosen < set(range(75))
    page.keyboard.press("Escape")

    page.click(".action[data-type=tool] .title")
    page.select_option("#add-lane", "position")
    wait(page, f"{STATE}.table.actions[1].position.keys.length === 1")
    track = page.locator(".lane-track").bounding_box()
    page.mouse.click(track["x"] + 0.025 * track["width"], track["y"] + 8)
    wait(page, f"{STATE}.table.actions[1].position.keys.length === 2")
    assert state(page, "table.actions[1].position.keys[1].time") == pytest.approx(1.0, abs=0.09)
    page.fill("[aria-label='key value z']", "0.15")
    page.keyboard.press("Enter")
    page.evaluate("() => document.activeElement.blur()")
    wait(page, f"{STATE}.table.actions[1].position.keys[1].value[2] === 0.15")
    page.screenshot(path=pictures / "13-keys.png")
    time = state(page, "table.actions[1].position.keys[1].time")
    page.locator(".mark").nth(1).focus()
    page.keyboard.press("ArrowRight")
    wait(page, f"Math.abs({STATE}.table.actions[1].position.keys[1].time - {time + 0.04}) < 1e-6")
    page.locator(".mark").nth(1).focus()
    page.keyboard.press("Delete")
    wait(page, f"Array.isArray({STATE}.table.actions[1].position)")
    page.click(".action[data-type=tool] .title")

    wait(page, f"{STATE}.built === {STATE}.version && !{STATE}.progress")
    page.select_option("#speed", "1/4 ×")
    page.click("#tool-tool")
    ball, touching = spot_of(page, [0.1, 0.1, 0.2]), spot_of(page, [0.1, 0.1, 0.09])
    page.mouse.move(*ball)
    page.mouse.down()
    page.evaluate(
        """() => { window.most = 0; studio.app.store.on(['frame'], (state) => {
          const forces = state.frame.barriers.map((each) => Math.hypot(...each.force));
          window.most = Math.max(window.most, ...forces); }); }"""
    )
    page.mouse.move(*((ball + touching) / 2), steps=3)
    wait(page, f"{STATE}.frame.frame > 3")
    page.mouse.move(*touching, steps=6)
    wait(page, "window.most > 0.05")
    wait(page, "document.getElementById('force').textContent.endsWith('N')")
    page.screenshot(path=pictures / "14-tool.png")
    page.mouse.up()
    wait(page, f"{STATE}.frame.frame > 8")
    last = pause(page)
    save_take(page, "pressed")
    assert "keys" in replayed(scene.folder, "pressed", last + 1)

    with page.expect_download() as picture:
        page.keyboard.press("c")
    assert picture.value.suggested_filename.endswith(".png")
    page.click("#open")
    page.click("[data-name='pressed.pliant']")
    wait(page, f"{STATE}.status.replay && {STATE}.frame.frame === 0")
    page.keyboard.press("ArrowRight")
    wait(page, f"{STATE}.frame.frame === 1")
    page.click("#replay")
    wait(page, f"{STATE}.frame.frame === {last}")
    assert page.problems == []
