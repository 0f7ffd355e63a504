"""Small scenes that cases share, run in memory."""

from collections.abc import Sequence
from typing import Any

from pliant.interfaces import Integrator
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene
from pliant.scene.scene import TimeSettings
from pliant.simulation.simulation import Simulation

MATERIAL = {"young": 1e5, "poisson": 0.3, "density": 1000.0}


def block(model: Any, divisions: tuple[int, int, int] = (3, 2, 2), **options: Any) -> Body:
    """A structured block with cells of 0.1 m."""
    size = tuple(0.1 * n for n in divisions)
    return Body(box(*size, divisions=divisions), model=model, **{"material": MATERIAL, **options})


def played(
    bodies: Sequence[Body],
    actions: Sequence[Any],
    seconds: float,
    measures: Sequence[Any] = (),
    integrator: str | Integrator = "leapfrog",
    step: float | str = "auto",
    fps: float = 50.0,
) -> tuple[Simulation, list[dict[str, float]]]:
    """Run a scene in memory: the simulation at its end, and the series of every frame."""
    plan = TimeSettings(duration=seconds, fps=fps, step=step, integrator=integrator)
    simulation = Scene(bodies, actions, measures, time=plan).simulation()
    simulation.start()
    rows = [simulation.row()]
    for _ in range(plan.frames() - 1):
        simulation.advance()
        rows.append(simulation.row())
    return simulation, [dict(zip(simulation.columns, row, strict=True)) for row in rows]
