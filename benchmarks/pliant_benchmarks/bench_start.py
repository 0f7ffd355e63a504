"""Benchmarks of start-up and memory, in fresh processes."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pliant.core.environment import environment
from pliant.validation.comparison_run import ended
from pliant_benchmarks.bench import BenchResult, bench

REPEATS = 3


def fresh(command: str) -> tuple[float, float]:
    """Shortest wall time [s] and largest memory [MB] of Python's ``command`` in processes of its own."""
    best, memory = float("inf"), 0.0
    for _ in range(REPEATS):
        start = time.perf_counter()
        code, used = ended(subprocess.Popen([sys.executable, "-c", command], env=environment()))
        if code:
            raise RuntimeError(f"the process ended with {code}")
        best, memory = min(best, time.perf_counter() - start), max(memory, used)
    return best, memory


@bench("start/import")
def start_import() -> list[BenchResult]:
    """``import pliant``, beside an empty Python; the design asks for less than 0.5 s."""
    empty, _ = fresh("pass")
    seconds, memory = fresh("import pliant")
    value = seconds - empty
    return [BenchResult("start/import", value, "s", 0.5, 0.5 / value, None, f"{memory:.0f} MB")]


SCENE = """
import pliant as pl
body = pl.Body(pl.shapes.box(1.0, 1.0, 1.0, divisions=({n}, {n}, {n})), model="{model}")
simulation = pl.Scene([body], [pl.Gravity()], step=1e-6).simulation()
simulation.start()
"""


@bench("start/first-forces")
def first_forces() -> list[BenchResult]:
    """From nothing to the first forces of every model, kernels cached: a small body."""
    from pliant.models import MODELS

    figures = []
    for model in MODELS:
        seconds, memory = fresh(SCENE.format(n=3, model=model))
        figures.append(BenchResult(f"start/first-forces/{model}", seconds, "s", note=f"{memory:.0f} MB"))
    return figures


@bench("start/first-frame")
def first_frame() -> list[BenchResult]:
    """``pliant run`` of the hello scene from the command to its first frame on disk, kernels cached."""
    from pliant import examples

    with tempfile.TemporaryDirectory() as folder:
        scene = Path(folder) / "hello.toml"
        scene.write_text(examples.text("hello"), encoding="utf-8")
        out = str(Path(folder) / "hello.pliant")
        words = ["run", str(scene), "-o", out, "--duration", "0.02", "--force", "--quiet"]
        seconds, memory = fresh(f"from pliant.cli.main import run; raise SystemExit(run({words!r}))")
    return [BenchResult("start/first-frame", seconds, "s", 5.0, 5.0 / seconds, None, f"{memory:.0f} MB")]


@bench("memory/per-particle")
def per_particle() -> list[BenchResult]:
    """Bytes per particle of every model: the growth of memory from 9^3 to 25^3 particles."""
    from pliant.models import MODELS

    figures = []
    for model in MODELS:
        small, large = (fresh(SCENE.format(n=n, model=model))[1] for n in (8, 24))
        value = 1e6 * (large - small) / (25**3 - 9**3)
        figures.append(
            BenchResult(f"memory/per-particle/{model}", value, "B", note="at its largest, set-up included")
        )
    return figures
