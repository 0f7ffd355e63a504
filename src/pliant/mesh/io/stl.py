"""STL, binary and text: triangles only; points that are exactly equal are one point."""

from pathlib import Path

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array
from pliant.mesh.io.checks import checked_surface
from pliant.mesh.io.polygons import merged
from pliant.mesh.io.text import TEXT_HINT, TextRows, parse_rows
from pliant.mesh.mesh import Surface

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
    points, number = merged(corners)
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
