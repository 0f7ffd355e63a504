"""PLY, binary: surfaces with smooth normals. Each vertex has the number and colour of its body, and a radius
that makes it a surfel: a disc across its normal."""

from typing import BinaryIO

import numpy as np

from pliant.exporters.job import SURFACES, Exporter, Job, Piece, per_frame
from pliant.exporters.surfaces import surfels
from pliant.run.store import Frame

_VERTEX = np.dtype(
    [("xyz", "<f8", 3), ("normal", "<f4", 3), ("rgb", "u1", 3), ("body", "<i4"), ("radius", "<f4")]
)
_FACE = np.dtype([("count", "u1"), ("corners", "<i4", 3)])
_HEADER = """ply
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


def _plan(job: Job) -> list[Piece]:
    from pliant.render.render_options import BODY_COLOURS

    def write(frame: Frame, file: BinaryIO) -> None:
        names = job.bodies_of(frame)
        vertices, faces = [np.empty(0, _VERTEX)], [np.empty(0, _FACE)]
        start = 0
        for number, name in enumerate(names):
            surface = frame.surface(name)
            vertex = np.empty(len(surface.points), _VERTEX)
            vertex["xyz"] = surface.points
            _, vertex["normal"], vertex["radius"] = surfels(surface)
            vertex["rgb"] = list(bytes.fromhex(BODY_COLOURS[number % len(BODY_COLOURS)].lstrip("#")))
            vertex["body"] = number
            face = np.empty(len(surface.triangles), _FACE)
            face["count"], face["corners"] = 3, surface.triangles + start
            vertices.append(vertex)
            faces.append(face)
            start += len(vertex)
        vertex, face = np.concatenate(vertices), np.concatenate(faces)
        plain = ", ".join(name.encode("ascii", "replace").decode().replace("\n", " ") for name in names)
        header = _HEADER.format(
            index=frame.index, time=frame.time, names=plain, vertices=len(vertex), faces=len(face)
        )
        file.write(header.encode("ascii"))
        file.write(vertex.tobytes())
        file.write(face.tobytes())

    return per_frame(job, write)


PLY = Exporter(".ply", "surfaces with normals, a file per frame", SURFACES | {"start"}, _plan)
