"""A small run through the public API: what its folder says, the field of forces, and where it may go."""

import json
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.core.errors import Diverged, RunError


def scene(**given: object) -> pl.Scene:
    body = pl.Body(pl.shapes.box(0.2, 0.2, 0.2, divisions=(2, 2, 2)), name="cube")
    top = pl.Fix(body, pl.where.plane("z", "max"))
    return pl.Scene([body], [pl.Gravity(), top], [], **given)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> pl.Run:
    return scene().run(duration=0.04, to=tmp_path_factory.mktemp("runs") / "cube.pliant")


def test_the_manifest_says_how_to_make_the_run_again(run: pl.Run) -> None:
    told = json.loads((run.path / "manifest.json").read_text())
    assert {"versions", "inputs", "seed", "partitions", "step", "step_reason", "machine"} <= set(told)
    assert told["machine"]["cores"] >= 1
    assert told["machine"]["processor"]


def test_forces_within_a_body_sum_to_zero_and_pull_back_what_hangs(run: pl.Run) -> None:
    frame = run.frames[-1]
    assert "force" in frame.field_names("cube")
    force = frame.field("force")
    assert (force.per, force.unit, force.values.shape) == ("particle", "N", (27, 3))
    largest = np.abs(force.values).max()
    assert np.abs(force.values.sum(axis=0)).max() < 1e-12 * largest
    lowest = frame.positions[:, 2] < frame.positions[:, 2].min() + 0.05
    assert force.values[lowest, 2].sum() > 0.1 * largest
    assert np.abs(run.frames[0].field("force").values).max() < 1e-9 * largest


def test_an_empty_folder_is_used_when_told_to(run: pl.Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(RunError, match="not a pliant run; it is not changed"):
        scene().run(duration=0.02, to=empty)
    again = scene().run(duration=0.04, to=empty, force=True)
    assert again.frames[-1].positions.tobytes() == run.frames[-1].positions.tobytes()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("keep me")
    with pytest.raises(RunError, match="it is not changed"):
        scene().run(duration=0.02, to=tmp_path / "full", force=True)


def test_a_finished_run_in_the_way_is_not_said_to_go_on(run: pl.Run) -> None:
    with pytest.raises(RunError, match=r"exists\. --force replaces it\.$"):
        scene().run(duration=0.04, to=run.path)


def test_a_step_without_a_limit_is_not_called_stable(tmp_path: Path) -> None:
    growing = scene(integrator="explicit-euler", step=0.005)
    with pytest.raises(Diverged, match="has no stability limit to go by") as stopped:
        growing.run(duration=2.0, to=tmp_path / "grown.pliant")
    assert "inf" not in str(stopped.value)


def test_progress_is_shown_when_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene().run(duration=0.02, to=tmp_path / "told.pliant", progress=True)
    assert "frame 2/2" in capsys.readouterr().err
    scene().run(duration=0.02, to=tmp_path / "silent.pliant")
    assert capsys.readouterr().err == ""
