"""The meshless model: neighbours, implicit steps, bad input."""

from typing import Any

import numpy as np
import pytest
from bodies import MATERIAL, block, shaken, simulate

import pliant as pl
from pliant.core.errors import IncompatibleError, PliantError
from pliant.models.efg import mls_kernels
from pliant.models.efg.support import neighbours


def test_the_cell_grid_finds_the_pairs_that_everyone_finds() -> None:
    dice = np.random.default_rng(0)
    x, h = dice.uniform(0, 1, (300, 3)) * [3.0, 1.0, 0.5], dice.uniform(0.1, 0.4, 300)
    starts, around = neighbours(x, h)
    distance = np.linalg.norm(x[:, None] - x, axis=2)
    near = (distance < 0.5 * (h[:, None] + h)) & ~np.eye(300, dtype=bool)
    for i in range(300):
        assert np.array_equal(around[starts[i] : starts[i + 1]], np.flatnonzero(near[i]))


def prepared(**options: Any) -> tuple[Any, Any]:
    body = block((6, 4, 4), model={"type": "efg", **options})
    structure = body.structure()
    return structure, body.model.prepare(structure, body.resolved_material)


def test_serial_and_parallel_give_the_same_bytes() -> None:
    structure, mechanics = prepared()
    x = shaken(structure.rest, 0.02)
    found = []
    for parallel in (False, True):
        mechanics.parallel = parallel
        out = np.zeros_like(x)
        mechanics.add_forces(x, np.zeros_like(x), out)
        found.append((mechanics.energy(x), out))
    assert found[0][0] == found[1][0]
    assert np.array_equal(found[0][1], found[1][1])


def test_a_flat_neighbourhood_has_no_energy_under_rotation() -> None:
    """Phyxels in a plane sample two directions; a rigid turn must not look like strain across it."""
    structure, mechanics = prepared()
    from pliant.core.rotation import Rotation
    from pliant.models.efg.support import connect

    sheet = structure.rest.copy()
    sheet[:, 2] = np.where(structure.rest[:, 2] < 0.05, 0.0, 100.0 * structure.rest[:, 2])
    mechanics.structure = type(structure)(sheet, structure.mass, {}, {}, structure.spacing)
    mechanics.set_support(connect(sheet, mechanics.support.h))
    assert mechanics.support.flat.all()
    turned = sheet @ Rotation(axis=(1, 2, 3), degrees=70).matrix().T
    out = np.zeros_like(turned)
    mechanics.add_forces(turned, out, out)
    stretched = sheet * [1.01, 1.0, 1.0]
    assert abs(mechanics.energy(turned)) < 1e-9 * mechanics.energy(stretched)
    assert np.abs(out).max() < 1e-9 * MATERIAL["young"] * 0.01
    assert mls_kernels.FLAT


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("young", [1e7, 1e9, 1e11])
def test_stiff_bodies_run_implicitly_at_a_hundredth_of_a_second(young: float, kept: bool) -> None:
    """Any E at dt = 1/100 s, with and without a constraint on the volume: explicit steps would have to be
    up to ten thousand times shorter."""
    body = pl.Body(
        pl.shapes.box(0.4, 0.1, 0.1),
        edge=0.05,
        model="efg",
        material={"young": young, "poisson": 0.3, "density": 1000.0},
    )
    constraint = [pl.VolumeConstraint(body)] if kept else []
    simulation = simulate(
        [body],
        [pl.Gravity(9.81), pl.Fix(body, pl.where.plane("x", "min")), pl.Damping(rate=20.0), *constraint],
        seconds=0.3,
        step=0.01,
        integrator="implicit-euler",
        fps=20,
    )
    world = simulation.system.world
    tip = (world.x - world.rest)[world.rest[:, 0] > 0.39, 2].mean()
    q, i = 1000 * 9.81 * 0.01, 0.1**4 / 12
    expected = -q * 0.4**4 / (8 * young * i) - q * 0.4**2 / (2 * 5 / 6 * young / 2.6 * 0.01)
    assert tip == pytest.approx(expected, rel=0.05)


def test_what_cannot_be_done_is_said() -> None:
    body = pl.Body(pl.shapes.box(0.3, 0.2, 0.2), edge=0.1, model="efg", material="wood")
    structure = body.structure()
    with pytest.raises(IncompatibleError, match="isotropic"):
        body.model.prepare(structure, body.resolved_material)
    with pytest.raises((PliantError, ValueError), match="radius does nothing"):
        pl.Body(pl.shapes.box(0.3, 0.2, 0.2), model={"type": "efg", "radius": 0.1})
    with pytest.raises(IncompatibleError, match="too few others"):
        prepared(support="radius", radius=0.05)
