"""The section force of a loaded bar: equilibrium with the load beyond the plane, in force and torque."""

import numpy as np
import pytest

import pliant as pl

LOAD, LENGTH, AT = np.array([3.0, -1.0, 2.0]), 0.8, 0.33
SOFT = {"young": 1e6, "poisson": 0.25, "density": 1000}


@pytest.mark.parametrize("model", ["mass-spring", "cpm2", "fem", {"type": "fem", "elements": "quadratic"}])
def test_force_and_torque_balance_the_load(model: object) -> None:
    """T = F through every section, and M = (c_end - c) x F about its middle."""
    bar = pl.Body(
        pl.shapes.box(LENGTH, 0.2, 0.2, divisions=(8, 2, 2)), model=model, material=SOFT, name="bar"
    )
    load = pl.Traction(bar, pl.where.plane("x", "max"), total=tuple(LOAD))
    scene = pl.Scene(
        [bar],
        [pl.Fix(bar, pl.where.plane("x", "min")), load],
        [pl.Flux(plane={"axis": "x", "at": AT}, name="cut")],
        integrator={"type": "static", "tolerance": 1e-8},
    )
    simulation = scene.simulation()
    simulation.start()
    simulation.advance()
    row = dict(zip(simulation.columns, simulation.row(), strict=True))
    force = np.array([row[f"cut.{axis}"] for axis in "xyz"])
    assert force == pytest.approx(LOAD, rel=1e-4)
    assert row["cut.total"] == pytest.approx(force[0])
    world = simulation.system.world
    out = np.zeros_like(world.x)
    for _, runtime in simulation.system.actions:
        runtime.add_forces(0.0, world.x, np.zeros_like(out), out)
    below, above = (np.abs(world.rest[:, 0] - x) < 1e-9 for x in (0.3, 0.4))
    middle = 0.7 * world.x[below].mean(axis=0) + 0.3 * world.x[above].mean(axis=0)
    if isinstance(model, str):  # quadratic tets have particles between these
        torque = np.cross(world.x - middle, out).sum(axis=0)
        assert [row[f"cut.torque.{axis}"] for axis in "xyz"] == pytest.approx(torque, rel=1e-3, abs=1e-6)
    lever = np.cross([LENGTH - AT, 0.0, 0.0], LOAD)  # at rest: strains of 1e-3 hardly move it
    assert [row[f"cut.torque.{axis}"] for axis in "xyz"] == pytest.approx(lever, rel=0.03, abs=0.02)
