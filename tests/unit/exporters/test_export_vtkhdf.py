"""VTKHDF files, read back by VTK's own reader through PyVista, and by h5py."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported import splitting_body, two_bodies

from pliant.exporters import export

pytest.importorskip("h5py", reason="needs h5py: pip install 'pliant[render]'")
pv = pytest.importorskip("pyvista", reason="needs pyvista: pip install 'pliant[render]'")


def reader_of(path: Path) -> Any:
    from vtkmodules.vtkIOHDF import vtkHDFReader

    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    return reader


def times_of(path: Path) -> Any:
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline

    return reader_of(path).GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS())


def at(path: Path, time: float) -> Any:
    reader = reader_of(path)
    reader.UpdateTimeStep(time)
    return pv.wrap(reader.GetOutputDataObject(0))


def test_points_cells_fields_and_times_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = two_bodies(tmp_path, monkeypatch)
    (path,) = export(run, tmp_path / "two.vtkhdf", fields=["displacement", "velocity", "plastic", "stress"])
    np.testing.assert_array_equal(times_of(path), run.times)
    for frame in run.frames:
        grid = at(path, frame.time)
        np.testing.assert_array_equal(grid.points, frame.positions)
        tets = [
            frame.record(name).structure.cells["tetra"] + 8 * k
            for k, name in enumerate(("soft beam", "ball"))
        ]
        np.testing.assert_array_equal(grid.cells_dict[10], np.concatenate(tets))
        np.testing.assert_array_equal(grid.point_data["displacement"], frame.field("displacement").values)
        np.testing.assert_array_equal(grid.point_data["velocity"], frame.velocities)
        np.testing.assert_array_equal(grid.point_data["stress"], frame.field("stress").values)
        plastic = np.asarray(frame.field("plastic").values).reshape(12, 9)
        np.testing.assert_array_equal(grid.cell_data["plastic"], plastic)
        np.testing.assert_array_equal(grid.cell_data["body"], [0] * 6 + [1] * 6)
        np.testing.assert_array_equal(grid.cell_data["region"], [0, 0, 0, 1, 1, 1] * 2)


def test_a_topology_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import h5py

    run = two_bodies(tmp_path, monkeypatch)
    (path,) = export(run, tmp_path / "two.vtkhdf")
    with h5py.File(path) as file:
        assert file["VTKHDF/Connectivity"].shape == (48,)
        assert file["VTKHDF/Points"].shape == (3 * 16, 3)
        assert file["VTKHDF/CellData/region"].shape == (12,)


def test_changes_of_topology_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = splitting_body(tmp_path, monkeypatch)
    (path,) = export(run, tmp_path / "split.vtkhdf", every=1)
    for frame in run.frames:
        grid = at(path, frame.time)
        np.testing.assert_array_equal(grid.points, frame.positions)
        np.testing.assert_array_equal(grid.cells_dict[10], frame.record("beam").structure.cells["tetra"])
        np.testing.assert_array_equal(grid.point_data["stress"], frame.field("stress").values)


def test_some_frames_and_bodies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = two_bodies(tmp_path, monkeypatch)
    (path,) = export(run, tmp_path / "ball.vtkhdf", frames=slice(0, None), every=2, bodies="ball")
    np.testing.assert_allclose(times_of(path), run.times[[0, 2]])
    np.testing.assert_array_equal(at(path, run.times[2]).points, run.frames[2].body("ball"))
