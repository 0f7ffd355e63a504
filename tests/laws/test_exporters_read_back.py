"""Every format gives the run's places back, whatever was chosen: frames, bodies, units, axes, file numbers.

Files are read by others: trimesh, VTK, usd-core, pygltflib, NumPy; ``.str`` by pliant's own reader, RIB by a
reader of its grammar.
"""

import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "recording"))
sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "exporters"))

from exported import cracking_body, row_of_elements, splitting_body, two_bodies
from readers import Glb, requests

from pliant.exporters import EXPORTERS, export
from pliant.mesh.io.volumes import read_str
from pliant.run.store import Frame, Run

Read = Callable[[list[Path], int], list[Any]]
PLACED = sorted(set(EXPORTERS) - {".csv"})
CORNERS = (".obj", ".ply", ".stl", ".rib", ".glb", ".usd", ".usda", ".usdc")
CACHES = (".pc2", ".mdd")
NEEDS = {".vtu": "pyvista", ".pvd": "pyvista", ".vtkhdf": "pyvista", ".glb": "pygltflib"}


def of_each(read: Callable[[Path], Any]) -> Read:
    """Files of one frame each."""
    return lambda files, _: [read(path) for path in files]


def soup(path: Path) -> Any:
    import trimesh

    return trimesh.load(path, process=False, force="mesh", maintain_order=True, skip_materials=True).triangles


def rib(path: Path) -> Any:
    meshes = [words for name, words in requests(path) if name == "PointsPolygons"]
    tables = [(corners, dict(zip(rest[::2], rest[1::2], strict=True))) for _, corners, *rest in meshes]
    return np.concatenate(
        [
            np.reshape(table["P"], (-1, 3))[np.array(corners, int)].reshape(-1, 3, 3)
            for corners, table in tables
        ]
    )


def vtu(path: Path) -> Any:
    import pyvista

    return pyvista.read(path).points


def pvd(files: list[Path], count: int) -> list[Any]:
    import pyvista

    reader = pyvista.get_reader(files[-1])
    found = []
    for number in range(count):
        reader.set_active_time_point(number)
        found.append(reader.read()[0].points)
    return found


def vtkhdf(files: list[Path], count: int) -> list[Any]:
    import pyvista
    from vtkmodules.vtkIOHDF import vtkHDFReader

    reader = vtkHDFReader()
    reader.SetFileName(str(files[0]))
    reader.UpdateInformation()
    assert reader.GetNumberOfSteps() == count
    found = []
    for number in range(count):
        reader.SetStep(number)
        reader.Update()
        found.append(np.array(pyvista.wrap(reader.GetOutputDataObject(0)).points))
    return found


def usd(files: list[Path], count: int) -> list[Any]:
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(files[0]))
    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    times = sorted({time for mesh in meshes for time in mesh.GetPointsAttr().GetTimeSamples()})
    assert len(times) == count
    found = []
    for time in times:
        shown = [mesh for mesh in meshes if mesh.ComputeVisibility(time) != "invisible"]
        found.append(
            np.concatenate(
                [
                    np.array(mesh.GetPointsAttr().Get(time))[np.array(mesh.GetFaceVertexIndicesAttr().Get())]
                    for mesh in shown
                ]
            ).reshape(-1, 3, 3)
        )
    return found


def glb(files: list[Path], count: int) -> list[Any]:
    reader = Glb(files[0])
    times = [0.0]
    if reader.tree.animations:
        times = sorted(
            {
                float(time)
                for sampler in reader.tree.animations[0].samplers
                for time in reader.array(sampler.input)[:, 0]
            }
        )
    assert len(times) == count
    found = []
    for time in times:
        parts = []
        for number, node in enumerate(reader.tree.nodes):
            points = reader.shown(number, time) if reader.tree.animations else reader.points(number)
            if points is not None:
                corners = reader.array(reader.tree.meshes[node.mesh].primitives[0].indices).ravel()
                parts.append(points[corners].reshape(-1, 3, 3))
        found.append(np.concatenate(parts))
    return found


def pc2(files: list[Path], count: int) -> list[Any]:
    data = files[0].read_bytes()
    _, points, _, _, frames = struct.unpack("<iiffi", data[12:32])
    assert frames == count
    return list(np.frombuffer(data, "<f4", offset=32).reshape(count, points, 3))


def mdd(files: list[Path], count: int) -> list[Any]:
    data = files[0].read_bytes()
    frames, points = struct.unpack(">ii", data[:8])
    assert frames == count
    return list(np.frombuffer(data, ">f4", offset=8 + 4 * count).reshape(count, points, 3))


def npz(files: list[Path], count: int) -> list[Any]:
    with np.load(files[0]) as arrays:
        found, seen = [], dict.fromkeys(arrays["version"].tolist(), 0)
        for version in arrays["version"].tolist():
            found.append(arrays[f"positions.{version}"][seen[version]])
            seen[version] += 1
    assert len(found) == count
    return found


READERS: dict[str, Read] = {
    ".obj": of_each(soup), ".ply": of_each(soup), ".stl": of_each(soup), ".rib": of_each(rib),
    ".str": of_each(lambda path: read_str(path).points), ".vtu": of_each(vtu), ".pvd": pvd,
    ".vtkhdf": vtkhdf, ".usd": usd, ".usda": usd, ".usdc": usd, ".glb": glb, ".pc2": pc2, ".mdd": mdd,
    ".npz": npz,
}  # fmt: skip


def expected(frame: Frame, suffix: str, bodies: list[str] | None) -> Any:
    """Corners of the shown triangles, their points, or the particles: what the format holds."""
    names = [body.name for body in frame.bodies if bodies is None or body.name in bodies]
    if suffix not in (*CORNERS, *CACHES):
        return np.concatenate([frame.body(name) for name in names])
    surfaces = [frame.surface(name) for name in names]
    shown = [
        surface.points if suffix in CACHES else surface.points[surface.triangles] for surface in surfaces
    ]
    return np.concatenate(shown)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Run]]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("runs")
        yield {
            "two": two_bodies(folder, patch),
            "crack": cracking_body(folder, patch),
            "split": splitting_body(folder, patch),
            "row": row_of_elements(folder, patch),
        }


CASES: dict[str, tuple[str, dict[str, Any], list[int]]] = {
    "all": ("two", {}, [0, 1, 2]),
    "slice": ("two", {"frames": slice(1, None)}, [1, 2]),
    "last": ("two", {"frames": -1}, [2]),
    "every": ("two", {"every": 2}, [0, 2]),
    "a body": ("two", {"bodies": ["ball"]}, [0, 1, 2]),
    "millimetres": ("two", {"units": "mm"}, [0, 1, 2]),
    "inches, y up": ("two", {"units": "in", "up": "y"}, [0, 1, 2]),
    "offsets that turn": ("row", {"units": "mm", "up": "y"}, [0, 1, 2]),
    "a body more": ("crack", {}, [0, 1, 2, 3]),
    "a cracked body": ("split", {}, [0, 1, 2, 3]),
    "after the crack": ("split", {"frames": slice(2, None), "up": "y"}, [2, 3]),
}
METRES = {"mm": 1e-3, "in": 0.0254}


@pytest.mark.parametrize("suffix", PLACED)
def test_places_come_back(runs: dict[str, Run], tmp_path: Path, suffix: str) -> None:
    exporter = EXPORTERS[suffix]
    for module in (*exporter.needs, *([NEEDS[suffix]] if suffix in NEEDS else [])):
        pytest.importorskip(module, reason=f"needs {module}: pip install 'pliant[all]'")
    numbered = "start" in exporter.takes and suffix != ".pvd"
    for case, (name, options, numbers) in CASES.items():
        changes, solid = len(numbers) == 4, name != "row"
        if (changes and suffix in CACHES) or (suffix == ".str" and not solid):
            continue  # these say so: other tests
        if not set(options) <= exporter.takes:
            continue
        out = tmp_path / case / (f"f_%03d{suffix}" if numbered else f"f{suffix}")
        more = {"start": 1001} if numbered else {}
        files = export(runs[name], out, **options, **more)
        if numbered:
            assert [path.name for path in files] == [f"f_{1001 + k}{suffix}" for k in range(len(numbers))]
        found = READERS[suffix](files, len(numbers))
        assert len(found) == len(numbers), case
        for points, number in zip(found, numbers, strict=True):
            wanted = expected(runs[name].frames[number], suffix, options.get("bodies"))
            if options.get("up", exporter.up) == "y":
                wanted = np.stack([wanted[..., 0], wanted[..., 2], -wanted[..., 1]], axis=-1)
            wanted = wanted / METRES.get(options.get("units", "m"), 1.0)
            assert points.shape == wanted.shape, (case, number)
            close = 5e-7 * np.abs(wanted).max()
            np.testing.assert_allclose(points, wanted, rtol=0, atol=close, err_msg=case)


def test_every_format_has_a_reader() -> None:
    assert set(READERS) == set(PLACED)
