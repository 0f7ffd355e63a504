"""Forces of contact by hand: a small block over the one face of a large one, both at rest in themselves."""

from typing import Any

import numpy as np
import pytest

from pliant.actions import Fix
from pliant.contact.pair_coefficients import damping_for
from pliant.core.typing import Array
from pliant.core.where import all as everything
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene

YOUNG, EDGE, FRICTION, SOLE = 1e5, 0.1, 0.3, 9  # particles of the block that face the large one
STIFFNESS = 0.6 * YOUNG * EDGE  # of the softer side


def forces(gap: float, velocity: Any = (0, 0, 0), held: bool = False, **material: float) -> tuple[Any, Array]:
    """World and forces with the block ``gap`` above the face.

    No corner of the large body is below it, so that only the block's sole touches a triangle (other particles
    are out of reach); both shapes are at rest, so that nothing else acts.
    """
    about = {"young": YOUNG, "poisson": 0.25, "density": 1000.0, "friction": FRICTION, **material}
    base = Body(
        box(1, 1, 0.5, divisions=(1, 1, 1)), model="mass-spring", material=about, name="base",
        position=(-0.5, -0.5, -0.5),
    )  # fmt: skip
    block = Body(
        box(0.2, 0.2, 0.2, divisions=(2, 2, 2)), model="mass-spring", material=about, name="block",
        position=(-0.13, -0.06, 1.0),
    )  # fmt: skip
    fixed = [Fix(base, everything())] if held else []
    simulation = Scene([base, block], fixed, step=1e-4).simulation()
    simulation.start()
    system = simulation.system
    world, rows = system.world, system.world.bodies[1].rows
    world.x[rows, 2] += gap - 1.0
    world.v[rows] = velocity
    out = np.zeros_like(world.x)
    system.evaluate(0.0, world.x, world.v, out)
    return world, out


def on_block(gap: float, **options: Any) -> Array:
    world, out = forces(gap, **options)
    return np.asarray(out[world.bodies[1].rows].sum(axis=0))


def test_the_normal_force_is_stiffness_times_depth_and_pushes_apart() -> None:
    near, far = on_block(0.16), on_block(0.2)
    assert near[2] > far[2] > 0.0
    assert near[2] - far[2] == pytest.approx(SOLE * STIFFNESS * 0.04, rel=1e-9)
    assert near[:2] == pytest.approx([0.0, 0.0], abs=1e-9 * near[2])


def test_forces_and_torques_are_equal_and_opposite() -> None:
    world, out = forces(0.16)
    size = np.abs(out).sum()
    assert np.abs(out.sum(axis=0)).max() < 1e-12 * size
    assert np.abs(np.cross(world.x, out).sum(axis=0)).max() < 1e-12 * size


def test_damping_is_a_share_of_critical_by_the_masses_in_contact() -> None:
    """2 z sqrt(k m) u for each particle against a held body; z is for two contacts at once, one each way."""
    speed, restitution = 0.2, 0.5
    still, coming = (
        forces(0.16, (0, 0, -s), held=True, restitution=restitution, friction=0.0) for s in (0.0, speed)
    )
    rows = coming[0].bodies[1].rows
    sole = coming[0].rest[rows, 2] < 1.0 + 1e-9
    z = damping_for(restitution) / np.sqrt(2.0)
    expected = 2.0 * z * np.sqrt(STIFFNESS * coming[0].mass[rows][sole]) * speed
    assert (coming[1] - still[1])[rows][sole, 2] == pytest.approx(expected, rel=1e-9)


def test_friction_is_at_most_its_share_of_the_normal_force_and_against_the_slip() -> None:
    still = on_block(0.16, held=True)
    for way in (np.array([1.0, 0.0, 0.0]), np.array([0.6, -0.8, 0.0])):
        sliding = on_block(0.16, velocity=tuple(30.0 * way), held=True)
        assert sliding == pytest.approx(still - FRICTION * still[2] * way, rel=1e-9)


def test_slow_slip_is_damped_as_the_friction_spring_is() -> None:
    """Half of critical for a spring of half the stiffness: sqrt(k m / 2) u for each particle. Their sum, as
    the torque about each is carried by its neighbours."""
    world, out = forces(0.16, (0.001, 0.0, 0.0), held=True)
    rows = world.bodies[1].rows
    sole = world.rest[rows, 2] < 1.0 + 1e-9
    expected = -np.sqrt(0.5 * STIFFNESS * world.mass[rows][sole]).sum() * 0.001
    assert out[rows, 0].sum() == pytest.approx(expected, rel=1e-9)


def test_friction_acts_at_the_contact_point() -> None:
    """Between the surfaces, in the ratio of their radii (a fifth of the spacings): its torque about the face
    is that of a force there, for the block and for the base alike."""
    (world, still), (_, out) = forces(0.16), forces(0.16, (30.0, 0.0, 0.0))
    slip = out - still
    spacings = [part.structure.spacing for part in world.bodies]
    height = 0.16 * spacings[0] / sum(spacings)
    for part in world.bodies:
        force = slip[part.rows].sum(axis=0)
        torque = np.cross(world.x[part.rows], slip[part.rows]).sum(axis=0)
        assert abs(force[0]) > 1.0
        assert torque[1] == pytest.approx(height * force[0], rel=1e-9)
