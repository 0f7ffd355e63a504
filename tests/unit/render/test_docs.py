"""The pages about pictures and exports: every command and every line of Python works."""

import re
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pliant import examples
from pliant.cli.main import run as pliant
from pliant.exporters import EXPORTERS
from pliant.render import render_run
from pliant.render.camera import read_camera
from pliant.render.render_options import BACKGROUNDS, STYLES, VIEWS
from pliant.run.store import Run

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = {name: (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("pictures", "exports")}


def blocks(page: str, kind: str) -> str:
    found = re.findall(rf"^```{kind}\n(.*?)^```", PAGES[page], re.DOTALL | re.MULTILINE)
    assert found
    return "\n".join(found)


@pytest.fixture
def folder(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the run as beam.pliant, where pictures are blank: what they show is tested elsewhere."""
    for module in ("matplotlib", "imageio_ffmpeg", "h5py", "pxr"):
        pytest.importorskip(module, reason=f"needs {module}: pip install 'pliant[all]'")

    def blank(plan: Any, shots: Sequence[Any], workers: int | None, team: Any) -> Iterator[Any]:
        width, height = plan.look.size
        for _ in shots:
            yield np.full((height, width * len(plan.panels), 3), 200, np.uint8)

    monkeypatch.setattr(render_run, "pictures", blank)
    (tmp_path / "beam.pliant").symlink_to(run.path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMANDS = [(page, line) for page in PAGES for line in blocks(page, "sh").splitlines() if line.strip()]


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=[line[:60] for _, line in COMMANDS])
def test_commands_work(folder: Path, page: str, line: str) -> None:
    words = shlex.split(line, comments=True)
    assert words[0] == "pliant"
    assert pliant(words[1:]) == 0
    assert len(list(folder.iterdir())) > 1


@pytest.mark.parametrize("page", PAGES)
def test_python_works(folder: Path, run: Run, page: str) -> None:
    exec(blocks(page, "python"), {"run": run})
    assert len(list(folder.iterdir())) > 1


def test_the_camera_file_is_one() -> None:
    keys = read_camera(tomllib.loads(blocks("pictures", "toml camera")))
    assert keys is not None
    np.testing.assert_allclose(keys.position.at(0.1), [3, 0, 1])


def test_everything_is_named() -> None:
    for suffix in EXPORTERS:
        assert suffix in PAGES["exports"], suffix
    for name in (*STYLES, *VIEWS, *BACKGROUNDS):
        assert f"`{name}`" in PAGES["pictures"], name


def test_the_gallery_shows_every_example_and_is_small() -> None:
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[.+\]\((.*?)\)", page)
    shown = [Path(picture).stem for picture in pictures]
    assert shown == list(examples.names()), "run python docs/make_gallery.py"
    for picture in pictures:
        assert (DOCS / picture).stat().st_size > 5000
    assert sum(path.stat().st_size for path in (DOCS / "pictures").iterdir()) < 5e6
