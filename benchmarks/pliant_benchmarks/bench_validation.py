"""Benchmark of the evidence itself: how long ``pliant validate --quick`` takes."""

import json
import subprocess
import sys
import time

from pliant.core.environment import environment
from pliant_benchmarks.bench import BenchResult, bench


@bench("evidence/validate-quick")
def validate_quick() -> list[BenchResult]:
    """All quick cases, kernels cached, one process on each core; the goal is a minute."""
    start = time.perf_counter()
    words = [sys.executable, "-m", "pliant", "validate", "--quick", "--json"]
    ended = subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)
    value = time.perf_counter() - start
    rows = [row for row in json.loads(ended.stdout) if row["applies"]]
    good, spent = sum(row["ok"] for row in rows), sum(row["seconds"] for row in rows)
    note = f"{good} of {len(rows)} pairs within tolerance, {spent:.0f} CPU s"
    return [BenchResult("evidence/validate-quick", value, "s", 60.0, 60.0 / value, None, note)]
