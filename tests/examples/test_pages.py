"""Code and scenes on the pages work: every Python block runs, every whole scene runs a few frames."""

import re
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.scene.load import parse

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(language: str) -> list[tuple[str, str]]:
    """(page:number, text) of the fenced blocks of a language, fragments left out."""
    found = []
    for page in PAGES:
        for number, text in enumerate(
            re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.S | re.M)
        ):
            found.append((f"{page.name}:{number}", text))
    return found


PYTHON = [(name, text) for name, text in blocks("python") if not name.startswith("extending.md")]
SCENES = [(name, text) for name, text in blocks("toml") if "[[bodies]]" in text and "schema" in text]


@pytest.mark.parametrize("text", [t for _, t in PYTHON], ids=[n for n, _ in PYTHON])
def test_python_on_a_page_runs(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    if text.startswith("run."):  # pages about what to do with a run start from one
        pytest.importorskip("pyvista")
        pytest.importorskip("pxr")
        names["run"] = small_run(tmp_path)
    try:
        exec(compile(text, "page", "exec"), names)
    except pl.errors.MissingExtra as error:
        pytest.skip(str(error))


def small_run(folder: Path) -> pl.Run:
    """A block that falls, with a probe in its middle."""
    body = pl.Body(pl.shapes.box(0.3, 0.1, 0.1, divisions=(3, 1, 1)), name="block")
    middle = pl.Probe(select=pl.where.nearest((0.15, 0.05, 0.05)), name="middle")
    scene = pl.Scene([body], [pl.Gravity(), pl.Fix(body, pl.where.plane("x", "min"))], [middle])
    return scene.run(duration=0.2, fps=50, to=folder / "small.pliant")


@pytest.mark.parametrize("text", [t for _, t in SCENES], ids=[n for n, _ in SCENES])
def test_scene_on_a_page_runs(text: str, tmp_path: Path) -> None:
    scene = parse(text, tmp_path, meshes=False)
    if any(body.mesh is not None for body in scene.bodies):
        pytest.skip("the page's scene needs the reader's own mesh")
    simulation = scene.simulation()
    for _ in range(3):
        simulation.advance()
    assert np.isfinite(simulation.system.world.x).all()
    assert np.abs(simulation.system.world.x - simulation.system.world.rest).max() < 10.0


def test_there_are_pages_with_code() -> None:
    assert len(PYTHON) >= 2
    assert len(SCENES) >= 2
