"""The way from opening to saving, with the words that a person reads on it."""

from pathlib import Path
from typing import Any

import pytest
from serving import BEAM, Served
from steps import STATE, build, enter, save_take, state, wait

from pliant.core.errors import SceneError
from pliant.scene.load import parse
from pliant.studio.words import in_words, plain

SHORT = BEAM.replace("duration = 12.0", "duration = 0.4")
FORCED = (
    SHORT
    + """
[[actions]]
type = "force"
select = { plane = { axis = "x", at = "max" } }
value = { keys = [{ time = 0, value = [0, 0, 0] }, { time = 0.2, value = [0, 0, 1] }] }
"""
)
SHEET = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n"


def middle(page: Any, what: str) -> float:
    """The place of an element's middle across the page [pixels]."""
    return float(page.evaluate(
        "(what) => { const a = document.querySelector(what).getBoundingClientRect(); "
        "return a.left + a.width / 2; }", what,
    ))  # fmt: skip


@pytest.mark.parametrize("scene", [FORCED], indirect=True)
def test_keys_and_scrubber_share_an_axis_that_shows_what_is_computed(
    page: Any, scene: Served, pictures: Path
) -> None:
    enter(page, scene)
    build(page)
    page.click(".card.action[data-type=force] .title")
    page.wait_for_selector(".mark")
    assert page.get_attribute("#scrub", "max") == "10", "0.4 s at 25 frames a second, before anything has run"
    assert page.evaluate("() => document.getElementById('computed').offsetWidth") == 0
    area = page.evaluate(
        "() => { const a = document.getElementById('scrub').getBoundingClientRect(); "
        "return [a.left + 8, a.width - 16]; }"
    )
    for number, share in ((1, 0.0), (2, 0.5)):
        spot = middle(page, f".mark:nth-of-type({number})")
        assert spot == pytest.approx(area[0] + share * area[1], abs=2.0)
    for _ in range(5):
        page.click("#step")
    wait(page, f"{STATE}.frame.frame === 5")
    assert middle(page, ".lane .cursor") == pytest.approx(area[0] + 0.5 * area[1], abs=2.0)
    whole = page.evaluate("() => document.querySelector('.computed-track').offsetWidth")
    done = page.evaluate("() => document.getElementById('computed').offsetWidth")
    assert done / whole == pytest.approx(0.5, abs=0.02)
    page.screenshot(path=pictures / "axis.png")
    page.evaluate(
        "() => { const slider = document.getElementById('scrub'); slider.value = '9'; "
        "slider.dispatchEvent(new Event('input')); }"
    )
    assert page.input_value("#scrub") == "5", "no farther than what is computed"
    assert not page.problems


@pytest.mark.parametrize("scene", [SHORT], indirect=True)
def test_the_end_is_told_saving_names_the_file_and_a_run_shows_its_scene(
    page: Any, scene: Served, pictures: Path
) -> None:
    enter(page, scene)
    assert page.inner_text("#file-name") == "scene.toml"
    page.focus("#title")
    page.keyboard.press("Control+s")
    page.wait_for_selector("#save-dialog")
    page.fill("#save-name", "before")
    page.click("#save-scene")
    page.wait_for_selector(".notice.done >> text=Saved “before.toml”.")
    page.wait_for_selector("#file-name >> text=before.toml")
    assert (scene.folder / "before.toml").is_file()
    build(page)
    page.select_option("#speed", "fastest")
    page.click("#run")
    wait(page, f"{STATE}.status.frame === 10 && !{STATE}.status.playing && {STATE}.frame.frame === 10")
    page.click("#tool-pull")
    area = page.evaluate(
        "() => { const a = studio.app.viewer.stage.renderer.domElement.getBoundingClientRect();"
        " return [a.left + a.width / 2, a.top + a.height / 2]; }"
    )
    page.mouse.move(*area)
    page.mouse.down()
    page.wait_for_selector(".notice.error >> text=The scene has ended.")
    page.mouse.up()
    assert state(page, "frame.pulls") == []
    page.screenshot(path=pictures / "end.png")
    save_take(page, "taken")
    page.wait_for_selector(".notice.done >> text=Saved “taken.toml” and its 11 frames.")

    page.click("#open")
    page.click("text=Empty scene")
    wait(page, f"!{STATE}.table.bodies.length")
    page.click("#open")
    page.click("[data-name='taken.pliant']")
    wait(page, f"{STATE}.status.replay && {STATE}.frame && {STATE}.frame.last === 10")
    assert state(page, "table.bodies[0].name") == "beam"
    assert state(page, "table.title") == "Beam"
    assert page.is_visible(".card.action[data-type=damping]")
    page.screenshot(path=pictures / "run-open.png")
    assert not page.problems


@pytest.mark.parametrize("scene", [SHORT], indirect=True)
def test_a_mesh_that_cannot_be_filled_and_a_wrong_value_are_told_plainly(
    page: Any, scene: Served, pictures: Path
) -> None:
    enter(page, scene)
    build(page)
    page.evaluate("() => studio.app.say({do: 'edit', path: ['bodies', 0, 'edge'], value: -1})")
    page.wait_for_selector(".notice.error")
    told = page.inner_text(".notice.error")
    assert told.startswith("Body 1, edge: ")
    assert "scene:" not in told
    (scene.folder / "sheet.obj").write_text(SHEET)
    page.click("#open")
    page.keyboard.press("Escape")
    page.evaluate("() => studio.app.say({do: 'look-over', name: 'sheet.obj'})")
    page.wait_for_selector("#unfillable")
    assert "cannot be filled" in page.inner_text("#health-dialog")
    assert page.is_disabled("#add-body")
    page.screenshot(path=pictures / "unfillable.png")
    page.keyboard.press("Escape")
    page.evaluate("() => studio.app.store.set({plots: ['energy.total', 'momentum.x']})")
    page.click("#run")
    wait(page, f"{STATE}.status.frame === 10 && !{STATE}.status.playing")
    page.wait_for_timeout(400)
    page.screenshot(path=pictures / "plots.png")
    assert not page.problems


def test_errors_have_no_file_positions_and_no_markup() -> None:
    with pytest.raises(SceneError) as found:
        parse(SHORT.replace("young = 5e4", 'young = "soft"'), None, "scene")
    assert found.value.message.startswith("scene:")
    message, _ = in_words(found.value)
    assert message.startswith("Body 1, material")
    assert plain("Holds along ``axes`` (see `fix`).") == "Holds along axes (see fix)."
    assert plain("is the file in millimetres? Pass scale=0.001.").endswith("Choose mm as its unit.")
