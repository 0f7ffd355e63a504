"""Cutters of all kinds through bodies in motion: mass and volume stay, and every piece goes on."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.contact import Contact
from pliant.core.curves import Curve
from pliant.core.errors import MeshError
from pliant.fracture.tet_topology import pieces
from pliant.mesh.mesh import tet_volumes

SOFT = {"young": 1e5, "poisson": 0.3, "density": 1000}


def body_of(divisions: int = 4, **options: Any) -> pl.Body:
    shape = pl.shapes.box(0.1, 0.1, 0.1, divisions=(divisions,) * 3)
    return pl.Body(shape, model="fem", material=SOFT, name="cube", **options)


def check(simulation: Any, volume: float, expected: int) -> Any:
    """Volume and mass to 1e-9, ``expected`` pieces, each of them closed and of tets the right way round; the
    sum of the pieces' volumes."""
    world = simulation.system.world
    structure = world.bodies[0].structure
    tets, rest = structure.cells["tetra"], structure.rest
    volumes = tet_volumes(rest, tets)
    assert volumes.min() > 0.0
    assert volumes.sum() == pytest.approx(volume, rel=1e-9)
    assert structure.mass.sum() == pytest.approx(1000 * volume, rel=1e-9)
    assert world.mass.sum() == pytest.approx(1000 * volume, rel=1e-9)
    count, piece = pieces(tets)
    assert count == expected
    owner = np.full(len(rest), -1)
    owner[tets] = piece[:, None]
    assert (owner[tets] == piece[:, None]).all()  # no particle belongs to two pieces
    assert (owner >= 0).all()
    surface = structure.carrier.surface
    edges = np.sort(surface.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    assert np.isfinite(world.x).all()
    assert np.isfinite(world.v).all()
    return np.bincount(piece, volumes)


def play(body: pl.Body, *actions: Any, seconds: float = 0.1) -> Any:
    plan = pl.TimeSettings(duration=seconds, fps=50, step=0.005, integrator="implicit-euler")
    simulation = pl.Scene([body], [pl.Gravity(), pl.Ground(), *actions], time=plan).simulation()
    simulation.start()
    return simulation


@pytest.mark.parametrize("seed", range(4))
def test_any_plane_through_a_spinning_cube_leaves_two_bodies(seed: int) -> None:
    random = np.random.default_rng(seed)
    body = body_of(3, position=(0, 0, 0.2), spin=tuple(random.uniform(-20, 20, 3)))
    plane = {
        "point": tuple(random.uniform([0.03, 0.03, 0.23], [0.07, 0.07, 0.27])),
        "normal": tuple(random.standard_normal(3)),
    }
    simulation = play(body, pl.Cut(body, plane=plane, at=0.02))
    for _ in range(5):
        simulation.advance()
    found = check(simulation, 1e-3, 2)
    assert found.min() > 1e-5


def test_a_closed_mesh_cuts_its_inside_out(tmp_path: Path) -> None:
    """A ball of 0.03 m out of a cube of 9 cells a side: the core is a polyhedron with corners on the ball."""
    ball = pl.shapes.icosphere(0.03, subdivisions=2).surface()
    path = tmp_path / "ball.obj"
    lines = [f"v {x + 0.05} {y + 0.05} {z + 0.05}" for x, y, z in ball.points.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in ball.triangles.tolist()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    body = body_of(9)
    simulation = play(body, pl.Cut(body, mesh=path, at=0.0))
    for _ in range(5):
        simulation.advance()
    found = check(simulation, 1e-3, 2)
    assert found.min() == pytest.approx(4 / 3 * np.pi * 0.03**3, rel=0.15)


def sheet(path: Path, width: float, depth: float, bulge: float = 0.0) -> Path:
    """An open sheet across the middle of the cube, from its top down to ``depth``, bent along y."""
    y, z = np.meshgrid(np.linspace(0.05 - width, 0.05 + width, 9), np.linspace(0.12, depth, 9), indexing="ij")
    x = 0.05 + bulge * ((y - 0.05) / 0.05) ** 2
    lines = [f"v {a} {b} {c}" for a, b, c in zip(x.ravel(), y.ravel(), z.ravel(), strict=True)]
    for i, j in np.ndindex(8, 8):
        k = 9 * i + j + 1
        lines += [f"f {k} {k + 1} {k + 10}", f"f {k} {k + 9} {k + 10}"]  # wound this way and that
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_an_open_sheet_cuts_as_far_as_it_reaches(tmp_path: Path) -> None:
    """Half-way down: one piece with half of the section cut; through and bent: two, of the right volumes."""
    body = body_of(6)
    simulation = play(body, pl.Cut(body, mesh=sheet(tmp_path / "half.obj", 0.07, 0.05), at=0.02))
    for _ in range(3):
        simulation.advance()
    row = dict(zip(simulation.columns, simulation.row(), strict=True))
    assert row["fracture.area"] == pytest.approx(0.1 * 0.05, rel=0.2)
    check(simulation, 1e-3, 1)
    body = body_of(6)
    simulation = play(body, pl.Cut(body, mesh=sheet(tmp_path / "whole.obj", 0.07, -0.02, 0.02), at=0.02))
    for _ in range(3):
        simulation.advance()
    found = np.sort(check(simulation, 1e-3, 2))
    bent = 1e-3 * (0.5 - 0.2 / 3.0)  # the bulge takes the mean of 0.02 (y / 0.05)^2 over the section
    assert found == pytest.approx([bent, 1e-3 - bent], rel=0.02)


def test_a_sheet_that_branches_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fins.obj"
    fins = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0 -1 0\nf 1 2 3\nf 1 2 4\nf 1 2 5\n"
    path.write_text(fins, encoding="utf-8")
    body = body_of(2)
    with pytest.raises(MeshError, match="branches"):
        play(body, pl.Cut(body, mesh=path, at=0.0))


@pytest.mark.slow
def test_a_blade_that_turns_cuts_what_it_sweeps_over() -> None:
    """Its edge comes down at the far end first and leans over: the cut is a twisted sheet. With the ends of
    the edge at x = 0.05 -+ 0.02 z / 0.1 (y = 0 and 0.1), both halves have half of the volume."""
    body = body_of(6)
    tip = Curve([0.0, 0.08], [[0.05 + 0.024, -0.02, 0.12], [0.05 - 0.004, -0.02, -0.02]])
    heel = Curve([0.0, 0.04, 0.08], [[0.026, 0.12, 0.12], [0.04, 0.12, 0.05], [0.054, 0.12, -0.02]])
    simulation = play(body, pl.Cut(body, tip=tip, heel=heel), seconds=0.12)
    areas = []
    for _ in range(6):
        simulation.advance()
        row = dict(zip(simulation.columns, simulation.row(), strict=True))
        areas.append(row["fracture.area"])
        check(simulation, 1e-3, int(row["fracture.pieces"]))
    assert (np.diff(areas) >= 0.0).all()
    assert 0.001 < areas[1] < 0.008
    found = check(simulation, 1e-3, 2)
    assert found == pytest.approx([5e-4, 5e-4], rel=0.03)


def test_a_blade_that_stays_or_has_one_end_is_refused() -> None:
    with pytest.raises(ValueError, match="does not move"):
        pl.Cut(tip=(0, 0, 0), heel=(1, 0, 0))
    with pytest.raises(ValueError, match="tip and heel"):
        pl.Cut(tip=Curve([0, 1], [[0, 0, 0], [1, 0, 0]]))


def test_a_blade_parts_a_cube_as_far_as_it_has_come() -> None:
    """Half-way down one piece with half of the section cut; all the way down two pieces."""
    body = body_of(4)
    keys = Curve([0.0, 0.1], [-0.105, 0.005])
    blade = pl.Cut(body, plane={"axis": "x", "at": 0.045}, direction=(0, 0, -1), edge=keys)
    simulation = play(body, blade, seconds=0.16)
    areas = []
    for frame in range(8):
        simulation.advance()
        row = dict(zip(simulation.columns, simulation.row(), strict=True))
        areas.append(row["fracture.area"])
        check(simulation, 1e-3, int(row["fracture.pieces"]))
        if frame == 1:
            assert row["fracture.pieces"] == 1.0
            assert 0.1 * 0.01 < areas[-1] < 0.6 * 0.01
    assert (np.diff(areas) >= 0.0).all()
    assert areas[-1] == pytest.approx(0.01, rel=0.02)
    assert row["fracture.pieces"] == 2.0


@pytest.mark.parametrize("normal", [(1.0, 0.0, 0.0), (1.0, 1.0, 0.3)])
def test_a_seam_parts_without_cutting_tets_up(normal: Any) -> None:
    body = body_of(4)
    seam = pl.Seam(body=body, plane={"point": (0.05, 0.05, 0.05), "normal": normal}, at=0.02)
    simulation = play(body, seam)
    tets = len(simulation.system.world.bodies[0].structure.cells["tetra"])
    for _ in range(5):
        simulation.advance()
    found = check(simulation, 1e-3, 2)
    assert found.min() > 3e-4
    assert len(simulation.system.world.bodies[0].structure.cells["tetra"]) == tets


def test_a_body_is_cut_again_and_again() -> None:
    """Three planes one after the other: eight pieces."""
    body = body_of(4)
    cuts = [pl.Cut(body, plane={"axis": axis, "at": 0.045}, at=0.02 * k) for k, axis in enumerate("xyz")]
    simulation = play(body, *cuts)
    for _ in range(5):
        simulation.advance()
    assert len(check(simulation, 1e-3, 8)) == 8


@pytest.mark.slow
@pytest.mark.parametrize(("meets", "at"), [(True, 0.045), ("pieces", 0.0964)])
def test_pieces_of_a_cut_body_that_meets_itself_rest_on_each_other(meets: Any, at: float) -> None:
    """A level cut: new faces begin at no distance, and the upper part stays on the lower one; also if it is a
    slab that is thinner than the reach of contact, a seventh of an edge."""
    body = body_of(4)
    plan = pl.TimeSettings(duration=0.4, fps=50)
    cut = pl.Cut(body, plane={"axis": "z", "at": at}, at=0.02)
    actions = [pl.Gravity(), pl.Ground(), pl.Damping(rate=5), cut]
    scene = pl.Scene([body], actions, time=plan, contact=Contact(self_=meets))
    simulation = scene.simulation()
    simulation.start()
    world = simulation.system.world
    for _ in range(20):
        simulation.advance()
        assert np.abs(world.v).max() < 0.5  # nothing is blown apart
    check(simulation, 1e-3, 2)
    tets = world.bodies[0].structure.cells["tetra"]
    _, piece = pieces(tets)
    heights = [world.x[np.unique(tets[piece == k]), 2] for k in (0, 1)]
    low, high = sorted(heights, key=lambda z: float(z.mean()))
    assert high.min() == pytest.approx(low.max(), abs=0.003)
    assert high.max() == pytest.approx(0.1, abs=0.005)
