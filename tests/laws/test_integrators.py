"""What every integrator obeys: run over INTEGRATORS."""

from typing import Any

import numpy as np
import pytest
from bodies import block, simulate, values

from pliant.actions import Damping, Fix, Force, Gravity, Move
from pliant.core.curves import Curve
from pliant.core.where import plane
from pliant.integrators import INTEGRATORS

STEPPING: list[Any] = [name for name in INTEGRATORS if INTEGRATORS[name].order > 0]  # type: ignore[attr-defined]
IMPLICIT = [name for name in STEPPING if np.isinf(INTEGRATORS[name].stability)]  # type: ignore[attr-defined]


def tight(name: str) -> Any:
    """The integrator, with its equations solved to the last digits where it has any to solve."""
    return INTEGRATORS.build({"type": name, "tolerance": 1e-11} if name in IMPLICIT else name)


def error_at_end(name: str, steps: int, damped: bool) -> float:
    """Distance from a converged solution of a stretched, swinging block after 0.02 s."""
    actions: list[Any] = [Gravity(300.0), Fix(None, plane("x", "min"))]
    if damped:
        actions.append(Damping(rate=60.0))
    coarse = simulate(
        [block((2, 1, 1))], actions, seconds=0.02, fps=50, step=0.02 / steps, integrator=tight(name)
    )
    fine = simulate([block((2, 1, 1))], actions, seconds=0.02, fps=50, step=0.02 / 4096, integrator="rk4")
    return float(np.abs(coarse.system.world.x - fine.system.world.x).max())


@pytest.mark.parametrize("damped", [False, True])
@pytest.mark.parametrize("name", STEPPING)
def test_measured_order_equals_declared_order(name: str, damped: bool) -> None:
    first, second = error_at_end(name, 256, damped), error_at_end(name, 512, damped)
    assert np.log2(first / second) == pytest.approx(INTEGRATORS[name].order, abs=0.15)


@pytest.mark.parametrize("name", list(INTEGRATORS))
def test_driven_particles_are_where_they_should_be(name: str) -> None:
    keys = Curve([0.0, 0.05, 0.1], [(0, 0, 0), (0.02, 0, 0), (0.01, 0.005, 0)], "smooth")
    simulation = simulate(
        [block()],
        [Fix(None, plane("x", "min")), Move(None, plane("x", "max"), displacement=keys)],
        seconds=0.08,
        step=2e-4,
        integrator=name,
    )
    world = simulation.system.world
    rest = world.rest
    moved = np.isclose(rest[:, 0], rest[:, 0].max())
    held = np.isclose(rest[:, 0], 0.0)
    assert np.abs(world.x[moved] - rest[moved] - keys.at(0.08)).max() < 1e-15
    assert np.array_equal(world.x[held], rest[held])
    assert np.abs(world.v[moved] - keys.rate(0.08)).max() < 1e-15


@pytest.mark.parametrize("name", [n for n in STEPPING if n != "explicit-euler"])
def test_a_steady_force_gives_uniform_acceleration(name: str) -> None:
    """Newton's second law for the centre of mass: v = F t / m, exact for every consistent scheme."""
    body = block()
    simulation = simulate(
        [body], [Force(None, plane("x", "max"), value=(3.0, 0, 0))], seconds=0.1, integrator=name
    )
    mass = simulation.system.world.mass.sum()
    assert values(simulation)["momentum.x"] == pytest.approx(3.0 * 0.1, rel=1e-11)
    assert mass == pytest.approx(0.3 * 0.2 * 0.2 * 1000, rel=1e-12)
