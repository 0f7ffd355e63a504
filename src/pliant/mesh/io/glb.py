"""Binary glTF 2.0 scenes: triangles, placed by their nodes, with texture coordinates.

Read here and not by trimesh, which drops texture coordinates where Pillow is not installed.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.tables import Table
from pliant.core.typing import AnyArray, Array, IntArray
from pliant.mesh.io.checks import checked_surface
from pliant.mesh.mesh import Surface
from pliant.mesh.topology import merge_points

NUMBERS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
HINT = "It may be cut short or damaged; export it again, as plain binary glTF 2.0."


def read_glb(path: Path) -> Surface:
    """All triangles of a scene, one group per mesh, positions as its nodes place them.

    Points that are exactly equal become one: glTF repeats them where texture or normals jump. Texture
    coordinates keep their own numbering, v turned to point up as in OBJ; where only some parts have them,
    the others get (0, 0). Skins and morphs are left out.
    """
    tree, body = _chunks(path)
    unreadable = set(tree.get("extensionsRequired", [])) - {"KHR_mesh_quantization", "KHR_texture_transform"}
    geometry = [name for name in unreadable if not name.startswith("KHR_materials")]
    if geometry:
        raise MeshError(f"{path}: needs the extension {geometry[0]}.", hint="Export it without compression.")
    points: list[Array] = []
    triangles: list[IntArray] = []
    texture: list[Array | None] = []
    groups: dict[str, IntArray] = {}
    point_count = triangle_count = 0
    for name, matrix, primitive in _primitives(tree):
        x = _accessor(path, tree, body, primitive["attributes"]["POSITION"])
        uv_number = primitive["attributes"].get("TEXCOORD_0")
        uv = None if uv_number is None else _accessor(path, tree, body, uv_number) * [1, -1] + [0, 1]
        if uv is not None and len(uv) != len(x):
            raise MeshError(f"{path}: {len(uv)} texture coordinates for {len(x)} points.", hint=HINT)
        indices = primitive.get("indices")
        corners = np.arange(len(x)) if indices is None else _accessor(path, tree, body, indices).ravel()
        faces = _faces(corners.astype(np.int64), primitive.get("mode", 4))
        if len(faces) and faces.max() >= len(x):
            raise MeshError(f"{path}: a triangle of '{name}' refers to a point that is not there.", hint=HINT)
        points.append(x @ matrix[:3, :3].T + matrix[:3, 3])
        texture.append(uv)
        triangles.append((faces[:, ::-1] if np.linalg.det(matrix[:3, :3]) < 0 else faces) + point_count)
        members = np.arange(triangle_count, triangle_count + len(faces))
        groups[name] = np.append(groups.get(name, np.empty(0, np.int64)), members)
        point_count, triangle_count = point_count + len(x), triangle_count + len(faces)
    if not triangle_count:
        raise MeshError(f"{path}: no triangles.", hint="Export the model as polygons.")
    corners = np.concatenate(triangles)
    joined, number = merge_points(np.concatenate(points) + 0.0)  # -0.0 is 0.0
    if all(uv is None for uv in texture):
        return checked_surface(str(path), joined, number[corners], groups=groups)
    filled = [np.zeros((len(x), 2)) if uv is None else uv for x, uv in zip(points, texture, strict=True)]
    return checked_surface(str(path), joined, number[corners], np.concatenate(filled), corners, groups)


def _chunks(path: Path) -> tuple[Table, bytes]:
    """The JSON tree and the binary chunk."""
    data = path.read_bytes()
    if data[:4] != b"glTF" or int.from_bytes(data[4:8], "little") != 2:
        raise MeshError(f"{path}: not a binary glTF 2.0 file.", hint=HINT)
    if int.from_bytes(data[8:12], "little") > len(data):
        raise MeshError(f"{path}: the file is shorter than its header says.", hint=HINT)
    parts: dict[bytes, bytes] = {}
    at = 12
    while at + 8 <= len(data):
        size, kind = int.from_bytes(data[at : at + 4], "little"), data[at + 4 : at + 8]
        parts.setdefault(kind, data[at + 8 : at + 8 + size])
        at += 8 + size
    try:
        tree = json.loads(parts.get(b"JSON", b"").decode())
    except (ValueError, RecursionError) as error:
        raise MeshError(f"{path}: the scene's JSON is damaged: {error}.", hint=HINT) from error
    if not isinstance(tree, dict):
        raise MeshError(f"{path}: the scene's JSON is not an object.", hint=HINT)
    return tree, parts.get(b"BIN\0", b"")


def _primitives(tree: Table) -> Iterator[tuple[str, Array, Table]]:
    """Mesh name, world matrix (4, 4) and primitive, for all nodes of the scene."""
    nodes, meshes, scenes = tree.get("nodes", []), tree.get("meshes", []), tree.get("scenes", [])
    children = {child for node in nodes for child in node.get("children", [])}
    roots = scenes[tree.get("scene", 0)].get("nodes", []) if scenes else set(range(len(nodes))) - children
    pending = [(number, np.eye(4)) for number in sorted(roots, reverse=True)]
    seen = set()
    while pending:
        number, parent = pending.pop()
        if number in seen:
            raise ValueError(f"node {number} has two parents")
        seen.add(number)
        node = nodes[number]
        matrix = parent @ _matrix(node)
        pending += [(child, matrix) for child in reversed(node.get("children", []))]
        if "mesh" in node:
            mesh = meshes[node["mesh"]]
            name = str(mesh.get("name") or f"mesh-{node['mesh']}")
            yield from ((name, matrix, part) for part in mesh["primitives"] if part.get("mode", 4) >= 4)


def _matrix(node: Table) -> Array:
    """The matrix of a node: given by columns, or translation * rotation * scale."""
    if "matrix" in node:
        return np.array(node["matrix"], dtype=np.float64).reshape(4, 4).T
    x, y, z, w = node.get("rotation", (0.0, 0.0, 0.0, 1.0))
    result = np.eye(4)
    result[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    result[:3, :3] *= np.array(node.get("scale", (1.0, 1.0, 1.0)), dtype=np.float64)
    result[:3, 3] = node.get("translation", (0.0, 0.0, 0.0))
    return result


def _accessor(path: Path, tree: Table, body: bytes, number: int) -> AnyArray:
    """The numbers of an accessor, (count, width); whole numbers marked as normalised become 0..1."""
    accessor = tree["accessors"][number]
    view = tree["bufferViews"][accessor["bufferView"]]
    if "sparse" in accessor or view.get("buffer", 0) != 0 or "uri" in tree["buffers"][0]:
        raise MeshError(f"{path}: sparse or outside data.", hint="Export it as one plain binary glTF file.")
    kind, width = np.dtype(NUMBERS[accessor["componentType"]]), WIDTHS[accessor["type"]]
    count, row = int(accessor["count"]), kind.itemsize * width
    stride = int(view.get("byteStride", row))
    start = int(view.get("byteOffset", 0)) + int(accessor.get("byteOffset", 0))
    if count < 0 or start < 0 or stride < row or (count and start + (count - 1) * stride + row > len(body)):
        raise MeshError(f"{path}: accessor {number} reaches beyond the file's data.", hint=HINT)
    table = np.ndarray((count, width), kind, body, start, (stride, kind.itemsize))
    if accessor.get("normalized") and kind.kind != "f":
        return np.maximum(table / np.iinfo(kind).max, -1.0)
    return table.astype(np.float64) if kind.kind == "f" else table


def _faces(corners: IntArray, mode: int) -> IntArray:
    """Triangles of a list (4), a strip (5) or a fan (6)."""
    if mode == 4:
        return corners[: len(corners) // 3 * 3].reshape(-1, 3)
    k = np.arange(max(len(corners) - 2, 0))
    if mode == 6:
        return np.stack([np.broadcast_to(corners[:1], k.shape), corners[k + 1], corners[k + 2]], axis=1)
    odd = k % 2
    return np.stack([corners[k], corners[k + 1 + odd], corners[k + 2 - odd]], axis=1)
