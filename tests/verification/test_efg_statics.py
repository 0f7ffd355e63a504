"""Meshless bodies against closed forms: linear fields, beams, energy shares."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import diags_array
from scipy.sparse.linalg import cg

import pliant as pl
from pliant.core.diagnostics import Diagnostics
from pliant.core.typing import Array
from pliant.mesh.mesh import Surface, TetMesh, boundary_triangles, surface_volume

E, NU, RHO, G = 1e6, 0.3, 1000.0, 9.81
MATERIAL = {"young": E, "poisson": NU, "density": RHO}


def prepared(shape: Any, edge: float | None, **model: Any) -> tuple[Any, Any]:
    body = pl.Body(shape, edge=edge, model={"type": "efg", **model}, material=MATERIAL)
    structure = body.structure(Diagnostics())
    return structure, body.model.prepare(structure, body.resolved_material)


@pytest.mark.parametrize("sampling", ["lattice", "bcc", "octree", "stencil"])
def test_linear_fields_are_reproduced(sampling: str) -> None:
    structure, mechanics = prepared(pl.shapes.cylinder(0.1, 0.4), 0.03, sampling=sampling)
    gradient = np.eye(3) + np.random.default_rng(1).normal(0.0, 0.3, (3, 3))
    found = mechanics.gradients(structure.rest @ gradient.T + 5.0).reshape(-1, 3, 3)
    assert np.abs(found - gradient).max() < 1e-10


def deflected(
    shape: Any, edge: float | None, clamp: int, load: int, **model: Any
) -> tuple[Any, Array, Array]:
    """Mechanics, rest positions and linear displacements under gravity along ``load``, with what is within a
    millimetre of the low end of axis ``clamp`` held."""
    structure, mechanics = prepared(shape, edge, **model)
    along = structure.rest[:, clamp]
    free = np.repeat(along > along.min() + 1e-3, 3)
    f = np.zeros_like(structure.rest)
    f[:, load] = -G * structure.mass
    K = mechanics.rest_stiffness().tocsr()[free][:, free]
    u = np.zeros(f.size)
    u[free], failed = cg(K, f.ravel()[free], rtol=1e-6, M=diags_array(1 / K.diagonal()))
    assert not failed
    return mechanics, structure.rest, u.reshape(-1, 3)


def hourglass_share(mechanics: Any, rest: Array, u: Array) -> float:
    """The share of the hourglass control in the energy of a small deflection."""
    x = rest + 1e-4 * u
    return float(mechanics.hourglass_energy(x) / mechanics.energy(x))


def bent(shape: Any, edge: float, axis: int, load: int, **model: Any) -> tuple[float, float]:
    """Deflection of the free end of a straight beam, and the share of the hourglass control."""
    mechanics, rest, u = deflected(shape, edge, axis, load, **model)
    end = rest[:, axis] > rest[:, axis].max() - 1e-6
    return -float(u[end, load].mean()), hourglass_share(mechanics, rest, u)


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


def bent_bar(cells: tuple[int, int, int]) -> TetMesh:
    """A quarter of a ring from the x to the y axis: 0.5 m of mean radius, 0.1 m thick and high."""
    box: Any = pl.shapes.box(1.0, 0.1, 0.1, divisions=cells).volume()
    angle, r = 0.5 * np.pi * box.points[:, 0], 0.45 + box.points[:, 1]
    points = np.column_stack([r * np.cos(angle), r * np.sin(angle), box.points[:, 2]])
    return TetMesh(points, box.tets[:, [0, 2, 1, 3]])


def tip_of_bent_bar(shape: Any, edge: float | None, load: int, **model: Any) -> tuple[float, float]:
    mechanics, rest, u = deflected(shape, edge, 1, load, **model)
    share = hourglass_share(mechanics, rest, u) if "elements" not in model else 0.0
    return -float(u[rest[:, 0] < 1e-3, load].mean()), share


@pytest.mark.parametrize("load", [0, 2], ids=["in its plane", "across it"])
def test_a_bent_bar_that_does_not_fit_the_lattice(load: int) -> None:
    """Against quadratic finite elements; across its plane it bends and twists. Errors in its plane: 5.1, 2.9
    and 2.2 % with spacings of 33, 17 and 14 mm; across it -1.6, 2.3 and 2.3 %."""
    expected, _ = tip_of_bent_bar(bent_bar((20, 2, 2)), None, load, type="fem", elements="quadratic")
    fine = bent_bar((48, 6, 6))
    shape = Surface(fine.points, boundary_triangles(fine.tets))
    found = [tip_of_bent_bar(shape, edge, load) for edge in (0.033, 0.0167)]
    errors = [abs(tip / expected - 1) for tip, _ in found]
    assert max(errors) < 0.06
    assert errors[1] < 0.03
    assert found[1][1] < 0.015


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
    simulation = pl.Scene([cube], actions, time=pl.TimeSettings(duration=1.6, fps=50)).simulation()
    simulation.start()
    smallest = 1.0
    mechanics: Any = simulation.system.world.bodies[0].mechanics
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
    simulation = pl.Scene([bar], actions, time=pl.TimeSettings(duration=0.75, fps=20)).simulation()
    simulation.start()
    for _ in range(15):
        simulation.advance()
    world = simulation.system.world
    assert np.ptp(world.x[:, 0]) == pytest.approx(0.9, rel=1e-9)
    carrier: Any = world.bodies[0].structure.carrier
    now = surface_volume(carrier.positions(world.x), carrier.surface.triangles)
    assert now == pytest.approx(0.003, rel=0.05)
    middle = np.abs(world.x[:, 0] - 0.45) < 0.1
    width = np.ptp(world.x[middle, 1])
    assert 0.04 < width < 0.07  # 0.1 / sqrt(3) = 0.058 where it stretches evenly
    assert np.diff(np.sort(world.x[:, 0])).max() < 0.06  # nowhere torn, and phyxels everywhere
