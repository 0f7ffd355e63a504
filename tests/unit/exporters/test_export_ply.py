"""PLY files, read back by trimesh and meshio."""

from pathlib import Path

import meshio
import numpy as np
import pytest
import trimesh
from exported import cracking_body, two_bodies

from pliant.exporters import export
from pliant.exporters.surfaces import surfels, vertex_normals
from pliant.run.store import Run


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return two_bodies(tmp_path, monkeypatch)


@pytest.fixture
def cracking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return cracking_body(tmp_path, monkeypatch)


def test_points_are_exact_and_bodies_are_told_apart(run: Run, tmp_path: Path) -> None:
    files = export(run, tmp_path / "f_%03d.ply")
    assert [path.name for path in files] == ["f_000.ply", "f_001.ply", "f_002.ply"]
    for frame, path in zip(run.frames, files, strict=True):
        first, second = frame.surface("soft beam"), frame.surface("ball")
        points = np.concatenate([first.points, second.points])
        triangles = np.concatenate([first.triangles, second.triangles + len(first.points)])
        mesh = meshio.read(path)
        np.testing.assert_array_equal(mesh.points, points)
        np.testing.assert_array_equal(mesh.cells_dict["triangle"], triangles)
        np.testing.assert_array_equal(mesh.point_data["body"], [0] * 4 + [1] * 8)
        normals = np.stack([mesh.point_data[name] for name in ("nx", "ny", "nz")], axis=1)
        np.testing.assert_allclose(normals, vertex_normals(points, triangles), atol=1e-6)
        other = trimesh.load(path, process=False)
        np.testing.assert_array_equal(other.vertices, points)
        np.testing.assert_array_equal(other.faces, triangles)


def test_vertices_are_surfels_with_position_normal_radius_and_colour(run: Run, tmp_path: Path) -> None:
    (path,) = export(run, tmp_path / "surfels.ply", frames=1)
    mesh = trimesh.load(path, process=False)
    raw = mesh.metadata["_ply_raw"]["vertex"]["data"]
    ball = run.frames[1].surface("ball")
    centre, normal, radius = surfels(ball)
    np.testing.assert_array_equal(mesh.vertices[4:], centre)
    np.testing.assert_allclose(mesh.vertex_normals[4:], normal, atol=1e-6)
    np.testing.assert_allclose(np.ravel(raw["radius"])[4:], radius, rtol=1e-6)
    np.testing.assert_array_equal(
        mesh.visual.vertex_colors[:, :3], [[0xE7, 0x6F, 0x51]] * 4 + [[0x2A, 0x9D, 0x8F]] * 8
    )


def test_topology_may_change_between_frames(cracking: Run, tmp_path: Path) -> None:
    files = export(cracking, tmp_path / "f_%d.ply", frames=slice(1, 3))
    assert [len(meshio.read(path).points) for path in files] == [8, 16]
    (only,) = export(cracking, tmp_path / "shard.ply", frames=3, bodies="shard")
    np.testing.assert_array_equal(meshio.read(only).points, cracking.frames[3].surface("shard").points)
