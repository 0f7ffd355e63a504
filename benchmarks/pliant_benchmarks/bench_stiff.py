"""Meshless bodies of any stiffness at one step, as Stegmayr (2008), 6.1, wishes for: explicit and implicit
steps, with and without a constraint on the volume."""

import time

import pliant as pl
from pliant.core.errors import Diverged
from pliant_benchmarks.bench import BenchResult, bench
from pliant_benchmarks.bench_cantilever import one_thread

MODULI = (1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11)  # [Pa]
LENGTH, HEIGHT, STEP, DURATION, DRAG = 0.4, 0.1, 0.01, 0.5, 20.0


def sagging(young: float, integrator: str, kept: bool) -> tuple[float, float]:
    """Deflection of the end of a clamped bar under its weight over Timoshenko's, after half a second, and CPU
    milliseconds a step; zeros where the run diverges.

    .. math:: w = q L^4 / 8 E I + q L^2 / (2 \\tfrac56 G A).
    """
    material = {"young": young, "poisson": 0.3, "density": 1000.0}
    body = pl.Body(pl.shapes.box(LENGTH, HEIGHT, HEIGHT), edge=0.05, model="efg", material=material)
    actions = [pl.Gravity(), pl.Fix(body, pl.where.plane("x", "min")), pl.Damping(rate=DRAG)]
    tip = pl.Probe(select=pl.where.plane("x", "max"), name="tip", what="displacement")
    scene = pl.Scene(
        [body], [*actions, *([pl.VolumeConstraint(body)] if kept else [])], [tip],
        integrator=integrator, step=STEP, time=pl.TimeSettings(duration=DURATION, fps=1.0 / STEP),
    )  # fmt: skip
    weight = 1000.0 * 9.81 * HEIGHT**2
    shear = young / 2.6
    bending = weight * LENGTH**4 / (8 * young * HEIGHT**4 / 12)
    exact = bending + weight * LENGTH**2 / (2 * 5 / 6 * shear * HEIGHT**2)
    simulation = scene.simulation()
    try:
        simulation.start()
        simulation.advance()  # compiles and factorises
        start, frames = time.process_time(), round(DURATION / STEP) - 1
        for _ in range(frames):
            simulation.advance()
    except Diverged:
        return 0.0, 0.0
    took = 1e3 * (time.process_time() - start) / frames
    drop = -simulation.row()[simulation.columns.index("tip.z")]
    return drop / exact, took


def moduli(name: str, integrator: str, kept: bool) -> list[BenchResult]:
    """A line for each Young's modulus."""
    found = []
    with one_thread():
        for young in MODULI:
            ratio, took = sagging(young, integrator, kept)
            case = f"stiff/{name} {young:.0e}"
            if took == 0.0:
                found.append(BenchResult(case, 0.0, "diverges"))
                continue
            found.append(BenchResult(f"{case} tip", ratio, "of Timoshenko's"))
            found.append(BenchResult(case, took, "ms/step"))
    return found


@bench("stiff/leapfrog")
def leapfrog() -> list[BenchResult]:
    """Explicit steps, divided as far as the step allows."""
    return moduli("leapfrog", "leapfrog", False)


@bench("stiff/leapfrog-constraint")
def leapfrog_constraint() -> list[BenchResult]:
    """Explicit steps with the volume kept by a constraint."""
    return moduli("leapfrog-constraint", "leapfrog", True)


@bench("stiff/implicit")
def implicit() -> list[BenchResult]:
    """Implicit Euler steps."""
    return moduli("implicit", "implicit-euler", False)


@bench("stiff/compliant")
def compliant() -> list[BenchResult]:
    """Elastic energies as compliant constraints."""
    return moduli("compliant", "compliant-constraints", False)


@bench("stiff/implicit-constraint")
def implicit_constraint() -> list[BenchResult]:
    """Implicit Euler steps with the volume kept by a constraint."""
    return moduli("implicit-constraint", "implicit-euler", True)
