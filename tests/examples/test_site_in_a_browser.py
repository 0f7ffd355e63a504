"""The site in a real browser: wide and narrow, light and dark, with the keyboard, and its search."""

import runpy
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTRAST = (ROOT / "tests/studio/contrast.js").read_text(encoding="utf-8")
KINDS = [
    "index",
    "start/python-script",
    "start/notebooks/first_body",
    "how-to/blender",
    "tune",
    "book/lattice",
    "gallery",
    "flagships",
    "choose-a-model",
    "comparison",
    "evidence",
    "reference/python",
    "reference/commands",
    "reference/actions",
    "developers/changelog",
]
SHAPES = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the site is served."""
    serving = runpy.run_path(str(ROOT / "docs/make_site.py"))["server"](site, 0)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{serving.server_port}/"
    serving.shutdown()
    serving.server_close()


def opened(browser: Any, width: int, scheme: str) -> tuple[Any, list[str]]:
    """An empty page, and the list that takes what goes wrong on it."""
    page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("requestfailed", lambda request: problems.append(f"not loaded: {request.url}"))
    return page, problems


@pytest.mark.parametrize("width", [1280, 390])
def test_no_page_scrolls_sideways(browser: Any, site: Path, address: str, width: int) -> None:
    page, problems = opened(browser, width, "light")
    wide = []
    for path in sorted(site.rglob("*.html")):
        if "_static" not in path.parts:
            name = path.relative_to(site).as_posix()
            page.goto(address + name, wait_until="load")
            if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
                wide.append(name)
    page.close()
    assert wide == []
    assert problems == []


@pytest.mark.parametrize(("width", "scheme"), SHAPES)
def test_texts_have_contrast(browser: Any, address: str, width: int, scheme: str) -> None:
    """4.5 to 1, as WCAG 2 asks of small text (1.4.3)."""
    page, problems = opened(browser, width, scheme)
    for name in KINDS:
        page.goto(f"{address}{name}.html", wait_until="load")
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        texts = page.evaluate(CONTRAST, "body *")
        assert len(texts) > 20, name
        assert [text for text in texts if text[0] < 4.5] == [], name
    page.close()
    assert problems == []


def test_the_keyboard_reaches_everything(browser: Any, address: str) -> None:
    """Search, theme, navigation, text and contents, each with a visible focus."""
    page, _ = opened(browser, 1280, "light")
    page.goto(address + "tune.html", wait_until="load")
    reached = []
    for _ in range(120):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                """() => { const e = document.activeElement, s = getComputedStyle(e);
                const seen = s.outlineStyle !== 'none' || s.boxShadow !== 'none'
                  || s.textDecorationLine !== 'none';
                return [e.textContent.trim() || e.ariaLabel || '', seen,
                        e.closest('header, article, nav, .bd-toc')?.tagName ?? e.tagName]; }"""
            )
        )
    page.close()
    words = " ".join(text for text, _, _ in reached)
    for part in ("Skip to main content", "Search", "Reference", "too stiff"):
        assert part in words, part
    assert {"HEADER", "ARTICLE"} <= {place for _, _, place in reached}
    assert [text for text, seen, place in reached if not seen and place != "BODY"] == []


def test_the_menu_of_a_narrow_page_opens_by_keyboard(browser: Any, address: str) -> None:
    page, _ = opened(browser, 390, "light")
    page.goto(address + "tune.html", wait_until="load")
    button = page.locator("button.primary-toggle")
    button.focus()
    page.keyboard.press("Enter")
    link = page.locator("dialog a, .bd-sidebar-primary a").filter(has_text="Reference").first
    link.wait_for(state="visible", timeout=5000)
    page.close()


def test_the_theme_is_switched_and_kept(browser: Any, address: str) -> None:
    page, _ = opened(browser, 1280, "light")
    page.goto(address + "index.html", wait_until="load")
    page.locator("button.theme-switch-button:visible").first.click()
    page.locator("button.theme-change-button[data-mode=dark]:visible").first.click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.goto(address + "tune.html", wait_until="load")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.close()


FOUND = [("locking", "fem"), ("sags sideways", "tune"), ("--vary", "sweeps")]


@pytest.mark.parametrize(("query", "target"), FOUND)
def test_the_search_finds(browser: Any, address: str, query: str, target: str) -> None:
    page, problems = opened(browser, 1280, "light")
    page.goto(f"{address}search.html?q={query}", wait_until="load")
    page.locator("#search-results li a").first.wait_for(timeout=20_000)
    page.wait_for_timeout(1000)
    found = page.locator("#search-results li a").evaluate_all("links => links.map(link => link.pathname)")
    assert f"/{target}.html" in found
    page.close()
    assert problems == []
