"""A soft beam that hangs far down under its own weight: what locking does, and what cures it.

Clamped, 2.0 x 0.2 x 0.2 m, E 3 MPa, density 1200 kg/m3, g 10 m/s2. The expected tip drops are those of
quadratic neo-Hookean elements on a fine mesh.
"""

from pliant.actions import Gravity
from pliant.core.tables import Table
from pliant.mesh.shapes import box
from pliant.scene import Body
from pliant.validation.cases import Result, case, relative
from pliant.validation.cases_beams import settled, tip

DROPS = {0.3: 1.397, 0.45: 1.389}  # [m] by Poisson's ratio
AVERAGED, QUADRATIC = {"locking": "averaged-pressure"}, {"elements": "quadratic", "law": "neo-hookean"}
SET_UPS: dict[str, tuple[Table, tuple[int, int, int], float]] = {  # keys, cells, tolerance
    "fem": ({}, (90, 14, 14), 0.03),  # 20475 particles
    "fem/averaged-pressure": (AVERAGED, (119, 12, 12), 0.01),  # 20280
    "fem/averaged-pressure-coarse": (AVERAGED, (48, 5, 5), 0.05),  # 1764
    "fem/quadratic-neo-hookean": (QUADRATIC, (20, 2, 2), 0.01),  # 1025
}


def drop(poisson: float, keys: Table, divisions: tuple[int, int, int]) -> float:
    """The tip's drop [m] at equilibrium."""
    material = {"young": 3e6, "poisson": poisson, "density": 1200.0}
    beam = Body(
        box(2.0, 0.2, 0.2, divisions=divisions), model={"type": "fem", **keys}, material=material, name="beam"
    )
    return -float(tip(settled(beam, Gravity(10.0)))[2])


def _enter() -> None:
    for poisson, expected in DROPS.items():

        def hanging(model: str, poisson: float = poisson, expected: float = expected) -> Result:
            keys, divisions, tolerance = SET_UPS[model]
            value = drop(poisson, keys, divisions)
            cells = " x ".join(str(n) for n in divisions)
            return relative(value, expected, tolerance, f"[m], relative; {cells} cells")

        case(
            f"soft-beam-{poisson:g}",
            f"a clamped beam under its weight at Poisson's ratio {poisson:g}",
            tuple(SET_UPS),
            quick=False,
            source="quadratic neo-Hookean elements, converged",
            why="Linear tets are too stiff in bending, the more the nearer Poisson's ratio comes to 1/2.",
        )(hanging)


_enter()
