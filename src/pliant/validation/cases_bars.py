"""Bars and beams near rest, for every model: coarse ones, as scenes have them."""

from typing import Any

import numpy as np

from pliant.core.typing import Array
from pliant.mesh.shapes import box
from pliant.scene import Body
from pliant.validation.cases import Result, case, relative
from pliant.validation.equilibrium import equilibrium

YOUNG, DENSITY, G = 1e5, 1000.0, 9.81
MATERIAL = {"young": YOUNG, "poisson": 0.25, "density": DENSITY}  # what all models can do
LENGTH, THICK = 1.0, 0.25


def hung(model: str, cells: int, load: Any) -> tuple[Array, float]:
    """Mean displacement [m] of the far end of a bar along x, held at its near end, and the span between the
    two: elements lie half a cell inside the body.

    load: from masses, and which particles lie at the end, to forces (n, 3) [N].
    """
    bar = Body(
        box(LENGTH, THICK, THICK, divisions=(4 * cells, cells, cells)), edge=THICK / cells, model=model,
        material=MATERIAL,
    )  # fmt: skip
    structure = bar.structure()
    mechanics = bar.model.prepare(structure, bar.resolved_material)
    x = structure.rest[:, 0]
    near, end = x < x.min() + 1e-6, x > x.max() - 1e-6
    held = np.repeat(near[:, None], 3, axis=1)
    loads = load(structure.mass, end)
    u, _ = equilibrium(mechanics, structure, held, np.zeros_like(loads), bar.resolved_material.lame, loads)
    return np.average(u[end], axis=0, weights=structure.mass[end]), float(np.ptp(x))


@case(
    "short-cantilever",
    "tip of a beam of 1 : 4, six cells thick: w = F L^3 / 3 E I + 6 F L / 5 G A",
    source="Timoshenko 1921",
    why="Six cells of linear tets are about 10 % too stiff in bending, and the clamp holds sideways too.",
)
def short_cantilever(model: str) -> Result:
    force = 1e-3

    def load(mass: Array, end: Any) -> Array:
        out = np.zeros((len(mass), 3))
        out[end, 2] = force * mass[end] / mass[end].sum()
        return out

    moved, span = hung(model, 6, load)
    area, bending, shear = THICK**2, YOUNG * THICK**4 / 12.0, YOUNG / 2.5
    expected = force * span**3 / (3.0 * bending) + 1.2 * force * span / (shear * area)
    value = float(moved[2])
    return relative(value, expected, 0.12, "[m], relative")


@case(
    "hung-bar",
    "end of a bar that hangs by its own weight: u = rho g L^2 / 2 E",
    source="Hooke's law, integrated",
    why="Held sideways too at its top, which Poisson's ratio feels: 1 to 2 %.",
)
def hung_bar(model: str) -> Result:
    def load(mass: Array, end: Any) -> Array:
        return np.outer(G * mass, [1.0, 0.0, 0.0])

    moved, span = hung(model, 4, load)
    beyond = 0.5 * (LENGTH - span)  # weight outside the outermost elements
    expected = DENSITY * G / YOUNG * span * (0.5 * span + beyond)
    value = float(moved[0])
    return relative(value, expected, 0.05, "[m], relative")
