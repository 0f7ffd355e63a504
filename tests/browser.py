"""The real browser of the tests: Chromium, without a screen."""

import os
import shutil

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


def chromium() -> str:
    """Its program; skips where there is none, and fails in CI."""
    names = (os.environ.get("PLIANT_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if name and (path := shutil.which(name))), None)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("no Chromium here: apt-get install chromium")
        pytest.skip("no Chromium here: apt-get install chromium")
    return found
