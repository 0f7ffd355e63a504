"""Pins, arrows and pressure are seen where they act, and their particles are edited there."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serving import Served
from steps import STATE, build, enter, particles, pixels, places, state, wait

PIN, ARROW, PRESSURE = (0x00, 0xB8, 0xD4), (0xD8, 0x1B, 0x60), (0x39, 0x49, 0xAB)
SCENE = """
schema = 1
title = "Loads"
[time]
duration = 1
fps = 25
[[bodies]]
name = "beam"
shape = { box = { size = [0.4, 0.1, 0.1], divisions = [8, 2, 2] } }
material = { young = 5e4, poisson = 0.3, density = 1000 }
position = [0, 0, 0.2]
[[actions]]
type = "fix"
select = { body = "beam", plane = { axis = "x", at = "min" } }
[[actions]]
type = "force"
select = { body = "beam", plane = { axis = "x", at = "max" } }
value = [0, 0, 2.5]
until = 0.5
[[actions]]
type = "pressure"
value = 100
from = 0.2
"""


def of_colour(page: Any, colour: tuple[int, int, int]) -> Any:
    """Where the picture has about this colour (height, width)."""
    return np.abs(pixels(page)[..., :3] - np.array(colour)).max(axis=2) < 40


def at_places(page: Any, seen: Any, spots: Any) -> Any:
    """Whether the picture ``seen`` is set within three of its pixels of places on the page."""
    area = page.evaluate(
        "() => { const a = studio.app.viewer.stage.renderer.domElement.getBoundingClientRect();"
        " return [a.left, a.top, a.width, a.height]; }"
    )
    scale = np.array([seen.shape[1] / area[2], seen.shape[0] / area[3]])
    found = []
    for x, y in ((spots - np.array(area[:2])) * scale).round().astype(int):
        found.append(seen[max(0, y - 3) : y + 4, max(0, x - 3) : x + 4].any())
    return np.array(found)


@pytest.mark.parametrize("scene", [SCENE], indirect=True)
def test_pins_forces_and_pressure_are_drawn(page: Any, scene: Served, pictures: Path) -> None:
    enter(page, scene)
    build(page)
    wait(page, f"{STATE}.targets.length === 3")
    rest = particles(page)
    left, right = np.flatnonzero(rest[:, 0] < 1e-6), np.flatnonzero(rest[:, 0] > 0.4 - 1e-6)
    assert state(page, "targets[0][0].ids") == left.tolist()
    assert state(page, "targets[1][0].ids") == right.tolist()
    pins = of_colour(page, PIN)
    spots = places(page)
    assert at_places(page, pins, spots[left]).all(), "every held particle has a pin"
    assert not at_places(page, pins, spots[right]).any(), "and no other"
    arrow = of_colour(page, ARROW)
    assert arrow.sum() > 30
    rows, columns = np.nonzero(arrow)
    tail = spots[right].mean(axis=0)
    assert at_places(page, arrow, tail[None]).all(), "it starts at the middle of what it pulls"
    assert rows.min() < rows[columns == np.median(columns).astype(int)].max(), "and points up"
    assert page.inner_text(".load-label") == "2.5 N"
    assert of_colour(page, PRESSURE).sum() == 0, "pressure comes at 0.2 s"
    page.screenshot(path=pictures / "loads.png")
    page.click("text=loads")
    assert of_colour(page, PIN).sum() == 0
    page.click("text=loads")

    page.select_option("#speed", "fastest")
    page.click("#run")
    wait(page, f"!{STATE}.status.playing && {STATE}.status.frame === 25 && {STATE}.frame.frame === 25")
    assert of_colour(page, PRESSURE).sum() > 20
    assert of_colour(page, ARROW).sum() == 0, "the force has ended"
    assert at_places(page, of_colour(page, PIN), places(page)[left]).all()
    page.screenshot(path=pictures / "loads-pressure.png")
    assert not page.problems


@pytest.mark.parametrize("scene", [SCENE], indirect=True)
def test_an_open_action_shows_and_edits_its_particles(page: Any, scene: Served, pictures: Path) -> None:
    enter(page, scene)
    build(page)
    wait(page, f"{STATE}.targets.length === 3")
    rest = particles(page)
    left = set(np.flatnonzero(rest[:, 0] < 1e-6).tolist())
    page.click(".card.action[data-type=fix] .title")
    wait(page, f"{STATE}.selection && {STATE}.selection.ids.size === {len(left)}")
    assert set(page.evaluate(f"() => [...{STATE}.selection.ids]")) == left
    highlighted = of_colour(page, (0xFF, 0xB3, 0x00))
    assert at_places(page, highlighted, places(page)[sorted(left)]).all()
    assert page.query_selector("#use-for-action") is None, "it has them already"
    page.click("#grow")
    wait(page, f"{STATE}.selection.ids.size > {len(left)}")
    grown = set(page.evaluate(f"() => [...{STATE}.selection.ids]"))
    assert grown == set(np.flatnonzero(rest[:, 0] < 0.05 + 1e-6).tolist()), "the next layer of the beam"
    page.screenshot(path=pictures / "loads-edit.png")
    page.click("#use-for-action")
    wait(page, f"{STATE}.targets[0]?.[0]?.ids.length === {len(grown)} && {STATE}.built === {STATE}.version")
    assert set(state(page, "table.actions[0].select.ids")) == grown
    page.click("#invert")
    wait(page, f"{STATE}.selection.ids.size === {len(rest) - len(grown)}")

    page.keyboard.press("Escape")
    page.select_option("#select-by", "x high end")
    page.select_option("#add-action", "force")
    wait(page, f"{STATE}.table.actions.length === 4 && {STATE}.targets[3]?.length && !{STATE}.progress")
    assert state(page, "activeAction") == 3
    card = page.query_selector(".card.action.open")
    assert card.get_attribute("data-type") == "force"
    assert card.is_visible()
    box, panel = card.bounding_box(), page.query_selector("aside.left").bounding_box()
    assert panel["y"] <= box["y"] < panel["y"] + panel["height"], "it was scrolled to"
    force = state(page, "table.actions[3].value")
    assert force == [0, 0, 1.2], "15 % of the length of a cantilever: 3 E I d / l3, to two digits"
    for number in (2, 1):
        page.evaluate(f"() => studio.app.say({{do: 'edit', path: ['actions', {number}], value: null}})")
    wait(page, f"{STATE}.table.actions.length === 2 && {STATE}.built === {STATE}.version")
    wait(page, f"!{STATE}.progress")
    page.select_option("#speed", "fastest")
    page.click("#run")
    wait(page, f"!{STATE}.status.playing && {STATE}.frame.frame === 25")
    page.evaluate("() => studio.app.say({do: 'show', frame: 13})")  # half a period of the first mode
    wait(page, f"{STATE}.frame.frame === 13")
    moved = (particles(page) - rest)[:, 2].max()
    assert 0.05 < moved / 0.4 < 0.5, "the beam has moved visibly"
    assert not page.problems


@pytest.mark.parametrize("scene", [SCENE.split("[[actions]]", maxsplit=1)[0]], indirect=True)
def test_what_is_selected_while_a_new_action_is_built_stays_selected(page: Any, scene: Served) -> None:
    """One end is fixed and the other selected at once, before the build has told what the new action acts on:
    the force that follows acts on the other end. With nothing selected it acts on the top."""
    enter(page, scene)
    build(page)
    rest = particles(page)
    page.select_option("#select-by", "x low end")
    page.select_option("#add-action", "fix")
    page.select_option("#select-by", "x high end")
    wait(page, f"{STATE}.targets[0]?.length && {STATE}.built === {STATE}.version && !{STATE}.progress")
    right = set(np.flatnonzero(rest[:, 0] > 0.4 - 1e-6).tolist())
    assert set(page.evaluate(f"() => [...{STATE}.selection.ids]")) == right
    page.select_option("#add-action", "force")
    wait(page, f"{STATE}.targets[1]?.length && {STATE}.built === {STATE}.version && !{STATE}.progress")
    assert set(state(page, "targets[1][0].ids")) == right
    page.keyboard.press("Escape")
    wait(page, f"{STATE}.selection === null")
    page.select_option("#add-action", "impulse")
    wait(page, f"{STATE}.targets[2]?.length && {STATE}.built === {STATE}.version && !{STATE}.progress")
    top = np.flatnonzero(rest[:, 2] > rest[:, 2].max() - 1e-6)
    assert state(page, "targets[2][0].ids") == top.tolist()
    page.evaluate("() => studio.app.say({do: 'edit', path: ['actions', 2], value: null})")
    wait(page, f"{STATE}.table.actions.length === 2")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.click(".card.action[data-type=force] .title")
    wait(page, f"{STATE}.selection")
    page.click("#grow")
    cut = page.evaluate(
        "() => [...document.querySelectorAll('#actions .card.open .control, #selection .deeds')]"
        ".filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.outerHTML)"
    )
    assert cut == [], "labels fit"
    assert not page.problems
