"""What changes from frame to frame in a USD file, made while others are written."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from pliant.core.typing import Table
from pliant.exporters.job import Job
from pliant.exporters.prefetch import ahead
from pliant.exporters.usd_arrays import bounds, differences, vectors
from pliant.mesh.mesh import Surface
from pliant.run.store import Frame


@dataclass
class Samples:
    """What changes with a frame: by body its surface and, in single precision, points and velocities."""

    frame: Frame
    surfaces: dict[str, Surface]
    points: Table
    extents: Table
    velocities: Table

    @property
    def size(self) -> int:
        return sum(24 * len(points) for points in self.points.values())


class _Reader:
    """Makes the samples of frame after frame; those of a frame are complete when the next one is known."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.before: Samples | None = None
        self.led: Table = {}  # velocities of the frame before

    def read(self, number: int) -> Samples | None:
        """Read a frame; gives the one before, completed."""
        frame = self.job.frame(number)
        names = self.job.bodies_of(frame)
        surfaces = {name: frame.surface(name) for name in names}
        points = {name: vectors(surface.points) for name, surface in surfaces.items()}
        extents = {name: vectors(bounds(np.asarray(array))) for name, array in points.items()}
        now = Samples(frame, surfaces, points, extents, {})
        for name in names:
            recorded = frame.surface_velocities(name)
            if recorded is not None:
                now.velocities[name] = vectors(recorded)
        return self._completed(now)

    def rest(self) -> Samples | None:
        """The last frame."""
        return self._completed(None)

    def _completed(self, now: Samples | None) -> Samples | None:
        """Velocities that were not recorded lead to the next frame, at the end those that led here stay."""
        before, self.before = self.before, now
        if before is None:
            return None
        follows = now is not None and now.frame.version == before.frame.version
        for name, surface in before.surfaces.items():
            if name in before.velocities:
                continue
            if now is not None and follows:
                apart = now.frame.time - before.frame.time
                self.led[name] = differences(now.surfaces[name].points, surface.points, 1.0 / apart)
            led = self.led.get(name)
            known = led is not None and len(led) == len(surface.points)
            before.velocities[name] = led if known else vectors(np.zeros_like(surface.points))
        return before


def each(job: Job) -> Iterator[Samples]:
    """The samples of all frames, made while others are written."""
    reader = _Reader(job)
    makers: list[Callable[[], Samples | None]] = [partial(reader.read, number) for number in job.frames]
    makers.append(reader.rest)
    for samples in ahead(makers):
        if samples is not None:
            yield samples
            job.tell()
