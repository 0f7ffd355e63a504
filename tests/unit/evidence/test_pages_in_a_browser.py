"""Reports and comparisons in a real browser: whole in themselves, wide and narrow, light and dark."""

from pathlib import Path
from typing import Any

import pytest

from pliant.mesh.shapes import box
from pliant.scene import Body, Scene
from pliant.scene.scene import TimeSettings
from pliant.validation.cases import CaseResult, load_cases, outcomes
from pliant.validation.compare import write_page
from pliant.validation.comparison_run import RunResult
from pliant.validation.report import write_report

SHAPES = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]


def opened(browser: Any, path: Path, width: int, scheme: str) -> Any:
    """The page; fails where it asks for anything else, says anything, or is wider than the window."""
    page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    asked: list[str] = []
    problems: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text))
    page.goto(path.as_uri())
    assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
    assert problems == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(27, 30, 36)"
    assert dark == (scheme == "dark")
    return page


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "validation.html"
    wrong = CaseResult("fem", "impulse", 1.0, 2.0, 0.5, 1e-9, expected_failure="A reason. " * 30)
    found = [*outcomes("impulse"), *outcomes("debunne-cube")]
    rows = [wrong if (o.case, o.model) == ("impulse", "fem") else o for o in found]
    write_report(path, [o.to_dict() for o in rows], load_cases())
    return path


@pytest.mark.parametrize(("width", "scheme"), SHAPES)
def test_the_report_of_validation(browser: Any, report: Path, width: int, scheme: str) -> None:
    page = opened(browser, report, width, scheme)
    lost = "[...document.querySelectorAll('a')].filter(a => !document.getElementById(a.hash.slice(1))).length"
    assert page.evaluate(lost) == 0
    words = page.locator("td.wrong").all_text_contents()
    # the one put in, one of two operators on Debunne's cube; then fem and multires as a whole
    assert words == ["cannot", "1 of 2", "cannot", "2 of 3"]
    assert page.get_by_text("A reason.").first.is_visible()
    chart = page.locator("div.wide > svg")
    assert chart.bounding_box()["width"] > 500  # readable on a phone too, where it scrolls
    assert page.locator("td svg rect.good").count() > 5


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("comparison")
    attempts = []
    for model in ("mass-spring", "fem"):
        body = Body(
            box(0.2, 0.1, 0.1, divisions=(2, 1, 1)), model=model, name="block", velocity=(1.0, 0.0, 2.0),
            material={"young": 1e5, "poisson": 0.3, "density": 1000.0},
        )  # fmt: skip
        scene = Scene([body], [], time=TimeSettings(duration=0.4, fps=50.0))
        run = scene.run(to=folder / f"{model}.pliant")
        attempts.append(RunResult(model, state="done", run=run, error=0.1, message="said " * 40))
    result = {
        "title": "Flight", "scene": "flight", "reference": "fem", "threads": 1, "at_once": 2,
        "attempts": [attempt.to_dict() for attempt in attempts],
    }  # fmt: skip
    write_page(folder / "index.html", result, attempts, attempts[-1].run, True, lambda text: None)
    return folder / "index.html"


@pytest.mark.parametrize(("width", "scheme"), SHAPES[:1] + SHAPES[3:])
def test_the_page_of_a_comparison(browser: Any, comparison: Path, width: int, scheme: str) -> None:
    page = opened(browser, comparison, width, scheme)
    sizes = page.evaluate("[...document.images].map(i => [i.naturalWidth, i.width])")
    assert len(sizes) >= 3  # the last frame, the volume and the energy
    assert all(natural > 100 and shown > 0.3 * min(width, 1184) for natural, shown in sizes)
    assert page.evaluate("document.querySelector('video').play()") is None
    page.wait_for_function("document.querySelector('video').currentTime > 0.1")
    assert page.evaluate("document.querySelector('video').videoWidth") >= 256
