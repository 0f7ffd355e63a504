"""The first five minutes: README's two commands, ``pliant hello`` and the scene of ``pliant new``."""

import re
from pathlib import Path

import numpy as np
import pytest
from command_line import Pliant

import pliant as pl
from pliant.cli import hello

ROOT = Path(__file__).resolve().parents[3]
QUADRATIC_TIP = 0.29474  # [m] lowest tip.z of the starter beam with divisions [20, 4, 4], steps of 10 ms


def test_the_first_two_commands_are_one_line_each_in_an_environment_of_their_own() -> None:
    text = (ROOT / "README.md").read_text()
    assert text.count("\n") < 120
    first, second, *_ = re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M)
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


def test_the_starter_beam_hangs_straight_and_as_deep_as_a_finer_one(pliant: Pliant) -> None:
    assert pliant("new", "beam").code == 0
    checked = pliant("check", "beam.toml", "--json")
    assert checked.json["warnings"] == []
    assert pliant("run", "beam.toml", "-q").code == 0
    tip = pl.load("beam.pliant").series
    assert np.abs(tip["tip.y"] - 0.05).max() < 0.01 * 0.1
    assert tip["tip.z"].min() == pytest.approx(QUADRATIC_TIP, rel=0.05)
