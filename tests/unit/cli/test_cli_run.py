"""run, resume, info and export, from a scene file to files."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import Pliant

import pliant as pl
from pliant.core.errors import Interrupted
from pliant.run import progress
from pliant.simulation.time_step import StepPlan

INFO = {
    "frames",
    "duration",
    "step",
    "step_reason",
    "wall",
    "cpu",
    "real_time_factor",
    "state",
    "bodies",
    "series",
}


def interrupt_at(frame: int, monkeypatch: pytest.MonkeyPatch) -> None:
    real = progress.PlainProgress.frame

    def stop(self: progress.PlainProgress, done: int, frames: int, simulated: float, wall: float) -> None:
        real(self, done, frames, simulated, wall)
        if done == frame:
            raise Interrupted("Interrupted (SIGINT).")

    monkeypatch.setattr(progress.PlainProgress, "frame", stop)


def test_a_run_goes_beside_us_under_the_name_of_its_scene(pliant: Pliant, scene: Path) -> None:
    result = pliant("run", str(scene))
    assert result.code == 0, result.err
    assert result.out.startswith("cube.pliant: 6 frames, 0.1 s simulated in ")
    assert "step " in result.err
    assert "frame 6/6  t = 0.1 s  " in result.err
    run = pl.load("cube.pliant")
    assert (run.state, len(run)) == ("done", 6)
    fallen = run.frames[0].positions[:, 2] - run.frames[-1].positions[:, 2]
    assert fallen == pytest.approx(0.5 * 9.81 * 0.1**2, rel=0.01)


def test_options_change_the_scene_that_is_run_and_kept(pliant: Pliant, scene: Path) -> None:
    result = pliant(
        "run", str(scene), "-o", "other.pliant", "--duration", "0.04", "--fps", "100",
        "--integrator", "verlet", "--set", "actions.gravity.acceleration=1",
        "--set", "bodies.cube.material.young=1 MPa", "--json",
    )  # fmt: skip
    assert (result.code, result.err) == (0, "")
    assert result.json.keys() >= INFO
    assert (result.json["frames"], result.json["duration"], result.json["state"]) == (5, 0.04, "done")
    kept = pl.read("other.pliant/scene.toml")
    assert (kept.time.fps, kept.time.integrator.kind) == (100, "verlet")
    assert kept.bodies[0].material.young == 1e6
    assert kept.actions[0].acceleration.at(0) == 1  # type: ignore[attr-defined]


def test_the_scene_that_is_kept_runs_to_the_same_bytes(pliant: Pliant, scene: Path) -> None:
    assert pliant("run", str(scene), "-q").code == 0
    assert pliant("run", "cube.pliant/scene.toml", "-o", "again.pliant", "-q", "--threads", "1").code == 0
    first, again = pl.load("cube.pliant"), pl.load("again.pliant")
    assert all(
        np.array_equal(a.positions, b.positions) for a, b in zip(first.frames, again.frames, strict=True)
    )


def test_quiet_says_nothing(pliant: Pliant, scene: Path) -> None:
    result = pliant("run", str(scene), "--quiet")
    assert (result.code, result.out, result.err) == (0, "", "")


def test_a_run_that_is_there_is_kept_unless_forced(pliant: Pliant, scene: Path) -> None:
    assert pliant("run", str(scene), "-q").code == 0
    before = pl.load("cube.pliant").manifest["created"]
    again = pliant("run", str(scene))
    assert again.code == 2
    assert "cube.pliant exists" in again.err
    assert "--force" in again.err
    assert pl.load("cube.pliant").manifest["created"] == before
    assert pliant("run", str(scene), "--force", "--duration", "0.02", "-q").code == 0
    assert len(pl.load("cube.pliant")) == 2


def test_a_run_that_diverges_exits_with_3_and_keeps_its_frames(pliant: Pliant, scene: Path) -> None:
    steady = ("--set", "time.refine=false")  # otherwise the step is shortened, and the run ends well
    result = pliant("run", str(scene), "--step", "0.02", "--duration", "20", *steady)
    assert result.code == 3
    assert result.out == ""
    assert "error: Stopped at t = " in result.err
    assert "body 'cube'" in result.err
    assert "hint: The step 0.02 s is above the stable" in result.err
    run = pl.load("cube.pliant")
    assert run.state == "diverged"
    assert np.isfinite(run.frames[-1].positions).all()
    info = pliant("info", "cube.pliant", "--json").json
    assert (info["state"], info["frames"]) == ("diverged", len(run))


def test_an_interrupted_run_exits_with_130_and_is_resumed_to_the_same_bytes(
    pliant: Pliant, scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pliant("run", str(scene), "-o", "whole.pliant", "-q").code == 0
    interrupt_at(3, monkeypatch)
    stopped = pliant("run", str(scene))
    assert stopped.code == 130
    assert "error: Interrupted" in stopped.err
    assert "pliant resume" in stopped.err
    monkeypatch.undo()
    monkeypatch.chdir(scene.parent)
    assert pliant("info", "cube.pliant", "--json").json["state"] == "interrupted"
    resumed = pliant("resume", "cube.pliant", "--json")
    assert (resumed.code, resumed.err) == (0, "")
    assert (resumed.json["frames"], resumed.json["state"]) == (6, "done")
    whole, again = pl.load("whole.pliant"), pl.load("cube.pliant")
    assert all(
        np.array_equal(a.positions, b.positions) for a, b in zip(whole.frames, again.frames, strict=True)
    )
    finished = pliant("resume", "cube.pliant")
    assert finished.code == 2
    assert "complete: there is nothing to resume" in finished.err


def test_a_run_whose_scene_was_changed_is_not_resumed(
    pliant: Pliant, scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_at(3, monkeypatch)
    assert pliant("run", str(scene)).code == 130
    monkeypatch.undo()
    monkeypatch.chdir(scene.parent)
    kept = Path("cube.pliant/scene.toml")
    text = kept.read_text()
    kept.write_text(text.replace('type = "gravity"', 'type = "gravity"\nacceleration = 1.0'))
    refused = pliant("resume", "cube.pliant")
    assert refused.code == 2
    assert "scene.toml was changed since the run began" in refused.err
    assert len(pl.load("cube.pliant")) == 3
    kept.write_text(text)
    assert pliant("resume", "cube.pliant", "-q").code == 0
    assert len(pl.load("cube.pliant")) == 6


def test_a_cut_s_mesh_is_found_again_from_anywhere_and_must_be_the_same(
    pliant: Pliant, scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = pl.shapes.box(0.5, 2.0, 4.0).surface()
    lines = [
        *(f"v {x} {y - 0.5} {z}" for x, y, z in box.points),
        *(f"f {a} {b} {c}" for a, b, c in box.triangles + 1),
    ]
    mesh = scene.parent / "knife.obj"
    mesh.write_text("\n".join(lines))
    scene.write_text(scene.read_text() + '[[actions]]\ntype = "cut"\nmesh = "knife.obj"\nat = 0.05\n')
    interrupt_at(2, monkeypatch)
    assert pliant("run", scene.name).code == 130
    monkeypatch.undo()
    elsewhere = scene.parent / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    good = mesh.read_text()
    mesh.write_text(good.replace("v 0.5", "v 0.4"))
    changed = pliant("resume", "../cube.pliant")
    assert changed.code == 2
    assert "The mesh knife.obj of action 'cut' has changed since the run began" in changed.err
    mesh.write_text(good)
    resumed = pliant("resume", "../cube.pliant", "-q")
    assert resumed.code == 0, resumed.err
    assert len(pl.load("../cube.pliant")) == 6


def test_ctrl_c_stops_a_run_and_says_how_to_go_on(pliant: Pliant, scene: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "pliant.cli", "run", str(scene), "--duration", "100"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "/5001" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert "error: Interrupted (SIGINT)." in rest
    assert "pliant resume" in rest
    assert "Traceback" not in rest
    stopped = pliant("info", "cube.pliant", "--json").json
    assert stopped["state"] == "interrupted"
    assert 1 < stopped["frames"] < 5001


def test_info_tells_what_a_run_holds(pliant: Pliant, scene: Path) -> None:
    pliant("run", str(scene), "-q")
    found = pliant("info", "cube.pliant", "--json").json
    assert found.keys() >= INFO
    (body,) = found["bodies"]
    assert (body["name"], body["model"], body["particles"], body["cells"]) == ("cube", "mass-spring", 27, 48)
    assert body["mass"] == pytest.approx(1200)
    assert body["volume"] == pytest.approx(1)
    assert {"time", "volume", "volume.cube", "energy.total", "momentum.z"} <= set(found["series"])
    text = pliant("info", "cube.pliant").out
    assert "done" in text
    assert "6 of 6" in text


def test_series_and_frames_are_exported(pliant: Pliant, scene: Path, folder: Path) -> None:
    pliant("run", str(scene), "-q")
    assert pliant("export", "cube.pliant", "series.csv").code == 0
    head, *rows = (folder / "series.csv").read_text().splitlines()
    assert head.startswith("time,")
    assert len(rows) == 6
    frames = pliant("export", "cube.pliant", "frame_%04d.obj", "--frames", "1:", "--every", "2", "--json")
    assert [Path(file).name for file in frames.json["files"]] == [f"frame_000{k}.obj" for k in (1, 3, 5)]
    again = pliant("export", "cube.pliant", "frame_%04d.obj", "--frames", "-1")
    assert again.code == 2
    assert "exist" in again.err
    assert pliant("export", "cube.pliant", "frame_%04d.obj", "--frames", "-1", "--force").code == 0


def test_plain_progress_says_how_far_and_how_fast(capsys: pytest.CaptureFixture[str]) -> None:
    lines = progress.PlainProgress()
    lines.note("watch out")
    lines.working(0.1, "filling")
    lines.working(0.2, "filling")
    lines.started(101, StepPlan(1e-3, 20, "as given", 1.0))
    lines.frame(52, 101, 0.02, 0.01)
    lines._last = -1e9
    lines.frame(53, 101, 0.04, 0.02)
    lines.finished("done", "")
    assert capsys.readouterr().err.splitlines() == [
        "note: watch out",
        "filling",
        "step 0.001 s: as given",
        "frame 53/101  t = 1.04 s  2 x real time  480 ms left".replace("480 ms", "0.48 s"),
    ]


def test_live_progress_draws_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with progress.progress_reporter(True) as live:
        assert isinstance(live, progress.LiveProgress)
        live.working(None, "compiling kernels")
        live.note("watch out")
        live.started(3, StepPlan(1e-3, 20, "as given", 1.0))
        live.frame(2, 3, 0.02, 0.01)
        live.frame(3, 3, 0.04, 0.02)
        live.finished("done", "")
    said = capsys.readouterr().err
    assert "watch out" in said
    assert "frame 3/3" in said


def test_a_run_warns_as_check_does_and_can_be_cited(pliant: Pliant, scene: Path) -> None:
    changes = ("--set", "bodies.cube.scale=1000", "--duration", "0.02")
    result = pliant("run", str(scene), *changes)
    assert result.code == 0, result.err
    assert "note: body 'cube' is 1000 m long" in result.err
    assert pliant("cite", "cube.pliant").out == pliant("cite", str(scene)).out


def test_resuming_with_other_versions_is_said(pliant: Pliant, scene: Path) -> None:
    assert pliant("run", str(scene), "-q").code == 0
    manifest = Path("cube.pliant") / "manifest.json"
    known = json.loads(manifest.read_text())
    known["versions"]["numba"] = "0.1"
    manifest.write_text(json.dumps(known))
    result = pliant("resume", "cube.pliant")
    assert "begun with numba 0.1 (now " in result.err
