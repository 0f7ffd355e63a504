"""The scene of the tests, in a folder of its own."""

from pathlib import Path

import pytest
from beam_scene import SCENE


@pytest.fixture
def beam(tmp_path: Path) -> Path:
    """The scene file, in a folder whose name has spaces."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "beam.toml").write_text(SCENE)
    return folder / "beam.toml"
