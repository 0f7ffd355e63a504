"""Phyxels that come and go where a body flows."""

from typing import Any

import numpy as np
import pytest
from bodies import block

import pliant as pl
from pliant.core.errors import IncompatibleError
from pliant.mesh.mesh import surface_volume
from pliant.models.efg.resample import resample

CLAY = {"young": 1e6, "poisson": 0.4, "density": 1000.0, "yield": 2e4}
MODEL = {"type": "efg", "resample": True}


def prepared() -> tuple[Any, Any]:
    body = block((6, 3, 3), model=MODEL, material=CLAY)
    structure = body.structure()
    return structure, body.model.prepare(structure, body.resolved_material)


def moments(x: np.ndarray, mass: np.ndarray) -> np.ndarray:
    return np.concatenate([[mass.sum()], (mass[:, None] * x).sum(axis=0)])


@pytest.mark.parametrize(("stretch", "more"), [((2.0, 0.7, 0.7), True), ((0.4, 1.6, 1.6), None)])
def test_gaps_are_filled_and_crowds_thinned_with_mass_and_its_centre_kept(
    stretch: tuple[float, ...], more: bool | None
) -> None:
    structure, mechanics = prepared()
    x = structure.rest * stretch
    found = resample(x, structure, mechanics.support)
    assert found is not None
    new = found.blended(x)
    assert moments(new, found.mass) == pytest.approx(moments(x, structure.mass), rel=1e-12)
    v = np.random.default_rng(0).normal(size=x.shape)
    assert moments(found.blended(v), found.mass) == pytest.approx(moments(v, structure.mass), rel=1e-11)
    assert found.blended(structure.rest) * stretch == pytest.approx(new, abs=1e-12)
    assert found.mass.min() > 0.0
    merged = (found.weights[:, 1] > 0).sum()
    if more:
        assert len(new) > 1.3 * len(x)
    else:  # layers are 0.4 spacings apart: half of them go; across, gaps of 1.6 are filled
        assert merged > 0
        gap = np.linalg.norm(new[:, None] - new[None], axis=2) + np.eye(len(new))
        old = np.linalg.norm(x[:, None] - x[None], axis=2) + np.eye(len(x))
        assert (gap < 0.5 * structure.spacing).sum() < 0.2 * (old < 0.5 * structure.spacing).sum()


def test_a_body_at_rest_is_left_alone() -> None:
    structure, mechanics = prepared()
    assert resample(structure.rest, structure, mechanics.support) is None


def test_a_pulled_bar_gets_phyxels_and_keeps_mass_momentum_and_volume() -> None:
    body = block((6, 3, 3), model=MODEL, material=CLAY)
    actions = [
        pl.Move(body, pl.where.plane("x", "min"), velocity=(-4, 0, 0)),
        pl.Move(body, pl.where.plane("x", "max"), velocity=(4, 0, 0)),
        pl.Damping(rate=20.0),
    ]
    scene = pl.Scene([body], actions, time=pl.TimeSettings(duration=0.1, fps=50))
    simulation = scene.simulation()
    simulation.start()
    world = simulation.system.world
    part = world.bodies[0]
    count, mass = world.count, float(world.mass.sum())
    for _ in range(5):
        simulation.advance()
    assert np.ptp(world.x[:, 0]) == pytest.approx(1.4, rel=1e-9)
    assert world.count > 1.2 * count
    assert world.mass.sum() == pytest.approx(mass, rel=1e-12)
    assert np.abs((world.mass[:, None] * world.v).sum(axis=0)).max() < 0.02 * mass
    carrier: Any = part.structure.carrier
    volume = surface_volume(carrier.positions(world.x), carrier.surface.triangles)
    assert volume == pytest.approx(0.6 * 0.3 * 0.3, rel=0.05)
    gap = np.sort(np.linalg.norm(world.x[:, None] - world.x[None], axis=2), axis=1)[:, 6]
    assert gap.max() < 2.0 * part.structure.spacing


def test_only_bodies_that_flow_and_do_not_break_are_sampled_anew() -> None:
    for material in ({k: v for k, v in CLAY.items() if k != "yield"}, {**CLAY, "strength": 1e5}):
        body = block((3, 3, 3), model=MODEL, material=material)
        with pytest.raises(IncompatibleError, match="resample"):
            body.model.prepare(body.structure(), body.resolved_material)
