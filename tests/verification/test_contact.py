"""Contact between bodies: friction on slopes, restitution, stacks, momentum, every model."""

from typing import Any

import numpy as np
import pytest
from bodies import simulate, values

import pliant as pl
from pliant.contact import Contact, ContactPairSettings
from pliant.contact.pair_coefficients import damping_for, rebound
from pliant.core.errors import SceneError
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene, TimeSettings

MATERIAL = {"young": 1e6, "poisson": 0.25, "density": 1000.0, "friction": 0.5, "damping": 2e-4}
MASS = 0.4 * 0.4 * 0.2 * 1000


def slide(degrees: float, turned: float, plane: bool) -> tuple[float, float]:
    """A block that has settled on a plane or a body is tilted from 0.4 to 0.6 s; its drift [m] from 0.9 to
    1.2 s, when its contacts have settled again, and acceleration [m/s2].

    Damped so that it has stopped bouncing on the soft base by then: with 0.2 ms the normal force still swings
    by more than the 2 % that 26 degrees leave, and the block slips a little in each swing."""
    place = (-0.6, -0.2, 0.0) if not turned else (-0.4, -0.28, 0.0)
    turn = {"axis": "z", "degrees": turned} if turned else None
    material = {**MATERIAL, "damping": 5e-4}
    block = Body(
        box(0.4, 0.4, 0.2), edge=0.1, model="lattice", material=material, name="block", position=place,
        rotation=turn,
    )  # fmt: skip

    def weight(angle: float) -> list[float]:
        a = np.radians(angle)
        return [MASS * 9.81 * np.sin(a), 0.0, -MASS * 9.81 * np.cos(a)]

    keys = [
        {"time": 0.0, "value": weight(0)},
        {"time": 0.4, "value": weight(0)},
        {"time": 0.6, "value": weight(degrees)},
    ]
    actions: list[Any] = [pl.Force("block", pl.where.all(), value={"keys": keys, "ease": "smooth"})]
    bodies = [block]
    if plane:
        actions.append(pl.Ground(friction=0.5))
    else:
        bodies.append(
            Body(
                box(2.4, 0.8, 0.2), edge=0.1, model="lattice", material=material, name="base",
                position=(-1.2, -0.4, -0.2),
            )
        )  # fmt: skip
        actions.append(pl.Fix("base", pl.where.plane("z", "min")))
    scene = Scene(
        bodies,
        actions,
        integrator="symplectic-euler",
        time=TimeSettings(fps=50, integrator="symplectic-euler"),
    )
    simulation = scene.simulation()
    world = simulation.system.world
    x, v = [], []
    for _ in range(60):
        simulation.advance()
        x.append(world.x[world.bodies[0].rows, 0].mean())
        v.append(world.v[world.bodies[0].rows, 0].mean())
    acceleration = np.polyfit(np.arange(28) / 50, v[32:], 1)[0]
    return float(x[-1] - x[45]), float(acceleration)


@pytest.mark.parametrize("plane", [True, False], ids=["plane", "body"])
@pytest.mark.parametrize("turned", [0.0, 30.0])
def test_a_block_holds_below_the_angle_of_friction_and_slips_above(plane: bool, turned: float) -> None:
    """atan 0.5 = 26.57 degrees; at 45 degrees g (sin - mu cos) = 3.468 m/s2."""
    drift, _ = slide(26.0, turned, plane)
    assert abs(drift) < 1e-4
    drift, _ = slide(27.2, turned, plane)
    assert drift > 0.01
    _, acceleration = slide(45.0, turned, plane)
    assert acceleration == pytest.approx(9.81 * (1 - 0.5) * np.sqrt(0.5), rel=0.01)


def two_elements(restitution: float) -> float:
    """Speed after over speed before of two single elements that collide head on."""
    material = {**MATERIAL, "restitution": restitution}
    one = Body(box(0.1, 0.1, 0.1), edge=0.1, model="lattice", material=material, velocity=(1, 0, 0))
    two = Body(box(0.1, 0.1, 0.1), edge=0.1, model="lattice", material=material, position=(0.12, 0, 0))
    scene = Scene([one, two], step=1e-5, time=TimeSettings(fps=200))
    simulation = scene.simulation()
    for _ in range(10):
        simulation.advance()
    v = simulation.system.world.v
    assert v.sum(axis=0) == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    return float(v[1, 0] - v[0, 0])


@pytest.mark.parametrize("restitution", [0.3, 0.6, 0.9])
def test_elements_bounce_off_with_their_restitution(restitution: float) -> None:
    assert two_elements(restitution) == pytest.approx(restitution, abs=0.02)
    assert rebound(damping_for(restitution)) == pytest.approx(restitution, abs=1e-9)


def test_pairs_of_bodies_may_have_their_own_friction() -> None:
    contact = Contact(pairs=[ContactPairSettings(bodies=("a", "b"), friction=0.0)])
    one = Body(box(0.4, 0.4, 0.1), edge=0.1, model="lattice", material=MATERIAL, name="a")
    two = Body(
        box(0.2, 0.2, 0.1), edge=0.1, model="lattice", material=MATERIAL, name="b",
        position=(0.1, 0.1, 0.1), velocity=(0.2, 0, 0),
    )  # fmt: skip
    simulation = simulate(
        [one, two], [pl.Gravity(), pl.Fix("a", pl.where.all())], seconds=0.3, contact=contact
    )
    world = simulation.system.world
    assert world.v[world.bodies[1].rows, 0].mean() == pytest.approx(0.2, abs=0.002)


def test_momentum_is_kept_when_turned_bodies_collide() -> None:
    """Momentum to rounding, with friction; energy only falls."""
    free = {**MATERIAL, "damping": 0.0}
    one = Body(box(0.3, 0.3, 0.3), edge=0.1, model="lattice", material=free, velocity=(2, 0.3, 0))
    two = Body(
        box(0.3, 0.2, 0.2), edge=0.1, model="lattice", material=free, position=(0.45, 0.05, 0.1),
        rotation={"axis": (1, 2, 3), "degrees": 40},
    )  # fmt: skip
    scene = Scene([one, two])
    simulation = scene.simulation()
    simulation.start()
    start = values(simulation)
    for _ in range(20):
        simulation.advance()
    end = values(simulation)
    for c in "xyz":
        assert end[f"momentum.{c}"] == pytest.approx(start[f"momentum.{c}"], abs=1e-11 * 54)
    assert end["energy.kinetic"] + end["energy.elastic"] < 0.95 * start["energy.kinetic"]
    assert end["energy.total"] == pytest.approx(start["energy.total"], rel=0.01)
    world = simulation.system.world
    assert world.v[world.bodies[1].rows, 0].mean() > 0.5


@pytest.mark.parametrize("model", ["mass-spring", "fem", "cpm1", "cpm2"])
def test_a_body_of_any_model_lands_on_an_elements_table(model: str) -> None:
    table = Body(box(0.6, 0.6, 0.1), edge=0.1, model="lattice", material=MATERIAL, name="table")
    jelly = Body(
        box(0.2, 0.2, 0.2, divisions=(2, 2, 2)), model=model, name="jelly", position=(0.2, 0.2, 0.15),
        material={"young": 1e5, "poisson": 0.3, "density": 1000.0, "damping": 5e-3},
    )  # fmt: skip
    simulation = simulate(
        [table, jelly], [pl.Gravity(), pl.Fix("table", pl.where.all()), pl.Damping(rate=5.0)], seconds=0.8
    )
    world = simulation.system.world
    low = world.x[world.bodies[1].rows, 2].min()
    assert 0.1 < low < 0.1 + 0.2 * 0.1 + 1e-3  # a fifth of its spacing off the table's face
    assert np.abs(world.v[world.bodies[1].rows].mean(axis=0)).max() < 0.05


def overlapping(model: str, deep: float, **options: Any) -> Scene:
    """Two blocks of which one begins ``deep`` [m] inside the other's face."""
    one = Body(box(0.2, 0.2, 0.2), edge=0.1, model=model, material=MATERIAL, name="low")
    two = Body(
        box(0.2, 0.2, 0.2), edge=0.1, model=model, material=MATERIAL, name="high", position=(0, 0, 0.2 - deep)
    )
    return Scene([one, two], [pl.Damping(rate=5.0)], **options)


def test_overlaps_at_the_start_are_reported_and_resolved_within_0_2_seconds() -> None:
    """With names, depth and ids; the work that it takes is booked, and the bodies part slowly."""
    simulation = overlapping("lattice", 0.03).simulation()
    (note,) = simulation.diagnostics.texts()
    assert "'low' and 'high'" in note
    assert "0.03 m at 8 particles (low 1" in note
    assert "within 0.2 s" in note
    simulation.start()
    start = values(simulation)
    fastest = 0.0
    for _ in range(60):
        simulation.advance()
        fastest = max(fastest, float(np.abs(simulation.system.world.v).max()))
    world, end = simulation.system.world, values(simulation)
    gap = world.x[world.bodies[1].rows, 2].min() - world.x[world.bodies[0].rows, 2].max()
    assert gap > 0.1 - 1e-3  # a spacing between the elements
    assert fastest < 0.2  # 0.03 m in 0.2 s, at most 1.5 times as fast in the middle
    assert end["energy.work"] > 0.0
    assert abs(end["energy.total"] - start["energy.total"]) < 0.02 * end["energy.work"]


def nested(**options: Any) -> Scene:
    """A block that begins 0.08 m deep in the middle of a larger one, twice as deep as contact reaches."""
    large = Body(box(0.6, 0.6, 0.3), edge=0.1, model="fem", material=MATERIAL, name="large")
    small = Body(
        box(0.2, 0.2, 0.2), edge=0.1, model="fem", material=MATERIAL, name="small", position=(0.2, 0.2, 0.22)
    )
    return Scene([large, small], [pl.Fix("large", pl.where.plane("z", "min"))], **options)


def test_a_body_deeper_in_another_than_contact_reaches_is_refused_by_name_and_depth() -> None:
    with pytest.raises(SceneError, match=r"'small' starts inside body 'large': .* up to 0\.08 m deep"):
        nested().simulation()


def test_deep_overlaps_are_resolved_on_request() -> None:
    simulation = nested(contact=Contact(separate=True)).simulation()
    simulation.start()
    fastest = 0.0
    for _ in range(60):
        simulation.advance()
        fastest = max(fastest, float(np.abs(simulation.system.world.v).max()))
    world = simulation.system.world
    gap = world.x[world.bodies[1].rows, 2].min() - world.x[world.bodies[0].rows, 2].max()
    assert gap > 0.04 - 2e-3
    assert fastest < 1.0


def stack(count: int, drag: float, damping: float, settle: float, seconds: float) -> float:
    """How far anything in a stack of blocks moves in ``seconds`` once it has settled [elements]; each block
    is turned by 9 degrees against the one below and set off by up to a third of an element."""
    firm = {"young": 1e7, "poisson": 0.25, "density": 1000.0, "friction": 0.5, "damping": damping}
    blocks = []
    for k in range(count):
        turn = np.deg2rad(9.0 * k)
        middle = 0.3 * np.array([np.cos(turn) - np.sin(turn), np.sin(turn) + np.cos(turn)])
        x, y = np.array([0.03 * (k % 3 - 1), 0.02 * (-1) ** k]) - middle
        place = {"position": (x, y, 0.2 * k), "rotation": {"axis": "z", "degrees": 9.0 * k}}
        blocks.append(
            Body(box(0.6, 0.6, 0.2), edge=0.1, model="lattice", material=firm, name=f"block-{k}", **place)
        )
    actions = [pl.Gravity(), pl.Ground(friction=0.5), *([pl.Damping(rate=drag)] if drag else [])]
    simulation = Scene(blocks, actions, time=TimeSettings(duration=settle + seconds, fps=10)).simulation()
    for _ in range(round(10 * settle)):
        simulation.advance()
    before = simulation.system.world.x.copy()
    for _ in range(round(10 * seconds)):
        simulation.advance()
    return float(np.abs(simulation.system.world.x - before).max() / 0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "drag", "damping", "settle"), [(5, 0.0, 1e-3, 4.0), (10, 2.0, 5e-4, 8.0)])
def test_a_stack_of_turned_and_offset_blocks_comes_to_rest(
    count: int, drag: float, damping: float, settle: float
) -> None:
    """Within a millionth of an element in ten seconds: five as they are, ten with ambient drag of 2 /s."""
    assert stack(count, drag, damping, settle, 10.0) < 1e-6
