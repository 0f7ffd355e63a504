"""A studio in a process of its own, and a real browser."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

FLAGS = [
    "--no-sandbox",
    "--headless=new",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-unsafe-swiftshader",
    "--use-angle=swiftshader",
]
SIZE = {"width": 1280, "height": 720}
ROOT = Path(__file__).resolve().parents[2]
BEAM = """
schema = 1
title = "Beam"
[time]
duration = 12.0
fps = 25
[[bodies]]
name = "beam"
shape = { box = { size = [0.4, 0.1, 0.1], divisions = [8, 2, 2] } }
material = { young = 5e4, poisson = 0.3, density = 1000 }
position = [0, 0, 0.2]
[[actions]]
type = "damping"
rate = 3
"""


@dataclass
class Served:
    """A running studio: its address with the token, its folder, its process."""

    url: str
    folder: Path
    process: Any

    @property
    def token(self) -> str:
        return self.url.split("token=")[1]

    @property
    def port(self) -> int:
        return int(self.url.split(":")[2].split("/")[0])


def start(folder: Path, *arguments: str) -> Served:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NUMBA_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "pliant", "studio", "--no-open", "--workspace", str(folder), *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    found = re.search(r"http\S+", process.stdout.readline())
    assert found, "the studio did not say its address"
    return Served(found[0], folder, process)


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


def _chromium() -> str:
    names = (os.environ.get("PLIANT_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if name and (path := shutil.which(name))), None)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("no Chromium here: apt-get install chromium")
        pytest.skip("no Chromium here: apt-get install chromium")
    return found


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=_chromium(), args=FLAGS)
        context = browser.new_context(viewport=SIZE, bypass_csp=True, accept_downloads=True)
        context.set_default_timeout(120_000)
        page = context.new_page()
        page.problems = []
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        yield page
        browser.close()


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where screenshots are kept: PLIANT_SCREENSHOTS, or the test's own folder."""
    folder = Path(os.environ.get("PLIANT_SCREENSHOTS", tmp_path / "screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
