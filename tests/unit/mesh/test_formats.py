"""Mesh files: what is written is read back, and what readers make of files others write."""

import errno
import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pliant.errors import MeshError, StorageError
from pliant.mesh import shapes
from pliant.mesh.formats import (
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
from pliant.mesh.types import Surface, TetMesh, boundary_triangles, surface_volume, tet_volumes
from pliant.typing import AnyArray

MODELS = Path(__file__).parents[4] / "shared" / "models"
SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"


def box() -> TetMesh:
    mesh = shapes.box(1.0, 2.0, 3.0, divisions=(2, 2, 3)).volume()
    assert mesh is not None
    x = mesh.points + 0.1 * np.random.default_rng(1).random(mesh.points.shape)
    groups = {
        "left": np.flatnonzero(mesh.points[:, 0] == 0),
        "top side": np.flatnonzero(mesh.points[:, 2] == 3),
    }
    return TetMesh(x, mesh.tets, groups, np.arange(len(mesh.tets)) % 3)


def ball() -> Surface:
    surface = shapes.sphere(1.0).surface(0.4)
    groups = {"south": np.flatnonzero(surface.points[surface.triangles][:, :, 2].max(axis=1) < 0)}
    corners = surface.points[surface.triangles].reshape(-1, 3)
    uv_triangles = np.arange(len(corners)).reshape(-1, 3)
    return Surface(surface.points, surface.triangles, corners[:, :2] * 0.5 + 0.5, uv_triangles, groups)


def same_groups(a: Surface | TetMesh, b: Surface | TetMesh) -> bool:
    return a.groups.keys() == b.groups.keys() and all(
        np.array_equal(a.groups[k], b.groups[k]) for k in a.groups
    )


def obj(folder: Path, text: str) -> Surface:
    path = folder / "a.obj"
    path.write_text(text)
    return read_surface(path)


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


def test_boundary_markers_become_groups_and_back(tmp_path: Path) -> None:
    mesh = box()
    marked = TetMesh(mesh.points, mesh.tets, {"marker-2": np.array([0, 3]), "marker--1": np.array([5])})
    write_volume(tmp_path / "a.node", marked)
    assert same_groups(read_volume(tmp_path / "a.ele"), marked)


def test_paths_may_be_text_and_suffixes_capital(tmp_path: Path) -> None:
    write_volume(str(tmp_path / "a.VTU"), box())
    assert len(read_volume(str(tmp_path / "a.VTU")).tets) == 72


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


def test_obj_polygons_negative_numbers_and_continued_lines(tmp_path: Path) -> None:
    surface = obj(tmp_path, f"{SQUARE}# a comment\nf -4 -3 \\\n  -2 -1\nv 0 0 1\nf 1 2 -1\n")
    assert surface.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [0, 1, 4]]


def test_obj_concave_quad_is_cut_through_its_notch(tmp_path: Path) -> None:
    """An arrowhead with its notch at corner 1: the cut 0-2 would leave the polygon."""
    surface = obj(tmp_path, "v 2 0 0\nv 0.5 0.5 0\nv 0 2 0\nv 0 0 0\nf 1 2 3 4\n")
    p = surface.points[surface.triangles]
    z = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])[:, 2]
    assert z.min() > 0
    assert z.sum() / 2 == pytest.approx(1.0)


def test_obj_pentagon_with_a_notch_keeps_its_area(tmp_path: Path) -> None:
    text = "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 1 0.5 0\nv 0 2 0\nf 1 2 3 4 5\n"
    p = obj(tmp_path, text)
    corners = p.points[p.triangles]
    z = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]
    assert z.min() > 0
    assert z.sum() / 2 == pytest.approx(4 - 1.5)


def test_obj_groups_objects_and_materials(tmp_path: Path) -> None:
    text = f"{SQUARE}o plate\ng a b\nusemtl My Steel\nf 1 2 3 4\ng\nf 1 2 3\ng b\nusemtl gold\nf 2 3 4\n"
    groups = {name: ids.tolist() for name, ids in obj(tmp_path, text).groups.items()}
    assert groups == {"plate": [0, 1, 2, 3], "a": [0, 1], "b": [0, 1, 3], "My Steel": [0, 1, 2], "gold": [3]}


def test_obj_texture_is_kept_by_its_own_numbers(tmp_path: Path) -> None:
    text = f"{SQUARE}vt 0 0\nvt 1 0 0.5\nvt 0.5\nvn 0 0 1\nf 1/1/1 2/2/1 3/3/1\nf 1//1 3//1 4//1\n"
    surface = obj(tmp_path, text)
    assert surface.uv is not None
    assert surface.uv_triangles is not None
    assert surface.uv.tolist() == [[0, 0], [1, 0], [0.5, 0], [0, 0]]
    assert surface.uv_triangles.tolist() == [[0, 1, 2], [3, 3, 3]]


def test_obj_vertex_colours_and_windows_line_ends(tmp_path: Path) -> None:
    surface = obj(tmp_path, "v 0 0 0 1 0 0\r\nv 1 0 0 1 0 0\r\nv 0 1 0 1 0 0\r\nl 1 2\r\nf 1 2 3\r\n")
    assert surface.points.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize("name", ["cow", "spot", "stanford-bunny"])
def test_real_models_are_read_as_they_are(name: str) -> None:
    path = MODELS / f"{name}.obj"
    if not path.exists():
        pytest.skip(f"no model {name} beside the repository")
    surface = read_surface(path)
    counts = {"cow": (2903, 5804), "spot": (2930, 5856), "stanford-bunny": (35947, 69451)}
    assert (len(surface.points), len(surface.triangles)) == counts[name]
    assert (surface.uv is not None) == (name == "spot")
    if surface.uv is not None:
        assert len(surface.uv) == 3225
        assert surface_volume(surface.points, surface.triangles) > 0


STL_TEXT = """solid a b
facet normal 0 0 1
 outer loop
  vertex 0 0 0
  vertex 1 0 0
  vertex 0 1 -0
 endloop
endfacet
facet normal 0 0 1
 outer loop
  vertex 1 0 0
  vertex 1 1e0 0
  vertex 0 1 0
 endloop
endfacet
endsolid a b
"""


def test_stl_text_merges_equal_points(tmp_path: Path) -> None:
    (tmp_path / "a.stl").write_text(STL_TEXT)
    surface = read_surface(tmp_path / "a.stl")
    assert surface.points.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
    assert surface.triangles.tolist() == [[0, 1, 2], [1, 3, 2]]


def test_binary_stl_whose_header_says_solid_is_binary(tmp_path: Path) -> None:
    write_surface(tmp_path / "a.stl", ball())
    data = (tmp_path / "a.stl").read_bytes()
    (tmp_path / "b.stl").write_bytes(b"solid".ljust(80) + data[80:])
    assert len(read_surface(tmp_path / "b.stl").triangles) == len(ball().triangles)


def test_ply_text_with_quads(tmp_path: Path) -> None:
    (tmp_path / "a.ply").write_text(
        "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
        "0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n"
    )
    surface = read_surface(tmp_path / "a.ply")
    assert len(surface.points) == 4
    assert len(surface.triangles) == 2


@pytest.mark.parametrize("head", ["OFF\n4 1 0", "OFF 4 1 0", "# hello\nCOFF\n4 1 0"])
def test_off_with_a_quad_and_colours(tmp_path: Path, head: str) -> None:
    colour = " 255 0 0 255" if "COFF" in head else ""
    rows = "\n".join(f"{x} {y} 0{colour}" for x, y in ((0, 0), (1, 0), (1, 1), (0, 1)))
    (tmp_path / "a.off").write_text(f"{head}\n{rows}\n4 0 1 2 3 255 255 0\n")
    assert read_surface(tmp_path / "a.off").triangles.tolist() == [[0, 1, 2], [0, 2, 3]]


def test_netgen_surf_counts_from_one(tmp_path: Path) -> None:
    (tmp_path / "a.surf").write_text("surfacemesh\n3\n 0 0 0\n 1 0 0\n 0 1 0\n1\n 1 2 3\n")
    assert read_surface(tmp_path / "a.surf").triangles.tolist() == [[0, 1, 2]]


def glb(points: AnyArray, uv: AnyArray, triangles: AnyArray, nodes: list[dict[str, object]]) -> bytes:
    """A binary glTF file of one mesh, placed by ``nodes``."""
    blobs = [points.astype("<f4").tobytes(), uv.astype("<f4").tobytes(), triangles.astype("<u4").tobytes()]
    starts = np.cumsum([0, *(len(b) for b in blobs)]).tolist()
    kinds = [(5126, "VEC3", len(points)), (5126, "VEC2", len(uv)), (5125, "SCALAR", triangles.size)]
    tree = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(nodes)))}],
        "nodes": nodes,
        "meshes": [
            {"name": "part", "primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "indices": 2}]}
        ],
        "buffers": [{"byteLength": starts[-1]}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": s, "byteLength": len(b)} for s, b in zip(starts, blobs, strict=False)
        ],
        "accessors": [
            {"bufferView": k, "componentType": c, "type": t, "count": n} for k, (c, t, n) in enumerate(kinds)
        ],
    }
    tree["accessors"][0] |= {"min": points.min(axis=0).tolist(), "max": points.max(axis=0).tolist()}  # type: ignore[index]
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    body = b"".join(blobs)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(body), b"BIN\0") + body
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


def test_glb_places_all_nodes_merges_seams_and_keeps_texture(tmp_path: Path) -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    uv = np.array([[0, 0], [1, 0], [0, 1], [0.5, 0], [0.5, 0.5], [0, 0.5]])
    triangles = np.array([[0, 1, 2], [3, 4, 5]])
    nodes: list[dict[str, object]] = [{"mesh": 0}, {"mesh": 0, "translation": [0, 0, 5], "scale": [-2, 2, 2]}]
    (tmp_path / "a.glb").write_bytes(glb(points, uv, triangles, nodes))
    surface = read_surface(tmp_path / "a.glb")
    assert len(surface.points) == 8
    assert len(surface.triangles) == 4
    corners = surface.points[surface.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    order = np.argsort(corners[:, 0, 2], kind="stable")
    assert normals[order][:, 2].tolist() == [1, 1, 4, 4]  # mirrored in x, a node still faces +z
    assert surface.uv is not None
    assert surface.uv_triangles is not None
    first = surface.uv[surface.uv_triangles[order[0]]]
    assert first.tolist() == [[0, 1], [1, 1], [0, 0]]  # v points up
    assert [len(ids) for ids in surface.groups.values()] == [4]


def test_glb_nodes_turn_their_children(tmp_path: Path) -> None:
    """A quarter turn about x takes y to z; the child sits at y = 2 in the turned frame."""
    points, triangles = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]])
    half = np.sqrt(0.5)
    nodes: list[dict[str, object]] = [
        {"children": [1], "rotation": [half, 0, 0, half]},
        {"mesh": 0, "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 2, 0, 1]},
    ]
    data = glb(points, np.zeros((3, 2)), triangles, nodes).replace(b'"nodes": [0, 1]', b'"nodes": [0   ]')
    (tmp_path / "a.glb").write_bytes(data)
    surface = read_surface(tmp_path / "a.glb")
    assert surface.points[surface.triangles[0]] == pytest.approx(np.array([[0, 0, 2], [1, 0, 2], [0, 0, 3]]))


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
        "import sys, pliant.mesh.formats, pliant.mesh.shapes; "
        "print([m for m in ('trimesh', 'meshio', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
