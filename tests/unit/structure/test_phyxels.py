"""Samplers fill any closed surface with phyxels whose volumes add up."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.core.diagnostics import Diagnostics
from pliant.core.errors import MeshError
from pliant.core.rotation import Rotation
from pliant.mesh.mesh import Surface
from pliant.mesh.shapes import icosphere
from pliant.structure.samplers.phyxels.lattices import InsideTest
from pliant.structure.samplers.phyxels.stencil import stencil_centres

MATERIAL = {"young": 1e5, "poisson": 0.3, "density": 1000.0}
SAMPLINGS = ["lattice", "bcc", "octree", "stencil"]


def sampled(shape: Any, **options: Any) -> Any:
    model = {"type": "efg", **options.pop("model", {})}
    return pl.Body(shape, model=model, material=MATERIAL, **options).structure(Diagnostics())


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_masses_add_up_and_phyxels_are_inside(sampling: str) -> None:
    box = sampled(pl.shapes.box(0.3, 0.2, 0.1), edge=0.03, model={"sampling": sampling})
    assert box.mass.sum() == pytest.approx(6.0, rel=1e-12)
    assert (box.rest > -1e-12).all()
    assert (box.rest < np.array([0.3, 0.2, 0.1]) + 1e-12).all()
    ball = sampled(pl.shapes.sphere(0.1), edge=0.02, model={"sampling": sampling})
    surface = ball.carrier.surface
    corners = surface.points[surface.triangles]
    volume = np.einsum("ij,ij->", np.cross(corners[:, 0], corners[:, 1]), corners[:, 2]) / 6
    assert ball.mass.sum() == pytest.approx(1000 * volume, rel=1e-12)
    assert np.linalg.norm(ball.rest, axis=1).max() < 0.1 * (1 + 1e-9)


def test_a_lattice_on_a_box_has_the_trapezoidal_shares() -> None:
    """4 x 3 x 3 nodes: corners an eighth of a cell, edges a quarter, faces a half, inside one."""
    structure = sampled(pl.shapes.box(0.3, 0.2, 0.2), edge=0.1)
    assert len(structure.rest) == 36
    outside = (np.isclose(structure.rest, 0.0) | np.isclose(structure.rest, [0.3, 0.2, 0.2])).sum(axis=1)
    assert structure.mass == pytest.approx(0.5**outside, rel=1e-12)


@pytest.mark.parametrize(
    ("sampling", "close"), [("lattice", 0.1), ("bcc", 0.1), ("octree", 0.25), ("stencil", 0.1)]
)
def test_a_count_is_met(sampling: str, close: float) -> None:
    structure = sampled(pl.shapes.gummy(0.1), model={"sampling": sampling, "count": 800})
    assert len(structure.rest) == pytest.approx(800, rel=close)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_spacing_is_met(sampling: str) -> None:
    """Lattices: a phyxel per cube of that size; octrees: the boxes at the surface have it."""
    structure = sampled(pl.shapes.box(0.4, 0.4, 0.2), edge=0.02, model={"sampling": sampling})
    assert structure.spacing == pytest.approx(0.02, rel=0.01)
    volumes = structure.mass / 1000.0
    assert (np.median(volumes) / 0.02**3) ** (1 / 3) == pytest.approx(1.0, rel=0.15)


def test_the_octree_is_finer_at_the_surface() -> None:
    structure = sampled(pl.shapes.sphere(1.0), edge=0.12, model={"sampling": "octree"})
    from scipy.spatial import cKDTree

    gap = cKDTree(structure.rest).query(structure.rest, k=2)[0][:, 1]
    r = np.linalg.norm(structure.rest, axis=1)
    assert np.median(gap[r < 0.5]) > 1.7 * np.median(gap[r > 0.85])


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_turned_and_scaled_body_is_sampled_alike(sampling: str) -> None:
    """No symmetric shape: the middle of one has several nearest points on its surface."""
    bent = np.array([[1.0, 0.3, 0.0], [0.0, 0.9, 0.2], [0.1, 0.0, 1.1]])
    sphere = pl.shapes.sphere(0.1).surface(None)
    shape = replace(sphere, points=sphere.points @ bent.T)
    plain = sampled(shape, model={"sampling": sampling, "count": 300})
    turn = Rotation(axis=(1, 2, 3), degrees=40)
    options = {"rotation": turn, "scale": 20.0, "position": (1.0, 2.0, 3.0)}
    other = sampled(shape, model={"sampling": sampling, "count": 300}, **options)
    expected = 20.0 * plain.rest @ turn.matrix().T + [1.0, 2.0, 3.0]
    assert np.abs(other.rest - expected).max() < 1e-9
    assert other.mass == pytest.approx(8000.0 * plain.mass, rel=1e-9)


def test_phyxels_below_a_crooked_surface_are_spread_evenly() -> None:
    """Each in the middle of its share of the volume, but those on the surface; 0.2 spacings off if not."""
    shape = pl.shapes.sphere(0.1)
    structure = sampled(shape, edge=0.02)
    deep = np.linalg.norm(structure.rest, axis=1) < 0.095
    axis = np.linspace(-0.1, 0.1, 81)
    voxels = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    voxels = voxels[np.linalg.norm(voxels, axis=1) < 0.1]
    from scipy.spatial import cKDTree

    owner = cKDTree(structure.rest).query(voxels)[1]
    count = np.bincount(owner, minlength=len(structure.rest))
    middle = np.stack([np.bincount(owner, voxels[:, c], len(count)) / count for c in range(3)], axis=1)
    off = np.linalg.norm(middle - structure.rest, axis=1)[deep] / 0.02
    assert off.max() < 0.12


def test_small_holes_do_no_harm() -> None:
    whole = pl.shapes.sphere(0.1).surface(None)
    torn = replace(whole, triangles=np.delete(whole.triangles, [5, 77, 130], axis=0))
    a, b = sampled(whole, edge=0.02), sampled(torn, edge=0.02)
    assert len(b.rest) == pytest.approx(len(a.rest), rel=0.02)
    assert b.mass.sum() == pytest.approx(a.mass.sum(), rel=0.02)


def test_the_surface_is_carried_by_affine_motions_exactly() -> None:
    structure = sampled(pl.shapes.gummy(0.1), model={"count": 300})
    motion = np.array([[1.1, 0.2, 0.0], [-0.3, 0.9, 0.1], [0.0, 0.2, 1.2]])
    found = structure.carrier.positions(structure.rest @ motion.T)
    assert np.abs(found - structure.carrier.surface.points @ motion.T).max() < 1e-9


def test_bad_wishes_are_errors() -> None:
    with pytest.raises(MeshError, match="larger than the whole body"):
        sampled(pl.shapes.box(0.1, 0.1, 0.1), edge=1.0)
    with pytest.raises(MeshError, match="larger than the whole body"):
        pl.Body(pl.shapes.box(0.1, 0.1, 0.1), edge=1.0, model="lattice").structure()
    sheet = Surface(np.eye(3), np.array([[0, 1, 2]]))
    with pytest.raises(MeshError, match="encloses no volume"):
        sampled(sheet, edge=0.1)


def nested(offset: float, outward: bool) -> Surface:
    """A ball of 0.1 m and one of 0.06 m ``offset`` along x, which faces inward or outward."""
    ball = icosphere(0.1, 3).surface()
    small = ball.triangles if outward else ball.triangles[:, ::-1]
    points = np.concatenate([ball.points, 0.6 * ball.points + [offset, 0.0, 0.0]])
    return Surface(points, np.concatenate([ball.triangles, small + len(ball.points)]))


@pytest.mark.parametrize(("offset", "outward"), [(0.0, False), (0.0, True), (0.1, True)])
def test_the_stencil_finds_what_winding_numbers_find(offset: float, outward: bool) -> None:
    """Cells of a hollow ball, of one with another inside, and of two that overlap: of the lattice of cell
    centres those that are inside by the solid angle of the surface."""
    surface = nested(offset, outward)
    solid = InsideTest(surface)
    points, spacing = stencil_centres(solid, 0.008)
    counts = np.maximum(1, np.round(solid.extent / 0.008).astype(int))
    axes = [low + extent / n * (np.arange(n) + 0.5) for low, extent, n in zip(solid.low, solid.extent, counts,
                                                                             strict=True)]  # fmt: skip
    every = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    inside = every[solid.inside(every)]
    assert len(points) == pytest.approx(len(inside), abs=0.002 * len(inside))
    assert spacing == pytest.approx(0.008, rel=0.05)
    radii = np.linalg.norm(points, axis=1)
    assert (radii.min() > 0.055) == (not outward)
