"""How things look: fields, levels, sections, dual cells, failures; contrast, small screens, keys alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serving import Served, start
from steps import STATE, build, enter, pixels, places, state, wait

LEVELS = """
schema = 1
title = "Levels"
[time]
duration = 2.0
fps = 25
[[bodies]]
name = "sponge"
shape = { box = { size = [0.2, 0.2, 0.2], divisions = [4, 4, 4] } }
model = { type = "multires", levels = 2 }
material = { young = 1e4, poisson = 0.3, density = 1000 }
[[bodies]]
name = "bar"
shape = { box = { size = [0.1, 0.1, 0.2], divisions = [2, 2, 4] } }
model = { type = "fem", plasticity = "small" }
material = { young = 2e4, poisson = 0.3, density = 1000, yield = 200 }
position = [0.4, 0, 0]
[[actions]]
type = "fix"
select = { plane = { axis = "z", at = "min" } }
[[actions]]
type = "gravity"
acceleration = 20
"""
WILD = """
schema = 1
title = "Too large a step"
[time]
duration = 2.0
fps = 25
step = 0.02
refine = false
[[bodies]]
name = "block"
shape = { box = { size = [0.2, 0.1, 0.1], divisions = [4, 2, 2] } }
material = { young = 1e6, poisson = 0.3, density = 1000 }
[[actions]]
type = "gravity"
[[actions]]
type = "fix"
select = { body = "block", plane = { axis = "x", at = "min" } }
"""
CONTRAST = (Path(__file__).parent / "contrast.js").read_text()


@pytest.mark.parametrize("scene", [LEVELS], indirect=True)
def test_fields_levels_sections_and_dual_cells(page: Any, scene: Served, pictures: Path) -> None:
    enter(page, scene)
    build(page)
    page.click("#step")
    page.click("#step")
    wait(page, f"{STATE}.frame.frame === 2")
    listed = page.evaluate("() => [...document.getElementById('colour').options].map((o) => o.value)")
    for name in ("displacement", "velocity", "force", "strain", "stress", "plastic", "level"):
        assert name in listed
        page.select_option("#colour", name)
        wait(page, f"'{name}' in {STATE}.frame.units && !document.getElementById('colourbar').hidden")
        values = page.evaluate(
            "() => studio.app.viewer.bodies.flatMap((body) => Array.from(body.shownValues() ?? []))"
        )
        assert len(values) > 30
        assert np.isfinite(values).all()
    assert "level 0" in page.inner_text("#colourbar")
    page.screenshot(path=pictures / "15-levels.png")
    page.select_option("#colour", "stress")
    for kind in ("auto", "fixed", "percentile"):
        page.select_option("select[aria-label=range]", kind)
    wait(page, f"'stress' in {STATE}.frame.units")

    plain = pixels(page)
    page.select_option("select[aria-label=section]", "y")
    page.wait_for_timeout(300)
    cut = page.evaluate(
        """() => { const body = studio.app.viewer.body('bar');
          return body.group.children.flatMap((g) => g.children).filter((m) => m.visible && m.isMesh)
            .reduce((n, m) => n + m.geometry.getAttribute('position').count, 0); }"""
    )
    assert cut > 3 * 8  # a section through 2 x 4 cells of six tets each
    assert (pixels(page) != plain).any(axis=2).mean() > 0.01
    page.screenshot(path=pictures / "16-section.png")
    page.click("#mode-tets")
    page.screenshot(path=pictures / "17-tets-section.png")
    page.select_option("select[aria-label=section]", "off")
    page.select_option("#colour", "")

    page.click("#mode-cells")
    wait(
        page,
        "studio.app.viewer.body('bar').target?.geometry.attributes.color",
    )
    page.click("#tool-pick")
    spot = places(page, "bar").mean(axis=0)
    for kind in ("cell", "face"):
        page.select_option("select[aria-label=highlight]", kind)
        page.mouse.click(*spot)
        wait(page, f"studio.app.viewer.body('bar').chosen?.kind === '{kind}'")
        page.wait_for_timeout(200)
        page.screenshot(path=pictures / f"18-{kind}.png")
    assert page.problems == []


@pytest.mark.parametrize("scene", [WILD], indirect=True)
def test_a_run_that_diverges_says_why_and_shows_the_element(page: Any, scene: Served, pictures: Path) -> None:
    enter(page, scene)
    build(page)
    page.click("#run")
    wait(page, f"{STATE}.failed")
    text = page.inner_text("#failed")
    assert "block" in text
    assert "stable" in text
    page.click("#show-element")
    assert state(page, "selection.ids.size") in (1, 4)
    page.screenshot(path=pictures / "19-diverged.png")
    assert np.isfinite(page.evaluate("() => Array.from(studio.app.viewer.bodies[0].particles)")).all()
    page.click("#failed button:has-text('Reset')")
    wait(page, f"!{STATE}.failed && {STATE}.frame.frame === 0")


def test_keys_alone_light_and_dark_and_readable(page: Any, studio: Served, pictures: Path) -> None:
    enter(page, studio)
    page.keyboard.press("b")
    wait(page, f"{STATE}.scene && {STATE}.frame && !{STATE}.progress")
    page.focus("#select-by")
    page.keyboard.type("x")  # the first that begins with it: the low end
    wait(page, f"{STATE}.selection && {STATE}.selection.ids.size === 9")
    page.keyboard.press("Escape")
    page.keyboard.press("h")
    wait(
        page, f"{STATE}.table.actions.length === 2 && {STATE}.built === {STATE}.version && !{STATE}.progress"
    )
    page.focus("canvas")
    eye = page.evaluate("() => studio.app.viewer.stage.camera.position.toArray()")
    for key in ("ArrowLeft", "ArrowUp", "Shift+ArrowRight", "+"):
        page.keyboard.press(key)
    assert (
        np.linalg.norm(
            np.subtract(page.evaluate("() => studio.app.viewer.stage.camera.position.toArray()"), eye)
        )
        > 0.01
    )
    page.keyboard.press("f")
    page.keyboard.press(" ")
    wait(page, f"{STATE}.frame.frame > 2")
    page.keyboard.press(" ")
    wait(page, f"!{STATE}.status.playing")
    page.keyboard.press("Control+z")
    wait(page, f"{STATE}.table.actions.length === 1")
    page.keyboard.press("Control+Shift+Z")
    wait(page, f"{STATE}.table.actions.length === 2")
    page.click(".action[data-type=damping] .title")
    for theme in ("light", "dark"):
        page.evaluate(f"() => studio.app.store.set({{theme: '{theme}'}})")
        page.screenshot(path=pictures / f"20-{theme}.png")
        worst = page.evaluate(CONTRAST)
        assert len(worst) > 40
        assert worst[0][0] >= 4.5, worst[:6]
        assert page.evaluate(
            "() => { const e = document.documentElement;"
            " return e.scrollWidth <= innerWidth && e.scrollHeight <= innerHeight; }"
        )
    page.keyboard.press("?")
    page.wait_for_selector("#help-dialog")
    assert page.evaluate(CONTRAST)[0][0] >= 4.5
    page.keyboard.press("Escape")
    nameless = page.evaluate(
        "() => [...document.querySelectorAll('button, input, select')].filter((e) => e.offsetParent && "
        "!e.getAttribute('aria-label') && !e.textContent.trim() && !e.labels?.length).map((e) => e.outerHTML)"
    )
    assert nameless == []
    assert page.problems == []


def test_what_was_saved_by_itself_is_offered_again(page: Any, studio: Served) -> None:
    enter(page, studio)
    page.fill("#title", "Kept by itself")
    page.press("#title", "Enter")
    page.evaluate("() => document.activeElement.blur()")
    wait(page, f"{STATE}.table.title === 'Kept by itself'")
    again = start(studio.folder)
    try:
        enter(page, again)
        page.click(".notice button:has-text('Restore')")
        wait(page, f"{STATE}.table.title === 'Kept by itself' && {STATE}.table.bodies.length === 1")
    finally:
        again.process.terminate()
        again.process.wait(10)
        again.process.stdout.close()
