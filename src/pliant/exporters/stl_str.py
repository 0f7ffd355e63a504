"""Files of one frame: STL for printing, ``.str`` structures; several frames as a numbered sequence."""

from pathlib import Path
from typing import BinaryIO

import numpy as np

from pliant.core.errors import InputError
from pliant.exporters.job import SURFACES, Exporter, Job, Piece, per_frame
from pliant.exporters.surfaces import joined
from pliant.mesh.io.stl import write_stl
from pliant.mesh.io.str_files import write_str
from pliant.mesh.mesh import TetMesh
from pliant.run.store import Frame


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


STL = Exporter(".stl", "shown surfaces for printing, a file per frame", SURFACES | {"start"}, _stl)
STR = Exporter(".str", "particles and tetrahedra, a file per frame", SURFACES | {"start"}, _str)
