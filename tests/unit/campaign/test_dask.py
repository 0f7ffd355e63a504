"""Points on a real Dask cluster of separate processes, whose workers are killed at random."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from pliant.campaign import sweep
from pliant.core.errors import InputError
from pliant_benchmarks.many_runs.under_fire import YOUNG, beside_serial, cluster, computed_again, under_fire

pytest.importorskip("distributed")


def test_workers_that_die_lose_nothing(beam: Path) -> None:
    points = [{YOUNG: 1e6 + 1e5 * k, "time.duration": 6.0} for k in range(3)]
    study, count = under_fire(beam, beam.parent / "dask.sweep", points, pause=4.0, memory_limit=1.5e9)
    assert count["killed"] > 0
    assert study.failures == []
    serial = sweep(beam, to=beam.parent / "serial.sweep", points=points, on="local:1", progress=False)
    assert [row["run"] for row in study.results] == [row["run"] for row in serial.results]
    assert beside_serial(study, serial) == 3
    assert computed_again(study, "local:1") == 0


@pytest.mark.slow
def test_sixty_four_points_under_fire(tmp_path: Path) -> None:
    """62 good points, one that diverges and one that runs out of memory; a worker dies every 20 s."""
    found = cluster(tmp_path)
    print(found)
    assert found["killed_at_work"] > 3
    assert (found["points"], found["done"]) == (64, 62)
    assert [row[:2] for row in found["failures"]] == [[63, "diverged"], [64, "memory limit"]]
    assert found["same_bytes_as_serial"] == 62
    assert found["computed_again"] == 0


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
    values = {YOUNG: [1e6, 2e6]}
    study = sweep(beam, values, beam.parent / "s.sweep", on=f"slurm:{file}", progress=False)
    assert [row["point"] for row in study.results] == [1, 2]
    started = [int(line) for line in (jobs / "jobs").read_text().split()]
    assert len(started) == 2
    end = time.monotonic() + 300
    while any(Path(f"/proc/{job}").exists() for job in started):
        assert time.monotonic() < end, "a job goes on after the sweep"
        time.sleep(0.1)
