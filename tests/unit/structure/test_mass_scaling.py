"""Mass that is lent: the sum stays, and nothing is quicker than it may be."""

import numpy as np
import pytest

from pliant.mesh.mesh import tet_volumes
from pliant.mesh.shapes import box
from pliant.structure.mass_scaling import QUICK, _stiffness, apply_transfers, scale_tet_masses, transfers


def masses(points: np.ndarray, tets: np.ndarray) -> np.ndarray:
    return np.bincount(tets.ravel(), np.repeat(tet_volumes(points, tets) / 4.0, 4), len(points))


def test_even_meshes_keep_their_masses() -> None:
    mesh = box(1.0, 1.0, 1.0, divisions=(4, 4, 4), split="uniform").volume()
    assert mesh is not None
    mass = masses(mesh.points, mesh.tets)
    assert scale_tet_masses(mesh.points, mesh.tets, tet_volumes(mesh.points, mesh.tets), mass) is mass


def test_light_regions_do_not_borrow_from_heavy_ones() -> None:
    mesh = box(1.0, 1.0, 1.0, divisions=(4, 4, 4), split="uniform").volume()
    assert mesh is not None
    light = mesh.points[mesh.tets].mean(axis=1)[:, 0] > 0.5
    amounts = tet_volumes(mesh.points, mesh.tets) * np.where(light, 10.0, 1000.0)
    mass = np.bincount(mesh.tets.ravel(), np.repeat(amounts / 4.0, 4), len(mesh.points))
    assert scale_tet_masses(mesh.points, mesh.tets, amounts, mass) is mass


def test_corners_of_flat_tets_get_mass_from_their_neighbours() -> None:
    """A node pushed to a tenth of a cell above the face below it: flat tets there. Alone, it and the nodes
    around it are then no quicker than allowed, the sum stays, and nodes far away keep what they have."""
    mesh = box(1.0, 1.0, 1.0, divisions=(6, 6, 6), split="uniform").volume()
    assert mesh is not None
    points, tets = mesh.points.copy(), mesh.tets
    node = int(np.abs(points - [0.5, 0.5, 1.0]).sum(axis=1).argmin())
    points[node, 2] = 5 / 6 + 0.1 / 6
    volumes, mass = tet_volumes(points, tets), masses(points, tets)
    assert volumes.min() > 0.0
    k = _stiffness(points, tets, volumes)
    alone = np.sqrt(mass / k)
    assert alone.min() < 0.35 * np.median(alone)
    found = scale_tet_masses(points, tets, volumes, mass)
    assert found.sum() == pytest.approx(mass.sum(), rel=1e-14)
    assert (np.sqrt(found / k) > QUICK * np.median(alone) * (1.0 - 1e-9)).all()
    far = np.abs(points - points[node]).max(axis=1) > 3.01 / 6
    assert np.array_equal(found[far], mass[far])


def test_values_go_with_the_mass() -> None:
    """A chain of three: the last has nothing, the first two have all; a uniform field stays uniform."""
    first, columns = np.array([0, 2, 5, 7]), np.array([0, 1, 0, 1, 2, 1, 2])
    mass = np.array([3.0, 1.0, 0.0])
    loans = transfers(np.array([1.0, 1.0, 1.0]), mass, first, columns)
    moved, weight = mass[:, None].copy(), 9.81 * mass[:, None]
    apply_transfers(loans, moved)
    apply_transfers(loans, weight)
    assert moved.sum() == pytest.approx(4.0, rel=1e-15)
    assert (moved > 0.9).all()
    assert np.allclose(weight, 9.81 * moved, rtol=1e-14)
