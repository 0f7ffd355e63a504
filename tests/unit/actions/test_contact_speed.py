"""A particle that hits the ground leaves it with the fraction of its speed that restitution gives."""

import numpy as np
import pytest
from bodies import block

import pliant as pl
from pliant.simulation.system import System

STEP = 1e-6


def falling(restitution: float) -> tuple[System, np.ndarray]:  # type: ignore[type-arg]
    """A block whose lowest particles have drifted half of a step's way into the ground; which those are."""
    body = block((1, 1, 1), position=(0.0, 0.0, -1e-6), velocity=(0.0, 0.0, -2.0))
    scene = pl.Scene([body], [pl.Ground(restitution=restitution, friction=0.0)], step=STEP)
    system = scene.simulation().system
    system.activate(0.0)
    system.project(0.0, STEP)
    return system, system.world.rest[:, 2] < 0.05


@pytest.mark.parametrize("restitution", [0.4, 1.0])
def test_speeds_after_an_impact(restitution: float) -> None:
    system, low = falling(restitution)
    world = system.world
    assert world.v[low, 2] == pytest.approx(2.0 * restitution, abs=1e-12)
    assert world.x[low, 2] == pytest.approx(1e-6 + 2.0 * restitution * STEP, abs=1e-15)
    assert np.array_equal(world.v[~low, 2], np.full((~low).sum(), -2.0))


def test_an_inelastic_impact_takes_two_steps() -> None:
    """First as far as the surface, with the velocity that takes it there; then it stops."""
    system, low = falling(0.0)
    world = system.world
    assert world.x[low, 2] == pytest.approx(0.0, abs=1e-15)
    assert world.v[low, 2] == pytest.approx(-1.0, abs=1e-9)
    world.x += STEP * world.v
    system.project(STEP, STEP)
    assert world.v[low, 2] == pytest.approx(0.0, abs=1e-9)
    assert world.x[low, 2] == pytest.approx(0.0, abs=1e-15)
    assert np.array_equal(world.v[~low, 2], np.full((~low).sum(), -2.0))


def test_what_starts_inside_is_moved_out_without_a_velocity() -> None:
    body = block((1, 1, 1), position=(0.0, 0.0, -1e-3))
    scene = pl.Scene([body], [pl.Ground(friction=0.0)], step=STEP)
    system = scene.simulation().system
    system.activate(0.0)
    system.project(0.0, STEP)
    low = system.world.rest[:, 2] < 0.05
    assert system.world.x[low, 2] == pytest.approx(0.0, abs=1e-15)
    assert not system.world.v.any()
