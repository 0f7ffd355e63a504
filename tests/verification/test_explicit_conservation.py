"""Free spin and long oscillation at the automatic explicit step: energy, momenta, frequency."""

import numpy as np
import pytest
from bodies import block, simulate, values

from pliant.actions import Fix
from pliant.core.where import plane

MODELS = ["mass-spring", "fem", "cpm1", "cpm2", "efg", "lattice"]
SOFT = {"young": 1e5, "poisson": 0.0, "density": 1000.0}


@pytest.mark.parametrize("model", [*MODELS, "rigid", "multires"])
def test_ten_turns_keep_energy_and_momenta(model: str) -> None:
    """Two turns a second about an axis that is none of the body's: centrifugal forces make it ring."""
    body = block((4, 2, 2), model=model, material={**SOFT, "poisson": 0.3}, edge=0.1, spin=(4.0, 2.0, 11.7))
    simulation = simulate([body], [], seconds=0.02)
    start = values(simulation)
    for _ in range(250):
        simulation.advance()
    end = values(simulation)
    assert abs(end["energy.unexplained"]) < 1e-3 * start["energy.kinetic"]
    assert end["energy.kinetic"] + end["energy.elastic"] == pytest.approx(start["energy.total"], rel=0.01)
    before, after = (np.array([row[f"angular.{axis}"] for axis in "xyz"]) for row in (start, end))
    assert np.abs(after - before).max() < 1e-10 * np.linalg.norm(before)
    assert max(abs(end[f"momentum.{axis}"]) for axis in "xyz") < 1e-10


@pytest.mark.parametrize("model", [*MODELS, "multires"])
def test_a_bar_oscillates_a_hundred_times(model: str) -> None:
    """Along its axis, held at one end, at strains of 2 %: no loss of energy, one frequency. Closed form for
    nu = 0: :math:`f = \\sqrt{E/\\rho} / 4L`, within 1 % for fem on six cells, and for multires where all are
    simulated."""
    material = {**SOFT, "poisson": 0.25} if model == "mass-spring" else SOFT
    found = {"type": "multires", "detail": "finest"} if model == "multires" else model
    bar = block((6, 1, 1), model=found, material=material, edge=0.1)
    simulation = simulate([bar], [Fix(None, plane("x", "min"))], seconds=0.02)
    world = simulation.system.world
    along = (world.rest[:, 0] - world.rest[:, 0].min()) / np.ptp(world.rest[:, 0])
    world.v[:, 0] = np.where(world.inverse_mass[:, 0] > 0.0, 0.2 * np.sin(0.5 * np.pi * along), 0.0)
    simulation.start()
    given = 0.5 * float(np.sum(world.mass[:, None] * world.v**2))
    end, tip, unexplained = along > 0.99, [], []
    for _ in range(round(50 * 100 / (10.0 / 2.4))):
        simulation.advance()
        tip.append(float((world.x - world.rest)[end, 0].mean()))
        unexplained.append(values(simulation)["energy.unexplained"])
    assert np.abs(unexplained).max() < 1e-3 * given
    moved = np.array(tip) - np.mean(tip)
    rising = np.flatnonzero((moved[:-1] < 0.0) & (moved[1:] >= 0.0))
    times = (rising - moved[rising] / (moved[rising + 1] - moved[rising])) / 50.0
    periods = np.diff(times)
    assert len(periods) > 80
    assert periods[:20].mean() == pytest.approx(periods[-20:].mean(), rel=0.01)
    if model in ("fem", "multires"):
        assert periods.mean() == pytest.approx(0.24, rel=0.01)
