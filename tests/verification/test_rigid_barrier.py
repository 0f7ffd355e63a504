"""Rigid bodies in implicit steps: four particles that move affinely, in barrier contact."""

from typing import Any

import numpy as np
import pytest
from bodies import simulate, values

from pliant.actions import Fix, Gravity, Ground, Move
from pliant.contact import Contact
from pliant.core import where
from pliant.core.errors import IncompatibleError
from pliant.measures import ContactForce
from pliant.mesh.shapes import box, icosphere
from pliant.scene import Body, Scene
from pliant.structure.samplers.rigid import mass_moments

BARRIER = Contact(method="barrier")
WOOD = {"young": 1e9, "poisson": 0.3, "density": 600.0, "friction": 0.5}


def brick(name: str, z: float, **options: Any) -> Body:
    return Body(
        box(0.2, 0.2, 0.2, divisions=(3, 3, 3)), model="rigid", material=WOOD, name=name,
        position=options.pop("position", (0.0, 0.0, z)), **options,
    )  # fmt: skip


def affine(simulation: Any, number: int) -> Any:
    """The matrix that took the rest shape of a body to its present one."""
    world = simulation.system.world
    rows = world.bodies[number].rows
    rest, x = (each[rows] - each[rows].mean(axis=0) for each in (world.rest, world.x))
    return np.linalg.lstsq(rest, x, rcond=None)[0].T


def test_four_particles_have_the_moments_of_the_body() -> None:
    """Mass, centre and second moments of the volume inside the surface, exactly."""
    body = Body(box(0.3, 0.2, 0.1, divisions=(3, 2, 1)), model="rigid", material=WOOD, spin=(0, 0, 1))
    simulation = Scene([body], [], integrator="implicit-euler", step=0.01, contact=BARRIER).simulation()
    world = simulation.system.world
    surface = body.geometry().surface()
    mass, centre, second = mass_moments(surface.points, surface.triangles, 600.0)
    arms = world.x - centre
    assert world.count == 4
    assert world.mass.sum() == pytest.approx(mass, rel=1e-12)
    assert np.abs(world.mass @ arms).max() < 1e-12 * mass
    assert (world.mass[:, None] * arms).T @ arms == pytest.approx(second, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("integrator", ["implicit-euler", "tr-bdf2", "energy-momentum"])
def test_free_rotation_keeps_momentum(integrator: str) -> None:
    """A brick that spins freely keeps momentum and angular momentum to 1e-9, its shape to 1e-3, and with
    energy-momentum steps its energy to 1e-6."""
    body = brick("b", 0.0, velocity=(1.0, 0.0, 0.0), spin=(3.0, 1.0, 5.0))
    simulation = simulate([body], [], seconds=1.0, integrator=integrator, step=0.01, contact=BARRIER)
    scene = Scene([body], [], integrator=integrator, step=0.01, contact=BARRIER).simulation()
    scene.start()
    before, after = values(scene), values(simulation)
    for name in ("momentum.x", "angular.x", "angular.y", "angular.z"):
        assert after[name] == pytest.approx(before[name], rel=1e-7, abs=1e-9), name
    f = affine(simulation, 0)
    assert np.abs(f.T @ f - np.eye(3)).max() < 2e-3
    if integrator == "energy-momentum":
        assert after["energy.kinetic"] == pytest.approx(before["energy.kinetic"], rel=1e-3)


def test_a_stack_of_rigid_bodies_rests() -> None:
    """Three bricks: the ground bears 3 m g, the upper pairs 2 and 1; they keep their places."""
    bricks = [brick(f"b{k}", 0.004 + 0.204 * k) for k in range(3)]
    pairs = [("b0", "ground"), ("b1", "b0"), ("b2", "b1")]
    simulation = simulate(
        bricks, [Gravity(), Ground(friction=0.5)], seconds=1.5, integrator="implicit-euler", step=0.01,
        contact=BARRIER, measures=[ContactForce(between=pair, name="_".join(pair)) for pair in pairs],
    )  # fmt: skip
    row, world = values(simulation), simulation.system.world
    for k, pair in enumerate(pairs):
        assert row[f"{'_'.join(pair)}.z"] == pytest.approx((3 - k) * 4.8 * 9.81, rel=0.01)
    for k in range(3):
        moved = (world.x - world.rest)[world.bodies[k].rows].mean(axis=0)
        assert np.abs(moved[:2]).max() < 1e-3
        assert -0.004 * (k + 1) < moved[2] < 0.003
    assert np.abs(world.v).max() < 5e-3
    assert abs(row["energy.unexplained"]) < 1e-9


def slope(angle: float) -> Any:
    a = np.radians(angle)
    down = Gravity((9.81 * np.sin(a), 0.0, -9.81 * np.cos(a)))
    scene = Scene(
        [brick("b", 0.0)],
        [down, Ground(friction=0.5)],
        integrator="implicit-euler",
        step=0.01,
        contact=BARRIER,
    )
    simulation = scene.simulation()
    simulation.start()
    world, speed = simulation.system.world, []
    for _ in range(25):
        simulation.advance()
        speed.append(float(world.mass @ world.v[:, 0] / world.mass.sum()))
    return np.polyfit(0.02 * np.arange(12), speed[13:], 1)[0], float((world.x - world.rest)[:, 0].mean())


def test_a_rigid_block_holds_and_slides_as_coulomb_says() -> None:
    """mu 0.5: at rest at 26.0 degrees, 0.1215 m/s2 at 27.2, g (sin a - mu cos a) at 30 within 2 %."""
    held, moved = slope(26.0)
    assert abs(held) < 0.02
    assert moved < 5e-3
    for angle, share in ((27.2, 0.1), (30.0, 0.02)):
        a = np.radians(angle)
        assert slope(angle)[0] == pytest.approx(9.81 * (np.sin(a) - 0.5 * np.cos(a)), rel=share)


def test_a_rigid_ball_falls_on_a_soft_block() -> None:
    soft = Body(
        box(0.3, 0.3, 0.1, divisions=(6, 6, 2)), model="fem", name="soft",
        material={"young": 5e4, "poisson": 0.3, "density": 1000.0, "friction": 0.3},
    )  # fmt: skip
    ball = Body(
        icosphere(0.05, subdivisions=2), model="rigid", material=WOOD, name="ball",
        position=(0.15, 0.15, 0.16), velocity=(0, 0, -2.0), edge=0.03,
    )  # fmt: skip
    simulation = simulate(
        [soft, ball], [Gravity(), Fix(soft, where.plane("z", "min"))], seconds=0.6, step=0.01,
        integrator="implicit-euler", contact=BARRIER, measures=[ContactForce(between=("ball", "soft"))],
    )  # fmt: skip
    row, world = values(simulation), simulation.system.world
    part = world.bodies[1]
    carrier = part.structure.carrier
    assert carrier is not None
    points = carrier.positions(world.x[part.rows])
    assert points[:, 2].min() > 0.05
    assert row["contact-force.z"] == pytest.approx(world.mass[part.rows].sum() * 9.81, rel=0.05)


def test_it_can_be_driven_as_a_whole() -> None:
    body = brick("b", 0.1)
    moved = Move(body, where.all(), velocity=(0.0, 0.0, 0.2))
    simulation = simulate(
        [body], [moved], seconds=0.5, integrator="implicit-euler", step=0.02, contact=BARRIER
    )
    assert (simulation.system.world.x - simulation.system.world.rest)[:, 2] == pytest.approx(0.1, abs=1e-9)


def test_implicit_steps_without_barrier_still_refuse_rigid_bodies() -> None:
    with pytest.raises(IncompatibleError, match="takes steps of its own") as caught:
        simulate([brick("b", 0.1)], [Gravity()], seconds=0.1, integrator="implicit-euler", step=0.01)
    assert 'method = "barrier"' in str(caught.value.hint)
