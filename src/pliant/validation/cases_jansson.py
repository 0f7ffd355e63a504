"""The loaded beam of Jansson, Vergeest 2000, section 5: linear, at two resolutions, and as beams bend."""

import numpy as np

from pliant.actions import Fix, Force
from pliant.core.tables import Table
from pliant.core.where import plane
from pliant.integrators import Static
from pliant.mesh.shapes import box
from pliant.scene import Body
from pliant.validation.cases import Result, case, relative
from pliant.validation.scenes import played

BEAM: Table = {"models": ("lattice",), "quick": False}


def _tip(edge: float, load: float) -> float:
    """The text's beam of elements, 2 x 0.7 x 0.5 m, E = 1.21 MPa, loaded at its end along 0.7 m [m]."""
    material = {"young": 12.1e5, "poisson": 0.25, "density": 580.0}
    beam = Body(
        box(2.0 + edge, 0.7, 0.5), edge=edge, model="lattice", material=material, position=(-edge, 0, 0)
    )
    actions = [Fix(beam, plane("x", "min")), Force(beam, plane("x", "max"), value=(0.0, load, 0.0))]
    world = played([beam], actions, 1.0, integrator=Static(tolerance=1e-6), fps=1.0)[0].system.world
    last = world.rest[:, 0] > 2.0 - 0.9 * edge
    return float((world.x - world.rest)[last, 1].mean())


def _timoshenko(load: float) -> float:
    """w = F L^3 / 3 E I + F L / (5/6 G A) of that beam, G = E / 2.5 [m]."""
    young, length, width, height = 12.1e5, 2.0, 0.5, 0.7
    bending = load * length**3 / (3 * young * width * height**3 / 12)
    return bending + load * length / (5 / 6 * young / 2.5 * width * height)


@case(
    "jansson-beam-line",
    "displacement of a loaded beam grows linearly with the load: R2 = 1",
    **BEAM,
    source="Jansson, Vergeest 2000, section 5, figure 6",
    why="Small displacements, to a hundredth of the length.",
)
def beam_line(model: str) -> Result:
    loads = (10.0, 40.0, 100.0)
    value = float(np.corrcoef(loads, [_tip(0.1, load) for load in loads])[0, 1] ** 2)
    return value, 1.0, abs(value - 1), 1e-3, "R2 of three loads"


@case(
    "jansson-beam-resolution",
    "the same beam at twice the resolution moves as far",
    **BEAM,
    source="Jansson, Vergeest 2000, section 5, figures 6 and 7 ('very nearly identical')",
    why="5 and 10 elements across: their surfaces are known to a tenth and a twentieth of the thickness.",
)
def beam_resolution(model: str) -> Result:
    coarse, fine = (_tip(edge, 20.0) for edge in (0.1, 0.05))
    return relative(coarse, fine, 0.05, "[m], relative")


@case(
    "jansson-beam-timoshenko",
    "and as far as beams do: w = F L^3 / 3 E I + F L / (5/6 G A)",
    **BEAM,
    source="Timoshenko 1921; the paper leaves absolute numbers open",
    why="7 x 5 elements across.",
)
def beam_timoshenko(model: str) -> Result:
    value, expected = _tip(0.1, 20.0), _timoshenko(20.0)
    return relative(value, expected, 0.05, "[m], relative")
