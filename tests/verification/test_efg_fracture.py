"""Meshless bodies that break: where, at what force, and into what."""

from typing import Any

import numpy as np
import pytest
from bodies import MATERIAL, block, simulate

import pliant as pl
from pliant.core.curves import Curve
from pliant.mesh.mesh import Surface, boundary_triangles, surface_volume
from pliant.mesh.topology import Edges, components, merge_points

STRENGTH, NECK = 2e4, 0.06


def necked_bar() -> Surface:
    """0.4 x 0.1 x 0.1 m, waisted to a square of 0.06 m in the middle, so gently (a radius of 0.25 m) that the
    stress is the same within 8 % all over its section: breaking force is strength times area."""
    box: Any = pl.shapes.box(0.4, 0.1, 0.1, divisions=(24, 6, 6)).volume()
    points = box.points.copy()
    waist = 1 - (1 - NECK / 0.1) * np.exp(-(((points[:, 0] - 0.2) / 0.1) ** 2))
    points[:, 1:] = 0.05 + (points[:, 1:] - 0.05) * waist[:, None]
    return Surface(points, boundary_triangles(box.tets))


def closed(surface: Surface) -> bool:
    points, of = merge_points(surface.points)
    return bool((Edges(of[surface.triangles], len(points)).uses % 2 == 0).all())


@pytest.mark.parametrize(
    "edge",
    [
        pytest.param(0.025, marks=pytest.mark.slow),
        0.02,
        pytest.param(0.018, marks=pytest.mark.slow),
        0.016,
        pytest.param(0.0143, marks=pytest.mark.slow),
    ],
)
def test_a_necked_bar_breaks_once_at_the_neck_at_strength_times_area(edge: float) -> None:
    material = {"young": 1e6, "poisson": 0.3, "density": 1000.0, "strength": STRENGTH}
    bar = pl.Body(necked_bar(), edge=edge, model="efg", material=material, name="bar")
    scene = pl.Scene(
        [bar],
        [
            pl.Fix(bar, pl.where.plane("x", "min")),
            pl.Move(bar, pl.where.plane("x", "max"), velocity=(0.06, 0, 0)),
            pl.Damping(rate=20.0),
        ],
        time=pl.TimeSettings(duration=0.1, fps=500),
    )
    simulation = scene.simulation()
    simulation.start()
    world, mechanics = simulation.system.world, simulation.system.world.bodies[0].mechanics
    peak = 0.0
    for _ in range(50):
        simulation.advance()
        through, _ = mechanics.section_force(world.x, world.rest[:, 0] > 0.205)["elastic"]  # type: ignore[attr-defined]
        peak = max(peak, abs(float(through[0])))
        if mechanics.fracture_statistics()[0] > 1:  # type: ignore[attr-defined]
            break
    assert peak == pytest.approx(STRENGTH * NECK**2, rel=0.15)
    pieces, _, _ = mechanics.fracture_statistics()  # type: ignore[attr-defined]
    assert pieces == 2
    label = mechanics.cracking.pieces()[1]  # type: ignore[attr-defined]
    ends = sorted(
        (float(world.rest[label == k, 0].min()), float(world.rest[label == k, 0].max())) for k in (0, 1)
    )
    assert ends[0][1] == pytest.approx(0.2, abs=0.05)  # the waist is 0.2 m long
    assert ends[1][0] == pytest.approx(0.2, abs=0.05)
    carrier: Any = world.bodies[0].structure.carrier
    assert closed(carrier.surface)
    whole = surface_volume(necked_bar().points, necked_bar().triangles)
    assert surface_volume(carrier.surface.points, carrier.surface.triangles) == pytest.approx(whole, rel=1e-6)
    assert surface_volume(carrier.positions(world.x), carrier.surface.triangles) == pytest.approx(
        whole, rel=0.02
    )


def test_a_seam_parts_a_body_and_keeps_mass_and_momentum() -> None:
    body = block((6, 3, 3), model="efg", velocity=(0.0, 0.0, 1.0), spin=(0.0, 8.0, 0.0))
    seam = pl.Seam(plane={"axis": "x", "at": 0.29}, body=body, at=0.02)
    simulation = simulate([body], [seam], seconds=0.1, fps=50)
    world = simulation.system.world
    mechanics: Any = world.bodies[0].mechanics
    assert mechanics.fracture_statistics()[0] == 2
    assert mechanics.fracture_statistics()[1] == pytest.approx(0.09, rel=0.7)
    assert world.mass.sum() == pytest.approx(0.6 * 0.3 * 0.3 * 1000, rel=1e-12)
    momentum = (world.mass[:, None] * world.v).sum(axis=0)
    assert momentum == pytest.approx([0.0, 0.0, 54.0], abs=1e-9)
    halves = mechanics.cracking.pieces()[1]
    speed = [np.average(world.v[halves == k], axis=0, weights=world.mass[halves == k]) for k in (0, 1)]
    assert np.linalg.norm(speed[0] - speed[1]) > 1.0  # they fly apart
    surface = world.bodies[0].structure.carrier.surface
    assert closed(surface)
    assert surface_volume(surface.points, surface.triangles) == pytest.approx(0.054, rel=1e-9)


def test_cracks_are_restored() -> None:
    body = block((6, 3, 3), model="efg", material={**MATERIAL, "strength": 1e4})
    structure = body.structure()
    first, second = (body.model.prepare(structure, body.resolved_material) for _ in range(2))
    assert first.open_faces(
        (structure.rest[:, 0] > 0.33).astype(np.int64), structure.rest[:, 2] > 0.12
    )  # half-way through
    second.restore(first.state())
    x = structure.rest * [1.1, 1.0, 0.95]
    a, b = np.zeros_like(x), np.zeros_like(x)
    first.add_forces(x, a * 0, a)
    second.add_forces(x, b * 0, b)
    assert np.array_equal(a, b)
    assert second.topology_version == first.topology_version
    shown = body.model.prepare(structure, body.resolved_material)
    shown.restore({**shown.state(), "opened": first.state()["opened"]})  # what a recorded frame has
    shown.add_forces(x, b * 0, c := np.zeros_like(x))
    assert np.array_equal(a, c)
    whole = np.zeros_like(x)
    body.model.prepare(structure, body.resolved_material).add_forces(x, whole * 0, whole)
    assert np.abs(a - whole).max() > 0.01 * np.abs(whole).max()
    assert np.abs(a.sum(axis=0)).max() < 1e-12 * np.abs(a).sum()
    assert np.abs(np.cross(x, a).sum(axis=0)).max() < 1e-9 * np.abs(a).sum()


@pytest.mark.parametrize("seed", [k if k < 5 else pytest.param(k, marks=pytest.mark.slow) for k in range(20)])
def test_bodies_torn_at_random_stay_finite_and_have_no_crumbs(seed: int) -> None:
    dice = np.random.default_rng(seed)
    size = tuple(int(n) for n in dice.integers(3, 6, 3))
    sampling = ("lattice", "bcc")[seed % 2]
    material = {**MATERIAL, "strength": 2e3, "crack-speed": float(dice.uniform(5.0, 40.0))}
    body = block(size, model={"type": "efg", "sampling": sampling}, material=material)
    way = dice.normal(0.0, 1.5, 3) + np.array([2.0, 0.0, 0.0])
    actions = [
        pl.Fix(body, pl.where.plane("x", "min")),
        pl.Move(body, pl.where.plane("x", "max"), velocity=tuple(way.tolist())),
        pl.Gravity(9.81),
    ]
    simulation = simulate([body], actions, seconds=0.05, fps=100)
    world = simulation.system.world
    mechanics: Any = world.bodies[0].mechanics
    assert np.isfinite(world.x).all()
    assert np.isfinite(world.v).all()
    assert mechanics.fracture_statistics()[2] > 0
    assert np.bincount(mechanics.cracking.pieces()[1]).min() >= 10
    assert world.mass.sum() == pytest.approx(np.prod(size), rel=1e-12)  # 1000 kg/m3, cells of a litre


@pytest.mark.slow
def test_a_plate_hit_by_a_ball_breaks_into_pieces_that_make_up_its_mass_and_volume() -> None:
    material = {"young": 8e7, "poisson": 0.25, "density": 2000.0, "strength": 6e5, "crack-speed": 80.0}
    plate = pl.Body(pl.shapes.box(0.24, 0.2, 0.03), edge=0.015, model="efg", material=material, name="plate")
    falling = Curve([0.0, 0.04], [(0.12, 0.1, 0.061), (0.12, 0.1, -0.059)])
    ball = pl.Obstacle(sphere={"radius": 0.03}, position=falling)
    actions = [
        pl.Fix(plate, pl.where.plane("x", "min")),
        pl.Fix(plate, pl.where.plane("x", "max")),
        ball,
    ]
    simulation = simulate([plate], actions, seconds=0.015, fps=200)
    world = simulation.system.world
    mechanics: Any = world.bodies[0].mechanics
    pieces, label = mechanics.cracking.pieces()
    assert pieces >= 3
    assert world.mass.sum() == pytest.approx(2000.0 * 0.24 * 0.2 * 0.03, rel=1e-12)
    carrier: Any = world.bodies[0].structure.carrier
    surface = carrier.surface
    assert closed(surface)
    assert surface_volume(surface.points, surface.triangles) == pytest.approx(0.24 * 0.2 * 0.03, rel=1e-9)
    parts, of = components(
        len(surface.points),
        np.concatenate([surface.triangles[:, [0, 1]], surface.triangles[:, [1, 2]]]),
    )
    assert parts >= pieces
    volumes = np.sort([surface_volume(surface.points, surface.triangles[of[surface.triangles[:, 0]] == k])
                       for k in range(parts)])  # fmt: skip
    own = np.sort(np.bincount(label, mechanics.volumes, pieces))
    assert volumes.sum() == pytest.approx(own.sum(), rel=0.02)
    assert volumes[-pieces:] == pytest.approx(own, abs=0.02 * own.sum())
    now = surface_volume(carrier.positions(world.x), surface.triangles)
    assert now == pytest.approx(0.24 * 0.2 * 0.03, rel=0.02)


@pytest.mark.slow
def test_a_bar_of_chocolate_snaps_cleanly_along_its_groove() -> None:
    """Two squares of ``chocolate-snap``, bent over an edge below: one plane in the middle of the groove, two
    pieces alike, whose surface has two parts too."""
    material = {"preset": "chocolate", "young": 2e7, "strength": 2e5, "crack-speed": 60.0}
    shape = pl.shapes.chocolate_bar(0.06, 0.024, 0.012, squares=(2, 1), groove=0.5)
    bar = pl.Body(shape, edge=0.003, model="efg", material=material, name="bar")
    faster = Curve([0.0, 0.01], [0.0, 8.0])  # rad/s
    hands = [
        pl.Rotate(bar, pl.where.box(low, high), axis=axis, centre=(0.03, 0.012, -0.006), speed=faster)
        for low, high, axis in (
            ((-1, -1, -1), (0.015, 1, 1), (0, -1, 0)),
            ((0.045, -1, -1), (1, 1, 1), (0, 1, 0)),
        )
    ]
    simulation = simulate([bar], [*hands, pl.Damping(rate=50.0)], seconds=0.006, fps=500)
    mechanics: Any = simulation.system.world.bodies[0].mechanics
    cracks = mechanics.cracking.faces
    assert np.abs(cracks.planes[cracks.opened, 0] - 0.03).max() < 5e-4
    assert np.abs(cracks.planes[cracks.opened, 3]).min() > 0.98
    pieces, label = cracks.pieces()
    assert pieces == 2
    assert np.bincount(label, mechanics.volumes) == pytest.approx([mechanics.volumes.sum() / 2] * 2, rel=0.02)
    surface: Any = simulation.system.world.bodies[0].structure.carrier.surface
    edges = np.concatenate([surface.triangles[:, [0, 1]], surface.triangles[:, [1, 2]]])
    assert components(len(surface.points), edges)[0] == 2
