"""Barrier contact against what is known: Hertz, rolling, rest, rebound, the energy of a landing."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bodies import values

from pliant.actions import Fix, Gravity, Ground, Obstacle
from pliant.contact import Contact
from pliant.core import where
from pliant.measures import ContactForce
from pliant.mesh.shapes import box, icosphere
from pliant.scene import Body, Scene
from pliant.scene.load import read
from pliant.simulation.simulation import Simulation
from pliant.validation.cases_actions import pressed

BARRIER = Contact(method="barrier")
RUBBER = {"young": 1e6, "poisson": 0.3, "density": 1000.0, "friction": 0.5}


def started(
    bodies: list[Body], actions: list[Any], integrator: str, step: float, **options: Any
) -> Simulation:
    """A simulation with a frame for every step, whose ledger has begun."""
    scene = Scene(bodies, actions, integrator=integrator, step=step, contact=BARRIER, **options)
    scene.time = replace(scene.time, duration=10.0, fps=1.0 / step)
    simulation = scene.simulation()
    simulation.start()
    values(simulation)
    return simulation


def test_a_sphere_pressed_into_a_block_meets_hertz() -> None:
    """A quarter of a block of 12 cells of 0.1 m and of a sphere of 2.88 m. The depth is that of the surface
    under the sphere's pole; the force is Hertz' within 4 %, from a radius of contact of 2.5 cells on.
    The series for the finite thickness: Dimitriadis et al. (2002)."""
    radius, high, cells = 2.88, 1.2, 12
    body = Body(box(1.2, 1.2, high, divisions=(cells,) * 3), model="fem", material=RUBBER)
    keys = [
        {"time": 0.0, "value": [0, 0, high + radius + 0.02]},
        {"time": 1.0, "value": [0, 0, high + radius - 0.05]},
    ]
    ball = Obstacle(sphere={"radius": radius}, position={"keys": keys}, friction=0.0, name="ball")
    symmetric = [
        Fix(body, where.box((-1, -1, 0.06), (0.01, 2, 2)), axes=("x",)),
        Fix(body, where.box((-1, -1, 0.06), (2, 0.01, 2)), axes=("y",)),
    ]
    held = [Fix(body, where.plane("z", "min")), *symmetric]
    simulation = started([body], [*held, ball], "implicit-euler", 0.1)
    world = simulation.system.world
    pole = int(np.argmin(np.abs(world.rest - [0.0, 0.0, high]).sum(axis=1)))
    checked = 0
    for _ in range(11):
        simulation.advance()
        depth = high - world.x[pole, 2]
        if depth > 0.0 and np.sqrt(radius * depth) > 2.5 * high / cells:
            expected = pressed(RUBBER["young"], RUBBER["poisson"], radius, depth, high)
            assert 4.0 * values(simulation)["ball.z"] == pytest.approx(expected, rel=0.04)
            checked += 1
    assert checked >= 5


def test_a_faceted_ball_rolls() -> None:
    """A rigid ball of 5120 triangles on a slope of 10 degrees: after half a second its speed is that of a
    smooth one, 5/7 g sin a t, within 3 %, and it rolls: w R = v within 0.5 %. It loses what a wheel with
    corners loses at each of them; with a quarter of the triangles the speed is 4.5 % low."""
    slope, radius, seconds = np.radians(10.0), 0.05, 0.5
    body = Body(
        icosphere(radius, subdivisions=4), model="rigid", material={**RUBBER, "young": 1e9, "density": 600.0},
        edge=0.02, position=(0, 0, 0.0505),
    )  # fmt: skip
    down = Gravity((9.81 * np.sin(slope), 0.0, -9.81 * np.cos(slope)))
    simulation = started([body], [down, Ground(friction=0.5)], "implicit-euler", 0.005)
    for _ in range(round(seconds / 0.005)):
        simulation.advance()
    world = simulation.system.world
    v = world.mass @ world.v / world.mass.sum()
    r = world.x - world.mass @ world.x / world.mass.sum()
    turning = (world.mass[:, None] * np.cross(r, world.v - v)).sum(axis=0)[1]
    spin = turning / (world.mass @ (r[:, 0] ** 2 + r[:, 2] ** 2))
    assert v[0] == pytest.approx(5.0 / 7.0 * 9.81 * np.sin(slope) * seconds, rel=0.03)
    assert spin * radius == pytest.approx(v[0], rel=0.005)


def test_a_stack_of_soft_blocks_rests() -> None:
    """Three blocks: each pair carries what lies above it within 1 %, nothing slides or moves any more."""
    blocks = [
        Body(
            box(0.2, 0.2, 0.1, divisions=(3, 3, 2)), model="fem", material=RUBBER, name=f"b{k}",
            position=(0, 0, 0.002 + 0.104 * k),
        )
        for k in range(3)
    ]  # fmt: skip
    pairs = [("b0", "ground"), ("b1", "b0"), ("b2", "b1")]
    simulation = started(
        blocks, [Gravity(), Ground(friction=0.5)], "implicit-euler", 0.01,
        measures=[ContactForce(between=pair, name="_".join(pair)) for pair in pairs],
    )  # fmt: skip
    for _ in range(150):
        simulation.advance()
    row, world = values(simulation), simulation.system.world
    for k, pair in enumerate(pairs):
        assert row[f"{'_'.join(pair)}.z"] == pytest.approx((3 - k) * 4.0 * 9.81, rel=0.01)
    for body in world.bodies:
        assert np.abs((world.x - world.rest)[body.rows].mean(axis=0)[:2]).max() < 2e-4
    assert np.abs(world.v).max() < 1e-3


def fallen(integrator: str, step: float) -> tuple[float, float, dict[str, float]]:
    """A ball of 0.1 m and 100 kPa that hits the ground at 2.4 m/s: its restitution, its kinetic energy before
    and the last row."""
    body = Body(
        icosphere(0.1, subdivisions=2), edge=0.05, model="fem", material={**RUBBER, "young": 1e5},
        position=(0, 0, 0.11), velocity=(0, 0, -2.4),
    )  # fmt: skip
    simulation = started([body], [Ground(friction=0.0)], integrator, step)
    world = simulation.system.world
    best, before = -2.4, 0.5 * world.mass.sum() * 2.4**2
    for _ in range(round(0.16 / step)):
        simulation.advance()
        best = max(best, float(world.mass @ world.v[:, 2] / world.mass.sum()))
    return best / 2.4, before, values(simulation)


def test_a_soft_ball_rebounds_and_its_energy_is_accounted_for() -> None:
    """It never leaves faster than it came; the better scheme with the shorter step loses less. Its kinetic
    energy before is what it has after and what the scheme lost: there is no friction."""
    rough, *of_rough = fallen("implicit-euler", 0.01)
    fine, *of_fine = fallen("tr-bdf2", 0.005)
    assert 0.1 < rough < 0.5
    assert 0.75 < fine < 1.0
    lost = []
    for before, row in (of_rough, of_fine):
        left = row["energy.kinetic"] + row["energy.elastic"] + row["energy.contact"]
        assert left + row["energy.numerical"] == pytest.approx(before, rel=1e-9)
        assert row["energy.friction"] == 0.0
        lost.append(row["energy.numerical"] / before)
    assert 0.0 < lost[1] < 0.4 * lost[0]


def test_the_press_of_the_poke_example_keeps_its_energy() -> None:
    """The example ``poke`` with barrier contact and tr-bdf2 at 5 ms: what the scheme loses stays below 2 % of
    the most that the slab stores, and nothing is unexplained."""
    from importlib.resources import files

    scene = read(str(files("pliant.examples") / "poke.toml"))
    scene = replace(scene, contact=BARRIER, integrator="tr-bdf2", step=0.005)
    simulation = scene.simulation()
    simulation.start()
    stored, lost = 0.0, 0.0
    for _ in range(scene.time.frames()):
        row = values(simulation)
        stored = max(stored, row["energy.elastic"])
        lost = max(lost, abs(row["energy.numerical"]))
        assert abs(row["energy.unexplained"]) < 1e-9
        simulation.advance()
    assert lost < 0.02 * stored
