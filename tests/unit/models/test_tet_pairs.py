"""Tets are laid out in pairs that share a face."""

import numpy as np

from pliant.mesh.mesh import tet_volumes
from pliant.mesh.shapes import box
from pliant.models.springs.pairs import face_neighbours, pair_tets


def test_every_tet_is_in_one_pair_and_keeps_its_volume() -> None:
    mesh = box(1.0, 0.8, 0.6, divisions=(5, 4, 3)).volume()
    assert mesh is not None
    pairs, members = pair_tets(mesh.tets)
    assert sorted(members[members >= 0].tolist()) == list(range(len(mesh.tets)))
    x = mesh.points[pairs]
    a, b, c, d = (x[:, k] - x[:, 0] for k in (1, 2, 3, 4))
    first = np.einsum("ij,ij->i", np.cross(a, b), c) / 6.0
    second = -np.einsum("ij,ij->i", np.cross(a, b), d) / 6.0
    volumes = tet_volumes(mesh.points, mesh.tets)
    assert np.allclose(first, volumes[members[:, 0]], rtol=1e-12)
    both = members[:, 1] >= 0
    assert np.allclose(second[both], volumes[members[both, 1]], rtol=1e-12)
    assert np.all(second[~both] == 0.0)


def test_few_tets_stay_alone() -> None:
    """A structured box pairs up nearly whole: its six-tet cells fall into three pairs each."""
    mesh = box(1.0, 1.0, 1.0, divisions=(6, 6, 6)).volume()
    assert mesh is not None
    _, members = pair_tets(mesh.tets)
    assert np.mean(members[:, 1] < 0) < 0.05


def test_neighbours_are_mutual() -> None:
    tets = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
    neighbours = face_neighbours(tets)
    assert neighbours.tolist() == [[1, -1, -1, -1], [-1, -1, -1, 0]]
