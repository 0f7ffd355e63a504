"""Vertex caches, PC2 and MDD: positions of the shown surfaces frame by frame, single precision.

Points come in the order of an OBJ file of one frame, with the same bodies, units and axes.
"""

import struct
from typing import BinaryIO

import numpy as np

from pliant.exporters.job import SURFACES, Exporter, Job, Piece
from pliant.exporters.surfaces import joined, one_version
from pliant.run.store import Frame


def _points(job: Job, frame: Frame, form: str) -> bytes:
    return joined(frame, job.bodies_of(frame)).points.astype(form).tobytes()


def _count(job: Job) -> int:
    frame = job.run.frames[job.frames[0]]
    return sum(len(frame.surface(name).points) for name in job.bodies_of(frame))


def _pc2(job: Job, file: BinaryIO) -> None:
    """Little-endian; the header has the first frame's number and the frames from one to the next."""
    apart = (job.frames[-1] - job.frames[0]) / max(len(job.frames) - 1, 1) or 1.0
    file.write(
        b"POINTCACHE2\0" + struct.pack("<iiffi", 1, _count(job), job.frames[0], apart, len(job.frames))
    )
    for frame in job.each():
        file.write(_points(job, frame, "<f4"))


def _mdd(job: Job, file: BinaryIO) -> None:
    """Big-endian; the header has the time of each frame [s]."""
    times = np.array(job.frames) / float(job.run.manifest["fps"])
    file.write(struct.pack(">ii", len(job.frames), _count(job)) + times.astype(">f4").tobytes())
    for frame in job.each():
        file.write(_points(job, frame, ">f4"))


def _plan_pc2(job: Job) -> list[Piece]:
    one_version(job, "vertex caches")
    return [(job.out, lambda file: _pc2(job, file))]


def _plan_mdd(job: Job) -> list[Piece]:
    one_version(job, "vertex caches")
    return [(job.out, lambda file: _mdd(job, file))]


PC2 = Exporter(".pc2", "a vertex cache of the shown surfaces", SURFACES, _plan_pc2, whole=True)
MDD = Exporter(".mdd", "a vertex cache of the shown surfaces", SURFACES, _plan_mdd, whole=True)
