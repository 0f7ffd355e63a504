"""Tools of all shapes against multiresolution bodies: what they push out, and what they feel."""

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.core.curves import Curve
from pliant.mesh.shapes import box

TISSUE = {"young": 2e4, "poisson": 0.3, "density": 1000.0, "damping": 5e-3}
SHAPES: dict[str, dict[str, Any]] = {
    "sphere": {"sphere": {"radius": 0.2}},
    "box": {"box": {"size": (0.4, 0.3, 0.2)}, "rotation": {"axis": (0, 0, 1), "degrees": 25}},
    "capsule": {"capsule": {"radius": 0.12, "length": 0.4, "axis": "x"}},
}


def tool_of(shape: str, path: Curve) -> pl.Obstacle:
    return pl.Obstacle(**SHAPES[shape], position=path, friction=0.3, name="tool")


@pytest.mark.parametrize("coupling", ["schwarz", "galerkin"])
@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_stays_inside_a_tool(shape: str, coupling: str) -> None:
    """After every frame all particles, and all simulated nodes of all levels, are outside of a tool that goes
    0.1 to 0.2 m deep."""
    table = {"type": "multires", "levels": 2, "coupling": coupling}
    cube = pl.Body(box(1, 1, 1, divisions=(8, 8, 8)), model=table, material=TISSUE)
    path = Curve([0.0, 0.3, 9.0], [(0.5, 0.45, 1.25), (0.5, 0.45, 1.0), (0.5, 0.45, 1.0)])
    held = pl.Fix(cube, pl.where.plane("z", "min"))
    scene = pl.Scene([cube], [held, tool_of(shape, path)], time=pl.TimeSettings(fps=60))
    simulation = scene.simulation()
    simulation.start()
    (tool,) = simulation.system.obstacles
    mechanics = simulation.system.world.bodies[0].mechanics
    touching = 0
    for _ in range(30):
        simulation.advance()
        time, world = simulation.time, simulation.system.world
        assert tool.distances(time, world.x)[0].min() > -1e-12
        for level, d, nodes in zip(
            mechanics.hierarchy.levels, mechanics.motion.d, mechanics.coupling.active, strict=True
        ):
            away = tool.distances(time, level.points[nodes] + d[nodes])[0]
            assert away.min(initial=1.0) > -1e-12
            touching += int(np.count_nonzero(away < 1e-3))
    assert touching > 30
    assert (world.x - world.rest)[:, 2].min() < -0.09


@pytest.mark.parametrize("detail", ["adaptive", "finest"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_tool_feels_what_it_gives(shape: str, detail: str) -> None:
    r"""A free body flies against a still tool, off its centre c. The impulse on the tool is minus what the
    body's momentum changes by, to rounding, whatever the levels do; its torque impulse, the sum of r x j over
    the nodes it meets, is minus what the angular momentum about c changes by, to 1 %, where levels stay as
    they are (a change of level changes the moment of inertia; and pushing a node out turns its momentum)."""
    table = {
        "type": "multires",
        "levels": 2,
        "coupling": "galerkin",
        "operator": "corotational",
        "detail": detail,
    }
    cube = pl.Body(box(1, 1, 1, divisions=(4, 4, 4)), model=table, material=TISSUE, velocity=(0, 0, 1.0))
    centre = np.array([0.75, 0.5, 1.25])
    scene = pl.Scene([cube], [tool_of(shape, Curve.constant(centre))], time=pl.TimeSettings(fps=60))
    simulation = scene.simulation()
    simulation.start()
    world, frame = simulation.system.world, 1.0 / 60.0

    def momenta() -> np.ndarray[Any, Any]:
        p = world.mass[:, None] * world.v
        return np.concatenate([p.sum(axis=0), np.cross(world.x - centre, p).sum(axis=0)])

    before, felt = momenta(), np.zeros(6)
    for _ in range(30):
        simulation.advance()
        row = dict(zip(simulation.columns, simulation.row(), strict=True))
        felt += [frame * row[f"tool.{name}"] for name in ("x", "y", "z", "torque.x", "torque.y", "torque.z")]
    change = momenta() - before
    assert felt[2] > 200.0
    assert np.abs(felt + change)[:3].max() < 1e-9 * felt[2]
    if detail == "finest":
        assert np.abs(felt + change)[3:].max() < 0.01 * 0.25 * felt[2]
