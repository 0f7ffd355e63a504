"""Tets that come apart: clean pieces, nothing lost."""

from typing import Any

import numpy as np
import pytest

from pliant.fracture.tet_cut import subdivide
from pliant.fracture.tet_topology import boundary_twins, open_faces, pieces, shared_faces
from pliant.mesh.mesh import boundary_triangles, tet_volumes
from pliant.mesh.shapes import box

MESH = box(1.0, 1.0, 1.0, divisions=(3, 4, 3)).volume()
assert MESH is not None
RNG = np.random.default_rng(3)
LEVELS = [
    MESH.points[:, 0] - 0.5,
    MESH.points[:, 1] - 0.5,  # through vertices
    MESH.points @ [1.0, 0.4, -0.3] - 0.57,
    np.linalg.norm(MESH.points - 0.45, axis=1) - 0.4,  # a ball inside
    MESH.points @ RNG.normal(size=3) - 0.1,
]


def cut(level: Any) -> Any:
    made = subdivide(MESH.tets, level)
    ends, share = made.ends, made.share[:, None]
    new = (1.0 - share) * MESH.points[ends[:, 0]] + share * MESH.points[ends[:, 1]]
    return made, np.concatenate([MESH.points, new])


@pytest.mark.parametrize("level", LEVELS)
def test_parts_of_a_tet_fill_it_and_neighbours_agree(level: Any) -> None:
    made, points = cut(level)
    volumes = tet_volumes(points, made.tets)
    assert volumes.min() > 0.0
    whole = np.bincount(made.origin, volumes, len(MESH.tets))
    assert np.allclose(whole, tet_volumes(MESH.points, MESH.tets), rtol=1e-12)
    p = points[boundary_triangles(made.tets)]  # faces that do not match would be part of it
    area = 0.5 * np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1).sum()
    assert area == pytest.approx(6.0, rel=1e-12)


@pytest.mark.parametrize("level", LEVELS[:4])
def test_a_cut_all_through_makes_two_pieces_with_faces_that_match(level: Any) -> None:
    made, points = cut(level)
    joints = shared_faces(made.tets)
    between = joints[made.side[joints[:, 0] // 4] != made.side[joints[:, 1] // 4]]
    edit = open_faces(made.tets, len(points), between)
    assert edit is not None
    count, piece = pieces(edit.tets)
    assert count == 2
    assert np.array_equal(np.unique(piece[made.side > 0]), [piece[made.side > 0][0]])
    triangles = boundary_triangles(edit.tets)
    torn = boundary_twins(edit.blended(points), triangles)
    assert torn.sum() == 2 * len(between)


def test_opening_one_face_inside_makes_no_particle() -> None:
    """A single face inside cannot open: all its particles hang together around its edges."""
    joints = shared_faces(MESH.tets)
    inside = (MESH.points[MESH.tets[joints[:, 0] // 4]].mean(axis=1) - 0.5) ** 2
    middle = int(np.argmin(inside.sum(axis=1)))
    assert open_faces(MESH.tets, len(MESH.points), joints[middle : middle + 1]) is None


def test_tets_that_would_hang_on_a_vertex_come_apart() -> None:
    """Two cubes that share a face, opened but for nothing: every joint through vertices or edges goes."""
    mesh = box(2.0, 1.0, 1.0, divisions=(2, 1, 1)).volume()
    assert mesh is not None
    joints = shared_faces(mesh.tets)
    right = mesh.points[mesh.tets].mean(axis=1)[:, 0] > 1.0
    between = joints[right[joints[:, 0] // 4] != right[joints[:, 1] // 4]]
    edit = open_faces(mesh.tets, len(mesh.points), between)
    assert edit is not None
    assert len(edit.parents) == len(mesh.points) + 4
    assert not np.intersect1d(edit.tets[right], edit.tets[~right]).size
