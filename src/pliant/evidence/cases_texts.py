"""Numbers that the reference texts print, from the scenes of their experiments."""

from pathlib import Path

from pliant import examples
from pliant.evidence.validate import Result, case
from pliant.scene.load import parse
from pliant.scene.override import Override

LARGE = "The text's figure is linear theory; at these strains our laws differ from it, and from each other."


def last_of(name: str, model: str, column: str) -> float:
    """The last value of a series of a shipped scene, run in memory with another model."""
    change = Override("bodies.*.model", model, f"--model {model}")
    scene = parse(examples.text(name), Path(), f"{name}.toml", overrides=[change])
    simulation = scene.simulation()
    simulation.start()
    for _ in range(scene.time.frames() - 1):
        simulation.advance()
    return float(dict(zip(simulation.columns, simulation.row(), strict=True))[column])


@case(
    "everts-stretch",
    "force through the middle of a cube stretched by 16 %: A eps E = 480 kN",
    quick=False,
    source="Everts 2006, section 9.3, figure 9.3",
    why=LARGE,
)
def stretch(model: str) -> Result:
    value = last_of("everts-stretch", model, "flux.total")
    return value, 4.8e5, abs(abs(value) / 4.8e5 - 1), 0.2, "[N], relative"


@case(
    "everts-shear",
    "force on the top of a cube sheared by 0.57: A gamma G = 570 kN (G = 1 MPa; with nu = 0.45, 1.034 MPa)",
    quick=False,
    source="Everts 2006, section 9.4, figure 9.5",
    why="The free sides of a cube carry no shear, so the force is less than for uniform shear. " + LARGE,
)
def shear(model: str) -> Result:
    value = abs(last_of("everts-shear", model, "top.x"))
    return value, 5.7e5, abs(value / 5.7e5 - 1), 0.3, "[N], relative"
