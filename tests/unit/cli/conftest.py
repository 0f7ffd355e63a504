"""Running the command line inside the test process."""

from pathlib import Path

import pytest
from command_line import SCENE, Pliant, Result

from pliant.cli.main import run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the current one while the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pliant(folder: Path, capfd: pytest.CaptureFixture[str]) -> Pliant:
    """``pliant("run", "scene.toml")`` in an empty folder."""

    def call(*arguments: str) -> Result:
        capfd.readouterr()
        code = run(arguments)
        out, err = capfd.readouterr()
        return Result(code, out, err)

    return call


@pytest.fixture
def scene(folder: Path) -> Path:
    """A scene of one cube and six frames, as cube.toml in the current folder."""
    path = folder / "cube.toml"
    path.write_text(SCENE)
    return path
