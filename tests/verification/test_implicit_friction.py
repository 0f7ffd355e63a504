r"""Friction between bodies in implicit steps: friction springs stretch while the end of a step is looked for.

A spring of stiffness k that keeps its stretch of the beginning of a step pushes a mass m like an explicit
scheme: beyond :math:`dt = 2 \sqrt{m / k}` it gains energy.
"""

import numpy as np
import pytest
from bodies import simulate, values
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.actions import Fix, Gravity, Ground
from pliant.contact.penalty_contact import PenaltyContact
from pliant.integrators.implicit.active_set_contact import ActiveSetContact
from pliant.mesh.shapes import box
from pliant.scene import Body
from pliant.simulation.simulation import Simulation

G = 9.81
FRAME = 0.02


def material(friction: float, young: float = 2e5) -> dict[str, float]:
    return {"young": young, "poisson": 0.3, "density": 1000.0, "damping": 5e-4, "friction": friction}


def on_slope(scheme: str, degrees: float, friction: float) -> float:
    """Acceleration [m/s2] along a slope of a block of tets from 0.4 s on, in steps of a frame."""
    turn = Rotation.from_euler("y", degrees, degrees=True)
    turned = pl.Rotation(axis="y", degrees=degrees)
    base = Body(
        box(4.0, 0.8, 0.1, divisions=(8, 1, 1)), model="mass-spring", name="base", rotation=turned,
        position=tuple(turn.apply([-0.3, -0.4, -0.1]).tolist()), material=material(friction, 1e6),
    )  # fmt: skip
    reach = 0.2 * 0.5099  # radius of the base
    block = Body(
        box(0.2, 0.2, 0.1, divisions=(4, 4, 2)), name="block", rotation=turned, material=material(friction),
        position=tuple(turn.apply([0.0, -0.1, reach + 0.011]).tolist()),
    )  # fmt: skip
    simulation = simulate(
        [base, block], [Gravity(), Fix("base", pl.where.all())], seconds=FRAME, step=FRAME, integrator=scheme
    )
    world = simulation.system.world
    (part,) = (part for part in world.bodies if part.name == "block")
    along, mass, speeds = turn.apply([1.0, 0.0, 0.0]), world.mass[part.rows], []
    for _ in range(40):
        simulation.advance()
        speeds.append(float(mass @ world.v[part.rows] @ along / mass.sum()))
    late = np.arange(20, 40)
    return float(np.polyfit(FRAME * late, np.array(speeds)[late], 1)[0])


@pytest.mark.parametrize("scheme", ["tr-bdf2", "implicit-euler"])
@pytest.mark.parametrize(("degrees", "friction"), [(20.0, 0.2), (20.0, 0.45)])
def test_blocks_slide_and_stick_as_coulomb_says(scheme: str, degrees: float, friction: float) -> None:
    r""":math:`a = \max(0, g (\sin\theta - \mu \cos\theta))`, within 2 % of g sin(theta)."""
    angle = np.radians(degrees)
    expected = max(0.0, G * (np.sin(angle) - friction * np.cos(angle)))
    assert on_slope(scheme, degrees, friction) == pytest.approx(expected, abs=0.02 * G * np.sin(angle))


def stack(model: str) -> Simulation:
    """A block that falls on another one, turned, 1 cm apart."""
    soft = {"young": 1e5, "poisson": 0.3, "density": 1000.0}
    lower = Body(box(0.3, 0.2, 0.1, divisions=(6, 4, 2)), model=model, name="lower", material=soft)
    upper = Body(
        box(0.3, 0.2, 0.1, divisions=(6, 4, 2)), model=model, name="upper", material=soft,
        position=(0.05, 0.03, 0.14), rotation=pl.Rotation(axis="z", degrees=20.0),
    )  # fmt: skip
    return simulate(
        [lower, upper], [Gravity(), Ground(friction=0.5)], seconds=FRAME, step=FRAME, integrator="tr-bdf2"
    )


@pytest.mark.parametrize("model", ["fem", "mass-spring"])
def test_a_stack_gains_no_energy(model: str) -> None:
    """Steps give back at most half a percent of the energy that fell, and 1 % in all; 1.5 s after the impact
    2 % of it still swing, at most."""
    simulation, rows = stack(model), []
    for _ in range(80):
        simulation.advance()
        rows.append(values(simulation))
    numerical = np.array([row["energy.numerical"] for row in rows])
    fallen = rows[0]["energy.gravity"] - min(row["energy.gravity"] for row in rows)
    assert np.diff(numerical).min() > -5e-3 * fallen
    assert (np.maximum.accumulate(numerical) - numerical).max() < 1e-2 * fallen
    assert rows[-1]["energy.kinetic"] < 2e-2 * fallen


def test_springs_of_trial_positions_are_those_of_a_step_that_ends_there() -> None:
    """Forces at x while the World is at the beginning of the step equal, to rounding, those after a step
    that took it there."""
    simulation = stack("fem")
    for _ in range(12):
        simulation.advance()
    system = simulation.system
    world = system.world
    (contact,) = (action for _, action in system.actions if isinstance(action, PenaltyContact))
    assert len(contact.table.active) > 10
    slip = 1e-4 * np.where(np.arange(world.count) < world.bodies[0].rows.stop, 1.0, -1.0)[:, None]
    end, rest = world.x + slip * np.array([1.0, -0.5, 0.0]), np.zeros_like(world.v)
    trial, taken = np.zeros_like(world.x), np.zeros_like(world.x)
    contact.add_forces(simulation.time, end, rest, trial)
    moved = end - world.x
    world.x[:], world.v[:] = end, moved / FRAME
    contact.project(simulation.time + FRAME, FRAME, world)
    contact.add_forces(simulation.time + FRAME, world.x, rest, taken)
    assert np.abs(taken).max() > 0.1
    assert np.abs(trial - taken).max() < 1e-9 * np.abs(taken).max()


def test_contact_with_a_ball_does_no_work_on_the_chord_of_a_slide() -> None:
    """A particle that slides on a ball of radius R by the angle a goes along a chord; the normal at its end
    has the share sin(a / 2) of it, the one that the contact uses none, within rounding; one that comes from
    away keeps the normal at the end."""
    ball = pl.Obstacle(sphere={"radius": 0.1}, position=(0.0, 0.0, -0.1))
    body = Body(box(0.2, 0.2, 0.1, divisions=(2, 2, 1)), material=material(0.5), position=(-0.1, -0.1, 0.0))
    system = simulate([body], [ball], seconds=FRAME, step=FRAME, integrator="tr-bdf2").system
    contact, (obstacle,) = ActiveSetContact(), system.obstacles
    angle, rows = 0.2, np.array([0, 1])
    contact._system, contact._dt, contact._end, contact._clear = system, FRAME, FRAME, 1e-10
    contact.rows, contact.shape, contact.sticks = rows, np.zeros(2, np.int64), np.zeros(2, bool)
    middle, top = np.array([0.0, 0.0, -0.1]), np.array([0.0, 0.0, 0.1])
    end = middle + 0.1 * np.array([np.sin(angle), 0.0, np.cos(angle)])
    system.world.x[rows] = middle + top, middle + 1.5 * top
    contact._aim(np.where(np.arange(system.world.count)[:, None] < 2, end, system.world.x))
    slide = contact.target[0] - system.world.x[0]
    assert np.linalg.norm(slide) == pytest.approx(0.2 * np.sin(angle / 2), rel=1e-6)
    assert abs(contact.normal[0] @ slide) < 1e-8 * np.linalg.norm(slide)
    assert contact.normal[1] == pytest.approx([np.sin(angle), 0.0, np.cos(angle)])
    assert obstacle.distances(FRAME, contact.target)[0] == pytest.approx([1e-10] * 2, abs=1e-14)
