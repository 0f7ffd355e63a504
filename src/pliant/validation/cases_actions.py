"""Cases of what acts on bodies: forces, moments, impulses, drives, friction, pressure."""

import numpy as np

from pliant.actions import Force, Gravity, Ground, Impulse, Moment, Pressure, Rotate, Sine
from pliant.core.where import all as everything
from pliant.core.where import plane
from pliant.validation.cases import Result, case, relative
from pliant.validation.scenes import MATERIAL, block, played

NEWTON = "Newton's second law"
EXACT = "Sums over particles: rounding only."
STIFF = MATERIAL | {"young": 1e6}


@case(
    "constant-force", "P = F t of a free body, whatever it does inside", source=NEWTON, why=EXACT, rigid=True
)
def constant_force(model: str) -> Result:
    body = block(model)
    _, series = played([body], [Force(body, plane("x", "max"), value=(3.0, 0.0, 0.0))], 0.2)
    value = series[-1]["momentum.x"]
    return relative(value, 0.6, 1e-9, "[N s], relative")


@case("impulse", "P jumps by the impulse", source=NEWTON, why=EXACT, rigid=True)
def impulse(model: str) -> Result:
    body = block(model)
    _, series = played([body], [Impulse(body, plane("x", "max"), value=(0.0, 2.0, 0.0), at=0.05)], 0.2)
    value = series[-1]["momentum.y"]
    return relative(value, 2.0, 1e-9, "[N s], relative")


@case(
    "spin-up",
    "L = M t of a free body under a moment",
    source="Euler's law of angular momentum",
    why=EXACT + " Model multires (all fine, corotational) reads moments once a frame while it turns.",
    rigid=True,
)
def spin_up(model: str) -> Result:
    levels = model == "multires"
    turning = {"type": model, "operator": "corotational", "detail": "finest"} if levels else model
    body = block(turning, (2, 2, 2), material=STIFF)
    _, series = played([body], [Moment(body, everything(), axis=(0, 0, 1), value=0.5)], 0.2)
    value = series[-1]["angular.z"]
    return relative(value, 0.1, 1e-4 if levels else 1e-9, "[N m s], relative")


@case("sine-drive", "x = A sin(2 pi f t) where a body is driven", source="definition", why=EXACT, rigid=True)
def sine_drive(model: str) -> Result:
    body = block(model)
    held = plane("x", "min")
    simulation, _ = played([body], [Sine(body, held, axis="z", amplitude=0.02, frequency=2.5)], 0.3)
    world = simulation.system.world
    end = world.rest[:, 0] < world.rest[:, 0].min() + 1e-9
    value = float((world.x - world.rest)[end, 2].mean())
    expected = 0.02 * float(np.sin(2.0 * np.pi * 2.5 * 0.3))
    return value, expected, abs(value - expected) / 0.02, 1e-9, "of the amplitude"


@case("rotated-end", "a driven end turns by speed times time", source="definition", why=EXACT, rigid=True)
def rotated_end(model: str) -> Result:
    body = block(model)
    centre = (0.0, 0.1, 0.1)
    turn = Rotate(body, plane("x", "min"), axis="x", centre=centre, speed=2.0)
    simulation, _ = played([body], [turn], 0.3)
    world = simulation.system.world
    end = world.rest[:, 0] < world.rest[:, 0].min() + 1e-9
    before, after = (np.asarray(p)[end][:, 1:] - centre[1:] for p in (world.rest, world.x))
    far = np.linalg.norm(before, axis=1) > 1e-6
    cross = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    angle = np.arctan2(cross, np.sum(before * after, axis=1))[far]
    value = float(angle.mean())
    return value, 0.6, abs(value - 0.6), 1e-9, "[rad]"


@case(
    "sliding-friction",
    "a block sliding with v on level ground stops after v^2 / 2 mu g",
    source="Coulomb's law of friction",
    why="The block jolts a little as its sole takes hold of the ground.",
    rigid=True,
)
def sliding(model: str) -> Result:
    body = block(model, (3, 3, 1), material=STIFF, velocity=(1.0, 0.0, 0.0))
    actions = [Gravity(9.81), Ground(restitution=0.0, friction=0.3)]
    simulation, _ = played([body], actions, 0.6)
    world = simulation.system.world
    value = float(np.average((world.x - world.rest)[:, 0], weights=world.mass))
    expected = 1.0 / (2.0 * 0.3 * 9.81)
    return relative(value, expected, 0.03, "[m], relative")


@case(
    "pressure-without-thrust",
    "pressure on a closed surface pushes a body nowhere",
    source="Gauss's theorem",
    why=EXACT,
    rigid=True,
)
def no_thrust(model: str) -> Result:
    body = block(model)
    _, series = played([body], [Pressure(value=500.0)], 0.2)
    value = float(np.linalg.norm([series[-1][f"momentum.{axis}"] for axis in "xyz"]))
    scale = 500.0 * 0.3 * 0.2 * 0.2  # what one side alone would give
    return value, 0.0, value / scale, 1e-10, "over the momentum that one side would give"
