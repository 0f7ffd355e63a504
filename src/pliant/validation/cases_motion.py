"""Cases of free and driven motion."""

import numpy as np

from pliant.actions import Damping, Fix, Gravity
from pliant.core.where import plane
from pliant.validation.cases import Result, case, relative
from pliant.validation.scenes import block, played

NEWTON = "Newton's laws"
EXACT = "Exact for the scheme: rounding only."


def _fallen(model: str, expected: float, integrator: str = "leapfrog") -> Result:
    simulation, _ = played([block(model)], [Gravity(9.81)], 0.5, step=1e-3, integrator=integrator)
    world = simulation.system.world
    fall = (world.x - world.rest)[:, 2]
    return float(fall.mean()), expected, float(np.abs(fall - expected).max()), 1e-10, "[m]"


@case("free-fall", "z = -g t^2 / 2 (leapfrog, exact)", source=NEWTON, why=EXACT, rigid=True)
def free_fall(model: str) -> Result:
    return _fallen(model, -0.5 * 9.81 * 0.25)


@case("projectile", "x = v t, z = v t - g t^2 / 2 (Verlet, exact)", source=NEWTON, why=EXACT, rigid=True)
def projectile(model: str) -> Result:
    body = block(model, velocity=(3.0, -1.0, 4.0))
    simulation, _ = played([body], [Gravity(9.81)], 0.5, step=1e-3, integrator="verlet")
    world = simulation.system.world
    expected = world.rest + 0.5 * np.array([3.0, -1.0, 4.0]) - [0, 0, 0.5 * 9.81 * 0.25]
    error = np.abs(world.x - expected).max()
    height = float((world.x - world.rest)[:, 2].mean())
    return height, 0.5 * 4.0 - 0.5 * 9.81 * 0.25, float(error), 1e-10, "[m], largest error of any particle"


@case(
    "euler-offset",
    "z = -g t (t + dt) / 2 (symplectic Euler's known offset)",
    source="the scheme's recursion, summed",
    why=EXACT,
    integrated=True,
)
def euler_offset(model: str) -> Result:
    return _fallen(model, -0.5 * 9.81 * 0.5 * (0.5 + 1e-3), "symplectic-euler")


@case(
    "spinning-momentum",
    "P and L of a free spinning body stay",
    source="Noether: no outer forces or moments",
    why="Internal forces come in pairs along their lines, or as gradients of a turned-free energy.",
    rigid=True,
)
def spinning(model: str) -> Result:
    body = block(model, (4, 2, 2), velocity=(1.0, 0.5, 0.0), spin=(5.0, 8.0, 20.0))
    _, series = played([body], [], 1.0)
    momenta = np.array(
        [[row[f"{kind}.{axis}"] for kind in ("momentum", "angular") for axis in "xyz"] for row in series]
    )
    first = momenta[0]
    scale = np.repeat([np.linalg.norm(first[:3]), np.linalg.norm(first[3:])], 3)
    error = float((np.abs(momenta - first) / scale).max())
    return float(np.linalg.norm(momenta[-1, 3:])), float(np.linalg.norm(first[3:])), error, 1e-10, "relative"


@case(
    "energy-ledger",
    "kinetic + elastic + gravity + dissipated - work = constant",
    source="first law of thermodynamics",
    why="Second order in the step: the stable one of each model.",
    integrated=True,
)
def energy_ledger(model: str) -> Result:
    _, series = played(
        [block(model, (6, 2, 2))], [Gravity(), Fix(None, plane("x", "min")), Damping(rate=2.0)], 1.0
    )
    totals = np.array([row["energy.total"] for row in series])
    span = max(row["energy.elastic"] + row["energy.kinetic"] for row in series)
    error = float(np.abs(totals - totals[0]).max() / span)
    return float(totals[-1]), float(totals[0]), error, 1e-2, "relative to the energy that moves"


@case(
    "damped-flight",
    "v = v0 exp(-c t)",
    source="m v' = -c m v, in closed form",
    why="Second order in the step of 1 ms.",
    integrated=True,
)
def damped_flight(model: str) -> Result:
    simulation, _ = played([block(model, velocity=(1.0, 0.0, 0.0))], [Damping(rate=3.0)], 1.0, step=1e-3)
    value, expected = float(simulation.system.world.v[:, 0].mean()), float(np.exp(-3.0))
    return relative(value, expected, 2e-5, "relative; second order in the step")


@case(
    "precession",
    "the axis of a free symmetric top goes round L at |L| / I across it",
    models=("rigid",),
    source="Euler's equations of a free symmetric top, in closed form",
    why="The rotation is split into parts about principal axes: second order in parts of 1/20 rad.",
)
def precession(model: str) -> Result:
    seconds = 0.5
    body = block(model, (4, 2, 2), spin=(9.0, 4.0, 0.0))
    simulation, _ = played([body], [], 1e-9, fps=50.0)
    world = simulation.system.world
    arms = world.rest - np.average(world.rest, axis=0, weights=world.mass)
    around, across = (
        float(np.sum(world.mass * np.sum(arms[:, keep] ** 2, axis=1))) for keep in ([1, 2], [0, 2])
    )
    momentum = np.array([around * 9.0, across * 4.0, 0.0])
    for _ in range(round(50.0 * seconds)):
        simulation.advance()
    now = world.x - np.average(world.x, axis=0, weights=world.mass)
    axis = (world.mass * arms[:, 0]) @ now
    axis /= np.linalg.norm(axis)
    way = momentum / np.linalg.norm(momentum)
    angle = float(np.linalg.norm(momentum)) / across * seconds
    start = np.array([1.0, 0.0, 0.0])
    along = way * (way @ start)
    expected = along + np.cos(angle) * (start - along) + np.sin(angle) * np.cross(way, start)
    error = float(np.linalg.norm(axis - expected))
    return float(axis[2]), float(expected[2]), error, 1e-4, "z of the axis; error: distance of unit vectors"
