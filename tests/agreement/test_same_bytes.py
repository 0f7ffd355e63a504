"""The same bytes: for any number of threads, and after any kill and resume. In fresh processes."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import pliant as pl

BUSY = """
schema = 1
title = "everything that has a memory"
[time]
duration = 0.6
fps = 100
[record]
velocities = true
[[bodies]]
name = "cube"
shape = { box = { size = [0.2, 0.2, 0.2], divisions = [9, 9, 9] } }
material = { young = "20 kPa", poisson = 0.3, density = 1000, damping = 1e-4 }
position = [0, 0, 0.002]
[[bodies]]
name = "bar"
shape = { box = { size = [0.4, 0.1, 0.1], divisions = [8, 2, 2] } }
material = { young = "20 kPa", poisson = 0.4, density = 1000 }
position = [1, 0, 0.5]
[[actions]]
type = "gravity"
[[actions]]
type = "ground"
friction = 0.3
[[actions]]
type = "damping"
rate = 1.0
[[actions]]
type = "volume-constraint"
body = "cube"
[[actions]]
type = "volume-constraint"
body = "bar"
per = "node"
[[actions]]
type = "fix"
select = { body = "bar", plane = { axis = "x", at = "min" } }
until = 0.3
[[actions]]
type = "move"
from = 0.3
until = 0.5
select = { body = "bar", plane = { axis = "x", at = "max" } }
velocity = [0, 0, 0.4]
[[actions]]
type = "impulse"
at = 0.25
value = [0, 0.4, 0]
select = { body = "cube", all = true }
[[actions]]
type = "obstacle"
sphere = { radius = 0.05 }
keys = [{ time = 0, value = [0.1, 0.1, 0.3] }, { time = 0.3, value = [0.1, 0.1, 0.2] }]
[[measures]]
type = "probe"
name = "tip"
every = "step"
select = { body = "bar", plane = { axis = "x", at = "max" } }
[[measures]]
type = "flux"
plane = { axis = "x", at = 1.2 }
body = "bar"
"""


def pliant(*arguments: str, threads: int = 2) -> subprocess.Popen[str]:
    environment = os.environ | {"NUMBA_NUM_THREADS": str(threads)}
    return subprocess.Popen(
        [sys.executable, "-m", "pliant.cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )


def finish(process: subprocess.Popen[str]) -> None:
    out, _ = process.communicate(timeout=240)
    assert process.returncode == 0, out


def digest(folder: Path) -> dict[str, str]:
    """Hashes of all that a run is about: frames and series."""
    files = [*sorted(folder.glob("frames/**/c*")), *sorted(folder.glob("series/**/c*"))]
    assert len(files) > 100
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scene run through without a break."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "busy.toml").write_text(BUSY)
    finish(pliant("run", str(folder / "busy.toml"), "-o", str(folder / "whole.pliant")))
    return folder


def test_the_scene_moves_and_touches_everything(whole: Path) -> None:
    run = pl.load(whole / "whole.pliant")
    assert run.state == "done"
    assert len(run.frames) == 61
    moved = np.abs(run.frames[-1].positions - run.frames[0].positions).max()
    assert 0.01 < moved < 2.0
    assert np.abs(run.series["obstacle.z"]).max() > 0.1
    assert run.series["ground.z"].min() < -1.0
    assert np.abs(run.series["volume.cube"] / run.series["volume.cube"][0] - 1).max() < 1e-9


def test_one_and_two_threads_give_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "one.pliant")
    finish(pliant("run", str(whole / "busy.toml"), "-o", out, "--threads", "1", threads=1))
    assert digest(tmp_path / "one.pliant") == digest(whole / "whole.pliant")


def test_killed_at_random_instants_and_resumed_the_bytes_are_the_same(whole: Path, tmp_path: Path) -> None:
    """One run, killed again and again: each time every reported frame is there; in the end, the bytes."""
    expected = digest(whole / "whole.pliant")
    folder = tmp_path / "killed.pliant"
    dice = random.Random(7)
    kills = 0
    process = pliant("run", str(whole / "busy.toml"), "-o", str(folder))
    while kills < 6:
        while not folder.exists() and process.poll() is None:
            time.sleep(0.01)
        before = len(pl.load(folder))
        time.sleep(dice.uniform(0.0, 2.5))
        reported = len(pl.load(folder))
        assert reported >= before
        process.kill()
        process.communicate()
        kills += 1
        run = pl.load(folder)
        assert len(run) >= reported
        for frame in run.frames:
            assert np.isfinite(frame.positions).all()
        if run.state == "done":
            break
        process = pliant("resume", str(folder), threads=1 + kills % 2)
    if process.returncode is None:
        finish(process)
    assert kills >= 3
    assert digest(folder) == expected


def test_ctrl_c_ends_cleanly_and_resumes(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "stopped.pliant"
    process = pliant("run", str(whole / "busy.toml"), "-o", str(folder))
    while not folder.exists() or len(pl.load(folder)) < 3:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130, out
    assert "Traceback" not in out
    assert "resume" in out
    assert pl.load(folder).state == "interrupted"
    finish(pliant("resume", str(folder)))
    assert digest(folder) == digest(whole / "whole.pliant")
