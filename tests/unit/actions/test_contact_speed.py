"""A particle that meets the ground leaves it with the share of its speed that restitution says."""

import numpy as np
import pytest
from bodies import block

import pliant as pl


@pytest.mark.parametrize("restitution", [0.0, 0.4, 1.0])
def test_speeds_after_an_impact(restitution: float) -> None:
    body = block((1, 1, 1), position=(0.0, 0.0, -1e-6), velocity=(0.0, 0.0, -2.0))
    scene = pl.Scene([body], [pl.Ground(restitution=restitution, friction=0.0)], step=1e-6)
    system = scene.simulation().system
    world = system.world
    system.activate(0.0)
    system.project(0.0, 1e-6)
    low = world.rest[:, 2] < 0.05
    assert world.v[low, 2] == pytest.approx(2.0 * restitution, abs=1e-12)
    assert np.array_equal(world.v[~low, 2], np.full((~low).sum(), -2.0))
