"""What goes into USD files: arrays, samples over time, and layers saved and turned into text."""

import ctypes
import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from pliant.core.tables import Table
from pliant.core.typing import AnyArray
from pliant.exporters.job import Job
from pliant.exporters.prefetch import ahead
from pliant.mesh.mesh import Surface
from pliant.run.store import Frame

SHORT = 16_000_000  # bytes that are turned into text in a second or so
_AS_TEXT = """import sys
from pxr import Sdf

sys.exit(not Sdf.Layer.FindOrOpen(sys.argv[1]).Export(sys.argv[2]))
"""


def save(layer: Any) -> None:
    """Write what a layer has got since the last time; OSError where the disk does not take it."""
    with _refusals():
        layer.Save()


def write_text(binary: Path, text: Path) -> None:
    """A binary file as text.

    That is one call that does not listen: where it takes long, a process of its own makes it, which is ended
    when we are interrupted.
    """
    from pxr import Sdf

    if binary.stat().st_size < SHORT:
        with _refusals():
            Sdf.Layer.FindOrOpen(str(binary)).Export(str(text))
        return
    words = [sys.executable, "-c", _AS_TEXT, str(binary), str(text)]
    with subprocess.Popen(words, stderr=subprocess.PIPE) as process:
        try:
            _, said = process.communicate()
        finally:
            process.kill()
            process.wait()
    if process.returncode:
        raise _refusal(said.decode(errors="replace"))


@contextmanager
def _refusals() -> Iterator[None]:
    from pxr import Tf

    try:
        yield
    except Tf.ErrorException as error:
        raise _refusal(str(error)) from error


def _refusal(said: str) -> OSError:
    """What the system said, out of the words in which USD passes it on."""
    found = [number for number in errno.errorcode if os.strerror(number) in said]
    return OSError(found[0], os.strerror(found[0])) if found else OSError(errno.EIO, said.strip())


_BLOCK = 4096


def vectors(points: AnyArray) -> Any:
    """Vectors (n, 3) as a Vec3fArray."""
    from pxr import Vt

    if not _fills():
        return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(points, np.float32))
    array, numbers = _room(len(points))
    np.copyto(numbers, points, casting="same_kind")
    return array


def differences(to: AnyArray, start: AnyArray, factor: float) -> Any:
    """``factor * (to - start)`` as a Vec3fArray, by blocks that stay in the cache."""
    if not _fills():
        return vectors(factor * (to - start))
    array, numbers = _room(len(to))
    work = np.empty((min(_BLOCK, len(to)), 3))
    for first in range(0, len(to), _BLOCK):
        rows = slice(first, first + _BLOCK)
        part = np.subtract(to[rows], start[rows], out=work[: len(to[rows])])
        part *= factor
        numbers[rows] = part
    return array


def integers(numbers: AnyArray) -> Any:
    """Whole numbers of any shape, one after the other, as an IntArray."""
    from pxr import Vt

    return Vt.IntArray.FromNumpy(np.ascontiguousarray(numbers, np.int32).ravel())


def bounds(points: AnyArray) -> AnyArray:
    """The corners (2, 3) of the box around points (n, 3)."""
    row = 2048 if len(points) > 8192 else 64  # long rows: minima of three columns one by one are slow
    whole = len(points) // row * row
    rows = points[:whole].reshape(-1, 3 * row)
    ends = [points[whole:]]
    if whole:
        ends += [rows.min(axis=0).reshape(-1, 3), rows.max(axis=0).reshape(-1, 3)]
    columns = np.ascontiguousarray(np.concatenate(ends).T)
    return np.stack([columns.min(axis=1), columns.max(axis=1)])


def _room(count: int) -> tuple[Any, AnyArray]:
    """A new Vec3fArray and its memory, to be filled before anyone else has seen it: ``FromNumpy`` goes number
    by number, at a quarter of the speed."""
    from pxr import Vt

    array = Vt.Vec3fArray(count)
    if not count:
        return array, np.empty((0, 3), np.float32)
    memory: Any = (ctypes.c_float * (3 * count)).from_address(np.asarray(array).ctypes.data)
    return array, np.frombuffer(memory, np.float32).reshape(-1, 3)


@lru_cache(maxsize=1)
def _fills() -> bool:
    """Whether this USD hands out its arrays' own memory, as all have done so far."""
    array, numbers = _room(2)
    numbers[:] = probe = np.arange(6, dtype=np.float32).reshape(2, 3)
    return bool(np.array_equal(np.array(array), probe))


@dataclass
class UsdSamples:
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
        self.before: UsdSamples | None = None
        self.led: Table = {}  # velocities of the frame before

    def read(self, number: int) -> UsdSamples | None:
        """Read a frame; gives the one before, completed."""
        frame = self.job.frame(number)
        names = self.job.bodies_of(frame)
        surfaces = {name: frame.surface(name) for name in names}
        points = {name: vectors(surface.points) for name, surface in surfaces.items()}
        extents = {name: vectors(bounds(np.asarray(array))) for name, array in points.items()}
        now = UsdSamples(frame, surfaces, points, extents, {})
        for name in names:
            recorded = frame.surface_velocities(name)
            if recorded is not None:
                now.velocities[name] = vectors(recorded)
        return self.completed(now)

    def completed(self, now: UsdSamples | None) -> UsdSamples | None:
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


def each_sample(job: Job) -> Iterator[UsdSamples]:
    """The samples of all frames, made while others are written."""
    reader = _Reader(job)
    makers: list[Callable[[], UsdSamples | None]] = [partial(reader.read, number) for number in job.frames]
    makers.append(partial(reader.completed, None))
    for samples in ahead(makers):
        if samples is not None:
            yield samples
            job.tell()
