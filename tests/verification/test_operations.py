"""Operations on bodies while they run: renormalise, attributes, glue, fuse, bodies that come and go."""

from typing import Any

import numpy as np
import pytest
from bodies import simulate, values

import pliant as pl
from pliant.actions import Attributes, Create, Fuse, Glue, Manipulator, Remove, Renormalise
from pliant.core.errors import IncompatibleError
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene, TimeSettings

MATERIAL = {"young": 1e6, "poisson": 0.25, "density": 1000.0, "damping": 1e-3}
ROUGH = {**MATERIAL, "friction": 0.4}


def bar(**options: Any) -> Body:
    options.setdefault("name", "bar")
    return Body(box(0.6, 0.2, 0.2), edge=0.1, model="lattice", material=MATERIAL, **options)


def bent(extra: list[Any], seconds: float, force: float = 300.0) -> Any:
    """A bar held at one end and bent up by a force [N] that ends at 0.5 s."""
    actions = [
        pl.Fix("bar", pl.where.plane("x", "min")),
        pl.Force("bar", pl.where.plane("x", "max"), value=(0, 0, force), until=0.5),
        pl.Damping(rate=20.0),
        *extra,
    ]
    return simulate([bar()], actions, seconds=seconds)


def test_renormalised_the_bar_holds_no_energy_and_stays_bent() -> None:
    """Frozen in its bent shape it loses all elastic energy without moving; unloaded it stays within 1 %."""
    loaded = bent([], 0.48)
    assert values(loaded)["energy.elastic"] > 1.0
    shape = loaded.system.world.x.copy()
    frozen = bent([Renormalise("bar", pl.where.all(), at=0.5)], 1.0)
    assert values(frozen)["energy.elastic"] < 1e-3 * values(loaded)["energy.elastic"]
    size = np.ptp(shape, axis=0).max()
    assert np.abs(frozen.system.world.x - shape).max() < 0.01 * size
    released = bent([], 1.0)
    assert np.abs(released.system.world.x - shape).max() > 0.02 * size


def test_a_stiffer_bar_bends_less() -> None:
    stiffer = Attributes("bar", pl.where.all(), stiffness=2.0)
    plain, stiff = (bent(extra, 0.48, force=50.0) for extra in ([], [stiffer]))
    drops = [s.system.world.x[-1, 2] - s.system.world.rest[-1, 2] for s in (plain, stiff)]
    assert drops[1] == pytest.approx(drops[0] / 2, rel=0.01)


def test_attributes_that_a_body_does_not_have_are_refused() -> None:
    with pytest.raises(IncompatibleError, match="cannot change strength"):
        bent([Attributes("bar", pl.where.all(), strength=1e5)], 0.1)


def test_single_elements_are_damped() -> None:
    """A lattice bar whose right half alone is damped: forces resist changes of length there and nowhere else;
    half of the damping where a damped element meets one that is not."""
    plain = {**MATERIAL, "damping": 0.0}
    body = Body(box(0.6, 0.2, 0.2), edge=0.1, model="lattice", material=plain, name="bar")
    right = pl.where.box((0.3, -1, -1), (1, 1, 1))
    simulation = simulate([body], [Attributes("bar", right, damping=2e-3)], seconds=0.02, step=1e-4)
    part = simulation.system.world.bodies[0]
    x, v = part.structure.rest, np.zeros((24, 3))
    v[:, 0] = 0.1 * x[:, 0]  # a steady stretching
    forces, still = np.zeros_like(v), np.zeros_like(v)
    part.mechanics.add_forces(x, v, forces)
    part.mechanics.add_forces(x, 0.0 * v, still)
    damping = (forces - still)[:, 0].reshape(6, 4).sum(axis=1)  # of each layer
    stress = 2e-3 * 0.1 * MATERIAL["young"] * 0.2 * 0.2  # of a damped section, about: E times the rate
    through = np.cumsum(damping)[:5]  # across the five gaps between layers
    assert through[:2] == pytest.approx([0.0, 0.0], abs=1e-9 * stress)
    assert through[3] == pytest.approx(stress, rel=0.25)
    assert through[2] == pytest.approx(0.5 * through[3], rel=1e-9)
    assert np.sum((forces - still) * v) < 0.0


def test_fused_bodies_carry_load_across_the_seam() -> None:
    """A weight hangs on the lower of two blocks; fused they hold it, without they part."""
    upper = bar(name="upper", position=(0, 0, 0.2))
    lower = bar(name="lower")
    hold = [pl.Fix("upper", pl.where.plane("z", "max")), pl.Gravity(), pl.Damping(rate=5.0)]
    fused = simulate([upper, lower], [*hold, Fuse(bodies=("upper", "lower"))], seconds=0.5)
    loose = simulate([upper, lower], hold, seconds=0.5)
    sag = [s.system.world.x[24:, 2].mean() - s.system.world.rest[24:, 2].mean() for s in (fused, loose)]
    assert abs(sag[0]) < 1e-3
    assert sag[1] < -0.3


@pytest.mark.parametrize("gap", [0.0, 0.05])
def test_surfaces_of_fused_bodies_meet_and_stay_together(gap: float) -> None:
    """Two blocks, one above the other with a gap of up to half an element: fused, the faces between them lie
    on each other, and where the seam carries a load they stay there, within 1 % of an element."""
    upper, lower = bar(name="upper", position=(0, 0, 0.2 + gap)), bar(name="lower")
    hold = [pl.Fix("upper", pl.where.plane("z", "max")), pl.Gravity(), pl.Damping(rate=5.0)]
    simulation = simulate([upper, lower], [*hold, Fuse(bodies=("upper", "lower"), at=0.01)], seconds=0.3)
    world, faces = simulation.system.world, []
    for part, side in zip(world.bodies, ("min", "max"), strict=True):
        carrier = part.structure.carrier
        assert carrier is not None
        points, rest = carrier.positions(world.x[part.rows]), carrier.surface.points[:, 2]
        edge = rest.min() if side == "min" else rest.max()
        faces.append(points[np.abs(rest - edge) < 1e-3])
    assert len(faces[0]) == len(faces[1]) > 4
    order = [np.lexsort(np.round(face[:, :2], 2).T) for face in faces]
    apart = faces[0][order[0]] - faces[1][order[1]]
    assert np.abs(apart).max() < 0.01 * 0.1
    assert faces[0][:, 2].mean() == pytest.approx(0.2 + 0.5 * gap, abs=2e-3)


def test_glue_holds_until_it_ends() -> None:
    tool = bar(name="tool", position=(0, 0, 0.2))
    glue = Glue("bar", pl.where.plane("z", "max"), to="tool", until=0.2)
    actions = [pl.Gravity(), Manipulator(body="tool", displacement=(0, 0, 0)), glue]
    held = simulate([bar(), tool], actions, seconds=0.2)
    dropped = simulate([bar(), tool], actions, seconds=0.4)
    height = [s.system.world.x[:24, 2].mean() for s in (held, dropped)]
    assert height[0] == pytest.approx(0.1, abs=2e-3)
    assert height[1] == pytest.approx(0.1 - 0.5 * 9.81 * 0.2**2, abs=0.02)


def test_a_created_body_appears_at_its_time_and_a_removed_one_is_gone() -> None:
    """The upper bar comes at 0.1 s with its velocity and falls; the lower one goes at 0.2 s; nothing is shown
    of what is not there, and the ledger is closed."""
    upper = bar(name="upper", position=(0, 0, 1.0), velocity=(0.5, 0, 0))
    actions = [pl.Gravity(), Create(body="upper", at=0.1), Remove("bar", at=0.2)]
    scene = Scene([bar(), upper], actions, time=TimeSettings(duration=0.4, fps=50))
    simulation = scene.simulation()
    simulation.start()
    world = simulation.system.world
    lower_part, upper_part = world.bodies
    start = values(simulation)["energy.total"]
    assert not upper_part.present
    assert values(simulation)["volume.upper"] == 0.0
    for _ in range(20):
        simulation.advance()
    moved = (world.x - world.rest)[upper_part.rows].mean(axis=0)
    assert moved == pytest.approx([0.5 * 0.3, 0, -0.5 * 9.81 * 0.3**2], abs=1e-9)
    assert not lower_part.present
    row = values(simulation)
    assert (row["volume.upper"], row["volume.bar"]) == (pytest.approx(0.6 * 0.2 * 0.2), 0.0)
    fallen = (world.x - world.rest)[lower_part.rows, 2].mean()
    assert fallen == pytest.approx(-0.5 * 9.81 * 0.2**2, abs=1e-9)
    assert values(simulation)["energy.total"] == pytest.approx(start, abs=1e-9 * abs(start) + 1e-6)


@pytest.mark.parametrize("model", ["fem", "efg", "lattice"])
def test_a_body_that_is_not_there_yet_has_no_volume(model: str) -> None:
    other = Body(
        box(0.4, 0.2, 0.2), edge=0.1, model=model, material=MATERIAL, name="other", position=(0, 1, 0)
    )
    scene = Scene([bar(), other], [Create(body="other", at=0.05)], time=TimeSettings(duration=0.1, fps=50))
    simulation = scene.simulation()
    simulation.start()
    assert values(simulation)["volume.other"] == 0.0
    assert values(simulation)["volume"] == values(simulation)["volume.bar"]
    for _ in range(5):
        simulation.advance()
    assert values(simulation)["volume.other"] == pytest.approx(0.4 * 0.2 * 0.2, rel=1e-6)


def test_what_operations_change_in_the_stored_energy_is_booked() -> None:
    """Stiffening bent connections to twice their stiffness stores as much again, which is taken from
    ``removed``; a new rest shape gives it to ``removed``. The ledger stays closed. (Steps are shorter where
    a body will be stiffened, so that the two runs differ by 2e-4 when it happens.)"""
    taken, low, high = [], pl.where.plane("x", "min"), pl.where.plane("x", "max")
    for operation in (
        Attributes("bar", pl.where.all(), at=0.1, stiffness=2.0),
        Renormalise("bar", pl.where.all(), at=0.1),
    ):
        scene = Scene(
            [bar()],
            [pl.Fix("bar", low), pl.Force("bar", high, value=(0, 0, 300)), operation],
            time=TimeSettings(duration=0.12, fps=50),
        )  # fmt: skip
        simulation = scene.simulation()
        simulation.start()
        values(simulation)
        for _ in range(6):
            simulation.advance()
        row = values(simulation)
        taken.append(row["energy.removed"])
        assert abs(row["energy.unexplained"]) < 2e-3 * row["energy.work"]
    assert taken[0] < 0.0 < taken[1]
    assert taken[0] == pytest.approx(-taken[1], rel=1e-3)


def test_removed_elements_leave_a_lighter_body_with_a_closed_surface() -> None:
    """A third of a bar is taken away: 16 of 24 elements fall on, and the shown volume is two thirds."""
    hole = pl.where.box((-1, -1, -1), (0.2, 1, 1))
    actions = [pl.Gravity(), pl.Damping(rate=1.0), Remove("bar", hole, at=0.05)]
    simulation = simulate([bar()], actions, seconds=0.1)
    world = simulation.system.world
    assert world.count == 16
    assert world.mass.sum() == pytest.approx(0.6 * 0.2 * 0.2 * 1000 * 2 / 3)
    assert values(simulation)["volume"] == pytest.approx(0.6 * 0.2 * 0.2 * 2 / 3, rel=0.01)
    assert np.abs(world.v - world.v.mean(axis=0)).max() < 1e-9


def speed_after_sliding(x: float, seconds: float, *actions: Any) -> float:
    """Of a block that slides from x on along a table, 0.4 m/s at first."""
    table = Body(box(1.2, 0.4, 0.1), edge=0.1, model="lattice", material=ROUGH, name="t")
    block = Body(
        box(0.2, 0.2, 0.1), edge=0.1, model="lattice", material=ROUGH, name="b",
        position=(x, 0.1, 0.1), velocity=(0.4, 0, 0),
    )  # fmt: skip
    hold = [pl.Gravity(), pl.Fix("t", pl.where.all())]
    world = simulate([table, block], [*hold, *actions], seconds=seconds).system.world
    return float(world.v[world.bodies[1].rows, 0].mean())


def test_elements_have_a_friction_of_their_own() -> None:
    """A block slides on a table half of which is made slippery: with mu g in front, freely on the rest."""
    ice = Attributes("t", pl.where.box((0.6, -1, -1), (2, 1, 1)), friction=0.0)
    speeds = [speed_after_sliding(0.7, 0.06, *extra) for extra in ([], [ice])]
    assert speeds[0] == pytest.approx(0.4 - 0.4 * 9.81 * 0.06, rel=0.1)
    assert speeds[1] == pytest.approx(0.4, abs=1e-3)


def test_the_friction_of_a_body_changes_at_a_time() -> None:
    """A block slides on a table with mu g until 0.04 s, and freely when its friction is taken away then."""
    ice = Attributes("b", pl.where.all(), friction=0.0, at=0.04)
    speeds = [speed_after_sliding(0.3, seconds, ice) for seconds in (0.04, 0.1)]
    assert speeds[0] == pytest.approx(0.4 - 0.4 * 9.81 * 0.04, rel=0.1)
    assert speeds[1] == pytest.approx(speeds[0], abs=2e-3)


@pytest.mark.parametrize(("factor", "breaks"), [(0.985, True), (0.995, False)])
def test_the_fracture_distance_changes_at_a_time(factor: float, breaks: bool) -> None:
    """A bar held stretched by 1 % breaks at 1.02 times its connections' lengths; from 0.1 s on
    at 1.0047 times, which is too little, or at 1.0149 times, which is enough."""
    material = {**MATERIAL, "strength": 0.02 * MATERIAL["young"]}
    body = Body(
        box(0.6, 0.2, 0.2), edge=0.1, model={"type": "lattice", "fracture": "distance"}, material=material,
        name="bar",
    )  # fmt: skip
    keys = {"keys": [{"time": t, "value": [d, 0, 0]} for t, d in ((0.0, 0.0), (0.08, 0.005))]}
    actions = [
        pl.Fix("bar", pl.where.plane("x", "min")),
        pl.Move("bar", pl.where.plane("x", "max"), displacement=keys),
        Attributes("bar", pl.where.all(), fracture_distance=factor, at=0.1),
    ]
    whole = simulate([body], actions, seconds=0.1).system.world.bodies[0].mechanics
    assert whole.connections.intact.all()
    later: Any = simulate([body], actions, seconds=0.12).system.world.bodies[0].mechanics
    assert later.connections.intact.all() != breaks
    reached = later.fracture.limit / later.connections.born
    assert reached == pytest.approx(1.02 * factor, rel=1e-12)
