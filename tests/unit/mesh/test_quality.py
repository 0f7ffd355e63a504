"""Measures of tets whose values are known in closed form."""

import json

import numpy as np
import pytest
from surface_distance import distance

from pliant.mesh.mesh import Surface, TetMesh
from pliant.mesh.quality import mean_ratio, quality

REGULAR = TetMesh(np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]), np.array([[0, 2, 1, 3]]))
CORNER = TetMesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), np.array([[0, 1, 2, 3]]))


def test_regular_tet_has_the_best_values() -> None:
    """Edge 2 sqrt 2, V = edge^3 / (6 sqrt 2), R = edge sqrt 6 / 4, dihedral acos(1/3)."""
    found = quality(REGULAR)
    edge = 2 * np.sqrt(2)
    np.testing.assert_allclose(found.edge_lengths, edge)
    np.testing.assert_allclose(found.volumes, edge**3 / (6 * np.sqrt(2)))
    np.testing.assert_allclose(found.radius_edge, np.sqrt(6) / 4)
    np.testing.assert_allclose(found.dihedral, np.degrees(np.arccos(1 / 3)))
    np.testing.assert_allclose(found.aspect, 1.0)
    np.testing.assert_allclose(mean_ratio(REGULAR.points, REGULAR.tets), 1.0)


def test_cube_corner_tet() -> None:
    """Three right dihedral angles, three of acos(1/sqrt 3); R = sqrt 3 / 2, shortest edge 1."""
    found = quality(CORNER)
    angles = np.sort(found.dihedral[0])
    np.testing.assert_allclose(angles, [np.degrees(np.arccos(1 / np.sqrt(3)))] * 3 + [90.0] * 3)
    assert found.radius_edge[0] == pytest.approx(np.sqrt(3) / 2)
    assert found.volumes[0] == pytest.approx(1 / 6)
    assert mean_ratio(CORNER.points, CORNER.tets)[0] == pytest.approx(12 * 0.5 ** (2 / 3) / 9)


def test_inverted_and_flat_tets_are_told() -> None:
    assert mean_ratio(CORNER.points, CORNER.tets[:, [0, 1, 3, 2]])[0] < 0
    flat = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    assert mean_ratio(flat, CORNER.tets)[0] == 0


def test_report_counts_every_angle_once() -> None:
    table = json.loads(json.dumps(quality(CORNER).to_dict()))
    assert sum(table["histogram"]["dihedral_angles"]) == 6
    assert table["volume"]["total"] == pytest.approx(1 / 6)
    lines = quality(CORNER).text_histogram().splitlines()
    assert len(lines) == 19
    assert lines[6].split()[:3] == ["50-", "60", "3"]  # acos(1/sqrt 3) = 54.7 degrees


def test_distance_of_shifted_planes_is_the_shift() -> None:
    square = Surface(
        np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), np.array([[0, 1, 2], [0, 2, 3]])
    )
    above = Surface(square.points + np.array([0.0, 0.0, 0.25]), square.triangles)
    assert distance(square, above) == pytest.approx((0.25, 0.25))
    wider = Surface(square.points * [3.0, 1.0, 1.0], square.triangles)
    there, back = distance(square, wider)
    assert there == pytest.approx(0.0, abs=1e-12)
    assert back == pytest.approx(2.0)


def test_distance_of_a_tet_from_its_own_boundary_is_zero() -> None:
    faces = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])
    assert distance(CORNER, Surface(CORNER.points, faces)).largest < 1e-12
