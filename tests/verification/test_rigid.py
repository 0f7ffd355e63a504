"""Rigid bodies against closed forms: inertia, free tops, slopes, rolling, bouncing, joints, contact."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import simulate, values

import pliant as pl
from pliant.core.curves import Curve
from pliant.core.errors import IncompatibleError
from pliant.mesh.shapes import beam_with_hole, box, icosphere
from pliant.scene import Body, Scene, TimeSettings
from pliant.structure.samplers.rigid import mass_moments

MATERIAL = {"young": 1e6, "poisson": 0.25, "density": 1000.0, "friction": 0.5}


def rigid(shape: Any, **options: Any) -> Body:
    options.setdefault("material", MATERIAL)
    options.setdefault("name", "body")
    return Body(shape, model="rigid", **options)


def motion(simulation: Any, number: int = 0) -> Any:
    return simulation.system.world.bodies[number].mechanics


def test_a_box_has_its_inertia_wherever_it_is() -> None:
    """m (b^2 + c^2) / 12 about each axis; turned and moved it stays."""
    sides = np.array([0.3, 0.2, 0.1])
    for options in ({}, {"position": (1, 2, 3), "rotation": {"axis": (1, 2, 3), "degrees": 50}}):
        body = rigid(box(*sides), edge=0.05, **options)
        mechanics: Any = body.model.prepare(body.structure(), body.resolved_material)
        mass = 1000.0 * sides.prod()
        assert mechanics.total == pytest.approx(mass, rel=1e-12)
        expected = mass * (np.sum(sides**2) - sides**2) / 12.0
        assert mechanics.inertia == pytest.approx(np.sort(expected), rel=1e-10)


def test_a_fine_sphere_has_two_fifths() -> None:
    """2/5 m r^2, r of the sphere with the mesh's volume."""
    body = rigid(icosphere(0.1, subdivisions=4))
    mechanics: Any = body.model.prepare(body.structure(), body.resolved_material)
    assert mechanics.inertia == pytest.approx(0.4 * mechanics.total * mechanics.radius**2, rel=1e-5)


def test_any_closed_mesh_has_the_moments_of_its_volume() -> None:
    """A beam with a hole through it: the box less the cylinder that its polygon makes, by tets of the filled
    mesh."""
    body = rigid(beam_with_hole((0.4, 0.1, 0.2)), edge=0.03)
    structure = body.structure()
    tets = Body(beam_with_hole((0.4, 0.1, 0.2)), edge=0.03, model="fem").structure()
    surface: Any = structure.carrier
    mass, centre, second = mass_moments(surface.surface.points, surface.surface.triangles, 1000.0)
    corners = tets.rest[tets.cells["tetra"]]
    volume = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6.0
    assert mass == pytest.approx(1000.0 * volume.sum(), rel=0.01)
    assert centre == pytest.approx([0.2, 0.05, 0.1], abs=1e-6)
    total = corners.sum(axis=1)
    moments = np.einsum("t,tki,tkj->ij", volume, corners, corners)
    moments = 50.0 * (moments + np.einsum("t,ti,tj->ij", volume, total, total))
    assert np.diag(second) == pytest.approx(np.diag(moments - mass * np.outer(centre, centre)), rel=0.02)
    mass_of, rest = structure.mass, structure.rest  # the particles have just these moments
    assert mass_of.min() > 0
    assert mass_of @ rest / mass == pytest.approx(centre, abs=1e-12)
    own = (mass_of[:, None] * (rest - centre)).T @ (rest - centre)
    assert own == pytest.approx(second, abs=1e-11 * np.trace(second))


def test_a_top_that_tumbles_keeps_its_momenta_and_energy() -> None:
    """Spun about its middle axis a body turns over and over (Dzhanibekov): momenta stay to rounding, the
    energy within 1e-5 and without drift."""
    body = rigid(box(0.3, 0.2, 0.1), edge=0.1, spin=(0.01, 10.0, 0.01), velocity=(1, 2, 3))
    simulation = Scene([body], time=TimeSettings(fps=50)).simulation()
    simulation.start()
    start, energy, middle = values(simulation), [], []
    for _ in range(400):
        simulation.advance()
        row = values(simulation)
        energy.append(row["energy.kinetic"])
        R = motion(simulation)._turn()
        middle.append(R[:, 1] @ [0, 1, 0])
    assert np.ptp(np.sign(middle)) == 2.0  # it did turn over
    assert np.abs(np.array(energy) / start["energy.kinetic"] - 1).max() < 1e-5
    assert np.mean(energy[-100:]) == pytest.approx(np.mean(energy[:100]), rel=1e-6)
    for name in ("momentum", "angular"):
        before, after = (np.array([data[f"{name}.{c}"] for c in "xyz"]) for data in (start, row))
        if name == "angular":  # about the origin, of a body that moves 24 m: about its centre it is exact
            assert np.abs(after - before).max() < 1e-12 * 24 * np.linalg.norm([1, 2, 3]) * 6.0
        else:
            assert np.abs(after - before).max() < 1e-12 * np.abs(before).max()


def slope(degrees: float, body: Any, height: float, seconds: float = 1.0) -> Any:
    angle = np.radians(degrees)
    R = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    turn = {"axis": "y", "degrees": degrees}
    place = tuple(R @ np.array([0.0, 0.0, height]))
    plane = pl.Obstacle(
        box={"size": (20, 20, 1)}, position=tuple(-0.5 * R[:, 2]), rotation=turn, friction=0.5
    )
    simulation = simulate([body(rotation=turn, position=place)], [pl.Gravity(), plane], seconds=seconds)
    return motion(simulation), R[:, 0]


@pytest.mark.parametrize(("degrees", "expected"), [(26.0, 0.0), (27.2, None), (45.0, None)])
def test_a_block_on_a_slope_rests_or_slides_as_coulomb_says(degrees: float, expected: float | None) -> None:
    """mu = 0.5: holds at 26.0 degrees; slides with g (sin - mu cos) beyond 26.57."""
    block, down = slope(degrees, lambda **at: rigid(box(0.3, 0.2, 0.1), edge=0.1, **at), 0.0)
    angle = np.radians(degrees)
    wanted = 9.81 * (np.sin(angle) - 0.5 * np.cos(angle)) if expected is None else 0.0
    assert block.momentum @ down / block.total == pytest.approx(wanted, abs=1e-9)


def test_a_ball_rolls_down_a_slope() -> None:
    """a = 5/7 g sin, and it turns without slipping."""
    ball, down = slope(20.0, lambda **at: rigid(icosphere(0.1, subdivisions=3), **at), 0.1)
    speed = ball.momentum @ down / ball.total
    assert speed == pytest.approx(5 / 7 * 9.81 * np.sin(np.radians(20.0)), rel=1e-3)
    assert ball.spin[1] / ball.inertia.mean() * ball.radius == pytest.approx(speed, rel=1e-3)


def test_a_sliding_ball_ends_up_rolling() -> None:
    """Sliding with v it rolls with 5/7 v, whatever the friction."""
    ball = rigid(icosphere(0.1, subdivisions=3), position=(0, 0, 0.1), velocity=(1, 0, 0))
    simulation = simulate([ball], [pl.Gravity(), pl.Ground(friction=0.3)], seconds=0.6)
    assert motion(simulation).momentum[0] / motion(simulation).total == pytest.approx(5 / 7, rel=1e-3)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9])
def test_a_ball_bounces_by_the_grounds_restitution(restitution: float) -> None:
    """It comes off the ground with e times its speed; the ledger is closed."""
    ball = rigid(icosphere(0.1, subdivisions=3), position=(0, 0, 0.4), velocity=(0, 0, -3))
    scene = Scene([ball], [pl.Ground(restitution=restitution)], time=TimeSettings(fps=100))
    simulation = scene.simulation()
    simulation.start()
    start = values(simulation)["energy.total"]
    for _ in range(20):
        simulation.advance()
    speed = motion(simulation).momentum[2] / motion(simulation).total
    assert speed == pytest.approx(3 * restitution, abs=1e-9)
    assert values(simulation)["energy.total"] == pytest.approx(start, rel=1e-9)


def test_a_held_particle_is_a_joint() -> None:
    """A rod on a ball joint swings with 2 pi sqrt(2 L / 3 g); what holds it bears its weight."""
    rod = rigid(box(0.02, 0.02, 0.5), edge=0.1, position=(-0.01, -0.01, -0.5), velocity=(0, 0, 0))
    push = pl.Impulse("body", pl.where.plane("z", "min"), value=(0.002, 0, 0), at=0.0)
    fix = pl.Fix("body", pl.where.nearest((0.0, 0.0, 0.0), 1))
    reaction = pl.measures.Reaction(pl.where.nearest((0.0, 0.0, 0.0), 1), name="hinge")
    scene = Scene([rod], [pl.Gravity(), fix, push], [reaction], time=TimeSettings(fps=100))
    simulation = scene.simulation()
    simulation.start()
    x = []
    for _ in range(300):
        simulation.advance()
        x.append(motion(simulation).centre[0])
    assert values(simulation)["hinge.z"] == pytest.approx(0.2 * 9.81, rel=0.01)
    crossings = np.flatnonzero(np.diff(np.sign(np.array(x) - np.mean([max(x), min(x)]))) > 0)
    period = np.diff(crossings).mean() / 100
    assert period == pytest.approx(2 * np.pi * np.sqrt(2 * 0.5 / (3 * 9.81)), rel=0.03)


def test_a_moved_face_moves_the_whole_body_and_torn_ones_are_refused() -> None:
    body = rigid(box(0.2, 0.2, 0.2), edge=0.1)
    turn = pl.Rotate("body", pl.where.plane("z", "max"), axis="z", centre=(0.1, 0.1, 0.1), speed=2.0)
    simulation = simulate([body], [turn], seconds=0.5)
    world = simulation.system.world
    c, s = np.cos(1.0), np.sin(1.0)
    expected = (world.rest - [0.1, 0.1, 0.1]) @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]).T + [
        0.1,
        0.1,
        0.1,
    ]
    assert np.abs(world.x - expected).max() < 1e-12
    apart = [
        pl.Move("body", pl.where.plane("x", "min"), velocity=(-0.1, 0, 0)),
        pl.Move("body", pl.where.plane("x", "max"), velocity=(0.1, 0, 0)),
    ]
    with pytest.raises(IncompatibleError, match="cannot follow"):
        simulate([rigid(box(0.2, 0.2, 0.2), edge=0.1)], apart, seconds=0.1)


@pytest.mark.parametrize("restitution", [0.4, 0.8])
def test_two_balls_exchange_momentum_through_contact(restitution: float) -> None:
    """Head on, equal masses: relative speed after is e times that before; momentum to rounding."""
    material = {**MATERIAL, "restitution": restitution, "friction": 0.0}
    shape = icosphere(0.1, subdivisions=3)
    one = rigid(shape, material=material, name="one", velocity=(1, 0, 0))
    two = rigid(shape, material=material, name="two", position=(0.205, 0, 0))
    simulation = simulate([one, two], [], seconds=0.06, step=5e-5)
    speeds = [motion(simulation, k).momentum[0] / motion(simulation, k).total for k in (0, 1)]
    assert sum(speeds) == pytest.approx(1.0, abs=1e-12)
    assert speeds[1] - speeds[0] == pytest.approx(restitution, abs=0.03)


def test_a_rigid_block_rests_on_an_elements_table_and_falls_no_further() -> None:
    material = {**MATERIAL, "damping": 5e-4}
    table = Body(box(0.6, 0.6, 0.2), edge=0.1, model="lattice", material=material, name="table")
    block = rigid(
        box(0.2, 0.2, 0.1), edge=0.1, position=(0.2, 0.2, 0.21), rotation={"axis": "z", "degrees": 20}
    )
    actions = [pl.Gravity(), pl.Fix("table", pl.where.plane("z", "min"))]
    simulation = simulate([table, block], actions, seconds=0.8)
    moving = motion(simulation, 1)
    assert moving.centre[2] == pytest.approx(0.25, abs=2e-3)
    assert np.abs(moving.momentum).max() < 1e-4 * moving.total


def test_a_resumed_run_with_rigid_bodies_is_the_same_to_the_byte(tmp_path: Path) -> None:
    def started() -> Any:
        table = Body(box(0.4, 0.4, 0.1), edge=0.1, model="lattice", material=MATERIAL, name="table")
        ball = rigid(
            icosphere(0.06, subdivisions=2), position=(0.2, 0.2, 0.18), velocity=(1, 0, -1), name="a"
        )
        block = rigid(box(0.1, 0.1, 0.1), position=(0.6, 0.0, 0.02), spin=(3, 4, 5), name="b")
        actions = [
            pl.Gravity(),
            pl.Ground(restitution=0.3),
            pl.Impulse("b", pl.where.all(), value=(0, 0, 1), at=0.05),
        ]
        simulation = Scene([table, ball, block], actions, time=TimeSettings(fps=50)).simulation()
        simulation.start()
        return simulation

    whole, first, second = started(), started(), started()
    for _ in range(8):
        whole.advance()
    for _ in range(3):
        first.advance()
    second.restore(3, {name: np.array(a) for name, a in first.state().items()})
    for _ in range(5):
        second.advance()
    assert np.array_equal(whole.system.world.x, second.system.world.x)
    assert np.array_equal(whole.system.world.v, second.system.world.v)


def test_an_impulse_on_one_face_does_the_work_that_the_body_gets() -> None:
    """The rows of the face take it, all rows move: work is the energy of the rigid motion, to rounding."""
    body = pl.Body(pl.shapes.box(0.2, 0.2, 0.2), model="rigid", material="steel")
    kick = pl.Impulse(body, pl.where.plane("x", "min"), value=(0.0, 0.0, 2.0))
    simulation = pl.Scene([body], [kick]).simulation()
    simulation.start()
    for _ in range(5):
        simulation.advance()
    row = dict(zip(simulation.columns, simulation.row(), strict=True))
    assert row["energy.kinetic"] == pytest.approx(row["energy.work"], rel=1e-9)
    assert abs(row["energy.unexplained"]) < 1e-9 * row["energy.work"]


def test_a_held_body_takes_the_push_of_an_obstacle() -> None:
    """A ball pressed into a body that is held all round: nothing moves, nothing grows."""
    body = pl.Body(pl.shapes.box(0.2, 0.2, 0.2), model="rigid", material="steel")
    press = Curve([0.0, 0.1], [(0.1, 0.1, 0.35), (0.1, 0.1, 0.24)])
    ball = pl.Obstacle(sphere={"radius": 0.05}, position=press)
    simulation = pl.Scene([body], [pl.Fix(body, pl.where.plane("z", "min")), ball]).simulation()
    simulation.start()
    for _ in range(10):
        simulation.advance()
    world = simulation.system.world
    assert np.abs(world.x - world.rest).max() < 1e-9
    assert np.abs(world.v).max() < 1e-9
