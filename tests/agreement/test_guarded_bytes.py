"""The same bytes where the guard takes windows of steps again: for any number of threads, killed in the midst
of such a window, and for a take that is replayed. In fresh processes."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import pliant as pl
from pliant.run.live_session import LiveSession
from pliant.scene.load import parse
from pliant.scene.to_toml import scene_text, to_table_of
from stopping import assert_same

CUBE = """
schema = 1
[time]
duration = 0.2
fps = 50
[[bodies]]
name = "cube"
shape = { box = { size = [0.2, 0.2, 0.2] } }
edge = 0.06
model = "MODEL"
material = { young = 2e5, poisson = 0.3, density = 1000 }
[[measures]]
type = "energy"
"""
SIDE = {"body": "cube", "plane": {"axis": "x", "at": "min"}}
KICK = """[[actions]]
type = "impulse"
select = { body = "cube", plane = { axis = "x", at = "min" } }
value = [0, 0, VALUE]
"""

KILLED = """
FRAME = 0.02
import os, signal, sys
from pliant.run import runner
from pliant.scene.load import read
from pliant.simulation.energy_guard import EnergyGuard
from pliant.simulation.guard_messages import GuardMessages

runner.CHECKPOINT_SECONDS = 0.0
rejected, report, watch = [], GuardMessages.rejection, EnergyGuard.watch

def reject(self, time, guard):
    if time > FRAME:
        rejected.append(time)
    report(self, time, guard)

def end(self, forces):
    if rejected:  # in the last steps of the window, which is being taken again
        os.kill(os.getpid(), signal.SIGKILL)
    watch(self, forces)

GuardMessages.rejection, EnergyGuard.watch = reject, end
runner.run_scene(read(sys.argv[1]), sys.argv[2])
"""


def fresh(*words: str, threads: int = 2) -> subprocess.CompletedProcess[str]:
    """Python in a fresh process."""
    environment = os.environ | {"NUMBA_NUM_THREADS": str(threads)}
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, env=environment, timeout=400, check=False
    )


def pliant(*words: str, threads: int = 2) -> None:
    ended = fresh("-m", "pliant.cli", *words, threads=threads)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize(("model", "impulse"), [("mass-spring", "2"), ("cpm1", "5")])
def test_windows_that_are_taken_again(tmp_path: Path, model: str, impulse: str) -> None:
    scene = tmp_path / "kicked.toml"
    scene.write_text(CUBE.replace("MODEL", model) + KICK.replace("VALUE", impulse))
    pliant("run", str(scene), "-o", str(tmp_path / "whole.pliant"))
    assert "energy would rise" in (tmp_path / "whole.pliant" / "log.txt").read_text()
    whole = pl.load(tmp_path / "whole.pliant")
    assert whole.state == "done"
    pliant("run", str(scene), "-o", str(tmp_path / "one.pliant"), "--threads", "1", threads=1)
    assert_same(whole, pl.load(tmp_path / "one.pliant"))
    killed = tmp_path / "killed.pliant"
    ended = fresh("-c", KILLED, str(scene), str(killed))
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert 1 < len(pl.load(killed)) < len(whole)
    pliant("resume", str(killed), threads=1)
    assert_same(whole, pl.load(killed))


def test_a_take_with_windows_that_are_taken_again_replays(tmp_path: Path) -> None:
    """Kicked by hand between two frames; the saved scene runs in a fresh process with one thread."""
    scene = parse(CUBE.replace("MODEL", "mass-spring"))
    simulation = scene.simulation()
    simulation.start()
    live, taken, factors = LiveSession(scene, simulation), [], []
    for frame in range(scene.time.frames() - 1):
        if frame == 2:
            live.add({"type": "impulse", "select": SIDE, "value": [0.0, 0.0, 2.0]})
        live.before_frame()
        simulation.advance()
        taken.append(simulation.system.world.x.copy())
        assert simulation.guard is not None
        factors.append(simulation.guard.factor)
    assert max(factors) > 1.0
    table = to_table_of(replace(scene, time=replace(scene.time, step=simulation.plan.seconds), step=None))
    table["actions"] = live.tables()
    (tmp_path / "take.toml").write_text(scene_text(table))
    pliant("run", str(tmp_path / "take.toml"), "-o", str(tmp_path / "again.pliant"), threads=1)
    frames = list(pl.load(tmp_path / "again.pliant").frames)[1:]
    assert [frame.positions.tobytes() for frame in frames] == [x.tobytes() for x in taken]
