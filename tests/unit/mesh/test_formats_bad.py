"""Bad files: each is one MeshError that names the file, the line where it can, and what to try."""

import resource
import struct
from pathlib import Path

import numpy as np
import pytest

from pliant.core.errors import MeshError
from pliant.mesh import shapes
from pliant.mesh.io import (
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

V3 = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
PARTICLES = "particles\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
TET = f"{PARTICLES}tetrahedra\n1\n0 1 2 3\n"
PLY = "ply\nformat ascii 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n"
PLY_FACES = "element face {}\nproperty list uchar int vertex_indices\nend_header\n"
VTK = "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\n"
VTK_POINTS = "POINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1\n"
MSH = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
MEDIT = "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
STL = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
GARBAGE = bytes(np.random.default_rng(3).integers(0, 256, 4000, dtype=np.uint8))

BAD_SURFACES: list[tuple[str, str, str | bytes, str]] = [
    ("obj-no-faces", ".obj", V3, "no faces"),
    ("obj-no-points", ".obj", "f 1 2 3\n", ":1: .*0 vertices"),
    ("obj-text-for-number", ".obj", "v 0 0 0\nv 1 zero 0\nv 0 1 0\nf 1 2 3\n", ":2: .*'zero'"),
    ("obj-two-coordinates", ".obj", "v 0 0\nf 1 1 1\n", ":1: .*3 numbers"),
    ("obj-nan", ".obj", "v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n", ":2: .*finite.*'nan'"),
    ("obj-inf", ".obj", "v 0 0 0\nv 1 0 -inf\nv 0 1 0\nf 1 2 3\n", ":2: .*finite"),
    ("obj-overflow", ".obj", "v 0 0 0\nv 1 0 1e999\nv 0 1 0\nf 1 2 3\n", ":2: .*finite"),
    ("obj-huge-point", ".obj", "v 0 0 0\nv 1 0 1e200\nv 0 1 0\nf 1 2 3\n", "points are not finite"),
    ("obj-index-too-large", ".obj", f"{V3}f 1 2 4\n", ":4: .*'4'.*3 vertices"),
    ("obj-index-zero", ".obj", f"{V3}f 0 1 2\n", ":4: .*'0'"),
    ("obj-negative-too-far", ".obj", f"{V3}f -1 -2 -4\n", ":4: .*'-4'"),
    ("obj-texture-index", ".obj", f"{V3}vt 0 0\nf 1/1 2/1 3/2\n", ":5: .*1 texture"),
    ("obj-two-corners", ".obj", f"{V3}f 1 2\n", ":4: .*three corners"),
    ("obj-fraction-index", ".obj", f"{V3}f 1 2 3.5\n", ":4: .*whole number.*3.5"),
    ("obj-index-of-many-digits", ".obj", f"{V3}f 1 2 {'9' * 40}\n", ":4: .*whole number"),
    ("obj-not-utf8", ".obj", b"v 0 0 0\n# caf\xe9\nf 1 1 1\n", ":2: not UTF-8"),
    ("obj-zero-bytes", ".obj", b"v 0 0 0\n\0\0\0\n", ":2: binary"),
    ("stl-cut-short", ".stl", b"x" * 80 + struct.pack("<I", 10) + b"\0" * 100, "10 triangles"),
    ("stl-huge-count", ".stl", b"x" * 80 + struct.pack("<I", 2**32 - 1) + b"\0" * 50, "4294967295"),
    ("stl-no-triangles", ".stl", b"x" * 80 + struct.pack("<I", 0), "no triangles"),
    ("stl-nan", ".stl", b"x" * 80 + struct.pack("<I12fH", 1, *[np.nan] * 12, 0), "not finite"),
    ("stl-text-cut-short", ".stl", STL, ":8: .*endsolid"),
    ("stl-text-two-vertices", ".stl", STL.replace("vertex 0 1 0\n", "") + "endsolid\n", ":7: .*3 vertices"),
    ("stl-text-bad-number", ".stl", STL.replace("1 0 0", "1 0 oh") + "endsolid\n", ":5: .*'oh'"),
    ("stl-text-empty", ".stl", "solid a\nendsolid a\n", "no triangles"),
    ("stl-text-unknown", ".stl", "solid a\nhello\nendsolid a\n", ":2: .*'hello'"),
    ("ply-no-header", ".ply", "hello\n", "not a PLY"),
    ("ply-huge-count", ".ply", PLY.format(10**15) + PLY_FACES.format(1) + "0 0 0\n", "announced"),
    ("ply-cut-short", ".ply", PLY.format(9) + PLY_FACES.format(9) + "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "ply"),
    ("ply-point-cloud", ".ply", PLY.format(1) + "end_header\n0 0 0\n", "no triangles"),
    ("ply-bad-count", ".ply", PLY.format("many") + PLY_FACES.format(1), ":3: .*COUNT"),
    ("ply-index", ".ply", PLY.format(3) + PLY_FACES.format(1) + "0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n", "point"),
    ("ply-nan", ".ply", PLY.format(3) + PLY_FACES.format(1) + "0 0 nan\n1 0 0\n0 1 0\n3 0 1 2\n", "finite"),
    ("off-wrong-word", ".off", "OBJ\n3 1 0\n", ":1: .*'OFF'"),
    ("off-huge-count", ".off", "OFF\n999999999999 1 0\n0 0 0\n", ":2: .*only 1 more"),
    ("off-negative-count", ".off", "OFF\n-3 1 0\n0 0 0\n", ":2: .*negative"),
    ("off-index", ".off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", ":6: .*not there"),
    ("off-short-face", ".off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1\n", ":6: .*3 corners"),
    ("off-no-faces", ".off", "OFF\n3 0 0\n0 0 0\n1 0 0\n0 1 0\n", "no triangles"),
    ("surf-wrong-word", ".surf", "surface\n3\n", ":1: .*surfacemesh"),
    ("surf-from-zero", ".surf", "surfacemesh\n3\n0 0 0\n1 0 0\n0 1 0\n1\n0 1 2\n", ":7: .*not there"),
    ("surf-cut-short", ".surf", "surfacemesh\n3\n0 0 0\n1 0 0\n0 1 0\n", "triangles should be"),
    ("glb-not-gltf", ".glb", "hello", "not a binary glTF"),
    ("glb-version-1", ".glb", struct.pack("<4sII", b"glTF", 1, 12), "not a binary glTF 2.0"),
    ("glb-cut-short", ".glb", struct.pack("<4sII", b"glTF", 2, 5000), "shorter"),
    ("glb-no-json", ".glb", struct.pack("<4sII", b"glTF", 2, 12), "JSON"),
    ("glb-empty-scene", ".glb", struct.pack("<4sIII4s2s", b"glTF", 2, 22, 2, b"JSON", b"{}"), "no triangles"),
    ("vtk-lines-only", ".vtk", f"{VTK}{VTK_POINTS}CELLS 1 3\n2 0 1\nCELL_TYPES 1\n3\n", "no triangles"),
]

BAD_VOLUMES: list[tuple[str, str, str | bytes, str]] = [
    ("str-no-tets", ".str", PARTICLES, "no block 'tetrahedra'"),
    ("str-zero-tets", ".str", f"{PARTICLES}tetrahedra\n0\n", "no tetrahedra"),
    ("str-unknown-block", ".str", TET + "neighbours\n1\n0 0 0 0\n", ":10: .*Did you mean 'neighbors'"),
    ("str-second-block", ".str", TET + TET, ":10: .*second block 'particles'"),
    ("str-huge-count", ".str", "particles\n99999999999\n0 0 0\n", ":2: .*only 1 more"),
    ("str-text-count", ".str", "particles\nfour\n", ":2: .*'four'"),
    ("str-negative-count", ".str", "particles\n-1\n", ":2: .*negative"),
    ("str-two-coordinates", ".str", TET.replace("1 0 0", "1 0"), ":4: .*3 numbers"),
    ("str-nan", ".str", TET.replace("1 0 0", "1 NaN 0"), ":4: .*finite"),
    ("str-index", ".str", TET.replace("0 1 2 3", "0 1 2 4"), "refers to item 4"),
    ("str-neighbour", ".str", f"{TET}neighbors\n1\n-1 -1 -1 1\n", "'neighbors' refers to item 1"),
    ("str-ridge", ".str", f"{TET}voronoiridges\n1\n0 1 3 0 0\n", ":12: .*as many numbers"),
    ("str-ridge-vertex", ".str", f"{TET}voronoiridges\n1\n0 1 1 0\n", "'voronoiridges' refers to item 0"),
    (
        "str-flat",
        ".str",
        TET.replace("0 0 1", "1 1 0"),
        "1 of 1 tetrahedra have no volume, the first is number 0",
    ),
    ("str-twice-the-same", ".str", TET.replace("0 1 2 3", "0 1 2 2"), "no volume"),
    (
        "str-lost-particle",
        ".str",
        TET.replace("particles\n4", "particles\n5\n9 9 9").replace("0 1 2 3", "1 2 3 4")
        + "voronoicells\n0\n",
        "particle 0 belongs to no",
    ),
    ("vtu-garbage", ".vtu", GARBAGE, "not a readable .vtu"),
    ("vtu-other-xml", ".vtu", "<html></html>", "not a readable .vtu"),
    ("vtk-garbage", ".vtk", GARBAGE, "not a readable .vtk"),
    ("vtk-cut-short", ".vtk", f"{VTK}POINTS 4 double\n0 0 0 1 0", "vtk"),
    ("vtk-huge-count", ".vtk", f"{VTK}POINTS 99999999999999 double\n0 0 0 1 0", "vtk"),
    ("vtk-no-tets", ".vtk", f"{VTK}{VTK_POINTS}CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n5\n", "no tetrahedra"),
    ("vtk-index", ".vtk", f"{VTK}{VTK_POINTS}CELLS 1 5\n4 0 1 2 9\nCELL_TYPES 1\n10\n", "refers to point 9"),
    (
        "vtk-nan",
        ".vtk",
        (VTK + VTK_POINTS).replace("0 0 1\n", "0 0 nan\n") + "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n",
        "number 3",
    ),
    (
        "vtk-pyramid",
        ".vtk",
        VTK
        + VTK_POINTS.replace("4 d", "5 d").replace("1\n", "1 1 1 1\n")
        + "CELLS 1 6\n5 0 1 2 3 4\nCELL_TYPES 1\n14\n",
        "pyramid",
    ),
    ("msh-garbage", ".msh", GARBAGE, "not a readable .msh"),
    ("msh-cut-short", ".msh", MSH[:-40], "msh"),
    ("msh-no-elements", ".msh", MSH, "msh"),
    ("msh-huge-count", ".msh", MSH.replace("$Nodes\n4", "$Nodes\n99999999999999"), "msh"),
    ("msh-index", ".msh", f"{MSH}$Elements\n1\n1 4 2 0 1 1 2 3 9\n$EndElements\n", "point|msh"),
    ("mesh-garbage", ".mesh", GARBAGE, "not UTF-8 text"),
    ("mesh-cut-short", ".mesh", MEDIT[:60], "mesh"),
    ("mesh-huge-count", ".mesh", MEDIT.replace("Vertices\n4", "Vertices\n99999999999999"), "mesh"),
    ("mesh-index", ".mesh", f"{MEDIT}Tetrahedra\n1\n1 2 3 5 0\nEnd\n", "point 4"),
    (
        "mesh-flat-dimension",
        ".mesh",
        "MeshVersionFormatted 2\nDimension 2\nVertices\n3\n0 0 0\n1 0 0\n0 1 0\nTriangles\n1\n1 2 3 0\nEnd\n",
        "no tetrahedra|2 coordinates",
    ),
]

POINTS = "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n"
ONE = "1 4 0\n0 0 1 2 3\n"
TETGEN: list[tuple[str, str, str, str]] = [
    ("node-dimension", "3 2 0 0\n0 0 0\n1 1 0\n2 0 1\n", ONE, "node:1: .*dimension 2"),
    ("node-text", POINTS.replace("1 1 0 0", "1 1 0 zero"), ONE, "node:3: .*'zero'"),
    ("node-count", "9999999999 3 0 0\n0 0 0 0\n", ONE, "node:1: .*only 1 more"),
    ("node-order", POINTS.replace("1 1 0 0", "2 1 0 0"), ONE, "node:3: .*in order"),
    ("ele-index", POINTS, "1 4 0\n0 0 1 2 4\n", "ele:2: .*not there"),
    ("ele-nodes", POINTS, "1 5 0\n0 0 1 2 3 3\n", "ele:1: .*5 nodes"),
    ("ele-nan", POINTS, "1 4 1\n0 0 1 2 3 nan\n", "ele:2: .*finite"),
    ("ele-empty", POINTS, "0 4 0\n", "no tetrahedra"),
]


def put(folder: Path, suffix: str, content: str | bytes) -> Path:
    path = folder / f"bad{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("suffix", "content", "message"), [c[1:] for c in BAD_SURFACES], ids=[c[0] for c in BAD_SURFACES]
)
def test_bad_surface_files(tmp_path: Path, suffix: str, content: str | bytes, message: str) -> None:
    path = put(tmp_path, suffix, content)
    with pytest.raises(MeshError, match=message) as caught:
        read_surface(path)
    assert path.name in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("suffix", "content", "message"), [c[1:] for c in BAD_VOLUMES], ids=[c[0] for c in BAD_VOLUMES]
)
def test_bad_volume_files(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], suffix: str, content: str | bytes, message: str
) -> None:
    path = put(tmp_path, suffix, content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(MeshError, match=message) as caught:
        read_volume(path)
    assert path.name in str(caught.value)
    assert caught.value.hint
    assert capfd.readouterr() == ("", "")  # no chatter from libraries
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # kB, whatever a header says


@pytest.mark.parametrize(
    ("nodes", "elements", "message"), [c[1:] for c in TETGEN], ids=[c[0] for c in TETGEN]
)
def test_bad_tetgen_files(tmp_path: Path, nodes: str, elements: str, message: str) -> None:
    put(tmp_path, ".node", nodes)
    with pytest.raises(MeshError, match=message):
        read_volume(put(tmp_path, ".ele", elements))


def test_tetgen_files_come_in_pairs(tmp_path: Path) -> None:
    with pytest.raises(MeshError, match=r"bad.node: not found.*both"):
        read_volume(put(tmp_path, ".ele", "1 4 0\n0 0 1 2 3\n"))


@pytest.mark.parametrize("suffix", [*SURFACE_READERS, *VOLUME_READERS])
@pytest.mark.parametrize(
    "content", [b"", b"\n\n  \n", b"hello world\n", GARBAGE], ids=["empty", "blank", "text", "noise"]
)
def test_no_reader_takes_nonsense(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = put(tmp_path, suffix, content)
    for partner in ({".node", ".ele"} - {suffix}) if suffix in (".node", ".ele") else ():
        put(tmp_path, partner, content)
    for reader, table in ((read_surface, SURFACE_READERS), (read_volume, VOLUME_READERS)):
        if suffix in table:
            with pytest.raises(MeshError) as caught:
                reader(path)
            assert caught.value.hint


@pytest.mark.parametrize("suffix", [*SURFACE_READERS, *VOLUME_READERS])
def test_missing_files_and_folders(tmp_path: Path, suffix: str) -> None:
    read = read_volume if suffix in VOLUME_READERS else read_surface
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(MeshError, match=f"none{suffix}: no such file"):
        read(tmp_path / f"none{suffix}")
    with pytest.raises(MeshError, match=f"folder{suffix}: not a file"):
        read(tmp_path / f"folder{suffix}")
    with pytest.raises(MeshError, match=r"no such file.*There is no folder"):
        read(tmp_path / "nowhere" / f"a{suffix}")


def test_a_missing_file_names_one_that_is_nearly_it(tmp_path: Path) -> None:
    put(tmp_path, ".obj", V3)
    with pytest.raises(MeshError, match=r"Did you mean 'bad\.obj'"):
        read_surface(tmp_path / "bat.obj")


@pytest.mark.parametrize("name", ["a.objj", "a.vut", "a.step", "a", ".obj"])
@pytest.mark.parametrize("function", [read_surface, read_volume, kind_of])
def test_unknown_suffixes_list_what_is_known(name: str, function: object) -> None:
    with pytest.raises(MeshError, match="Formats: "):
        function(name)  # type: ignore[operator]


def test_unknown_suffix_suggests_the_nearest() -> None:
    with pytest.raises(MeshError, match=r"Did you mean '\.obj'"):
        read_surface("a.ojb")
    with pytest.raises(MeshError, match=r"Did you mean '\.vtu'"):
        read_volume("a.vtux")


def test_each_kind_points_to_the_other() -> None:
    with pytest.raises(MeshError, match="pliant mesh"):
        read_volume("a.stl")
    with pytest.raises(MeshError, match="read_volume"):
        read_surface("a.str")


def test_files_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, ".obj", V3)

    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(MeshError, match="Permission denied"):
        read_surface(path)


@pytest.mark.parametrize(
    "suffix", [s for s in [*SURFACE_WRITERS, *VOLUME_WRITERS] if s not in (".node", ".obj")]
)
def test_files_cut_short_anywhere_are_errors(tmp_path: Path, suffix: str) -> None:
    """Cut anywhere in the first 95 %; OBJ has no counts, so nothing can tell there."""
    path = tmp_path / f"a{suffix}"
    box = shapes.box(1.0, 1.0, 1.0, divisions=(2, 2, 2))
    if suffix in SURFACE_WRITERS:
        write_surface(path, box.surface())
    else:
        mesh = box.volume()
        assert mesh is not None
        write_volume(path, mesh)
    data = path.read_bytes()
    read = read_surface if suffix in SURFACE_WRITERS else read_volume
    for part in np.linspace(0.02, 0.95, 12):
        path.write_bytes(data[: int(part * len(data))])
        with pytest.raises(MeshError):
            read(path)
