"""RIB files, read back by a small reader of their grammar."""

from pathlib import Path

import numpy as np
import pytest
from exported import two_bodies
from readers import requests

from pliant.exporters import export
from pliant.run.store import Run


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return two_bodies(tmp_path, monkeypatch)


def test_surfaces_come_back(run: Run, tmp_path: Path) -> None:
    files = export(run, tmp_path / "f_%03d.rib", start=1)
    assert [path.name for path in files] == ["f_001.rib", "f_002.rib", "f_003.rib"]
    for frame, path in zip(run.frames, files, strict=True):
        meshes = [arguments for name, arguments in requests(path) if name == "PointsPolygons"]
        assert len(meshes) == 2
        for body, (counts, corners, *rest) in zip(("soft beam", "ball"), meshes, strict=True):
            surface, table = frame.surface(body), dict(zip(rest[::2], rest[1::2], strict=True))
            assert set(counts) == {3.0}
            np.testing.assert_array_equal(np.reshape(corners, (-1, 3)), surface.triangles)
            np.testing.assert_allclose(np.reshape(table["P"], (-1, 3)), surface.points, rtol=1e-8, atol=1e-12)
            assert len(table["N"]) == len(table["P"])
        assert len(meshes[0][-1]) == 12  # texture coordinates of two triangles


def test_the_camera_sees_everything(run: Run, tmp_path: Path) -> None:
    files = export(run, tmp_path / "f_%d.rib")
    for frame, path in zip(run.frames, files, strict=True):
        found = dict(requests(path))
        matrix = np.reshape(found["ConcatTransform"][0], (4, 4))
        seen = np.column_stack([frame.positions, np.ones(16)]) @ matrix
        tangent = np.tan(np.radians(found["Projection"][-1][0]) / 2)
        width, height, _ = found["Format"]
        assert (seen[:, 2] > 0).all()
        assert (np.abs(seen[:, 1]) < tangent * seen[:, 2]).all()
        assert (np.abs(seen[:, 0]) < tangent * width / height * seen[:, 2]).all()
        assert np.linalg.det(matrix[:3, :3]) == pytest.approx(-1.0)  # RIB cameras are left-handed
