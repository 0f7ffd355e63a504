"""The energy ledger: identities that hold to rounding, and accounts with known sums."""

import numpy as np
import pytest
from bodies import block, simulate, values

from pliant.actions import Damping, Drag, Fix, Force, Gravity, Impulse, Pull, Renormalise, Sine
from pliant.core.curves import Curve
from pliant.core.where import all as everything
from pliant.core.where import plane
from pliant.simulation.simulation import Simulation

MODELS = ["mass-spring", "cpm1", "cpm2", "fem", "efg", "lattice"]
LOW = plane("x", "min")


def largest(simulation: Simulation) -> float:
    """The largest energy that moved so far [J]."""
    found = values(simulation)
    return float(found["energy.kinetic"] + found["energy.elastic"] + found["energy.dissipated"])


@pytest.mark.parametrize("model", MODELS)
def test_the_scheme_keeps_its_energy_exactly(model: str) -> None:
    r"""With leapfrog :math:`\Delta(K - dt^2/8 \sum w f^2) = (f_n + f_{n+1}) \cdot (x_{n+1} - x_n) / 2` in
    every step, whatever the forces are: large deformations, damping, a ground that is not touched."""
    material = {"young": 1e5, "poisson": 0.3, "density": 1000.0, "damping": 1e-3}
    kick = Impulse(None, LOW, value=(0.0, 0.0, 2.0))
    body = block((3, 2, 2), model=model, material=material, edge=0.1)
    simulation = simulate([body], [Gravity(), kick], seconds=0.02)
    system, world, dt = simulation.system, simulation.system.world, simulation.plan.seconds
    for k in range(5):
        before = world.kinetic_energy() + system.energy_ledger.scheme_energy()
        x, f = world.x.copy(), world.f.copy()
        simulation.integrator.step(system, simulation.integrator_state, 0.02 + k * dt, dt)
        change = world.kinetic_energy() + system.energy_ledger.scheme_energy() - before
        assert change == pytest.approx(0.5 * np.sum((f + world.f) * (world.x - x)), abs=1e-12 * before)


def test_damped_fall_is_booked_to_rounding() -> None:
    """A body that only translates: gravity and a damping rate c, :math:`v = (g/c)(1 - e^{-ct})`."""
    simulation = simulate([block()], [Gravity(), Damping(rate=4.0)], seconds=0.5)
    found = values(simulation)
    mass, speed = simulation.system.world.mass.sum(), 9.81 / 4.0 * (1.0 - np.exp(-2.0))
    fallen = 9.81 / 4.0 * (0.5 - (1.0 - np.exp(-2.0)) / 4.0)
    assert found["energy.damping"] == pytest.approx(mass * (9.81 * fallen - 0.5 * speed**2), rel=1e-4)
    assert found["energy.work"] == 0.0
    assert abs(found["energy.unexplained"]) < 1e-11 * found["energy.damping"]


def test_a_force_that_changes_in_time_does_its_work() -> None:
    """F = 10 N t / s on a free mass m: work = kinetic energy = :math:`(5 t^2)^2 / 2m`."""
    ramp = Curve([0.0, 1.0], [(0.0, 0.0, 0.0), (10.0, 0.0, 0.0)])
    simulation = simulate([block()], [Force(None, everything(), value=ramp)], seconds=1.0)
    found, mass = values(simulation), simulation.system.world.mass.sum()
    assert found["energy.work"] == pytest.approx(25.0 / (2.0 * mass), rel=1e-4)
    assert abs(found["energy.unexplained"]) < 1e-10 * found["energy.work"]


@pytest.mark.parametrize("name", ["sine", "pull", "drag"])
def test_driven_bodies_balance(name: str) -> None:
    """Whatever drives a body that bends: 0.1 % of what moved stays unexplained at most."""
    material = {"young": 1e6, "poisson": 0.3, "density": 1000.0, "damping": 1e-3}
    body = block((6, 2, 2), model="fem", material=material)
    actions = {
        "sine": [Sine(None, LOW, axis="z", amplitude=0.01, frequency=8.0)],
        "pull": [
            Fix(None, LOW),
            Pull(None, plane("x", "max"), target=(0.7, 0.1, 0.2), stiffness=500.0),
        ],
        "drag": [Fix(None, LOW), Drag(density=50.0, wind=(0.0, 0.0, 5.0))],
    }[name]
    simulation = simulate([body], actions, seconds=0.5)
    found = values(simulation)
    moved = max(largest(simulation), abs(found["energy.work"]))
    assert found["energy.work"] > 0.0
    assert abs(found["energy.unexplained"]) < 1e-3 * moved


def test_a_new_rest_shape_takes_the_elastic_energy_away() -> None:
    """``renormalise`` of a bent lattice: its elastic energy is in the account ``removed``."""
    body = block(
        (6, 2, 2), model="lattice", material={"young": 1e5, "poisson": 0.25, "density": 1000.0}, edge=0.1
    )
    actions = [Gravity(), Fix(None, LOW), Renormalise(None, everything(), at=0.1)]
    before = values(simulate([body], actions, seconds=0.1))
    after = values(simulate([body], actions, seconds=0.12))
    assert after["energy.removed"] == pytest.approx(before["energy.elastic"], rel=1e-6)
    assert abs(after["energy.unexplained"]) < 1e-2 * before["energy.elastic"]
