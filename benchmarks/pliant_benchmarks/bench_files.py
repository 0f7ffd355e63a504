"""Benchmarks of files and pictures: beside what this disk takes when the same bytes are simply written."""

import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from pliant.core.environment import need
from pliant.mesh.shapes import box
from pliant.run.store import BodyRecord, Run, RunWriter, load
from pliant.scene import Body, Scene
from pliant_benchmarks.bench import BenchResult, bench

MATERIAL = {"young": 1e5, "poisson": 0.3, "density": 1000.0}
FPS = 50.0


@contextmanager
def waving_sheet(divisions: tuple[int, int, int], frames: int) -> Iterator[tuple[Run, Path]]:
    """A run of a sheet that waves, written without simulating, and a folder beside it."""
    size = (1.0, divisions[1] / divisions[0], 1.0 / divisions[0])
    part = (
        Scene([Body(box(*size, divisions=divisions), material=MATERIAL)]).simulation().system.world.bodies[0]
    )
    rest = part.structure.rest
    count = len(rest)
    table = {
        "name": "sheet",
        "model": "mass-spring",
        "particles": count,
        "cells": 0,
        "mass": 1.0,
        "volume": 1.0,
    }
    about = {"fps": FPS, "duration": frames / FPS, "step": 1e-2, "step_reason": "given", "seed": 0}
    with tempfile.TemporaryDirectory(prefix="pliant-bench-") as place:
        folder = Path(place)
        writer = RunWriter.create(
            folder / "sheet.pliant", manifest=about | {"bodies": [table]}, scene="schema = 1\n",
            columns=("time",), step_columns=(), frames_total=frames, steps_per_frame=1,
        )  # fmt: skip
        record = BodyRecord("sheet", (0, count), {"type": "mass-spring"}, MATERIAL, part.structure)
        writer.write_topology(0, [record], 0)
        for frame in range(frames):
            x = rest.copy()
            x[:, 2] += 0.1 * np.sin(10.0 * x[:, 0] + 0.05 * frame) * np.cos(7.0 * x[:, 1])
            writer.write_frame(frame, 0, {"positions": x}, [frame / FPS], np.zeros((1, 0)))
        writer.finish("done")
        yield load(writer.path), folder


def plain_seconds(folder: Path, size: int) -> tuple[float, float]:
    """Seconds for ``size`` bytes that are simply written, in the quickest of a few sizes of blocks: until the
    system has taken them, and until they are on the disk."""
    best = (float("inf"), float("inf"))
    for bits in (17, 19, 20):
        block = np.random.default_rng(0).bytes(1 << bits)

        def write(path: Path, block: bytes = block) -> None:
            with path.open("wb", buffering=0) as file:
                for _ in range(size // len(block)):
                    file.write(block)

        best = quicker(best, timed(folder / "plain", write))
    return best


def timed(path: Path, write: Callable[[Path], object]) -> tuple[float, float]:
    """Seconds in which ``write`` makes a file: until it has, and until the file is on the disk."""
    path.unlink(missing_ok=True)
    start = time.perf_counter()
    write(path)
    taken = time.perf_counter() - start
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return taken, time.perf_counter() - start


def quicker(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    """The smaller of either."""
    return min(a[0], b[0]), min(a[1], b[1])


def memory() -> float:
    """The largest memory of this process so far [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def exported(name: str, suffix: str, goal: float, frames: int = 1000, **options: object) -> list[BenchResult]:
    """Speed of an export of frames with 20 200 vertices, as a share of the disk's plain write speed.

    Both count until the bytes are on the disk; the second figure, until the system has taken them. They take
    turns, the best of three tries each: a file of the size that was just removed is written quicker.
    """
    with waving_sheet((100, 99, 1), frames) as (run, folder):
        out = folder / f"out{suffix}"
        run.export(out, frames=slice(0, 4), **options)  # loads what it needs
        best = plain = (float("inf"), float("inf"))
        before, size = memory(), 0
        for _ in range(3):
            best = quicker(best, timed(out, lambda path: run.export(path, **options)))
            size = out.stat().st_size
            out.unlink()
            plain = quicker(plain, plain_seconds(folder, size))
        grown = memory() - before
    figures = []
    for what, kind, ours, theirs in zip(("/taken", ""), ("taken", "on the disk"), best, plain, strict=True):
        note = f"{frames} frames of 20200 vertices; {theirs / ours:.0%} of plain writing, until {kind}"
        note += f"; memory grew by {grown:.0f} MB" * (not what)
        share = theirs / ours
        figures.append(BenchResult(name + what, size / ours / 1e6, "MB/s", None, share / goal, share, note))
    return figures[::-1]


@bench("files/vtkhdf")
def vtkhdf() -> list[BenchResult]:
    """VTKHDF with displacements; the goal is 60 % of plain writing."""
    need("VTKHDF", "h5py")
    return exported("files/vtkhdf", ".vtkhdf", 0.6, fields=("displacement",))


@bench("files/usd")
def usd() -> list[BenchResult]:
    """USD with points and velocities; the goal is 30 % of plain writing."""
    need("USD", "pxr", extra="usd")
    return exported("files/usd", ".usd", 0.3)


@bench("files/obj")
def obj() -> list[BenchResult]:
    """OBJ text with normals; the goal is 20 MB/s."""
    with waving_sheet((100, 99, 1), 40) as (run, folder):
        start = time.perf_counter()
        files = run.export(folder / "f_%04d.obj")
        seconds = time.perf_counter() - start
        speed = sum(path.stat().st_size for path in files) / seconds / 1e6
    return [BenchResult("files/obj", speed, "MB/s", 20.0, speed / 20.0, None, "40 frames of 20200 vertices")]


@bench("pictures/processes")
def processes() -> list[BenchResult]:
    """A movie drawn by one process of one thread and by two; the ratio counts against perfect halving."""
    need("Drawing movies", "pyvista", "imageio_ffmpeg", "matplotlib", "PIL")
    with waving_sheet((60, 60, 1), 48) as (run, folder):
        seconds = []
        before = os.environ.get("LP_NUM_THREADS")
        os.environ["LP_NUM_THREADS"] = "1"  # software drawing by one process would take all cores as well
        try:
            for workers in (1, 2):
                start = time.perf_counter()
                run.render(folder / f"{workers}.mp4", size="640x400", ground=-0.5, workers=workers)
                seconds.append(time.perf_counter() - start)
        finally:
            os.environ.pop("LP_NUM_THREADS")
            if before is not None:
                os.environ["LP_NUM_THREADS"] = before
    gain = seconds[0] / seconds[1]
    note = f"48 pictures of 640x400: {seconds[0]:.1f} s by one process, {seconds[1]:.1f} s by two"
    return [BenchResult("pictures/processes", gain, "times faster", 2.0, gain / 2.0, None, note)]
