"""Points on a real Dask cluster of separate processes, whose workers are killed at random."""

import os
import random
import threading
import time
from pathlib import Path

import pytest
from cluster import Cluster
from test_sweep import data_of

from pliant.campaign import Sweep, sweep
from pliant.core.errors import InputError
from pliant.scene.override import Override

pytest.importorskip("distributed")
REFINE = [Override("time.refine", False, "--set")]


def killed(cluster: Cluster, pause: float, until: threading.Event, count: list[int]) -> None:
    """Kill a worker every ``pause`` seconds."""
    chance = random.Random(7)
    while not until.wait(pause):
        cluster.kill(chance.randrange(len(cluster.workers)))
        count.append(1)


def under_fire(beam: Path, points: dict[str, list[float]], workers: int, pause: float) -> tuple[Sweep, int]:
    """A sweep on a cluster that loses a worker every ``pause`` seconds; and how many it lost."""
    folder = beam.parent / "cluster"
    folder.mkdir()
    until, count = threading.Event(), list[int]()
    with Cluster(folder, workers) as cluster:
        killer = threading.Thread(target=killed, args=(cluster, pause, until, count))
        killer.start()
        try:
            place = f"dask:{cluster.address}"
            study = sweep(
                beam, points, beam.parent / "dask.sweep", on=place, changes=REFINE, progress=False,
                memory_limit=1.5e9, reduce=["tip.z:last"],
            )  # fmt: skip
        finally:
            until.set()
            killer.join()
    for process in (*cluster.workers, cluster._scheduler):
        assert process is not None
        assert process.poll() is not None
    return study, len(count)


def check(beam: Path, study: Sweep, points: dict[str, list[float]]) -> None:
    """All points as a serial sweep has them, and nothing is done twice."""
    serial = sweep(beam, points, beam.parent / "serial.sweep", on="local:2", changes=REFINE, progress=False)
    assert [row["run"] for row in study.results] == [row["run"] for row in serial.results]
    for row in study.results:
        assert data_of(study.run(row["point"]).path) == data_of(serial.run(row["point"]).path)
    names = [study.path / "runs" / row["run"] / "progress.json" for row in study.results]
    before = [name.stat().st_mtime_ns for name in names]
    sweep(study.path, on="dask:2", progress=False)
    assert [name.stat().st_mtime_ns for name in names] == before


def test_workers_that_die_lose_nothing(beam: Path) -> None:
    points = {"bodies.beam.material.young": [1e6 + 1e5 * k for k in range(3)], "time.duration": [6.0]}
    study, lost = under_fire(beam, points, workers=2, pause=9.0)
    assert lost > 0
    assert study.failures == []
    assert len(study.results) == 3
    check(beam, study, points)


@pytest.mark.slow
def test_sixty_four_points_under_fire(beam: Path) -> None:
    """62 good points, one that diverges and one that runs out of memory; a worker dies every 20 s."""
    points: list[dict[str, object]] = [{"bodies.beam.material.young": 1e6 + 1e4 * k} for k in range(62)]
    points += [{"time.step": 0.02, "time.duration": 20.0}]
    points += [{"bodies.beam.shape.box.divisions": [220, 60, 60]}]
    folder = beam.parent / "cluster"
    folder.mkdir()
    beam.write_text(beam.read_text().replace("duration = 0.1", "duration = 6.0"))
    until, count = threading.Event(), list[int]()
    with Cluster(folder, 2) as cluster:
        killer = threading.Thread(target=killed, args=(cluster, 20.0, until, count))
        killer.start()
        try:
            study = sweep(
                beam, to=beam.parent / "dask.sweep", points=points, on=f"dask:{cluster.file}", changes=REFINE,
                progress=True, memory_limit=6e8,
            )  # fmt: skip
        finally:
            until.set()
            killer.join()
    assert len(count) > 3
    assert [row["point"] for row in study.results] == list(range(1, 63))
    assert [(row["point"], row["state"]) for row in study.failures] == [
        (63, "diverged"),
        (64, "memory limit"),
    ]
    good = {"bodies.beam.material.young": [1e6 + 1e4 * k for k in range(62)]}
    check(beam, study, good)


@pytest.mark.slow
def test_the_cost_of_a_point_beside_its_run(beam: Path) -> None:
    """Seconds a point beyond the child's own: two slots at most share what the machine has."""
    import subprocess
    import sys

    values = {"bodies.beam.material.young": [1e6 + 1e5 * k for k in range(8)]}
    sweep(beam, {"time.duration": [0.08]}, beam.parent / "warm.sweep", progress=False)
    start = time.perf_counter()
    for number, young in enumerate(values["bodies.beam.material.young"]):
        out = beam.parent / f"{number}.pliant"
        words = [
            "run",
            str(beam),
            "-o",
            str(out),
            "-q",
            "--threads",
            "1",
            "--set",
            f"bodies.beam.material.young={young}",
        ]
        subprocess.run(
            [sys.executable, "-m", "pliant", *words], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
        )
    plain = time.perf_counter() - start
    start = time.perf_counter()
    sweep(beam, values, beam.parent / "s.sweep", on="local:1", threads=1, progress=False)
    through = time.perf_counter() - start
    print(f"plain {plain / 8:.3f} s a point, sweep {through / 8:.3f} s")
    assert (through - plain) / 8 < 0.3 + 3.0 / 8  # kernels are looked at once before the points start


def test_no_scheduler_is_an_error(beam: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pliant.campaign.executors import dask_cluster

    monkeypatch.setattr(dask_cluster, "PATIENCE", 0.5)
    with pytest.raises(InputError, match="no scheduler"):
        sweep(beam, {"time.duration": [0.04]}, beam.parent / "s.sweep", on="dask:tcp://127.0.0.1:9")
    with pytest.raises(InputError, match="neither"):
        sweep(beam, {"time.duration": [0.04]}, beam.parent / "s.sweep", on="dask:nowhere.json")
