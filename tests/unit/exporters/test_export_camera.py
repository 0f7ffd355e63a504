"""The camera of a scene in RIB, USD and GLB files: all see the same points at the same places."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported import two_bodies
from readers import Glb, requests

from pliant.core.errors import SceneError
from pliant.exporters import export
from pliant.exporters.job import scene_camera
from pliant.run.store import Run
from pliant.scene.load import parse
from pliant.scene.to_toml import to_toml

STILL = "position = [3.0, -4.0, 2.0], target = [0.5, 0.25, 0.125], angle = 31"
KEYS = "{ keys = [{ time = 0, value = [3, -4, 2] }, { time = 0.04, value = [-3, -4, 1] }] }"
MOVING = f"position = {KEYS}, target = [0.5, 0, 0]"
POINTS = np.array([[0.5, 0.25, 0.125], [1.0, 0.0, 0.0], [0.0, 0.5, 0.7]])


@pytest.fixture(params=[STILL, MOVING], ids=["still", "moving"])
def run(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    found = two_bodies(tmp_path, monkeypatch)
    monkeypatch.setattr(Run, "scene_text", f"schema = 1\ncamera = {{ {request.param} }}\n")
    return found


def expected(run: Run, time: float) -> Any:
    """Places in a picture whose upper edge is 1, from the definition: x right, y up."""
    camera = scene_camera(run)
    assert camera is not None
    position, target = np.array(camera.position.at(time)), np.array(camera.target.at(time))
    back = (position - target) / np.linalg.norm(position - target)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    away = POINTS - position
    depth = -(away @ back) * np.tan(np.radians(float(camera.angle.at(time))) / 2)
    return np.stack([away @ right / depth, away @ np.cross(back, right) / depth], axis=1)


def projected(points: Any, to_camera: Any, angle: float, forward: float) -> Any:
    seen = np.column_stack([points, np.ones(len(points))]) @ to_camera
    depth = forward * seen[:, 2] * np.tan(np.radians(angle) / 2)
    return seen[:, :2] / depth[:, None]


def test_rib(run: Run, tmp_path: Path) -> None:
    for frame, path in zip(run.frames, export(run, tmp_path / "f_%d.rib"), strict=True):
        found = dict(requests(path))
        matrix = np.reshape(found["ConcatTransform"][0], (4, 4))
        seen = projected(POINTS, matrix, found["Projection"][-1][0], 1.0)
        np.testing.assert_allclose(seen, expected(run, frame.time), atol=1e-6)


def test_usd_in_other_units_and_axes(run: Run, tmp_path: Path) -> None:
    Usd = pytest.importorskip("pxr.Usd")
    from pxr import UsdGeom

    (path,) = export(run, tmp_path / "two.usd", units="cm", up="y")
    stage = Usd.Stage.Open(str(path))
    camera = UsdGeom.Camera(stage.GetPrimAtPath("/World/camera"))
    turned = 100.0 * np.stack([POINTS[:, 0], POINTS[:, 2], -POINTS[:, 1]], axis=1)
    for frame in run.frames:
        now = camera.GetCamera(float(frame.index))
        to_camera = np.linalg.inv(np.array(now.transform))
        angle = now.GetFieldOfView(now.FOVVertical)
        np.testing.assert_allclose(
            projected(turned, to_camera, angle, -1.0), expected(run, frame.time), atol=1e-4
        )


def test_glb(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("pygltflib")
    from scipy.spatial.transform import Rotation

    (path,) = export(run, tmp_path / "two.glb")
    reader = Glb(path)
    (number,) = [k for k, node in enumerate(reader.tree.nodes) if node.camera is not None]
    node = reader.tree.nodes[number]
    angle = np.degrees(reader.tree.cameras[0].perspective.yfov)
    turned = np.stack([POINTS[:, 0], POINTS[:, 2], -POINTS[:, 1]], axis=1)
    for frame in run.frames:
        place, turn = np.array(node.translation), np.array(node.rotation)
        moved, rotated = reader.channel(number, "translation"), reader.channel(number, "rotation")
        if moved is not None and rotated is not None:
            place, turn = moved[1][frame.index], rotated[1][frame.index]
        to_camera = np.eye(4)
        axes = Rotation.from_quat(turn).as_matrix()
        to_camera[:3, :3], to_camera[3, :3] = axes, -place @ axes
        np.testing.assert_allclose(
            projected(turned, to_camera, angle, -1.0), expected(run, frame.time), atol=1e-5
        )


SCENE = """
schema = 1
camera = { CAMERA }
[[bodies]]
shape = { box = { size = [1, 1, 1], divisions = [1, 1, 1] } }
"""


@pytest.mark.parametrize("camera", [STILL, MOVING])
def test_a_scene_keeps_its_camera(camera: str) -> None:
    scene = parse(SCENE.replace("CAMERA", camera))
    again = parse(to_toml(scene))
    assert scene.camera is not None
    assert again.camera is not None
    for time in (0.0, 0.02, 0.1):
        np.testing.assert_array_equal(again.camera.position.at(time), scene.camera.position.at(time))
        assert again.camera.angle.at(time) == scene.camera.angle.at(time)


@pytest.mark.parametrize(
    ("camera", "said"),
    [
        ("position = [1, 0, 0], target = [1, 0, 0]", "the same point"),
        ("position = [1, 0, 0], target = [0, 0, 0], angle = 0", "above 0"),
        ("position = [1, 0, 0]", "target"),
        ("position = [1, 0, 0], target = [0, 0, 0], angel = 30", "angel"),
        ("position = [1, 0], target = [0, 0, 0]", "camera.position"),
    ],
)
def test_wrong_cameras_are_refused(camera: str, said: str) -> None:
    with pytest.raises(SceneError, match=said):
        parse(SCENE.replace("CAMERA", camera))
