"""Cases of contact with rigid things: slopes that hold and slip, a ball pressed into a block."""

from functools import lru_cache

import numpy as np

from pliant.actions import Damping, Fix, Force, Ground, Obstacle
from pliant.actions.obstacles import SphereShape
from pliant.core.curves import Curve
from pliant.core.where import all as everything
from pliant.core.where import box as inside
from pliant.core.where import plane
from pliant.materials import resolve
from pliant.validation.cases import Result, case, relative
from pliant.validation.scenes import MATERIAL, block, played

COULOMB = "Coulomb's law of friction"
FRICTION, G = 0.5, 9.81
SPRINGS = (
    "The modulus of Hertz' formula is E/(1 - nu^2) = 2 G/(1 - nu). With the G and nu that springs have on "
    "such a mesh (modulus-shear, modulus-poisson) it is 0.59 of the one asked for; their stiffness along the "
    "ball's way, a tenth too high, brings the force to 0.72."
)


@lru_cache(maxsize=32)
def slid(model: str, degrees: float) -> tuple[float, float]:
    """A block on a slope, seen along it (its weight is turned instead): drift [m] and acceleration [m/s2].

    It lies on level ground for 0.1 s; the ground is tilted until 0.2 s; both are taken from 0.25 s on.
    """
    body = block(model, (3, 3, 1), material=MATERIAL | {"young": 1e6, "damping": 2e-4})
    weight = 1000.0 * 0.3 * 0.3 * 0.1 * G
    keys = [
        {"time": time, "value": [weight * np.sin(a), 0.0, -weight * np.cos(a)]}
        for time, a in ((0.0, 0.0), (0.1, 0.0), (0.2, np.radians(degrees)))
    ]
    actions = [Force(body, everything(), value={"keys": keys, "ease": "smooth"}), Ground(friction=FRICTION)]
    _, series = played([body], actions, 0.45, fps=100.0)
    mass = 1000.0 * 0.3 * 0.3 * 0.1
    speed = np.array([row["momentum.x"] for row in series])[25:] / mass
    drift = float(np.sum(0.5 * (speed[1:] + speed[:-1])) / 100.0)
    return drift, float(np.polyfit(np.arange(len(speed)) / 100.0, speed, 1)[0])


@case(
    "slope-slips",
    "a block on a slope of 45 degrees slides with a = g (sin - mu cos), mu = 0.5",
    source=COULOMB,
    why="The block trembles a little as it begins to slide.",
    rigid=True,
)
def slips(model: str) -> Result:
    expected = G * (1.0 - FRICTION) * float(np.sqrt(0.5))
    _, value = slid(model, 45.0)
    return relative(value, expected, 0.03, "[m/s2], relative")


@case(
    "slope-holds",
    "a block on a slope of 25 degrees stays where it is: tan 25 deg = 0.47 < mu = 0.5",
    source=COULOMB,
    why="A twentieth of what it would slide without friction; it still gives way elastically.",
    rigid=True,
)
def holds(model: str) -> Result:
    value, _ = slid(model, 25.0)
    free = 0.5 * G * float(np.sin(np.radians(25.0))) * 0.2**2
    return value, 0.0, abs(value) / free, 0.05, "[m] in 0.2 s; error: over a slide without friction"


def pressed(youngs: float, poisson: float, radius: float, depth: float, thickness: float) -> float:
    """Force [N] on a rigid ball pressed ``depth`` into a layer that is fixed below.

    Hertz' 4/3 E/(1 - nu^2) sqrt(R) d^1.5 times a series in chi = sqrt(R d) / thickness, to its third power.
    """
    chi = np.sqrt(radius * depth) / thickness
    a = -(1.2876 - 1.4678 * poisson + 1.3442 * poisson**2) / (1.0 - poisson)
    b = (0.6387 - 1.0277 * poisson + 1.5164 * poisson**2) / (1.0 - poisson)
    pi = np.pi
    layer = (
        1.0
        - 2.0 * a / pi * chi
        + (2.0 * a / pi * chi) ** 2
        - 8.0 / pi**3 * (a**3 + 4.0 * pi**2 / 15.0 * b) * chi**3
    )
    return float(4.0 / 3.0 * youngs / (1.0 - poisson**2) * np.sqrt(radius) * depth**1.5 * layer)


@case(
    "hertz",
    "a rigid ball pressed by d into a block: F = 4/3 E/(1 - nu^2) sqrt(R) d^1.5, and a series for its depth",
    quick=False,
    source="Hertz 1882; for layers of finite depth Dimitriadis et al. 2002, Biophys. J. 82, 2798",
    why="The radius of contact is 3 edges, so its border is known to a sixth of it.",
    cannot={"mass-spring": SPRINGS},
)
def hertz(model: str) -> Result:
    """A quarter of the block and of the ball; 12 cells of 0.1 m, R = 2.88 m, d = 0.031 m, a = 0.3 m."""
    radius, depth = 2.88, 0.03125
    body = block(model, (12, 12, 12))
    inner = 0.01 if body.structure().rest.min() < 0.04 else 0.06  # elements begin half a cell inside
    path = Curve(
        [0.0, 0.6, 9.0], [(0.0, 0.0, 1.2 + radius), *[(0.0, 0.0, 1.2 + radius - depth)] * 2], ease="smooth"
    )
    ball = Obstacle(sphere=SphereShape(radius=radius), position=path, friction=0.0, name="ball")
    held = [
        Fix(body, plane("z", "min")),
        Fix(body, inside((-1.0, -1.0, 0.06), (inner, 2.0, 2.0)), axes=("x",)),
        Fix(body, inside((-1.0, -1.0, 0.06), (2.0, inner, 2.0)), axes=("y",)),
    ]
    _, series = played([body], [*held, ball, Damping(rate=8.0)], 1.4)
    value = 4.0 * float(np.mean([row["ball.z"] for row in series[-10:]]))
    material = resolve(MATERIAL)
    expected = pressed(material.young, material.poisson, radius, depth, 1.2)
    return relative(value, expected, 0.15, "[N], relative")
