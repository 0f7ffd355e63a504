"""Multiresolution bodies in whole runs: levels follow a tool, the budget holds, restarts repeat the bytes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.core.curves import Curve
from pliant.core.errors import IncompatibleError
from pliant.core.selection import Plane, Select
from pliant.kernels.jit import set_threads, threads_in_use
from pliant.mesh.shapes import box
from stopping import assert_same, stopped_and_resumed

TISSUE = {"young": 2e4, "poisson": 0.3, "density": 1000.0, "damping": 5e-3}


def poked(duration: float = 1.0, tool: bool = True, held: bool = True, **model: Any) -> pl.Scene:
    table = {"type": "multires", "levels": 3, **model}
    cube = pl.Body(
        box(1, 1, 1, divisions=(8, 8, 8), split="uniform"), model=table, material=TISSUE, name="cube"
    )
    path = Curve([0.0, 0.4, 9.0], [(0.5, 0.45, 1.25), (0.5, 0.45, 1.0), (0.5, 0.45, 1.0)])
    ball = pl.Obstacle(sphere={"radius": 0.2}, position=path, friction=0.0, name="tool")
    acting = [pl.Fix(cube, pl.where.plane("z", "min"))] * held + [ball] * tool + [pl.Damping(rate=4.0)] * held
    where = Select(body="cube", plane=Plane(axis="z", at="min"))
    measures = [pl.Reaction(select=where, name="base")] * held
    return pl.Scene([cube], acting, measures, time=pl.TimeSettings(duration=duration, fps=60))


def run_through(scene: pl.Scene, frames: int) -> Any:
    simulation = scene.simulation()
    simulation.start()
    for _ in range(frames):
        simulation.advance()
    return simulation


def test_levels_follow_the_tool_and_stay_under_a_static_poke() -> None:
    """Finer below the ball than far from it; after the ball has stopped the levels settle and stay."""
    simulation = run_through(poked(), 120)
    part = simulation.system.world.bodies[0]
    level, rest = part.mechanics.particle_levels(), part.structure.rest
    distance = np.linalg.norm(rest - [0.5, 0.45, 1.0], axis=1)
    assert level[distance < 0.2].min() == 2
    assert level[distance > 0.8].mean() < 1.3
    for _ in range(120):
        simulation.advance()
    changes = part.mechanics.body.changes
    for _ in range(60):
        simulation.advance()
    assert part.mechanics.body.changes == changes
    held = rest[:, 2] < 1e-9
    assert np.array_equal(simulation.system.world.x[held], rest[held])
    assert np.abs(simulation.system.world.v).max() < 1e-2  # settled
    row = dict(zip(simulation.columns, simulation.row(), strict=True))
    assert row["tool.z"] > 50


@pytest.mark.slow
def test_levels_that_come_and_go_for_a_minute_leave_no_drift() -> None:
    """A ball presses and leaves thirty times: levels switch all the time, and the body comes back to where it
    was a minute before."""
    times = np.arange(0.0, 60.5, 1.0)
    high = [1.25 if k % 2 == 0 else 1.05 for k in range(len(times))]
    path = Curve(list(times), [(0.5, 0.45, z) for z in high])
    scene = poked()
    ball = pl.Obstacle(sphere={"radius": 0.2}, position=path, friction=0.0, name="tool")
    scene = pl.Scene(scene.bodies, [scene.actions[0], ball, scene.actions[2]], time=scene.time)
    simulation = run_through(scene, 120)
    world, changes = simulation.system.world, 0
    mechanics = world.bodies[0].mechanics
    pressed = None
    before = mechanics.particle_levels()
    for frame in range(120, 3660):
        simulation.advance()
        now = mechanics.particle_levels()
        changes += int((now != before).any())
        before = now
        if frame == 180 - 1:
            pressed = world.x.copy()
        elif frame == 3540 - 1:  # a whole number of periods later: the ball is as low as then
            assert pressed is not None
            assert np.abs(world.x - pressed).max() < 0.02 * np.abs(pressed - world.rest).max()
    assert changes >= 2 * 29  # levels come and go with each of its visits after the first two seconds


@pytest.mark.parametrize("detail", ["adaptive", "finest", "coarsest"])
def test_what_a_tool_presses_is_carried_by_the_base(detail: str) -> None:
    """Forces balance, whatever is simulated, and while levels go on being chosen."""
    simulation = run_through(poked(detail=detail), 240)
    row = dict(zip(simulation.columns, simulation.row(), strict=True))
    assert row["tool.z"] > 500
    assert row["base.z"] == pytest.approx(row["tool.z"], rel=0.01)


def test_contacts_that_soften_under_a_tool_at_rest_keep_the_ledger() -> None:
    """Ticks that are halved at the impact are as long as before when the tool rests, and contacts a quarter
    as stiff: what they lose is numerical, and the motion is given nothing for it."""
    scene = pl.read(Path(pl.__file__).parent / "examples" / "multires-sphere-poke.toml")
    simulation = scene.simulation()
    simulation.start()
    body, rows, ticks = simulation.system.world.bodies[0].mechanics.body, [simulation.row()], []
    for frame in range(72):
        if frame == 8:
            body.tick_count.halve()
        simulation.advance()
        rows.append(simulation.row())
        ticks.append(body.ticks)
    series = dict(zip(simulation.columns, np.array(rows).T, strict=True))
    assert ticks[-1] < ticks[50]
    stored = (series["energy.kinetic"] + series["energy.elastic"]).max()
    assert np.abs(series["energy.unexplained"]).max() < 1e-6 * stored
    assert body.accounts.repaid < 1e-3 * stored


def test_a_block_that_is_dropped_keeps_its_ledger() -> None:
    """The study's block falls on an edge and bounces twice, undamped: kinetic + elastic + gravity + heat
    stays within 1 % of the energy that moved, though contacts take some of it and levels come and go."""
    from pliant.scene.load import parse
    from pliant.validation.study import text

    model = 'model = { type = "multires", operator = "corotational" }'
    words = text("drop").replace('name = "block"', 'name = "block"\n' + model)
    simulation = run_through(parse(words, Path(), "drop.toml"), 0)
    rows = [simulation.row()]
    for _ in range(50):
        simulation.advance()
        rows.append(simulation.row())
    series = dict(zip(simulation.columns, np.array(rows).T, strict=True))
    total, moved = series["energy.total"], series["energy.kinetic"] + series["energy.elastic"]
    assert series["energy.dissipated"][-1] > 0.01 * np.ptp(moved)
    assert np.abs(total - total[0]).max() < 0.01 * np.ptp(moved)


def test_the_tool_that_leaves_takes_its_levels_along() -> None:
    scene = poked()
    path = Curve([0.0, 0.3, 0.6, 9.0], [(0.5, 0.5, 1.25), (0.5, 0.5, 1.1), (0.5, 0.5, 2.0), (0.5, 0.5, 2.0)])
    ball = pl.Obstacle(sphere={"radius": 0.2}, position=path, friction=0.0, name="tool")
    scene = pl.Scene(scene.bodies, [scene.actions[0], ball, scene.actions[2]], time=scene.time)
    simulation = run_through(scene, 18)
    mechanics = simulation.system.world.bodies[0].mechanics
    assert mechanics.particle_levels().max() == 2
    for _ in range(600):
        simulation.advance()
    assert mechanics.particle_levels().max() == 0
    assert np.abs(simulation.system.world.x - simulation.system.world.rest).max() < 2e-3


def test_the_budget_is_kept_and_the_closest_nodes_come_first() -> None:
    simulation = poked(budget=400).simulation()
    simulation.start()
    mechanics = simulation.system.world.bodies[0].mechanics
    cut = False
    for _ in range(60):
        simulation.advance()
        assert mechanics.updates <= 400
        cut |= mechanics.refused > 0
    assert cut
    row = dict(zip(simulation.columns, simulation.row(), strict=True))
    assert 0.3 < row["cube.load"] <= 0.95
    assert row["cube.updates"] == mechanics.updates == sum(row[f"cube.work.{k}"] for k in range(3))
    assert row["cube.active.0"] > 10


def test_a_budget_below_the_coarsest_level_is_said_so() -> None:
    """The coarsest level takes its updates in any case: once, a warning gives both numbers."""
    simulation = poked(budget=20).simulation()
    simulation.start()
    mechanics = simulation.system.world.bodies[0].mechanics
    for _ in range(3):
        simulation.advance()
    (warning,) = mechanics.diagnostics.texts()
    least = mechanics.updates
    assert least > 20
    assert f"the coarsest level alone takes {least} node updates a frame, the budget is 20:" in warning


@pytest.mark.parametrize("operator", ["linear", "corotational", "neo-hookean"])
def test_a_resumed_run_has_the_same_bytes(operator: str, tmp_path: Path) -> None:
    whole = poked(0.5, operator=operator).run(to=tmp_path / "whole.pliant")
    assert_same(whole, stopped_and_resumed(poked(0.5, operator=operator), tmp_path / "broken.pliant", 15))
    shown = whole.frames[-1].field("level", "cube")
    assert shown.per == "particle"
    assert {0.0, 2.0} <= set(np.unique(shown.values))
    assert whole.frames[-1].field("eta", "cube").values.max() > 0.01
    assert whole.frames[0].field("level", "cube").values.max() == 0.0


def test_one_and_two_threads_give_the_same_bytes() -> None:
    """More than 5000 simulated nodes, so that loops are shared."""
    threads, found = threads_in_use(), []
    for count in (1, 2):
        set_threads(count)
        table = {"type": "multires", "levels": 2, "detail": "finest"}
        cube = pl.Body(box(1, 1, 1, divisions=(17, 17, 17)), model=table, material=TISSUE)
        scene = pl.Scene([cube], [pl.Gravity(), pl.Fix(cube, pl.where.plane("z", "min"))])
        found.append(run_through(scene, 3).system.world.x)
    set_threads(threads)
    assert np.array_equal(*found)
    assert np.abs(found[0] - np.round(found[0], 9)).max() > 0


@pytest.mark.parametrize("operator", ["linear", "corotational"])
def test_a_free_body_falls_exactly_and_lands(operator: str) -> None:
    scene = poked(tool=False, held=False, operator=operator)
    acting = [pl.Gravity(9.81), pl.Ground(level=-0.5)]
    scene = pl.Scene(scene.bodies, acting, time=pl.TimeSettings(duration=1, fps=60))
    simulation = run_through(scene, 12)
    world = simulation.system.world
    drop = world.x - world.rest
    assert np.abs(drop - drop[0]).max() < 1e-9
    assert drop[0, 2] == pytest.approx(-0.5 * 9.81 * 0.2**2, rel=1e-9)
    for _ in range(48):
        simulation.advance()
    assert world.x[:, 2].min() > -0.52
    assert np.abs(world.x).max() < 2.0


def test_what_cannot_work_is_refused() -> None:
    for material, words in (({"yield": 1e3}, "yield"),):
        body = pl.Body(box(1, 1, 1, divisions=(2, 2, 2)), model="multires", material=TISSUE | material)
        with pytest.raises(IncompatibleError, match=words):
            body.model.prepare(body.structure(), body.resolved_material)
    for model, words in (({"budget": 100, "seconds": 0.01}, "not both"),):
        body = pl.Body(
            box(1, 1, 1, divisions=(2, 2, 2)), model={"type": "multires", **model}, material=TISSUE
        )
        with pytest.raises(IncompatibleError, match=words):
            body.model.prepare(body.structure(), body.resolved_material)


def test_old_keys_are_accepted_and_noted() -> None:
    """Scenes from before 0.2 load; a note says which keys have no effect."""
    table = {"type": "multires", "coupling": "schwarz", "order": "debunne"}
    body = pl.Body(box(1, 1, 1, divisions=(2, 2, 2)), model=table, material=TISSUE)
    body.model.prepare(body.structure(), body.resolved_material)
    coupling, order = body.model.notes(body.resolved_material)
    assert 'coupling = "schwarz" has no effect' in coupling
    assert 'order = "debunne" has no effect' in order


def test_a_run_with_a_budget_in_seconds_replays_to_the_byte(tmp_path: Path) -> None:
    """What the measured times came to is in the run's replay.toml; there measured times decide nothing."""
    first = poked(0.4, seconds=2e-3).run(to=tmp_path / "first.pliant")
    again = pl.read(tmp_path / "first.pliant" / "replay.toml")
    model = again.bodies[0].model
    assert model.decisions
    assert model.seconds == 2e-3
    second = again.run(to=tmp_path / "second.pliant")
    for a, b in zip(first.frames, second.frames, strict=True):
        assert np.array_equal(a.positions, b.positions)
    for name in ("cube.load", "cube.updates", "cube.active.2", "cube.refused"):
        assert np.array_equal(first.series[name], second.series[name]), name
    assert not np.array_equal(first.series["cube.seconds"], second.series["cube.seconds"])


def test_decisions_are_followed_and_a_refusal_is_said_once() -> None:
    """Work stays within 95 % of what was decided, from the time on at which it was."""
    simulation = poked(seconds=1.0, decisions=[(0.0, 1e6), (0.5, 300.0)]).simulation()
    simulation.start()
    mechanics = simulation.system.world.bodies[0].mechanics
    for _ in range(30):
        simulation.advance()
    assert mechanics.updates > 300
    assert simulation.diagnostics.entries == []
    for _ in range(10):
        simulation.advance()
        assert mechanics.updates <= 0.95 * 300
    assert [text[:19] for text in simulation.diagnostics.texts()] == ["body 'cube': at 0.5"]
    assert mechanics.replay_parameters() == {"decisions": [[0.0, 1e6], [0.5, 300.0]]}


def test_the_heat_of_damping_closes_the_energy_ledger() -> None:
    """A cube that sags and swings back, half fine: kinetic + elastic + gravity + heat stays to 1e-4 of what
    gravity gave; the heat is a twentieth of that."""
    table = {"type": "multires", "levels": 2, "split": 0.01}
    shape = box(1, 1, 1, divisions=(4, 4, 4), split="uniform")
    cube = pl.Body(shape, model=table, material=TISSUE, name="cube")
    acting = [pl.Gravity(1.0), pl.Fix(cube, pl.where.plane("x", "min"))]
    scene = pl.Scene([cube], acting, time=pl.TimeSettings(duration=1, fps=60))
    simulation = scene.simulation()
    simulation.start()
    rows = [dict(zip(simulation.columns, simulation.row(), strict=True))]
    for _ in range(90):
        simulation.advance()
        rows.append(dict(zip(simulation.columns, simulation.row(), strict=True)))
    moved = max(abs(row["energy.gravity"] - rows[0]["energy.gravity"]) for row in rows)
    assert rows[-1]["energy.dissipated"] > 0.02 * moved
    total = [row["energy.total"] for row in rows]
    assert max(abs(value - total[0]) for value in total) < 1e-3 * moved


def test_prescribed_motion_does_the_work_that_is_booked() -> None:
    """A bar whose end is moved along and sideways, and stops: the ledger closes to 1e-3."""
    bar = pl.Body(
        box(1, 0.3, 0.3, divisions=(10, 3, 3)),
        model={"type": "multires", "split": 0.02},
        material=TISSUE,
        name="bar",
    )
    path = {"keys": [{"time": 0, "value": [0, 0, 0]}, {"time": 0.5, "value": [0.1, 0, 0.1]}]}
    move = pl.Move(select={"body": "bar", "plane": {"axis": "x", "at": "max"}}, displacement=path)
    scene = pl.Scene(
        [bar], [pl.Fix(bar, pl.where.plane("x", "min")), move], time=pl.TimeSettings(duration=1, fps=60)
    )
    simulation = scene.simulation()
    simulation.start()
    rows = [dict(zip(simulation.columns, simulation.row(), strict=True))]
    for _ in range(60):
        simulation.advance()
        rows.append(dict(zip(simulation.columns, simulation.row(), strict=True)))
    assert rows[-1]["energy.work"] > 1.0
    assert (
        max(abs(row["energy.total"] - rows[0]["energy.total"]) for row in rows)
        < 2e-3 * rows[-1]["energy.work"]
    )


def test_a_tool_moved_by_hand_with_a_budget_in_seconds_replays_to_the_byte() -> None:
    """A capsule comes live and is pressed into the cube; the take has its keys and the budget's decisions."""
    from pliant.run.live_session import LiveSession
    from pliant.run.recorder import add_decisions
    from pliant.scene.load import parse
    from pliant.scene.to_toml import scene_text, to_table_of

    scene = poked(0.5, tool=False, seconds=1.0)
    simulation = scene.simulation()
    simulation.start()
    live = LiveSession(scene, simulation)
    shape = {"capsule": {"radius": 0.1, "length": 0.2}, "position": [0.5, 0.5, 1.4], "name": "hand"}
    number = live.add({"type": "tool", **shape})
    for frame in range(24):
        live.steer(number, (0.5, 0.5, 1.4 - 0.015 * frame))
        live.before_frame()
        simulation.advance()
        live.settled()
    assert simulation.system.world.bodies[0].mechanics.particle_levels().max() == 2
    table = to_table_of(scene) | {"actions": live.tables()}
    assert add_decisions(table, simulation)
    again = run_through(parse(scene_text(table), Path(), "take.toml"), 24)
    assert np.array_equal(simulation.system.world.x, again.system.world.x)
    row = dict(zip(again.columns, again.row(), strict=True))
    assert row["hand.z"] > 10.0
    assert abs(row["hand.torque.z"]) < 0.01 * row["hand.z"]
