"""The energy ledger of rigid bodies: impulses, friction, joints, contact, and the guard over their steps."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.core.curves import Curve
from pliant.mesh.shapes import box, icosphere
from pliant.scene import Body, Scene, TimeSettings

MATERIAL = {"young": 1e5, "poisson": 0.25, "density": 1000.0, "friction": 0.4, "restitution": 0.3}


def rigid(shape: Any, **options: Any) -> Body:
    return Body(shape, model="rigid", **({"material": MATERIAL, "name": "body", "edge": 0.05} | options))


def turned(axis: Any, degrees: float) -> dict[str, Any]:
    return {"axis": axis, "degrees": degrees}


def rows(bodies: Sequence[Body], actions: Sequence[Any], seconds: float) -> dict[str, Any]:
    """Series of a run by name, one entry per frame of 0.02 s."""
    simulation = Scene(bodies, actions, time=TimeSettings(fps=50)).simulation()
    assert simulation.guard is not None  # rigid bodies are guarded
    simulation.start()
    found = [simulation.row()]
    for _ in range(round(50 * seconds)):
        simulation.advance()
        found.append(simulation.row())
    return dict(zip(simulation.columns, np.array(found).T, strict=True))


def test_an_asymmetric_top_keeps_energy_and_momentum_over_ten_turns() -> None:
    """Euler's top: L and L . I^-1 L / 2 are constant; spun at 10 rad/s, 6.5 s are ten turns."""
    found = rows([rigid(box(0.3, 0.2, 0.1), spin=(3.0, 9.0, 3.0))], [], 6.5)
    assert np.abs(found["energy.kinetic"] / found["energy.kinetic"][0] - 1.0).max() < 1e-7
    angular = np.array([found[f"angular.{c}"] for c in "xyz"]).T
    assert np.abs(angular - angular[0]).max() < 1e-10 * np.linalg.norm(angular[0])


@pytest.mark.parametrize("what", ["block", "tumbling", "ball", "bouncing"])
def test_impulses_at_the_ground_are_booked_to_rounding(what: str) -> None:
    """Resting and sliding, tumbling, rolling, bouncing: nothing is unexplained, and heat never falls."""
    body = {
        "block": rigid(box(0.3, 0.2, 0.1), velocity=(1.0, 0.0, 0.0), position=(0, 0, 0.001)),
        "tumbling": rigid(
            box(0.3, 0.2, 0.1), position=(0, 0, 0.3), rotation={"axis": (1, 2, 0), "degrees": 25}
        ),
        "ball": rigid(icosphere(0.1, subdivisions=3), velocity=(1.0, 0.0, 0.0), position=(0, 0, 0.1)),
        "bouncing": rigid(box(0.2, 0.2, 0.2), position=(0, 0, 0.3), spin=(2.0, 3.0, 1.0)),
    }[what]
    ground = pl.Ground(friction=0.3, restitution=0.6 if what == "bouncing" else 0.0)
    found = rows([body], [pl.Gravity(), ground], 1.0)
    moved = np.ptp(found["energy.gravity"]) + found["energy.kinetic"][0]
    assert np.abs(found["energy.unexplained"]).max() < 1e-6 * moved
    assert np.diff(found["energy.friction"]).min() > -1e-9 * moved
    assert found["energy.friction"][-1] > 0.1 * moved


def test_friction_takes_what_coulomb_says() -> None:
    """A block that starts with 1 m/s on mu = 0.3 stops: all of m v^2 / 2 is heat."""
    found = rows(
        [rigid(box(0.3, 0.2, 0.05), velocity=(1.0, 0.0, 0.0))], [pl.Gravity(), pl.Ground(friction=0.3)], 0.5
    )
    assert found["energy.friction"][-1] == pytest.approx(0.5 * 1000.0 * 0.3 * 0.2 * 0.05, rel=1e-9)
    assert found["energy.kinetic"][-1] < 1e-12


def test_a_stack_closes_its_ledger() -> None:
    """One block falls askew on another that rests on the ground."""
    lower = rigid(box(0.2, 0.2, 0.1), name="lower")
    upper = rigid(
        box(0.2, 0.2, 0.1),
        name="upper",
        position=(0.05, 0.02, 0.2),
        rotation={"axis": (1, 2, 3), "degrees": 20},
    )
    found = rows([lower, upper], [pl.Gravity(), pl.Ground(friction=0.5)], 0.6)
    moved = np.ptp(found["energy.gravity"])
    assert np.abs(found["energy.unexplained"]).max() < 1e-3 * moved


def test_a_pendulum_keeps_its_energy() -> None:
    """A rod on a ball joint, let go from the horizontal: K + V stays, joints do no work.

    Held at a corner, its centre falls from 1 cm above the joint to sqrt(0.25^2 + 2 0.01^2) m below."""
    rod = rigid(box(0.5, 0.02, 0.02), edge=0.02)
    fix = pl.Fix("body", pl.where.nearest((0.0, 0.0, 0.0), 1))
    found = rows([rod], [pl.Gravity(), fix], 4.0)
    moved = np.ptp(found["energy.gravity"])
    assert moved == pytest.approx(0.2 * 9.81 * (0.01 + np.sqrt(0.0627)), rel=0.01)
    assert np.abs(found["energy.unexplained"]).max() < 1e-3 * moved
    assert abs(found["energy.work"][-1]) < 1e-6 * moved


def test_a_moved_joint_does_the_work_that_the_body_gets() -> None:
    """A rod's end goes to and fro: work is what kinetic energy and potential have gained."""
    rod = rigid(box(0.02, 0.02, 0.5), edge=0.02)
    to_and_fro = [(0.05 * np.sin(8.0 * t), 0.0, 0.0) for t in np.linspace(0.0, 2.0, 101)]
    move = pl.Move(
        "body",
        pl.where.nearest((0.0, 0.0, 0.5), 1),
        displacement=Curve(np.linspace(0.0, 2.0, 101), to_and_fro),
    )
    found = rows([rod], [pl.Gravity(), move], 2.0)
    gained = found["energy.kinetic"] + found["energy.gravity"] - found["energy.gravity"][0]
    assert gained.max() > 0.01
    assert np.abs(found["energy.work"] - gained).max() < 1e-3 * gained.max()


def test_two_bodies_that_hit_off_centre_keep_both_momenta() -> None:
    """In free space, with friction: linear and angular momentum to 1e-10, and a closed ledger."""
    one = rigid(icosphere(0.1, subdivisions=3), name="one", velocity=(2.0, 0.0, 0.0))
    two = rigid(
        box(0.2, 0.2, 0.2), name="two", position=(0.15, -0.02, -0.06), rotation={"axis": "x", "degrees": 10}
    )
    found = rows([one, two], [], 0.3)
    for name in ("momentum", "angular"):
        series = np.array([found[f"{name}.{c}"] for c in "xyz"]).T
        assert np.abs(series - series[0]).max() < 1e-10 * max(1.0, np.linalg.norm(series[0]))
    start = found["energy.kinetic"][0]
    assert found["energy.kinetic"][-1] < 0.9 * start
    assert np.abs(found["energy.unexplained"]).max() < 1e-3 * start
