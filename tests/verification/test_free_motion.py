"""Motion without deformation, in closed form."""

import numpy as np
import pytest
from bodies import block, simulate, values

from pliant.actions import Gravity

G = 9.81


@pytest.mark.parametrize("name", ["leapfrog", "verlet", "rk4"])
def test_projectile_follows_the_parabola(name: str) -> None:
    """x = x0 + v0 t - g t^2 / 2; schemes of second order are exact for constant acceleration."""
    velocity = (3.0, -1.0, 4.0)
    simulation = simulate([block(velocity=velocity)], [Gravity(G)], seconds=0.5, step=1e-3, integrator=name)
    world = simulation.system.world
    expected = world.rest + 0.5 * np.array(velocity) - [0, 0, 0.5 * G * 0.25]
    assert np.abs(world.x - expected).max() < 1e-10
    assert np.abs(world.v - (np.array(velocity) - [0, 0, G * 0.5])).max() < 1e-10


@pytest.mark.parametrize(("name", "sign"), [("symplectic-euler", -1.0), ("explicit-euler", 1.0)])
def test_euler_schemes_have_their_known_offset(name: str, sign: float) -> None:
    """Both miss the parabola by g t dt / 2: the symplectic one falls too far, the explicit one too little.

    Explicit Euler also lets rounding errors grow, hence the wider tolerance.
    """
    simulation = simulate([block()], [Gravity(G)], seconds=0.5, step=1e-3, integrator=name)
    world = simulation.system.world
    fall = (world.x - world.rest)[:, 2]
    tolerance = 1e-10 if name == "symplectic-euler" else 1e-7
    assert fall == pytest.approx(-0.5 * G * 0.25 + sign * 0.5 * G * 0.5 * 1e-3, abs=tolerance)


def test_spinning_free_body_keeps_its_momenta() -> None:
    """Linear and angular momentum of a free, deforming, spinning body stay to 1e-10 of their size."""
    body = block((4, 2, 2), velocity=(1.0, 0.5, 0.0), spin=(5.0, 8.0, 20.0))
    simulation = simulate([body], [], seconds=0.02)
    start = values(simulation)
    for _ in range(50):
        simulation.advance()
    end = values(simulation)
    for kind in ("momentum", "angular"):
        before = np.array([start[f"{kind}.{axis}"] for axis in "xyz"])
        after = np.array([end[f"{kind}.{axis}"] for axis in "xyz"])
        assert np.abs(after - before).max() < 1e-10 * np.linalg.norm(before)
    assert end["energy.elastic"] > 1e-3 * end["energy.kinetic"]


def test_leapfrog_energy_stays_bounded_over_many_steps() -> None:
    """1e5 steps of an undamped, stretched block: the total energy stays in a band of 5 % and does not drift.

    The band is of second order in the step, here a quarter of the automatic one.
    """
    automatic = simulate([block((2, 1, 1), split="uniform")], [], seconds=0.02).plan.seconds
    simulation = simulate([block((2, 1, 1), split="uniform")], [], seconds=0.02, step=automatic / 4)
    world = simulation.system.world
    world.x[:, 0] *= 1.05
    world.v[:] = 0.0
    simulation.start()
    totals = []
    frames = int(1e5 / simulation.plan.per_frame)
    for _ in range(frames):
        simulation.advance()
        now = values(simulation)
        totals.append(now["energy.kinetic"] + now["energy.elastic"])
    tenth = len(totals) // 10
    early, late = np.array(totals[:tenth]), np.array(totals[-tenth:])
    assert frames * simulation.plan.per_frame > 9e4
    assert np.ptp(totals) < 0.05 * np.mean(totals)
    assert late.mean() == pytest.approx(early.mean(), rel=2e-3)
