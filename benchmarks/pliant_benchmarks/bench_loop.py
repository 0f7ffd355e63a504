"""Benchmarks of the loop itself."""

import subprocess
import sys
import time

from pliant.actions import Fix, Gravity
from pliant.core.environment import environment
from pliant.core.where import plane
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene
from pliant_benchmarks.bench import BenchResult, bench


@bench("loop/python-share")
def python_share() -> list[BenchResult]:
    """Wall time of a step of the smallest scene: everything in it is Python's own share [us]."""
    body = Body(
        box(0.1, 0.1, 0.1, divisions=(1, 1, 1)), material={"young": 1e5, "poisson": 0.25, "density": 1e3}
    )
    scene = Scene([body], [Gravity(), Fix(body, plane("x", "min"))], step=1e-4)
    simulation = scene.simulation()
    simulation.start()
    simulation.advance()
    best = float("inf")
    for _ in range(10):
        start = time.perf_counter()
        simulation.advance()
        best = min(best, (time.perf_counter() - start) / simulation.plan.per_frame)
    value, limit = 1e6 * best, 20.0
    return [
        BenchResult(
            "loop/python-share", value, "us/step", limit, limit / value, note="design limit: 20 us a step"
        )
    ]


FRAMES = 25  # of the beam that runs beside another one: half a second


def timed_frames() -> None:
    """The child of ``side_by_side``: prepares the cpm2 beam, waits for a line, prints the seconds it took."""
    from pliant_benchmarks.bench_cpm import hanging_beam

    simulation = hanging_beam("cpm2", "variational", "auto")
    simulation.start()
    for _ in range(3):
        simulation.advance()
    print("ready", flush=True)
    sys.stdin.readline()
    start = time.perf_counter()
    for _ in range(FRAMES):
        simulation.advance()
    print(time.perf_counter() - start, flush=True)


def _together(count: int) -> float:
    """Seconds of the slowest of ``count`` runs that start at the same time, each in its own process."""
    words = [sys.executable, "-c", "from pliant_benchmarks.bench_loop import timed_frames; timed_frames()"]
    children = [
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())
        for _ in range(count)
    ]
    try:
        pipes = [(child.stdin, child.stdout) for child in children]
        for _, out in pipes:
            assert out is not None
            if out.readline().strip() != "ready":
                raise RuntimeError("a run of loop/side-by-side did not start")
        for given, _ in pipes:
            assert given is not None
            given.write("go\n")
            given.flush()
        return max(float(out.readline()) for _, out in pipes if out is not None)
    finally:
        for child in children:
            child.kill()
            child.communicate()


@bench("loop/side-by-side")
def side_by_side() -> list[BenchResult]:
    """Two runs of the cpm2 beam at the same time, each with all threads, over the time of one alone."""
    alone, both = _together(1), _together(2)
    note = f"{FRAMES} frames: {alone:.2f} s alone, {both:.2f} s for the slower of two"
    name = "loop/side-by-side"
    return [BenchResult(name, both / alone, "times as long", 2.5, 2.5 * alone / both, None, note)]
