"""Points on a real Dask cluster of separate processes, whose workers are killed at random."""

import os
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from cluster import Cluster
from test_sweep import data_of

from pliant.campaign import Sweep, sweep
from pliant.core.errors import InputError
from pliant.scene.override import Override

pytest.importorskip("distributed")
REFINE = [Override("time.refine", False, "--set")]


def killed(cluster: Cluster, pause: float, until: threading.Event, count: list[int], place: Path) -> None:
    """Kill a worker every ``pause`` seconds; on a machine where that is no time for a point, after the next
    one that is done."""
    chance, known = random.Random(7), 0
    while not until.wait(pause):
        while (done := ended(place)) <= known and not until.wait(0.2):
            pass
        known = done
        cluster.kill(chance.randrange(len(cluster.workers)))
        count.append(1)


def ended(place: Path) -> int:
    """Points of the sweep that have ended."""
    tables = (place / "results.csv", place / "failures.csv")
    return sum(len(file.read_text().splitlines()) for file in tables if file.exists())


def under_fire(
    beam: Path, points: list[dict[str, Any]], workers: int, pause: float, memory_limit: float
) -> tuple[Sweep, int]:
    """A sweep on a cluster that loses a worker every ``pause`` seconds; and how many it lost."""
    folder, place = beam.parent / "cluster", beam.parent / "dask.sweep"
    folder.mkdir()
    until, count = threading.Event(), list[int]()
    with Cluster(folder, workers) as cluster:
        killer = threading.Thread(target=killed, args=(cluster, pause, until, count, place))
        killer.start()
        try:
            study = sweep(
                beam, to=place, points=points, on=f"dask:{cluster.file}", changes=REFINE, progress=True,
                memory_limit=memory_limit,
            )  # fmt: skip
        finally:
            until.set()
            killer.join()
    for process in (*cluster.workers, cluster._scheduler):
        assert process is not None
        assert process.poll() is not None
    return study, len(count)


def check(beam: Path, study: Sweep, points: list[dict[str, Any]]) -> None:
    """All points as a serial sweep has them, and nothing is done twice."""
    place = beam.parent / "serial.sweep"
    serial = sweep(beam, to=place, points=points, on="local:1", changes=REFINE, progress=True)
    assert [row["run"] for row in study.results] == [row["run"] for row in serial.results]
    for row in study.results:
        assert data_of(study.run(row["point"]).path) == data_of(serial.run(row["point"]).path)
    names = [study.path / "runs" / row["run"] / "progress.json" for row in study.results]
    before = [name.stat().st_mtime_ns for name in names]
    sweep(study.path, on="dask:2", progress=False)
    assert [name.stat().st_mtime_ns for name in names] == before


def test_workers_that_die_lose_nothing(beam: Path) -> None:
    points = [{"bodies.beam.material.young": 1e6 + 1e5 * k, "time.duration": 6.0} for k in range(3)]
    study, lost = under_fire(beam, points, workers=2, pause=4.0, memory_limit=1.5e9)
    assert lost > 0
    assert study.failures == []
    assert len(study.results) == 3
    check(beam, study, points)


@pytest.mark.slow
def test_sixty_four_points_under_fire(beam: Path) -> None:
    """62 good points, one that diverges and one that runs out of memory; a worker dies every 20 s."""
    points: list[dict[str, Any]] = [{"bodies.beam.material.young": 1e6 + 1e4 * k} for k in range(62)]
    planted = [{"time.step": 0.02, "time.duration": 20.0}, {"bodies.beam.shape.box.divisions": [220, 60, 60]}]
    beam.write_text(beam.read_text().replace("duration = 0.1", "duration = 4.0"))
    study, lost = under_fire(beam, [*points, *planted], workers=2, pause=20.0, memory_limit=6e8)
    assert lost > 3
    assert [row["point"] for row in study.results] == list(range(1, 63))
    assert [(row["point"], row["state"]) for row in study.failures] == [
        (63, "diverged"),
        (64, "memory limit"),
    ]
    check(beam, study, points)


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


def test_slurm_jobs(tmp_path: Path) -> None:
    """The script that would be submitted."""
    pytest.importorskip("dask_jobqueue")
    from pliant.campaign.executors.slurm import job_cluster, read_settings

    file = tmp_path / "cluster.toml"
    file.write_text(
        'jobs = 3\ncores = 4\nmemory = "8GB"\nqueue = "short"\naccount = "lab"\nwalltime = "01:00:00"\n'
    )
    jobs, settings = read_settings(file)
    assert jobs == 3
    cluster: Any = job_cluster(
        {**settings, "interface": "lo", "scheduler_options": {"dashboard_address": ":0"}}
    )
    try:
        script = cluster.job_script()
    finally:
        cluster.close()
    for line in ("#SBATCH -p short", "#SBATCH -A lab", "#SBATCH --cpus-per-task=4", "#SBATCH -t 01:00:00"):
        assert line in script
    assert "--nthreads 4" in script
    file.write_text("jobs = 3\n")
    with pytest.raises(InputError, match="cores and memory"):
        read_settings(file)


SBATCH = """#!/bin/sh
for last; do :; done
cp "$last" "$JOBS/script-$$"
setsid sh "$JOBS/script-$$" >>"$JOBS/log" 2>&1 &
echo "Submitted batch job $!"
echo $! >>"$JOBS/jobs"
"""


def test_points_in_slurm_jobs(beam: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``sbatch`` and ``scancel`` are shell scripts that start and end processes here; the rest is real."""
    pytest.importorskip("dask_jobqueue")
    tools, jobs = beam.parent / "bin", beam.parent / "jobs"
    for folder in (tools, jobs):
        folder.mkdir()
    (tools / "sbatch").write_text(SBATCH)
    (tools / "scancel").write_text('#!/bin/sh\nfor job; do kill -- "-$job"; done\n')
    for file in tools.iterdir():
        file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("JOBS", str(jobs))
    file = beam.parent / "cluster.toml"
    file.write_text(
        'jobs = 2\ncores = 1\nmemory = "1GB"\nqueue = "short"\ninterface = "lo"\n'
        'scheduler_options = { dashboard_address = "127.0.0.1:0" }\n'
    )
    values = {"bodies.beam.material.young": [1e6, 2e6]}
    study = sweep(beam, values, beam.parent / "s.sweep", on=f"slurm:{file}", progress=False)
    assert [row["point"] for row in study.results] == [1, 2]
    started = [int(line) for line in (jobs / "jobs").read_text().split()]
    assert len(started) == 2
    end = time.monotonic() + 300
    while any(Path(f"/proc/{job}").exists() for job in started):
        assert time.monotonic() < end, "a job goes on after the sweep"
        time.sleep(0.1)
