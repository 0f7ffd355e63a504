"""The same bytes of runs with barrier contact: for one thread and two, killed inside a step in the midst of
contact and resumed. In fresh processes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import pliant as pl
from stopping import assert_same

SCENE = """
schema = 1
[time]
duration = 0.16
fps = 50
step = 0.01
integrator = "INTEGRATOR"
[contact]
method = "barrier"
[[bodies]]
name = "low"
model = "fem"
material = { young = "50 kPa", poisson = 0.3, density = 1000, friction = 0.3 }
shape = { box = { size = [0.4, 0.1, 0.1], divisions = [12, 3, 3] } }
position = [0, 0, 0.01]
[[bodies]]
name = "high"
model = "fem"
material = { young = "50 kPa", poisson = 0.3, density = 1000, friction = 0.3 }
shape = { box = { size = [0.1, 0.4, 0.1], divisions = [3, 12, 3] } }
position = [0.15, -0.15, 0.13]
velocity = [0, 0, -3]
[[bodies]]
name = "brick"
model = "rigid"
material = { young = 1e9, poisson = 0.3, density = 600, friction = 0.5 }
shape = { box = { size = [0.1, 0.1, 0.1], divisions = [2, 2, 2] } }
position = [0.15, 0, 0.26]
velocity = [0, 0, -3]
[[actions]]
type = "gravity"
[[actions]]
type = "ground"
friction = 0.5
"""

PARALLEL = """
from pliant.contact.barrier import broad_kernels, ccd_kernels, stencil_kernels
for module in (broad_kernels, ccd_kernels, stencil_kernels):
    module.SERIAL_ROWS = 1  # the parallel versions, though the scene is small
"""

RUN = (
    PARALLEL
    + """
import sys
from pliant.run import runner
from pliant.scene.load import read
runner.run_scene(read(sys.argv[1]), sys.argv[2], threads=int(sys.argv[3]))
"""
)

KILLED = """
import os, signal, sys
from pliant.contact.barrier.barrier_contact import BarrierContact
from pliant.integrators.implicit.lbfgs import Lbfgs
from pliant.run import runner
from pliant.scene.load import read

runner.CHECKPOINT_SECONDS = 0.0
steps, moves, commit, taken = [], [], BarrierContact.commit, Lbfgs.taken

def committed(self, *words):
    commit(self, *words)
    steps.append(len(self._potential.history.keys))

def move(self, x, g):
    moves.append(len(steps))
    if len(steps) == 9 and moves.count(9) > 3 and steps[-1] > 10:  # in a solve, with friction in contact
        os.kill(os.getpid(), signal.SIGKILL)
    return taken(self, x, g)

BarrierContact.commit, Lbfgs.taken = committed, move
runner.run_scene(read(sys.argv[1]), sys.argv[2])
"""


def fresh(*words: str, threads: int = 2) -> subprocess.CompletedProcess[str]:
    """Python in a fresh process."""
    environment = os.environ | {"NUMBA_NUM_THREADS": str(threads)}
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, env=environment, timeout=400, check=False
    )


@pytest.mark.parametrize("integrator", ["implicit-euler", "tr-bdf2"])
def test_threads_kill_and_resume_in_contact(tmp_path: Path, integrator: str) -> None:
    scene = tmp_path / "bars.toml"
    scene.write_text(SCENE.replace("INTEGRATOR", integrator))
    for threads in (1, 2):
        ended = fresh("-c", RUN, str(scene), str(tmp_path / f"{threads}.pliant"), str(threads))
        assert ended.returncode == 0, ended.stderr
    whole = pl.load(tmp_path / "2.pliant")
    assert whole.series["energy.contact"].max() > 0.0
    assert_same(whole, pl.load(tmp_path / "1.pliant"))
    killed = tmp_path / "killed.pliant"
    ended = fresh("-c", KILLED, str(scene), str(killed))
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert 1 < len(pl.load(killed)) < len(whole)
    ended = fresh("-m", "pliant.cli", "resume", str(killed), threads=1)
    assert ended.returncode == 0, ended.stderr
    assert_same(whole, pl.load(killed))
