"""Benchmarks of implicit stepping: a soft clamped beam under its weight, to rest and in motion.

Beam 2.0 x 0.2 x 0.2 m, E 3 MPa, Poisson's ratio 0.45, density 1200, g 10, structured corotational tets.
Times are CPU seconds of one thread per simulated second, set-up left out; references are the best
existing engines that were measured (to rest at 1 %, in motion at 2 %).
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.actions import Fix, Gravity
from pliant.core.where import plane
from pliant.integrators import ImplicitEuler, ImplicitMidpoint
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene
from pliant.simulation.simulation import Simulation
from pliant_benchmarks.bench import BenchResult, bench

SMALL, LARGE = (48, 5, 5), (119, 12, 12)  # 7200 tets, 1764 vertices; 102816 tets, 20280 vertices
STEP = 0.35 / 18  # [s], a whole number of which reaches 0.35 s
MATERIAL = {"young": 3e6, "poisson": 0.45, "density": 1200.0}


@contextmanager
def one_thread() -> Iterator[None]:
    """CPU time is meant to be work, not threads that wait for each other."""
    from pliant.kernels import jit

    before = jit.threads_in_use()
    jit.use_threads(1)
    try:
        yield
    finally:
        jit.use_threads(before)


@dataclass
class CantileverRun:
    """Tip drops [m] frame by frame, CPU time of each frame [s], mean iterations per step, set-up time [s]."""

    drops: Any
    seconds: Any
    iterations: float
    preparing: float


def play(divisions: tuple[int, int, int], integrator: Any, duration: float) -> CantileverRun:
    """Run the beam for ``duration``, a frame every STEP; steps are that long, or stable for explicit ones."""
    body = Body(box(2.0, 0.2, 0.2, divisions=divisions), material=MATERIAL, model="fem")
    explicit = integrator == "leapfrog"
    scene = Scene([body], [Gravity(10.0), Fix(body, plane("x", "min"))])
    plan = {"fps": 1.0 / STEP, "step": "auto" if explicit else STEP, "integrator": integrator}
    scene.time = type(scene.time)(duration=duration, **plan)
    start = time.process_time()
    simulation = scene.simulation()
    simulation.start()
    _warm_up(simulation)
    preparing = time.process_time() - start
    world = simulation.system.world
    tip = np.isclose(world.rest[:, 0], 2.0)
    drops, seconds, iterations = [], [], 0.0
    for _ in range(round(duration / STEP)):
        start = time.process_time()
        simulation.advance()
        seconds.append(time.process_time() - start)
        drops.append(float((world.rest - world.x)[tip, 2].mean()))
        if simulation.integrator_state.series_names:
            iterations += simulation.integrator_state.sample(0.0)[0]
    return CantileverRun(np.array(drops), np.array(seconds), iterations / len(drops), preparing)


def _warm_up(simulation: Simulation) -> None:
    """Compile and factorise: one frame, taken back."""
    state = {name: np.array(value) for name, value in simulation.state().items()}
    simulation.advance()
    simulation.restore(0, state)


def rest(name: str, divisions: tuple[int, int, int], duration: float, reference: float) -> list[BenchResult]:
    """To rest by backward Euler with kinetic damping: CPU time until the tip stays within 0.5 %."""
    with one_thread():
        still = play(divisions, "static", STEP).drops[-1]
        run = play(divisions, ImplicitEuler(kinetic_damping=True), duration)
    away = np.flatnonzero(np.abs(run.drops / still - 1.0) > 0.005)
    reached = int(away[-1]) + 1 if len(away) else 1
    value = float(run.seconds[:reached].sum()) / (reached * STEP)
    whole = float(run.seconds.sum()) / (len(run.seconds) * STEP)
    note = (
        f"drop {run.drops[-1]:.4f} m, equilibrium {still:.4f}; within 0.5 % from {reached * STEP:.2f} s on; "
        f"{whole:.3g} over {duration:g} s; {run.iterations:.1f} iterations a step; "
        f"set-up {run.preparing:.2g} s"
    )
    return [BenchResult(name, value, "CPU s/s", reference, reference / value, None, note)]


def motion(name: str, divisions: tuple[int, int, int], reference: float | None) -> list[BenchResult]:
    """Undamped fall past the first peak by the midpoint rule, beside leapfrog on the same mesh."""
    duration = 45 * STEP
    with one_thread():
        exact = play(divisions, "leapfrog", duration)
        run = play(divisions, ImplicitMidpoint(), duration)
    value = float(run.seconds.sum()) / duration
    explicit = float(exact.seconds.sum()) / duration
    off = float(np.abs(run.drops - exact.drops).max()) / exact.drops.max()
    note = (
        f"drop at 0.35 s {run.drops[17]:.4f} ({exact.drops[17]:.4f}), peak {run.drops.max():.4f} "
        f"({exact.drops.max():.4f}), at most {100 * off:.2f} % of the peak off; leapfrog: {explicit:.3g}; "
        f"{run.iterations:.1f} iterations a step, set-up {run.preparing:.2g} s"
    )
    ratio = reference / value if reference is not None else None
    return [BenchResult(name, value, "CPU s/s", reference, ratio, None, note)]


@bench("cantilever/small-rest")
def small_rest() -> list[BenchResult]:
    """7200 tets to rest, ten simulated seconds."""
    return rest("cantilever/small-rest", SMALL, 10.0, 0.90)


@bench("cantilever/small-transient")
def small_transient() -> list[BenchResult]:
    """7200 tets in motion."""
    return motion("cantilever/small-transient", SMALL, 7.0)


@bench("cantilever/large-rest")
def large_rest() -> list[BenchResult]:
    """102816 tets to rest."""
    return rest("cantilever/large-rest", LARGE, 4.0, 16.6)


@bench("cantilever/large-transient")
def large_transient() -> list[BenchResult]:
    """102816 tets in motion."""
    return motion("cantilever/large-transient", LARGE, None)


def endurance(name: str, divisions: tuple[int, int, int], integrator: Any, goal: float) -> BenchResult:
    """Ten simulated seconds: CPU time per simulated second beside the goal, and the longest step."""
    with one_thread():
        run = play(divisions, integrator, 10.0)
    value = float(run.seconds.sum()) / (len(run.seconds) * STEP)
    typical, longest = float(np.median(run.seconds)), float(run.seconds.max())
    worst = float(run.seconds[: len(run.seconds) // 51 * 51].reshape(-1, 51).sum(axis=1).max()) / (51 * STEP)
    note = (
        f"median step {1e3 * typical:.3g} ms, longest {1e3 * longest:.3g}; slowest second {worst:.3g}; "
        f"tip drops by {run.drops.min():.3f} to {run.drops.max():.3f} m; {run.iterations:.1f} iterations"
    )
    return BenchResult(name, value, "CPU s/s", goal, goal / value, None, note)


@bench("cantilever/small-ten-seconds")
def small_endurance() -> list[BenchResult]:
    """7200 tets for ten simulated seconds, in motion and to rest: no stall."""
    name = "cantilever/small-ten-seconds"
    return [
        endurance(f"{name}/motion", SMALL, ImplicitMidpoint(), 0.4),
        endurance(f"{name}/rest", SMALL, ImplicitEuler(kinetic_damping=True), 0.2),
    ]


@bench("cantilever/large-ten-seconds")
def large_endurance() -> list[BenchResult]:
    """102816 tets for ten simulated seconds, in motion and to rest: no stall."""
    name = "cantilever/large-ten-seconds"
    return [
        endurance(f"{name}/motion", LARGE, ImplicitMidpoint(), 7.0),
        endurance(f"{name}/rest", LARGE, ImplicitEuler(kinetic_damping=True), 4.0),
    ]


def frame(
    count: int, divisions: tuple[int, int, int], reference: float, **material: float
) -> list[BenchResult]:
    """A frame of one step of backward Euler, beside one of reference D's figure 5.1 (``reference`` [ms]).

    The text's moduli have no unit: they are taken in kPa.
    """
    size = tuple(0.1 * n for n in divisions)
    body = Body(box(*size, divisions=divisions), material=material, model="fem")
    scene = Scene([body], [Gravity(), Fix(body, plane("x", "min"))])
    scene.time = type(scene.time)(fps=25.0, step=0.04, integrator="implicit-euler")
    simulation = scene.simulation()
    simulation.start()
    simulation.advance()
    times = []
    for _ in range(50):
        start = time.perf_counter()
        simulation.advance()
        times.append(time.perf_counter() - start)
    value = 1e3 * float(np.median(times))
    tets = len(simulation.system.world.bodies[0].structure.cells["tetra"])
    note = f"{tets} tets ({count} there), 25 frames a second"
    return [
        BenchResult(f"cantilever/frame-{count}", value, "ms/frame", reference, reference / value, None, note)
    ]


@bench("cantilever/frame-660")
def frame_660() -> list[BenchResult]:
    """The icosahedron of figure 5.1: 660 elements, 2321 ms a frame there; goal: 1000 times faster."""
    return frame(660, (11, 5, 2), 2321.0, young=12e3, poisson=0.33, density=750.0)


@bench("cantilever/frame-141")
def frame_141() -> list[BenchResult]:
    """The cylinder of figure 5.1: 141 elements, 115 ms a frame there."""
    return frame(141, (4, 3, 2), 115.0, young=1e3, poisson=0.45, density=600.0)


@bench("cantilever/frame-8")
def frame_8() -> list[BenchResult]:
    """The prism of figure 5.1: 8 elements, 2 ms a frame there."""
    return frame(8, (1, 1, 1), 2.0, young=10e3, poisson=0.4, density=100.0)
