"""Repairs give back the surface that was damaged."""

from dataclasses import replace

import numpy as np
import pytest
from test_health import cube, flipped, together, unmerged

from pliant.core.errors import MeshError
from pliant.mesh.diagnostics import health
from pliant.mesh.mesh import Surface, surface_volume
from pliant.mesh.repair import lid, repair


def test_a_healthy_surface_is_left_alone() -> None:
    mended, notes = repair(cube())
    assert notes == []
    np.testing.assert_array_equal(mended.triangles, cube().triangles)


def test_everything_at_once_comes_back_as_the_cube() -> None:
    triangles = cube().triangles.copy()
    triangles[[3, 7]] = triangles[[3, 7], ::-1]
    broken = unmerged(Surface(cube().points, triangles[1:]))
    twice = np.concatenate([broken.triangles, broken.triangles[:1], [[0, 0, 1]]])
    mended, notes = repair(
        Surface(np.concatenate([broken.points, [[5.0, 5.0, 5.0]]]), twice), max_dropped=0.2, max_hole=0.9
    )
    assert health(mended).problems() == []
    assert surface_volume(mended.points, mended.triangles) == pytest.approx(1.0, abs=1e-14)
    assert len(mended.points) == 8
    assert [note.split()[0] for note in notes] == [
        "Merged",
        "Dropped",
        "Dropped",
        "Dropped",
        "Turned",
        "Closed",
    ]


def test_inside_out_parts_are_turned_and_cavities_are_not() -> None:
    mended, notes = repair(flipped(cube()))
    assert surface_volume(mended.points, mended.triangles) == pytest.approx(1.0)
    assert notes == ["Turned 1 inside-out component outward."]
    cavity = together(cube(3.0), flipped(cube(1.0, at=(1.0, 1.0, 1.0))))
    mended, notes = repair(cavity)
    assert surface_volume(mended.points, mended.triangles) == pytest.approx(26.0)
    assert notes == []


def test_wide_holes_are_refused_unless_allowed() -> None:
    open_box = Surface(cube().points, cube().triangles[2:])
    with pytest.raises(MeshError, match="hole is 82%") as error:  # sqrt(2) / sqrt(3)
        repair(open_box)
    assert error.value.hint
    assert health(repair(open_box, max_hole=np.inf)[0]).closed


def test_too_many_bad_triangles_are_refused() -> None:
    bad = np.concatenate([cube().triangles, [[0, 0, 1]] * 3])
    with pytest.raises(MeshError, match="3 of 15"):
        repair(Surface(cube().points, bad))
    with pytest.raises(MeshError, match="area"):
        repair(Surface(cube().points, np.array([[0, 0, 1]])))


def test_texture_and_groups_stay_with_their_triangles() -> None:
    whole = cube()
    m = len(whole.triangles)
    uv = np.linspace(0, 1, 6 * m).reshape(-1, 2)
    corners = np.arange(3 * m).reshape(-1, 3)
    triangles = whole.triangles.copy()
    triangles[4] = triangles[4, [0, 2, 1]]
    damaged = replace(
        whole,
        triangles=np.concatenate([[[0, 0, 1]], triangles]),
        uv=uv,
        uv_triangles=np.concatenate([[[0, 0, 0]], corners]),
        groups={"top": np.array([0, 3, 4])},
    )
    mended, _ = repair(damaged)
    np.testing.assert_array_equal(mended.groups["top"], [2, 3])
    assert mended.uv_triangles is not None
    np.testing.assert_array_equal(mended.uv_triangles[4], corners[4, [0, 2, 1]])
    np.testing.assert_array_equal(mended.uv_triangles[5], corners[5])
    np.testing.assert_array_equal(mended.triangles, whole.triangles)


def test_a_lid_covers_a_star_exactly() -> None:
    """A star with ten corners at radii 1 and 0.4: area 5 sin(36 deg) r R, without overlap."""
    angle = np.arange(10) * np.pi / 5
    radius = np.where(np.arange(10) % 2 == 0, 1.0, 0.4)
    points = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(10)])
    triangles = lid(points, np.arange(10))
    a, b, c = (points[triangles[:, k], :2] for k in range(3))
    u, v = b - a, c - a
    areas = (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) / 2
    assert (areas > 0).all()
    assert areas.sum() == pytest.approx(10 * 0.5 * 0.4 * np.sin(np.pi / 5), rel=1e-12)
