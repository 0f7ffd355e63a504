"""Mesh files of all kinds: what is written is read back, and writing that fails leaves nothing."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from mesh_samples import ball, box, same_groups

from pliant.core.errors import MeshError, StorageError
from pliant.mesh import shapes
from pliant.mesh.io import (
    SURFACE_READERS,
    SURFACE_WRITERS,
    VOLUME_READERS,
    VOLUME_WRITERS,
    kind_of,
    read_surface,
    read_volume,
    write_surface,
    write_volume,
)
from pliant.mesh.mesh import Surface, TetMesh, boundary_triangles


@pytest.mark.parametrize("suffix", SURFACE_WRITERS)
def test_surfaces_survive_a_round_trip(tmp_path: Path, suffix: str) -> None:
    surface = ball()
    write_surface(tmp_path / f"a{suffix}", surface)
    back = read_surface(tmp_path / f"a{suffix}")
    assert kind_of(tmp_path / f"a{suffix}") == "surface"
    if suffix == ".stl":  # single precision, points in order of the triangles
        assert len(back.points) == len(surface.points)
        there = surface.points[surface.triangles].astype(np.float32)
        assert np.array_equal(back.points[back.triangles], there)
    else:
        assert np.array_equal(back.points, surface.points)
        assert np.array_equal(back.triangles, surface.triangles)
    assert os.listdir(tmp_path) == [f"a{suffix}"]


def test_obj_keeps_texture_and_groups(tmp_path: Path) -> None:
    surface = ball()
    write_surface(tmp_path / "a.obj", surface)
    back = read_surface(tmp_path / "a.obj")
    assert surface.uv is not None
    assert back.uv is not None
    assert np.array_equal(back.uv, surface.uv)
    assert surface.uv_triangles is not None
    assert back.uv_triangles is not None
    assert np.array_equal(back.uv_triangles, surface.uv_triangles)
    assert same_groups(back, surface)


def test_ply_keeps_texture_where_each_point_has_one(tmp_path: Path) -> None:
    points = shapes.sphere(1.0).surface(0.4)
    surface = Surface(points.points, points.triangles, points.points[:, :2] * 0.5, points.triangles)
    write_surface(tmp_path / "a.ply", surface)
    back = read_surface(tmp_path / "a.ply")
    assert back.uv is not None
    assert back.uv_triangles is not None
    assert np.array_equal(back.uv[back.uv_triangles], (points.points[:, :2] * 0.5)[points.triangles])


@pytest.mark.parametrize("suffix", VOLUME_WRITERS)
def test_volumes_survive_a_round_trip(tmp_path: Path, suffix: str) -> None:
    mesh = box()
    write_volume(tmp_path / f"a{suffix}", mesh)
    back = read_volume(tmp_path / f"a{suffix}")
    assert kind_of(tmp_path / f"a{suffix}") == "volume"
    assert np.array_equal(back.points, mesh.points)
    assert np.array_equal(back.tets, mesh.tets)
    if suffix != ".str":
        assert back.regions is not None
        assert mesh.regions is not None
        assert np.array_equal(back.regions, mesh.regions)
    if suffix in (".vtu", ".vtk", ".msh"):
        assert same_groups(back, mesh)
    files = ["a.ele", "a.node"] if suffix in (".ele", ".node") else [f"a{suffix}"]
    assert sorted(os.listdir(tmp_path)) == files


@pytest.mark.parametrize("suffix", VOLUME_WRITERS)
def test_volumes_without_regions_stay_without(tmp_path: Path, suffix: str) -> None:
    mesh = TetMesh(box().points, box().tets)
    write_volume(tmp_path / f"a{suffix}", mesh)
    back = read_volume(tmp_path / f"a{suffix}")
    assert back.regions is None
    assert dict(back.groups) == {}


def test_paths_may_be_text_and_suffixes_capital(tmp_path: Path) -> None:
    write_volume(str(tmp_path / "a.VTU"), box())
    assert len(read_volume(str(tmp_path / "a.VTU")).tets) == 72


def test_a_volume_is_not_read_as_a_surface(tmp_path: Path) -> None:
    write_volume(tmp_path / "a.vtu", box())
    with pytest.raises(MeshError, match="read_volume"):
        read_surface(tmp_path / "a.vtu")


@pytest.mark.parametrize("suffix", [*SURFACE_WRITERS, *VOLUME_WRITERS])
def test_a_failed_write_keeps_the_old_file_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    write, mesh = (write_surface, ball()) if suffix in SURFACE_WRITERS else (write_volume, box())
    with pytest.raises(StorageError, match="No space left") as caught:
        write(path, mesh)  # type: ignore[arg-type]
    assert str(tmp_path) in str(caught.value)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize(
    "place", ["missing/a.vtu", "file.txt/a.vtu", "folder.vtu", "missing/a.str", "file.txt/a.ele"]
)
def test_places_that_cannot_be_written_are_storage_errors(tmp_path: Path, place: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    (tmp_path / "folder.vtu").mkdir()
    with pytest.raises(StorageError, match=Path(place).stem):
        write_volume(tmp_path / place, box())
    assert sorted(os.listdir(tmp_path)) == ["file.txt", "folder.vtu"]
    assert os.listdir(tmp_path / "folder.vtu") == []


def test_nothing_that_is_not_finite_is_written(tmp_path: Path) -> None:
    mesh = box()
    points = mesh.points.copy()
    points[7, 1] = np.nan
    with pytest.raises(MeshError, match="point 7"):
        write_volume(tmp_path / "a.vtu", TetMesh(points, mesh.tets))
    with pytest.raises(MeshError, match="point 7"):
        write_surface(tmp_path / "a.obj", Surface(points, boundary_triangles(mesh.tets)))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("write", [lambda p: write_surface(p, ball()), lambda p: write_volume(p, box())])
def test_unknown_suffixes_cannot_be_written(tmp_path: Path, write: Callable[[Path], None]) -> None:
    with pytest.raises(MeshError, match="Formats: "):
        write(tmp_path / "a.doc")


def test_every_writer_has_a_reader() -> None:
    assert set(SURFACE_WRITERS) <= set(SURFACE_READERS)
    assert set(VOLUME_WRITERS) <= set(VOLUME_READERS)


def test_importing_formats_and_shapes_loads_no_mesh_library() -> None:
    code = (
        "import sys, pliant.mesh.io, pliant.mesh.shapes; "
        "print([m for m in ('trimesh', 'meshio', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
