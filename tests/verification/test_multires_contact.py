"""Contacts of bodies with levels, whose steps are as long as a frame."""

import numpy as np

import pliant as pl


def test_a_particle_that_is_pulled_onto_the_ground_touches_it_in_time() -> None:
    """A bar is held at one end, horizontal and at rest, its free end too far above the ground to look like a
    contact; the load pulls that down within one step. Its particles begin to touch at the surface, not where
    they are found at the end of the step: springs that begin deep inside hold energy from nothing."""
    soft = {"young": 3e4, "poisson": 0.3, "density": 1000.0}
    bar = pl.Body(
        pl.shapes.box(0.4, 0.05, 0.05, divisions=(16, 2, 2)), model="multires", material=soft,
        position=(0.0, 0.0, 0.035), name="bar",
    )  # fmt: skip
    held = pl.Fix(bar, pl.where.plane("x", "min"))
    scene = pl.Scene([bar], [held, pl.Gravity(acceleration=(0.0, 0.0, -300.0)), pl.Ground()], [pl.Energy()])
    scene.time = type(scene.time)(duration=0.2, fps=50)
    simulation = scene.simulation()
    simulation.start()
    found = []
    for _ in range(10):
        simulation.advance()
        found.append(dict(zip(simulation.columns, simulation.row(), strict=True)))
    unexplained = np.array([row["energy.unexplained"] for row in found])
    moved = max(row["energy.kinetic"] + row["energy.elastic"] for row in found)
    assert max(row["energy.friction"] for row in found) > 0.01 * moved  # it did touch
    assert np.abs(unexplained).max() < 1e-3 * moved
