"""Wavefront OBJ: surfaces with texture coordinates, smooth normals and groups."""

from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from pliant.core.typing import AnyArray, IntArray
from pliant.exporters.job import SURFACES, Exporter, Job, Piece, per_frame
from pliant.exporters.surfaces import vertex_normals
from pliant.mesh.mesh import Surface
from pliant.run.store import Frame


def _plan(job: Job) -> list[Piece]:
    constant: dict[tuple[int, str], tuple[bytes, bytes]] = {}  # the text that frames of a version share

    def write(frame: Frame, file: BinaryIO) -> None:
        file.write(f"# frame {frame.index}, {frame.time:.9g} s\n".encode())
        points = texture = 0
        for name in job.bodies_of(frame):
            surface = frame.surface(name)
            key = (frame.version, name)
            if key not in constant:
                constant[key] = _texture(surface), _faces(surface, name, points, texture)
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


def _texture(surface: Surface) -> bytes:
    return b"" if surface.uv is None else _lines("vt %.9g %.9g\n", surface.uv)


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


def _word(name: Any) -> str:
    """A name without blanks, which separate words in OBJ files."""
    return "_".join(str(name).split()) or "unnamed"


OBJ = Exporter(
    ".obj",
    "surfaces with UVs, normals and groups, a file per frame",
    SURFACES | {"start"},
    _plan,
)
