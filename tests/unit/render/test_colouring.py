"""Numbers behind the colours, and shapes behind the pictures."""

from typing import Any

import numpy as np
import pytest

from pliant.core.errors import InputError
from pliant.embedding.barycentric import boundary_carrier
from pliant.interfaces import FieldData, Structure
from pliant.mesh.mesh import Surface
from pliant.mesh.shapes import icosphere
from pliant.render.files import scaled
from pliant.render.geometry import Shaper, random_tints, split_at_edges
from pliant.render.plan import scenery_of
from pliant.render.render_options import RenderOptions
from pliant.render.scalar_fields import chosen_range, on_particles, on_surface, scalar_field
from pliant.run.store import Run


def test_vectors_give_lengths_and_parts(run: Run) -> None:
    frame = run.frames[4]
    moved = np.asarray(frame.field("displacement", "block").values)
    np.testing.assert_allclose(
        scalar_field(frame, "displacement", "block").values, np.linalg.norm(moved, axis=1)
    )
    np.testing.assert_array_equal(scalar_field(frame, "displacement.z", "block").values, moved[:, 2])
    tensor = np.asarray(frame.field("stress-tensor", "block").values)
    np.testing.assert_array_equal(scalar_field(frame, "stress-tensor.xy", "block").values, tensor[:, 0, 1])
    assert scalar_field(frame, "stress", "block").unit == "Pa"
    for wrong, message in (
        ("displacement.w", "no part 'w'"),
        ("stress.x", "no part 'x'"),
        ("stress-tensor", "3 x 3 numbers.*stress-tensor.xx"),
        ("stres", "no field 'stres'; did you mean 'stress'"),
    ):
        with pytest.raises(InputError, match=message):
            scalar_field(frame, wrong, "block")


def test_cells_hand_their_values_to_particles_and_these_to_the_surface() -> None:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    tets = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
    structure = Structure(points, np.ones(5), {"tetra": tets}, {}, 1.0, boundary_carrier(points, tets))
    values = on_particles(FieldData(np.array([1.0, 3.0]), "cell"), structure)
    np.testing.assert_array_equal(values, [1, 2, 2, 2, 3])
    np.testing.assert_array_equal(on_surface(values, structure), [1, 2, 2, 2, 3])


def test_ranges(run: Run) -> None:
    frames = list(range(len(run)))
    found = [np.asarray(scalar_field(f, "displacement", "block").values) for f in run.frames]
    values = np.concatenate(found)
    full = chosen_range([run], frames, "displacement", "full", None)
    assert full == pytest.approx((values.min(), values.max()))
    assert chosen_range([run], frames, "displacement", "10%:90%", None) == pytest.approx(
        tuple(np.percentile(values, [10, 90]))
    )
    auto = chosen_range([run], frames, "displacement", "auto", None)
    assert full[0] <= auto[0] < auto[1] <= full[1]
    assert chosen_range([run], frames, "displacement", "-1:2.5", None) == (-1.0, 2.5)
    low, high = chosen_range([run], [0], "displacement", "full", None)  # nothing has moved
    assert low < 0 < high
    for wrong in ("wide", "3:1", "90%:10%", "0%:120%"):
        with pytest.raises(InputError, match="range = "):
            chosen_range([run], frames, "displacement", wrong, None)


def test_normals_stop_at_edges_and_are_smooth_within(run: Run) -> None:
    carrier = run.frames[0].record("block").structure.carrier
    assert carrier is not None
    origin, triangles = split_at_edges(carrier.surface)
    np.testing.assert_array_equal(origin[triangles], carrier.surface.triangles)
    corners = carrier.surface.points - carrier.surface.points.min(axis=0)
    faces = np.isclose(corners, 0) | np.isclose(corners, corners.max(axis=0))
    np.testing.assert_array_equal(np.bincount(origin), faces.sum(axis=1))  # a point for each side
    ball: Surface = icosphere(1.0, 2).surface()
    assert len(split_at_edges(ball)[0]) == len(ball.points)


@pytest.mark.parametrize("style", ["surface", "edges", "wireframe", "tets", "cells", "particles"])
def test_every_style_draws_the_body_where_it_is(run: Run, style: str) -> None:
    frame = run.frames[5]
    shapes = Shaper(RenderOptions(style=style, colour="displacement")).shapes(frame, "block")
    low, high = frame.body("block").min(axis=0), frame.body("block").max(axis=0)
    for drawn in shapes:
        assert (drawn.points > low - 0.01).all()
        assert (drawn.points < high + 0.01).all()
        assert drawn.corners.max() < len(drawn.points)
    assert shapes[0].values is not None
    assert len(shapes[0].values) == len(shapes[0].points)


def test_tets_get_the_same_friendly_colours_every_time() -> None:
    tints = random_tints(500)
    np.testing.assert_array_equal(tints, random_tints(500))
    assert len(np.unique(tints, axis=0)) > 450
    assert tints.min() > 60


def test_the_setting_is_read_from_the_scene(run: Run) -> None:
    setting = scenery_of(run)
    assert (setting.title, setting.up, setting.ground) == ("A block falls", "z", 0.0)
    table, ball = setting.shapes
    assert (table.kind, table.role, ball.kind, ball.role) == ("box", "table", "sphere", "obstacle")
    np.testing.assert_allclose(table.corners(0.0).min(axis=0), [-0.4, -0.05, 0.05])
    np.testing.assert_allclose(table.corners(0.0).max(axis=0), [-0.2, 0.25, 0.1])
    np.testing.assert_allclose(ball.corners(0.1).mean(axis=0), [0.4, 0.1, 0.7])


@pytest.mark.parametrize(("largest", "unit", "expected"), [
    (2.5e5, "Pa", (1e3, "kPa")), (3e7, "Pa", (1e6, "MPa")), (0.02, "m", (1e-3, "mm")), (5.0, "m", (1.0, "m")),
    (0.3, "", (1.0, "")), (3e-9, "", (1e-9, "10⁻⁹")), (0.0, "Pa", (1.0, "Pa")),
])  # fmt: skip
def test_units_get_prefixes(largest: float, unit: str, expected: Any) -> None:
    factor, text = scaled(largest, unit)
    assert (pytest.approx(factor), text) == expected


def test_dual_cells_are_closed_and_fill_the_body() -> None:
    """Each cell's surface is closed, faces outward, and holds the cell's volume; they add up to the body."""
    from pliant.mesh.shapes import box
    from pliant.render.dual_cells import cell_faces
    from pliant.scene import Body
    from pliant.structure.samplers.dual.cells import dual_cells

    mesh = Body(box(1.0, 0.6, 0.4, divisions=(3, 2, 2))).geometry().tets()
    faces = cell_faces(mesh.points, mesh.tets)
    a, b, c = faces.points(mesh.points, 1.0).reshape(-1, 3, 3).transpose(1, 0, 2)
    areas = 0.5 * np.cross(b - a, c - a)
    for axis in range(3):
        assert np.bincount(faces.owner, areas[:, axis]) == pytest.approx(0.0, abs=1e-12)
    volumes = np.bincount(faces.owner, np.einsum("ij,ij->i", areas, (a + b + c) / 3.0) / 3.0)
    expected = dual_cells(mesh.points, mesh.tets).cell_volumes(mesh.points)
    assert volumes == pytest.approx(expected)
    assert volumes.sum() == pytest.approx(0.24)


def test_levels_have_a_colour_each_and_whole_ticks() -> None:
    from pliant.render.colour_maps import colour_map, whole_numbers
    from pliant.render.files import ColourBar

    limits = (-0.5, 2.5)
    assert whole_numbers("level", limits) == [0, 1, 2]
    assert whole_numbers("stress", limits) is None
    colours = colour_map("viridis", 3)(np.linspace(0.0, 0.999, 300))
    assert len(np.unique(colours, axis=0)) == 3
    _, label, ticks, texts = ColourBar("level", "", limits, "viridis")._parts(480)
    assert (label, ticks, texts) == ("level", [0.0, 1.0, 2.0], ["0", "1", "2"])
