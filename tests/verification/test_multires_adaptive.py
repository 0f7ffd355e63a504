"""Multiresolution bodies whose levels come and go: what they do beside the finest mesh, and their energy."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.actions.obstacles import SphereShape
from pliant.core.curves import Curve
from pliant.mesh.shapes import box
from pliant.structure.samplers.levels import level_meshes


def poked(coupling: str, detail: str = "adaptive") -> Any:
    """The slab of the study that a ball presses: 605 nodes, and 108 at its coarser level."""
    table = {"type": "multires", "coupling": coupling, "detail": detail}
    tissue = {"young": 2e4, "poisson": 0.3, "density": 1000.0, "damping": 2e-3}
    slab = pl.Body(
        box(0.4, 0.4, 0.15, divisions=(10, 10, 4), split="uniform"), model=table, material=tissue, name="slab"
    )
    path = Curve([0.0, 0.6], [(0.2, 0.2, 0.22), (0.2, 0.2, 0.17)], ease="smooth")
    ball = pl.Obstacle(sphere=SphereShape(radius=0.06), position=path, friction=0.3, name="finger")
    scene = pl.Scene(
        [slab],
        [pl.Fix(slab, pl.where.plane("z", "min")), ball],
        measures=[pl.Energy()],
        time=pl.TimeSettings(duration=1.0, fps=50),
    )
    return _frames(scene, 50)


def _frames(scene: Any, count: int) -> Any:
    """The simulation after so many frames, its series, and the split flags of each frame."""
    simulation = scene.simulation()
    simulation.start()
    mechanics = simulation.system.world.bodies[0].mechanics
    rows, splits = [simulation.row()], []
    for _ in range(count):
        simulation.advance()
        rows.append(simulation.row())
        splits.append(np.concatenate(mechanics.split))
    series = dict(zip(simulation.columns, np.array(rows).T, strict=True))
    return simulation, series, splits


@pytest.fixture(scope="module")
def finest() -> Any:
    return poked("galerkin", "finest")


@pytest.mark.parametrize(("coupling", "rms", "most"), [("galerkin", 0.01, 0.03), ("schwarz", 0.02, 0.1)])
def test_a_tool_feels_what_the_finest_mesh_would_push_back(
    finest: Any, coupling: str, rms: float, most: float
) -> None:
    """Force on the tool and shape at the end; levels do not change any more when the ball rests."""
    simulation, series, splits = poked(coupling)
    world, whole = simulation.system.world, finest[0].system.world
    off = np.linalg.norm(world.x - whole.x, axis=1)
    largest = np.linalg.norm(whole.x - whole.rest, axis=1).max()
    assert np.sqrt(np.mean(off**2)) < rms * largest
    assert off.max() < most * largest
    assert abs(series["finger.z"][-1] / finest[1]["finger.z"][-1] - 1.0) < 0.03
    assert 0 < splits[-1].sum() < 0.6 * len(splits[-1])
    assert sum(int((a != b).sum()) for a, b in pairwise(splits[40:])) == 0
    assert series["energy.work"][-1] == pytest.approx(finest[1]["energy.work"][-1], rel=0.25)


def test_the_ledger_closes_while_levels_change(finest: Any) -> None:
    """Kinetic and elastic energy are those of what is simulated, and what a change of levels takes or gives
    is booked: with galerkin, to 5 % of what the ball gave."""
    _, series, splits = poked("galerkin")
    assert sum(int((a != b).sum()) for a, b in pairwise(splits)) >= 5
    total = series["energy.total"]
    assert np.abs(total - total[0]).max() < 0.05 * series["energy.work"].max()


def test_an_undamped_beam_keeps_its_energy_while_levels_change() -> None:
    """A clamped beam that falls and swings: 39 J of gravity at hand, 77 J of which move."""
    beam = pl.Body(
        box(1.0, 0.2, 0.2, divisions=(15, 3, 3), split="uniform"),
        model={"type": "multires", "operator": "corotational"},
        material={"young": 1e6, "poisson": 0.3, "density": 1000.0},
    )
    scene = pl.Scene(
        [beam],
        [pl.Gravity(), pl.Fix(beam, pl.where.plane("x", "min"))],
        measures=[pl.Energy()],
        time=pl.TimeSettings(duration=0.6, fps=50),
    )
    simulation, series, splits = _frames(scene, 30)
    assert simulation.system.world.bodies[0].mechanics.coupling_kind == "galerkin"
    assert splits[-1].sum() > 20
    moved = np.ptp(series["energy.elastic"] + series["energy.kinetic"])
    assert np.abs(series["energy.total"] - series["energy.total"][0]).max() < 0.01 * moved
    heat = np.abs(series["energy.dissipated"]).max()  # of changes of levels: there is no damping
    assert 0.0 < heat < 0.1 * moved


def test_levels_that_are_one_cell_across_are_left_out() -> None:
    """The beam's next coarser mesh has nodes inside; one of a quarter of its cells would not, and be twice
    as stiff."""
    table = {"type": "multires", "levels": 4}
    slender = pl.Body(box(1.0, 0.2, 0.2, divisions=(15, 3, 3)), model=table).structure()
    assert [len(points) for points, _ in level_meshes(slender)] == [81, 256]
    cube = pl.Body(box(1.0, 1.0, 1.0, divisions=(4, 4, 4)), model=table).structure()
    assert [len(points) for points, _ in level_meshes(cube)] == [27, 125]


def test_a_held_body_without_damping_is_coupled_by_galerkin() -> None:
    """Damping by an action counts: galerkin would have nothing to set against forces that are read once a
    frame (a block that an action slows at 40 /s blew up)."""
    for damping, rate, kind in ((0.0, 0.0, "galerkin"), (1e-3, 0.0, "schwarz"), (0.0, 40.0, "schwarz")):
        material = {"young": 1e5, "poisson": 0.3, "density": 1000.0, "damping": damping}
        cube = pl.Body(box(1, 1, 1, divisions=(4, 4, 4)), model={"type": "multires"}, material=material)
        actions = [pl.Fix(cube, pl.where.plane("z", "min")), *([pl.Damping(rate=rate)] if rate else [])]
        simulation = _frames(pl.Scene([cube], actions, time=pl.TimeSettings(fps=50)), 1)[0]
        assert simulation.system.world.bodies[0].mechanics.coupling_kind == kind
