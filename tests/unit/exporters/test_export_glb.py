"""GLB files, read back by pygltflib, morph targets and animation included."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sample_run as sample
import trimesh
from exported import splitting_body, two_bodies
from readers import Glb

from pliant.core.errors import InputError
from pliant.exporters import export
from pliant.run.store import Run

pygltflib = pytest.importorskip("pygltflib", reason="needs pygltflib: pip install pygltflib")


def y_up(points: Any) -> Any:
    return np.stack([points[:, 0], points[:, 2], -points[:, 1]], axis=1)


def test_every_frame_comes_back_through_its_morph_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = two_bodies(tmp_path, monkeypatch)
    (path,) = export(run, tmp_path / "two.glb")
    reader = Glb(path)
    assert [node.name for node in reader.tree.nodes] == ["soft beam", "ball"]
    for frame in run.frames:
        surface = frame.surface("ball")
        np.testing.assert_allclose(reader.shown(1, frame.time), y_up(surface.points), atol=1e-6)
    primitive = reader.tree.meshes[1].primitives[0]
    np.testing.assert_array_equal(reader.array(primitive.indices).reshape(-1, 3), surface.triangles)
    assert len(primitive.targets) == 2


def test_texture_coordinates_survive_their_seams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = two_bodies(tmp_path, monkeypatch)
    (path,) = export(run, tmp_path / "two.glb", bodies=["soft beam"])
    reader, rest = Glb(path), sample.textured_square()
    assert rest.uv is not None
    assert rest.uv_triangles is not None
    primitive = reader.tree.meshes[0].primitives[0]
    corners = reader.array(primitive.indices).ravel()
    uv = reader.array(primitive.attributes.TEXCOORD_0)[corners]
    np.testing.assert_allclose(uv * [1, -1] + [0, 1], rest.uv[rest.uv_triangles.ravel()], atol=1e-7)
    for frame in run.frames:
        surface = frame.surface("soft beam")
        points = reader.shown(0, frame.time)[corners]
        np.testing.assert_allclose(points, y_up(surface.points[surface.triangles.ravel()]), atol=1e-6)


def test_changes_of_topology_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = splitting_body(tmp_path, monkeypatch)
    (path,) = export(run, tmp_path / "split.glb")
    reader = Glb(path)
    for frame in run.frames:
        shown = [reader.shown(node, frame.time) for node in range(2)]
        assert shown[frame.index < 2] is None
        np.testing.assert_allclose(shown[frame.index >= 2], y_up(frame.surface("beam").points), atol=1e-6)


def test_a_single_frame_is_a_plain_scene_that_trimesh_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = two_bodies(tmp_path, monkeypatch)
    (path,) = export(run, tmp_path / "one.glb", frames=2, bodies=["ball"])
    mesh = trimesh.load(path, force="mesh", process=False)
    np.testing.assert_allclose(mesh.vertices, y_up(run.frames[2].surface("ball").points), atol=1e-6)
    assert mesh.is_watertight


def test_units_are_fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = two_bodies(tmp_path, monkeypatch)
    with pytest.raises(InputError, match="'units' means nothing for"):
        export(run, tmp_path / "two.glb", units="mm")


def test_many_frames_leave_room_for_their_description(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample.stand_in(monkeypatch)
    from pliant.run.store import load

    run: Run = load(sample.finished_run(tmp_path / "long.pliant", [sample.body("ball", 0, 1234567.8)], 150))
    (path,) = export(run, tmp_path / "long.glb")
    reader = Glb(path)
    np.testing.assert_allclose(
        reader.shown(0, 149 / sample.FPS), y_up(run.frames[149].surface("ball").points), rtol=1e-6
    )
