"""Benchmarks are marked where other jobs took the cores."""

import subprocess
import sys
import time

import pytest

from pliant.kernels.jit import core_count
from pliant_benchmarks.bench import BenchResult, median
from pliant_benchmarks.disturbance import STAT, CoreUse, watched_cores
from pliant_benchmarks.history import append, compared, read


@pytest.mark.skipif(not STAT.exists(), reason="the system does not tell what all processes use")
def test_other_jobs_on_all_cores_are_seen() -> None:
    spin = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(spin) for _ in range(core_count() + 1)]
    try:
        time.sleep(0.2)
        with watched_cores() as use:
            end = time.perf_counter() + 1.0
            while time.perf_counter() < end:
                pass
    finally:
        for child in others:
            child.kill()
            child.wait()
    assert use.others is not None
    assert use.others > 0.4
    assert use.disturbed


def test_idle_cores_do_not_disturb() -> None:
    assert not CoreUse(own=1.0, others=1.0, idle=2.0).disturbed
    assert not CoreUse(own=2.0, others=0.05, idle=0.0).disturbed
    assert CoreUse(own=1.0, others=1.0, idle=0.0).disturbed
    assert not CoreUse(own=1.0).disturbed


def test_undisturbed_measurements_count_first() -> None:
    figures = [BenchResult("a", value, "ms/step", disturbed=value > 2.0) for value in (1.0, 9.0, 8.0)]
    assert median(figures).value == 1.0
    assert not median(figures).disturbed
    assert median(figures[1:]).disturbed


def test_history_does_not_compare_with_disturbed_figures(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "bench.json"
    row = {"case": "a", "value": 1.0, "unit": "ms/step"}
    append(path, [row])
    append(path, [row | {"value": 50.0, "disturbed": True}])
    assert compared([row], read(path))[0]["last"] == 1.0
