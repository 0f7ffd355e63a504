"""Groups of particles in scene files, and actions that are prepared when they start."""

from pathlib import Path

import numpy as np
import pytest

from pliant.core.errors import Interrupted, SelectionError
from pliant.run.progress import RunProgress
from pliant.run.runner import resume, run_scene
from pliant.scene.load import parse
from pliant.scene.to_toml import to_toml
from stopping import assert_same, stopped_and_resumed

TEXT = """
schema = 1
title = "groups"
[time]
duration = 0.2
fps = 50
[[bodies]]
name = "bar"
shape = { box = { size = [0.2, 0.1, 0.1], divisions = [2, 1, 1] } }
material = { young = 2e4, poisson = 0.3, density = 1000 }
groups = { tip = [11, 8], "left end" = [0] }
[[actions]]
type = "gravity"
[[actions]]
type = "fix"
select = { body = "bar", plane = { axis = "x", at = "min" } }
[[actions]]
type = "force"
select = { body = "bar", group = "tip" }
value = [0, 0.2, 0]
[[actions]]
type = "cut"
body = "bar"
plane = { axis = "x", at = 0.05 }
at = 0.08
late = true
[[actions]]
type = "fix"
select = { body = "bar", ids = [15] }
from = 0.12
late = true
"""


class Stopping(RunProgress):
    """Interrupts a run after some frames."""

    def __init__(self, after: int) -> None:
        self.after = after

    def frame(self, done: int, frames: int, simulated: float, wall: float) -> None:
        if done > self.after:
            raise Interrupted("stopped by the test")


def test_groups_stand_in_the_file_and_select_particles() -> None:
    scene = parse(TEXT)
    structure = scene.structures()[0]
    assert sorted(structure.groups) == ["left end", "tip"]
    np.testing.assert_array_equal(structure.groups["tip"], [8, 11])
    assert parse(to_toml(scene)).bodies[0].groups == scene.bodies[0].groups
    force = dict(scene.simulation().system.actions)["action 3 ('force')"]
    np.testing.assert_array_equal(force.rows, [8, 11])  # type: ignore[attr-defined]


def test_groups_that_do_not_fit_say_so() -> None:
    with pytest.raises(SelectionError, match=r"group 'tip' names particle 99, and there are 12"):
        parse(TEXT.replace("[11, 8]", "[99, 8]")).structures()
    with pytest.raises(SelectionError, match="has no group 'top'; its groups: left end, tip"):
        parse(TEXT.replace('group = "tip"', 'group = "top"')).simulation()


def test_a_late_action_sees_the_particles_that_are_there_then(tmp_path: Path) -> None:
    """Particle 15 comes with the cut at 0.08 s; at the beginning it cannot be selected."""
    with pytest.raises(SelectionError, match="15 is not one"):
        parse(TEXT.removesuffix("late = true\n")).simulation()
    run = run_scene(parse(TEXT), tmp_path / "whole.pliant")
    counts = [len(frame.positions) for frame in run.frames]
    assert counts[4] == 12
    assert counts[5] > 15
    held = np.array([frame.positions[15] for frame in run.frames[6:]])
    np.testing.assert_array_equal(held, held[[0] * len(held)])


@pytest.mark.parametrize("after", [3, 8])
def test_a_run_with_late_actions_resumes_to_the_same_bytes(tmp_path: Path, after: int) -> None:
    whole = run_scene(parse(TEXT), tmp_path / "whole.pliant")
    with pytest.raises(Interrupted):
        run_scene(parse(TEXT), tmp_path / "stopped.pliant", progress=Stopping(after))
    again = resume(tmp_path / "stopped.pliant")
    assert len(again) == len(whole) == 11
    for one, other in zip(whole.frames, again.frames, strict=True):
        assert one.positions.tobytes() == other.positions.tobytes()


CLAY = """
schema = 1
[time]
duration = 0.24
fps = 50
step = 5e-4
[[bodies]]
name = "low"
shape = { box = { size = [0.4, 0.2, 0.2] } }
edge = 0.1
model = "lattice"
material = { young = 5e4, poisson = 0.25, density = 1000, damping = 1e-3 }
[[bodies]]
name = "high"
shape = { box = { size = [0.2, 0.2, 0.2] } }
edge = 0.1
model = "lattice"
position = [0.1, 0, 0.2]
material = { young = 5e4, poisson = 0.25, density = 1000, damping = 1e-3 }
[[actions]]
type = "gravity"
[[actions]]
type = "ground"
[[actions]]
type = "remove"
select = { body = "low", box = { min = [0.3, -1, -1], max = [1, 1, 1] } }
at = 0.04
late = true
[[actions]]
type = "glue"
select = { body = "high", plane = { axis = "z", at = "min" } }
to = "low"
at = 0.06
late = true
[[actions]]
type = "pull"
select = { body = "high", plane = { axis = "z", at = "max" } }
target = [0.2, 0.1, 0.8]
stiffness = 400
from = 0.08
late = true
[[actions]]
type = "renormalise"
select = { body = "low", all = true }
at = 0.1
late = true
[[actions]]
type = "obstacle"
sphere = { radius = 0.05 }
keys = [{ time = 0.1, value = [-0.1, 0.1, 0.1] }, { time = 0.2, value = [0.05, 0.1, 0.1] }]
from = 0.1
late = true
[[actions]]
type = "remove"
body = "high"
at = 0.2
late = true
"""


@pytest.mark.parametrize("after", [3, 6, 9, 11])
def test_checkpoints_know_the_actions_that_joined_late(tmp_path: Path, after: int) -> None:
    """The run goes on from its last frame, behind late actions of all kinds, and not from before them."""
    whole = run_scene(parse(CLAY), tmp_path / "whole.pliant")
    again = stopped_and_resumed(parse(CLAY), tmp_path / "stopped.pliant", after)
    assert_same(whole, again)
