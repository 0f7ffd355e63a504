"""The shell lines of the pages run, in their order, from the files that each page assumes.

Blocks that cannot run here are marked as fragments, with a reason. Simulations are shortened: what is shown
are the commands. The pages on pictures and exports are tested by ``tests/unit/render/test_docs.py``, README's
by ``tests/unit/cli/test_cli_hello.py``.
"""

import re
import shlex
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

import pliant as pl
from pliant import examples
from pliant.cli.main import run as pliant
from pliant.mesh.io import read_surface, write_surface

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
ELSEWHERE = {"pictures.md", "exports.md", "start/classroom.md"}  # the last one has a test of its own below
SHORT = ("--set", "time.duration=0.1")  # of simulations of two seconds
BLOCK = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^ *```", re.S | re.M)


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """(language, rest of its line, text) of the fenced blocks."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [(language, rest.strip(), dedent(text)) for _, language, rest, text in found]


def shell_lines(page: Path) -> list[str]:
    text = "\n".join(text for language, rest, text in blocks(page) if language == "sh" and not rest)
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def names(*files: str) -> Callable[[Path], None]:
    """The reader's own mesh, a duck of 10 cm in units of 1 cm, under these names."""

    def prepare(folder: Path) -> None:
        for file in files:
            shutil.copy(examples.folder() / "duck.obj", folder / file)

    return prepare


def metres(folder: Path) -> None:
    """A duck of 10 cm and a box in metres."""
    duck = read_surface(examples.folder() / "duck.obj")
    write_surface(folder / "bunny.obj", replace(duck, points=0.01 * duck.points))
    write_surface(folder / "part.stl", pl.shapes.box(0.1, 0.1, 0.1).surface())


def beam(folder: Path) -> None:
    """The starter scene and its run."""
    assert pliant(["new", "beam"]) == 0
    assert pliant(["run", "beam.toml", *SHORT]) == 0


def starter(folder: Path) -> None:
    assert pliant(["new", "beam"]) == 0


def thickness(folder: Path) -> None:
    (scene,) = [text for language, _, text in blocks(DOCS / "start/classroom.md") if language == "toml"]
    (folder / "thickness.toml").write_text(scene)


def study(folder: Path) -> None:
    shutil.copy(DOCS / "studies/bracket.toml", folder)


PREPARED: dict[str, Callable[[Path], None]] = {
    "command-line.md": lambda folder: None,
    "evidence.md": starter,
    "how-to/blender.md": names("figure.obj"),
    "how-to/clusters.md": study,
    "how-to/houdini.md": names("goblet.obj"),
    "how-to/maya.md": names("figure.obj"),
    "how-to/paraview.md": beam,
    "how-to/sweeps-and-fits.md": lambda folder: None,
    "index.md": lambda folder: None,
    "log.md": beam,
    "meshes.md": metres,
    "own-mesh.md": names("duck.obj"),
    "sweeps.md": study,
    "tune.md": lambda folder: (folder / "docs").symlink_to(DOCS),
}


def shortened(words: list[str], scenes: Path) -> list[str]:
    """A run of more than half a second, for 0.1 s."""
    if words[0] != "run":
        return words
    table = tomllib.loads((scenes / words[1]).read_text(encoding="utf-8"))
    return [*words, *SHORT] if table["time"]["duration"] > 0.5 else words


def test_every_page_with_shell_lines_is_run() -> None:
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md") if shell_lines(page)}
    assert pages == PREPARED.keys() | ELSEWHERE


@pytest.mark.parametrize("page", PREPARED)
def test_shell_lines_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("pyvista", "pxr", "h5py", "tetgen", "imageio_ffmpeg"):
        pytest.importorskip(package, reason=f"needs {package}: pip install -e '.[dev]'")
    monkeypatch.chdir(tmp_path)
    PREPARED[page](tmp_path)
    for line in shell_lines(DOCS / page):
        program, *words = shlex.split(line, comments=True)
        assert program == "pliant", line
        if ">" in words:
            words = words[: words.index(">")]
        assert pliant(shortened(words, tmp_path)) == 0, line


def test_the_classroom_finds_the_cube_of_the_thickness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slope of log sag over log thickness; -3 by beam theory, and shear adds 1 % to the thickest."""
    monkeypatch.chdir(tmp_path)
    thickness(tmp_path)
    (line,) = shell_lines(DOCS / "start/classroom.md")
    assert pliant(shlex.split(line)[1:]) == 0
    results = pl.open_sweep(tmp_path / "thickness.sweep").table()
    height, sag = (results[next(c for c in results if key in c)] for key in ("size.2", "tip.z"))
    slope = np.polyfit(np.log(height), np.log(-sag), 1)[0]
    assert slope == pytest.approx(-3.0, abs=0.05)


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))], ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_fragments_have_a_reason_and_are_well_formed(page: Path) -> None:
    for language, rest, text in blocks(page):
        if rest.startswith("fragment"):
            assert re.fullmatch(r"fragment: \w.{3,}", rest), f"{language} {rest}"
        if language == "toml" and not rest:
            tomllib.loads(text)
        if language == "python":
            compile(text, str(page), "exec")
