"""Contact inside implicit solves: bodies rest, slide and are pressed at steps of a frame."""

from typing import Any

import numpy as np
import pytest
from bodies import simulate, values

from pliant.actions import Fix, Gravity, Ground, Obstacle
from pliant.core.where import plane
from pliant.mesh.shapes import box
from pliant.scene import Body

STEP = 1.0 / 60.0
JELLY = {"young": 2e4, "poisson": 0.3, "density": 1000.0}


def cube(model: Any = "fem", **options: Any) -> Body:
    return Body(box(0.2, 0.2, 0.2, divisions=(4, 4, 4)), model=model, material=JELLY, **options)


def stepped(body: Body, actions: list[Any], seconds: float, integrator: str = "implicit-euler") -> Any:
    return simulate([body], actions, seconds=seconds, fps=60.0, step=STEP, integrator=integrator)


@pytest.mark.parametrize("model", ["fem", "mass-spring"])
def test_a_jelly_cube_rests_on_the_ground(model: Any) -> None:
    """8 kg for 5 s at 1/60 s: no particle below the ground, at rest, the ground carries m g, and the height
    is that of a column under its own weight, less rho g H / 2 E: between free and gripped sides."""
    simulation = stepped(cube(model), [Gravity(), Ground()], 5.0)
    world, row = simulation.system.world, values(simulation)
    assert world.x[:, 2].min() >= 0.0
    assert np.abs(world.v).max() < 1e-3
    assert row["ground.z"] == pytest.approx(-8.0 * 9.81, rel=1e-3)
    strain = 1000.0 * 9.81 * 0.2 / (2 * 2e4)
    assert 0.6 * strain < 1.0 - world.x[:, 2].max() / 0.2 < 1.2 * strain


@pytest.mark.parametrize(
    "integrator", ["tr-bdf2", "energy-momentum", "implicit-euler", "implicit-midpoint", "bdf2", "newmark"]
)
def test_a_dropped_cube_gains_no_energy(integrator: str) -> None:
    """From 0.2 m onto the ground: total energy, with what contacts took, never rises by more than a few
    percent of what fell; nothing is below the ground at any frame."""
    simulation = stepped(cube(position=(0, 0, 0.2)), [Gravity(), Ground(friction=0.3)], STEP, integrator)
    start, fallen = values(simulation)["energy.total"], 8.0 * 9.81 * 0.2
    for _ in range(90):
        simulation.advance()
        assert simulation.system.world.x[:, 2].min() >= -1e-12
        assert values(simulation)["energy.total"] < start + 0.05 * fallen


@pytest.mark.parametrize("friction", [0.2, 0.5])
def test_a_sliding_block_stops_where_friction_says(friction: float) -> None:
    """From v over v^2 / (2 mu g), to the order of the step."""
    stiff = {**JELLY, "young": 5e5}
    body = Body(box(0.4, 0.4, 0.1, divisions=(4, 4, 1)), model="fem", material=stiff, velocity=(1.5, 0, 0))
    simulation = stepped(body, [Gravity(), Ground(friction=friction)], 2.0)
    world = simulation.system.world
    distance = float((world.x - world.rest)[:, 0].mean())
    assert distance == pytest.approx(1.5**2 / (2 * friction * 9.81), rel=0.06)
    assert np.abs(world.v[:, 0]).max() < 1e-3


def test_a_press_feels_the_stress_of_what_it_presses() -> None:
    """A frictionless plate presses a cube (nu = 0) by 5 %: F = E A 0.05, and its work is the energy."""
    keys = {"keys": [{"time": 0.0, "value": [0.1, 0.1, 0.25]}, {"time": 0.5, "value": [0.1, 0.1, 0.24]}]}
    soft = {**JELLY, "poisson": 0.0}
    body = Body(box(0.2, 0.2, 0.2, divisions=(4, 4, 4)), model="fem", material=soft)
    plate = Obstacle(box={"size": (0.4, 0.4, 0.1)}, position=keys, friction=0.0, name="plate")
    simulation = stepped(body, [Fix(body, plane("z", "min"), axes=("z",)), plate], 1.0)
    row = values(simulation)
    assert row["plate.z"] == pytest.approx(2e4 * 0.04 * 0.05, rel=0.01)
    assert row["energy.elastic"] == pytest.approx(0.5 * 40.0 * 0.01, rel=0.02)
    assert row["energy.work"] == pytest.approx(row["energy.elastic"], rel=0.1)


@pytest.mark.parametrize("integrator", ["implicit-euler", "tr-bdf2", "energy-momentum"])
def test_a_restart_in_contact_does_not_change_a_byte(integrator: str) -> None:
    actions = [Gravity(), Ground(friction=0.2)]
    whole = stepped(cube(velocity=(0.5, 0.0, 0.0)), actions, STEP, integrator)
    for _ in range(5):
        whole.advance()
    state = {key: np.array(value) for key, value in whole.state().items()}
    resumed = stepped(cube(velocity=(0.5, 0.0, 0.0)), actions, STEP, integrator)
    resumed.restore(whole.frame, state)
    for simulation in (whole, resumed):
        for _ in range(5):
            simulation.advance()
    assert whole.system.world.x.tobytes() == resumed.system.world.x.tobytes()
    assert whole.row() == resumed.row()
