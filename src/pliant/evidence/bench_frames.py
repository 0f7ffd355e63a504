"""Frames of bodies as small as those of reference D's figure 5.1, beside its times; frame-660 is the third.

The text's moduli have no unit: they are taken in kPa.
"""

import numpy as np

from pliant.actions import Fix, Gravity
from pliant.evidence.bench import Figure, bench
from pliant.evidence.bench_fem import rate
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene
from pliant.scene.scene import TimePlan
from pliant.where import plane


def frame(count: int, divisions: tuple[int, int, int], reference: float, **material: float) -> list[Figure]:
    """A frame of one step of backward Euler, beside the text's (``reference`` [ms])."""
    x, y, z = (0.1 * n for n in divisions)
    body = Body(box(x, y, z, divisions=divisions), material=material, model="fem")
    plan = TimePlan(fps=25.0, step=0.04, integrator="implicit-euler")
    simulation = Scene([body], [Gravity(), Fix(body, plane("x", "min"))], time=plan).simulation()
    simulation.start()
    simulation.advance()
    value = 1e3 * float(np.median([rate(simulation, 1)[0] for _ in range(50)]))
    tets = len(simulation.system.world.parts[0].structure.cells["tetra"])
    note = f"{tets} tets ({count} there), 25 frames a second"
    return [Figure(f"cantilever/frame-{count}", value, "ms/frame", reference, reference / value, None, note)]


@bench("cantilever/frame-141")
def frame_141() -> list[Figure]:
    """The cylinder of figure 5.1: 141 elements, 115 ms a frame there."""
    return frame(141, (4, 3, 2), 115.0, young=1e3, poisson=0.45, density=600.0)


@bench("cantilever/frame-8")
def frame_8() -> list[Figure]:
    """The prism of figure 5.1: 8 elements, 2 ms a frame there."""
    return frame(8, (1, 1, 1), 2.0, young=10e3, poisson=0.4, density=100.0)
