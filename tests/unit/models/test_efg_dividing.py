"""Phyxels that cracks pass through: halves, what they keep, and pieces that meet."""

from typing import Any

import numpy as np
import pytest
from bodies import MATERIAL, block, simulate

import pliant as pl
from pliant.contact.parameters import Contact
from pliant.models.efg.cell_cutter import CellCutter
from pliant.models.efg.cells import VoronoiCells, voronoi_cells

DEFORMED = np.array([[1.1, 0.2, 0.0], [0.0, 0.95, 0.1], [0.05, 0.0, 1.02]])


def prepared(**options: Any) -> tuple[Any, Any]:
    body = block((6, 4, 4), model={"type": "efg", **options})
    structure = body.structure()
    return structure, body.model.prepare(structure, body.resolved_material)


def volume(cells: VoronoiCells, i: int) -> float:
    """Of the closed cell of phyxel i: a sum of pyramids over its faces."""
    loops = []
    for (starts, faces), table in ((cells.faces_of, cells), (cells.outer_faces_of, cells.hull)):
        for f in faces[starts[i] : starts[i + 1]]:
            loops.append(cells.points[table.corners[table.starts[f] : table.starts[f + 1]]])
    centre = np.concatenate(loops).mean(axis=0)
    total = 0.0
    for loop in loops:
        p, middle = loop - centre, loop.mean(axis=0) - centre
        total += sum(abs(middle @ np.cross(a, b)) / 6 for a, b in zip(p, np.roll(p, -1, axis=0), strict=True))
    return total


def test_a_plane_cuts_a_cell_into_two_that_share_its_volume() -> None:
    structure, _ = prepared()
    cells = voronoi_cells(structure.rest, structure.spacing, structure.carrier.surface)
    i = int(np.argmin(np.linalg.norm(structure.rest - [0.3, 0.2, 0.2], axis=1)))
    assert volume(cells, i) == pytest.approx(1e-3, rel=1e-9)  # a cube of a litre
    cutter = CellCutter(cells, 1e-6)
    face = cutter.cut(i, np.array([0.27, 0.2, 0.2]), np.array([1.0, 0.0, 0.0]), len(structure.rest))
    assert face is not None
    cut = cutter.result().cells
    assert volume(cut, i) == pytest.approx(0.2e-3, rel=1e-9)  # 0.25 to 0.27 m
    assert volume(cut, len(structure.rest)) == pytest.approx(0.8e-3, rel=1e-9)
    assert cut.area[face] == pytest.approx(1e-2, rel=1e-9)
    assert sorted(cut.pairs[face].tolist()) == [i, len(structure.rest)]
    beside = np.concatenate([cells.pairs[(cells.pairs == i).any(axis=1)].ravel()])
    for k in np.unique(beside[beside != i]):  # neighbours get corners, and keep their shape
        assert volume(cut, int(k)) == pytest.approx(volume(cells, int(k)), rel=1e-9)


def test_a_plane_beside_a_cell_cuts_nothing() -> None:
    structure, _ = prepared()
    cells = voronoi_cells(structure.rest, structure.spacing, structure.carrier.surface)
    cutter = CellCutter(cells, 1e-6)
    assert cutter.cut(0, np.array([0.5, 0.0, 0.0]), np.array([1.0, 0.0, 0.0]), len(structure.rest)) is None
    assert cutter.result().cells.pairs.tolist() == cells.pairs.tolist()


def test_halves_keep_mass_centre_and_the_deformation_that_was() -> None:
    structure, mechanics = prepared()
    x = structure.rest @ DEFORMED.T
    before = mechanics.energy(x)
    assert mechanics.cut(x, structure.rest[:, 0] - 0.29)
    new, parents = mechanics.structure, mechanics.parents
    assert len(new.rest) == len(structure.rest) + 25  # the layer at 0.3 m, 5 x 5
    moved = x[parents] + mechanics.moved
    assert moved == pytest.approx(new.rest @ DEFORMED.T, abs=1e-12)
    assert new.mass.sum() == pytest.approx(structure.mass.sum(), rel=1e-13)
    assert new.mass @ moved == pytest.approx(structure.mass @ x, rel=1e-12)
    halves = np.flatnonzero(np.bincount(parents)[parents] == 2)
    share = new.mass[halves] / structure.mass[parents[halves]]
    assert len(halves) == 50
    assert np.minimum(share, 1.0 - share) == pytest.approx(
        np.full(50, 0.4), abs=0.05
    )  # 0.25 to 0.29 to 0.35 m
    assert mechanics.energy(moved) == pytest.approx(before, rel=1e-9)
    found = mechanics.gradients(moved).reshape(-1, 3, 3)
    assert np.abs(found - DEFORMED).max() < 1e-10
    assert mechanics.fracture_statistics()[0] == 2
    assert mechanics.fracture_statistics()[1] == pytest.approx(0.16, rel=0.05)


def test_momentum_and_its_moment_stay_when_phyxels_are_divided() -> None:
    body = block((6, 4, 4), model="efg", velocity=(0.3, 0.0, 1.0), spin=(1.0, 8.0, 0.0))
    cut = pl.Cut(plane={"axis": "x", "at": 0.29}, body=body, at=0.0)
    scene = pl.Scene([body], [cut])
    simulation = scene.simulation()
    simulation.start()
    world = simulation.system.world
    count = world.count

    def moments() -> np.ndarray:
        p = world.mass[:, None] * world.v
        return np.concatenate([[world.mass.sum()], p.sum(axis=0), np.cross(world.x, p).sum(axis=0)])

    before, kinetic = moments(), world.kinetic_energy()
    simulation.system.prepare_step(0.0)
    assert world.count == count + 25
    assert moments() == pytest.approx(before, rel=1e-12, abs=1e-12)
    assert world.kinetic_energy() == pytest.approx(kinetic, rel=1e-12)


def test_no_half_is_smaller_than_it_may_be_and_none_is_divided_again() -> None:
    structure, mechanics = prepared()
    x = structure.rest
    for at in (0.29, 0.31):
        x = mechanics.structure.rest
        mechanics.cut(x, x[:, 0] - at)
    volumes = mechanics.volumes / 1e-3
    assert len(volumes) == len(structure.rest) + 25
    assert volumes.min() > 0.3 / 8 - 1e-9  # of a corner's eighth of a litre
    assert np.bincount(mechanics.cracking.pieces()[1]).min() >= 10


def test_a_marked_cut_opens_after_a_restart() -> None:
    structure, mechanics = prepared()
    mechanics.mark_cut(structure.rest, structure.rest[:, 0] - 0.29)
    _, again = prepared()
    again.rebuild(mechanics.structure)
    again.restore(mechanics.state())
    for each in (mechanics, again):
        assert each.open_faces(None)
    assert again.fracture_statistics() == mechanics.fracture_statistics()
    assert again.fracture_statistics().pieces == 2


def test_without_dividing_cracks_run_between_phyxels() -> None:
    structure, mechanics = prepared(divide=False)
    assert mechanics.cut(structure.rest, structure.rest[:, 0] - 0.29)
    assert len(mechanics.structure.rest) == len(structure.rest)
    assert mechanics.fracture_statistics()[0] == 2


@pytest.mark.parametrize("meet", [True, False])
def test_pieces_of_one_body_meet(meet: bool) -> None:
    """A bar is parted and its right end pushed to the left by a third of a spacing: the left half has to give
    way, or the halves pass into each other."""
    material = {**MATERIAL, "strength": 1e9}
    body = block((6, 3, 3), model="efg", material=material)
    actions = [
        pl.Cut(plane={"axis": "x", "at": 0.3}, body=body, at=0.0),
        pl.Fix(body, pl.where.plane("x", "min")),
        pl.Move(body, pl.where.plane("x", "max"), velocity=(-0.3, 0, 0)),
        pl.Damping(rate=20.0),
    ]
    contact = None if meet else Contact(self_=False)
    options: dict[str, Any] = {} if contact is None else {"contact": contact}
    simulation = simulate([body], actions, seconds=0.1, fps=50, **options)
    world = simulation.system.world
    label = world.bodies[0].mechanics.cracking.pieces()[1]  # type: ignore[attr-defined]
    left = label == label[np.argmin(world.rest[:, 0])]
    gave = -float((world.x - world.rest)[left & (world.rest[:, 0] > 0.25), 0].mean())
    assert np.isfinite(world.x).all()
    assert gave > 0.01 if meet else abs(gave) < 1e-6
