"""Benchmarks of the mass-spring model."""

import time
from typing import Any

import numpy as np

from pliant.actions import Fix, Gravity
from pliant.core.where import plane
from pliant.mesh.shapes import BeamWithHole, box
from pliant.scene import Body, Scene
from pliant.simulation.simulation import Simulation
from pliant_benchmarks.bench import BenchResult, bench
from pliant_benchmarks.roofline import measure_machine

SPRINGS_ONLY = {"young": 3e6, "poisson": 0.25, "density": 1200.0}


def time_per_step(simulation: Simulation, seconds: float = 1.0) -> float:
    """Median wall time of a step [s], over batches of steps; what happens once a frame is left out.

    The number of threads is tuned as in runs: beside another job, steps on all threads can take fifty times
    as long as on one.
    """
    simulation.start()
    system, dt, tuner = simulation.system, simulation.plan.seconds, simulation.thread_tuner
    times: list[float] = []
    count, batch = 0, 5
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 6:
        tuner.begin(batch)
        start = time.perf_counter()
        for _ in range(batch):
            system.prepare_step(count * dt)
            system.energy_ledger.begin_step(dt)
            simulation.integrator.step(system, simulation.integrator_state, count * dt, dt)
            count += 1
            system.finish_step(count * dt, dt)
            tuner.tick()
        times.append((time.perf_counter() - start) / batch)
        batch = max(5, int(0.01 / times[-1]))
    return float(np.median(times[1:]))


def lattice(n: int) -> Simulation:
    """A cube of n^3 cells: about 7 n^3 springs; a few steps make a frame."""
    body = Body(box(1.0, 1.0, 1.0, divisions=(n, n, n)), material=SPRINGS_ONLY)
    scene = Scene([body], [Gravity(), Fix(body, plane("z", "min"))], step=1e-6)
    scene.time = type(scene.time)(fps=1e6 / max(20, round(2e5 / n**3)), step=1e-6)
    return scene.simulation()


def spring_count(simulation: Simulation) -> int:
    mechanics: Any = simulation.system.world.bodies[0].mechanics
    return len(mechanics.edges)


def step_bytes(simulation: Simulation) -> float:
    """Bytes that the passes of a leapfrog step must move.

    Per spring 8 (indices) + 16 (rest length, stiffness). Per particle: forces read x and write f (48); the
    first kick and the drift read and write x and v and read f and 1/m (144); the second kick reads and
    writes v and reads f and 1/m (96).
    """
    return 24.0 * spring_count(simulation) + 288.0 * simulation.system.world.count


@bench("mass-spring/hanging-beam")
def hanging_beam() -> list[BenchResult]:
    """Reference A's beam with a hole at its step of 1e-4 s: simulated seconds per second of wall time."""
    beam = Body(BeamWithHole(size=(2.0, 0.2, 0.4)), edge=0.063, material="rubber")
    scene = Scene([beam], [Gravity(10.0), Fix(beam, plane("x", "min"))], step=1e-4)
    simulation = scene.simulation()
    seconds = time_per_step(simulation)
    rate = 1e-4 / seconds
    part = simulation.system.world.bodies[0]
    tets = len(part.structure.cells["tetra"])
    what = f"{part.count} particles, {tets} tets, {spring_count(simulation)} springs"
    limit = step_bytes(simulation) / measure_machine().bandwidth / seconds
    name = "mass-spring/hanging-beam"
    return [
        BenchResult(name, rate, "simulated s/s", 1.0, rate, limit, f"{what}; {1e6 * seconds:.0f} us a step")
    ]


@bench("mass-spring/million-springs")
def million_springs() -> list[BenchResult]:
    """A million springs: time per step, and the share of what the memory bandwidth would allow."""
    simulation = lattice(52)
    seconds = time_per_step(simulation, 3.0)
    limit = step_bytes(simulation) / measure_machine().bandwidth / seconds
    note = f"{spring_count(simulation)} springs; goal: 0.6 of the bandwidth limit"
    return [BenchResult("mass-spring/million-springs", 1e3 * seconds, "ms/step", None, None, limit, note)]


@bench("mass-spring/scaling")
def scaling() -> list[BenchResult]:
    """Exponent of the time per step in the number of springs, 1e3 to 1e6."""
    counts, times = [], []
    for n in (5, 11, 24, 52):
        simulation = lattice(n)
        counts.append(spring_count(simulation))
        times.append(time_per_step(simulation, 0.5))
    exponent = float(np.polyfit(np.log(counts), np.log(times), 1)[0])
    steps = ", ".join(f"{c}: {1e6 * t:.0f} us" for c, t in zip(counts, times, strict=True))
    return [BenchResult("mass-spring/scaling", exponent, "exponent", 1.0, 1.0 / exponent, None, steps)]
