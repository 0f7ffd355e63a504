"""Surface files without groups: OFF, NetGen's ``.surf``, STL (binary and text) and PLY (read by trimesh).

Points of STL files that are exactly equal are one point.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array
from pliant.mesh.io.checks import checked_surface, fans
from pliant.mesh.io.text import TEXT_HINT, TextRows, parse_rows
from pliant.mesh.mesh import Surface
from pliant.mesh.topology import merge_points


def read_off(path: Path) -> Surface:
    """The polygons of an OFF file (also COFF, NOFF, STOFF) as triangles; colours and normals are left out."""
    rows = TextRows(path, comment="#")
    head = rows.row("'OFF'")
    if not re.fullmatch(r"(ST)?C?N?OFF", head[0]):
        raise rows.fail(f"expected 'OFF', got '{head[0][:40]}'.")
    counts = head[1:] or rows.row("the number of points and faces")
    if len(counts) < 2:
        raise rows.fail("expected the numbers of points, faces and edges.")
    point_count, face_count = rows.count(counts[0], "points"), rows.count(counts[1], "faces")
    points = rows.floats(point_count, 3, "a point", more=True)
    rows.count(str(face_count), "faces")
    sizes, corners = [], []
    for _ in range(face_count):
        row = rows.row("a face")
        size = rows.whole(row[0], "the number of corners")
        if size < 3 or len(row) < size + 1:
            raise rows.fail(f"a face of {size} corners with {len(row) - 1} numbers.")
        sizes.append(size)
        corners += [rows.whole(token, "a point number") for token in row[1 : size + 1]]
        if min(corners[-size:]) < 0 or max(corners[-size:]) >= point_count:
            raise rows.fail(f"a face refers to a point that is not there ({point_count} points).")
    flat = np.array(corners, dtype=np.int64)
    place, _ = fans(points, flat, np.array(sizes, dtype=np.int64))
    return checked_surface(str(path), points, flat[place])


def write_off(path: Path, surface: Surface) -> None:
    """Points with 17 digits, and triangles; no groups, no texture coordinates."""
    lines = ["OFF", f"{len(surface.points)} {len(surface.triangles)} 0"]
    lines += [f"{a:.17g} {b:.17g} {c:.17g}" for a, b, c in surface.points.tolist()]
    lines += [f"3 {a} {b} {c}" for a, b, c in surface.triangles.tolist()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_surf(path: Path) -> Surface:
    """The triangles of a NetGen surface file."""
    rows = TextRows(path, comment="#")
    head = rows.row("'surfacemesh'")
    if head != ["surfacemesh"]:
        raise rows.fail(f"expected 'surfacemesh', got '{' '.join(head)[:40]}'.")
    points = rows.floats(rows.count(rows.row("the number of points")[0], "points"), 3, "a point")
    count = rows.count(rows.row("the number of triangles")[0], "triangles")
    triangles = rows.integers(count, 3, "a triangle", more=True)
    wrong = ((triangles < 1) | (triangles > len(points))).any(axis=1)
    if wrong.any():
        rows.next += int(wrong.argmax()) - count + 1
        raise rows.fail(f"a triangle refers to a point that is not there ({len(points)} points, from 1).")
    return checked_surface(str(path), points, triangles - 1)


FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
HEADER = 84


def read_stl(path: Path) -> Surface:
    """The triangles of an STL file; a file is binary if its length is what its triangle count makes."""
    data = path.read_bytes()
    count = int.from_bytes(data[80:HEADER], "little")
    if len(data) >= HEADER and len(data) == HEADER + count * FACET.itemsize:
        corners = np.frombuffer(data, FACET, count, HEADER)["corners"].astype(np.float64).reshape(-1, 3)
    elif data.lstrip()[:5].lower() == b"solid" and b"\0" not in data:
        corners = _text_corners(path)
    else:
        raise MeshError(
            f"{path}: not an STL file: {len(data)} bytes, and no text that starts with 'solid'; a binary "
            f"file with the {count} triangles of its header would have {HEADER + count * FACET.itemsize}.",
            hint="It may be cut short or of another format; export it again.",
        )
    if len(corners) == 0:
        raise MeshError(f"{path}: no triangles.", hint="Export the model as a polygon mesh.")
    points, number = merge_points(corners + 0.0)  # -0.0 is 0.0
    return checked_surface(str(path), points, number.reshape(-1, 3))


def write_stl(path: Path, surface: Surface) -> None:
    """A binary STL file: single precision, no groups, no texture coordinates."""
    corners = surface.points[surface.triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    facets = np.zeros(len(corners), FACET)
    facets["normal"] = normal / np.where(length > 0, length, 1.0)
    facets["corners"] = corners
    header = b"binary STL written by pliant".ljust(80) + len(facets).to_bytes(4, "little")
    path.write_bytes(header + facets.tobytes())


def _text_corners(path: Path) -> Array:
    """Corner points (3 n, 3) of the facets of a text file."""
    rows = TextRows(path)
    corners: list[list[str]] = []
    lines: list[int] = []
    pending = -1  # corners of the open facet, or -1 between facets
    for row, line in zip(rows.tokens, rows.lines, strict=True):
        keyword = row[0].lower()
        if keyword == "facet":
            pending = 0
        elif keyword == "vertex":
            if len(row) != 4:
                raise MeshError(f"{path}:{line}: a vertex needs 3 numbers.", hint=TEXT_HINT)
            corners.append(row[1:])
            lines.append(line)
            pending += 1
        elif keyword == "endfacet":
            if pending != 3:
                raise MeshError(
                    f"{path}:{line}: a facet needs 3 vertices, got {max(pending, 0)}.", hint=TEXT_HINT
                )
            pending = -1
        elif keyword not in ("solid", "endsolid", "outer", "endloop"):
            raise MeshError(f"{path}:{line}: unknown statement '{row[0][:40]}'.", hint=TEXT_HINT)
    if pending != -1 or not any(row[0].lower() == "endsolid" for row in rows.tokens[-1:]):
        raise MeshError(f"{path}:{rows.lines[-1]}: the file ends before 'endsolid'.", hint=TEXT_HINT)
    return np.asarray(parse_rows(path, corners, lines, float).reshape(-1, 3))


def read_ply(path: Path) -> Surface:
    """The triangles of a PLY file, points as in the file; texture coordinates per point if it has them."""
    points, faces = _announced(path)
    import trimesh

    with path.open("rb") as file:
        mesh = trimesh.load(file, file_type="ply", process=False, maintain_order=True)
    triangles = getattr(mesh, "faces", None)
    if triangles is None or len(triangles) == 0 or faces == 0:
        raise MeshError(f"{path}: no triangles.", hint="Export the model as polygons, not as a point cloud.")
    if len(triangles) < faces:
        raise MeshError(f"{path}: {faces} faces are announced, {len(triangles)} could be read.", hint=_CUT)
    uv = _texture(mesh)
    if uv is None and len(mesh.vertices) != points:
        raise MeshError(f"{path}: {points} points are announced, {len(mesh.vertices)} read.", hint=_CUT)
    return checked_surface(str(path), mesh.vertices, triangles, uv, None if uv is None else triangles)


def write_ply(path: Path, surface: Surface) -> None:
    """Binary PLY in double precision; texture coordinates ``s``, ``t`` if no point has two; no groups."""
    uv = _point_texture(surface)
    names = ["x", "y", "z"] + ([] if uv is None else ["s", "t"])
    table = surface.points if uv is None else np.column_stack([surface.points, uv])
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {len(table)}"]
    header += [f"property double {name}" for name in names]
    header += [
        f"element face {len(surface.triangles)}",
        "property list uchar int vertex_indices",
        "end_header",
    ]
    faces = np.zeros(len(surface.triangles), [("count", "u1"), ("corners", "<i4", 3)])
    faces["count"], faces["corners"] = 3, surface.triangles
    path.write_bytes(("\n".join(header) + "\n").encode() + table.astype("<f8").tobytes() + faces.tobytes())


_CUT = "It may be cut short or damaged; export it again."


def _announced(path: Path) -> tuple[int, int]:
    """The numbers of points and faces in a PLY header, if the file is long enough to hold them."""
    data = path.read_bytes()
    end = data.find(b"end_header")
    if not data.startswith(b"ply") or end < 0:
        raise MeshError(f"{path}: not a PLY file: no header from 'ply' to 'end_header'.", hint=_CUT)
    counts = {"vertex": 0, "face": 0}
    for number, line in enumerate(data[:end].decode("latin-1").splitlines(), 1):
        row = line.split()
        if row[:1] == ["element"]:
            if len(row) != 3 or not row[2].isdigit():
                raise MeshError(f"{path}:{number}: expected 'element NAME COUNT'.", hint=_CUT)
            counts[row[1]] = int(row[2])
    if sum(counts.values()) > len(data) - end:
        raise MeshError(
            f"{path}: {counts['vertex']} points and {counts['face']} faces are announced, but only "
            f"{len(data) - end} bytes follow.",
            hint=_CUT,
        )
    return counts["vertex"], counts["face"]


def _texture(mesh: Any) -> Array | None:
    """Texture coordinates per point (n, 2), or None."""
    uv = getattr(getattr(mesh, "visual", None), "uv", None)
    if uv is None or np.shape(uv) != (len(mesh.vertices), 2):
        return None
    return np.asarray(uv, dtype=np.float64)


def _point_texture(surface: Surface) -> Array | None:
    """Texture coordinates per point (n, 2), or None where a point has several (a seam) or there are none."""
    if surface.uv is None or surface.uv_triangles is None:
        return None
    uv = np.zeros((len(surface.points), 2))
    uv[surface.triangles] = surface.uv[surface.uv_triangles]
    return uv if np.array_equal(uv[surface.triangles], surface.uv[surface.uv_triangles]) else None
