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


@pytest.mark.parametrize("shape", SHAPES)
def test_hardly_anything_is_inside_a_tool(shape: str) -> None:
    """After every frame all particles are outside of a tool that goes 0.1 to 0.2 m deep, but for a tenth of
    an edge: contacts are springs as stiff as the ticks allow."""
    cube = pl.Body(
        box(1, 1, 1, divisions=(8, 8, 8)), model={"type": "multires", "levels": 2}, material=TISSUE
    )
    path = Curve([0.0, 0.3, 9.0], [(0.5, 0.45, 1.25), (0.5, 0.45, 1.0), (0.5, 0.45, 1.0)])
    held = pl.Fix(cube, pl.where.plane("z", "min"))
    scene = pl.Scene([cube], [held, tool_of(shape, path)], time=pl.TimeSettings(fps=60))
    simulation = scene.simulation()
    simulation.start()
    (tool,) = simulation.system.obstacles
    world = simulation.system.world
    deepest = 0.0
    for _ in range(30):
        simulation.advance()
        deepest = max(deepest, -tool.distances(simulation.time, world.x)[0].min())
    assert 0.0 < deepest < 0.1 / 8
    assert (world.x - world.rest)[:, 2].min() < -0.09


def test_forces_between_steps_are_those_of_where_the_tool_is() -> None:
    """While a tool moves by several times the depth of its contacts in a frame, these store the same energy
    when they are evaluated again after it, as a change of level does."""
    cube = pl.Body(
        box(1, 1, 1, divisions=(4, 4, 4)), model={"type": "multires", "levels": 2}, material=TISSUE
    )
    path = Curve([0.0, 0.3], [(0.5, 0.45, 1.25), (0.5, 0.45, 1.0)])
    held = pl.Fix(cube, pl.where.plane("z", "min"))
    scene = pl.Scene([cube], [held, tool_of("sphere", path)], time=pl.TimeSettings(fps=60))
    simulation = scene.simulation()
    simulation.start()
    for _ in range(14):
        simulation.advance()
    body = simulation.system.world.bodies[0].mechanics.body
    stored, forces = body.contact.stored, body.contact.pairs.force.sum(axis=0)
    assert stored > 0.0
    body.evaluate()
    assert body.contact.stored == pytest.approx(stored, rel=0.05)  # forces depend on velocities too
    assert body.contact.pairs.force.sum(axis=0)[2] == pytest.approx(forces[2], rel=0.05)


@pytest.mark.parametrize("detail", ["adaptive", "finest"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_tool_feels_what_it_gives(shape: str, detail: str) -> None:
    r"""A free body flies against a still tool, off its centre c. The impulse on the tool is minus what the
    body's momentum changes by, to rounding, whatever the levels do; its torque impulse is minus what the
    angular momentum about c changes by, to 1 %."""
    table = {
        "type": "multires",
        "levels": 2,
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
