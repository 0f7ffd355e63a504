"""Plastic flow of lattice bodies: volume, work and the resumed state."""

import numpy as np
import pytest
from bodies import simulate, values

import pliant as pl
from pliant.mesh.shapes import box
from pliant.scene import Body

YIELD = 2e4
DOUGH = {"young": 1e6, "poisson": 0.45, "density": 1000.0, "yield": YIELD, "damping": 5e-4}


def test_a_bar_pulled_to_twice_its_length_keeps_its_volume_and_books_its_work() -> None:
    """Ideal flow takes ``yield ln 2`` per volume; the ends, held along x only, and inertia take some more.
    Rest lengths that follow one by one swell the bar by 75 % and take three times that."""
    a, length, width = 0.025, 0.2, 0.1
    bar = Body(box(length, width, width), edge=a, model="lattice", material=DOUGH, name="bar")
    keys = [{"time": 0.0, "value": [0, 0, 0]}, {"time": 0.3, "value": [length - a, 0, 0]}]
    ends = [
        pl.Fix("bar", pl.where.plane("x", "min"), axes="x"),
        pl.Move("bar", pl.where.plane("x", "max"), displacement={"keys": keys}, axes="x"),
    ]
    simulation = simulate([bar], ends, seconds=0.32, integrator="leapfrog")
    world, found = simulation.system.world, values(simulation)
    body = world.bodies[0].mechanics.body
    ratios = body.volume_cells.ratios(world.x)
    assert np.average(ratios, weights=body.volume_cells.weights) == pytest.approx(1.0, abs=0.02)
    assert np.linalg.det(body.flow.deformation) == pytest.approx(1.0, abs=1e-10)
    ideal = YIELD * np.log(2.0) * (length - a) * width**2
    assert found["energy.plastic"] == pytest.approx(1.15 * ideal, rel=0.15)
    assert abs(found["energy.unexplained"]) < 1e-3 * found["energy.work"]


def test_a_new_rest_shape_of_a_part_leaves_it_without_flow() -> None:
    """Renormalised where it is bent, a bar has no force and no plastic strain to come there."""
    bar = Body(box(0.3, 0.1, 0.1), edge=0.025, model="lattice", material=DOUGH)
    structure = bar.structure()
    mechanics = bar.model.prepare(structure, bar.resolved_material)
    x = structure.rest * [1.3, 0.9, 0.9]
    chosen = structure.rest[:, 0] < 0.15
    mechanics.editor.renormalise(x, chosen)
    before = mechanics.connections.lengths
    mechanics.after_step(0.0, 1e-4, x, np.zeros_like(x))
    deep = structure.rest[:, 0] < 0.1
    inner = deep[mechanics.connections.edges].all(axis=1)
    assert mechanics.connections.lengths[inner] == pytest.approx(before[inner], rel=1e-9)
    f = np.zeros_like(x)
    mechanics.add_elastic_forces(x, f)
    assert np.abs(f[structure.rest[:, 0] < 0.075]).max() < 1e-6 * np.abs(f).max()
