"""Cases of large strains and of plastic flow."""

from typing import Any

import numpy as np

from pliant.actions import Damping, Fix, Move
from pliant.core.curves import Curve
from pliant.core.where import plane
from pliant.materials import resolve
from pliant.measures import Reaction
from pliant.mesh.shapes import box
from pliant.scene import Body
from pliant.validation.cases import Result, case, relative
from pliant.validation.scenes import MATERIAL, block, played

FEM = ("fem",)
YIELD = 2000.0  # a yield strain of 0.02


def pulled(body: Body, stretch: float, seconds: float, **plan: Any) -> dict[str, float]:
    """The series at the end of a block of 0.2 m pulled along x, its sides free."""
    ramp = Curve([0.0, seconds], [[0, 0, 0], [0.2 * (stretch - 1.0), 0, 0]])
    high = plane("x", "max")
    actions = [
        Fix(body, plane("x", "min"), axes=("x",)),
        Fix(body, plane("y", "min"), axes=("y",)),
        Fix(body, plane("z", "min"), axes=("z",)),
        Move(body, high, displacement=ramp, axes=("x",)),
        *plan.pop("more", []),
    ]
    return played([body], actions, seconds, [Reaction(select=high)], **plan)[1][-1]


@case(
    "neo-hookean-stretch",
    "uniaxial force of the stable neo-Hookean law, its sides free, at a stretch of 1.5",
    models=FEM,
    source="Smith, de Goes and Kim 2018: P of diag(s, q, q) with q from P_yy = 0",
    why="Uniform strain: rounding, and the roots of two equations.",
)
def neo_hookean(model: str) -> Result:
    from scipy.optimize import brentq

    law = {"type": model, "law": "neo-hookean"}
    body = Body(box(0.2, 0.2, 0.2, divisions=(2, 2, 2)), model=law, material=MATERIAL)
    structure = body.structure()
    mechanics = body.model.prepare(structure, body.resolved_material)
    rest = structure.rest

    def pull(q: float) -> Any:
        """Forces [N] that hold the faces x and y, stretched by 1.5 along x and q across."""
        out = np.zeros_like(rest)
        mechanics.add_forces(rest * [1.5, q, q], np.zeros_like(rest), out)
        return [-float(out[rest[:, axis] > 0.2 - 1e-9, axis].sum()) for axis in (0, 1)]

    value = pull(brentq(lambda q: pull(q)[1], 0.5, 1.0, xtol=1e-14))[0]
    lam0, mu0 = resolve(MATERIAL).lame
    mu, lam = 4.0 / 3.0 * mu0, lam0 + 5.0 / 6.0 * mu0

    def stress(s: float, q: float) -> tuple[float, float]:
        a = mu * (1.0 - 1.0 / (s * s + 2 * q * q + 1.0))
        b = lam * (s * q * q - 1.0) - 0.75 * mu
        return a * s + b * q * q, a * q + b * s * q

    width = brentq(lambda q: stress(1.5, q)[1], 0.5, 1.0)
    expected = stress(1.5, width)[0] * 0.2 * 0.2
    return relative(value, expected, 1e-9, "[N], relative")


@case(
    "plastic-bar",
    "a perfectly plastic bar pulled past its limit pulls back with sigma_y A",
    models=("fem", "efg", "lattice"),
    source="theory of plasticity (von Mises); area of the thinned bar, volume kept",
    why="Slow pulling, damped; the elastic strain at yield is 2 %.",
    cannot={
        "lattice": "Every connection flows along its own line at a strain of sigma_y / E: diagonals do "
        "later than those along the bar, and carry more than their elastic share until then."
    },
)
def plastic_bar(model: str) -> Result:
    """Small flow adds strains (fem, elements); large flow (efg) also thins the section by the stretch."""
    stretch, expected = 1.1, YIELD * 0.1 * 0.1
    body = block(model, (2, 1, 1), material=MATERIAL | {"yield": YIELD})
    if model == "efg":
        table, expected = {"type": "efg", "hardening": 0.0}, expected / stretch
        body = Body(
            box(0.2, 0.1, 0.1, divisions=(4, 2, 2)), model=table, material=MATERIAL | {"yield": YIELD}
        )
    value = abs(pulled(body, stretch, 1.0, more=[Damping(rate=20.0)])["reaction.x"])
    return relative(value, expected, 0.05, "[N], relative")


@case(
    "creep-at-held-strain",
    "s(t) = Y + (s(0) - Y) exp(-creep t) for a strain that is held",
    models=("fem", "efg"),
    source="Maxwell element with a threshold, in closed form",
    why="Exact for additive strains; the von Mises stress of the printed measure differs by a percent.",
)
def creep(model: str) -> Result:
    rate, t = 3.0, 0.4
    material = MATERIAL | {"yield": YIELD, "creep": rate}
    body = block(model, (2, 1, 1), material=material)
    structure = body.structure()
    mechanics = body.model.prepare(structure, body.resolved_material)
    x = structure.rest * [1.02, 1 / 1.02, 1.0]
    still = np.zeros_like(x)
    start = float(mechanics.fields(x, still, ["stress"])["stress"].values.mean())
    for _ in range(20):
        mechanics.after_step(0.0, t / 20, x, still)
    value = float(mechanics.fields(x, still, ["stress"])["stress"].values.mean())
    expected = YIELD + (start - YIELD) * float(np.exp(-rate * t))
    return relative(value, expected, 0.02, "[Pa], relative")
