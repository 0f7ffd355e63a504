"""Breaking lattice bodies: closed books, exact momenta, the toughness of the material."""

from typing import Any

import numpy as np
import pytest
from bodies import block, simulate, values

import pliant as pl
from pliant.mesh.shapes import box
from pliant.models.lattice.soft_connections import SofteningConnections
from pliant.models.springs.network import SpringNetwork
from pliant.scene import Body

BRITTLE = {"young": 1e7, "poisson": 0.25, "density": 1000.0, "strength": 1e5}


def cube(speed: float, degrees: float, **options: Any) -> list[Body]:
    """A cube of 0.1 m, edge 0.0167 m, just above the ground, on its way down."""
    turn = {"axis": (1.0, 0.3, 0.0), "degrees": degrees}
    made: dict[str, Any] = {"edge": 0.1 / 6, "model": "lattice", "material": BRITTLE, "rotation": turn}
    lowest = Body(box(0.1, 0.1, 0.1), **made).structure().rest[:, 2].min()
    place = (0.0, 0.0, 0.0085 - float(lowest))
    return [Body(box(0.1, 0.1, 0.1), **made, name="cube", position=place, velocity=(0, 0, -speed), **options)]


@pytest.mark.parametrize(("speed", "degrees"), [(3.0, 0.0), (3.0, 25.0), (6.0, 25.0)])
def test_a_cube_that_breaks_on_the_ground_gains_nothing(speed: float, degrees: float) -> None:
    """What went in is m v^2 / 2 and the weight: after 15 ms the ledger closes to 0.5 % of it, and no body
    holds more. Before connections softened it gained 200 times that."""
    simulation = simulate(
        cube(speed, degrees), [pl.Gravity(), pl.Ground()], seconds=0.015, fps=200.0, integrator="leapfrog"
    )
    found, kinetic = values(simulation), 0.5 * speed**2
    assert found["fracture.area"] > 0.0
    assert found["energy.fracture"] > 0.01 * kinetic
    assert abs(found["energy.unexplained"]) < 5e-3 * kinetic
    assert found["energy.kinetic"] + found["energy.elastic"] < 1.01 * kinetic
    assert simulation.guard is not None
    assert not simulation.guard.broken
    assert simulation.system.world.mass.sum() == pytest.approx(1.0, rel=1e-12)


def test_a_body_that_breaks_in_free_flight_keeps_its_momenta() -> None:
    """A plate that spins too fast for its strength: pieces part, both momenta stay to rounding."""
    material = {**BRITTLE, "strength": 2e4}
    made: dict[str, Any] = {"edge": 0.02, "model": "lattice", "material": material, "name": "plate"}
    body = Body(box(0.2, 0.2, 0.04), **made, velocity=(1.0, 0.5, 0.2), spin=(5.0, 3.0, 60.0))
    scene = pl.Scene([body], [], integrator="leapfrog")
    simulation = scene.simulation()
    simulation.start()
    start = values(simulation)
    for _ in range(2):
        simulation.advance()
    end = values(simulation)
    assert end["fracture.pieces"] > 1
    for name in ("momentum", "angular"):
        before, after = (np.array([row[f"{name}.{c}"] for c in "xyz"]) for row in (start, end))
        assert np.abs(after - before).max() < 1e-11 * np.abs(before).max()
    assert abs(end["energy.unexplained"]) < 5e-3 * start["energy.kinetic"]


@pytest.mark.parametrize("edge", [0.025, 0.1 / 6])
def test_a_gripped_bar_takes_its_toughness_and_breaks_at_its_strength(edge: float) -> None:
    """A section of 0.1 x 0.1 m pulled apart: energy.fracture is G_c times the section and the largest force
    strength times the section, both within 6 %, in two pieces at two resolutions."""
    strength, toughness, area = 2e4, 8.0, 0.01
    material = {"young": 1.21e6, "poisson": 0.25, "density": 580.0, "damping": 1e-3}
    material |= {"strength": strength, "toughness": toughness}
    bar = Body(box(0.2, 0.1, 0.1), edge=edge, model="lattice", material=material, name="bar")
    ends = [
        pl.Move("bar", pl.where.box((-1, -1, -1), (0.04, 1, 1)), velocity=(-0.03, 0, 0)),
        pl.Move("bar", pl.where.box((0.16, -1, -1), (1, 1, 1)), velocity=(0.03, 0, 0)),
    ]
    scene = pl.Scene([bar], ends, [pl.FluxMeasure(plane={"axis": "x", "at": 0.1001})], integrator="leapfrog")
    scene.time = type(scene.time)(duration=0.1, fps=200, integrator=scene.time.integrator)
    simulation = scene.simulation()
    simulation.start()
    pulls = []
    for _ in range(20):
        simulation.advance()
        pulls.append(abs(values(simulation)["flux.elastic"]))
    found = values(simulation)
    assert found["fracture.pieces"] == 2
    assert found["fracture.area"] == pytest.approx(area, rel=0.05)
    assert found["energy.fracture"] == pytest.approx(toughness * area, rel=0.06)
    assert max(pulls) == pytest.approx(strength * area, rel=0.06)
    assert abs(found["energy.unexplained"]) < 1e-3 * found["energy.work"]


def test_softening_takes_the_area_under_its_curve_and_unloads_to_zero() -> None:
    """One connection of stiffness k pulled open: ``k e0^2 / 2 + k e0 e_f / 2`` in all; half-way open, pressed
    together again, it is as stiff as before."""
    k, onset, end = 100.0, 0.01, 0.03
    network = SpringNetwork(np.array([[0, 1]]), np.ones(1), np.array([k]), 2)
    soft = SofteningConnections(network)
    soft.add(np.array([0]), np.array([onset]), np.array([end]))

    def at(length: float) -> Any:
        return np.array([[0.0, 0.0, 0.0], [length, 0.0, 0.0]])

    def pull(length: float) -> float:
        f = np.zeros((2, 3))
        network.loops.add_forces(at(length), f)  # leaves it to the softening
        soft.add_forces(at(length), f)
        return float(f[0, 0])

    taken = 0.0
    for stretch in np.linspace(0.0, 1.001 * (onset + end), 4001):
        before = soft.energy(at(1.0 + stretch))
        soft.advance(at(1.0 + stretch))
        taken += before - soft.energy(at(1.0 + stretch))
        if stretch == pytest.approx(onset + 0.5 * end, abs=1e-5):
            assert pull(1.0 + stretch) == pytest.approx(0.5 * k * onset, rel=1e-3)
            assert pull(1.0 - 1e-3) == pytest.approx(-k * 1e-3, rel=1e-9)
            assert pull(1.0) == pytest.approx(0.0, abs=1e-12)
    assert list(soft.opened()) == [0]
    assert taken == pytest.approx(0.5 * k * onset * (onset + end), rel=1e-3)


def test_a_toughness_needs_a_strength_and_a_model_that_uses_it() -> None:
    material = {key: value for key, value in BRITTLE.items() if key != "strength"}
    with pytest.raises(pl.errors.PliantError, match="strength"):
        Body(
            box(0.1, 0.1, 0.1), edge=0.02, model="lattice", material={**material, "toughness": 5.0}
        ).structure()
    body = Body(box(0.1, 0.1, 0.1), edge=0.05, model="efg", material={**BRITTLE, "toughness": 5.0})
    with pytest.raises(pl.errors.PliantError, match="toughness"):
        pl.Scene([body], []).simulation()


@pytest.mark.parametrize("model", ["mass-spring", "cpm1", "cpm2", "rigid", "multires"])
@pytest.mark.parametrize("limit", ["strength", "yield"])
def test_a_limit_that_a_model_cannot_use_is_refused(model: str, limit: str) -> None:
    """Given in the scene it is an error; a preset's strength is not."""
    plain = {"young": 1e6, "poisson": 0.3, "density": 1000.0}
    body = block((2, 2, 2), model=model, material={**plain, limit: 1e4})
    with pytest.raises(pl.errors.IncompatibleError, match=f"does not use the material's {limit}"):
        pl.Scene([body], []).simulation()


def test_a_preset_with_a_strength_suits_every_model() -> None:
    pl.Scene([block((2, 2, 2), model="rigid", material="glass")], []).simulation()
