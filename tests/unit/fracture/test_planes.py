"""Cracks through tets: whatever the plane, nothing is lost, nothing overlaps, and neighbours fit."""

import numpy as np
import pytest

from pliant.fracture.crack_planes import LEAST, CrackPlane, CrackPlanes
from pliant.fracture.tet_topology import boundary_twins, pieces
from pliant.mesh.mesh import boundary_triangles, tet_volumes
from pliant.mesh.shapes import box
from pliant.mesh.triangles import double_areas

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
    planes = CrackPlanes(MESH.tets, x, SPACING, np.zeros(len(x), bool), np.full(len(x), -1))
    own = np.flatnonzero((MESH.tets == node).any(axis=1))
    assert planes.add(node, own, CrackPlane(normal, float(x[node] @ normal), 0))
    found = planes.edit()
    assert found is not None
    edit = found.edit
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
    assert node in found.rims


def test_planes_of_one_step_keep_out_of_each_others_way() -> None:
    """Many at once on one mesh: those that are taken fit together, and volumes still add up."""
    random = np.random.default_rng(5)
    x = MESH.points + random.uniform(-0.04, 0.04, MESH.points.shape)
    planes = CrackPlanes(MESH.tets, x, SPACING, np.zeros(len(x), bool), np.full(len(x), -1))
    taken = np.zeros(len(x), bool)
    for node in random.permutation(len(x)).tolist():
        own = np.flatnonzero((MESH.tets == node).any(axis=1))
        normal = np.array([0.6, 0.48, 0.64])
        if not taken[node] and planes.add(node, own, CrackPlane(normal, float(x[node] @ normal), node)):
            taken[MESH.tets[own]] = True
    assert len(planes.around) > 4
    found = planes.edit()
    assert found is not None
    edit = found.edit
    points = edit.blended(x)
    volumes = tet_volumes(points, edit.tets)
    assert volumes.min() > 0.0
    assert volumes.sum() == pytest.approx(tet_volumes(x, MESH.tets).sum(), rel=1e-12)
    outside = boundary_triangles(edit.tets)
    torn = boundary_twins(points, outside)
    whole = double_areas(x, boundary_triangles(MESH.tets)).sum()
    assert double_areas(points, outside[~torn]).sum() == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_a_crack_that_keeps_to_its_plane_parts_a_body_in_two(seed: int) -> None:
    """Particle after particle near one plane on a shaken mesh: two pieces, a sheet of about its area, no dust
    although it runs out beside a corner."""
    random = np.random.default_rng(seed)
    x, tets = MESH.points + random.uniform(-0.04, 0.04, MESH.points.shape), MESH.tets
    normal = np.array([1.0, 0.5, 0.7]) / np.sqrt(1.74)
    offset = float(normal @ x.mean(axis=0))
    made, crack = np.zeros(len(x), bool), np.full(len(x), -1)
    tried: set[tuple[float, ...]] = set()
    crack[np.argmin(np.abs(x @ normal - offset))] = 0
    smallest = 12.0 * float(tet_volumes(x, tets).mean())
    while True:
        left = [n for n in np.flatnonzero(crack == 0).tolist() if (*x[n], n < len(MESH.points)) not in tried]
        if not left:
            break
        tried.add((*x[left[0]], left[0] < len(MESH.points)))
        planes = CrackPlanes(tets, x, SPACING, made, crack, smallest)
        own = np.flatnonzero((tets == left[0]).any(axis=1))
        found = planes.edit() if planes.add(left[0], own, CrackPlane(normal, offset, 0)) else None
        if found is not None:
            first, edit = found.edit.parents[:, 0], found.edit
            made, crack = made[first] | (edit.weights[:, 0] != 1.0), crack[first]
            crack[found.owner >= 0] = 0
            x, tets = edit.blended(x), edit.tets
    count, piece = pieces(tets)
    volumes = np.bincount(piece, tet_volumes(x, tets))
    assert count == 2
    assert volumes.min() > 0.3
    triangles = boundary_triangles(tets)
    torn = triangles[boundary_twins(x, triangles)]
    section = np.sqrt(1.74) * (1.0 - 0.2 * 0.1 / 0.7)  # a unit square along x, less two corners
    assert 0.25 * double_areas(x, torn).sum() == pytest.approx(section, rel=0.15)
