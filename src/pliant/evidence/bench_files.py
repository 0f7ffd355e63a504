"""Benchmarks of files and pictures: beside what this disk takes when the same bytes are simply written."""

import os
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from pliant.evidence.bench import Figure, bench
from pliant.extras import available
from pliant.mesh.shapes import box
from pliant.recording import BodyRecord, Run, RunWriter, load
from pliant.scene import Body, Scene

MATERIAL = {"young": 1e5, "poisson": 0.3, "density": 1000.0}
FPS = 50.0


@contextmanager
def waving_sheet(divisions: tuple[int, int, int], frames: int) -> Iterator[tuple[Run, Path]]:
    """A run of a sheet that waves, written without simulating, and a folder beside it."""
    size = (1.0, divisions[1] / divisions[0], 1.0 / divisions[0])
    part = (
        Scene([Body(box(*size, divisions=divisions), material=MATERIAL)]).simulation().system.world.parts[0]
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


def plain_seconds(folder: Path, size: int) -> float:
    """Seconds that the disk takes for ``size`` bytes written one after the other, the better of two tries."""
    block, path = np.random.default_rng(0).bytes(1 << 20), folder / "plain"
    best = float("inf")
    for _ in range(2):
        start = time.perf_counter()
        with path.open("wb") as file:
            for _ in range(max(1, size >> 20)):
                file.write(block)
            _on_disk(file.fileno())
        best = min(best, time.perf_counter() - start)
        path.unlink()
    return best


def _on_disk(number: int) -> None:
    os.fsync(number)


def memory() -> float:
    """The largest memory of this process so far [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def exported(name: str, suffix: str, goal: float, frames: int = 1000, **options: object) -> list[Figure]:
    """Speed of an export of frames with 20 200 vertices, as a share of the disk's plain write speed."""
    with waving_sheet((100, 99, 1), frames) as (run, folder):
        out = folder / f"out{suffix}"
        run.export(out, frames=slice(0, 4), **options)  # loads what it needs
        best, grown = float("inf"), 0.0
        for _ in range(2):
            out.unlink()
            before = memory()
            start = time.perf_counter()
            run.export(out, **options)
            with out.open("rb") as file:
                _on_disk(file.fileno())
            best = min(best, time.perf_counter() - start)
            grown = max(grown, memory() - before)
        size = out.stat().st_size
        out.unlink()
        share = plain_seconds(folder, size) / best
    note = f"{frames} frames of 20200 vertices; {share:.0%} of plain writing; memory grew by {grown:.0f} MB"
    return [Figure(name, size / best / 1e6, "MB/s", None, share / goal, share, note)]


@bench("files/vtkhdf")
def vtkhdf() -> list[Figure]:
    """VTKHDF with displacements; the goal is 60 % of plain writing."""
    return exported("files/vtkhdf", ".vtkhdf", 0.6, fields=("displacement",)) if available("h5py") else []


@bench("files/usd")
def usd() -> list[Figure]:
    """USD with points and velocities; the goal is 30 % of plain writing."""
    return exported("files/usd", ".usd", 0.3) if available("pxr") else []


@bench("files/obj")
def obj() -> list[Figure]:
    """OBJ text with normals; the goal is 20 MB/s."""
    with waving_sheet((100, 99, 1), 40) as (run, folder):
        start = time.perf_counter()
        files = run.export(folder / "f_%04d.obj")
        seconds = time.perf_counter() - start
        speed = sum(path.stat().st_size for path in files) / seconds / 1e6
    return [Figure("files/obj", speed, "MB/s", 20.0, speed / 20.0, None, "40 frames of 20200 vertices")]


@bench("pictures/processes")
def processes() -> list[Figure]:
    """A movie drawn by one process of one thread and by two; the ratio counts against perfect halving."""
    if not available("pyvista", "imageio_ffmpeg", "matplotlib", "PIL") or (os.cpu_count() or 1) < 2:
        return []
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
    return [Figure("pictures/processes", gain, "times faster", 2.0, gain / 2.0, None, note)]
