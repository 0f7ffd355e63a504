"""Implicit steps of bodies with levels: the same motion as explicit ones, however stiff the body is."""

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.mesh.shapes import box


def played(
    steps: str, young: float, frames: int, held: bool = True, **body: Any
) -> tuple[Any, dict[str, Any]]:
    """A bar 0.5 x 0.1 x 0.1 m, clamped or free, under 1 m/s2: the simulation and its series."""
    material = {"young": young, "poisson": 0.3, "density": 1000.0}
    model = {"type": "multires", "steps": steps}
    shape = box(0.5, 0.1, 0.1, divisions=(10, 2, 2))
    bar = pl.Body(shape, model=model, material=material, name="bar", **body)
    acting: list[Any] = [pl.Gravity(1.0)] + [pl.Fix(bar, pl.where.plane("x", "min"))] * held
    scene = pl.Scene([bar], acting, measures=[pl.Energy()], time=pl.TimeSettings(fps=60))
    simulation = scene.simulation()
    simulation.start()
    rows, tips = [simulation.row()], [0.0]
    for _ in range(frames):
        simulation.advance()
        rows.append(simulation.row())
        tips.append(float((simulation.system.world.x - simulation.system.world.rest)[:, 2].min()))
    series = dict(zip(simulation.columns, np.array(rows).T, strict=True))
    return simulation, series | {"tip": np.array(tips)}


def test_a_soft_bar_swings_as_with_explicit_steps() -> None:
    """Half a second at 20 kPa, a swing of 0.4 m: the tip to 0.5 %, and less than 1 % of the energy lost."""
    _, explicit = played("explicit", 2e4, 30)
    _, implicit = played("implicit", 2e4, 30)
    swing = np.abs(explicit["tip"]).max()
    assert swing > 0.1
    assert np.abs(implicit["tip"] - explicit["tip"]).max() < 5e-3 * swing
    largest = (implicit["energy.kinetic"] + implicit["energy.elastic"]).max()
    assert 0.0 <= implicit["energy.numerical"][-1] < 0.01 * largest
    assert np.abs(np.diff(implicit["energy.total"])).max() < 1e-9 * largest


def test_a_stiff_bar_takes_four_steps_a_frame_and_comes_to_rest() -> None:
    """At 2 GPa, where explicit steps would be 600 a frame: energy less work never rises, and the bar settles
    at the sag of explicit steps at 20 MPa, a hundredth of it."""
    _, series = played("implicit", 2e9, 120)
    assert series["bar.ticks"][-1] == 4
    own = series["energy.kinetic"] + series["energy.elastic"] + series["energy.gravity"]
    assert (own - np.minimum.accumulate(own)).max() < 1e-4 * (own.max() - own.min())
    assert np.ptp(series["tip"][-20:]) < 0.3 * np.ptp(series["tip"][:20])
    _, soft = played("explicit", 2e7, 120)
    assert series["tip"][-30:].mean() == pytest.approx(soft["tip"].mean() / 100, rel=0.03)


def test_a_free_bar_falls_and_spins_on() -> None:
    """Momentum is weight times time to 1e-6, and a second of spinning at 3 rad/s takes less than 1e-3 of the
    angular momentum."""
    simulation, _ = played("implicit", 2e6, 60, held=False, spin=(0.0, 0.0, 3.0))
    body = simulation.system.world.bodies[0].mechanics.body
    linear, angular = body.momenta()
    mass = body.hierarchy.mass.sum()
    assert linear[2] == pytest.approx(-mass, rel=1e-6)
    assert np.abs(linear[:2]).max() < 1e-6 * mass
    x = body.hierarchy.points[body.hierarchy.particles]
    arms = x - body.hierarchy.mass @ x / mass
    spin = 3.0 * float(body.hierarchy.mass @ (arms[:, 0] ** 2 + arms[:, 1] ** 2))
    centre = body.hierarchy.mass @ simulation.system.world.x / mass
    assert (angular - np.cross(centre, linear))[2] == pytest.approx(spin, rel=1e-3)
