"""Multiresolution bodies whose levels come and go: what they do beside the finest mesh, and their energy."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.actions.obstacles import SphereShape
from pliant.core.curves import Curve
from pliant.mesh.shapes import box


def poked(detail: str = "adaptive") -> Any:
    """The slab of the study that a ball presses."""
    table = {"type": "multires", "detail": detail}
    tissue = {"young": 2e4, "poisson": 0.3, "density": 1000.0, "damping": 2e-3}
    slab = pl.Body(
        box(0.4, 0.4, 0.15, divisions=(10, 10, 4), split="uniform"), model=table, material=tissue, name="slab"
    )
    path = Curve([0.0, 0.6], [(0.2, 0.2, 0.22), (0.2, 0.2, 0.17)], ease="smooth")
    ball = pl.Obstacle(sphere=SphereShape(radius=0.06), position=path, friction=0.3, name="finger")
    scene = pl.Scene(
        [slab],
        [pl.Fix(slab, pl.where.plane("z", "min")), ball],
        measures=[pl.Energy()],
        time=pl.TimeSettings(duration=1.0, fps=50),
    )
    return _frames(scene, 50)


def _frames(scene: Any, count: int) -> Any:
    """The simulation after so many frames, its series, and the split flags of each frame."""
    simulation = scene.simulation()
    simulation.start()
    mechanics = simulation.system.world.bodies[0].mechanics
    rows, splits = [simulation.row()], []
    for _ in range(count):
        simulation.advance()
        rows.append(simulation.row())
        splits.append(mechanics.body.arrangement.split.copy())
    series = dict(zip(simulation.columns, np.array(rows).T, strict=True))
    return simulation, series, splits


@pytest.fixture(scope="module")
def finest() -> Any:
    return poked("finest")


def test_a_tool_feels_what_the_finest_mesh_would_push_back(finest: Any) -> None:
    """Force on the tool and shape at the end; levels that still change when the ball rests do not show in the
    force."""
    simulation, series, splits = poked()
    world, whole = simulation.system.world, finest[0].system.world
    off = np.linalg.norm(world.x - whole.x, axis=1)
    largest = np.linalg.norm(whole.x - whole.rest, axis=1).max()
    assert np.sqrt(np.mean(off**2)) < 0.02 * largest
    assert off.max() < 0.1 * largest
    assert abs(series["finger.z"][-1] / finest[1]["finger.z"][-1] - 1.0) < 0.05
    assert splits[-1].sum() > 0
    assert np.ptp(series["finger.z"][35:]) < 0.01 * series["finger.z"][-1]
    assert series["energy.work"][-1] == pytest.approx(finest[1]["energy.work"][-1], rel=0.05)


def test_the_ledger_closes_while_levels_change() -> None:
    """Kinetic and elastic energy are those of what is simulated, and what a change of levels takes is booked:
    to 1e-3 of what the ball gave."""
    _, series, splits = poked()
    assert sum(int((a != b).sum()) for a, b in pairwise(splits)) >= 5
    total = series["energy.total"]
    assert np.abs(total - total[0]).max() < 1e-3 * series["energy.work"].max()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hare", "doll", "octopus"])
@pytest.mark.parametrize("damping", [0.0, 1e-3])
@pytest.mark.parametrize("held", [True, False])
def test_a_minute_of_kicks_on_thin_bodies_gains_nothing(name: str, damping: float, held: bool) -> None:
    """Kinetic and elastic energy less the work of the kicks never rises by 2e-3 of the largest; the ledger
    closes to 2e-3; free bodies keep their momentum to rounding and their spin to 1 %."""
    from pliant.validation.matrix.figures import FIGURES

    figure = FIGURES[name]
    material = {"young": 2e4, "poisson": 0.35, "density": 1000.0, "damping": damping}
    body = pl.Body(
        figure.surface(), edge=figure.edge_length, model={"type": "multires"}, material=material, name=name,
        spin=(0, 0, 0) if held else (1, 2, 4),
    )  # fmt: skip
    top = {"body": name, "box": {"min": [-1, -1, 0.08], "max": [1, 1, 1]}}
    kicks = [pl.Impulse(select=top, value=(0.08, 0.06, -0.04), at=at) for at in (0.2, 15.0, 30.0)]
    foot = [pl.Fix(body, {"box": {"min": [-1, -1, -1], "max": [1, 1, 0.02]}})] * held
    simulation = pl.Scene([body], [*foot, *kicks], time=pl.TimeSettings(duration=60, fps=60)).simulation()
    simulation.start()
    rows, momenta = [simulation.row()], []
    for _ in range(3600):
        simulation.advance()
        rows.append(simulation.row())
        momenta.append(np.concatenate(simulation.system.world.bodies[0].mechanics.body.momenta()))
    series = dict(zip(simulation.columns, np.array(rows).T, strict=True))
    stored = series["energy.kinetic"] + series["energy.elastic"]
    own, largest = stored - series["energy.work"], stored.max()
    assert (own - np.minimum.accumulate(own)).max() < 2e-3 * largest
    assert np.abs(series["energy.total"] - series["energy.total"][0]).max() < 2e-3 * largest
    if not held:
        linear, angular = np.split(np.array(momenta[1860:]), 2, axis=1)
        assert np.abs(linear - linear[0]).max() < 1e-10 * np.abs(linear[0]).max()
        assert np.abs(angular - angular[0]).max() < 0.01 * np.abs(angular[0]).max()


def test_an_undamped_beam_keeps_its_energy_while_levels_change() -> None:
    """A clamped beam that falls and swings: 39 J of gravity at hand, 77 J of which move."""
    beam = pl.Body(
        box(1.0, 0.2, 0.2, divisions=(15, 3, 3), split="uniform"),
        model={"type": "multires"},
        material={"young": 1e6, "poisson": 0.3, "density": 1000.0},
    )
    scene = pl.Scene(
        [beam],
        [pl.Gravity(), pl.Fix(beam, pl.where.plane("x", "min"))],
        measures=[pl.Energy()],
        time=pl.TimeSettings(duration=0.6, fps=50),
    )
    _, series, splits = _frames(scene, 30)
    assert splits[-1].sum() > 10
    moved = np.ptp(series["energy.elastic"] + series["energy.kinetic"])
    assert np.abs(series["energy.total"] - series["energy.total"][0]).max() < 0.01 * moved
    heat = np.abs(series["energy.dissipated"]).max()  # of changes of levels: there is no damping
    assert 0.0 < heat < 0.1 * moved
