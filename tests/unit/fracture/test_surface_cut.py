"""Surfaces cut along sheets: closed pieces, volumes that add up, UVs and groups kept."""

from typing import Any

import numpy as np
import pytest

from pliant.fracture import cut_surface
from pliant.mesh.mesh import Surface, boundary_triangles, surface_volume
from pliant.mesh.shapes import box, icosphere
from pliant.mesh.topology import Edges, merge_points


def grid(cells: int, half: float, centre: Any = (0.0, 0.0, 0.0), wave: float = 0.0) -> Any:
    """A square sheet across z."""
    x, y = np.meshgrid(*[np.linspace(-half, half, cells + 1)] * 2, indexing="ij")
    points = np.stack([x, y, wave * np.sin(5 * x)], axis=-1).reshape(-1, 3) + centre
    corner = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    lower = np.stack([corner, corner + cells + 1, corner + cells + 2], axis=1)
    upper = np.stack([corner, corner + cells + 2, corner + 1], axis=1)
    return points, np.concatenate([lower, upper])


def volumes(cut: Any) -> Any:
    surface = cut.surface
    return np.array(
        [surface_volume(surface.points, surface.triangles[cut.piece == k]) for k in range(cut.pieces)]
    )


def is_closed(surface: Surface) -> bool:
    edges = Edges(surface.triangles, len(surface.points))
    return bool((edges.uses == 2).all() and (edges.balance == 0).all())


BALL = icosphere(radius=1.0, subdivisions=2).surface()
WHOLE = surface_volume(BALL.points, BALL.triangles)


@pytest.mark.parametrize("height", [0.0, 0.11, -0.37])
@pytest.mark.parametrize("wave", [0.0, 0.2])
def test_a_sheet_through_a_ball_gives_two_closed_pieces(height: float, wave: float) -> None:
    """At height 0 the sheet passes through vertices of the ball: it is shifted, and the cut stays clean."""
    cut = cut_surface(BALL, *grid(8, 1.5, (0.0, 0.0, height), wave))
    assert cut.pieces == 2
    assert is_closed(cut.surface)
    assert volumes(cut).sum() == pytest.approx(WHOLE, rel=1e-12)
    faces = cut.surface.groups["crack"]
    assert len(faces) > 0
    assert (cut.origin[faces] < 0).all()


def test_the_new_faces_of_a_plane_cut_have_the_area_of_the_section() -> None:
    block = box(1.0, 2.0, 3.0, divisions=(2, 3, 4)).volume()
    surface = Surface(block.points, boundary_triangles(block.tets))
    cut = cut_surface(surface, *grid(3, 2.0, (0.5, 1.0, 1.2)))
    p = cut.surface.points[cut.surface.triangles[cut.surface.groups["crack"]]]
    area = 0.5 * np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1).sum()
    assert area == pytest.approx(2 * 1.0 * 2.0, rel=1e-9)
    assert sorted(volumes(cut)) == pytest.approx([2.4, 3.6], rel=1e-6)


def test_a_crack_that_ends_inside_leaves_one_piece() -> None:
    cut = cut_surface(BALL, *grid(7, 1.5, (1.6, 0.0, 0.1)))
    assert cut.pieces == 1
    assert is_closed(cut.surface)
    assert volumes(cut)[0] == pytest.approx(WHOLE, rel=1e-12)
    inside = cut_surface(BALL, *grid(3, 0.3, (0.0, 0.0, 0.1)))
    assert inside.pieces == 1
    assert len(inside.surface.groups["crack"]) == 2 * 18


def test_a_branching_crack_gives_three_pieces() -> None:
    flat, faces = grid(6, 1.5)
    upright = flat[:, [2, 0, 1]]
    half = faces[(upright[faces][:, :, 2] >= -1e-12).all(axis=1)]
    points, of = merge_points(np.concatenate([flat, upright]))
    cut = cut_surface(BALL, points, of[np.concatenate([faces, half + len(flat)])])
    assert cut.pieces == 3
    assert is_closed(cut.surface)
    assert sorted(volumes(cut)) == pytest.approx([WHOLE / 4, WHOLE / 4, WHOLE / 2], rel=1e-3)


def test_points_on_both_faces_lead_into_their_own_piece() -> None:
    cut = cut_surface(BALL, *grid(5, 1.5, (0.0, 0.0, 0.11)))
    upper = np.array([volumes(cut)[k] < 0.5 * WHOLE for k in cut.piece])
    on_rim = np.zeros(len(cut.surface.points), bool)
    on_rim[cut.surface.triangles[cut.surface.groups["crack"]]] = True
    above = np.zeros(len(cut.surface.points), bool)
    above[cut.surface.triangles[upper]] = True
    assert (cut.inward[on_rim & above][:, 2] > 0.05).all()
    assert (cut.inward[on_rim & ~above][:, 2] < -0.05).all()


def test_uvs_and_groups_stay_where_they_were() -> None:
    """With uv = (x, y) of each corner, the parts of old triangles must have uv = (x, y) again."""
    top = np.flatnonzero(BALL.points[BALL.triangles].mean(axis=1)[:, 0] > 0)
    dressed = Surface(BALL.points, BALL.triangles, BALL.points[:, :2], BALL.triangles, {"right": top})
    cut = cut_surface(dressed, *grid(5, 1.5, (0.0, 0.0, 0.11)))
    surface, old = cut.surface, cut.origin >= 0
    assert surface.uv is not None
    assert surface.uv_triangles is not None
    uv = surface.uv[surface.uv_triangles[old]]
    assert np.allclose(uv, surface.points[surface.triangles[old]][:, :, :2], atol=1e-12)
    assert set(surface.groups["right"]) == set(np.flatnonzero(np.isin(cut.origin, top)))
