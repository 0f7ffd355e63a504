"""Binary glTF 2.0 with morph animation: a target per frame, metres, y up.

A mesh per body and topology version. Where the topology changes, nodes of other versions shrink to nothing.
Positions and normals are single precision; points are doubled where texture coordinates jump.
"""

import json
from collections.abc import Sequence
from typing import BinaryIO

import numpy as np

from pliant.core.tables import Table
from pliant.core.typing import AnyArray, Array, IntArray
from pliant.exporters.job import SURFACES, Exporter, Job, one_file
from pliant.exporters.surfaces import vertex_normals
from pliant.mesh.mesh import Surface
from pliant.run.store import Frame

_FLOAT, _WHOLE = 5126, 5125
_WIDTHS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}
_ROOM = 64  # characters kept for the limits of an accessor


class _GlbWriter:
    """Writes the numbers first, leaving room for the tree that describes them, and the tree last."""

    def __init__(self, job: Job, file: BinaryIO) -> None:
        self.job, self.file = job, file
        self.size = 0
        self.tree: Table = {
            "asset": {"version": "2.0", "generator": "pliant"},
            "scene": 0,
            "scenes": [{"nodes": []}],
            "nodes": [],
            "meshes": [],
            "materials": [],
            "accessors": [],
            "bufferViews": [],
            "buffers": [{"byteLength": 0}],
        }
        self.channels: list[Table] = []
        self.samplers: list[Table] = []

    def write(self) -> None:
        versions = self.job.versions()
        self.start = 28 + self._room(versions)
        self.file.seek(self.start)
        for version, numbers in versions.items():
            self._version(version, numbers)
        self._camera()
        if self.channels:
            self.tree["animations"] = [{"channels": self.channels, "samplers": self.samplers}]
        self.tree["buffers"][0]["byteLength"] = self.size
        text = json.dumps(self.tree, separators=(",", ":")).encode()
        text += b" " * (self.start - 28 - len(text))
        if len(text) != self.start - 28:
            raise AssertionError("too little room was left for the tree")
        whole = self.start + self.size
        self.file.seek(0)
        self.file.write(b"glTF" + _u32(2) + _u32(whole) + _u32(len(text)) + b"JSON" + text)
        self.file.write(_u32(self.size) + b"BIN\0")
        self.file.seek(0, 2)

    def _room(self, versions: dict[int, list[int]]) -> int:
        """Bytes that the tree takes at most: about 500 for each target."""
        bodies = sum(
            (len(numbers) + 12) * len(self.job.bodies_of(self.job.run.frames[numbers[0]]))
            for numbers in versions.values()
        )
        return 8192 + 4 * ((520 + 2 * _ROOM) * bodies // 4)

    def _version(self, version: int, numbers: list[int]) -> None:
        first = self.job.frame(numbers[0])
        names = self.job.bodies_of(first)
        base = {name: _Part(first.surface(name)) for name in names}
        meshes = {name: self._base(name, base[name]) for name in names}
        for number in numbers:
            frame = first if number == numbers[0] else self.job.frame(number)
            for name in names:
                if number != numbers[0]:
                    self._target(meshes[name], base[name], frame, name)
            self.job.tell()
        for name in names:
            self._animate(meshes[name], name, version, numbers)

    def _base(self, name: str, part: "_Part") -> Table:
        attributes = {
            "POSITION": self._accessor(part.points, limits=True),
            "NORMAL": self._accessor(part.normals),
        }
        if part.uv is not None:
            attributes["TEXCOORD_0"] = self._accessor(part.uv)
        indices = self._accessor(part.triangles.reshape(-1, 1))
        primitive = {
            "attributes": attributes, "indices": indices, "material": self._material(name), "targets": []
        }  # fmt: skip
        mesh = {"name": name, "primitives": [primitive], "weights": []}
        self.tree["meshes"].append(mesh)
        return mesh

    def _target(self, mesh: Table, part: "_Part", frame: Frame, name: str) -> None:
        points, normals = part.moved(frame.surface(name))
        target = {
            "POSITION": self._accessor(points - part.points, limits=True),
            "NORMAL": self._accessor(normals - part.normals),
        }
        mesh["primitives"][0]["targets"].append(target)
        mesh["weights"].append(0.0)

    def _animate(self, mesh: Table, name: str, version: int, numbers: Sequence[int]) -> None:
        node = len(self.tree["nodes"])
        self.tree["nodes"].append({"name": name, "mesh": self.tree["meshes"].index(mesh)})
        self.tree["scenes"][0]["nodes"].append(node)
        targets = mesh["primitives"][0]["targets"]
        if not targets:
            for entry in (mesh, mesh["primitives"][0]):
                entry.pop("weights", None), entry.pop("targets", None)
        else:
            weights = np.eye(len(numbers), dtype=np.float32)[:, 1:]
            self._channel(node, "weights", numbers, weights.reshape(-1, 1), "LINEAR")
        if len(self.job.versions()) > 1:
            times = self.job.frames
            size = np.array([[1.0 if self.job.run.version_of(t) == version else 0.0] * 3 for t in times])
            self._channel(node, "scale", times, size, "STEP")

    def _channel(self, node: int, path: str, numbers: Sequence[int], values: AnyArray, how: str) -> None:
        fps = float(self.job.run.manifest["fps"])
        times = self._accessor(np.array(numbers, float)[:, None] / fps, limits=True)
        sampler = {"input": times, "output": self._accessor(values), "interpolation": how}
        self.channels.append({"sampler": len(self.samplers), "target": {"node": node, "path": path}})
        self.samplers.append(sampler)

    def _camera(self) -> None:
        """The camera of the scene, where it has one: a node that looks along its -z."""
        eyes = self.job.eyes()
        if eyes is None:
            return
        near = 1e-3 * float(np.linalg.norm(eyes[0].position - eyes[0].target))
        lens = {"yfov": round(float(np.radians(eyes[0].angle)), 9), "znear": near, "aspectRatio": 16 / 9}
        self.tree["cameras"] = [{"type": "perspective", "name": "camera", "perspective": lens}]
        places = np.array([eye.position for eye in eyes])
        from scipy.spatial.transform import Rotation  # takes long to load, and few files have a camera

        turns = _continuous(Rotation.from_matrix([eye.axes().T for eye in eyes]).as_quat())
        node = len(self.tree["nodes"])
        look = {"translation": places[0].tolist(), "rotation": turns[0].tolist()}
        self.tree["nodes"].append({"name": "camera", "camera": 0, **look})
        self.tree["scenes"][0]["nodes"].append(node)
        if len(eyes) > 1:
            self._channel(node, "translation", self.job.frames, places, "LINEAR")
            self._channel(node, "rotation", self.job.frames, turns, "LINEAR")

    def _material(self, name: str) -> int:
        from pliant.render.render_options import body_rgb

        known = [material["name"] for material in self.tree["materials"]]
        if name in known:
            return known.index(name)
        rgb = [round((part / 255.0) ** 2.2, 4) for part in body_rgb(len(known))]
        look = {"baseColorFactor": [*rgb, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.6}
        self.tree["materials"].append({"name": name, "pbrMetallicRoughness": look, "doubleSided": True})
        return len(known)

    def _accessor(self, values: AnyArray, limits: bool = False) -> int:
        """Writes an array (n, width) and describes it; gives its number."""
        whole = values.dtype.kind in "iu"
        data = np.ascontiguousarray(values, "<u4" if whole else "<f4")
        self.file.write(data.tobytes())
        view = {"buffer": 0, "byteOffset": self.size, "byteLength": data.nbytes}
        self.size += data.nbytes
        self.tree["bufferViews"].append(view)
        accessor: Table = {
            "bufferView": len(self.tree["bufferViews"]) - 1,
            "componentType": _WHOLE if whole else _FLOAT,
            "count": len(data),
            "type": _WIDTHS[data.shape[1]],
        }
        if limits:
            accessor["min"] = [float(f"{x:.9g}") for x in data.min(axis=0)]
            accessor["max"] = [float(f"{x:.9g}") for x in data.max(axis=0)]
        self.tree["accessors"].append(accessor)
        return len(self.tree["accessors"]) - 1


class _Part:
    """A surface with one texture coordinate per point: ``origin`` is the old number of each point."""

    def __init__(self, surface: Surface) -> None:
        self.uv: Array | None = None
        self.origin: IntArray = np.arange(len(surface.points))
        self.triangles: IntArray = surface.triangles
        self.surface = surface
        if surface.uv is not None and surface.uv_triangles is not None:
            both = np.stack([surface.triangles.ravel(), surface.uv_triangles.ravel()], axis=1)
            pairs, corner = np.unique(both, axis=0, return_inverse=True)
            self.origin, self.triangles = pairs[:, 0], corner.reshape(-1, 3)
            self.uv = surface.uv[pairs[:, 1]] * [1.0, -1.0] + [0.0, 1.0]
        self.points, self.normals = self.moved(surface)

    def moved(self, surface: Surface) -> tuple[Array, Array]:
        normals = vertex_normals(surface.points, surface.triangles)
        normals[~normals.any(axis=1)] = [0.0, 1.0, 0.0]
        return surface.points[self.origin].astype(np.float32), normals[self.origin].astype(np.float32)


def _continuous(quaternions: Array) -> Array:
    """The same rotations (n, 4) with signs that do not jump from one to the next."""
    dots = (quaternions[1:] * quaternions[:-1]).sum(axis=1)
    signs = np.cumprod(np.concatenate([[1.0], np.where(dots < 0.0, -1.0, 1.0)]))
    out: Array = quaternions * signs[:, None]
    return out


def _u32(number: int) -> bytes:
    return number.to_bytes(4, "little")


GLB = Exporter(
    ".glb", "render meshes with morph animation", SURFACES - {"units", "up"},
    one_file(lambda job, file: _GlbWriter(job, file).write()), up="y", whole=True,
)  # fmt: skip
