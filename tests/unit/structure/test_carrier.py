"""Carried surfaces follow their particles exactly."""

import numpy as np
import pytest

from pliant.core.errors import MeshError
from pliant.core.typing import Array, IntArray
from pliant.embedding.barycentric import EmbeddedSurface, boundary_carrier, embed
from pliant.embedding.carriers import CARRIERS, carried_velocities
from pliant.embedding.mls import carried_by_elements
from pliant.mesh.mesh import Surface, boundary_triangles, surface_volume, tet_volumes

SIX = [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]]


def tet_box(cells: tuple[int, int, int], size: tuple[float, float, float]) -> tuple[Array, IntArray]:
    """A box 0..size cut into six tets a cell, all of positive volume."""
    steps = [np.linspace(0, s, c + 1) for s, c in zip(size, cells, strict=True)]
    points = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.arange(len(points)).reshape([c + 1 for c in cells])
    corner = [
        number[i : i + cells[0], j : j + cells[1], k : k + cells[2]].ravel()
        for k in (0, 1)
        for j in (0, 1)
        for i in (0, 1)
    ]
    tets = np.stack(corner, axis=1)[:, SIX].reshape(-1, 4)
    assert (tet_volumes(points, tets) > 0).all()
    return points, tets


def skin(cells: tuple[int, int, int], size: tuple[float, float, float]) -> Surface:
    """The surface of such a box."""
    points, tets = tet_box(cells, size)
    used, triangles = np.unique(boundary_triangles(tets), return_inverse=True)
    return Surface(points[used], triangles.reshape(-1, 3))


def affine(rng: np.random.Generator) -> tuple[Array, Array]:
    return rng.normal(size=(3, 3)), rng.normal(size=3)


def test_points_anywhere_in_the_volume_move_with_every_affine_motion() -> None:
    rng = np.random.default_rng(1)
    points, tets = tet_box((6, 4, 3), (2.0, 0.5, 0.3))
    inside = rng.uniform(size=(3000, 3)) * [2.0, 0.5, 0.3]
    carrier = embed(Surface(inside, np.array([[0, 1, 2]])), points, tets)
    assert carrier.extrapolation < 1e-12
    assert carrier.weights.min() > -1e-12
    assert carrier.indices.dtype == np.uint32
    np.testing.assert_allclose(carrier.positions(points), inside, rtol=0, atol=1e-14)
    matrix, shift = affine(rng)
    np.testing.assert_allclose(
        carrier.positions(points @ matrix.T + shift), inside @ matrix.T + shift, rtol=0, atol=1e-12
    )


def test_points_just_outside_are_extrapolated_without_clamping() -> None:
    rng = np.random.default_rng(2)
    points, tets = tet_box((5, 5, 5), (1.0, 1.0, 1.0))
    out = rng.normal(size=(500, 3))
    out = 0.5 + out / np.abs(out).max(axis=1, keepdims=True) * 0.52  # on a box 0.02 larger all round
    carrier = embed(Surface(out, np.array([[0, 1, 2]])), points, tets)
    assert 0.05 < carrier.extrapolation <= 0.35
    assert carrier.extrapolation == -carrier.weights.min()
    matrix, shift = affine(rng)
    np.testing.assert_allclose(
        carrier.positions(points @ matrix.T + shift), out @ matrix.T + shift, rtol=0, atol=1e-12
    )


def test_flat_and_empty_tets_carry_nothing() -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.3, 0.3, 0.0]], float)
    tets = np.array([[0, 1, 2, 4], [0, 1, 2, 3]])
    surface = Surface(np.array([[0.2, 0.2, 0.0]]), np.zeros((0, 3), np.int64))
    carrier = embed(surface, points, tets)
    np.testing.assert_array_equal(carrier.indices, [[0, 1, 2, 3]])
    np.testing.assert_allclose(carrier.weights, [[0.6, 0.2, 0.2, 0.0]], atol=1e-15)
    with pytest.raises(MeshError, match="no tetrahedron with a volume"):
        embed(surface, points, tets[:1])


def test_a_large_tet_beside_many_small_ones_is_found() -> None:
    small, small_tets = tet_box((8, 8, 8), (0.2, 0.2, 0.2))
    points = np.concatenate([small, [[0, 0, 0.2], [4, 0, 0.2], [0, 4, 0.2], [0, 0, 4.2]]])
    tets = np.concatenate([small_tets, [np.arange(4) + len(small)]])
    inside = np.array([[0.05, 0.05, 0.21]])  # hundreds of small tets have nearer centroids
    carrier = embed(Surface(inside, np.zeros((0, 3), np.int64)), points, tets)
    assert carrier.extrapolation == 0.0
    np.testing.assert_array_equal(carrier.indices[0], tets[-1])


def test_boundary_carrier_is_the_boundary_itself() -> None:
    points, tets = tet_box((3, 2, 2), (3.0, 2.0, 1.0))
    carrier = boundary_carrier(points, tets)
    assert carrier.indices.shape == (len(carrier.surface.points), 1)
    np.testing.assert_array_equal(carrier.positions(points), carrier.surface.points)
    np.testing.assert_array_equal(carrier.indices[:, 0][carrier.surface.triangles], boundary_triangles(tets))
    moved = points * 2.0
    assert surface_volume(carrier.positions(moved), carrier.surface.triangles) == pytest.approx(48.0)
    with pytest.raises(MeshError, match="no tetrahedra"):
        boundary_carrier(points, tets[:0])


def test_arrays_build_the_same_carrier_again() -> None:
    points, tets = tet_box((2, 2, 2), (1.0, 1.0, 1.0))
    surface = Surface(
        np.array([[0.1, 0.2, 0.3], [0.9, 0.1, 0.1], [0.5, 0.9, 1.1]]),
        np.array([[0, 1, 2]]),
        np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 1.0]]),
        np.array([[2, 0, 1]]),
        {"skin / front": np.array([0])},
    )
    carrier = embed(surface, points, tets)
    again = CARRIERS[carrier.kind].from_arrays(carrier.arrays())
    assert isinstance(again, EmbeddedSurface)
    assert again.extrapolation == carrier.extrapolation > 0
    np.testing.assert_array_equal(again.positions(points), carrier.positions(points))
    assert again.surface.uv is surface.uv
    assert again.surface.uv_triangles is surface.uv_triangles
    assert dict(again.surface.groups) == dict(surface.groups)


def test_offsets_that_turn_have_the_velocity_of_a_turning_body() -> None:
    """A row of three elements with a box around it turns about its axis and others: v = w x p everywhere."""
    rng = np.random.default_rng(5)
    rest = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.2, 0.01, 0.0]])
    box = np.array([[x, y, z] for x in (-0.05, 0.25) for y in (-0.05, 0.05) for z in (-0.05, 0.05)])
    surface = Surface(box, np.array([[0, 1, 2], [5, 6, 7]]))
    carrier = carried_by_elements(surface, rest, 0.1, np.array([[0, 1], [1, 2]]))
    assert carrier.offsets is not None
    assert len(carrier.offsets.points)
    turn, shift = rng.normal(size=3), rng.normal(size=3)
    velocities = carried_velocities(carrier, rest, np.cross(turn, rest) + shift)
    np.testing.assert_allclose(velocities, np.cross(turn, box) + shift, atol=1e-8)
    np.testing.assert_array_equal(carried_velocities(carrier, rest, 0.0 * rest), 0.0)


def test_parts_that_nearly_touch_are_carried_each_by_its_own_elements() -> None:
    """The lower corners of a slab above a block are as near to the block's elements as to its own. Where the
    slab moves away, its surface goes with it, and no triangle is stretched."""
    lower, upper = skin((3, 3, 3), (0.3, 0.3, 0.3)), skin((3, 3, 1), (0.28, 0.28, 0.12))
    above = upper.points + np.array([0.01, 0.01, 0.302])
    surface = Surface(
        np.concatenate([lower.points, above]),
        np.concatenate([lower.triangles, upper.triangles + len(lower.points)]),
    )
    grid = np.stack(np.meshgrid(*[[0.05, 0.15, 0.25]] * 3, indexing="ij"), -1).reshape(-1, 3)
    plate = np.stack(np.meshgrid([0.1, 0.2], [0.1, 0.2], [0.37], indexing="ij"), -1).reshape(-1, 3)
    rest = np.concatenate([grid, plate])
    gaps = np.linalg.norm(rest[:, None] - rest[None], axis=2)
    pairs = np.argwhere(np.triu((gaps > 0.0) & (gaps < 0.101)))
    pairs = pairs[(pairs[:, 0] < 27) == (pairs[:, 1] < 27)]
    nearest = np.linalg.norm(surface.points[:, None] - rest, axis=2).argmin(axis=1)
    assert (nearest[len(lower.points) :] < 27).any()  # what makes it difficult
    carrier = carried_by_elements(surface, rest, 0.1, pairs)
    moved = rest + np.where(np.arange(len(rest)) >= 27, 1.0, 0.0)[:, None] * [0.3, 0.2, 2.0]
    found = carrier.positions(moved)
    assert found[: len(lower.points)] == pytest.approx(lower.points, abs=1e-12)
    assert found[len(lower.points) :] == pytest.approx(above + np.array([0.3, 0.2, 2.0]), abs=1e-12)
