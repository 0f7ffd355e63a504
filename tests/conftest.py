"""Shared set-up: how workers share the cores, where tests find each other, and the folder of real meshes."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Several workers share the cores: threads that wait for each other in a parallel loop must not spin.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "unit" / "recording"))  # sample_run


@pytest.fixture
def models() -> Path:
    """Folder of real meshes beside the checkout; skips where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "models"
    if not folder.is_dir():
        pytest.skip("needs the folder shared/models beside the checkout")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without a screen, one for the tests of a file."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install 'pliant[dev]'")
    from browser import FLAGS, chromium

    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()
