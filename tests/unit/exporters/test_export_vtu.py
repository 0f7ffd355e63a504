"""VTU and PVD files, read back by meshio and an XML parser."""

import xml.etree.ElementTree as ET
from pathlib import Path

import meshio
import numpy as np
import pytest
import sample_run as sample
from exported import cracking_body, two_bodies

from pliant.core.errors import InputError
from pliant.exporters import export
from pliant.interfaces import Structure
from pliant.run.store import BodyRecord, Run, load


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return two_bodies(tmp_path, monkeypatch)


@pytest.fixture
def cracking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return cracking_body(tmp_path, monkeypatch)


def test_a_collection_lists_the_frames_with_their_times(run: Run, tmp_path: Path) -> None:
    files = export(run, tmp_path / "beam.pvd", every=2)
    assert [path.name for path in files] == ["beam_0000.vtu", "beam_0002.vtu", "beam.pvd"]
    sets = ET.parse(files[-1]).getroot().findall("Collection/DataSet")
    assert [entry.get("file") for entry in sets] == ["beam_0000.vtu", "beam_0002.vtu"]
    assert [float(str(entry.get("timestep"))) for entry in sets] == [0.0, 0.08]


def test_volume_meshes_come_with_fields(run: Run, tmp_path: Path) -> None:
    files = export(run, tmp_path / "f_%04d.vtu")
    for frame, path in zip(run.frames, files, strict=True):
        mesh = meshio.read(path)
        np.testing.assert_array_equal(mesh.points, frame.positions)
        tets = frame.record("ball").structure.cells["tetra"]
        np.testing.assert_array_equal(mesh.cells_dict["tetra"], np.concatenate([tets, tets + 8]))
        assert set(mesh.point_data) == {"displacement", "velocity", "stress"}
        for name in mesh.point_data:
            np.testing.assert_array_equal(mesh.point_data[name], frame.field(name).values)
        np.testing.assert_array_equal(mesh.cell_data["body"][0], [0] * 6 + [1] * 6)
        np.testing.assert_array_equal(mesh.cell_data["region"][0], [0, 0, 0, 1, 1, 1] * 2)
        assert f'NumberOfTuples="1" format="ascii">{frame.time!r}<'.encode() in path.read_bytes()


def test_chosen_fields_are_written_and_unknown_ones_refused(run: Run, tmp_path: Path) -> None:
    (path,) = export(run, tmp_path / "one.vtu", frames=2, fields=["plastic"], bodies=["ball"])
    mesh = meshio.read(path)
    assert not mesh.point_data
    np.testing.assert_array_equal(mesh.cell_data["plastic"][0].reshape(6, 3, 3), np.full((6, 3, 3), 2.0))
    with pytest.raises(InputError, match="no field 'plstic'; did you mean 'plastic'"):
        export(run, tmp_path / "bad.vtu", frames=2, fields=["plstic"])
    assert not list(tmp_path.glob("*bad*"))


def test_bodies_without_volume_cells_show_edges_or_particles(tmp_path: Path) -> None:
    rest = np.arange(9.0).reshape(3, 3)
    chain = Structure(rest, np.ones(3), {"edge": np.array([[0, 1], [1, 2]])}, {}, 1.0)
    cloud = Structure(rest, np.ones(3), {}, {}, 1.0)
    bodies = [BodyRecord("chain", (0, 3), {}, {}, chain), BodyRecord("cloud", (3, 6), {}, {}, cloud)]
    writer = sample.create(tmp_path / "a.pliant", bodies, 1, step_columns=())
    writer.write_topology(0, bodies, 0)
    writer.write_frame(0, 0, {"positions": np.concatenate([rest, rest])}, [0, 0, 0])
    writer.finish("done")
    (path,) = export(load(writer.path), tmp_path / "a.vtu", fields=["displacement"])
    mesh = meshio.read(path)
    np.testing.assert_array_equal(mesh.cells_dict["line"], [[0, 1], [1, 2]])
    np.testing.assert_array_equal(mesh.cells_dict["vertex"], [[3], [4], [5]])


def test_topology_may_change_between_frames(cracking: Run, tmp_path: Path) -> None:
    files = export(cracking, tmp_path / "crack.pvd")
    assert [len(meshio.read(path).points) for path in files[:-1]] == [8, 8, 16, 16]
