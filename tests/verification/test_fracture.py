"""Bodies that break and bodies that are cut: loads, places, and what must be kept."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.fracture.tet_topology import pieces
from pliant.mesh.mesh import tet_volumes
from stopping import assert_same, stopped_and_resumed

SIZE, NECK, STRENGTH = (0.4, 0.1, 0.05), 0.6, 2e4


def bar(fineness: int, **time: Any) -> pl.Scene:
    """A necked bar with its ends pulled apart at 0.06 m/s, free to narrow."""
    shape = pl.shapes.necked_bar(SIZE, neck=NECK, divisions=(8 * fineness, 2 * fineness, fineness))
    material = {"young": 1e6, "poisson": 0.3, "density": 1000, "damping": 5e-4, "strength": STRENGTH}
    body = pl.Body(shape, model="fem", material=material, name="bar")
    ends = pl.where.plane("x", "min"), pl.where.plane("x", "max")
    pulls = [
        pl.Move(body, end, velocity=(way * 0.03, 0, 0), axes="x")
        for end, way in zip(ends, (-1, 1), strict=True)
    ]
    pull = pl.Reaction(select=ends[1], name="pull", every="step")
    return pl.Scene([body], pulls, [pull], time=pl.TimeSettings(**{"duration": 0.2, "fps": 20, **time}))


@pytest.mark.parametrize(
    ("fineness", "integrator"),
    [(2, "leapfrog"), pytest.param(3, "implicit-euler", marks=pytest.mark.slow)],
)
def test_a_bar_breaks_once_in_its_neck_at_strength_times_section(fineness: int, integrator: str) -> None:
    """Load at breaking = strength x section of the neck within 10 %; the crack has that area."""
    step = 1e-3 if integrator == "implicit-euler" else "auto"
    simulation = bar(fineness, integrator=integrator, step=step).simulation()
    world, loads = simulation.system.world, []
    mass = world.mass.sum()
    for _ in range(4):
        loads.append(simulation.advance())
    series = dict(zip(simulation.columns, simulation.row(), strict=True))
    section = NECK * SIZE[1] * SIZE[2]
    peak = float(np.concatenate(loads)[:, simulation.step_columns.index("pull.x")].max())
    assert peak == pytest.approx(STRENGTH * section, rel=0.1)
    assert series["fracture.pieces"] == 2.0
    assert series["fracture.area"] == pytest.approx(section, rel=0.05)
    assert world.mass.sum() == pytest.approx(mass, rel=1e-12)
    structure = world.bodies[0].structure
    tets = structure.cells["tetra"]
    _, piece = pieces(tets)
    ends = [structure.rest[tets[piece == k]][..., 0] for k in (0, 1)]
    assert max(end.max() for end in ends if end.min() < 0.1) == pytest.approx(0.2, abs=0.025)


def test_breaking_keeps_momentum_and_mass() -> None:
    """A bar that flies apart freely: its ends start with opposite speeds and a spin."""
    shape = pl.shapes.necked_bar(SIZE, neck=NECK, divisions=(12, 3, 2))
    material = {"young": 1e6, "poisson": 0.3, "density": 1000, "strength": 1e4}
    body = pl.Body(shape, model="fem", material=material, velocity=(1, 2, 3), spin=(0, 5, 10), name="bar")
    simulation = pl.Scene([body], time=pl.TimeSettings(duration=0.1, fps=50)).simulation()
    world = simulation.system.world
    world.v[:, 0] += 4.0 * (world.x[:, 0] - 0.2)
    simulation.start()
    before = dict(zip(simulation.columns, simulation.row(), strict=True))
    for _ in range(4):
        simulation.advance()
    after = dict(zip(simulation.columns, simulation.row(), strict=True))
    assert after["fracture.pieces"] > 1
    for name in (f"{kind}.{axis}" for kind in ("momentum", "angular") for axis in "xyz"):
        assert after[name] == pytest.approx(before[name], rel=1e-9, abs=1e-9)


def cube(model: str, integrator: str, **options: Any) -> pl.Scene:
    material = {"young": 1e5, "poisson": 0.3, "density": 1000}
    shape = pl.shapes.box(0.1, 0.1, 0.1, divisions=(4, 4, 4))
    body = pl.Body(shape, model=model, material=material, name="cube", **options)
    plane = {"point": (0.05, 0.05, 0.05), "normal": (1.0, 0.1, 0.05)}
    actions = [pl.Gravity(), pl.Ground(friction=0.2), pl.Damping(rate=10), pl.Cut(body, plane=plane, at=0.1)]
    step = 0.002 if integrator == "implicit-euler" else "auto"
    return pl.Scene(
        [body], actions, time=pl.TimeSettings(duration=0.6, fps=50, step=step, integrator=integrator)
    )


@pytest.mark.parametrize(
    ("model", "integrator"), [("fem", "leapfrog"), ("mass-spring", "leapfrog"), ("fem", "implicit-euler")]
)
def test_halves_of_a_cut_cube_keep_mass_and_volume_and_come_to_rest(model: str, integrator: str) -> None:
    simulation = cube(model, integrator).simulation()
    world = simulation.system.world
    for _ in range(30):
        simulation.advance()
    structure = world.bodies[0].structure
    tets = structure.cells["tetra"]
    count, piece = pieces(tets)
    assert count == 2
    volumes = np.bincount(piece, tet_volumes(structure.rest, tets))
    assert volumes.sum() == pytest.approx(1e-3, rel=1e-9)
    assert volumes == pytest.approx([5e-4, 5e-4], rel=0.05)
    masses = [structure.mass[np.unique(tets[piece == k])].sum() for k in (0, 1)]
    assert masses == pytest.approx(1000 * volumes, rel=1e-9)
    assert np.sqrt(2.0 * world.kinetic_energy() / world.mass.sum()) < 0.02
    assert world.x[:, 2].min() > -1e-6
    for k in (0, 1):
        rows = np.unique(tets[piece == k])
        assert 0.01 < world.x[rows, 2].mean() < 0.08


def test_cutting_keeps_linear_and_angular_momentum() -> None:
    shape = pl.shapes.box(0.1, 0.1, 0.1, divisions=(3, 3, 3))
    material = {"young": 1e5, "poisson": 0.3, "density": 1000}
    body = pl.Body(shape, model="fem", material=material, velocity=(1, 0, 2), spin=(3, 2, 1), name="cube")
    plane = {"point": (0.05, 0.05, 0.05), "normal": (1.0, 0.2, 0.3)}
    simulation = pl.Scene([body], [pl.Cut(body, plane=plane, at=0.0)]).simulation()
    before = dict(zip(simulation.columns, simulation.row(), strict=True))
    simulation.advance()
    after = dict(zip(simulation.columns, simulation.row(), strict=True))
    assert after["fracture.pieces"] == 2
    for name in (f"{kind}.{axis}" for kind in ("momentum", "angular") for axis in "xyz"):
        assert after[name] == pytest.approx(before[name], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("stop", [pytest.param(3, marks=pytest.mark.slow), 7])
def test_a_resumed_run_is_the_same_on_either_side_of_a_cut(tmp_path: Path, stop: int) -> None:
    """Cut at 0.1 s, with clamps, forces and dents that follow; stopped before and after."""

    def scene() -> pl.Scene:
        shape = pl.shapes.box(0.2, 0.1, 0.1, divisions=(4, 2, 2))
        material = {"young": 1e5, "poisson": 0.3, "density": 1000, "yield": 500.0, "strength": 2500.0}
        body = pl.Body(shape, model="fem", material=material, name="beam")
        actions = [
            pl.Gravity(),
            pl.Fix(body, pl.where.plane("x", "min")),
            pl.Force(body, pl.where.plane("x", "max"), value=(0, 0, -1)),
            pl.Cut(body, plane={"axis": "y", "at": 0.043}, at=0.1),
        ]
        return pl.Scene([body], actions, time=pl.TimeSettings(duration=0.2, fps=50))

    whole = scene().run(to=tmp_path / "whole.pliant")
    again = stopped_and_resumed(scene(), tmp_path / "broken.pliant", stop)
    assert whole.series["fracture.pieces"][-1] >= 2
    assert_same(whole, again)
    assert np.array_equal(whole.frames[-1].surface("beam").points, again.frames[-1].surface("beam").points)


@pytest.mark.parametrize(
    ("mesher", "edge"),
    [("tetwild", 0.025), pytest.param("tetwild", 0.0167, marks=pytest.mark.slow), ("lattice", 0.02)],
)
def test_a_bar_of_unstructured_tets_breaks_in_two_at_strength_times_section(mesher: Any, edge: float) -> None:
    """Tets that know nothing of the neck: one crack across it, exactly two halves, at strength x section."""
    shape = pl.shapes.necked_bar(SIZE, neck=NECK)
    material = {"young": 1e6, "poisson": 0.3, "density": 1000, "damping": 5e-4, "strength": STRENGTH}
    body = pl.Body(shape, edge=edge, mesher=mesher, model="fem", material=material, name="bar")
    ends = [pl.where.plane("x", at) for at in ("min", "max")]
    pulls = [
        pl.Move(body, end, velocity=(way * 0.06, 0, 0), axes="x")
        for end, way in zip(ends, (-1, 1), strict=True)
    ]
    pull = pl.Reaction(select=ends[1], name="pull", every="step")
    plan = pl.TimeSettings(duration=0.08, fps=50, step=1e-3, integrator="implicit-euler")
    simulation = pl.Scene([body], pulls, [pull], time=plan).simulation()
    world = simulation.system.world
    mass, volume = world.mass.sum(), tet_volumes(world.rest, world.bodies[0].structure.cells["tetra"]).sum()
    loads = np.concatenate([simulation.advance() for _ in range(4)])
    series = dict(zip(simulation.columns, simulation.row(), strict=True))
    section = NECK * SIZE[1] * SIZE[2]
    structure = world.bodies[0].structure
    volumes = tet_volumes(structure.rest, structure.cells["tetra"])
    assert series["fracture.pieces"] == 2.0
    assert series["fracture.area"] == pytest.approx(1.1 * section, rel=0.15)  # along tets, a little rough
    _, piece = pieces(structure.cells["tetra"])
    assert (np.bincount(piece, volumes) / volume).min() > 0.45
    assert loads[:, simulation.step_columns.index("pull.x")].max() == pytest.approx(
        STRENGTH * section, rel=0.1
    )
    assert volumes.min() > 0.0
    assert volumes.sum() == pytest.approx(volume, rel=1e-12)
    assert world.mass.sum() == pytest.approx(mass, rel=1e-12)
