"""Benchmarks of the loop itself."""

import time

from pliant.actions import Fix, Gravity
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
