"""OBJ files, read back by trimesh, by meshio and as text."""

from pathlib import Path

import meshio
import numpy as np
import pytest
import sample_run as sample
import trimesh
from exported import cracking_body, two_bodies

from pliant.exporters import export, surfaces
from pliant.exporters.surfaces import vertex_normals
from pliant.mesh.mesh import Surface
from pliant.run.store import Run


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return two_bodies(tmp_path, monkeypatch)


@pytest.fixture
def cracking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return cracking_body(tmp_path, monkeypatch)


def lines(path: Path, word: str) -> list[list[str]]:
    return [line.split()[1:] for line in path.read_text().splitlines() if line.split()[:1] == [word]]


def test_geometry_reads_back_through_meshio_and_trimesh(run: Run, tmp_path: Path) -> None:
    files = export(run, tmp_path / "out" / "frame_%04d.obj", bodies=["ball"])
    assert [path.name for path in files] == ["frame_0000.obj", "frame_0001.obj", "frame_0002.obj"]
    for frame, path in zip(run.frames, files, strict=True):
        surface = frame.surface("ball")
        mesh = meshio.read(path)
        np.testing.assert_allclose(mesh.points, surface.points, rtol=1e-8, atol=1e-12)
        np.testing.assert_array_equal(mesh.cells_dict["triangle"], surface.triangles)
        normals = mesh.point_data["obj:vn"]
        np.testing.assert_allclose(normals, vertex_normals(surface.points, surface.triangles), atol=6e-6)
        solid = trimesh.load(path, file_type="obj", force="mesh", process=False)
        assert solid.is_watertight
        assert np.isclose(solid.volume, (1.0 + 0.01 * frame.index) ** 3, rtol=1e-7)


def test_texture_coordinates_and_groups_survive(run: Run, tmp_path: Path) -> None:
    (path,) = export(run, tmp_path / "last.obj", frames=-1)
    rest, surface = sample.textured_square(), run.frames[-1].surface("soft beam")
    assert rest.uv is not None
    assert rest.uv_triangles is not None
    np.testing.assert_array_equal(np.array(lines(path, "vt"), float), rest.uv)
    corners = np.array([[part.split("/") for part in face] for face in lines(path, "f")[:2]], int) - 1
    np.testing.assert_array_equal(corners[:, :, 0], rest.triangles)
    np.testing.assert_array_equal(corners[:, :, 1], rest.uv_triangles)
    np.testing.assert_array_equal(corners[:, :, 2], rest.triangles)
    assert lines(path, "o") == [["soft_beam"], ["ball"]]
    assert lines(path, "g") == [["left_half"], ["right"], ["ball"]]
    mesh = trimesh.load(path, file_type="obj", split_objects=True)
    part = mesh.geometry["soft_beam"] if isinstance(mesh, trimesh.Scene) else mesh
    for triangle, uv in zip(part.faces[:2], rest.uv_triangles, strict=True):
        np.testing.assert_allclose(part.visual.uv[triangle], rest.uv[uv], atol=1e-9)
    np.testing.assert_allclose(part.triangles[:2], surface.points[surface.triangles], rtol=1e-7)


def test_a_second_body_counts_on_from_the_first(run: Run, tmp_path: Path) -> None:
    (path,) = export(run, tmp_path / "one.obj", frames=1)
    first, second = run.frames[1].surface("soft beam"), run.frames[1].surface("ball")
    mesh = meshio.read(_without(path, "vt"))
    cells = np.concatenate([block.data for block in mesh.cells])
    np.testing.assert_array_equal(cells[:2], first.triangles)
    np.testing.assert_array_equal(cells[2:], second.triangles + 4)


def _without(path: Path, word: str) -> Path:
    """meshio wants as many texture coordinates as points."""
    text = "".join(line for line in path.read_text().splitlines(True) if not line.startswith(word + " "))
    path.write_text(text)
    return path


def test_topology_may_change_between_frames(cracking: Run, tmp_path: Path) -> None:
    files = export(cracking, tmp_path / "f_%d.obj")
    assert [path.name for path in files] == ["f_0.obj", "f_1.obj", "f_2.obj", "f_3.obj"]
    assert [len(meshio.read(path).points) for path in files] == [8, 8, 16, 16]


def test_normals_are_smooth_and_of_unit_length() -> None:
    ball = trimesh.creation.icosphere(3)
    points = np.concatenate([ball.vertices, [[9.0, 9.0, 9.0]]])  # the last belongs to no triangle
    normals = vertex_normals(points, ball.faces)
    np.testing.assert_allclose(normals[:-1], ball.vertices, atol=0.02)
    np.testing.assert_array_equal(normals[-1], [0, 0, 0])


def test_text_that_frames_share_is_made_once(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    faces = surfaces._faces

    def counted(surface: Surface, body: str, points: int, texture: int) -> bytes:
        made.append(body)
        return faces(surface, body, points, texture)

    monkeypatch.setattr(surfaces, "_faces", counted)
    files = export(run, tmp_path / "f_%d.obj")
    assert len(files) > 1
    assert made == ["soft beam", "ball"]
    ends = {path.read_text().split("\ns 1\n", 1)[1].split("\no ")[0] for path in files}
    assert len(ends) == 1
