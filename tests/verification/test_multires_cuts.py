"""Cuts through all levels of detail: two halves of the right mass that have nothing to do with each other."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.fracture.tet_topology import pieces
from pliant.mesh.mesh import TetMesh, surface_volume
from pliant.mesh.shapes import box
from stopping import assert_same, stopped_and_resumed

TISSUE = {"young": 2e5, "poisson": 0.3, "density": 1000.0, "damping": 2e-3}
G = 9.81
SLANTED = {"point": [0.62, 0.5, 0.5], "normal": [1.0, 0.2, 0.1]}


def bar(*more: Any, held: bool = True, gravity: bool = True, fps: int = 60) -> pl.Scene:
    """A unit cube with three levels, its end at x = 0 held."""
    table = {"type": "multires", "levels": 3}
    body = pl.Body(box(1.0, 1.0, 1.0), edge=0.15, model=table, material=TISSUE, name="bar")
    acting = [pl.Fix(body, pl.where.plane("x", "min"))] * held + [pl.Gravity(G)] * gravity
    return pl.Scene([body], [*acting, *more], time=pl.TimeSettings(duration=0.4, fps=fps))


def cut_at(at: float) -> pl.Cut:
    return pl.Cut(body="bar", plane=SLANTED, at=at)


def loose(part: Any) -> Any:
    """Particles of the piece beyond the cut."""
    _, piece = pieces(part.structure.cells["tetra"])
    rest, tets = part.structure.rest, part.structure.cells["tetra"]
    far = piece[rest[tets].mean(axis=1)[:, 0].argmax()]
    return np.unique(tets[piece == far])


def test_the_piece_that_is_cut_off_falls() -> None:
    """Its centre of mass falls by g t^2 / 2 from the cut on; mass and momentum pass through the cut."""
    simulation = bar(cut_at(0.0)).simulation()
    simulation.start()
    world = simulation.system.world
    simulation.advance()
    part = world.bodies[0]
    count, _ = pieces(part.structure.cells["tetra"])
    assert count == 2
    assert world.mass.sum() == pytest.approx(1000.0, rel=1e-12)
    rows = loose(part)
    assert world.mass[rows].sum() == pytest.approx(1000.0 * (1.0 - 0.62), rel=2e-3)  # cuts snap to vertices
    for _ in range(23):
        simulation.advance()
    m, x = world.mass[rows, None], world.x[rows] - world.rest[rows]
    fallen = (m * x).sum(axis=0) / m.sum()
    assert fallen[2] == pytest.approx(-0.5 * G * 0.4**2, rel=1e-6)
    assert np.abs(fallen[:2]).max() < 0.01
    others = np.setdiff1d(np.arange(world.count), rows)
    assert np.abs(world.x[others] - world.rest[others]).max() < 0.4  # still held
    carrier = part.structure.carrier
    assert carrier is not None
    volume = surface_volume(carrier.positions(world.rest), carrier.surface.triangles)
    assert volume == pytest.approx(1.0, rel=1e-9)
    assert len(carrier.surface.groups["crack"]) > 10


def test_a_cut_through_a_moving_body_changes_nothing_at_once() -> None:
    """Copies of particles have their values: places stay, momentum to 1e-4; virtual tets are no thinner than
    whole ones, so that critical steps stay (real halves of tets would cut them to a tenth); the ledger
    closes."""
    simulation = bar(cut_at(0.25)).simulation()
    simulation.start()
    world = simulation.system.world
    for _ in range(15):
        simulation.advance()
    mechanics, free = world.bodies[0].mechanics, np.zeros((world.count, 3), bool)
    momentum, x = (world.mass[:, None] * world.v).sum(axis=0), world.x.copy()
    critical, count = mechanics.hierarchy.critical_step(2, free), world.count
    row = dict(zip(simulation.columns, simulation.row(), strict=True))
    simulation.system.prepare_step(0.25)
    assert world.count > count
    assert pieces(world.bodies[0].structure.cells["tetra"])[0] == 2
    after = (world.mass[:, None] * world.v).sum(axis=0)
    assert np.abs(after - momentum).max() < 1e-3 * np.abs(momentum).max()
    assert np.abs(world.x - x[mechanics.parents]).max() < 1e-9
    assert mechanics.hierarchy.critical_step(2, np.zeros((world.count, 3), bool)) > 0.6 * critical
    simulation.advance()
    now = dict(zip(simulation.columns, simulation.row(), strict=True))
    assert abs(now["energy.total"] - row["energy.total"]) < 1e-3 * now["energy.kinetic"]


def test_momentum_of_a_flying_body_passes_through_a_cut_and_through_changes_of_levels() -> None:
    """To rounding, while the body turns and levels go on being chosen."""
    table = {"type": "multires", "levels": 3, "split": 0.01}
    body = pl.Body(
        box(1.0, 1.0, 1.0), edge=0.15, model=table, material=TISSUE, name="bar", velocity=(0.3, 0.1, 0.0),
        spin=(0.0, 1.0, 3.0),
    )  # fmt: skip
    simulation = pl.Scene([body], [cut_at(0.1)], time=pl.TimeSettings(duration=0.4, fps=60)).simulation()
    simulation.start()
    world = simulation.system.world
    expected = (world.mass[:, None] * world.v).sum(axis=0)
    levels = set()
    for _ in range(20):
        simulation.advance()
        body = world.bodies[0].mechanics.body
        assert np.abs(body.momenta()[0] - expected).max() < 1e-9 * np.abs(expected).max()
        levels.add(tuple(body.arrangement.counts))
    assert len(levels) > 2
    shown = (world.mass[:, None] * world.v).sum(axis=0)
    assert np.abs(shown - expected).max() < 1e-9 * np.abs(expected).max()


def test_levels_never_reach_across_a_cut() -> None:
    """At every level, the nodes that particles of one piece hang on are no other piece's."""
    simulation = bar(cut_at(0.0)).simulation()
    simulation.start()
    simulation.advance()
    h = simulation.system.world.bodies[0].mechanics.hierarchy
    assert h.count == 3
    assert h.pieces == 2
    for level in range(2):
        rows = h.rows_of_particles(level)
        one, two = (np.unique(rows[np.flatnonzero(h.particle_piece == k)].indices) for k in range(2))
        assert len(one)
        assert len(two)
        assert not np.intersect1d(one, two).size


def test_a_blade_parts_what_is_behind_its_edge(tmp_path: Path) -> None:
    """A keyed blade: one piece while it is under way, two behind it; a resumed run repeats the bytes."""

    keys = {"keys": [{"time": 0.0, "value": -0.1}, {"time": 0.3, "value": 1.2}]}
    blade = pl.Cut(body="bar", plane=SLANTED, direction=[0, 0, 1], edge=keys)
    scene = bar(blade, fps=30)
    simulation = scene.simulation()
    simulation.start()
    found = []
    for _ in range(12):
        simulation.advance()
        part = simulation.system.world.bodies[0]
        found.append((len(part.structure.rest), pieces(part.structure.cells["tetra"])[0]))
    counts, number = np.array(found).T
    assert (np.diff(counts) >= 0).all()
    assert counts[4] > counts[0]  # the slit is open below
    assert number[4] == 1
    assert number[-1] == 2

    whole = scene.run(to=tmp_path / "whole.pliant")
    assert_same(whole, stopped_and_resumed(scene, tmp_path / "broken.pliant", 5))


def test_a_seam_and_a_second_cut_part_bodies_again() -> None:
    """Along faces at every level; then across both halves."""
    seam = pl.Seam(body="bar", plane={"axis": "y", "at": 0.26}, at=0.0)
    simulation = bar(seam, cut_at(0.05), held=False, gravity=False).simulation()
    simulation.start()
    world = simulation.system.world
    simulation.advance()
    assert pieces(world.bodies[0].structure.cells["tetra"])[0] == 2
    for _ in range(4):
        simulation.advance()
    assert pieces(world.bodies[0].structure.cells["tetra"])[0] == 4
    assert world.mass.sum() == pytest.approx(1000.0, rel=1e-12)
    assert np.abs(world.x - world.rest).max() < 1e-12


TOUCHING = {
    "plane": pl.Cut(body="bar", plane={"axis": "x", "at": 0.55}, at=0.05),
    "blade": pl.Cut(
        body="bar", plane={"axis": "x", "at": 0.55}, direction=[0, 0, 1],
        edge={"keys": [{"time": 0.05, "value": -0.1}, {"time": 0.15, "value": 1.1}]},
    ),
    "seam": pl.Seam(body="bar", plane={"axis": "x", "at": 0.5}, at=0.05),
}  # fmt: skip


@pytest.mark.parametrize(
    ("way", "shared"),
    [(way, (1.0, 1.0, 0.0)) for way in TOUCHING] + [("plane", (1.0, 1.0, 1.0))],
)
def test_parts_that_touch_in_an_edge_or_a_corner_alone_are_cut(
    way: str, shared: tuple[float, float, float], tmp_path: Path
) -> None:
    """Thin parts of scans end in such tets. Two unit cubes, the second with its lowest corner at ``shared``;
    the cut halves the first and leaves the second as it was, and a resumed run repeats the bytes."""
    first = box(1.0, 1.0, 1.0, divisions=(6, 6, 6)).volume()
    assert first is not None
    points = np.concatenate([first.points, first.points + np.asarray(shared)])
    tets = np.concatenate([first.tets, first.tets + len(first.points)])
    points, number = np.unique(points.round(9), axis=0, return_inverse=True)
    mesh = TetMesh(points, number.reshape(-1)[tets])
    assert len(points) == 2 * 7**3 - (7 if shared[2] == 0.0 else 1)
    model = {"type": "multires", "levels": 2}
    body = pl.Body(mesh, model=model, material=TISSUE, name="bar")
    acting = [pl.Fix(body, pl.where.plane("x", "min")), pl.Gravity(1.0), TOUCHING[way]]
    scene = pl.Scene([body], acting, time=pl.TimeSettings(duration=0.2, fps=30))
    simulation = scene.simulation()
    simulation.start()
    world = simulation.system.world
    for _ in range(6):
        simulation.advance()
    assert pieces(world.bodies[0].structure.cells["tetra"])[0] == 3
    assert world.mass.sum() == pytest.approx(2000.0, rel=1e-12)
    assert np.abs(world.x - world.rest).max() < 0.1
    whole = scene.run(to=tmp_path / "whole.pliant")
    assert_same(whole, stopped_and_resumed(scene, tmp_path / "broken.pliant", 3))
