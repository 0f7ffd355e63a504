"""A sweep on a Dask cluster whose workers are killed, beside the same sweep in one process.

Scheduler and workers are processes of their own on the loopback. Of 64 points one diverges and one runs out
of memory.
"""

import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.campaign import Sweep, sweep
from pliant.core.environment import environment
from pliant.core.tables import Table
from pliant.scene.override import Override
from pliant_benchmarks.many_runs.cluster import Cluster

SCENE = """
schema = 1
title = "Beam"
[time]
duration = 4.0
fps = 50
step = 0.001
integrator = "leapfrog"
refine = false
[[bodies]]
name = "beam"
shape = { box = { size = [1.0, 0.2, 0.2], divisions = [5, 1, 1] } }
model = "fem"
material = { young = "1 MPa", poisson = 0.3, density = 1000 }
[[actions]]
type = "gravity"
[[actions]]
type = "fix"
select = { body = "beam", plane = { axis = "x", at = "min" } }
[[measures]]
type = "probe"
name = "tip"
select = { body = "beam", plane = { axis = "x", at = "max" } }
what = "displacement"
"""
YOUNG = "bodies.beam.material.young"
PLANTED: tuple[Table, ...] = (
    {"time.step": 0.02, "time.duration": 20.0},  # diverges
    {"bodies.beam.shape.box.divisions": [220, 60, 60]},  # 4.8 million tets
)
MEMORY, PAUSE, WORKERS = 6e8, 20.0, 2


def data_of(folder: Path) -> dict[str, bytes]:
    """Files of a run that hold its frames, series, topology, scene and last checkpoint (when others were
    written depends on the clock)."""
    parts = ("frames", "series", "topology")
    files = [file for part in parts for file in (folder / part).rglob("*") if file.is_file()]
    files.append(max((folder / "checkpoints").iterdir(), key=lambda file: int(file.stem)))
    found = {str(file.relative_to(folder)): file.read_bytes() for file in files}
    return found | {"scene.toml": (folder / "scene.toml").read_bytes()}


def under_fire(
    scene: Path,
    place: Path,
    points: Sequence[Table],
    pause: float,
    memory_limit: float,
    workers: int = WORKERS,
) -> tuple[Sweep, Table]:
    """The sweep ``place`` of ``points`` on a cluster that loses a worker every ``pause`` seconds, and how
    many were killed, how many of those while they ran a point."""
    folder = place.with_suffix(".cluster")
    folder.mkdir()
    until, count = threading.Event(), {"killed": 0, "killed_at_work": 0}
    with Cluster(folder, WORKERS) as cluster:
        killer = threading.Thread(target=_kill, args=(cluster, pause, until, count, place))
        killer.start()
        try:
            study = sweep(
                scene, to=place, points=points, on=f"dask:{cluster.file}", progress=True,
                memory_limit=memory_limit,
            )  # fmt: skip
        finally:
            until.set()
            killer.join()
    if any(process.poll() is None for process in cluster.processes):
        raise AssertionError("processes of the cluster go on")
    return study, dict(count)


def _kill(cluster: Cluster, pause: float, until: threading.Event, count: Table, place: Path) -> None:
    """Kill a worker every ``pause`` seconds; on a machine where that is no time for a point, after the next
    one that has ended."""
    chance, known = random.Random(7), 0
    while not until.wait(pause):
        while (done := _ended(place)) <= known and not until.wait(0.2):
            pass
        if until.is_set():
            return
        known = done
        count["killed_at_work"] += cluster.kill(chance.randrange(len(cluster.workers)))
        count["killed"] += 1


def _ended(place: Path) -> int:
    """Points of the sweep that have ended."""
    tables = (place / "results.csv", place / "failures.csv")
    return sum(len(file.read_text().splitlines()) for file in tables if file.exists())


def beside_serial(study: Sweep, serial: Sweep) -> int:
    """How many run folders of ``study`` have the same bytes as those of ``serial``."""
    return sum(
        data_of(study.run(row["point"]).path) == data_of(serial.run(row["point"]).path)
        for row in study.results
    )


def computed_again(study: Sweep, on: str) -> int:
    """How many runs change when the sweep is continued."""
    files = [study.path / "runs" / row["run"] / "progress.json" for row in study.results]
    before = [file.stat().st_mtime_ns for file in files]
    sweep(study.path, on=on, progress=False)
    return sum(file.stat().st_mtime_ns != when for file, when in zip(files, before, strict=True))


def overhead(scene: Path, folder: Path, count: int = 6, rounds: int = 3) -> Table:
    """Seconds a point of a serial sweep and of ``pliant run`` alone, in turn, and the median difference.

    What a sweep does once is taken off: a sweep of two points (one of one point does not compile before).
    """
    changes = [Override("time.duration", 0.1, "--set")]
    differences, runs = [], []
    for number in range(rounds):
        values = [1e6 + 1e3 * (number * count + k) for k in range(count)]
        start = time.perf_counter()
        for k, young in enumerate(values):
            words = ["run", str(scene), "-o", str(folder / f"{number}-{k}.pliant"), "-q", "--threads", "1"]
            words += ["--set", "time.duration=0.1", "--set", f"{YOUNG}={young!r}"]
            subprocess.run([sys.executable, "-m", "pliant", *words], check=True, env=environment())
        plain = (time.perf_counter() - start) / count
        spans = []
        for part in (values, values[:2]):
            start = time.perf_counter()
            sweep(
                scene, {YOUNG: part}, folder / f"{number}-{len(part)}.sweep", on="local:1", threads=1,
                changes=changes, progress=False,
            )  # fmt: skip
            spans.append(time.perf_counter() - start)
        each = (spans[0] - spans[1]) / (count - 2)
        differences.append(each - plain)
        runs.append(plain)
    return {"plain_run": float(np.median(runs)), "more": float(np.median(differences)), "all": differences}


def cluster(folder: Path, good: int = 62, pause: float = PAUSE) -> Table:
    """All figures; the sweep is begun again where it was interrupted."""
    folder.mkdir(parents=True, exist_ok=True)
    scene = folder / "beam.toml"
    scene.write_text(SCENE)
    points: list[dict[str, Any]] = [{YOUNG: 1e6 + 1e4 * k} for k in range(good)]
    file = folder / "cluster.json"
    found: Table = json.loads(file.read_text()) if file.exists() else {}
    if "killed" not in found:
        study, count = under_fire(scene, folder / "dask.sweep", [*points, *PLANTED], pause, MEMORY)
        failed = [[row["point"], row["state"], row["reason"]] for row in study.failures]
        found |= {**count, "points": len(study.points), "done": len(study.results), "failures": failed}
        file.write_text(json.dumps(found))
    study = Sweep(folder / "dask.sweep")
    serial = sweep(scene, to=folder / "serial.sweep", points=points, on="local:1", progress=True)
    found["same_bytes_as_serial"] = beside_serial(study, serial)
    found["computed_again"] = computed_again(study, "dask:2")
    found["median_wall_of_a_point"] = float(np.median([row["wall"] for row in study.results]))
    if "overhead" not in found:
        found["overhead"] = overhead(scene, folder)
    file.write_text(json.dumps(found))
    return found
