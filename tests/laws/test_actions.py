"""What actions owe the loop: windows that are exact, a ledger that closes, reactions that balance."""

from typing import Any

import numpy as np
import pytest
from bodies import block, model_for, simulate, values

from pliant.actions import (
    Damping,
    Drag,
    Fix,
    Force,
    Gravity,
    Ground,
    Impulse,
    Moment,
    Move,
    Obstacle,
    Pressure,
    Pull,
    Rotate,
    Sine,
    Tabletop,
    Traction,
    VolumeConstraint,
)
from pliant.core.curves import Curve
from pliant.core.errors import IncompatibleError
from pliant.core.where import all as everything
from pliant.core.where import plane
from pliant.integrators import INTEGRATORS

LOW, HIGH = plane("x", "min"), plane("x", "max")
SMOOTH = Curve([0.0, 0.1], [(0, 0, 0), (0.03, 0, 0.01)], "smooth")
LINEAR = Curve([0.0, 0.05, 0.1], [(0, 0, 0), (0.02, 0, 0), (0.01, 0, 0.0)])
FALLING = {"position": (0.0, 0.0, 0.005), "velocity": (0.3, 0.0, -0.5)}

# actions and body
LEDGERS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "gravity": ([Gravity()], {}),
    "gravity from later": ([Gravity(from_=0.03)], {}),
    "keyed gravity": ([Gravity(Curve([0, 0.2], [0.0, 20.0]))], {}),
    "hanging": ([Gravity(), Fix(None, LOW)], {}),
    "fix from later": ([Gravity(), Fix(None, LOW, from_=0.05)], {"velocity": (0, 0, 1.0)}),
    "force": ([Force(None, HIGH, value=(3.0, 0, 0))], {}),
    "force in a window": ([Force(None, HIGH, value=(3.0, 0, 0), from_=0.03, until=0.1)], {}),
    "moment": ([Moment(None, everything(), axis="z", value=0.1)], {}),
    "impulse": ([Impulse(None, everything(), value=(1.0, 0, 0), at=0.05)], {}),
    "pull": ([Fix(None, LOW), Pull(None, HIGH, target=(0.3, 0, 0.1), stiffness=30.0)], {}),
    "keyed, damped pull": ([Pull(None, HIGH, target=LINEAR, stiffness=20.0, damping=0.5)], {}),
    "smooth move": ([Fix(None, LOW), Move(None, HIGH, displacement=SMOOTH)], {}),
    "linear move": ([Fix(None, LOW), Move(None, HIGH, displacement=LINEAR)], {}),
    "move at a velocity": ([Fix(None, LOW), Move(None, HIGH, velocity=(0.2, 0, 0), from_=0.02)], {}),
    "rotate": ([Fix(None, LOW), Rotate(None, HIGH, axis="x", speed=6.0)], {}),
    "sine": ([Sine(None, LOW, axis="z", amplitude=0.005, frequency=5.0)], {}),
    "pressure": ([Pressure(value=500.0)], {}),
    "traction": ([Fix(None, LOW), Traction(None, HIGH, value=(300.0, 0, 100.0))], {}),
    "vector of gravity": ([Gravity((1.0, 2.0, -5.0)), Fix(None, LOW)], {}),
    "drag": ([Drag(density=100.0)], {"velocity": (2.0, 0, 0)}),
    "wind": ([Drag(density=100.0, wind=(2.0, 0, 0))], {}),
    "damping": ([Damping(rate=5.0)], {"velocity": (1.0, 0, 0)}),
    "stiffness damping": ([Damping(stiffness=1e-3), Gravity(), Fix(None, LOW)], {}),
    "ground": ([Gravity(), Ground(friction=0.3)], FALLING),
    "bouncing ground": ([Gravity(), Ground(restitution=0.8, friction=0.0)], FALLING),
    "volume": ([Gravity(), Fix(None, LOW), VolumeConstraint()], {}),
    "nodal volume": ([Gravity(), Fix(None, LOW), VolumeConstraint(per="node")], {}),
}  # fmt: skip


def ledger_drift(name: str, divisor: int) -> float:
    """Largest change of the total energy, relative to the energy that moved."""
    actions, options = LEDGERS[name]
    body = block((4, 2, 2), **options)
    automatic = simulate([body], actions, seconds=0.02).plan.seconds
    simulation = simulate([body], actions, seconds=0.02, step=automatic / divisor)
    rows = [values(simulation)]
    for _ in range(9):
        simulation.advance()
        rows.append(values(simulation))
    scale = max(
        row["energy.kinetic"] + row["energy.elastic"] + abs(row["energy.work"]) + row["energy.dissipated"]
        for row in rows
    )
    assert scale > 1e-6
    return float(np.ptp([row["energy.total"] for row in rows])) / scale


@pytest.mark.parametrize("name", list(LEDGERS))
def test_the_energy_ledger_closes(name: str) -> None:
    """The total stays: exactly for linear forces, to second order in the step for others."""
    coarse, fine = ledger_drift(name, 2), ledger_drift(name, 8)
    assert coarse < 5e-3
    assert fine < 2e-3
    assert fine < max(0.5 * coarse, 1e-4)


@pytest.mark.parametrize("integrator", [name for name in INTEGRATORS if name != "static"])
@pytest.mark.parametrize("window", [(0.0, 0.05), (0.02, 0.07)])
def test_a_force_in_a_window_gives_exactly_its_impulse(integrator: str, window: tuple[float, float]) -> None:
    """F = 1 N for 0.05 s is 0.05 N s, whatever the integrator."""
    start, end = window
    push = Force(None, everything(), value=(1.0, 0, 0), from_=start, until=end)
    body = block(model=model_for(integrator))
    simulation = simulate([body], [push], seconds=0.1, step=1e-3, integrator=integrator)
    assert values(simulation)["momentum.x"] == pytest.approx(0.05, rel=1e-9)


@pytest.mark.parametrize("axes", [("x", "y", "z"), ("x",)])
def test_reaction_balances_what_moves_a_body(axes: tuple[str, ...]) -> None:
    """All particles driven with acceleration a: the reaction is m a along the driven axes."""
    from pliant.measures import Reaction

    path = Curve([0.0, 0.1], [(0, 0, 0), (0.03, 0, 0)], "smooth")
    drive = Move(None, everything(), displacement=path, axes=axes)
    simulation = simulate([block()], [drive], seconds=0.02, measures=[Reaction(select=everything())])
    mass = simulation.system.world.mass.sum()
    acceleration = 0.03 * (6 - 12 * 0.2) / 0.1**2
    assert values(simulation)["reaction.x"] == pytest.approx(mass * acceleration, rel=1e-6)


def resting(divisor: int) -> tuple[float, float]:
    """Mean force on the ground under a block at rest, and the heat booked in a second [J]."""
    actions = [Gravity(), Ground(), Damping(rate=30.0)]
    automatic = simulate([block((2, 2, 2))], actions, seconds=0.02).plan.seconds
    simulation = simulate([block((2, 2, 2))], actions, seconds=2.0, step=automatic / divisor)
    before = values(simulation)["energy.dissipated"]
    forces = []
    for _ in range(50):
        simulation.advance()
        forces.append(values(simulation)["ground.z"])
    return float(np.mean(forces)), values(simulation)["energy.dissipated"] - before


def test_a_body_at_rest_weighs_on_the_ground_and_stays_cold() -> None:
    """The ground carries exactly m g, and what does not move makes no heat."""
    for divisor in (2, 8):
        force, heat = resting(divisor)
        assert force == pytest.approx(-(0.2**3) * 1000 * 9.81, rel=1e-9)
        assert abs(heat) < 1e-12


def test_coulomb_friction_stops_a_sliding_block() -> None:
    """A block that slides at v stops after v^2 / (2 mu g)."""
    stiff = {"young": 1e6, "poisson": 0.3, "density": 1000.0}
    body = block((3, 2, 1), velocity=(1.0, 0, 0), material=stiff)
    simulation = simulate([body], [Gravity(), Ground(friction=0.4)], seconds=0.6)
    world = simulation.system.world
    slid = (world.x - world.rest)[:, 0].mean()
    assert np.abs(world.v).max() < 0.05
    assert slid == pytest.approx(1.0 / (2 * 0.4 * 9.81), rel=0.05)


def test_an_obstacle_that_cannot_move_a_held_body_takes_no_energy() -> None:
    rising = Curve([0.0, 0.1], [(0.15, 0.1, -0.12), (0.15, 0.1, 0.0)])
    ball = Obstacle(sphere={"radius": 0.1}, position=rising, friction=0.0)  # type: ignore[arg-type]
    simulation = simulate([block()], [Fix(None, everything()), ball], seconds=0.1)
    found = values(simulation)
    assert found["obstacle.z"] == 0.0
    assert found["energy.dissipated"] == 0.0


def test_a_tabletop_holds_what_is_over_it_and_lets_fall_what_is_not() -> None:
    over = block((2, 2, 1), position=(-0.1, -0.1, 0.5), name="over")
    beside = block((2, 2, 1), position=(1.0, 0.0, 0.5), name="beside")
    simulation = simulate([over, beside], [Gravity(), Tabletop(height=0.5, size=(1.0, 1.0))], seconds=0.4)
    world = simulation.system.world
    z = [world.x[part.rows, 2].mean() for part in world.bodies]
    assert z[0] == pytest.approx(0.55, abs=0.01)
    assert z[1] == pytest.approx(0.55 - 0.5 * 9.81 * 0.16, abs=1e-9)


def test_moment_has_no_net_force_and_its_exact_torque() -> None:
    simulation = simulate([block()], [Moment(None, HIGH, axis=(1, 2, 2), value=6.0)], seconds=0.02)
    couple = simulation.system.actions[0][1]
    x = simulation.system.world.x
    out = np.zeros_like(x)
    couple.add_forces(0.0, x, x, out)  # type: ignore[attr-defined]
    assert np.abs(out.sum(axis=0)).max() < 1e-12
    assert np.cross(x, out).sum(axis=0) == pytest.approx([2.0, 4.0, 4.0], rel=1e-10)


def test_double_drives_and_half_made_actions_are_refused() -> None:
    from pliant.interfaces import ActionRuntime, Projection
    from pliant.simulation.protocol_check import check_capabilities

    with pytest.raises(IncompatibleError, match="prescribe the same particles"):
        simulate([block()], [Fix(None, LOW), Move(None, LOW, velocity=(1, 0, 0))], seconds=0.02)

    class Half(ActionRuntime):
        capabilities = frozenset({Projection})

        def project(self, time: float, dt: float, world: Any) -> None: ...

    with pytest.raises(IncompatibleError, match="declares Projection but lacks applied_last"):
        check_capabilities("action 1", Half(), ActionRuntime)


def test_a_memory_that_could_not_be_restored_is_refused() -> None:
    """Kept silent, it would be lost at the first resume."""
    from pliant.interfaces import ActionRuntime
    from pliant.simulation.protocol_check import check_capabilities

    class Forgetful(ActionRuntime):
        def state(self) -> dict[str, Any]:
            return {}

    with pytest.raises(IncompatibleError, match="implements 'state' but not 'restore'"):
        check_capabilities("action 1", Forgetful(), ActionRuntime)
