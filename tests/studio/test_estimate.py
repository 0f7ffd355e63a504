"""Estimates of size before anything is built, and of the pace of what is."""

from itertools import count
from pathlib import Path

import numpy as np
import pytest

from pliant.scene import run_time
from pliant.scene.check import check
from pliant.scene.load import parse
from pliant.studio.estimate import Estimates, pace
from pliant.studio.take import Take

SCENE = """
schema = 1
[time]
integrator = "leapfrog"
[[bodies]]
name = "a"
shape = { box = { size = [0.4, 0.2, 0.2] } }
edge = EDGE
model = "MODEL"
material = { young = 1e5, poisson = 0.3, density = 1000 }
"""


def estimate(edge: float) -> dict[str, float]:
    (found,) = Estimates().of(SCENE.replace("EDGE", str(edge)).replace("MODEL", "mass-spring"), Path())
    return found


def test_half_the_edge_means_eight_times_the_particles() -> None:
    """By 1.2 V / h^3 + 0.6 A / h^2 particles, V = 0.016 m3 and A = 0.4 m2."""
    for edge in (0.02, 0.01):
        assert estimate(edge)["particles"] == pytest.approx(1.2 * 0.016 / edge**3 + 0.6 * 0.4 / edge**2)


def test_boxes_with_divisions_are_counted() -> None:
    text = SCENE.replace("edge = EDGE\n", "").replace("MODEL", "fem")
    text = text.replace("0.2] }", "0.2], divisions = [4, 2, 2] }")
    (found,) = Estimates().of(text, Path())
    assert found["particles"] == 5 * 3 * 3


@pytest.mark.parametrize("integrator", ["leapfrog", "implicit-euler", "auto"])
def test_the_pace_of_a_take_is_what_check_says(
    tmp_path: Path, integrator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By clocks that go on by 10 ms whenever they are read: both count the same steps and frames."""
    ticks = count(start=0.0, step=0.01)
    monkeypatch.setattr(run_time, "_clocks", lambda: np.full(2, next(ticks)))
    text = SCENE.replace("EDGE", "0.05").replace("MODEL", "fem").replace("leapfrog", integrator)
    scene = parse(text, tmp_path, "scene")
    take = Take(scene, scene.structures(), tmp_path / "take.pliant", False)
    check(scene)  # compiles
    said = check(scene).wall / scene.time.duration
    found = pace(take, lambda: None)
    assert found["ratio"] == pytest.approx(said, rel=0.05)
    assert found["explicit"] == (integrator != "implicit-euler")
    assert take.frame == 0, "the take itself has not moved"


def test_timing_ends_when_somebody_speaks(tmp_path: Path) -> None:
    scene = parse(SCENE.replace("EDGE", "0.05").replace("MODEL", "fem"), tmp_path, "scene")
    take = Take(scene, scene.structures(), tmp_path / "take.pliant", False)
    steps = 0

    def between() -> None:
        nonlocal steps
        steps += 1
        if steps == 3:
            raise KeyError("a command")

    with pytest.raises(KeyError):
        pace(take, between)
    assert steps == 3
