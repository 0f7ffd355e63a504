"""Where the step changes, bodies keep the energy that leapfrog conserves, and their momenta."""

import numpy as np
import pytest
from bodies import block, simulate

import pliant as pl
from pliant.simulation.simulation import Simulation
from pliant.simulation.step_change import MOST_TAKEN

PUSH = pl.Impulse(None, pl.where.plane("x", "min"), value=(0.3, 0.1, 0.2))
FIX = pl.Fix(None, pl.where.plane("x", "max"))


def conserved(simulation: Simulation) -> float:
    """K + U - C [J], what leapfrog conserves for linear forces."""
    return sum(simulation.system.energies()) + simulation.system.energy_ledger.scheme_energy()


def momenta(simulation: Simulation) -> np.ndarray:  # type: ignore[type-arg]
    world = simulation.system.world
    p = world.mass[:, None] * world.v
    return np.concatenate([p.sum(axis=0), np.cross(world.x, p).sum(axis=0)])


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("factor", [0.5, 0.8, 1.25])
def test_another_step_leaves_energy_and_momenta(held: bool, factor: float) -> None:
    """K falls by the fall of C = dt^2/8 sum f^2/m, by a change of the deformation alone."""
    simulation = simulate([block((4, 2, 2), model="fem")], [PUSH, *([FIX] if held else [])], seconds=0.1)
    system, dt = simulation.system, simulation.plan.seconds
    world, ledger = system.world, system.energy_ledger
    squares = np.sum(world.inverse_mass * world.f**2)
    before, momentum, booked = conserved(simulation), momenta(simulation), ledger.totals.numerical
    kinetic = world.kinetic_energy()
    simulation.step_change.begin_step(system, simulation.integrator, factor * dt)
    fall = (1.0 - factor**2) * dt**2 / 8.0 * squares
    assert abs(fall) > 1e-4 * kinetic
    assert kinetic - world.kinetic_energy() == pytest.approx(fall, rel=1e-9)
    assert conserved(simulation) == pytest.approx(before, rel=1e-12)
    assert ledger.totals.numerical == pytest.approx(booked, abs=1e-12 * kinetic)
    if not held:
        assert momenta(simulation) == pytest.approx(momentum, abs=1e-12 * np.abs(momentum).max())


def test_what_is_almost_at_rest_gives_no_more_than_it_has() -> None:
    """A body under load that hardly moves keeps half of its kinetic energy; the rest is numerical."""
    simulation = simulate([block((4, 2, 2), model="fem")], [FIX, pl.Gravity()], seconds=0.02)
    system, ledger = simulation.system, simulation.system.energy_ledger
    system.world.v *= 1e-3
    kinetic, before, booked = system.world.kinetic_energy(), conserved(simulation), ledger.totals.numerical
    simulation.step_change.begin_step(system, simulation.integrator, 0.5 * simulation.plan.seconds)
    assert system.world.kinetic_energy() == pytest.approx((1.0 - MOST_TAKEN) * kinetic, rel=1e-9)
    gained = conserved(simulation) - before
    assert gained > 0.0
    assert booked - ledger.totals.numerical == pytest.approx(gained, rel=1e-9)


def test_free_fall_does_not_depend_on_the_step() -> None:
    """Gravity deforms nothing: another step leaves the velocities of a falling body as they are."""
    simulation = simulate([block((2, 1, 1), model="fem")], [pl.Gravity()], seconds=0.1)
    before = simulation.system.world.v.copy()
    simulation.step_change.begin_step(simulation.system, simulation.integrator, 0.5 * simulation.plan.seconds)
    assert np.abs(simulation.system.world.v - before).max() < 1e-12
