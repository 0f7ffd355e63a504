"""Prints the table of campaigns of docs/multires.md: a minute of each body while its levels change.

    python docs/make_level_campaigns.py results.jsonl [hare doll ...] [--seconds 60]

Each body is simulated held and free, with and without damping. In its minute it is kicked twice, poked by a
ball, and cut in two. Rows that results.jsonl has are not computed again. Columns, all relative to the
largest kinetic and elastic energy: the largest rise of kinetic and elastic energy, less work done on the
body, above any earlier value; what the ledger does not explain; the largest fall of an account of losses, in
which a gain could hide; errors of the time scheme that were repaid, as a sum of absolute values; what changes
of level took. Of free bodies,
while nothing touches them: the drift of momentum relative to sqrt(2 m E), and of angular momentum relative
to itself.
"""

import argparse
import json
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl
from pliant.actions.obstacles import SphereShape
from pliant.core.curves import Curve
from pliant.validation.matrix.figures import FIGURES

BODIES = ("hare", "mushroom", "pot", "mug", "doll", "hand")
FPS = 60
LOSSES = tuple(f"energy.{name}" for name in ("levels", "friction", "damping", "fracture", "numerical"))


def scene(name: str, held: bool, damping: float, seconds: float) -> Any:
    """A body of the matrix, kicked at 0.2 and 0.25, poked from 0.45 on and cut at half of the time."""
    figure = FIGURES[name]
    surface = figure.surface()
    low, high = surface.points.min(axis=0), surface.points.max(axis=0)
    middle = 0.5 * (low + high)
    tissue = {"young": 2e4, "poisson": 0.35, "density": 1000.0, "damping": damping}
    body = pl.Body(
        surface, edge=figure.edge_length, model={"type": "multires"}, material=tissue, name=name,
        spin=(0, 0, 0) if held else (0.5, 1.0, 2.0),
    )  # fmt: skip
    top = {"body": name, "box": {"min": [-1, -1, middle[2]], "max": [1, 1, 1]}}
    rest = {"body": name, "box": {"min": [-1, -1, -1], "max": [1, 1, middle[2]]}}
    push = np.array([0.3, 0.2, -0.1]) * 0.2 * float(np.prod(high - low)) * 1000.0
    actions: list[Any] = []
    for at in (0.2, 0.25 * seconds):
        actions.append(pl.Impulse(select=top, value=tuple(push), at=at))
        if not held:  # so that it stays where the ball comes
            actions.append(pl.Impulse(select=rest, value=tuple(-push), at=at))
    foot = {"body": name, "box": {"min": [-1, -1, -1], "max": [1, 1, low[2] + 0.05 * (high[2] - low[2])]}}
    actions += [pl.Fix(select=foot)] * held
    far, near = (0.5, middle[1], middle[2]), (high[0] + 0.01, middle[1], middle[2])
    times = [0.0, 0.45 * seconds, 0.45 * seconds + 1.0, 0.45 * seconds + 3.0, 0.45 * seconds + 4.0]
    path = Curve(times, [far, far, near, near, far], ease="smooth")
    actions.append(pl.Obstacle(sphere=SphereShape(radius=0.05), position=path, friction=0.3, name="ball"))
    actions.append(pl.Cut(body=name, plane={"axis": "z", "at": float(middle[2])}, at=0.5 * seconds))
    return pl.Scene([body], actions, measures=[pl.Energy()], time=pl.TimeSettings(duration=seconds, fps=FPS))


def campaign(name: str, held: bool, damping: float, seconds: float) -> dict[str, Any]:
    """The figures of one run."""
    begun, simulation = time.process_time(), scene(name, held, damping, seconds).simulation()
    simulation.start()
    rows, momenta = [simulation.row()], []
    for _ in range(round(seconds * FPS)):
        simulation.advance()
        rows.append(simulation.row())
        mechanics = simulation.system.world.bodies[0].mechanics
        momenta.append(np.concatenate(mechanics.body.momenta()))
    series = dict(zip(simulation.columns, np.array(rows).T, strict=True))
    stored = series["energy.kinetic"] + series["energy.elastic"]
    own, largest, total = stored - series["energy.work"], float(stored.max()), series["energy.total"]
    found: dict[str, Any] = {
        "body": name, "held": held, "damping": damping, "seconds": seconds, "largest": largest,
        "nodes": np.diff(mechanics.hierarchy.first).tolist(),
        "changes": mechanics.body.changes, "denied": mechanics.body.denied,
        "rise": float((own - np.minimum.accumulate(own)).max() / largest),
        "ledger": float(np.abs(total - total[0]).max() / largest),
        "levels": float(series["energy.levels"][-1] / largest),
        "returned": max(float((np.maximum.accumulate(series[name]) - series[name]).max()) for name in LOSSES)
        / largest,
        "repaid": mechanics.body.accounts.repaid / largest,
        "cpu": time.process_time() - begun,
    }  # fmt: skip
    if not held:
        found |= drifts(np.array(momenta), series, seconds, float(mechanics.structure.mass.sum()), largest)
    return found


def drifts(momenta: Any, series: Any, seconds: float, mass: float, largest: float) -> dict[str, float]:
    """The largest drift of both momenta between kicks, contacts with the ball and the cut."""
    linear, angular = np.split(momenta, 2, axis=1)
    force = np.abs([series[f"ball.{c}"] for c in "xyz"]).sum(axis=0)
    touched = np.flatnonzero((force[1:] > 0.0) | (np.abs(np.diff(series["energy.work"])) > 0.0))
    events = np.unique([0, *touched, round(0.5 * seconds * FPS), len(momenta)])
    drift, turn = 0.0, 0.0
    for a, b in zip(events[:-1] + 2, events[1:] - 1, strict=True):
        if b > a + 1:
            drift = max(drift, float(np.abs(linear[a:b] - linear[a]).max()))
            size = float(np.linalg.norm(angular[a]))
            turn = max(turn, float(np.linalg.norm(angular[a:b] - angular[a], axis=1).max()) / size)
    return {"momentum": drift / np.sqrt(2.0 * mass * largest), "angular": turn}


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = [
        "| body | | nodes | changes (given up) | rise | ledger | returned | repaid | levels | momentum "
        "| angular momentum |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        how = f"{'held' if row['held'] else 'free'}, {'damped' if row['damping'] else 'undamped'}"
        free = [f"{row[key]:.0e}" if key in row else "" for key in ("momentum", "angular")]
        cells = [
            row["body"], how, ", ".join(str(n) for n in row["nodes"]), f"{row['changes']} ({row['denied']})",
            f"{row['rise']:.0e}", f"{row['ledger']:.0e}", f"{row['returned']:.0e}", f"{row['repaid']:.2f}",
            f"{row['levels']:.3f}", *free,
        ]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("bodies", nargs="*", default=BODIES)
    parser.add_argument("--seconds", type=float, default=60.0)
    asked = parser.parse_args()
    lines = asked.results.read_text().splitlines() if asked.results.exists() else []
    rows = [json.loads(line) for line in lines]
    known = {(row["body"], row["held"], row["damping"], row["seconds"]) for row in rows}
    for damping, name, held in product((0.0, 1e-3), asked.bodies, (True, False)):
        if (name, held, damping, asked.seconds) not in known:
            rows.append(campaign(name, held, damping, asked.seconds))
            with asked.results.open("a") as out:
                out.write(json.dumps(rows[-1]) + "\n")
    print(table([row for row in rows if row["seconds"] == asked.seconds]))


if __name__ == "__main__":
    main()
