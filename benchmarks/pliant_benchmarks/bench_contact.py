"""Barrier contact in implicit steps: the time of a step, how it grows, and what the auditor finds."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import pliant as pl
from pliant.contact import Contact
from pliant.contact.barrier.barrier_contact import BarrierContact
from pliant.contact.barrier.geometry import surface_of
from pliant.core.errors import MissingExtra
from pliant.simulation.simulation import Simulation
from pliant_benchmarks.bench import BenchResult, bench

SOFT = {"young": 5e4, "poisson": 0.3, "density": 1000.0, "friction": 0.3}
BARS = {"1k": 3, "9k": 6, "29k": 9, "110k": 14}  # cells across a bar, by the number of tets

Parts = tuple[list[pl.Body], list[Any], float]


def crossed_bars(cells: int) -> Parts:
    """Two soft bars thrown onto each other and the ground, 40 cells^3 tets."""
    common = {"model": "fem", "material": SOFT}
    shapes = (
        pl.shapes.box(0.4, 0.1, 0.1, divisions=(4 * cells, cells, cells)),
        pl.shapes.box(0.1, 0.4, 0.1, divisions=(cells, 4 * cells, cells)),
    )
    low = pl.Body(shapes[0], position=(0, 0, 0.02), name="low", **common)
    high = pl.Body(shapes[1], position=(0.15, -0.15, 0.14), velocity=(0, 0, -2), name="high", **common)
    return [low, high], [pl.Gravity(), pl.Ground(friction=0.3)], 0.01


def folding_strip() -> Parts:
    """A strip of 600 vertices dropped on its end: it folds onto itself."""
    strip = pl.Body(
        pl.shapes.box(0.02, 0.19, 1.0, divisions=(1, 9, 29)), model="fem", name="strip",
        material={**SOFT, "young": 2e4}, position=(0, 0, 0.01), velocity=(0, 0, -1),
    )  # fmt: skip
    return [strip], [pl.Gravity((1.0, 0, -9.81)), pl.Ground(friction=0.5)], 0.02


def crossings(simulation: Simulation) -> tuple[int, float | None]:
    """Edges through triangles of the bodies' surfaces, and their smallest distance [m], by the auditor."""
    from pliant.audit.auditor import audit_state
    from pliant.audit.surface_frames import joined

    world, parts = simulation.system.world, []
    for part in world.bodies:
        own = surface_of(part)
        x = np.einsum("vk,vki->vi", own.weights, world.x[part.rows][own.rows])
        parts.append((part.name, x, own.triangles))
    found = audit_state(joined("", parts))
    return found.crossings, found.distance


def stepped(case: str, make: Callable[[], Parts], steps: int) -> BenchResult:
    """CPU milliseconds of a step, mean over the second half of ``steps``; every fifth state is audited."""
    bodies, actions, step = make()
    scene = pl.Scene(
        bodies, actions, integrator="implicit-euler", step=step, contact=Contact(method="barrier"),
        time=pl.TimeSettings(duration=step * (steps + 2), fps=1.0 / step),
    )  # fmt: skip
    simulation = scene.simulation()
    simulation.start()
    simulation.advance()  # compiles and factorises
    contact = next(each for _, each in simulation.system.actions if isinstance(each, BarrierContact))
    column = simulation.columns.index("solver.iterations")
    took, walls, iterations, touching, met = [], [], [], [], 0
    for k in range(steps):
        cpu, wall = time.process_time(), time.perf_counter()
        simulation.advance()
        took.append(time.process_time() - cpu)
        walls.append(time.perf_counter() - wall)
        iterations.append(simulation.row()[column])
        touching.append(contact.touching)
        if k % 5 == 4:
            met += crossings(simulation)[0]
    half = slice(steps // 2, None)
    tets = sum(len(part.structure.cells["tetra"]) for part in simulation.system.world.bodies)
    note = (
        f"{simulation.system.world.count} vertices, {tets} tets, {np.mean(touching[half]):.0f} contacts, "
        f"{np.mean(iterations[half]):.0f} iterations, {1e3 * np.mean(walls[half]):.0f} ms of wall time, "
        f"longest {1e3 * max(took):.0f} ms; crossings found: {met}"
    )
    return BenchResult(case, 1e3 * float(np.mean(took[half])), "CPU ms/step", note=note)


def need_auditor() -> None:
    try:
        import ipctk  # noqa: F401
    except ImportError as error:
        raise MissingExtra("Audits need ipctk.", hint="pip install 'pliant[audit]'") from error


@bench("contact/strip")
def strip() -> list[BenchResult]:
    need_auditor()
    return [stepped("contact/strip", folding_strip, 75)]


@bench("contact/bars")
def bars() -> list[BenchResult]:
    """Crossed bars of 1000 to 29 000 tets, and the exponent of time over the number of tets."""
    need_auditor()
    return _growth(("1k", "9k", "29k"))


@bench("contact/large")
def large() -> list[BenchResult]:
    """Crossed bars of 1000 and 110 000 tets, and the exponent between them."""
    need_auditor()
    return _growth(("1k", "110k"))


def _growth(names: tuple[str, ...]) -> list[BenchResult]:
    found = [stepped(f"contact/bars {name}", lambda k=BARS[name]: crossed_bars(k), 24) for name in names]
    tets = np.log([40.0 * BARS[name] ** 3 for name in names])
    power = float(np.polyfit(tets, np.log([each.value for each in found]), 1)[0])
    note = f"CPU time over tets, {names[0]} to {names[-1]}"
    return [*found, BenchResult(f"contact/exponent to {names[-1]}", power, "", note=note)]
