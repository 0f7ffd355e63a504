"""The first five minutes: README's two commands, ``pliant hello`` and the scene of ``pliant new``."""

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import Pliant

import pliant as pl
from pliant.cli import hello
from pliant.run.requests import RenderRequest

ROOT = Path(__file__).resolve().parents[3]
QUADRATIC_TIP = 0.29474  # [m] lowest tip.z of the starter beam with divisions [20, 4, 4], steps of 10 ms


def test_the_first_two_commands_are_one_line_each_in_an_environment_of_their_own() -> None:
    text = (ROOT / "README.md").read_text()
    assert text.count("\n") < 120
    first, second, *_ = re.findall(r"^```sh fragment: installs packages\n(.*?)^```", text, re.S | re.M)
    for block in (first, second):
        assert block.count("\n") == 1
        assert block.startswith("python3 -m venv .venv && .venv/bin/python -m pip install ")
    assert first.endswith(" && .venv/bin/pliant hello\n")
    assert " && .venv/bin/python -m pytest " in second


def test_hello_leaves_a_run_and_a_graph_and_replaces_its_own(pliant: Pliant, folder: Path) -> None:
    pytest.importorskip("matplotlib")
    done = pliant("hello", "--no-movie")
    assert done.code == 0
    assert "frame" in done.err  # progress
    assert "pliant new beam" in done.out
    run = pl.load("hello.pliant")
    assert run.state == "done"
    assert np.ptp(run.series["head.x"]) > 0.02  # it wobbles
    assert run.series["head.z"][-1] > 0.085  # and stands
    assert (folder / "hello.png").stat().st_size > 5000
    again = pliant("hello", "--no-movie", "--json")
    assert (again.code, again.err) == (0, "")
    assert again.json["files"] == ["hello.pliant", "hello.png"]


@pytest.mark.parametrize("flags", [(), ("--quiet",)])
def test_hello_draws_its_movie_from_its_run(
    pliant: Pliant, folder: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]
) -> None:
    """What is drawn is tested elsewhere: here a picture takes no time."""
    pytest.importorskip("matplotlib")

    def drawn(runs: list[pl.Run], path: Path, asked: RenderRequest, progress: Any, team: Any) -> Path:
        assert team is None
        for number in range(1, 3):
            progress(number, 2)
        path.write_text(f"{len(runs[0])} frames, each {asked.every}. of them")
        return path

    monkeypatch.setattr("pliant.render.worker_pool.installed", lambda *names: False)
    monkeypatch.setattr("pliant.render.render", drawn, raising=False)
    done = pliant("hello", *flags)
    assert done.code == 0, done.err
    assert (folder / "hello.mp4").read_text() == "51 frames, each 2. of them"
    assert (folder / "hello.png").stat().st_size > 5000
    assert ("hello.mp4 written" in done.out) == ("--quiet" not in flags)
    assert (done.out + done.err == "") == ("--quiet" in flags)


def test_hello_leaves_other_runs_alone(pliant: Pliant, scene: Path) -> None:
    assert pliant("run", str(scene), "-o", "hello.pliant", "-q").code == 0
    refused = pliant("hello", "--no-movie")
    assert refused.code == 2
    assert "not from pliant hello" in refused.err
    assert len(pl.load("hello.pliant")) == 6


def test_hello_without_graphics_says_what_is_missing(pliant: Pliant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pliant.core.environment.find_spec", lambda name: None)
    done = pliant("hello")
    assert done.code == 0
    assert "no graph and movie: " in done.out
    assert "pip install 'pliant[render]'" in done.out


def test_kernels_of_the_first_scene_compile_without_its_mesh() -> None:
    hello.compile_kernels()


def readme_commands() -> list[list[str]]:
    """The lines of README's way in by the command line, without ``pliant``."""
    block, *_ = re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(), re.S | re.M)
    return [shlex.split(line, comments=True)[1:] for line in block.splitlines()]


def test_the_starter_beam_hangs_straight_and_as_deep_as_a_finer_one(pliant: Pliant, folder: Path) -> None:
    """README's commands as written, but for the movie."""
    pytest.importorskip("matplotlib")
    given = readme_commands()
    assert [words[0] for words in given] == ["new", "check", "run", "plot", "render", "export"]
    for words in given:
        if words[0] != "render":
            done = pliant(*words)
            assert done.code == 0, done.err
            assert "warning" not in done.out + done.err
    tip = pl.load("beam.pliant").series
    assert np.abs(tip["tip.y"] - 0.05).max() < 0.01 * 0.1
    assert tip["tip.z"].min() == pytest.approx(QUADRATIC_TIP, rel=0.05)
    assert (folder / "tip.png").stat().st_size > 5000
    assert len(list(folder.glob("beam_*.vtu"))) == len(pl.load("beam.pliant"))


@pytest.mark.slow
def test_the_movie_of_the_starter_beam(pliant: Pliant, folder: Path) -> None:
    pytest.importorskip("pyvista")
    for words in readme_commands():
        if words[0] in ("new", "run", "render"):
            assert pliant(*words).code == 0
    assert (folder / "beam.mp4").stat().st_size > 10_000
