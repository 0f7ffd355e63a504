"""Real models: the body is where the model is, and as large."""

from pathlib import Path

import numpy as np
import pytest
from surface_distance import distance

from pliant.mesh.diagnostics import health
from pliant.mesh.io import read_surface
from pliant.mesh.mesh import Surface, TetMesh, surface_volume, tet_volumes
from pliant.mesh.quality import quality
from pliant.mesh.repair import repair
from pliant.mesh.simplify import simplify
from pliant.mesh.tetrahedralise import fill

EDGE = 0.08  # of the box diagonal: coarse


def check(mesh: TetMesh, surface: Surface) -> None:
    """Positive tets, distance under 1 % of the box diagonal, volume within 2 % of the closed surface's."""
    closed, _ = repair(surface)
    volumes = tet_volumes(mesh.points, mesh.tets)
    assert (volumes > 0).all()
    assert volumes.sum() == pytest.approx(surface_volume(closed.points, closed.triangles), rel=0.02)
    assert distance(mesh, closed, 5000).largest < 0.01 * health(closed, 0).diagonal
    assert quality(mesh).smallest_angle > 4.0


@pytest.mark.parametrize("name", [pytest.param("stanford-bunny", marks=pytest.mark.slow), "cow"])
def test_models_are_filled_within_one_percent(models: Path, name: str) -> None:
    surface = read_surface(models / f"{name}.obj")
    notes: list[str] = []
    edge = EDGE * health(surface, 0).diagonal
    check(fill(surface, edge=edge, mesher="tetwild", cache=False, notify=notes.append), surface)
    assert notes == (["Closed 5 holes with 213 triangles."] if name == "stanford-bunny" else [])


def test_a_soup_with_holes_is_filled(models: Path) -> None:
    """Spot, every triangle apart, two in a hundred missing."""
    whole = read_surface(models / "spot.obj")
    kept = whole.triangles[np.random.default_rng(0).random(len(whole.triangles)) > 0.02]
    soup = Surface(whole.points[kept].reshape(-1, 3), np.arange(3 * len(kept)).reshape(-1, 3))
    mesh = fill(soup, edge=EDGE * health(whole, 0).diagonal, cache=False, notify=lambda _: None)
    check(mesh, whole)


def test_the_lattice_gives_a_body_at_once(models: Path) -> None:
    spot = read_surface(models / "spot.obj")
    mesh = fill(spot, edge=0.1, mesher="lattice", cache=False, notify=lambda _: None)
    volumes = tet_volumes(mesh.points, mesh.tets)
    assert (volumes > 0).all()
    assert volumes.sum() == pytest.approx(surface_volume(spot.points, spot.triangles), rel=0.03)
    assert quality(mesh).smallest_angle > 5.0


def test_simplifying_stays_near_and_closed(models: Path) -> None:
    bunny, _ = repair(read_surface(models / "stanford-bunny.obj"))
    size = health(bunny, 0).diagonal
    points, triangles = simplify(bunny.points, bunny.triangles, 5e-4 * size, 0.05 * size)
    simple = Surface(points, triangles)
    assert len(triangles) < 0.2 * len(bunny.triangles)
    assert health(simple).problems() == []
    assert distance(simple, bunny, 5000).largest < 4 * 5e-4 * size
