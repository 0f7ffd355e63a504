"""Shared set-up: a cache of meshes that belongs to the test session."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "unit" / "recording"))  # sample_run


@pytest.fixture
def models() -> Path:
    """Folder of real meshes beside the checkout; skips where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "models"
    if not folder.is_dir():
        pytest.skip("needs the folder shared/models beside the checkout")
    return folder
