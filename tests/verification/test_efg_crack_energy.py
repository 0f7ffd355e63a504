"""Meshless bodies that break: closed books, no strings, a stop where positions are lost."""

from typing import Any

import numpy as np
import pytest
from bodies import MATERIAL, block, shaken, simulate, values

import pliant as pl
from pliant.core.errors import Diverged
from pliant.mesh.shapes import box
from pliant.models.efg.resample import apply_resampling, resample
from pliant.scene import Body

BRITTLE = {"young": 1e7, "poisson": 0.3, "density": 1000.0, "strength": 1e5}


def cube(divide: bool) -> Body:
    """A cube of 0.1 m in an odd direction, 2 mm above the ground, on its way down at 5 m/s."""
    made: dict[str, Any] = {"edge": 0.02, "model": {"type": "efg", "divide": divide}, "material": BRITTLE}
    made["rotation"] = {"axis": (1.0, 0.3, 0.0), "degrees": 25.0}
    lowest = float(Body(box(0.1, 0.1, 0.1), **made).structure().rest[:, 2].min())
    return Body(box(0.1, 0.1, 0.1), **made, name="cube", position=(0, 0, 2e-3 - lowest), velocity=(0, 0, -5))


@pytest.mark.parametrize("divide", [True, False])
def test_a_cube_that_shatters_gains_nothing(divide: bool) -> None:
    """1 kg at 5 m/s brings 12.5 J: after 10 ms the ledger closes to 1 % of them, and no pair of phyxels that
    still see each other is stretched more than 1.2 and four breaking strains."""
    simulation = simulate([cube(divide)], [pl.Gravity(), pl.Ground()], seconds=0.01, fps=400.0)
    found, world = values(simulation), simulation.system.world
    assert found["fracture.pieces"] > 1
    assert found["energy.fracture"] > 0.01 * 12.5
    assert abs(found["energy.unexplained"]) < 0.01 * 12.5
    assert found["energy.kinetic"] + found["energy.elastic"] < 12.5
    assert simulation.guard is not None
    assert not simulation.guard.broken
    mechanics: Any = world.bodies[0].mechanics
    s, x, rest = mechanics.support, world.x, mechanics.reference
    i, j = s.rows[s.weight > 0.0], s.around[s.weight > 0.0]
    stretch = np.linalg.norm(x[j] - x[i], axis=1) / np.linalg.norm(rest[j] - rest[i], axis=1)
    assert stretch.max() < 1.3
    assert world.mass.sum() == pytest.approx(1.0, rel=1e-12)


def deformed(model: dict[str, Any]) -> tuple[Any, np.ndarray]:
    """A block that can break, shaken and stretched."""
    body = block((5, 3, 3), model={"type": "efg", **model}, material={**MATERIAL, "strength": 1e4})
    structure = body.structure()
    return body.model.prepare(structure, body.resolved_material), shaken(structure.rest, 0.012) * [
        1.1,
        0.97,
        1.0,
    ]


@pytest.mark.parametrize(
    "model",
    [{}, {"divide": False}, {"law": "st-venant-kirchhoff"}, {"volume-stiffness": 1e5}, {"hourglass": 0.0}],
)
def test_a_crack_takes_energy_and_never_gives_any(model: dict[str, Any]) -> None:
    """Half a cut through a deformed body: what it stores less is what it reports, and forces are minus the
    gradient of what it stores then, without force or torque."""
    mechanics, x = deformed(model)
    rest = mechanics.structure.rest
    before = mechanics.energy(x)
    mechanics.mark_cut(x, rest[:, 0] - 0.29)
    if mechanics.moved is not None:
        x = x[mechanics.parents] + mechanics.moved
    assert mechanics.open_faces(None, mechanics.structure.rest[:, 2] > 0.12, x)
    after = mechanics.energy(x)
    assert after <= before
    assert mechanics._fracture_energy == pytest.approx(before - after, abs=1e-10 * before)
    assert mechanics._fracture_energy > 1e-4 * before
    force = np.zeros_like(x)
    mechanics.add_elastic_forces(x, force)
    way = np.random.default_rng(3).normal(size=x.shape)
    slope = (mechanics.energy(x + 1e-7 * way) - mechanics.energy(x - 1e-7 * way)) / 2e-7
    assert slope == pytest.approx(-float((force * way).sum()), rel=1e-5, abs=1e-9)
    assert np.abs(force.sum(axis=0)).max() < 1e-9 * np.abs(force).sum()
    assert np.abs(np.cross(x, force).sum(axis=0)).max() < 1e-9 * np.abs(force).sum()


def test_pairs_that_are_pulled_too_far_apart_part_for_good() -> None:
    """A block whose end has moved far away parts there, and its halves stay apart when phyxels divide."""
    mechanics, _ = deformed({})
    rest, faces = mechanics.structure.rest, mechanics.cracking.faces
    end = rest[:, 0] > 0.35
    assert faces.part_overstretched(rest, 1.3) == -1
    x = rest + end[:, None] * [1.0, 0.0, 0.0]
    assert faces.part_overstretched(x, 1.3) > 0
    count, label = faces.pieces()
    assert count == 2
    assert set(label[end]).isdisjoint(label[~end])
    mechanics.cracking.splitter.divide_along(rest[:, 1] - 0.11)
    assert len(faces.rest) > len(rest)
    seen = faces.support()
    far = faces.rest[:, 0] > 0.35
    assert not (seen.weight[far[seen.rows] != far[seen.around]] > 0.0).any()
    halves = far[faces.parted]
    assert (halves[:, 0] != halves[:, 1]).all()
    assert (faces.parted >= len(rest)).any()


def test_positions_that_are_no_numbers_stop_the_run() -> None:
    mechanics, x = deformed({})
    x[7, 1] = np.nan
    with pytest.raises(Diverged, match="particle 7"):
        mechanics.after_step(1.0, 1e-4, x, x)


def test_resampling_a_body_that_has_flowed_keeps_its_elastic_energy() -> None:
    """A bar of clay drawn to 2.4 times its length by plastic flow alone, with 1 % of elastic stretch and a
    turn: new phyxels store the same energy within 3 %; blended plastic parts stored several times as much."""
    clay = {"young": 1e6, "poisson": 0.4, "density": 1000.0, "yield": 2e4}
    body = block((6, 3, 3), model={"type": "efg", "resample": True}, material=clay)
    structure = body.structure()
    m: Any = body.model.prepare(structure, body.resolved_material)
    c, s = np.cos(0.8), np.sin(0.8)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    along = 1.0 + 0.15 * np.sin(9.0 * structure.rest[:, :1])  # flow that differs from place to place
    bent = structure.rest * np.hstack([2.4 * along, along**-0.5, along**-0.5]) * [1.0, 0.65, 0.65]
    F = m.gradients(bent).reshape(-1, 3, 3)
    m.plastic[:, :9] = np.linalg.inv(F).reshape(-1, 9)
    x = bent * [1.01, 0.996, 0.996] @ turn.T
    before = m.energy(x) - m.hourglass_energy(x)
    new = resample(x, structure, m.support)
    assert new is not None
    taken = apply_resampling(m, new, x)
    place = new.blended(x)
    assert m.energy(place) - m.hourglass_energy(place) == pytest.approx(before, rel=0.03)
    assert np.isfinite(taken)
