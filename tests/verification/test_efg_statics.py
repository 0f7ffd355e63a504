"""Meshless bodies against closed forms: linear fields, beams, energy shares."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import diags_array
from scipy.sparse.linalg import cg

import pliant as pl
from pliant.mesh.types import surface_volume

E, NU, RHO, G = 1e6, 0.3, 1000.0, 9.81
MATERIAL = {"young": E, "poisson": NU, "density": RHO}


def prepared(shape: Any, edge: float, **options: Any) -> tuple[Any, Any]:
    body = pl.Body(shape, edge=edge, model={"type": "efg", **options}, material=MATERIAL)
    structure = body.structure(lambda _: None)
    return structure, body.model.prepare(structure, body.resolved_material)


@pytest.mark.parametrize("sampling", ["lattice", "bcc", "octree"])
def test_linear_fields_are_reproduced(sampling: str) -> None:
    structure, mechanics = prepared(pl.shapes.cylinder(0.1, 0.4), 0.03, sampling=sampling)
    gradient = np.eye(3) + np.random.default_rng(1).normal(0.0, 0.3, (3, 3))
    found = mechanics.gradients(structure.rest @ gradient.T + 5.0).reshape(-1, 3, 3)
    assert np.abs(found - gradient).max() < 1e-10


def bent(shape: Any, edge: float, axis: int, load: int, **options: Any) -> tuple[float, float]:
    """Linear deflection of the free end under gravity along ``load``, clamped at the low end of ``axis``;
    and the share of the hourglass control in the energy."""
    structure, mechanics = prepared(shape, edge, **options)
    along = structure.rest[:, axis]
    free = np.repeat(along > along.min() + 1e-6, 3)
    f = np.zeros_like(structure.rest)
    f[:, load] = -G * structure.mass
    K = mechanics.rest_stiffness().tocsr()[free][:, free]
    u = np.zeros(f.size)
    u[free], failed = cg(K, f.ravel()[free], rtol=1e-6, M=diags_array(1 / K.diagonal()))
    assert not failed
    u = u.reshape(-1, 3)
    x = structure.rest + 1e-4 * u
    share = mechanics.hourglass_energy(x) / mechanics.energy(x)
    return -float(u[along > along.max() - 1e-6, load].mean()), share


def timoshenko(length: float, area: float, second_moment: float, shear_factor: float) -> float:
    """Tip of a cantilever under its own weight: q L^4 / 8 E I + q L^2 / 2 k G A."""
    q = RHO * G * area
    shear = E / (2 * (1 + NU))
    return q * length**4 / (8 * E * second_moment) + q * length**2 / (2 * shear_factor * shear * area)


def test_a_square_beam_bends_as_beam_theory_says() -> None:
    a = 0.1
    expected = timoshenko(1.0, a * a, a**4 / 12, 5 / 6)
    errors = []
    for edge in (0.05, 0.0167):
        tip, share = bent(pl.shapes.box(1.0, a, a), edge, 0, 2)
        errors.append(abs(tip / expected - 1))
    assert errors[1] < 0.015
    assert errors[1] < errors[0]
    assert share < 0.01


def test_a_body_centred_lattice_does_too() -> None:
    a = 0.1
    tip, share = bent(pl.shapes.box(1.0, a, a), 0.0167, 0, 2, sampling="bcc")
    assert tip == pytest.approx(timoshenko(1.0, a * a, a**4 / 12, 5 / 6), rel=0.035)
    assert share < 0.015


def test_a_round_beam_that_does_not_fit_the_lattice() -> None:
    r = 0.06
    tip, share = bent(pl.shapes.cylinder(r, 1.0), 0.018, 2, 0)
    assert tip == pytest.approx(timoshenko(1.0, np.pi * r**2, np.pi * r**4 / 4, 0.9), rel=0.06)
    assert share < 0.015


def test_a_stiff_beam_comes_to_rest_with_steps_of_a_hundredth_of_a_second() -> None:
    """E = 1e9 Pa; the text stopped at 1e8. An explicit step would be 6e-6 s."""
    stiff = {"young": 1e9, "poisson": NU, "density": RHO}
    beam = pl.Body(pl.shapes.box(1.0, 0.1, 0.1), edge=0.05, model="efg", material=stiff, name="beam")
    actions = [pl.Gravity(G), pl.Fix(beam, pl.where.plane("x", "min")), pl.Damping(rate=5.0)]
    scene = pl.Scene([beam], actions, integrator="implicit-euler", step=0.01)
    simulation = scene.simulation()
    simulation.start()
    for _ in range(25):
        simulation.advance()
    world = simulation.system.world
    end = world.rest[:, 0] > 1.0 - 1e-6
    tip = -float((world.x - world.rest)[end, 2].mean())
    assert simulation.plan.seconds == pytest.approx(0.01)
    assert tip == pytest.approx(timoshenko(1.0, 0.01, 1e-4 / 12, 5 / 6) * E / 1e9, rel=0.06)


def test_a_jelly_cube_dropped_from_two_metres_ends_upright_and_uninverted() -> None:
    jelly = {"young": 3e4, "poisson": 0.45, "density": 1000.0, "damping": 2e-3}
    cube = pl.Body(
        pl.shapes.box(0.3, 0.3, 0.3), edge=0.1, model="efg", material=jelly, position=(0, 0, 2), name="cube"
    )
    actions = [pl.Gravity(G), pl.Ground(friction=0.6, restitution=0.1)]
    simulation = pl.Scene([cube], actions, time=pl.TimePlan(duration=1.6, fps=50)).simulation()
    simulation.start()
    smallest = 1.0
    mechanics: Any = simulation.system.world.parts[0].mechanics
    for _ in range(80):
        simulation.advance()
        x = simulation.system.world.x
        smallest = min(smallest, float(np.linalg.det(mechanics.gradients(x).reshape(-1, 3, 3)).min()))
    rest = simulation.system.world.rest
    assert smallest > 0.0
    assert np.linalg.det(mechanics.gradients(x).reshape(-1, 3, 3)).min() > 0.7
    up = x[rest[:, 2] > 2.3 - 1e-6].mean(axis=0) - x[rest[:, 2] < 2.0 + 1e-6].mean(axis=0)
    assert up[2] / np.linalg.norm(up) > 0.99
    assert up[2] > 0.25


def test_dough_pulled_to_three_times_its_length_keeps_its_volume_and_necks() -> None:
    dough = {"young": 1e5, "poisson": 0.45, "density": 1100.0, "yield": 4e3}
    model = {"type": "efg", "resample": True}
    bar = pl.Body(pl.shapes.box(0.3, 0.1, 0.1), edge=0.033, model=model, material=dough, name="bar")
    actions = [
        pl.Fix(bar, pl.where.plane("x", "min")),
        pl.Move(bar, pl.where.plane("x", "max"), velocity=(0.8, 0, 0)),
        pl.Damping(rate=5.0),
    ]
    simulation = pl.Scene([bar], actions, time=pl.TimePlan(duration=0.75, fps=20)).simulation()
    simulation.start()
    for _ in range(15):
        simulation.advance()
    world = simulation.system.world
    assert np.ptp(world.x[:, 0]) == pytest.approx(0.9, rel=1e-9)
    carrier: Any = world.parts[0].structure.carrier
    now = surface_volume(carrier.positions(world.x), carrier.surface.triangles)
    assert now == pytest.approx(0.003, rel=0.05)
    middle = np.abs(world.x[:, 0] - 0.45) < 0.1
    width = np.ptp(world.x[middle, 1])
    assert 0.04 < width < 0.07  # 0.1 / sqrt(3) = 0.058 where it stretches evenly
    assert np.diff(np.sort(world.x[:, 0])).max() < 0.06  # nowhere torn, and phyxels everywhere
