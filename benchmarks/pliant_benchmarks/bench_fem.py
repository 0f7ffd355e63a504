"""Benchmarks of finite elements beside the cantilever's: rates on all threads, explicit steps, memory."""

import time
from typing import Any

import numpy as np

from pliant.actions import Fix, Gravity
from pliant.core.where import plane
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene
from pliant.simulation.simulation import Simulation
from pliant_benchmarks.bench import BenchResult, bench
from pliant_benchmarks.bench_cantilever import LARGE, MATERIAL, SMALL
from pliant_benchmarks.bench_mass_spring import time_per_step
from pliant_benchmarks.roofline import measure_machine

CELLS = 30  # along each side of the cube: 162 000 tets
REFERENCE_TET = 1.61e-3 * 1.01 / 162e3  # [s] on two threads: the figure of the study behind design/kernels.md


def soft_beam(divisions: tuple[int, int, int], integrator: str, fps: float) -> Simulation:
    """The clamped soft beam of ``bench cantilever``, one step a frame."""
    body = Body(box(2.0, 0.2, 0.2, divisions=divisions), material=MATERIAL, model="fem")
    scene = Scene([body], [Gravity(10.0), Fix(body, plane("x", "min"))])
    scene.time = type(scene.time)(duration=10.0, fps=fps, step=1.0 / fps, integrator=integrator)
    simulation = scene.simulation()
    simulation.start()
    simulation.advance()
    return simulation


def rate(simulation: Simulation, steps: int) -> tuple[float, float]:
    """Wall time of a step [s] over the next ``steps`` ones: mean, and the longest."""
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        simulation.advance()
        times.append(time.perf_counter() - start)
    return float(np.mean(times)), float(np.max(times))


@bench("fem/real-time-7k")
def real_time() -> list[BenchResult]:
    """7200 tets falling and swinging at a step of 1/60 s: simulated seconds per second; goal: above 1."""
    mean, longest = rate(soft_beam(SMALL, "implicit-midpoint", 60.0), 240)
    value = 1.0 / (60.0 * mean)
    note = f"midpoint rule, 4 s of motion; {1e3 * mean:.2f} ms a step, at most {1e3 * longest:.1f}"
    return [BenchResult("fem/real-time-7k", value, "simulated s/s", 1.0, value, None, note)]


@bench("fem/implicit-100k")
def implicit_large() -> list[BenchResult]:
    """102816 tets: implicit steps of 1/60 s a second of wall time; goal: 3."""
    mean, longest = rate(soft_beam(LARGE, "implicit-euler", 60.0), 60)
    note = f"backward Euler, the beam's first second; {1e3 * mean:.0f} ms a step, at most {1e3 * longest:.0f}"
    return [BenchResult("fem/implicit-100k", 1.0 / mean, "steps/s", 3.0, 1.0 / mean / 3.0, None, note)]


@bench("fem/explicit-162k")
def explicit() -> list[BenchResult]:
    """162000 St. Venant-Kirchhoff tets: a symplectic Euler step, beside the kernel study's Numba figure.

    limit_ratio: bytes that the passes must move (per tet 16 for indices and 96 of rest data; per particle 48
    for forces and 144 for the step) over the bandwidth of the same run.
    """
    law = {"type": "fem", "law": "st-venant-kirchhoff"}
    body = Body(box(1.0, 1.0, 1.0, divisions=(CELLS,) * 3), material=MATERIAL, model=law)
    scene = Scene([body], [Gravity(), Fix(body, plane("z", "min"))], step=1e-6)
    scene.time = type(scene.time)(fps=5e4, step=1e-6, integrator="symplectic-euler")
    simulation = scene.simulation()
    seconds = min(time_per_step(simulation, 0.2) for _ in range(8))  # other processes only slow it down
    world = simulation.system.world
    tets = len(world.bodies[0].structure.cells["tetra"])
    limit = (112.0 * tets + 192.0 * world.count) / measure_machine().bandwidth / seconds
    reference = 1e3 * REFERENCE_TET * tets
    note = f"{1e9 * seconds / tets:.1f} ns a tet; goal: 0.8 of the reference"
    name, value = "fem/explicit-162k", 1e3 * seconds
    return [BenchResult(name, value, "ms/step", reference, reference / value, limit, note)]


@bench("fem/memory")
def memory() -> list[BenchResult]:
    """Bytes per tet that a simulation keeps: explicit, and implicit with the two kinds of operator."""
    import tracemalloc

    goals = {"explicit": None, "two-level": 1500.0, "band": None}
    cases: list[tuple[str, tuple[int, int, int], str]] = [
        ("explicit", LARGE, "leapfrog"),
        ("two-level", LARGE, "implicit-euler"),
        ("band", SMALL, "implicit-euler"),
    ]
    figures = []
    for kind, divisions, integrator in cases:
        tracemalloc.start()
        simulation: Any = soft_beam(divisions, integrator, 1e5 if kind == "explicit" else 60.0)
        kept, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        tets = len(simulation.system.world.bodies[0].structure.cells["tetra"])
        value, goal = kept / tets, goals[kind]
        note = f"{tets} tets; {most / tets:.0f} at most while it is set up"
        figures.append(
            BenchResult(
                f"fem/memory/{kind}", value, "B/tet", goal, goal / value if goal else None, None, note
            )
        )
    return figures
