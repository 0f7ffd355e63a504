"""A scene at given parameters, simulated in memory: what workers of a fit do."""

import numpy as np

from pliant.calibration.measurements import simulated_curve
from pliant.campaign.resolved_scene import scene_at
from pliant.core.errors import Diverged, PliantError
from pliant.core.parameters import to_table
from pliant.core.tables import Table
from pliant.core.typing import Array
from pliant.scene.scene import Scene


def evaluate(given: Table) -> Table:
    """``curves``: a pair of arrays for each (formula, abscissa) of ``given``; or ``failed`` with the reason.

    given: "text", the scene; "values" by key; "curves", pairs of formulas.
    """
    try:
        series = simulate(scene_at(given["text"], given["values"]))
    except Diverged as error:
        return {"failed": str(error)}
    try:
        return {"curves": [simulated_curve(series, *pair) for pair in given["curves"]]}
    except PliantError as error:
        return {"wrong": str(error)}


def simulate(scene: Scene) -> dict[str, Array]:
    """All series of a run of ``scene``, a value per frame; nothing is written."""
    simulation = scene.simulation()
    simulation.start()
    rows = [simulation.row()]
    for _ in range(scene.time.frames() - 1):
        simulation.advance()
        rows.append(simulation.row())
    table = np.array(rows, float)
    found: dict[str, Array] = {name: table[:, k] for k, name in enumerate(simulation.columns)}
    return found | {"time": np.arange(len(rows)) / scene.time.fps}


def frozen_time(given: Table) -> Table:
    """Step [s] and integrator that the scene would take at ``values``: a fit keeps them, so that differences
    of runs are differences of parameters."""
    simulation = scene_at(given["text"], given["values"]).simulation()
    integrator = simulation.integrator
    return {
        "time.step": simulation.plan.seconds,
        "time.integrator": {"type": integrator.kind, **to_table(integrator)},
        "explicit": bool(np.isfinite(simulation.plan.limit)),
    }
