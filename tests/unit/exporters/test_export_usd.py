"""USD files, read back by usd-core."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sample_run as sample
from exported import splitting_body, two_bodies

from pliant.core.errors import InputError
from pliant.exporters import export, usd_data
from pliant.materials import resolve
from pliant.run.store import Run, load

Sdf = pytest.importorskip("pxr.Sdf", reason="needs usd-core: pip install 'pliant[usd]'")
Usd = pytest.importorskip("pxr.Usd", reason="needs usd-core: pip install 'pliant[usd]'")
UsdGeom = pytest.importorskip("pxr.UsdGeom", reason="needs usd-core: pip install 'pliant[usd]'")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return two_bodies(tmp_path, monkeypatch)


def mesh_of(stage: Any, path: str) -> Any:
    prim = stage.GetPrimAtPath(path)
    assert prim, f"no {path}"
    return UsdGeom.Mesh(prim)


@pytest.mark.parametrize("suffix", [".usd", ".usdc", ".usda"])
def test_points_velocities_and_times_come_back(run: Run, tmp_path: Path, suffix: str) -> None:
    (path,) = export(run, tmp_path / f"two{suffix}")
    stage = Usd.Stage.Open(str(path))
    assert stage.GetTimeCodesPerSecond() == stage.GetFramesPerSecond() == sample.FPS
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0, 2)
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert stage.GetDefaultPrim().GetPath() == "/World"
    for name, place in (("soft beam", "/World/soft_beam/surface"), ("ball", "/World/ball/surface")):
        mesh = mesh_of(stage, place)
        assert mesh.GetPointsAttr().GetTimeSamples() == [0.0, 1.0, 2.0]
        assert mesh.GetFaceVertexIndicesAttr().GetNumTimeSamples() == 0
        for frame in run.frames:
            surface = frame.surface(name)
            points = np.array(mesh.GetPointsAttr().Get(frame.index))
            np.testing.assert_allclose(points, surface.points, rtol=2e-7, atol=1e-7)
            velocities = np.array(mesh.GetVelocitiesAttr().Get(frame.index))
            np.testing.assert_allclose(velocities, np.full_like(points, 0.5 * frame.index), rtol=1e-6)
            extent = np.array(mesh.GetExtentAttr().Get(frame.index))
            np.testing.assert_allclose(extent, [points.min(axis=0), points.max(axis=0)])
        indices = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
        np.testing.assert_array_equal(indices, surface.triangles)


def test_texture_groups_and_the_simulated_mesh(run: Run, tmp_path: Path) -> None:
    (path,) = export(run, tmp_path / "two.usd")
    stage = Usd.Stage.Open(str(path))
    mesh, rest = mesh_of(stage, "/World/soft_beam/surface"), sample.textured_square()
    assert rest.uv is not None
    assert rest.uv_triangles is not None
    st = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("st")
    assert st.GetInterpolation() == "faceVarying"
    np.testing.assert_allclose(np.array(st.ComputeFlattened()), rest.uv[rest.uv_triangles.ravel()])
    subsets = {
        s.GetPrim().GetName(): list(s.GetIndicesAttr().Get()) for s in UsdGeom.Subset.GetAllGeomSubsets(mesh)
    }
    assert subsets == {"left_half": [0], "right": [1]}
    tets = UsdGeom.TetMesh(stage.GetPrimAtPath("/World/ball/simulation"))
    np.testing.assert_array_equal(np.array(tets.GetTetVertexIndicesAttr().Get()), sample.SIX)
    prim = tets.GetPrim()
    assert "OmniPhysicsVolumeDeformableSimAPI" in prim.GetMetadata("apiSchemas").GetAppliedItems()
    assert "OmniPhysicsDeformablePoseAPI:default" in prim.GetMetadata("apiSchemas").GetAppliedItems()
    assert list(prim.GetAttribute("deformablePose:default:omniphysics:purposes").Get()) == ["bindPose"]
    pose = np.array(prim.GetAttribute("deformablePose:default:omniphysics:points").Get())
    np.testing.assert_allclose(pose, sample.cube(3.0).points)
    material = stage.GetPrimAtPath("/World/ball/material")
    rubber = resolve("rubber")
    for name, value in (("youngsModulus", rubber.young), ("density", rubber.density)):
        assert material.GetAttribute(f"omniphysics:{name}").Get() == pytest.approx(value)
    rest_points = np.array(prim.GetAttribute("omniphysics:restShapePoints").Get())
    np.testing.assert_allclose(rest_points, sample.cube(3.0).points)
    assert stage.GetPrimAtPath("/World/ball").GetAttribute("omniphysics:mass").Get() == pytest.approx(2.0)


def test_velocities_that_were_not_recorded_lead_from_frame_to_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = sample.frame_arrays
    monkeypatch.setattr(sample, "frame_arrays", lambda b, k: {"positions": arrays(b, k)["positions"]})
    sample.stand_in(monkeypatch)
    run = load(sample.finished_run(tmp_path / "bare.pliant", [sample.body("ball", 0)], 3))
    (path,) = export(run, tmp_path / "bare.usd")
    stage = Usd.Stage.Open(str(path))
    mesh = mesh_of(stage, "/World/ball/surface")
    points = [np.array(mesh.GetPointsAttr().Get(k)) for k in range(3)]
    speeds = [np.array(mesh.GetVelocitiesAttr().Get(k)) for k in range(3)]
    for k in range(2):
        np.testing.assert_allclose(points[k] + speeds[k] / sample.FPS, points[k + 1], atol=1e-6)
    np.testing.assert_array_equal(speeds[2], speeds[1])


def test_smooth_normals_are_written_where_they_are_asked_for(run: Run, tmp_path: Path) -> None:
    (path,) = export(run, tmp_path / "smooth.usd", normals=True)
    stage = Usd.Stage.Open(str(path))
    mesh = mesh_of(stage, "/World/ball/surface")
    assert mesh.GetNormalsInterpolation() == "vertex"
    for frame in run.frames:
        surface = frame.surface("ball")
        normals = np.array(mesh.GetNormalsAttr().Get(frame.index))
        np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, rtol=1e-6)
        outwards = surface.points - surface.points.mean(axis=0)
        assert (np.einsum("ij,ij->i", normals, outwards) > 0).all()
    (path,) = export(run, tmp_path / "plain.usd")
    stage = Usd.Stage.Open(str(path))
    assert not mesh_of(stage, "/World/ball/surface").GetNormalsAttr().HasValue()


def test_changes_of_topology_are_meshes_that_take_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = splitting_body(tmp_path, monkeypatch)
    (path,) = export(run, tmp_path / "split.usd")
    stage = Usd.Stage.Open(str(path))
    first, second = mesh_of(stage, "/World/beam/surface"), mesh_of(stage, "/World/beam/surface_1")
    for frame in run.frames:
        shown, hidden = (first, second) if frame.index < 2 else (second, first)
        assert shown.ComputeVisibility(frame.index) == "inherited"
        assert hidden.ComputeVisibility(frame.index) == "invisible"
        surface = frame.surface("beam")
        points = np.array(shown.GetPointsAttr().Get(frame.index))
        np.testing.assert_allclose(points, surface.points, rtol=2e-7)
        indices = np.array(shown.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
        np.testing.assert_array_equal(indices, surface.triangles)


def test_units_and_axes_are_stated_and_true(run: Run, tmp_path: Path) -> None:
    (path,) = export(run, tmp_path / "cm.usd", units="cm", up="y", bodies=["ball"], frames=[1])
    stage = Usd.Stage.Open(str(path))
    assert UsdGeom.GetStageMetersPerUnit(stage) == 0.01
    assert UsdGeom.GetStageUpAxis(stage) == "Y"
    x, y, z = run.frames[1].surface("ball").points.T
    points = np.array(mesh_of(stage, "/World/ball/surface").GetPointsAttr().Get(1))
    np.testing.assert_allclose(points, 100.0 * np.stack([x, z, -y], axis=1), rtol=1e-6, atol=1e-5)
    with pytest.raises(InputError, match="y or z points up"):
        export(run, tmp_path / "x.usd", up="x")


@pytest.mark.parametrize("size", [0, 1_000_000])
def test_text_says_the_same_whoever_makes_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(usd_data, "SHORT", size)
    (text,) = export(run, tmp_path / "text.usda")
    (binary,) = export(run, tmp_path / "binary.usdc")
    assert sorted(path.name for path in tmp_path.glob("[!a-z]*")) == []
    assert text.read_bytes().startswith(b"#usda 1.0")
    layers = [Sdf.Layer.FindOrOpen(str(path)) for path in (text, binary)]
    assert layers[0].ExportToString() == layers[1].ExportToString()


def test_long_text_can_be_interrupted(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usd_data, "SHORT", 0)
    started = tmp_path / "started"
    wait = (
        "import pathlib, sys, time; pathlib.Path(sys.argv[2]).with_suffix('.half').touch(); "
        f"pathlib.Path({str(started)!r}).touch(); time.sleep(600)"
    )
    monkeypatch.setattr(usd_data, "_AS_TEXT", wait)

    def interrupt() -> None:
        while not started.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # may be ignored
    try:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            export(run, tmp_path / "out" / "text.usda")
    finally:
        signal.signal(signal.SIGINT, before)
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("size", [0, 1_000_000])
@pytest.mark.parametrize("suffix", [".usd", ".usda"])
def test_a_disk_that_takes_no_more_is_told(tmp_path: Path, suffix: str, size: int) -> None:
    """Files of more than 4 kB are refused to a process that exports."""
    sample.finished_run(tmp_path / "ball.pliant", [sample.body("ball", 0)], 40)
    code = f"""
import resource, signal, sys
from pliant.exporters import usd_data
from pliant.run.store import load

usd_data.SHORT = {size}
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
load("ball.pliant").export("out/ball{suffix}")
"""
    child = [sys.executable, "-c", code]
    done = subprocess.run(child, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "StorageError: Cannot write" in done.stderr
    assert "the file would exceed the allowed size" in done.stderr
    assert not list((tmp_path / "out").iterdir())
