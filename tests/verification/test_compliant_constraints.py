"""Elastic energies of meshless bodies as compliant constraints: stiffness of the linearised constraints, any
Young's modulus at one step, momenta, contact, refusals."""

from typing import Any

import numpy as np
import pytest
from bodies import shaken, values

import pliant as pl
from pliant.core.diagnostics import Diagnostics
from pliant.core.errors import IncompatibleError
from pliant.integrators import CompliantConstraints
from pliant.interfaces import ElasticConstraints
from pliant_benchmarks.bench_stiff import sagging

RHO, SCHEME = 1000.0, "compliant-constraints"


def started(body: Any, actions: list[Any], seconds: float, integrator: Any = SCHEME) -> Any:
    """A simulation at its first frame, with steps and frames of 1/100 s."""
    time = pl.TimeSettings(duration=seconds, fps=100)
    simulation = pl.Scene([body], actions, integrator=integrator, step=0.01, time=time).simulation()
    simulation.start()
    return simulation


def bar(young: float, **options: Any) -> pl.Body:
    material = {"young": young, "poisson": 0.3, "density": RHO, **options.pop("material", {})}
    return pl.Body(
        pl.shapes.box(0.4, 0.1, 0.1),
        edge=0.05,
        model={"type": "efg", **options},
        material=material,
        name="bar",
    )


def test_linearised_constraints_have_the_stiffness_of_the_body() -> None:
    r"""At rest :math:`J^T \alpha^{-1} J` and the hourglass stiffness are the body's. Under tension the
    multipliers, taken as stresses of the St. Venant-Kirchhoff law, add the whole geometric stiffness: the
    matrix is the derivative of the forces to 1e-6."""
    body = bar(1e6, law="st-venant-kirchhoff")
    structure = body.structure(Diagnostics())
    mechanics = body.model.prepare(structure, body.resolved_material)
    own = mechanics.offer(ElasticConstraints)
    rest, still = structure.rest, np.zeros_like(structure.rest)
    at_rest = own.constraint_stiffness(rest, own.multipliers(rest, still)).toarray()
    assert np.abs(at_rest - mechanics.rest_stiffness().toarray()).max() < 1e-12 * np.abs(at_rest).max()
    x = shaken(rest * 1.2, 0.001)
    matrix = own.constraint_stiffness(x, own.multipliers(x, still))
    dx = 1e-6 * np.random.default_rng(3).normal(size=rest.shape)
    ahead, behind = np.zeros_like(x), np.zeros_like(x)
    mechanics.add_elastic_forces(x + dx, ahead)
    mechanics.add_elastic_forces(x - dx, behind)
    slope = 0.5 * (behind - ahead)
    assert (matrix @ dx.ravel()).reshape(-1, 3) == pytest.approx(slope, abs=1e-6 * np.abs(slope).max())


@pytest.mark.parametrize("young", [1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11])
def test_any_stiffness_at_one_step(young: float) -> None:
    """A clamped bar under its weight, steps of 1/100 s: the deflection that implicit Euler finds (to 0.2 %,
    which their tolerances leave), within 2 % of Timoshenko's where that is small."""
    ratio, took = sagging(young, "compliant-constraints", False)
    other, _ = sagging(young, "implicit-euler", False)
    assert took > 0.0
    assert ratio == pytest.approx(other, rel=2e-3)
    if young >= 1e6:
        assert abs(ratio - 1.0) < 0.02


@pytest.mark.parametrize("young", [1e6, 1e11])
def test_the_number_of_iterations_does_not_grow_with_the_stiffness(young: float) -> None:
    """A clamped bar bent by its weight and turned by a drive, to a residual of 1e-6 of the loads: at most ten
    factorisations a step, the mean below five."""
    body = bar(young)
    turn = pl.Rotate(body, pl.where.plane("x", "min"), axis=(0, 0, 1), speed="0.5 rad/s")
    simulation = started(body, [pl.Gravity(), turn], 0.2, CompliantConstraints(tolerance=1e-6))
    counts = []
    for _ in range(20):
        simulation.advance()
        counts.append(values(simulation)["solver.iterations"])
    assert max(counts) <= 10.0
    assert np.mean(counts) < 5.0


def test_a_stiff_bar_turns_freely() -> None:
    """1e11 Pa, 2 turns/s at 1/100 s: 7.2 degrees a step. Momenta are kept as well as forces of
    EA = 1e9 N cancel in double precision (1e-7 N over 0.5 s, 1e-6 is allowed), and no energy is gained."""
    body = bar(1e11)
    body = pl.Body(body.shape, edge=0.05, model="efg", material=body.material, spin=(0, 0, 4 * np.pi))
    simulation = started(body, [], 0.5)
    world = simulation.system.world

    def momenta() -> tuple[Any, Any, float]:
        p = (world.mass[:, None] * world.v).sum(axis=0)
        turn = np.cross(world.x, world.mass[:, None] * world.v).sum(axis=0)
        return p, turn, 0.5 * float(np.sum(world.mass[:, None] * world.v**2))

    p0, l0, k0 = momenta()
    for _ in range(50):
        simulation.advance()
    p, turn, k = momenta()
    assert p == pytest.approx(p0, abs=1e-6)
    assert turn == pytest.approx(l0, abs=1e-6)
    assert 0.99 * k0 < k <= (1 + 1e-9) * k0


def test_a_stiff_bar_lands() -> None:
    """1e9 Pa dropped from 5 cm onto the ground with steps of 1/100 s: it rests, and the ledger closes."""
    body = bar(1e9)
    drop = pl.Body(body.shape, edge=0.05, model="efg", material=body.material, position=(0, 0, 0.1))
    simulation = started(drop, [pl.Gravity(), pl.Ground()], 0.6)
    first = values(simulation)["energy.total"]
    for _ in range(60):
        simulation.advance()
    world = simulation.system.world
    assert world.x[:, 2].min() == pytest.approx(0.0, abs=1e-3)
    assert np.abs(world.v).max() < 0.01
    assert values(simulation)["energy.total"] == pytest.approx(first, abs=1e-6 * abs(first) + 1e-9)


def test_what_is_not_elastic_is_refused() -> None:
    yields = bar(1e6, material={"yield": 1e4})
    with pytest.raises(IncompatibleError, match="yield stress"):
        started(yields, [], 0.1)
    other = pl.Body(pl.shapes.box(0.2, 0.1, 0.1), edge=0.05, model="fem")
    with pytest.raises(IncompatibleError, match="elastic constraints, which model 'fem'"):
        started(other, [], 0.1)
