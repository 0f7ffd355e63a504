"""Implicit stepping: conservation, large steps, and agreement with explicit reference runs."""

from typing import Any

import numpy as np
import pytest
from bodies import block, model_for, shaken, simulate, values

from pliant.actions import Damping, Drag, Fix, Gravity, Moment, Pressure
from pliant.core.where import plane
from pliant.integrators import (
    INTEGRATORS,
    Bdf2,
    EnergyMomentum,
    ImplicitEuler,
    ImplicitMidpoint,
    Newmark,
    TrBdf2,
)
from pliant.mesh.shapes import box
from pliant.scene import Body
from pliant.simulation.simulation import Simulation

LOW = plane("x", "min")
IMPLICIT: list[Any] = [TrBdf2, EnergyMomentum, ImplicitEuler, ImplicitMidpoint, Newmark, Bdf2]


def beam(model: Any = "fem", divisions: tuple[int, int, int] = (20, 2, 2)) -> Body:
    material = {"young": 3e5, "poisson": 0.3, "density": 1000.0}
    return Body(box(1.0, 0.1, 0.1, divisions=divisions, split="uniform"), material=material, model=model)


def tip(simulation: Simulation) -> float:
    world = simulation.system.world
    end = np.isclose(world.rest[:, 0], world.rest[:, 0].max())
    return -float((world.x - world.rest)[end, 2].mean())


@pytest.mark.parametrize("scheme", IMPLICIT)
def test_momentum_of_a_free_body_is_kept(scheme: Any) -> None:
    """Linear momentum to rounding at any tolerance; angular momentum too, but for the midpoint rule, which
    keeps it to the tolerance of its solver, and Newmark's method, to its order."""
    body = block((4, 2, 2), velocity=(1.0, 0.5, 0.0), spin=(1.0, 2.0, 6.0), model="fem")
    start = values(simulate([body], [], seconds=0.005, integrator="rk4", step=1e-4))
    end = values(simulate([body], [], seconds=0.5, step=5e-3, integrator=scheme()))
    assert end["momentum.x"] == pytest.approx(start["momentum.x"], rel=1e-12)
    assert end["momentum.y"] == pytest.approx(start["momentum.y"], rel=1e-12)
    tight = values(simulate([body], [], seconds=0.5, step=5e-3, integrator=scheme(tolerance=1e-9)))
    spins = [row[f"angular.{c}"] for c in "xyz" for row in (start, tight)]
    change = max(abs(a - b) for a, b in zip(spins[::2], spins[1::2], strict=True)) / max(map(abs, spins))
    assert change < (0.1 if scheme is Newmark else 1e-9)


def energy_swing(model: str, step: float) -> float:
    """Largest change of the total energy of a falling clamped beam in 2 s, what the scheme loses or gains
    included, over the energy that moves."""
    scheme = ImplicitMidpoint(tolerance=1e-3)
    actions = [Gravity(), Fix(None, LOW)]
    simulation = simulate([beam(model)], actions, seconds=0.02, step=step, integrator=scheme)
    totals, moving = [], 0.0
    for _ in range(100):
        simulation.advance()
        row = values(simulation)
        totals.append(row["energy.total"] - row["energy.numerical"])
        moving = max(moving, row["energy.kinetic"] + row["energy.elastic"])
    return float(np.ptp(totals)) / moving


@pytest.mark.parametrize("model", ["mass-spring", "fem"])
def test_midpoint_keeps_the_energy_of_large_motion(model: str) -> None:
    """No drift: what the total energy swings by is of second order in the step."""
    coarse, fine = energy_swing(model, 0.01), energy_swing(model, 0.005)
    assert fine < 0.01
    assert coarse / fine > 2.8


def test_schemes_of_second_order_follow_the_explicit_reference() -> None:
    """Tip of a falling beam at 0.3 s beside leapfrog: steps of 0.01 s are within 1 %."""
    actions = [Gravity(), Fix(None, LOW)]
    reference = tip(simulate([beam()], actions, seconds=0.3))
    assert reference > 0.2
    for scheme in (TrBdf2(), EnergyMomentum(), ImplicitMidpoint(), Newmark(), Bdf2()):
        found = tip(simulate([beam()], actions, seconds=0.3, step=0.01, integrator=scheme))
        assert found == pytest.approx(reference, rel=0.01), scheme.kind


@pytest.mark.parametrize("scheme", [TrBdf2, ImplicitEuler, ImplicitMidpoint, Bdf2])
@pytest.mark.parametrize("model", ["mass-spring", "fem", {"type": "fem", "law": "neo-hookean"}])
def test_steps_a_hundred_times_the_explicit_limit_are_stable(scheme: Any, model: Any) -> None:
    actions = [Gravity(), Fix(None, LOW)]
    limit = simulate([beam(model)], actions, seconds=0.02).plan.limit
    step = 100 * limit
    simulation = simulate(
        [beam(model)], actions, seconds=20 * step, fps=1 / step, step=step, integrator=scheme()
    )
    assert simulation.plan.seconds > 90 * limit
    for _ in range(40):
        simulation.advance()
    assert abs(tip(simulation)) < 1.2
    assert values(simulation)["solver.residual"] < 1.0


def test_a_wildly_shaken_body_comes_back() -> None:
    """Positions thrown about by half a cell, implicit Euler with large steps: the rest shape returns."""
    simulation = simulate([block(model={"type": "fem", "law": "neo-hookean"})], [], seconds=0.02)
    simulation = simulate(
        [block(model={"type": "fem", "law": "neo-hookean"})],
        [],
        seconds=0.02,
        integrator=ImplicitEuler(kinetic_damping=True),
        step=0.02,
    )
    world = simulation.system.world
    world.x[:] = shaken(world.rest, 0.05)
    simulation.system.evaluate(0.02, world.x, world.v, world.f)
    for _ in range(100):
        simulation.advance()
    lengths = np.linalg.norm(world.x[1:] - world.x[:-1], axis=1)
    rest = np.linalg.norm(world.rest[1:] - world.rest[:-1], axis=1)
    assert np.abs(lengths / rest - 1).max() < 1e-3


@pytest.mark.parametrize("scheme", IMPLICIT)
def test_forces_without_a_potential_are_taken_along(scheme: Any) -> None:
    """Damping, drag, a following pressure and a moment, beside an explicit run: the order is kept (by
    tr-bdf2, whose errors are the smallest, at steps below 5 ms)."""
    actions = [
        Fix(None, LOW),
        Gravity(),
        Damping(rate=4.0),
        Drag(density=100.0),
        Pressure(value=500.0),
        Moment(None, plane("x", "max"), axis=(0, 1, 0), value=-0.5),
    ]
    soft = {"young": 3e5, "poisson": 0.3, "density": 1000.0, "damping": 2e-4}
    body = Body(box(1.0, 0.1, 0.1, divisions=(20, 2, 2), split="uniform"), material=soft, model="fem")
    exact = simulate([body], actions, seconds=0.3).system.world.x
    errors = []
    for step in (0.005, 0.0025) if scheme is TrBdf2 else (0.02, 0.01):
        found = simulate([body], actions, seconds=0.3, step=step, integrator=scheme(tolerance=1e-6))
        errors.append(float(np.abs(found.system.world.x - exact).max()))
    assert errors[1] < (0.03 if scheme is ImplicitEuler else 0.004)
    assert errors[0] / errors[1] > (1.6 if scheme is ImplicitEuler else 2.8)


def test_models_without_an_energy_are_solved_by_newton_krylov() -> None:
    """Warping by Gram-Schmidt has no energy; the run follows its own explicit reference."""
    model = {"type": "fem", "rotation": "gram-schmidt"}
    actions = [Gravity(), Fix(None, LOW)]
    reference = tip(simulate([beam(model)], actions, seconds=0.2))
    simulation = simulate([beam(model)], actions, seconds=0.2, step=0.01, integrator="implicit-midpoint")
    assert not simulation.integrator_state.solver.minimises
    assert tip(simulation) == pytest.approx(reference, rel=0.01)


def test_damping_that_outruns_the_step_is_stable() -> None:
    """A rate of 1e4 /s with steps of 0.02 s: the free end sinks at g / rate, and nothing else happens."""
    actions = [Gravity(), Fix(None, LOW), Damping(rate=1e4)]
    simulation = simulate([beam()], actions, seconds=0.4, step=0.02, integrator="implicit-euler")
    world = simulation.system.world
    assert tip(simulation) == pytest.approx(9.81 / 1e4 * 0.4, rel=0.02)
    assert np.abs(world.v).max() < 1.05 * 9.81 / 1e4


def test_implicit_integrators_say_what_their_solver_did() -> None:
    for name in INTEGRATORS:
        if np.isinf(INTEGRATORS[name].stability):
            body = beam(model_for(name, "fem"))
            row = values(simulate([body], [Gravity(), Fix(None, LOW)], seconds=0.04, integrator=name))
            assert row["solver.iterations"] >= 1
            assert 0.0 < row["solver.residual"] < 0.2
