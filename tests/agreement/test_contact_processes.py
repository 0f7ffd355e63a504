"""Contacts that come and go, cracks, rigid bodies, bodies that are created and removed: the same bytes in
fresh processes, with one thread or two, in one go or resumed."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pliant

SCENE = """
schema = 1
[time]
duration = 0.14
fps = 50
[[bodies]]
name = "bar"
shape = { box = { size = [0.8, 0.2, 0.2] } }
edge = 0.1
model = "lattice"
material = { young = 1e6, poisson = 0.25, density = 1000, damping = 1e-4, strength = 1e4 }
position = [-0.3, 0, 0.35]
velocity = [0, 0, -3]
[[bodies]]
name = "block"
shape = { box = { size = [0.2, 0.2, 0.3] } }
edge = 0.1
model = "rigid"
material = { young = 1e6, poisson = 0.25, density = 1000 }
[[bodies]]
name = "late"
shape = { sphere = { radius = 0.1 } }
edge = 0.05
model = "rigid"
material = { young = 1e6, poisson = 0.25, density = 1000 }
position = [0.1, 0.1, 0.75]
velocity = [0, 0, -4]
[[actions]]
type = "gravity"
[[actions]]
type = "ground"
[[actions]]
type = "create"
body = "late"
at = 0.04
[[actions]]
type = "remove"
select = { body = "bar", box = { min = [-1, -1, -1], max = [-0.2, 1, 1] } }
at = 0.09
"""

FOLDED = """
schema = 1
[time]
duration = 0.14
fps = 50
[contact]
self = true
[[bodies]]
name = "strip"
shape = { box = { size = [0.6, 0.1, 0.05] } }
edge = 0.05
model = "fem"
material = { young = 1e5, poisson = 0.3, density = 1000, damping = 1e-3, friction = 0.4 }
rotation = { axis = "y", degrees = -80 }
position = [0.1, 0.05, 0.02]
velocity = [0, 0, -4]
[[bodies]]
name = "base"
shape = { box = { size = [0.5, 0.4, 0.2] } }
edge = 0.05
model = "lattice"
material = { young = 1e6, poisson = 0.25, density = 1000, damping = 1e-4, friction = 0.4 }
position = [0, -0.1, -0.2]
[[bodies]]
name = "ball"
shape = { sphere = { radius = 0.08 } }
edge = 0.04
model = "efg"
material = { young = 2e5, poisson = 0.3, density = 1000, friction = 0.4 }
position = [0.4, 0.1, 0.085]
velocity = [-2, 0, -1]
[[actions]]
type = "gravity"
[[actions]]
type = "fix"
select = { body = "base", box = { min = [-1, -1, -1], max = [1, 1, -0.14] } }
"""

STOPPED = """
import sys
from pathlib import Path
import pliant as pl
from pliant.run import runner
from stopping import Stop
runner.CHECKPOINT_SECONDS = 0.0
try:
    pl.read(sys.argv[1]).run(to=Path(sys.argv[2]), progress=Stop(5))
except KeyboardInterrupt:
    pass
"""


def child(*words: str, threads: int) -> None:
    home = str(Path(pliant.__path__[0]).resolve().parent)
    paths = os.pathsep.join(
        [home, str(Path(__file__).resolve().parents[1])]
    )  # stopping.py is among the tests
    environment = os.environ | {"PYTHONPATH": paths, "NUMBA_NUM_THREADS": str(threads)}
    command = [sys.executable, *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def digest(run: Path) -> str:
    found = hashlib.sha256()
    for frame in pliant.load(run).frames:
        found.update(frame.positions.tobytes())
    return found.hexdigest()


def runs(text: str, folder: Path) -> tuple[Path, Path]:
    """A run in one go with one thread, and one that is stopped with two threads and resumed with one."""
    scene = folder / "scene.toml"
    scene.write_text(text)
    one, again = (folder / f"{name}.pliant" for name in ("one", "again"))
    child("-m", "pliant", "run", str(scene), "-o", str(one), threads=1)
    child("-c", STOPPED, str(scene), str(again), threads=2)
    child("-m", "pliant", "resume", str(again), threads=1)
    assert len(pliant.load(one).frames) == len(pliant.load(again).frames) == 8
    return one, again


def test_fresh_processes_make_the_same_bytes(tmp_path: Path) -> None:
    one, again = runs(SCENE, tmp_path)
    versions = [frame.version for frame in pliant.load(one).frames]
    assert versions[-1] >= 3  # it broke, something came and something went
    assert digest(one) == digest(again)


def test_edges_overlaps_and_smooth_surfaces_make_the_same_bytes(tmp_path: Path) -> None:
    one, again = runs(FOLDED, tmp_path)
    assert digest(one) == digest(again)
