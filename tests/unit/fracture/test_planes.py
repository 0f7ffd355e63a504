"""Cracks through tets: whatever the plane, nothing is lost, nothing overlaps, and neighbours fit."""

import numpy as np
import pytest

from pliant.fracture.planes import LEAST, Planes
from pliant.fracture.tets import boundary_twins
from pliant.mesh.shapes import box
from pliant.mesh.triangles import double_areas
from pliant.mesh.types import boundary_triangles, tet_volumes

MESH = box(1.0, 1.0, 1.0, divisions=(4, 4, 4)).volume()
assert MESH is not None
SPACING = 0.25


@pytest.mark.parametrize("seed", range(12))
def test_a_plane_through_a_particle_parts_what_is_around_it(seed: int) -> None:
    """On a shaken mesh: volumes add up, no tet is turned or tiny, both faces of the crack match, and every
    tet around the particle is on its side."""
    random = np.random.default_rng(seed)
    x = MESH.points + random.uniform(-0.04, 0.04, MESH.points.shape)
    node = int(np.argmin(np.linalg.norm(x - random.uniform(0.3, 0.7, 3), axis=1)))
    normal = random.standard_normal(3)
    normal /= np.linalg.norm(normal)
    planes = Planes(MESH.tets, x, SPACING, np.zeros(len(x), bool))
    assert planes.add(node, np.flatnonzero((MESH.tets == node).any(axis=1)), normal)
    found = planes.edit()
    assert found is not None
    edit, rims = found
    points = edit.blended(x)
    before, after = tet_volumes(x, MESH.tets), tet_volumes(points, edit.tets)
    assert after.min() > 0.03 * before.min()
    assert np.bincount(edit.origin, after, len(before)) == pytest.approx(before, rel=1e-12)
    triangles = boundary_triangles(edit.tets)
    torn = boundary_twins(points, triangles)
    assert torn.any()
    assert torn.sum() % 2 == 0
    area = double_areas(x, boundary_triangles(MESH.tets)).sum()
    assert double_areas(points, triangles[~torn]).sum() == pytest.approx(area, rel=1e-12)
    copies = np.flatnonzero(edit.parents[:, 0] == node)
    copies = copies[edit.weights[copies, 0] == 1.0]
    assert len(copies) == 2
    limit = LEAST * 2.0 * SPACING  # a plane goes through ends that are nearer than this
    for copy in copies:
        level = (points[edit.tets[(edit.tets == copy).any(axis=1)]] - x[node]) @ normal
        assert level.min() > -limit or level.max() < limit
    assert node in rims


def test_planes_of_one_step_keep_out_of_each_others_way() -> None:
    """Many at once on one mesh: those that are taken fit together, and volumes still add up."""
    random = np.random.default_rng(5)
    x = MESH.points + random.uniform(-0.04, 0.04, MESH.points.shape)
    planes = Planes(MESH.tets, x, SPACING, np.zeros(len(x), bool))
    taken = np.zeros(len(x), bool)
    for node in random.permutation(len(x)).tolist():
        own = np.flatnonzero((MESH.tets == node).any(axis=1))
        if not taken[node] and planes.add(node, own, np.array([0.6, 0.48, 0.64])):
            taken[MESH.tets[own]] = True
    assert len(planes.around) > 4
    found = planes.edit()
    assert found is not None
    edit, _ = found
    points = edit.blended(x)
    volumes = tet_volumes(points, edit.tets)
    assert volumes.min() > 0.0
    assert volumes.sum() == pytest.approx(tet_volumes(x, MESH.tets).sum(), rel=1e-12)
    outside = boundary_triangles(edit.tets)
    torn = boundary_twins(points, outside)
    whole = double_areas(x, boundary_triangles(MESH.tets)).sum()
    assert double_areas(points, outside[~torn]).sum() == pytest.approx(whole, rel=1e-12)
