"""Material that comes and goes by hand: lumps, bodies that appear, elements and bodies taken away."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serving import Served
from steps import STATE, build, enter, particles, pause, places, replayed, save_take, state, wait
from test_studio_hands import CLAY


def _click_on(page: Any, body: str) -> None:
    """Click where the middle of a body's highest particles is."""
    high = particles(page, body)[:, 2]
    page.mouse.click(*places(page, body)[high >= high.max() - 1e-3].mean(axis=0))


@pytest.mark.parametrize("scene", [CLAY], indirect=True)
def test_material_added_and_taken_away_in_a_take_replays_to_the_byte(
    page: Any, scene: Served, pictures: Path
) -> None:
    enter(page, scene)
    build(page)
    page.select_option("#speed", "1/10 ×")
    page.click("#run")
    wait(page, f"{STATE}.frame.frame > 1")
    page.click("#tool-add")
    before = len(particles(page, "clay"))
    page.mouse.move(*places(page, "clay").mean(axis=0))
    page.wait_for_timeout(200)
    page.screenshot(path=pictures / "21-add.png")
    left = particles(page, "clay")
    page.mouse.click(*places(page, "clay")[np.argmin(left @ [1.0, 0.3, -1.0])])  # an upper corner
    wait(page, f"{STATE}.live.size === 1 && studio.app.viewer.body('clay').particles.length > {3 * before}")
    assert page.evaluate(f"() => [...{STATE}.live.values()].map((each) => each.table.type)") == ["add"]

    _click_on(page, "jelly")  # finite elements cannot grow: a body that sticks to them comes
    wait(page, f"{STATE}.scene.bodies.length === 3 && {STATE}.live.size === 3 && !{STATE}.progress")
    wait(page, f"{STATE}.scene.bodies[2].present && {STATE}.status.playing")
    page.screenshot(path=pictures / "22-lump.png")
    lump = particles(page, "jelly-lump-1")
    assert lump[:, 2].mean() > particles(page, "jelly")[:, 2].max() - 0.02  # it may sink in a little

    page.select_option("#select-by", "clay: x high end")
    gone = state(page, "selection.ids.size")
    some = len(particles(page, "clay"))
    page.click("#do-remove")
    wait(page, f"studio.app.viewer.body('clay').particles.length === {3 * (some - gone)}")
    page.select_option("#select-by", "jelly-lump-1: all")
    assert page.query_selector("#do-remove") is None  # only whole bodies of this kind can be taken away
    page.click("#do-remove-body")
    wait(page, f"!{STATE}.scene.bodies[2].present")
    last = pause(page)
    page.screenshot(path=pictures / "23-removed.png")
    save_take(page, "lumps")
    text = replayed(scene.folder, "lumps", last + 1)
    for kind, times in (("add", 1), ("create", 1), ("fuse", 1), ("remove", 2)):
        assert text.count(f'type = "{kind}"') == times
    assert page.problems == []


@pytest.mark.parametrize("scene", [CLAY], indirect=True)
def test_a_body_appears_at_its_time_and_is_taken_away(page: Any, scene: Served) -> None:
    enter(page, scene)
    page.click(".card.body:nth-of-type(2) .title")
    page.fill("[aria-label='jelly appears at']", "0.1")
    page.keyboard.press("Enter")
    page.evaluate("() => document.activeElement.blur()")
    wait(page, f"{STATE}.table.actions.some((action) => action.type === 'create' && action.at === 0.1)")
    build(page)
    assert state(page, "scene.bodies[1].present") is False
    assert not page.evaluate("() => studio.app.viewer.body('jelly').group.visible")
    listed = page.evaluate("() => [...document.getElementById('select-by').options].map((o) => o.text)")
    assert not any(text.startswith("jelly") for text in listed)
    for frame in (1, 2, 3, 4):
        page.click("#step")
        wait(page, f"{STATE}.frame.frame === {frame}")
    assert state(page, "scene.bodies[1].present") is True
    page.select_option("#select-by", "jelly: all")
    page.click("#do-remove-body")
    wait(page, f"{STATE}.live.size === 1")
    page.click("#step")
    wait(page, f"{STATE}.frame.frame === 5 && !{STATE}.scene.bodies[1].present")
    assert page.evaluate(f"() => {STATE}.selection") is None
    page.evaluate(
        "() => { const slider = document.getElementById('scrub'); slider.value = '3';"
        " slider.dispatchEvent(new Event('input')); }"
    )
    wait(page, f"{STATE}.frame.frame === 3 && {STATE}.scene.bodies[1].present")
    save_take(page, "comes-and-goes")
    text = replayed(scene.folder, "comes-and-goes", 6)
    assert 'type = "create"' in text
    assert 'type = "remove"' in text
    assert page.problems == []
