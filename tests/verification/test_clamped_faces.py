"""Faces of lattice bodies, half an edge beyond their outermost elements: held, loaded and measured."""

from typing import Any

import numpy as np
import pytest

import pliant as pl

YOUNG, LENGTH, WIDTHS, LOAD = 12.1e5, 2.0, (0.7, 0.5), 20.0
"""The beam of Jansson and Vergeest (2000): 2 x 0.7 x 0.5 m."""


def end_deflection(axis: int, load: str) -> float:
    """Deflection of the end face along ``axis`` as a probe has it, at rest under a load across the end."""
    shape, material = pl.shapes.box(LENGTH, *WIDTHS), {"young": YOUNG, "poisson": 0.25, "density": 580}
    beam = pl.Body(shape, edge=0.1, model="lattice", material=material, name="beam")
    force = tuple(LOAD * (c == axis) for c in range(3))
    end = pl.where.plane("x", "max")
    push = pl.Force(beam, end, value=force) if load == "force" else pl.Traction(beam, end, total=force)
    scene = pl.Scene(
        [beam],
        [pl.Fix(beam, pl.where.plane("x", "min")), push],
        [pl.Probe(select=end, name="end", what="displacement")],
        integrator={"type": "static", "tolerance": 1e-6},
    )
    simulation = scene.simulation()
    simulation.start()
    simulation.advance()
    return simulation.row()[simulation.columns.index("end.x") + axis]


@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("load", ["force", "traction"])
def test_a_lattice_cantilever_bends_as_beams_do(axis: int, load: str) -> None:
    """Held, loaded and measured at its faces: w = F L^3 / 3 E I + F L / (5/6 G A), G = E / 2.5, within 2.5 %
    at an edge of 0.1 m (0.5 and 2.0 %; 12 % too stiff where the centres of elements are)."""
    height, width = WIDTHS[axis - 1], WIDTHS[2 - axis]
    bending = LOAD * LENGTH**3 / (3 * YOUNG * width * height**3 / 12)
    exact = bending + LOAD * LENGTH / (5 / 6 * YOUNG / 2.5 * width * height)
    assert end_deflection(axis, load) == pytest.approx(exact, rel=0.025)


def stiffness_of(actions: list[Any], length: float) -> Any:
    """Stiffness of the connections of a bar of elements of 0.1 m, and its connections' lengths."""
    bar = pl.Body(pl.shapes.box(length, 0.2, 0.2), edge=0.1, model="lattice", material="rubber", name="bar")
    own = pl.Scene([bar], actions).simulation().system.world.bodies[0].mechanics.body.connections
    return own.own


def test_connections_to_a_held_face_stand_for_more_material() -> None:
    """1.5 edges at one face; two edges between two faces; nothing where a face may slide."""
    low, high = pl.where.plane("x", "min"), pl.where.plane("x", "max")
    fix, move = pl.Fix("bar", low), pl.Move("bar", high, velocity=(0.1, 0, 0))
    for length, actions, spans in ((1.0, [fix], {1.0, 1.5}), (0.2, [fix, move], {1.0, 2.0})):
        ratio = stiffness_of([], length) / stiffness_of(actions, length)
        assert set(np.round(ratio, 9)) == spans
    slides = pl.Fix("bar", low, axes="yz")
    assert np.array_equal(stiffness_of([slides], 1.0), stiffness_of([], 1.0))


def test_a_probe_of_a_face_is_on_it() -> None:
    """At rest, and turned rigidly: linear fields are exact."""
    cube = pl.Body(pl.shapes.box(0.4, 0.4, 0.4), edge=0.1, model="lattice", material="rubber", name="cube")
    probe = pl.Probe(select=pl.where.plane("z", "max"), name="top")
    simulation = pl.Scene([cube], [], [probe]).simulation()
    first = simulation.columns.index("top.x")
    assert simulation.row()[first : first + 3] == pytest.approx([0.2, 0.2, 0.4])
    turn = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    simulation.system.world.x[:] = simulation.system.world.rest @ turn.T
    assert simulation.row()[first : first + 3] == pytest.approx(turn @ [0.2, 0.2, 0.4])
