"""Files of cells that meshio and VTK write, in every encoding: the readers give what went in."""

import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mesh_samples import box

from pliant.core.errors import MeshError
from pliant.mesh.io import kind_of, read_surface, read_volume
from pliant.mesh.mesh import boundary_triangles

meshio = pytest.importorskip("meshio")
REGION = np.arange(72) % 3


def mixed() -> Any:
    """A block with its boundary, a line and regions, as meshio has it."""
    mesh = box()
    cells = [("tetra", mesh.tets), ("triangle", boundary_triangles(mesh.tets)), ("line", [[0, 1]])]
    regions = [REGION, np.zeros(len(cells[1][1]), int), np.zeros(1, int)]
    flag = np.zeros(len(mesh.points), np.int32)
    flag[:4] = 1
    fields = {"group:few": flag, "place": mesh.points}
    return meshio.Mesh(mesh.points, cells, point_data=fields, cell_data={"region": regions})


def check(path: Path, groups: bool = True, digits: int = 17) -> None:
    """Points (to ``digits``), tets, regions and the group are those of ``mixed``."""
    mesh, back = box(), read_volume(path)
    assert kind_of(path) == "volume"
    assert back.points == pytest.approx(mesh.points, abs=3 * 10.0**-digits, rel=0)
    assert np.array_equal(back.tets, mesh.tets)
    assert back.regions is not None
    assert np.array_equal(back.regions, REGION)
    if groups:
        assert back.groups["few"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("header", ["UInt32", "UInt64"])
@pytest.mark.parametrize("packed", ["ascii", None, "zlib", "lzma"])
def test_vtu_files(tmp_path: Path, header: str, packed: str | None) -> None:
    if packed == "ascii":
        meshio.vtu.write(tmp_path / "a.vtu", mixed(), binary=False)
    else:
        meshio.vtu.write(tmp_path / "a.vtu", mixed(), compression=packed, header_type=header)
    check(tmp_path / "a.vtu", digits=11 if packed == "ascii" else 17)


@pytest.mark.parametrize("mode", ["ascii", "binary", "appended"])
@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("base64", [True, False])
def test_vtu_files_of_vtk(tmp_path: Path, mode: str, packed: bool, base64: bool) -> None:
    vtk = pytest.importorskip("vtkmodules.vtkIOXML")
    writer = vtk.vtkXMLUnstructuredGridWriter()
    getattr(writer, f"SetDataModeTo{mode.capitalize()}")()
    if not packed:
        writer.SetCompressorTypeToNone()
    writer.SetEncodeAppendedData(base64)
    writer.SetBlockSize(1024)  # several blocks
    _written(writer, tmp_path / "a.vtu")
    check(tmp_path / "a.vtu")


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("version", [42, 51])
def test_vtk_files_of_vtk(tmp_path: Path, binary: bool, version: int) -> None:
    vtk = pytest.importorskip("vtkmodules.vtkIOLegacy")
    writer = vtk.vtkUnstructuredGridWriter()
    writer.SetFileVersion(version)
    writer.SetFileType(2 if binary else 1)
    _written(writer, tmp_path / "a.vtk")
    check(tmp_path / "a.vtk", digits=17 if binary else 5)


def _written(writer: Any, path: Path) -> None:
    """``mixed`` as VTK's own grid, with a label for a component: metadata in a legacy file."""
    pv = pytest.importorskip("pyvista")
    mesh = mixed()
    cells = {{"tetra": 10, "triangle": 5, "line": 3}[c.type]: np.asarray(c.data) for c in mesh.cells}
    grid = pv.UnstructuredGrid(cells, mesh.points)
    grid.cell_data["region"] = np.concatenate([REGION, np.zeros(grid.n_cells - 72, int)])
    grid.point_data["place"] = mesh.points
    grid.point_data["group:few"] = mesh.point_data["group:few"]
    for name in grid.point_data:
        grid.GetPointData().GetArray(name).SetComponentName(0, "east")
    writer.SetInputData(grid)
    writer.SetFileName(str(path))
    assert writer.Write() == 1


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("version", ["4.2", "5.1"])
def test_vtk_files(tmp_path: Path, binary: bool, version: str) -> None:
    write = meshio.vtk.write if version == "5.1" else meshio.vtk._vtk_42.write
    write(tmp_path / "a.vtk", mixed(), binary=binary)
    check(tmp_path / "a.vtk")


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("version", ["2.2", "4.1"])
def test_msh_files(tmp_path: Path, binary: bool, version: str) -> None:
    mesh = mixed()
    physical = mesh.cell_data.pop("region")
    physical[0] = physical[0] * 0 + 7
    mesh.cell_data = {"gmsh:physical": physical, "gmsh:geometrical": physical}
    if version == "4.1":  # which has them per entity: volume 1 is 7
        every = np.column_stack([np.full(len(mesh.points), 3), np.ones(len(mesh.points))]).astype(int)
        mesh.point_data["gmsh:dim_tags"] = every
        mesh.cell_data["gmsh:geometrical"] = [np.ones(len(c.data), int) for c in mesh.cells]
    meshio.gmsh.write(tmp_path / "a.msh", mesh, fmt_version=version, binary=binary)
    if not binary:  # where meshio 5.3 writes np.float64(1.0) for 1.0
        text = (tmp_path / "a.msh").read_text()
        (tmp_path / "a.msh").write_text(re.sub(r"np\.\w+\(([^)]*)\)", r"\1", text))
    back = read_volume(tmp_path / "a.msh")
    assert np.array_equal(back.points, box().points)
    assert np.array_equal(back.tets, box().tets)
    assert back.groups["few"].tolist() == [0, 1, 2, 3]
    assert back.regions is not None
    assert set(back.regions) == {7}


def test_binary_msh_4_with_entities_and_the_other_order_of_bytes(tmp_path: Path) -> None:
    """A tet of a physical volume 9, with parametric points, written by hand."""
    for order in "<>":
        pack = struct.pack
        text = b"$MeshFormat\n4.1 1 8\n" + pack(order + "i", 1) + b"\n$EndMeshFormat\n"
        text += b'$PhysicalNames\n1\n3 9 "core"\n$EndPhysicalNames\n'
        text += b"$Entities\n" + pack(order + "4Q", 1, 0, 0, 1)
        text += pack(order + "i3dQ", 1, 0.0, 0.0, 0.0, 0) + pack(order + "i6dQi", 1, *[0.0] * 6, 1, 9)
        text += pack(order + "Qi", 1, 4) + b"\n$EndEntities\n"
        text += b"$Nodes\n" + pack(order + "4Q", 2, 4, 10, 40)
        text += pack(order + "3iQ2Q6d", 3, 1, 0, 2, 10, 30, *(0.0, 0, 0), *(1.0, 0, 0))
        text += pack(order + "3iQ2Q10d", 2, 1, 1, 2, 20, 40, *(0.0, 1, 0, 5, 5), *(0.0, 0, 1, 5, 5))
        text += b"\n$EndNodes\n$Elements\n" + pack(order + "4Q", 1, 1, 1, 1)
        text += pack(order + "3iQ5Q", 3, 1, 4, 1, 1, 10, 30, 20, 40) + b"\n$EndElements\n"
        (tmp_path / "a.msh").write_bytes(text)
        mesh = read_volume(tmp_path / "a.msh")
        assert mesh.points.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
        assert mesh.tets.tolist() == [[0, 1, 2, 3]]
        assert mesh.regions is not None
        assert mesh.regions.tolist() == [9]
        assert mesh.groups["core"].tolist() == [0, 1, 2, 3]


def test_medit_files(tmp_path: Path) -> None:
    mesh = mixed()
    mesh.cell_data = {"medit:ref": mesh.cell_data["region"]}
    meshio.medit.write(tmp_path / "a.mesh", mesh)
    check(tmp_path / "a.mesh", groups=False)


def test_quadratic_cells_have_their_corners_first(tmp_path: Path) -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    pairs = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
    middle = np.array([points[list(pair)].mean(axis=0) for pair in pairs])
    every = np.concatenate([points, middle])
    for suffix, write in ((".vtu", meshio.vtu.write), (".vtk", meshio.vtk.write)):
        write(tmp_path / f"a{suffix}", meshio.Mesh(every, [("tetra10", np.arange(10)[None])]))
        assert read_volume(tmp_path / f"a{suffix}").tets.tolist() == [[0, 1, 2, 3]]
        write(tmp_path / f"b{suffix}", meshio.Mesh(every, [("triangle6", [[0, 1, 2, 4, 5, 6]])]))
        assert read_surface(tmp_path / f"b{suffix}").triangles.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.msh", "$MeshFormat\n4 0 8\n$EndMeshFormat\n", "format 4 is not known"),
        ("a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n", "no .End"),
        ("a.vtk", "# vtk DataFile Version 3.0\n\nASCII\nDATASET POLYDATA\n", "UNSTRUCTURED_GRID"),
        ("a.vtu", '<!DOCTYPE x [<!ENTITY a "b">]><VTKFile/>', "document type"),
        ("a.vtu", '<VTKFile type="UnstructuredGrid" header_type="UInt9"/>', "UInt9"),
        ("a.mesh", "Vertices\n1\n", "MeshVersionFormatted"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(MeshError, match=message) as caught:
        read_volume(tmp_path / name)
    assert name in str(caught.value)
