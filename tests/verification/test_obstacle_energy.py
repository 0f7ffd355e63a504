r"""Energy of contacts with obstacles, exact for the leapfrog scheme.

With the velocities of the half steps, :math:`K = \tfrac12 m\,u_{n-1/2} \cdot u_{n+1/2}` and the work
:math:`\tfrac12 (f_n + f_{n+1}) \cdot (x_{n+1} - x_n)` of each force, the energy of the scheme changes by the
impulses of obstacles alone.
"""

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.integrators.explicit import Leapfrog
from pliant.mesh.shapes import box, sphere
from pliant.scene import Body, Scene

MATERIAL = {"young": 2e5, "poisson": 0.3, "density": 1000.0, "damping": 1e-3}


def heats(body: Body, actions: list[Any], seconds: float) -> tuple[np.ndarray, float]:  # type: ignore[type-arg]
    """Heat of the obstacle after every step [J], and the energy of the scheme that is missing at the end."""
    simulation = Scene([body], [pl.Gravity(), *actions]).simulation()
    simulation.start()
    system, scheme, dt = simulation.system, Leapfrog(), 0.5 * simulation.plan.seconds
    world, obstacle = system.world, system.obstacles[0]
    m = world.mass[:, None]

    def energy() -> float:
        return 0.5 * float(np.sum(m * world.v**2)) - dt**2 / 8 * float(np.sum(world.f**2 / m))

    found, start, work, time = [], energy(), 0.0, 0.0
    for _ in range(round(seconds / dt)):
        x, f = world.x.copy(), world.f.copy()
        scheme.step(system, None, time, dt)
        work += 0.5 * float(np.sum((f + world.f) * (world.x - x)))
        time += dt
        found.append(obstacle.heat)
    return np.array(found), start + work - energy() - obstacle.heat + obstacle.work


@pytest.mark.parametrize("model", ["fem", "efg", "lattice", "mass-spring"])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_still_frictionless_plane_never_gives_energy(model: str, restitution: float) -> None:
    """Per step, to rounding; and the heat is all that is missing."""
    body = Body(
        box(0.2, 0.2, 0.2), edge=0.07, model=model, material=MATERIAL, position=(0.0, 0.0, 0.01),
        velocity=(0.3, 0.0, -1.0), rotation={"axis": (1, 2, 0), "degrees": 20},
    )  # fmt: skip
    heat, missing = heats(body, [pl.Ground(restitution=restitution, friction=0.0, level=-0.06)], 0.15)
    assert np.diff(heat).min() > -1e-12
    assert abs(missing) < 1e-10
    assert heat[-1] > 0.1 or restitution == 1.0  # where only what rests is stopped


@pytest.mark.parametrize("friction", [0.1, 0.6])
def test_heat_of_friction_is_exact(friction: float) -> None:
    body = Body(
        sphere(0.1), edge=0.05, model="fem", material=MATERIAL, position=(0.0, 0.0, 0.11),
        velocity=(1.0, 0.0, -1.0),
    )  # fmt: skip
    heat, missing = heats(body, [pl.Ground(friction=friction)], 0.1)
    assert abs(missing) < 1e-10
    assert heat[-1] > 0.1


def test_a_moving_box_does_the_work_that_is_missing() -> None:
    keys = {"keys": [{"time": 0.0, "value": (0.0, 0.0, -0.3)}, {"time": 0.1, "value": (0.0, 0.0, -0.1)}]}
    body = Body(box(0.2, 0.2, 0.2), edge=0.07, model="fem", material=MATERIAL, position=(-0.1, -0.1, -0.1))
    paddle = pl.Obstacle(box={"size": (1.0, 1.0, 0.2)}, position=keys, restitution=0.3, friction=0.2)
    heat, missing = heats(body, [paddle], 0.1)
    assert abs(missing) < 1e-10
    assert heat[-1] > 0.1
