"""Material added to bodies of elements while they run."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import simulate, values

import pliant as pl
from pliant.actions import Add, Remove
from pliant.core.errors import IncompatibleError, SelectionError
from pliant.mesh.io import write_surface
from pliant.mesh.mesh import Surface
from pliant.mesh.shapes import box, sphere
from pliant.mesh.topology import Edges, merge_points
from pliant.scene import Body, Scene, TimeSettings
from pliant.scene.load import parse

MATERIAL = {"young": 1e6, "poisson": 0.25, "density": 1000.0, "damping": 1e-3}


def bar(length: float = 0.6, **options: Any) -> Body:
    options.setdefault("material", MATERIAL)
    return Body(box(length, 0.2, 0.2), edge=0.1, model="lattice", name="bar", **options)


def closed(surface: Surface) -> bool:
    """An even number of triangles meets at every edge: pieces may touch along one."""
    points, of = merge_points(surface.points)
    return bool((Edges(of[surface.triangles], len(points)).uses % 2 == 0).all())


def held(bodies: list[Body], extra: list[Any], seconds: float) -> Any:
    actions = [pl.Gravity(), pl.Fix("bar", pl.where.plane("x", "min")), pl.Damping(rate=5.0), *extra]
    return simulate(bodies, actions, seconds=seconds, step=5e-4)


@pytest.mark.parametrize("rule", ["calibrated", "text"])
def test_a_bar_that_was_lengthened_bends_like_one_sampled_at_that_length(rule: str) -> None:
    """The lattice goes on, stiffnesses and the compensation of free faces with it: the motions are equal."""
    model = pl.models.Elements(rule=rule)
    short = Body(box(0.3, 0.2, 0.2), edge=0.1, model=model, material=MATERIAL, name="bar")
    whole = Body(box(0.6, 0.2, 0.2), edge=0.1, model=model, material=MATERIAL, name="bar")
    grown = held([short], [Add("bar", shape=box(0.3, 0.2, 0.2), position=(0.3, 0, 0))], 0.3)
    sampled = held([whole], [], 0.3)
    a, b = grown.system.world, sampled.system.world
    order = np.lexsort(np.rint(a.rest / 0.1).T), np.lexsort(np.rint(b.rest / 0.1).T)
    assert a.rest[order[0]] == pytest.approx(b.rest[order[1]], abs=1e-12)
    assert np.abs(b.x - b.rest).max() > 1e-3
    assert a.x[order[0]] == pytest.approx(b.x[order[1]], abs=1e-10)


def test_what_is_added_moves_along_and_strains_nothing() -> None:
    """A falling, spinning bar gets four elements: they have its motion, all energy they bring is work, and
    the shown volume is the sum of both, though the regions overlap."""
    scene = Scene(
        [bar(spin=(0, 0, 1.0))],
        [pl.Gravity(), Add("bar", shape=box(0.2, 0.2, 0.15), position=(0.2, 0.0, 0.1), at=0.05)],
        time=TimeSettings(duration=0.2, fps=50),
    )
    simulation = scene.simulation()
    simulation.start()
    start, world = values(simulation), simulation.system.world
    for _ in range(10):
        simulation.advance()
    row = values(simulation)
    assert world.count == 24 + 4
    assert row["energy.total"] == pytest.approx(start["energy.total"], rel=1e-5)
    assert row["energy.elastic"] < 1e-5 * row["energy.kinetic"]
    assert row["volume.bar"] > 0.024 + 0.2 * 0.2 * 0.049
    assert row["volume.bar"] < 0.024 + 0.2 * 0.2 * 0.1
    assert row["momentum.z"] == pytest.approx(-28.0 * 9.81 * 0.2, rel=1e-9)


def test_new_elements_are_in_no_selection() -> None:
    """Elements added below the held end move: the hold does not spread to them."""
    simulation = held([bar()], [Add("bar", shape=box(0.1, 0.2, 0.1), position=(0, 0, -0.1))], 0.1)
    world = simulation.system.world
    assert world.count == 24 + 2
    assert (world.inverse_mass[:4] == 0.0).all()
    assert (world.inverse_mass[24:] > 0.0).all()
    assert (world.x[24:] != world.rest[24:]).any(axis=1).all()


def test_the_surface_of_what_is_added_is_closed_and_carried() -> None:
    """A ball that sticks half out of a bent bar: what is shown is closed, and as large as both together."""
    ball = Add("bar", shape=sphere(0.08), position=(0.6, 0.1, 0.12), at=0.2)
    lift = pl.Force("bar", pl.where.plane("x", "max"), value=(0, 0, 150))
    up = held([bar()], [lift], 0.2).system.world.x[22, 2]  # the bar's end when the ball comes
    simulation = held([bar()], [lift, ball], 0.4)
    part, x = simulation.system.world.bodies[0], simulation.system.world.x
    shown = part.structure.carrier
    assert shown is not None
    points = shown.positions(x)
    assert closed(shown.surface)
    outside = values(simulation)["volume.bar"] - values(held([bar()], [lift], 0.4))["volume.bar"]
    assert outside == pytest.approx(2.0 / 3.0 * np.pi * 0.08**3, rel=0.15)
    tip = points[points[:, 0].argmax()]
    assert tip[0] == pytest.approx(0.68, abs=0.01)
    assert tip[2] == pytest.approx(0.12 + x[22, 2] - up, abs=0.02)  # and the end turns


def test_added_material_breaks_off_and_can_be_removed() -> None:
    """A lump hung on a strong bar by a weak neck is torn off: the surface parts there."""
    weak = {**MATERIAL, "strength": 3e3}
    lump = Add("bar", shape=box(0.2, 0.2, 0.3), position=(0.4, 0, -0.3))
    pull = pl.Gravity(acceleration=60.0)
    hold = pl.Fix("bar", pl.where.plane("z", "max"))
    simulation = simulate([bar(material=weak)], [pull, hold, lump], seconds=0.2)
    part, world = simulation.system.world.bodies[0], simulation.system.world
    assert world.count == 24 + 12
    assert (~part.mechanics.connections.intact).any()  # type: ignore[attr-defined]
    assert world.x[-12:, 2].mean() < world.rest[-12:, 2].mean() - 0.1
    shown = part.structure.carrier
    assert shown is not None
    assert closed(shown.surface)
    away = Remove("bar", pl.where.box((0, 0, -1), (1, 1, 0)), at=0.02, late=True)
    gone = simulate([bar()], [lump, away], seconds=0.06)
    assert gone.system.world.count == 24
    assert values(gone)["volume.bar"] == pytest.approx(0.024, rel=0.01)


def test_material_is_added_to_clay_that_has_flowed() -> None:
    """Pressed flat, elements are not where the lattice has them: the new ones find room all the same, are
    connected, and hold together."""
    clay = {**MATERIAL, "young": 2e5, "yield": 2e3, "damping": 5e-3}
    press = pl.Move("bar", pl.where.plane("z", "max"), velocity=(0, 0, -0.4), until=0.1)
    ball = Add("bar", shape=sphere(0.1), position=(0.3, 0.1, 0.2), at=0.3)
    floor = pl.Fix("bar", pl.where.plane("z", "min"))
    simulation = simulate([bar(material=clay)], [floor, press, ball], seconds=0.5)
    world, part = simulation.system.world, simulation.system.world.bodies[0]
    new = np.arange(24, world.count)
    assert len(new) >= 3
    tied = part.mechanics.connections.edges  # type: ignore[attr-defined]
    assert ((tied[:, 0] < 24) & (tied[:, 1] >= 24)).sum() >= 8
    assert np.abs(world.x[new].mean(axis=0) - (0.3, 0.1, 0.2)).max() < 0.1
    assert np.isfinite(part.mechanics.strains(world.x)).all()  # type: ignore[attr-defined]


def test_a_region_may_be_a_mesh_beside_the_scene(tmp_path: Path) -> None:
    write_surface(tmp_path / "lump.obj", box(0.2, 0.2, 0.1).surface())
    text = """
schema = 1
[[bodies]]
name = "bar"
shape = { box = { size = [0.6, 0.2, 0.2] } }
edge = 0.1
model = "lattice"
[[actions]]
type = "add"
body = "bar"
mesh = "lump.obj"
position = [0.2, 0.0, 0.2]
"""
    simulation = parse(text, tmp_path).simulation()
    simulation.advance()
    assert simulation.system.world.count == 24 + 4


def test_regions_that_cannot_be_filled_say_so() -> None:
    with pytest.raises(SelectionError, match="touches nothing"):
        simulate([bar()], [Add("bar", shape=sphere(0.2), position=(0, 0, 2))], seconds=0.02)
    with pytest.raises(SelectionError, match="no room"):
        simulate([bar()], [Add("bar", shape=sphere(0.05), position=(0.3, 0.1, 0.1))], seconds=0.02)
    with pytest.raises(ValueError, match="one of shape, mesh"):
        Add("bar")
    body = Body(box(0.2, 0.2, 0.2), edge=0.1, model="mass-spring", name="bar")
    with pytest.raises(IncompatibleError, match="nothing can be added"):
        simulate([body], [Add("bar", shape=sphere(0.1))], seconds=0.02)
    open_box = box(0.2, 0.2, 0.2).surface()
    sheet = Surface(open_box.points, open_box.triangles[1:])
    with pytest.raises(pl.errors.MeshError, match="not closed"):
        simulate([bar()], [Add("bar", shape=sheet)], seconds=0.02)
