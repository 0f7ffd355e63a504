"""Benchmarks of the meshless model: reference C's table 5.1 and figures 5.1, 5.2, and a large body."""

from time import process_time
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from pliant.actions import Fix, Gravity
from pliant.core.where import plane
from pliant.kernels.jit import threads_in_use, use_threads
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene
from pliant.simulation.simulation import Simulation
from pliant_benchmarks.bench import BenchResult, bench
from pliant_benchmarks.bench_mass_spring import time_per_step
from pliant_benchmarks.roofline import measure_machine

TABLE = (  # phyxels, mean number of neighbours, frames a second
    (48, 37.9, 227.8),
    (100, 74.9, 83.5),
    (180, 104.4, 44.0),
    (294, 133.5, 21.6),
    (448, 127.7, 12.3),
    (448, 248.3, 8.2),
    (1210, 66.6, 7.2),
)
INSIDE_56 = 2.237  # spacings, just above the square root of 5: phyxels inside see 56 others
JELLY = {"young": 1e6, "poisson": 0.3, "density": 1000.0}


def brick(cells: tuple[int, int, int], radius: float, step: float = 1e-5) -> Simulation:
    """A lattice of phyxels 1 apart that see each other within ``radius``."""
    size = tuple(float(n) for n in cells)
    model = {"type": "efg", "support": "radius", "radius": radius}
    body = Body(box(*size), edge=1.0, model=model, material=JELLY)
    scene = Scene([body], [Gravity(), Fix(body, plane("z", "min"))], step=step)
    return scene.simulation()


def radius_for(cells: tuple[int, int, int], neighbours: float) -> float:
    """The radius, in spacings, whose mean number of neighbours is nearest to the wished one."""
    axes = [np.arange(n + 1.0) for n in cells]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    shells = np.sqrt(np.arange(2, 80)) + 1e-3  # radii at which the next shell of the lattice comes in
    if len(points) > 3000:  # only the inside counts there
        r2 = np.arange(-9, 10) ** 2
        inner = np.sort((r2[:, None, None] + r2[:, None] + r2).ravel())
        counts = np.searchsorted(inner, shells**2) - 1.0
    else:
        tree = cKDTree(points)
        counts = np.asarray(tree.count_neighbors(tree, shells)) / len(points) - 1.0
    return float(shells[np.argmin(np.abs(counts - neighbours))])


def pairs(simulation: Simulation) -> tuple[int, float]:
    """Number of phyxels and mean number of neighbours."""
    mechanics: Any = simulation.system.world.bodies[0].mechanics
    return len(mechanics.volumes), mechanics.support.mean_neighbours


def step_bytes(simulation: Simulation) -> float:
    """Bytes that a leapfrog step must move at least: twice 8 a pair (index, weight); per phyxel the packed
    row written twice and read twice (512), its own data (144), positions, forces and kicks (288)."""
    count, around = pairs(simulation)
    return count * (16.0 * around + 512.0 + 144.0 + 288.0)


def cells_of(count: int) -> tuple[int, int, int]:
    """The text's bodies are n x n x (n - 1) phyxels: 48 = 4 x 4 x 3, ..., 1210 = 11 x 11 x 10."""
    n = round(float(np.cbrt(count)) + 0.35)
    return n - 1, n - 1, n - 2


def row(count: int, neighbours: float, reference: float) -> BenchResult:
    simulation = brick(cells_of(count), radius_for(cells_of(count), neighbours))
    seconds = time_per_step(simulation, 0.7)
    phyxels, around = pairs(simulation)
    limit = step_bytes(simulation) / measure_machine().bandwidth / seconds
    note = f"{phyxels} phyxels, {around:.1f} neighbours; the text has {neighbours:g}"
    name = f"efg/{count}x{int(neighbours)}"
    return BenchResult(name, 1.0 / seconds, "steps/s", reference, 1.0 / seconds / reference, limit, note)


def _enter(count: int, neighbours: float, reference: float) -> None:
    bench(f"efg/{count}x{int(neighbours)}")(lambda: [row(count, neighbours, reference)])


for _row in TABLE:
    _enter(*_row)


@bench("efg/50k")
def large() -> list[BenchResult]:
    """50k phyxels with about 40 neighbours: 60 steps a second is the goal."""
    simulation = brick((36, 36, 36), radius_for((36, 36, 36), 40.0))
    seconds = time_per_step(simulation, 3.0)
    phyxels, around = pairs(simulation)
    limit = step_bytes(simulation) / measure_machine().bandwidth / seconds
    note = f"{phyxels} phyxels, {around:.1f} neighbours; goal: 60 steps a second on two cores"
    return [BenchResult("efg/50k", 1.0 / seconds, "steps/s", 60.0, 1.0 / seconds / 60.0, limit, note)]


def series(kind: str, rounds: int = 15) -> tuple[list[float], list[float]]:
    """Figure 5.1 (``phyxels``) or 5.2 (``neighbours``): the abscissae and the times of a step [s]."""
    if kind == "phyxels":
        runs = [brick((n, n, n), INSIDE_56) for n in (9, 11, 13, 15, 17, 19)]
        across = [float(pairs(run)[0]) for run in runs]
    else:
        runs = [brick((11, 11, 11), float(np.sqrt(r2)) + 1e-3) for r2 in (3, 4, 5, 8, 9, 12)]
        across = [pairs(run)[1] for run in runs]
    return across, processor_times(runs, rounds)


def processor_times(runs: list[Simulation], rounds: int = 15) -> list[float]:
    """One thread's processor time of a step [s] of each, the shortest of several rounds: what else the
    machine does, and how it shares its cores, only adds to them."""
    for run in runs:
        run.start()
    before = threads_in_use()
    use_threads(1)
    try:
        times = [[processor_time(run) for run in runs] for _ in range(rounds + 1)]
    finally:
        use_threads(before)
    out: list[float] = np.min(times[1:], axis=0).tolist()
    return out


def processor_time(simulation: Simulation, least: float = 0.03) -> float:
    """Processor time of a step [s], over ``least`` seconds of them."""
    system, dt = simulation.system, simulation.plan.seconds
    count, start = 0, process_time()
    while (spent := process_time() - start) < least:
        for _ in range(5):
            simulation.integrator.step(system, simulation.integrator_state, 0.0, dt)
        count += 5
    return spent / count


def straightness(x: list[float], y: list[float]) -> float:
    """R^2 of the straight line through the points."""
    return float(np.corrcoef(x, y)[0, 1] ** 2)


def _scaling(kind: str) -> list[BenchResult]:
    x, y = series(kind)
    text = {"phyxels": 0.997, "neighbours": 0.994}[kind]
    note = ", ".join(f"{a:.0f}: {1e3 * t:.3f} ms" for a, t in zip(x, y, strict=True))
    value = straightness(x, y)
    return [BenchResult(f"efg/linear-in-{kind}", value, "R2", text, value / text, None, note)]


@bench("efg/linear-in-phyxels")
def linear_in_phyxels() -> list[BenchResult]:
    """Figure 5.1: time of a step over the number of phyxels, at a constant number of neighbours."""
    return _scaling("phyxels")


@bench("efg/linear-in-neighbours")
def linear_in_neighbours() -> list[BenchResult]:
    """Figure 5.2: time of a step over the number of neighbours, at a constant number of phyxels."""
    return _scaling("neighbours")
