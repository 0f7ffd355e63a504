"""Findings about surfaces whose defects are made here, one at a time."""

import json
from pathlib import Path

import numpy as np
import pytest

from pliant.core.errors import MeshError
from pliant.mesh.diagnostics import health
from pliant.mesh.io import read_surface
from pliant.mesh.mesh import Surface, surface_volume
from pliant.mesh.repair import repair

SIDES = [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]]


def cube(size: float = 1.0, at: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Surface:
    """A cube of 8 points and 12 triangles, wound outward, its lowest corner at ``at``."""
    corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
    triangles = [t for a, b, c, d in SIDES for t in ([a, b, c], [a, c, d])]
    return Surface(np.array(corners) * size + np.array(at), np.array(triangles))


def together(*parts: Surface) -> Surface:
    start = np.cumsum([0, *(len(p.points) for p in parts)])
    triangles = [p.triangles + k for p, k in zip(parts, start[:-1], strict=True)]
    return Surface(np.concatenate([p.points for p in parts]), np.concatenate(triangles))


def unmerged(surface: Surface) -> Surface:
    """Every triangle with its own three points."""
    points = surface.points[surface.triangles].reshape(-1, 3)
    return Surface(points, np.arange(len(points)).reshape(-1, 3))


def flipped(surface: Surface) -> Surface:
    return Surface(surface.points, surface.triangles[:, ::-1].copy())


def test_a_cube_is_healthy() -> None:
    found = health(cube(2.0))
    assert found.problems() == []
    assert found.closed
    assert found.area == pytest.approx(24.0, rel=1e-14)
    assert found.volume == pytest.approx(8.0, rel=1e-14)
    assert found.diagonal == pytest.approx(2 * np.sqrt(3))
    assert (found.components, found.self_intersections, found.box_max) == (1, 0, (2.0, 2.0, 2.0))
    assert json.loads(json.dumps(found.to_dict()))["volume"] == found.volume


def test_seams_of_equal_points_are_no_holes() -> None:
    found = health(unmerged(cube()))
    assert (found.vertices, found.holes, found.boundary_edges, found.components) == (36, 0, 0, 1)


def test_missing_side_is_one_hole_of_four_edges() -> None:
    found = health(Surface(cube().points, cube().triangles[2:]))
    assert (found.holes, found.boundary_edges, found.volume) == (1, 4, None)
    assert "1 hole with 4 edges" in found.problems()[0]


def test_two_separate_holes_are_counted() -> None:
    found = health(Surface(cube().points, cube().triangles[4:]))
    assert (found.holes, found.boundary_edges) == (2, 8)


def test_one_flipped_triangle_disagrees_with_three_neighbours() -> None:
    triangles = cube().triangles.copy()
    triangles[5] = triangles[5, ::-1]
    assert health(Surface(cube().points, triangles)).inconsistent_edges == 3


def test_inside_out_is_told_from_a_cavity() -> None:
    assert health(flipped(cube())).inverted_components == 1
    cavity = together(cube(3.0), flipped(cube(1.0, at=(1.0, 1.0, 1.0))))
    assert health(cavity).inverted_components == 0
    assert health(cavity).volume == pytest.approx(27.0 - 1.0)
    beside = together(cube(3.0), flipped(cube(1.0, at=(4.0, 1.0, 1.0))))
    assert health(beside).inverted_components == 1


def test_degenerate_duplicate_and_unused_are_counted() -> None:
    whole = cube()
    triangles = np.concatenate([whole.triangles, [[0, 0, 1]], whole.triangles[3:4, [1, 2, 0]]])
    points = np.concatenate([whole.points, [[9.0, 9.0, 9.0]]])
    found = health(Surface(points, triangles))
    assert (found.degenerate_faces, found.duplicate_faces, found.unreferenced_vertices) == (1, 1, 1)
    assert found.box_max == (1.0, 1.0, 1.0)


def test_three_triangles_at_an_edge_are_not_manifold() -> None:
    points = np.concatenate([cube().points, [[2.0, 2.0, 0.0]]])
    assert health(Surface(points, np.concatenate([cube().triangles, [[0, 1, 8]]]))).non_manifold_edges == 1


def test_crossing_pairs_are_counted() -> None:
    """A thin spike through the two triangles of one side meets only those it goes through."""
    spike = Surface(
        np.array([[0.7, 0.2, 0.5], [0.72, 0.2, 0.5], [0.7, 0.22, 1.5]]), np.array([[0, 1, 2]])
    )  # through the top at x > y: one of its two triangles
    assert health(together(cube(), spike)).self_intersections == 1
    assert health(together(cube(), cube(1.0, at=(0.5, 0.3, 0.2)))).self_intersections != 0
    assert health(together(cube(), cube(1.0, at=(1.5, 0.0, 0.0)))).self_intersections == 0


def test_coplanar_overlap_is_a_crossing_and_touching_is_not() -> None:
    a = Surface(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]]))
    inside = Surface(np.array([[0.1, 0.1, 0], [0.3, 0.1, 0], [0.1, 0.3, 0]]), np.array([[0, 1, 2]]))
    beside = Surface(np.array([[0.2, -1.0, 0], [0.8, -1.0, 0], [0.5, 0.0, 0]]), np.array([[0, 1, 2]]))
    assert health(together(a, inside)).self_intersections == 1
    assert health(together(a, beside)).self_intersections == 0


def test_crossings_above_the_limit_are_reported_as_not_checked() -> None:
    found = health(cube(), crossing_limit=11)
    assert found.self_intersections is None
    assert "not checked" in found.problems()[0]


@pytest.mark.parametrize(("size", "doubtful"), [(1000.0, True), (1e-4, True), (1.0, False)])
def test_doubtful_sizes_ask_for_the_unit(size: float, doubtful: bool) -> None:
    assert any("millimetres" in text for text in health(cube(size)).problems()) == doubtful


@pytest.mark.parametrize(
    ("points", "triangles"),
    [
        (np.zeros((0, 3)), np.zeros((0, 3), dtype=int)),
        (np.zeros((3, 3)), np.zeros((0, 3), dtype=int)),
        (np.zeros((3, 2)), np.array([[0, 1, 2]])),
        (np.zeros((4, 3)), np.array([[0, 1, 2, 3]])),
        (np.full((3, 3), np.nan), np.array([[0, 1, 2]])),
        (np.zeros((3, 3)), np.array([[0, 1, 3]])),
        (np.zeros((3, 3)), np.array([[0.0, 1.0, 2.0]])),
    ],
)
def test_what_is_no_surface_is_a_mesh_error_with_a_hint(points: np.ndarray, triangles: np.ndarray) -> None:
    with pytest.raises(MeshError) as error:
        health(Surface(points, triangles))
    assert error.value.hint
    with pytest.raises(MeshError):
        repair(Surface(points, triangles))


def test_the_bunny_has_five_holes(models: Path) -> None:
    found = health(read_surface(models / "stanford-bunny.obj"))
    assert (found.triangles, found.holes, found.components, found.self_intersections) == (69451, 5, 1, 0)
    spot = health(read_surface(models / "spot.obj"))
    assert spot.problems() == []
    assert spot.volume == pytest.approx(surface_volume_of(models / "spot.obj"), rel=1e-12)


def surface_volume_of(path: Path) -> float:
    surface = read_surface(path)
    return surface_volume(surface.points, surface.triangles)
