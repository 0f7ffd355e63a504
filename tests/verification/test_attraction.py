"""Gravitation between bodies: orbits, momenta, energy, one source."""

from typing import Any

import numpy as np
import pytest
from bodies import simulate, values

import pliant as pl
from pliant.actions.attraction import Attraction, AttractionRuntime
from pliant.core.errors import InputError
from pliant.mesh.shapes import box
from pliant.scene import Body

G, APART = 1.0, 1.0
STIFF = {"young": 1e4, "poisson": 0.25, "density": 1000.0}


def cube(name: str, side: float, position: Any, velocity: Any, model: str) -> Body:
    return Body(
        box(side, side, side), edge=side / 2.0, model=model, material=STIFF, name=name, position=position,
        velocity=velocity,
    )  # fmt: skip


def centre(simulation: Any, name: str) -> Any:
    (part,) = [p for p in simulation.system.world.bodies if p.name == name]
    world, rows = simulation.system.world, part.rows
    return np.average(world.x[rows], axis=0, weights=world.mass[rows])


def orbit(model: str, turns: float) -> tuple[Any, float, float, float]:
    """Two cubes of 3:1 in mass on circles about their centre of mass. Returns the simulation after ``turns``,
    the period and the two distances from the centre of mass."""
    heavy, light = 0.02, 0.02 / 3.0 ** (1.0 / 3.0)
    m1, m2 = 1000.0 * heavy**3, 1000.0 * light**3
    omega = np.sqrt(G * (m1 + m2) / APART**3)
    r1, r2 = APART * m2 / (m1 + m2), APART * m1 / (m1 + m2)
    bodies = [
        cube("heavy", heavy, (r1 - heavy / 2, -heavy / 2, -heavy / 2), (0.0, r1 * omega, 0.0), model),
        cube("light", light, (-r2 - light / 2, -light / 2, -light / 2), (0.0, -r2 * omega, 0.0), model),
    ]
    period = 2.0 * np.pi / omega
    step = period / 2000.0
    simulation = simulate(
        bodies, [Attraction(constant=G)], seconds=turns * period, step=step, fps=10.0 / period,
        measures=[pl.Energy(), pl.Momentum()],
    )  # fmt: skip
    return simulation, period, r1, r2


def test_two_bodies_come_back_after_ten_turns() -> None:
    r"""Kepler: :math:`\omega^2 d^3 = G (m_1 + m_2)`. Ten turns end where they began, within 1e-3 of the
    distance; momentum stays zero to rounding, and the energy what it was."""
    simulation, _, r1, r2 = orbit("rigid", 10.0)
    assert np.linalg.norm(centre(simulation, "heavy") - (r1, 0, 0)) < 1e-3 * APART
    assert np.linalg.norm(centre(simulation, "light") - (-r2, 0, 0)) < 1e-3 * APART
    now = values(simulation)
    world = simulation.system.world
    scale = float(np.abs(world.mass[:, None] * world.v).sum())
    assert max(abs(now[f"momentum.{axis}"]) for axis in "xyz") < 1e-12 * scale
    assert abs(now["energy.unexplained"]) < 1e-6 * now["energy.kinetic"]


def test_forces_are_the_gradient_of_the_potential_and_sum_to_zero() -> None:
    simulation = simulate([cube("one", 0.1, (0, 0, 0), (0, 0, 0), "lattice")], [], seconds=0.01)
    world = simulation.system.world
    for action in (
        Attraction(constant=2.0, softening=0.02),
        Attraction(source=(0.3, 0.2, 0.1), source_mass=5.0),
    ):
        runtime, x = AttractionRuntime(world, action), world.x.copy()
        forces, e = np.zeros_like(x), 1e-6
        runtime.add_forces(0.0, x, world.v, forces)
        for i, c in ((0, 0), (3, 1), (7, 2)):
            up, down = x.copy(), x.copy()
            up[i, c] += e
            down[i, c] -= e
            slope = (runtime.potential_energy(up) - runtime.potential_energy(down)) / (2 * e)
            assert forces[i, c] == pytest.approx(-slope, rel=1e-5)
        if action.source is None:
            assert np.abs(forces.sum(axis=0)).max() < 1e-14 * np.abs(forces).sum()


def test_one_source_holds_a_body_on_a_circle() -> None:
    """``v^2 r = G M``: a quarter of a turn about the source."""
    side, r, mass = 0.02, 1.0, 4.0
    speed = np.sqrt(G * mass / r)
    body = cube("moon", side, (r - side / 2, -side / 2, -side / 2), (0, speed, 0), "lattice")
    quarter = 0.5 * np.pi * r / speed
    action = Attraction(constant=G, source=(0.0, 0.0, 0.0), source_mass=mass)
    simulation = simulate([body], [action], seconds=quarter, fps=1.0 / quarter)
    assert np.linalg.norm(centre(simulation, "moon") - (0.0, r, 0.0)) < 1e-3 * r


def test_a_source_needs_a_place_and_a_mass() -> None:
    with pytest.raises((InputError, ValueError), match="both source and source-mass"):
        Attraction(source=(0.0, 0.0, 0.0))
