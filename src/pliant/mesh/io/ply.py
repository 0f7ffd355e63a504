"""PLY: read by trimesh, written here."""

from pathlib import Path
from typing import Any

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array
from pliant.mesh.io.checks import checked_surface
from pliant.mesh.mesh import Surface


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
