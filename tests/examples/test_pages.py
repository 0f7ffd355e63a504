"""Code and scenes on the pages work: every Python block runs, every whole scene runs a few frames."""

import re
import shlex
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
import typer

import pliant as pl
from pliant import examples
from pliant.cli.main import build
from pliant.scene.load import parse

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix().removeprefix("docs/")


def blocks(language: str) -> list[tuple[str, str]]:
    """(page:number, text) of the fenced blocks of a language, fragments left out."""
    found = []
    for page in PAGES:
        own = re.findall(rf"^ *```{language}\n(.*?)^ *```", page.read_text(), re.S | re.M)
        for number, text in enumerate(own):  # those in lists are indented
            found.append((f"{name_of(page)}:{number}", dedent(text)))
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
    if "pl.shapes.box(1.0, 0.1, 0.1, divisions=(16, 2, 2))" in text:
        check_beam(names["run"])


FINE_TIP = -0.70344  # [m] tip.z of README's beam after 0.5 s with divisions (32, 4, 4), steps of 10 ms


def check_beam(run: Any) -> None:
    """README's beam falls in its plane of symmetry, and as far as a finer one: within 5 % of the way."""
    assert np.abs(run.series["tip.y"] - 0.05).max() < 0.01 * 0.1
    assert run.series["tip.z"].min() - 0.05 == pytest.approx(FINE_TIP - 0.05, rel=0.05)


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


def anchors(page: Path) -> set[str]:
    """What links may name after #: headings, as GitHub writes them."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_a_page_points_at_is_there(page: Path) -> None:
    """Links and their anchors, pictures, files of the project, examples."""
    text = page.read_text()
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", prose):
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        generated = (
            target.suffix == ".md" and "```{generated}" in target.read_text()
        )  # test_site.py looks there
        assert not anchor or generated or anchor in anchors(target), link
    for path in re.findall(r"`((?:src|tests|docs|design)/[\w\-./]+)`", text):
        assert (ROOT / path).exists(), path
    for name in re.findall(r"examples ([a-z]\w*-[\w\-]+)", text):
        assert name in examples.names(), name


def commands() -> list[tuple[str, list[str]]]:
    """(page, words) of the pliant commands in blocks of shell lines, fragments too."""
    found = []
    for page in PAGES:
        for block in re.findall(r"^ *```sh[^\n]*\n(.*?)^ *```", page.read_text(), re.S | re.M):
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                if words[:1] == ["pliant"]:
                    found.append((name_of(page), words[1:]))
    return found


def test_commands_on_pages_have_the_options_that_they_name() -> None:
    known: Any = typer.main.get_command(build())
    shown = commands()
    assert len(shown) > 100
    for page, (name, *words) in shown:
        assert name in known.commands, f"{page}: pliant {name}"
        options = {
            option for entry in known.commands[name].params for option in (*entry.opts, *entry.secondary_opts)
        }
        for word in words:
            if re.match(r"--?[a-z]", word):
                assert word.split("=")[0] in options, f"{page}: pliant {name} {word}"
