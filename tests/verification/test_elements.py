"""The elements model against closed forms: lattice moduli, bending, conservation, strength."""

from typing import Any

import numpy as np
import pytest
from bodies import simulate, values
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import pliant as pl
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene

YOUNG, DENSITY = 12.1e5, 580.0
TEXT = {"young": YOUNG, "poisson": 0.25, "density": DENSITY}


def elements(size: tuple[float, float, float], edge: float, **options: Any) -> Body:
    options.setdefault("material", TEXT)
    options.setdefault("model", "lattice")
    return Body(box(*size), edge=edge, **options)


def test_a_stretched_bar_has_youngs_modulus_and_a_quarter() -> None:
    """Uniaxial stress on a bar of 4 x 4 elements: E and nu of the material rule within 2 %."""
    bar = elements((1.2, 0.4, 0.4), 0.1)
    structure = bar.structure()
    mechanics = bar.model.prepare(structure, bar.resolved_material)
    strain, x = 1e-4, structure.rest * [1 + 1e-4, 1 - 0.25e-4, 1 - 0.25e-4]
    above = structure.rest[:, 0] > 0.6
    force, _ = mechanics.section_force(x, above)["elastic"]
    assert -force[0] / (strain * YOUNG * 0.4 * 0.4) == pytest.approx(1.0, abs=0.02)
    stress = mechanics.fields(x, np.zeros_like(x), ["stress", "principal"])
    assert stress["stress"].values == pytest.approx(strain * YOUNG, rel=1e-3)
    assert stress["principal"].values[:, 0] == pytest.approx(strain * YOUNG, rel=1e-3)


def tip_deflection(edge: float, axis: int, load: float) -> float:
    """Deflection of the end of the text's beam, 2 x 0.7 x 0.5 m, held by one face and loaded on the other."""
    beam = elements((2.0, 0.7, 0.5), edge, name="beam")
    force, end = tuple(load * (c == axis) for c in range(3)), pl.where.plane("x", "max")
    actions = [pl.Fix("beam", pl.where.plane("x", "min")), pl.Force("beam", end, value=force)]
    tip = pl.Probe(select=end, name="tip", what="displacement")
    scene = Scene([beam], actions, [tip], integrator={"type": "static", "tolerance": 1e-6})
    scene.time = type(scene.time)(duration=1, fps=1, integrator=scene.time.integrator)
    simulation = scene.simulation()
    simulation.start()
    simulation.advance()
    return simulation.row()[simulation.columns.index("tip.x") + axis]


@pytest.mark.parametrize(("axis", "width", "height"), [(1, 0.5, 0.7), (2, 0.7, 0.5)])
def test_the_beam_of_the_text_bends_as_timoshenko_says(axis: int, width: float, height: float) -> None:
    """w = F L^3 / 3 E I + F L / (5/6 G A), G = E / 2.5; and twice the load bends it twice as far."""
    load, length = 20.0, 2.0
    bending = load * length**3 / (3 * YOUNG * width * height**3 / 12)
    shear = load * length / (5 / 6 * YOUNG / 2.5 * width * height)
    found = tip_deflection(0.1, axis, load)
    assert found == pytest.approx(bending + shear, rel=0.05)
    if axis == 2:
        loads = np.array([5.0, 10.0, 20.0, 40.0])
        deflections = [found if load == 20.0 else tip_deflection(0.1, axis, load) for load in loads]
        assert np.corrcoef(loads, deflections)[0, 1] ** 2 > 0.9999


def linear_deflection(edge: float, axis: int, ghost: bool) -> float:
    """Deflection of the text's beam under a small load of 1 N on its last layer of elements, by the stiffness
    at rest: of that layer, where a layer outside its length holds it (``ghost``); where its own first layer
    does, of the end of the beam, x = 2 m, as its carried surface shows it."""
    from scipy.sparse.linalg import LinearOperator, cg

    size = (2.0 + edge, 0.7, 0.5) if ghost else (2.0, 0.7, 0.5)
    beam = elements(size, edge, position=(2.0 - size[0], 0, 0))
    structure = beam.structure()
    stiffness = beam.model.prepare(structure, beam.resolved_material).rest_stiffness().tocsr()
    free = np.repeat(structure.rest[:, 0] > 2.0 - size[0] + edge, 3)
    last = np.flatnonzero(structure.rest[:, 0] > 2.0 - 0.9 * edge)
    force = np.zeros(len(free))
    force[3 * last + axis] = 1.0 / len(last)
    reduced = stiffness[free][:, free]
    scale = 1.0 / reduced.diagonal()
    jacobi: Any = LinearOperator(reduced.shape, lambda u: scale * u)
    moved = np.zeros(len(free))
    moved[free] = cg(reduced, force[free], rtol=1e-6, M=jacobi)[0]
    if ghost:
        return float(moved[3 * last + axis].mean())
    assert structure.carrier is not None
    shown = structure.carrier.surface.points
    end = shown[:, 0] > 2.0 - 1e-9
    after = structure.carrier.positions(structure.rest + moved.reshape(-1, 3))
    return float((after - shown)[end, axis].mean())


@pytest.mark.parametrize(("axis", "width", "height"), [(1, 0.5, 0.7), (2, 0.7, 0.5)])
def test_twice_the_resolution_bends_the_same(axis: int, width: float, height: float) -> None:
    """Within 4 % of each other; and within 5 % (a = 0.1 m) and 2 % (0.05 m) of Timoshenko."""
    exact = 2.0**3 / (3 * YOUNG * width * height**3 / 12) + 2.0 / (5 / 6 * YOUNG / 2.5 * width * height)
    coarse, fine = (linear_deflection(edge, axis, ghost=True) / exact for edge in (0.1, 0.05))
    assert coarse == pytest.approx(1.0, abs=0.05)
    assert fine == pytest.approx(1.0, abs=0.02)
    assert coarse == pytest.approx(fine, rel=0.04)


@pytest.mark.parametrize("axis", [1, 2])
def test_the_end_of_a_beam_held_by_its_first_layer_bends_the_same_at_twice_the_resolution(axis: int) -> None:
    """Within 4 %: 3.7 and 2.4 %, loads along 0.7 and 0.5 m; the free lengths are 1.9 and 1.95 m."""
    coarse, fine = (linear_deflection(edge, axis, ghost=False) for edge in (0.1, 0.05))
    assert coarse == pytest.approx(fine, rel=0.04)


def test_a_stiff_body_takes_implicit_steps() -> None:
    """A thousand times as stiff, it sags a thousandth, with steps 100 times too long for explicit ones."""
    sags = []
    for young, integrator, step in ((1e6, "leapfrog", "auto"), (1e9, "implicit-euler", 0.02)):
        material = {"young": young, "poisson": 0.25, "density": 1000.0, "damping": 1e-3}
        bar = elements((0.6, 0.2, 0.2), 0.1, material=material, name="bar")
        actions = [pl.Gravity(), pl.Fix("bar", pl.where.plane("x", "min")), pl.Damping(rate=10.0)]
        simulation = simulate([bar], actions, seconds=1.0, integrator=integrator, step=step)
        limit = simulation.system.world.bodies[0].mechanics.stable_step().seconds
        sags.append(simulation.system.world.x[-1, 2] - simulation.system.world.rest[-1, 2])
    assert limit < 0.02 / 100
    assert sags[1] == pytest.approx(1e-3 * sags[0], rel=0.01)


def test_a_free_body_keeps_energy_momentum_and_angular_momentum() -> None:
    """Symplectic Euler, no damping: energy stays within 2 %, momenta to rounding."""
    body = elements((0.4, 0.3, 0.2), 0.1, velocity=(1, 0, 0.5), spin=(3, 5, 2))
    scene = Scene([body], integrator="symplectic-euler")
    simulation = scene.simulation()
    simulation.start()
    start, energies = values(simulation), []
    for _ in range(100):
        simulation.advance()
        energies.append(values(simulation)["energy.total"])
    end = values(simulation)
    assert np.abs(np.array(energies) / start["energy.total"] - 1).max() < 0.02
    for name in ("momentum", "angular"):
        before, after = (np.array([row[f"{name}.{c}"] for c in "xyz"]) for row in (start, end))
        assert np.abs(after - before).max() < 1e-11 * np.abs(before).max()


def pulled(**options: Any) -> tuple[Any, list[float]]:
    """A bar of strength 20 kPa pulled apart slowly; the Simulation and the mean stress in its middle."""
    strong = {**TEXT, "strength": 2e4, "damping": 2e-3}
    bar = elements((1.2, 0.4, 0.4), 0.1, material=strong, name="bar", **options)
    ends = [
        pl.Fix("bar", pl.where.box((-1, -1, -1), (0.2, 1, 1))),
        pl.Move("bar", pl.where.box((1.0, -1, -1), (2, 1, 1)), velocity=(0.06, 0, 0)),
    ]
    scene = Scene([bar], ends, [pl.FluxMeasure(plane={"axis": "x", "at": 0.601})])
    simulation = scene.simulation()
    simulation.start()
    area = simulation.system.world.count * 0.1**3 / 1.2  # of the voxels
    stresses = []
    for _ in range(40):
        simulation.advance()
        stresses.append(values(simulation)["flux.elastic"] / area)
    return simulation, stresses


@pytest.mark.parametrize(("degrees", "tolerance"), [(0, 0.1), (45, 0.2)])
def test_a_bar_breaks_at_its_strength_in_one_place(degrees: float, tolerance: float) -> None:
    """However its lattice lies, the stress rises to the strength and is gone; all cuts are side by side."""
    lattice = {"axis": "z", "degrees": degrees}
    simulation, stresses = pulled(model={"type": "lattice", "lattice": lattice})
    assert max(stresses) == pytest.approx(2e4, rel=tolerance)
    assert abs(stresses[-1]) < 0.02 * 2e4
    mechanics: Any = simulation.system.world.bodies[0].mechanics
    assert np.ptp(mechanics.structure.rest[mechanics.fracture.cut, 0]) < 0.15
    own = mechanics.connections
    whole = own.edges[own.intact]
    graph = coo_array((np.ones(len(whole)), whole.T), shape=(own.count, own.count))
    _, piece = connected_components(graph, directed=False)
    left, right = (piece[end(mechanics.structure.rest[:, 0])] for end in (np.argmin, np.argmax))
    assert left != right
    assert np.mean((piece == left) | (piece == right)) > 0.95


def test_past_yield_a_stretched_bar_stays_longer() -> None:
    """Pulled to 3 % with yield at 1 %, at once: connections along the bar keep 2 %."""
    soft = {**TEXT, "yield": 0.01 * YOUNG, "damping": 2e-3}
    bar = elements((0.6, 0.2, 0.2), 0.1, material=soft, name="bar")
    ends = [
        pl.Fix("bar", pl.where.plane("x", "min"), axes="x"),
        pl.Move("bar", pl.where.plane("x", "max"), displacement={"keys": _pull(0.03 * 0.5)}, axes="x"),
    ]
    simulation = simulate([bar], ends, seconds=1.0)
    mechanics = simulation.system.world.bodies[0].mechanics
    plastic = mechanics.fields(simulation.system.world.x, simulation.system.world.v, ["plastic"])["plastic"]
    along = mechanics.connections.lengths / mechanics.connections.born - 1
    assert along.max() == pytest.approx(0.02, abs=2e-3)
    assert plastic.values.max() > 1e-3


def _pull(distance: float) -> list[dict[str, Any]]:
    return [{"time": 0.0, "value": [0, 0, 0]}, {"time": 0.5, "value": [distance, 0, 0]}]
