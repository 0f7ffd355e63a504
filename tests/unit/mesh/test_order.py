"""Renumbering changes numbers only."""

import numpy as np

from pliant.mesh.isosurface_tets import lattice_points, lattice_tets
from pliant.mesh.mesh import TetMesh, tet_edges, tet_volumes
from pliant.mesh.tetrahedralise import lowest_first, ordered

RNG = np.random.default_rng(7)


def shuffled() -> TetMesh:
    """A block of lattice tets with points and tets in random order, and three unused points."""
    points, cubes = lattice_points(np.zeros(3), np.array([3.0, 3.0, 3.0]), 1.0)
    tets = lattice_tets(cubes, np.ones(len(points), dtype=bool))
    tets = np.where((tet_volumes(points, tets) < 0)[:, None], tets[:, [0, 1, 3, 2]], tets)
    points = np.concatenate([points, np.full((3, 3), 50.0)])
    sequence = RNG.permutation(len(points))
    number = np.argsort(sequence)
    regions = np.arange(len(tets))
    rank = RNG.permutation(len(tets))
    groups = {"low": np.flatnonzero(points[sequence][:, 2] < 0.1)}
    return TetMesh(points[sequence], number[tets][rank], groups, regions[rank])


def centres(mesh: TetMesh) -> np.ndarray:
    return np.asarray(mesh.points[mesh.tets].mean(axis=1))


def test_the_same_tets_in_another_order() -> None:
    before = shuffled()
    after = ordered(before)
    assert len(after.points) == len(np.unique(before.tets)) == len(before.points) - before_unused(before)
    one, two = (np.round(centres(m), 9) for m in (before, after))
    np.testing.assert_array_equal(one[np.lexsort(one.T)], two[np.lexsort(two.T)])
    assert (tet_volumes(after.points, after.tets) > 0).all()
    assert (after.points[after.groups["low"]][:, 2] < 0.1).all()
    assert len(after.groups["low"]) == len(np.intersect1d(before.groups["low"], before.tets))
    assert before.regions is not None
    assert after.regions is not None
    where = {region: centre.tobytes() for region, centre in zip(before.regions.tolist(), one, strict=True)}
    assert all(where[r] == c.tobytes() for r, c in zip(after.regions.tolist(), two, strict=True))


def before_unused(mesh: TetMesh) -> int:
    return len(np.setdiff1d(np.arange(len(mesh.points)), mesh.tets))


def test_edges_become_short_in_memory() -> None:
    def span(mesh: TetMesh) -> float:
        return float(np.mean(np.ptp(tet_edges(mesh.tets), axis=1)))

    before = shuffled()
    assert span(ordered(before)) < 0.4 * span(before)


def test_tets_are_sorted_by_their_lowest_point() -> None:
    tets = ordered(shuffled()).tets
    np.testing.assert_array_equal(tets[:, 0], tets.min(axis=1))
    assert (np.diff(tets[:, 0]) >= 0).all()


def test_turning_a_tet_keeps_its_orientation() -> None:
    points = RNG.normal(size=(4, 3))
    tets = np.array([[3, 1, 0, 2], [1, 0, 2, 3], [2, 3, 1, 0], [0, 1, 2, 3]])
    np.testing.assert_allclose(tet_volumes(points, lowest_first(tets)), tet_volumes(points, tets))
