"""Estimates of size and cost, before anything is built."""

from pathlib import Path

import pytest

from pliant.studio.estimate import Estimates

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


def estimate(edge: float, integrator: str = "leapfrog", young: str = "1e5") -> dict[str, float]:
    text = SCENE.replace("EDGE", str(edge)).replace("MODEL", "mass-spring")
    text = text.replace("leapfrog", integrator).replace("1e5", young)
    (found,) = Estimates().of(text, Path())
    return found


def test_half_the_edge_means_eight_times_the_particles_and_twice_the_steps() -> None:
    """By 1.2 V / h^3 + 0.6 A / h^2 particles, V = 0.016 m3 and A = 0.4 m2, and steps of h / c."""
    coarse, fine = estimate(0.02), estimate(0.01)
    assert coarse["particles"] == pytest.approx(1.2 * 0.016 / 0.02**3 + 0.6 * 0.4 / 0.02**2)
    assert fine["seconds"] / coarse["seconds"] == pytest.approx(2 * fine["particles"] / coarse["particles"])


def test_boxes_with_divisions_are_counted() -> None:
    text = SCENE.replace("edge = EDGE\n", "").replace("MODEL", "fem")
    text = text.replace("0.2] }", "0.2], divisions = [4, 2, 2] }")
    (found,) = Estimates().of(text, Path())
    assert found["particles"] == 5 * 3 * 3


def test_explicit_steps_shrink_with_the_speed_of_sound_and_implicit_ones_do_not() -> None:
    for integrator, ratio in (("leapfrog", 2.0), ("implicit-euler", 1.0)):
        soft, hard = (estimate(0.02, integrator=integrator, young=young) for young in ("1e5", "4e5"))
        assert hard["seconds"] / soft["seconds"] == pytest.approx(ratio)
