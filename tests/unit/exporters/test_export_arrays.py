"""Vertex caches, STL, .str and NPZ, and units and axes: read back by NumPy, trimesh and pliant's readers."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sample_run as sample
import trimesh
from exported import splitting_body, two_bodies

from pliant.core.errors import InputError
from pliant.exporters import export
from pliant.mesh.io.volumes import read_str
from pliant.run.store import Run


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return two_bodies(tmp_path, monkeypatch)


def shown(run: Run, index: int) -> Any:
    return np.concatenate([run.frames[index].surface(name).points for name in ("soft beam", "ball")])


def test_pc2(run: Run, tmp_path: Path) -> None:
    (path,) = export(run, tmp_path / "two.pc2", every=2)
    data = path.read_bytes()
    assert data[:12] == b"POINTCACHE2\0"
    assert struct.unpack("<iiffi", data[12:32]) == (1, 12, 0.0, 2.0, 2)
    points = np.frombuffer(data, "<f4", offset=32).reshape(2, 12, 3)
    for k, index in enumerate((0, 2)):
        np.testing.assert_allclose(points[k], shown(run, index), rtol=1e-6)


def test_mdd(run: Run, tmp_path: Path) -> None:
    (path,) = export(run, tmp_path / "two.mdd", units="mm")
    data = path.read_bytes()
    assert struct.unpack(">ii", data[:8]) == (3, 12)
    np.testing.assert_allclose(np.frombuffer(data, ">f4", 3, 8), run.times, rtol=1e-6)
    points = np.frombuffer(data, ">f4", offset=20).reshape(3, 12, 3)
    for index in range(3):
        np.testing.assert_allclose(points[index], 1000.0 * shown(run, index), rtol=1e-6)


@pytest.mark.parametrize("suffix", [".pc2", ".mdd"])
def test_caches_hold_one_topology(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    run = splitting_body(tmp_path, monkeypatch)
    with pytest.raises(InputError, match=r"topology changes at frame 2.*--frames 0:2"):
        export(run, tmp_path / f"split{suffix}")
    assert export(run, tmp_path / f"split{suffix}", frames=slice(2, None))


def test_stl_for_printing(run: Run, tmp_path: Path) -> None:
    (path,) = export(run, tmp_path / "ball.stl", frames=-1, bodies=["ball"], units="mm")
    mesh = trimesh.load(path)
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(1e9 * 1.02**3, rel=1e-6)


def test_str(run: Run, tmp_path: Path) -> None:
    (path,) = export(run, tmp_path / "two.str", frames=1)
    mesh = read_str(path)
    np.testing.assert_array_equal(mesh.points, run.frames[1].positions)
    np.testing.assert_array_equal(mesh.tets, np.concatenate([sample.SIX, np.array(sample.SIX) + 8]))


def test_npz(run: Run, tmp_path: Path) -> None:
    (path,) = export(run, tmp_path / "two.npz")
    with np.load(path, allow_pickle=False) as data:
        np.testing.assert_array_equal(data["times"], run.times)
        for frame in run.frames:
            np.testing.assert_array_equal(data["positions.0"][frame.index], frame.positions)
            start, stop = data["0.ball.rows"]
            x = data["positions.0"][frame.index][start:stop]
            points = (x[data["0.ball.indices"]] * data["0.ball.weights"][..., None]).sum(axis=1)
            np.testing.assert_allclose(points, frame.surface("ball").points)
        np.testing.assert_array_equal(data["0.ball.tetra"], sample.SIX)
        for name in run.series:
            np.testing.assert_array_equal(data[f"series.{name}"], run.series[name])


def test_npz_with_changes_of_topology_and_some_bodies(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = splitting_body(tmp_path, monkeypatch)
    (path,) = export(split, tmp_path / "split.npz")
    with np.load(path) as data:
        assert data["version"].tolist() == [0, 0, 1, 1]
        assert data["positions.0"].shape == (2, 8, 3)
        np.testing.assert_array_equal(data["positions.1"][1], split.frames[3].positions)
    (path,) = export(run, tmp_path / "ball.npz", bodies="ball", frames=[2])
    with np.load(path) as data:
        np.testing.assert_array_equal(data["positions.0"][0], run.frames[2].body("ball"))
        assert data["0.ball.rows"].tolist() == [0, 8]


def test_units_and_axes_of_fields(run: Run, tmp_path: Path) -> None:
    pv = pytest.importorskip("pyvista", reason="needs pyvista: pip install 'pliant[render]'")
    (path,) = export(run, tmp_path / "mm.vtu", frames=2, units="mm", up="y")
    grid, frame = pv.read(path), run.frames[2]

    def turned(v: Any) -> Any:
        return 1000.0 * np.stack([v[:, 0], v[:, 2], -v[:, 1]], axis=1)

    np.testing.assert_allclose(grid.points, turned(frame.positions), rtol=1e-12)
    for name in ("displacement", "velocity"):
        np.testing.assert_allclose(grid.point_data[name], turned(frame.field(name).values), rtol=1e-12)
    np.testing.assert_array_equal(grid.point_data["stress"], frame.field("stress").values)  # Pa as ever


@pytest.mark.parametrize(("options", "message"), [
    ({"units": "kg"}, "units = 'kg'.*Lengths are"), ({"units": "parsec"}, "unknown unit 'parsec'"),
    ({"up": "w"}, "up = 'w'"),
])  # fmt: skip
def test_wrong_units_and_axes_are_told(
    run: Run, tmp_path: Path, options: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        export(run, tmp_path / "two.npz", **options)  # type: ignore[arg-type]


def test_turning_keeps_hands(run: Run) -> None:
    from pliant.exporters.job import placing

    for up in "xyz":
        turn = np.array(placing(run, None, up).turn)
        assert np.linalg.det(turn) == pytest.approx(1.0)
        np.testing.assert_array_equal(turn @ [0, 0, 1], np.eye(3)["xyz".index(up)])
