"""Surfaces frame by frame: OBJ, PLY, STL, and the vertex caches PC2 and MDD; ``.str`` structures.

Vertex caches hold positions in single precision; points come in the order of an OBJ file of one frame, with
the same bodies, units and axes. In PLY files each vertex has the number and colour of its body, and a radius
that makes it a surfel: a disc across its normal.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pliant.core.errors import InputError
from pliant.core.typing import AnyArray, Array, IntArray
from pliant.exporters.job import SURFACES, Exporter, Job, Piece, one_file, per_frame
from pliant.mesh.io.surfaces import write_stl
from pliant.mesh.io.volumes import write_str
from pliant.mesh.mesh import Surface, TetMesh
from pliant.mesh.triangles import double_areas
from pliant.run.store import Frame

OVERLAP = 1.15  # radius of a disc over that of a circle with its share of the surface


def vertex_normals(points: Array, triangles: IntArray) -> Array:
    """Smooth unit normals (n, 3): triangle normals, by area; zero where no triangle has one."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    face = np.cross(b - a, c - a)
    total = np.empty_like(points)
    flat = triangles.ravel()
    for axis in range(3):
        total[:, axis] = np.bincount(flat, np.repeat(face[:, axis], 3), len(points))
    length = np.linalg.norm(total, axis=1, keepdims=True)
    normals: Array = np.divide(total, length, out=np.zeros_like(total), where=length > 0)
    return normals


def surfels(surface: Surface) -> tuple[Array, Array, Array]:
    """A disc per surface point: centres (n, 3), unit normals (n, 3), radii (n,) [m].

    A point's share of the surface is a third of its triangles; the disc is a little larger than a circle
    of that area, so that there are no gaps.
    """
    points, triangles = surface.points, surface.triangles
    area = 0.5 * double_areas(points, triangles)
    share = np.bincount(triangles.ravel(), np.repeat(area / 3.0, 3), len(points))
    return points, vertex_normals(points, triangles), OVERLAP * np.sqrt(share / np.pi)


def joined(frame: Frame, bodies: Sequence[str]) -> Surface:
    """The shown surfaces of the named bodies as one, in their order, without texture coordinates."""
    surfaces = [frame.surface(name) for name in bodies]
    starts = np.cumsum([0, *(len(surface.points) for surface in surfaces)])
    points = [surface.points for surface in surfaces]
    triangles = [surface.triangles + start for surface, start in zip(surfaces, starts, strict=False)]
    return Surface(np.concatenate(points), np.concatenate(triangles))


def one_version(job: Job, what: str) -> None:
    """InputError where the topology changes between the frames asked for."""
    versions = job.versions()
    if len(versions) > 1:
        change = list(versions.values())[1][0]
        raise InputError(
            f"The topology changes at frame {change}, and {what} hold one topology.",
            hint=f"Export the parts: --frames 0:{change} and --frames {change}:",
        )


def _obj(job: Job) -> list[Piece]:
    constant: dict[tuple[int, str], tuple[bytes, bytes]] = {}  # the text that frames of a version share

    def write(frame: Frame, file: BinaryIO) -> None:
        file.write(f"# frame {frame.index}, {frame.time:.9g} s\n".encode())
        points = texture = 0
        for name in job.bodies_of(frame):
            surface = frame.surface(name)
            key = (frame.version, name)
            if key not in constant:
                coordinates = b"" if surface.uv is None else _lines("vt %.9g %.9g\n", surface.uv)
                constant[key] = coordinates, _faces(surface, name, points, texture)
            before, after = constant[key]
            file.write(f"o {_word(name)}\n".encode())
            file.write(_lines("v %.9g %.9g %.9g\n", surface.points))
            file.write(before)
            file.write(_lines("vn %.5f %.5f %.5f\n", vertex_normals(surface.points, surface.triangles)))
            file.write(after)
            points += len(surface.points)
            texture += 0 if surface.uv is None else len(surface.uv)

    return per_frame(job, write)


def _lines(form: str, rows: AnyArray) -> bytes:
    """One line per row."""
    return ((form * len(rows)) % tuple(rows.ravel().tolist())).encode()


def _faces(surface: Surface, body: str, points: int, texture: int) -> bytes:
    """Groups and faces, in the order of the triangles; counts start after earlier bodies."""
    corners: IntArray = surface.triangles + (1 + points)
    if surface.uv is None or surface.uv_triangles is None:
        form = "f %d//%d %d//%d %d//%d\n"
        rows = np.stack([corners, corners], axis=2)
    else:
        form = "f %d/%d/%d %d/%d/%d %d/%d/%d\n"
        rows = np.stack([corners, surface.uv_triangles + (1 + texture), corners], axis=2)
    names, kind = _groups(surface.groups, len(corners), body)
    starts = np.flatnonzero(np.diff(kind, prepend=-1))
    text = [b"s 1\n"]
    for start, stop in zip(starts, [*starts[1:], len(corners)], strict=True):
        text += [f"g {names[kind[start]]}\n".encode(), _lines(form, rows[start:stop])]
    return b"".join(text)


def _groups(groups: Mapping[str, IntArray], count: int, body: str) -> tuple[dict[int, str], IntArray]:
    """The group names that go with each triangle: a number per triangle, and the names of each number."""
    sets: list[tuple[str, ...]] = [()] * count
    for name, triangles in groups.items():
        for triangle in triangles:
            sets[triangle] = (*sets[triangle], _word(name))
    numbers: dict[tuple[str, ...], int] = {}
    kind = np.array([numbers.setdefault(names, len(numbers)) for names in sets], np.int64)
    return {number: " ".join(names) or _word(body) for names, number in numbers.items()}, kind


def _word(name: str) -> str:
    """A name without blanks, which separate words in OBJ files."""
    return "_".join(name.split()) or "unnamed"


OBJ = Exporter(".obj", "surfaces with UVs, normals and groups, a file per frame", SURFACES | {"start"}, _obj)


_VERTEX = np.dtype(
    [("xyz", "<f8", 3), ("normal", "<f4", 3), ("rgb", "u1", 3), ("body", "<i4"), ("radius", "<f4")]
)
_FACE = np.dtype([("count", "u1"), ("corners", "<i4", 3)])
_PLY_HEADER = """ply
format binary_little_endian 1.0
comment frame {index}, {time:.9g} s; bodies: {names}
element vertex {vertices}
property double x
property double y
property double z
property float nx
property float ny
property float nz
property uchar red
property uchar green
property uchar blue
property int body
property float radius
element face {faces}
property list uchar int vertex_indices
end_header
"""


def _ply(job: Job) -> list[Piece]:
    from pliant.render.render_options import body_rgb

    def write(frame: Frame, file: BinaryIO) -> None:
        names = job.bodies_of(frame)
        vertices, faces = [np.empty(0, _VERTEX)], [np.empty(0, _FACE)]
        start = 0
        for number, name in enumerate(names):
            surface = frame.surface(name)
            vertex = np.empty(len(surface.points), _VERTEX)
            vertex["xyz"] = surface.points
            _, vertex["normal"], vertex["radius"] = surfels(surface)
            vertex["rgb"] = body_rgb(number)
            vertex["body"] = number
            face = np.empty(len(surface.triangles), _FACE)
            face["count"], face["corners"] = 3, surface.triangles + start
            vertices.append(vertex)
            faces.append(face)
            start += len(vertex)
        vertex, face = np.concatenate(vertices), np.concatenate(faces)
        plain = ", ".join(name.encode("ascii", "replace").decode().replace("\n", " ") for name in names)
        header = _PLY_HEADER.format(
            index=frame.index, time=frame.time, names=plain, vertices=len(vertex), faces=len(face)
        )
        file.write(header.encode("ascii"))
        file.write(vertex.tobytes())
        file.write(face.tobytes())

    return per_frame(job, write)


PLY = Exporter(".ply", "surfaces with normals, a file per frame", SURFACES | {"start"}, _ply)


def _stl(job: Job) -> list[Piece]:
    def write(frame: Frame, file: BinaryIO) -> None:
        write_stl(Path(file.name), joined(frame, job.bodies_of(frame)))

    return per_frame(job, write)


def _str(job: Job) -> list[Piece]:
    def write(frame: Frame, file: BinaryIO) -> None:
        points, tets, start = [], [], 0
        for name in job.bodies_of(frame):
            cells = frame.record(name).structure.cells.get("tetra")
            if cells is None or not len(cells):
                raise InputError(f"Body '{name}' is not made of tetrahedra, as .str files are.")
            points.append(frame.body(name))
            tets.append(cells.astype(np.int64) + start)
            start += len(points[-1])
        write_str(Path(file.name), TetMesh(np.concatenate(points), np.concatenate(tets)))

    return per_frame(job, write)


STL = Exporter(".stl", "render meshes for 3D printing, one file per frame", SURFACES | {"start"}, _stl)
STR = Exporter(".str", "particles and tetrahedra, a file per frame", SURFACES | {"start"}, _str)


def _vertex_cache(suffix: str, form: str, head: Callable[[Job, int], bytes]) -> Exporter:
    """A file that begins with ``head`` of the job and its number of points; ``form``: of the positions."""

    def write(job: Job, file: BinaryIO) -> None:
        first = job.run.frames[job.frames[0]]
        file.write(head(job, sum(len(first.surface(name).points) for name in job.bodies_of(first))))
        for frame in job.each():
            file.write(joined(frame, job.bodies_of(frame)).points.astype(form).tobytes())

    def plan(job: Job) -> list[Piece]:
        one_version(job, "vertex caches")
        return one_file(write)(job)

    return Exporter(suffix, "a vertex cache of the render meshes", SURFACES, plan, whole=True)


def _pc2_head(job: Job, points: int) -> bytes:
    """Little-endian, with the first frame's number and the frames from one to the next."""
    apart = (job.frames[-1] - job.frames[0]) / max(len(job.frames) - 1, 1) or 1.0
    return b"POINTCACHE2\0" + struct.pack("<iiffi", 1, points, job.frames[0], apart, len(job.frames))


def _mdd_head(job: Job, points: int) -> bytes:
    """Big-endian, with the time of each frame [s]."""
    times = np.array(job.frames) / float(job.run.manifest["fps"])
    return struct.pack(">ii", len(job.frames), points) + times.astype(">f4").tobytes()


PC2 = _vertex_cache(".pc2", "<f4", _pc2_head)
MDD = _vertex_cache(".mdd", ">f4", _mdd_head)
