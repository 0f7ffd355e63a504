"""Benchmarks of the elements model and of contact."""

import time
from typing import Any

import numpy as np

from pliant.actions import Fix, Gravity
from pliant.core.where import plane
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene, TimeSettings
from pliant.scene.load import parse
from pliant.simulation.simulation import Simulation
from pliant_benchmarks.bench import BenchResult, bench
from pliant_benchmarks.bench_mass_spring import time_per_step

MATERIAL = {"young": 1e6, "poisson": 0.25, "density": 1000.0}


def slabs(n: int, layers: int) -> Simulation:
    """Two slabs of n x n x layers elements, the upper one pressed upon the lower one."""
    size = (0.1 * n, 0.1 * n, 0.1 * layers)
    low = Body(box(*size), edge=0.1, model="lattice", material=MATERIAL, name="low")
    high = Body(
        box(*size), edge=0.1, model="lattice", material=MATERIAL, name="high", position=(0, 0, size[2]),
        velocity=(0, 0, -5),
    )  # fmt: skip
    scene = Scene(
        [low, high], [Gravity(), Fix("low", plane("z", "min"))], time=TimeSettings(fps=5000, step=2e-4)
    )
    return scene.simulation()


@bench("elements/100k-touching")
def touching() -> list[BenchResult]:
    """98 304 elements in two slabs on each other, 4096 touching from each side: steps a second; goal 40."""
    simulation = slabs(64, 12)
    rate = 1.0 / time_per_step(simulation, 3.0)
    layer: Any = dict(simulation.system.actions)["contact"]
    what = f"{simulation.system.world.count} elements, {int((layer.table.touched >= 0).sum())} contacts"
    return [BenchResult("elements/100k-touching", rate, "steps/s", 40.0, rate / 40.0, None, what)]


@bench("elements/scaling")
def scaling() -> list[BenchResult]:
    """Exponent of the time per step in the number of elements, 1e3 to 1e6."""
    counts, times = [], []
    for n in (10, 22, 46, 100):
        body = Body(box(1.0, 1.0, 1.0), edge=1.0 / n, model="lattice", material=MATERIAL)
        scene = Scene([body], [Gravity()], time=TimeSettings(fps=1e5, step=1e-6))
        simulation = scene.simulation()
        counts.append(simulation.system.world.count)
        times.append(time_per_step(simulation, 1.0))
    exponent = float(np.polyfit(np.log(counts), np.log(times), 1)[0])
    steps = ", ".join(f"{c}: {1e3 * t:.3g} ms" for c, t in zip(counts, times, strict=True))
    return [BenchResult("elements/scaling", exponent, "exponent", 1.1, 1.1 / exponent, None, steps)]


@bench("elements/supports")
def supports() -> list[BenchResult]:
    """The text's supports, beam and cylinder: wall seconds per simulated second (there about 600; goal 5)."""
    from pliant import examples

    simulation = parse(examples.text("elements-supports")).simulation()
    simulation.start()
    simulation.advance()
    start = time.perf_counter()
    for _ in range(25):
        simulation.advance()
    wall = (time.perf_counter() - start) * simulation.fps / 25
    note = f"{simulation.system.world.count} elements, step {1e3 * simulation.plan.seconds:.3g} ms"
    return [BenchResult("elements/supports", wall, "s/s", 5.0, 5.0 / wall, None, note)]
