"""Barrier contact in implicit steps: the time of a step, how it grows, and what the auditor finds."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import pliant as pl
from pliant.contact import Contact
from pliant.contact.barrier.barrier_contact import BarrierContact
from pliant.contact.barrier.geometry import surface_of
from pliant.core.errors import MissingExtra
from pliant.core.typing import Array, IntArray
from pliant.mesh.mesh import boundary_triangles
from pliant.simulation.simulation import Simulation
from pliant_benchmarks.bench import BenchResult, bench
from pliant_benchmarks.bench_peers import need_peer

SOFT = {"young": 5e4, "poisson": 0.3, "density": 1000.0, "friction": 0.3}
BARS = {"1k": 3, "9k": 6, "29k": 9, "110k": 14}  # cells across a bar, by the number of tets

Parts = tuple[list[pl.Body], list[Any], float]


def crossed_bars(cells: int) -> Parts:
    """Two soft bars thrown onto each other and the ground, 40 cells^3 tets."""
    common: dict[str, Any] = {"model": "fem", "material": SOFT}
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


def _audited(parts: list[tuple[str, Array, IntArray]]) -> tuple[int, float | None]:
    """Edges through triangles, and the smallest distance [m] between bodies, by the auditor."""
    from pliant.audit.auditor import audit_state
    from pliant.audit.surface_frames import joined

    found = audit_state(joined("", parts))
    return found.crossings, found.distance


def crossings(simulation: Simulation) -> int:
    """Edges through triangles of the bodies' surfaces."""
    world, parts = simulation.system.world, []
    for part in world.bodies:
        own = surface_of(part)
        x = np.einsum("vk,vki->vi", own.weights, world.x[part.rows][own.rows])
        parts.append((part.name, x, own.triangles))
    return _audited(parts)[0]


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
            met += crossings(simulation)
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
    found = [stepped(f"contact/bars {name}", partial(crossed_bars, BARS[name]), 24) for name in names]
    tets = np.log([40.0 * BARS[name] ** 3 for name in names])
    power = float(np.polyfit(tets, np.log([each.value for each in found]), 1)[0])
    note = f"CPU time over tets, {names[0]} to {names[-1]}"
    return [*found, BenchResult(f"contact/exponent to {names[-1]}", power, "", note=note)]


def mujoco_bars(cells: int, step: float) -> tuple[float, int]:
    """Crossed bars by MuJoCo's flex, a grid of tets each: CPU milliseconds for each 10 ms, of a quarter of a
    second, and in how many of its 25 states the auditor finds the bars crossing."""
    import mujoco  # type: ignore[import-not-found]

    def flex(name: str, counts: tuple[int, int, int], place: str) -> str:
        count = " ".join(str(n + 1) for n in counts)
        return f"""
        <flexcomp name="{name}" type="grid" dim="3" count="{count}" spacing="{0.1 / cells} {0.1 / cells}
                  {0.1 / cells}" mass="4" radius="0.002" pos="{place}">
          <elasticity young="5e4" poisson="0.3" damping="0"/>
          <contact selfcollide="none" condim="3" friction="0.3"/>
          <edge equality="false"/>
        </flexcomp>"""

    model = mujoco.MjModel.from_xml_string(
        f"""
    <mujoco>
      <option gravity="0 0 -9.81" timestep="{step}" integrator="discrete"/>
      <size memory="1G"/>
      <worldbody>
        <geom name="ground" type="plane" size="5 5 0.1" friction="0.3"/>
        {flex("low", (4 * cells, cells, cells), "0.2 0.05 0.07")}
        {flex("high", (cells, 4 * cells, cells), "0.2 0.05 0.19")}
      </worldbody>
    </mujoco>"""
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    upper = range(int(model.flex_vertadr[1]), int(model.nflexvert))
    data.qvel[[int(model.body_dofadr[model.flex_vertbodyid[v]]) + 2 for v in upper]] = -2.0
    spent, crossed, every = 0.0, 0, round(0.01 / step)
    for _ in range(25):
        start = time.process_time()
        for _ in range(every):
            mujoco.mj_step(model, data)
        spent += time.process_time() - start
        crossed += _audited(_flex_parts(model, data))[0] > 0
    return 1e3 * spent / 25, crossed


def _flex_parts(model: Any, data: Any) -> list[tuple[str, Array, IntArray]]:
    found = []
    for k in range(2):
        elements, vertices = int(model.flex_elemdataadr[k]), int(model.flex_vertadr[k])
        tets = np.array(model.flex_elem[elements : elements + 4 * int(model.flex_elemnum[k])]).reshape(-1, 4)
        x = np.array(data.flexvert_xpos[vertices : vertices + int(model.flex_vertnum[k])])
        found.append((str(k), x, boundary_triangles(tets)))
    return found


@bench("contact/mujoco-flex")
def mujoco_flex() -> list[BenchResult]:
    """MuJoCo (pip install mujoco) on the crossed bars of 1000 tets; the ratio is to a step of ours."""
    need_auditor()
    need_peer("mujoco")
    ours, found = stepped("", lambda: crossed_bars(3), 24), []
    for step in (0.01, 0.002, 0.001):
        try:
            spent, crossed = mujoco_bars(3, step)
        except Exception as error:  # whatever another version of it raises
            raise MissingExtra(f"This version does not run the bars: {error}.") from error
        note = f"bars cross each other in {crossed} of 25 states; ours {ours.value:.3g} CPU ms, in none"
        case = f"contact/mujoco-flex {1e3 * step:g} ms"
        found.append(BenchResult(case, spent, "CPU ms/10 ms", None, spent / ours.value, None, note))
    return found
