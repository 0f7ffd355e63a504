"""Benchmarks of start-up and memory, in fresh processes."""

import os
import subprocess
import sys
import time

from pliant.children import environment
from pliant.evidence.bench import Figure, bench

REPEATS = 3


def fresh(code: str) -> tuple[float, float]:
    """Shortest wall time [s] and largest memory [MB] of ``code`` in processes of its own."""
    best, memory = float("inf"), 0.0
    for _ in range(REPEATS):
        start = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-c", code], env=environment())
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"the process ended with {process.returncode}")
        best, memory = min(best, time.perf_counter() - start), max(memory, used.ru_maxrss / 1e3)
    return best, memory


@bench("start/import")
def start_import() -> list[Figure]:
    """``import pliant``, beside an empty Python; the design asks for less than 0.5 s."""
    empty, _ = fresh("pass")
    seconds, memory = fresh("import pliant")
    value = seconds - empty
    return [Figure("start/import", value, "s", 0.5, 0.5 / value, None, f"{memory:.0f} MB")]


SCENE = """
import pliant as pl
body = pl.Body(pl.shapes.box(1.0, 1.0, 1.0, divisions=({n}, {n}, {n})), model="{model}")
simulation = pl.Scene([body], [pl.Gravity()], step=1e-6).simulation()
simulation.start()
"""


@bench("start/first-forces")
def first_forces() -> list[Figure]:
    """From nothing to the first forces of every model, kernels cached: a small body."""
    from pliant.models import MODELS

    figures = []
    for model in MODELS:
        seconds, memory = fresh(SCENE.format(n=3, model=model))
        figures.append(Figure(f"start/first-forces/{model}", seconds, "s", note=f"{memory:.0f} MB"))
    return figures


@bench("memory/per-particle")
def per_particle() -> list[Figure]:
    """Bytes per particle of every model: the growth of memory from 9^3 to 25^3 particles."""
    from pliant.models import MODELS

    figures = []
    for model in MODELS:
        small, large = (fresh(SCENE.format(n=n, model=model))[1] for n in (8, 24))
        value = 1e6 * (large - small) / (25**3 - 9**3)
        figures.append(
            Figure(f"memory/per-particle/{model}", value, "B", note="at its largest, set-up included")
        )
    return figures
