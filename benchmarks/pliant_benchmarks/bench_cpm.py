"""Benchmarks of the continuum particle models: reference A's beam with a hole, section 9.9."""

import time
from typing import Any

import numpy as np

from pliant.actions import Fix, Gravity
from pliant.core.where import plane
from pliant.mesh.shapes import BeamWithHole
from pliant.scene import Body, Scene, TimeSettings
from pliant.simulation.simulation import Simulation
from pliant_benchmarks.bench import BenchResult, bench
from pliant_benchmarks.bench_mass_spring import time_per_step
from pliant_benchmarks.roofline import measure_machine

TEXT = {"cpm1": 3.3, "cpm2": 7.5}  # ms a step with 1679 particles, 7068 tets, 9835 edges
TEXT_SECONDS = {"cpm1": 53.0, "cpm2": 120.0}  # for 1.6 simulated seconds
RUBBER = {"young": 3e6, "poisson": 0.45, "density": 1200.0}


def hanging_beam(
    model: str, form: str, step: float | str = 1e-4, integrator: str = "leapfrog", fps: float = 50.0
) -> Simulation:
    """The beam at the text's size as nearly as our mesher gets: 1678 particles, 6732 tets, 9364 edges."""
    table = {"type": model, "form": form}
    beam = Body(BeamWithHole(size=(2.0, 0.2, 0.4)), edge=0.0605, model=table, material=RUBBER)
    plan = TimeSettings(fps=fps, step=step, integrator=integrator)
    return Scene([beam], [Gravity(10.0), Fix(beam, plane("x", "min"))], time=plan).simulation()


def least_seconds(simulation: Simulation, form: str) -> float:
    """Time that the step's bytes and arithmetic take at this machine's bandwidth and peak [s].

    Counted: rest data once, positions, forces and the passes of leapfrog; the sums and products of the law
    (a root or a quotient as one), of the fans and of the volumetric term.
    """
    part = simulation.system.world.bodies[0]
    mechanics: Any = part.mechanics
    back = 2.0 if form == "variational" else 1.0
    tets = len(mechanics.tets)
    if part.model.kind == "cpm1":
        fan, edges = len(mechanics.dual.fan), len(mechanics.edges)
        size = 8.0 * mechanics.faces.rest.size + 4.0 * mechanics.faces.rows.size + 64.0 * tets
        flops = back * 21.0 * fan + 100.0 * edges + 70.0 * tets
    else:
        size = 8.0 * 56.0 * tets
        flops = 6.0 * (100.0 + back * 30.0) * tets + back * 60.0 * tets
    machine = measure_machine()
    return float(max((size + 288.0 * part.count) / machine.bandwidth, flops / machine.peak))


def figure(model: str, form: str) -> BenchResult:
    simulation = hanging_beam(model, form)
    seconds = time_per_step(simulation)
    part = simulation.system.world.bodies[0]
    what = f"{part.count} particles, {len(part.structure.cells['tetra'])} tets; form = {form}"
    name = f"hanging-beam/{model}" + ("" if form == "variational" else "-everts")
    share = least_seconds(simulation, form) / seconds
    return BenchResult(name, 1e3 * seconds, "ms/step", TEXT[model], 1e-3 * TEXT[model] / seconds, share, what)


@bench("hanging-beam/cpm1")
def cpm1() -> list[BenchResult]:
    """CPM1, variational form, explicit, dt = 1e-4 s."""
    return [figure("cpm1", "variational")]


@bench("hanging-beam/cpm1-everts")
def cpm1_everts() -> list[BenchResult]:
    """CPM1 as printed, explicit, dt = 1e-4 s."""
    return [figure("cpm1", "everts")]


@bench("hanging-beam/cpm2")
def cpm2() -> list[BenchResult]:
    """CPM2, variational form, explicit, dt = 1e-4 s."""
    return [figure("cpm2", "variational")]


@bench("hanging-beam/cpm2-everts")
def cpm2_everts() -> list[BenchResult]:
    """CPM2 as printed, explicit, dt = 1e-4 s."""
    return [figure("cpm2", "everts")]


def simulated(model: str) -> BenchResult:
    """Simulated seconds per second at the largest stable step, explicit."""
    simulation = hanging_beam(model, "variational", "auto")
    seconds = time_per_step(simulation)
    rate, text = simulation.plan.seconds / seconds, 1.6 / TEXT_SECONDS[model]
    note = f"step {simulation.plan.seconds:.3g} s, explicit"
    return BenchResult(
        f"hanging-beam/{model}-simulated", rate, "simulated s/s", text, rate / text, None, note
    )


def implicit(model: str) -> BenchResult:
    """Simulated seconds per second of the first second (down and up again) by bdf2, a hundred steps."""
    simulation = hanging_beam(model, "variational", 0.01, "bdf2", 100.0)
    simulation.start()
    state = {name: np.array(value) for name, value in simulation.state().items()}
    simulation.advance()  # compiles and factorises; taken back
    simulation.restore(0, state)
    world = simulation.system.world
    solver = simulation.integrator_state
    tip = world.rest[:, 0] > 2.0 - 1e-6
    start, lowest, iterations = time.perf_counter(), 0.0, 0.0
    for _ in range(100):
        simulation.advance()
        lowest = min(lowest, float((world.x - world.rest)[tip, 2].mean()))
        iterations += solver.sample(0.0)[0]
        solver.reset()
    rate, text = 1.0 / (time.perf_counter() - start), 1.6 / TEXT_SECONDS[model]
    note = f"step 0.01 s, bdf2, {iterations / 100:.1f} iterations a step; tip down to {lowest:.3f} m"
    return BenchResult(f"hanging-beam/{model}-implicit", rate, "simulated s/s", text, rate / text, None, note)


@bench("hanging-beam/cpm1-simulated")
def cpm1_simulated() -> list[BenchResult]:
    """CPM1 at its largest stable step; the text took 53 s for 1.6 s."""
    return [simulated("cpm1")]


@bench("hanging-beam/cpm2-simulated")
def cpm2_simulated() -> list[BenchResult]:
    """CPM2 at its largest stable step; the text took two minutes for 1.6 s."""
    return [simulated("cpm2")]


@bench("hanging-beam/cpm1-implicit")
def cpm1_implicit() -> list[BenchResult]:
    """CPM1, implicit, dt = 1/100 s."""
    return [implicit("cpm1")]


@bench("hanging-beam/cpm2-implicit")
def cpm2_implicit() -> list[BenchResult]:
    """CPM2, implicit, dt = 1/100 s."""
    return [implicit("cpm2")]
