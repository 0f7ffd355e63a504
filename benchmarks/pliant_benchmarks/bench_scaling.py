"""How the time of a step grows with the size of a body, for every model."""

import numpy as np

from pliant.actions import Fix, Gravity
from pliant.core.where import plane
from pliant.mesh.shapes import box
from pliant.models import MODELS
from pliant.scene import Body, Scene
from pliant.scene.scene import TimeSettings
from pliant_benchmarks.bench import BenchResult, bench
from pliant_benchmarks.bench_mass_spring import time_per_step

MATERIAL = {"young": 1e5, "poisson": 0.3, "density": 1000.0}
CELLS = (8, 16, 26)  # along each side: 729, 4913 and 19683 particles
FPS = 2000.0


def exponent(model: str) -> BenchResult:
    """Slope of log time over log particles, by least squares; one is linear."""
    counts, times = [], []
    for n in CELLS:
        body = Body(box(1.0, 1.0, 1.0, divisions=(n, n, n)), edge=1.0 / n, model=model, material=MATERIAL)
        scene = Scene([body], [Gravity(), Fix(body, plane("z", "min"))], time=TimeSettings(fps=FPS))
        simulation = scene.simulation()
        counts.append(simulation.system.world.count)
        times.append(time_per_step(simulation, 0.3))
    value = float(np.polyfit(np.log(counts), np.log(times), 1)[0])
    note = ", ".join(f"{c}: {1e3 * t:.3g} ms" for c, t in zip(counts, times, strict=True))
    ratio = 1.0 / value if value > 0.0 else None  # steps that take as long for any size
    return BenchResult(f"scaling/{model}", value, "exponent", 1.0, ratio, None, note)


def _enter(model: str) -> None:
    bench(f"scaling/{model}")(lambda: [exponent(model)])


for _model in MODELS:
    _enter(_model)
