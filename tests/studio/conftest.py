"""A studio in a process of its own, and a real browser."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import BEAM, SIZE, Served, start


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Served]:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "beam.toml").write_text(BEAM)
    served = start(folder, str(folder / "beam.toml"))
    yield served
    served.process.terminate()
    served.process.wait(10)
    served.process.stdout.close()


@pytest.fixture
def scene(request: Any, tmp_path: Path) -> Iterator[Served]:
    """A studio on the scene that the test names as its parameter."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "scene.toml").write_text(request.param)
    served = start(folder, str(folder / "scene.toml"))
    yield served
    served.process.terminate()
    served.process.wait(10)
    served.process.stdout.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """An empty page, with cookies and downloads of its own."""
    with browser.new_context(viewport=SIZE, bypass_csp=True, accept_downloads=True) as context:
        context.set_default_timeout(120_000)
        page = context.new_page()
        page.problems = []
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        yield page


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where screenshots are kept: PLIANT_SCREENSHOTS, or the test's own folder."""
    folder = Path(os.environ.get("PLIANT_SCREENSHOTS", tmp_path / "screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
