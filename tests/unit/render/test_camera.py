"""Where pictures are taken from."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pliant.core.errors import InputError
from pliant.render.camera import ANGLE, MARGIN, Camera, direction, fitted, read_camera
from pliant.render.render_options import VIEWS


def seen(points: Any, way: Any, up: Any, target: Any, distance: float) -> Any:
    """Places in the picture, where 1 is its upper edge, and distances from the camera."""
    right = np.cross(up, way)
    right /= np.linalg.norm(right)
    away = points - (target + distance * way)
    depth = -away @ way
    tangent = np.tan(np.radians(ANGLE) / 2) * depth
    return np.stack([away @ right / tangent, away @ np.cross(way, right) / tangent], axis=1), depth


@pytest.mark.parametrize("up", ["x", "y", "z"])
@pytest.mark.parametrize("view", VIEWS[1:])
@pytest.mark.parametrize("aspect", [0.5, 1.0, 2.5])
def test_everything_is_in_the_picture_and_fills_it(view: str, up: str, aspect: float) -> None:
    points = np.random.default_rng(3).normal(size=(200, 3)) * [3.0, 1.0, 0.3] + [5.0, -2.0, 1.0]
    way, upward = direction(view, up)
    assert way @ way == pytest.approx(1.0)
    assert (way @ upward == pytest.approx(0.0)) or view == "iso"
    target, distance = fitted(points, way, upward, aspect, 1.0)
    place, depth = seen(points, way, upward, target, distance)
    assert (depth > 0).all()
    most = max(np.abs(place[:, 0]).max() / aspect, np.abs(place[:, 1]).max())
    assert 0.8 / MARGIN < most < 1.0
    assert fitted(points, way, upward, aspect, 2.0)[1] == pytest.approx(distance / 2)


def test_a_single_point_can_be_looked_at() -> None:
    way, up = direction("iso", "z")
    target, distance = fitted(np.array([[1.0, 2.0, 3.0]]), way, up, 1.5, 1.0)
    np.testing.assert_allclose(target, [1, 2, 3])
    assert distance > 0


def camera(**options: Any) -> Camera:
    way, up = direction("front", "z")
    return Camera(way, up, np.array([0.0, 0.0, 1.0]), np.zeros(3), 2.0, **options)


def test_the_front_is_seen_from_minus_y_with_x_to_the_right() -> None:
    eye = camera().eye(0.0, 0.0, np.zeros(3))
    np.testing.assert_allclose(eye.position, [0, -2, 0], atol=1e-12)
    np.testing.assert_allclose(np.cross(eye.target - eye.position, eye.up), [2, 0, 0], atol=1e-12)


def test_turning_and_following() -> None:
    quarter = camera(turns=1.0).eye(0.0, 0.25, np.zeros(3))
    np.testing.assert_allclose(quarter.position, [2, 0, 0], atol=1e-12)
    moved = camera(follow=True).eye(0.0, 0.0, np.array([1.0, 0, 0]))
    np.testing.assert_allclose(moved.position, [1, -2, 0], atol=1e-12)
    np.testing.assert_allclose(moved.target, [1, 0, 0], atol=1e-12)


def test_keys_lead_the_camera(tmp_path: Path) -> None:
    file = tmp_path / "camera.toml"
    file.write_text(
        "position = { keys = [{ time = 0, value = [0, 0, 5] }, { time = 2, value = [4, 0, 5] }] }\n"
        'target = [0, 0, "100 cm"]\nangle = 40\n'
    )
    eye = camera(keys=read_camera(file)).eye(1.0, 0.0, np.zeros(3))
    np.testing.assert_allclose(eye.position, [2, 0, 5])
    np.testing.assert_allclose(eye.target, [0, 0, 1])
    assert eye.angle == 40
    straight_down = camera(keys=read_camera(file)).eye(0.0, 0.0, np.zeros(3))
    assert np.linalg.norm(np.cross(straight_down.up, straight_down.target - straight_down.position)) > 0


def test_wrong_camera_files_are_told(tmp_path: Path) -> None:
    file = tmp_path / "camera.toml"
    for text, message in (
        ("position = [0, 0]\ntarget = [0, 0, 0]", "position: .*expected three numbers"),
        ("position = [0, 0, 1]", "target: "),
        ("position = [0, 0, 1]\ntarget = [0, 0, 0]\nzoom = 2", "zoom: "),
        ("position = ", "not a camera file"),
    ):
        file.write_text(text)
        with pytest.raises(InputError, match=message):
            read_camera(file)
