"""Other engines, where they are installed, on one cantilever: the same beam, grid and question as ours.

Beam 2.0 x 0.2 x 0.2 m of 24 x 3 x 3 cells, E 3 MPa, Poisson's ratio 0.45, density 1200, g 10, let go from
straight: how far has the tip fallen after 0.35 s? An engine is run with shorter and shorter steps until its
answer is within ACCURATE of that of the shortest; the figure is the CPU time of one thread per simulated
second with that step. The note says its answer and ours on the same grid; there is a ratio where the two are
within SAME. An engine that is missing, does not load or refuses the scene is skipped with what it said.
"""

import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from pliant.core.errors import MissingExtra
from pliant.integrators import ImplicitMidpoint
from pliant_benchmarks.bench import BenchResult, bench
from pliant_benchmarks.bench_cantilever import STEP, one_thread, play

CELLS, SIZE, END = (24, 3, 3), (2.0, 0.2, 0.2), 0.35
STEPS = (4e-3, 2e-3, 1e-3, 5e-4)
ACCURATE, SAME = 0.02, 0.05  # of its own answer, and of ours

Fall = Callable[[float], tuple[float, float]]
"""A step [s] to the tip's fall [m] after END and the CPU time [s] spent; not a number where it diverged."""


def need_peer(package: str, module: str = "") -> Any:
    """The module of an engine; MissingExtra where it is not installed, or is and does not load."""
    name = module or package
    try:
        return import_module(name)
    except Exception as error:  # whatever another project's start-up raises
        if isinstance(error, ModuleNotFoundError) and error.name == name:
            said = f"{package} is not installed here."
        else:
            said = f"{package} is installed and does not load: {_first_line(error)}."
        raise MissingExtra(said, hint=f"pip install {package}") from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def enough(fall: Fall, steps: Sequence[float]) -> tuple[float, float, float]:
    """The longest of the steps whose answer is within ACCURATE of the shortest one's: step, fall, seconds."""
    found = [fall(step) for step in steps]
    exact = found[-1][0]
    for step, (drop, seconds) in zip(steps, found, strict=True):
        if abs(drop - exact) <= ACCURATE * abs(exact):
            return step, drop, seconds
    return steps[-1], exact, found[-1][1]


def ours() -> tuple[float, float]:
    """Our fall [m] on the same grid by the midpoint rule, and CPU seconds."""
    with one_thread():
        run = play(CELLS, ImplicitMidpoint(), 18 * STEP)
    return float(run.drops[17]), float(run.seconds.sum())


def beside(name: str, fall: Fall, steps: Sequence[float] = STEPS) -> list[BenchResult]:
    """A peer's figure; the ratio says how many times less CPU time ours takes."""
    try:
        step, drop, seconds = enough(fall, steps)
    except Exception as error:  # whatever another version of it raises
        raise MissingExtra(f"This version does not run the beam: {_first_line(error)}.") from error
    own, spent = ours()
    note = (
        f"falls {drop:.4f} m with steps of {1e3 * step:g} ms; ours {own:.4f} m in {spent / END:.3g} CPU s/s "
        f"with steps of {1e3 * STEP:.3g} ms"
    )
    same = abs(drop / own - 1.0) <= SAME
    if not same:
        note += "; the answers differ too much for a ratio"
    return [BenchResult(name, seconds / END, "CPU s/s", None, seconds / spent if same else None, None, note)]


def mujoco_fall(step: float) -> tuple[float, float]:
    """MuJoCo's flex, a grid of tets with its elasticity integrated implicitly."""
    import mujoco  # type: ignore[import-not-found]

    counts = " ".join(str(n + 1) for n in CELLS)
    spacing = " ".join(repr(s / n) for s, n in zip(SIZE, CELLS, strict=True))
    text = f"""
    <mujoco>
      <option gravity="0 0 -10" timestep="{step}" integrator="discrete"><flag contact="disable"/></option>
      <size memory="200M"/>
      <worldbody>
        <flexcomp name="beam" type="grid" dim="3" count="{counts}" spacing="{spacing}" mass="96"
                  radius="0.001">
          <elasticity young="3e6" poisson="0.45" damping="0"/>
          <contact selfcollide="none"/>
          <edge equality="false"/>
          <pin gridrange="0 0 0 0 {CELLS[1]} {CELLS[2]}"/>
        </flexcomp>
      </worldbody>
    </mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rest = np.array(data.flexvert_xpos)
    tip = rest[:, 0] > rest[:, 0].max() - 1e-6
    start = time.process_time()
    for _ in range(round(END / step)):
        mujoco.mj_step(model, data)
    seconds = time.process_time() - start
    return float((rest - np.array(data.flexvert_xpos))[tip, 2].mean()), seconds


@bench("peers/mujoco-flex")
def mujoco() -> list[BenchResult]:
    """MuJoCo (pip install mujoco)."""
    need_peer("mujoco")
    return beside("peers/mujoco-flex", mujoco_fall)


def pypbd_fall(step: float) -> tuple[float, float]:
    """PositionBasedDynamics' XPBD with finite elements, one iteration a step.

    Its gravity is 9.81 along -y: with E, and the square of the rate of time, times 0.981 the motion is ours.
    """
    import pypbd  # type: ignore[import-not-found]

    slower = 0.981
    simulation = pypbd.Simulation.getCurrent()
    simulation.initDefault()
    model = simulation.getModel()
    model.addRegularTetModel(*(n + 1 for n in CELLS), scale=list(SIZE))
    particles = model.getParticles()
    rest = np.array([particles.getPosition0(i) for i in range(particles.getNumberOfParticles())])
    low, high = rest.min(axis=0), rest.max(axis=0)
    share = np.where((rest < low + 1e-9) | (rest > high - 1e-9), 0.5, 1.0).prod(axis=1)
    for i, mass in enumerate(np.where(rest[:, 0] < low[0] + 1e-9, 0.0, 96.0 * share / share.sum())):
        particles.setMass(i, float(mass))
    model.addSolidConstraints(model.getTetModels()[0], 3, 3e6 * slower, 0.45, 1.0, False, False)
    stepper = simulation.getTimeStep()
    stepper.setValueUInt(pypbd.TimeStepController.NUM_SUB_STEPS, 1)
    stepper.setValueUInt(pypbd.TimeStepController.MAX_ITERATIONS, 1)
    pypbd.TimeManager.getCurrent().setTimeStepSize(step / np.sqrt(slower))
    start = time.process_time()
    for _ in range(round(END / step)):
        stepper.step(model)
    seconds = time.process_time() - start
    tip = np.flatnonzero(rest[:, 0] > high[0] - 1e-9)
    now = np.array([particles.getPosition(int(i)) for i in tip])
    simulation.reset()
    return float((rest[tip] - now)[:, 1].mean()), seconds


@bench("peers/pypbd-xpbd")
def pypbd() -> list[BenchResult]:
    """PositionBasedDynamics (pip install pypbd)."""
    need_peer("pypbd")
    return beside("peers/pypbd-xpbd", pypbd_fall, STEPS[1:])
