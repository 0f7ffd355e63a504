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
    "--disable-gpu-compositing",  # the page; the 3D view is drawn by SwiftShader
    "--disable-gpu-rasterization",
    "--enable-unsafe-swiftshader",
    "--use-angle=swiftshader",
]


def chromium() -> str:
    """Its program; skips where there is none, and fails in CI."""
    own = os.environ.get("PLIANT_CHROMIUM", "")
    names = (own, "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if name and (path := shutil.which(name))), None)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("no Chromium here: apt-get install chromium-headless-shell")
        pytest.skip("no Chromium here: apt-get install chromium-headless-shell")
    return found
