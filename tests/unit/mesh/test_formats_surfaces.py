"""Files of surfaces: what readers make of those that others write."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from mesh_samples import ball

from pliant.core.typing import AnyArray
from pliant.mesh.io import read_surface, write_surface
from pliant.mesh.mesh import Surface, surface_volume

MODELS = Path(__file__).parents[4] / "shared" / "models"
SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"


def obj(folder: Path, text: str) -> Surface:
    path = folder / "a.obj"
    path.write_text(text)
    return read_surface(path)


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
