"""What the energy ledger and the guard cost a calm run."""

import time

from pliant.actions import Fix, Gravity
from pliant.core.where import plane
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene
from pliant.simulation.simulation import Simulation
from pliant_benchmarks.bench import BenchResult, bench

SIZES = {"small": 0.05, "large": 0.022}  # edges [m] of a beam of 0.6 m x 0.15 m x 0.15 m
LIMITS = {"small": 1.05, "large": 1.02}
MODELS = ("mass-spring", "fem", "cpm1", "cpm2", "efg", "lattice")
SECONDS, FEWEST = 2.0, 3  # CPU time of a measurement, and frames at least


def beam(model: str, edge: float, watched: bool) -> Simulation:
    """A beam that falls into its clamp, undamped; without its ledger and guard unless ``watched``."""
    body = Body(
        box(0.6, 0.15, 0.15),
        edge=edge,
        model=model,
        material={"young": 1e6, "poisson": 0.3, "density": 1e3},
    )
    scene = Scene([body], [Gravity(), Fix(body, plane("x", "min"))])
    simulation = scene.simulation()
    simulation.start()
    if not watched:
        ledger = simulation.system.energy_ledger
        simulation.guard, ledger.correction = None, None
        ledger.add_step = lambda time: None  # type: ignore[method-assign]
    simulation.advance()
    return simulation


def ratio(model: str, size: str) -> BenchResult:
    """CPU time of steps with ledger and guard over that without, frame by frame in turn."""
    pair = [beam(model, SIZES[size], watched) for watched in (True, False)]
    spent = [0.0, 0.0]
    frames = 0
    while frames < FEWEST or sum(spent) < SECONDS:
        for k, simulation in enumerate(pair):
            start = time.process_time()
            simulation.advance()
            spent[k] += time.process_time() - start
        frames += 1
    steps = frames * pair[0].plan.per_frame
    value, limit = spent[0] / spent[1], LIMITS[size]
    added = 1e6 * (spent[0] - spent[1]) / steps
    note = f"{pair[0].system.world.count} particles, {steps} steps, {added:.1f} us a step more"
    return BenchResult(f"guard/{model}-{size}", value, "times the CPU time", limit, limit / value, None, note)


@bench("guard/small")
def small() -> list[BenchResult]:
    """Bodies of a few hundred particles: at most 5 % of the step."""
    return [ratio(model, "small") for model in MODELS]


@bench("guard/large")
def large() -> list[BenchResult]:
    """Bodies of some thousand particles: at most 2 % of the step."""
    return [ratio(model, "large") for model in MODELS]
