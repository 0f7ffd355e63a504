"""Files of tetrahedra: what readers make of those that others write."""

from pathlib import Path

import numpy as np
import pytest
from mesh_samples import ball, box, same_groups

from pliant.core.errors import MeshError
from pliant.mesh.io import kind_of, read_surface, read_volume, write_volume
from pliant.mesh.mesh import TetMesh, boundary_triangles, tet_volumes


def test_boundary_markers_become_groups_and_back(tmp_path: Path) -> None:
    mesh = box()
    marked = TetMesh(mesh.points, mesh.tets, {"marker-2": np.array([0, 3]), "marker--1": np.array([5])})
    write_volume(tmp_path / "a.node", marked)
    assert same_groups(read_volume(tmp_path / "a.ele"), marked)


def test_structure_file_comes_back_byte_for_byte(tmp_path: Path) -> None:
    """One tet of reference A's format with all eight blocks."""
    mesh = TetMesh(
        np.array([[0, 0, 0], [1 / 3, 0, 0], [0, 0.1, 0], [0, 0, 1e-7]]),
        np.array([[0, 1, 2, 3]]),
        extra={
            "voronoivertices": np.array([[0.1, 0.2, 0.3], [1 / 7, 0, 0]]),
            "dependencies": np.array([[0, 1, 2, 3], [0, 1, 2, 2]]),
            "voronoiridges": [[0, 1, 2, 0, 1], [1, 2, 3, 0, 1, 0]],
            "voronoicells": [[1, 0], [2, 0, 1], [1, 1], [0]],
        },
    )
    write_volume(tmp_path / "a.str", mesh)
    back = read_volume(tmp_path / "a.str")
    assert list(back.extra) == ["voronoivertices", "dependencies", "voronoiridges", "voronoicells"]
    for name in back.extra:
        assert np.array_equal(np.asarray(back.extra[name], object), np.asarray(mesh.extra[name], object))
    write_volume(tmp_path / "b.str", back)
    text = (tmp_path / "a.str").read_text()
    assert (tmp_path / "b.str").read_text() == text
    assert text.startswith("particles\n4\n0 0 0\n0.33333333333333331 0 0\n")
    assert "neighbors\n1\n-1 -1 -1 -1\nfaces\n4\n" in text


def test_structure_neighbours_lie_opposite_their_particle(tmp_path: Path) -> None:
    mesh = box()
    write_volume(tmp_path / "a.str", mesh)
    lines = (tmp_path / "a.str").read_text().split("\n")
    start = lines.index("neighbors") + 2
    table = np.array([line.split() for line in lines[start : start + len(mesh.tets)]], dtype=int)
    for t, row in enumerate(table):
        for k, other in enumerate(row):
            face = set(np.delete(mesh.tets[t], k))
            holders = [s for s in range(len(mesh.tets)) if s != t and face <= set(mesh.tets[s])]
            assert holders == ([other] if other >= 0 else [])
    faces = lines.index("faces") + 2
    count = int(lines[faces - 1])
    assert count == len(boundary_triangles(mesh.tets)) == (table == -1).sum()


def test_tetgen_files_from_one_with_attributes_markers_and_regions(tmp_path: Path) -> None:
    (tmp_path / "a.1.node").write_text(
        "# made by hand\n5 3 1 1\n1 0 0 0 0.5 0\n2 1 0 0 0.5 7\n3 0 1 0 0.5 7\n4 0 0 1 0.5 0\n5 9 9 9 0 0\n"
    )
    (tmp_path / "a.1.ele").write_text("1 4 1\n1 1 2 3 4 42\n# the end\n")
    mesh = read_volume(tmp_path / "a.1.node")
    assert mesh.points.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]  # 5 is in no tet
    assert mesh.tets.tolist() == [[0, 1, 2, 3]]
    assert mesh.regions is not None
    assert mesh.regions.tolist() == [42]
    assert {name: ids.tolist() for name, ids in mesh.groups.items()} == {"marker-7": [1, 2]}


@pytest.mark.parametrize("binary", [True, False])
def test_gmsh_2_physical_groups(tmp_path: Path, binary: bool) -> None:
    import meshio

    mesh = box()
    left = boundary_triangles(mesh.tets)
    left = left[np.isin(left, mesh.groups["left"]).all(axis=1)]
    physical = [np.full(len(left), 5), np.where(np.arange(len(mesh.tets)) < 30, 1, 2)]
    file = meshio.Mesh(
        mesh.points,
        [("triangle", left), ("tetra", mesh.tets)],
        cell_data={"gmsh:physical": physical, "gmsh:geometrical": physical},
        field_data={"wall": np.array([5, 2]), "core": np.array([1, 3])},
    )
    meshio.gmsh.write(tmp_path / "a.msh", file, fmt_version="2.2", binary=binary)
    back = read_volume(tmp_path / "a.msh")
    assert np.array_equal(back.tets, mesh.tets)
    assert np.array_equal(back.points, mesh.points)
    assert back.groups["wall"].tolist() == np.unique(left).tolist()
    assert back.groups["core"].tolist() == np.unique(mesh.tets[:30]).tolist()
    assert back.regions is not None
    assert np.array_equal(back.regions, physical[1])


GMSH_4 = """$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
2
2 5 "wall"
3 9 "core"
$EndPhysicalNames
$Entities
0 0 1 1
1 0 0 0 1 1 0 1 5 0
1 0 0 0 1 1 1 1 9 0
$EndEntities
$Nodes
1 4 1 4
3 1 0 4
1
2
3
4
0 0 0
1 0 0
0 1 0
0 0 1
$EndNodes
$Elements
2 2 1 2
2 1 2 1
1 1 2 3
3 1 4 1
2 1 2 4 3
$EndElements
"""


def test_gmsh_4_physical_groups_and_a_turned_tet(tmp_path: Path) -> None:
    (tmp_path / "a.msh").write_text(GMSH_4)
    mesh = read_volume(tmp_path / "a.msh")
    assert mesh.tets.tolist() == [[0, 1, 2, 3]]
    assert mesh.regions is not None
    assert mesh.regions.tolist() == [9]
    assert {n: i.tolist() for n, i in mesh.groups.items()} == {"wall": [0, 1, 2], "core": [0, 1, 2, 3]}


def test_tets_of_both_orientations_become_positive(tmp_path: Path) -> None:
    mesh = box()
    tets = mesh.tets.copy()
    tets[::3] = tets[::3][:, [1, 0, 2, 3]]
    write_volume(tmp_path / "a.vtu", TetMesh(mesh.points, tets))
    back = read_volume(tmp_path / "a.vtu")
    assert tet_volumes(back.points, back.tets).min() > 0
    assert np.array_equal(np.sort(back.tets, axis=1), np.sort(tets, axis=1))


def test_points_that_no_tet_uses_are_dropped_and_groups_follow(tmp_path: Path) -> None:
    mesh = box()
    points = np.concatenate([[[9.0, 9.0, 9.0]], mesh.points])
    groups = {"left": mesh.groups["left"] + 1, "lost": np.array([0, 1])}
    write_volume(tmp_path / "a.vtu", TetMesh(points, mesh.tets + 1, groups))
    back = read_volume(tmp_path / "a.vtu")
    assert np.array_equal(back.points, mesh.points)
    assert np.array_equal(back.groups["left"], mesh.groups["left"])
    assert back.groups["lost"].tolist() == [0]


@pytest.mark.parametrize("suffix", [".vtu", ".vtk", ".msh", ".mesh"])
def test_files_of_triangles_only_are_surfaces(tmp_path: Path, suffix: str) -> None:
    import meshio

    surface = ball()
    quad = [("quad", np.array([[0, 1, 2, 3]]))] if suffix != ".mesh" else []
    mesh = meshio.Mesh(surface.points, [("triangle", surface.triangles), *quad])
    writers = {".vtu": meshio.vtu, ".vtk": meshio.vtk, ".msh": meshio.gmsh, ".mesh": meshio.medit}
    arguments = {"fmt_version": "2.2"} if suffix == ".msh" else {}
    if suffix == ".msh":
        zeros = [np.zeros(len(c.data), dtype=int) for c in mesh.cells]
        mesh.cell_data = {"gmsh:physical": zeros, "gmsh:geometrical": zeros}
    writers[suffix].write(tmp_path / f"a{suffix}", mesh, **arguments)
    assert kind_of(tmp_path / f"a{suffix}") == "surface"
    back = read_surface(tmp_path / f"a{suffix}")
    assert np.array_equal(back.points, surface.points)
    assert np.array_equal(back.triangles[: len(surface.triangles)], surface.triangles)
    assert len(back.triangles) == len(surface.triangles) + 2 * len(quad)
    with pytest.raises(MeshError, match="no tetrahedra"):
        read_volume(tmp_path / f"a{suffix}")
