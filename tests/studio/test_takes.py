"""Takes replay: with material that hands add in the middle and take away, and with budgets in seconds."""

from pathlib import Path

import numpy as np
import pytest

from pliant.core.errors import InputError
from pliant.run.runner import run_scene
from pliant.run.store import Run, load
from pliant.scene.load import parse
from pliant.studio.take import Take
from pliant.studio.take_builder import TakeBuilder, play_again, with_lump

SCENE = """
schema = 1
[time]
duration = 2.0
fps = 50
[[bodies]]
name = "block"
shape = { box = { size = [0.2, 0.1, 0.1], divisions = [4, 2, 2] } }
model = "MODEL"
material = { young = 2e4, poisson = 0.3, density = 1000 }
[[bodies]]
name = "crumb"
shape = { box = { size = [0.1, 0.1, 0.1], divisions = [2, 2, 2] } }
material = { young = 2e4, poisson = 0.3, density = 1000 }
position = [1.0, 0, 0]
[[actions]]
type = "gravity"
acceleration = 2
[[actions]]
type = "fix"
select = { body = "block", plane = { axis = "x", at = "min" } }
"""
LUMP = {"sphere": {"radius": 0.05}}


def _silent(*_: object) -> None: ...


def _begin(tmp_path: Path, model: str, step: str = '"auto"') -> tuple[TakeBuilder, Take]:
    builder = TakeBuilder(tmp_path, _silent, _silent)
    text = SCENE.replace("MODEL", model).replace("fps = 50", f"fps = 50\nstep = {step}")
    return builder, builder.build(text, str(tmp_path), False)


def _on(take: Take, frames: int) -> None:
    for _ in range(frames):
        take.advance(_silent)


def _add(builder: TakeBuilder, take: Take, x: float) -> tuple[Take, list[int]]:
    again = builder.again(with_lump(take, "block", 44, LUMP, [x, 0.05, 0.16], True), take.scene.folder)
    return again, play_again(take, again, _silent, _silent)


def _replayed(take: Take, tmp_path: Path) -> Run:
    """The take, once its scene gives the same bytes."""
    take.keep(tmp_path / "kept.pliant")
    kept = load(tmp_path / "kept.pliant")
    again = run_scene(parse(kept.scene_text, tmp_path, "scene"), tmp_path / "again.pliant")
    assert len(kept) == len(again)
    for one, other in zip(kept.frames, again.frames, strict=True):
        assert one.positions.tobytes() == other.positions.tobytes(), f"frame {one.index}"
    return kept


@pytest.mark.parametrize("model", ["mass-spring", "fem"])
def test_a_lump_appears_in_the_middle_of_a_take_sticks_and_replays(tmp_path: Path, model: str) -> None:
    builder, take = _begin(tmp_path, model)
    ball = take.live.add(
        {"type": "tool", "name": "b", "sphere": {"radius": 0.03}, "position": [0.2, 0.05, 0.3]}
    )
    take.live.end(0)  # gravity, before it began
    _on(take, 3)
    take.live.steer(ball, (0.2, 0.05, 0.25))
    _on(take, 3)
    before = [frame.positions.copy() for frame in take.recorded().frames]  # type: ignore[union-attr]
    again, numbers = _add(builder, take, 0.1)
    assert numbers == [3, 4]  # after the two of the scene and the tool
    assert again.frame == 6
    part = again.simulation.system.world.bodies[2]
    assert part.name == "block-lump-1"
    assert not part.present
    again.live.steer(ball, (0.2, 0.05, 0.2))  # the tool is still in the hand
    _on(again, 4)
    assert part.present
    lump = again.simulation.system.world.x[part.rows]
    pull = again.live.add({"type": "force", "select": {"body": part.name, "all": True}, "value": [0, 0, 0.5]})
    assert pull == 5
    again.live.add({"type": "remove", "body": "crumb"})
    _on(again, 4)
    assert np.isfinite(again.simulation.system.world.x).all()
    assert lump[:, 2].min() > 0.08  # it lies on the block that holds it
    kept = _replayed(again, tmp_path)
    for old, new in zip(before, kept.frames, strict=False):  # the same, but for the step
        assert np.abs(old - new.positions[: len(old)]).max() < 1e-4
    assert kept.frames[3].bodies[2].structure.carrier.kind == "hidden"
    assert kept.frames[8].bodies[2].structure.carrier.kind != "hidden"
    assert kept.frames[14].bodies[1].structure.carrier.kind == "hidden"
    for kind in ("create", "fuse", "remove", "tool", "force"):
        assert f'type = "{kind}"' in kept.scene_text
    assert 'type = "gravity"' not in kept.scene_text


def test_two_lumps_one_on_the_other_and_one_that_does_not_fit(tmp_path: Path) -> None:
    builder, take = _begin(tmp_path, "mass-spring")
    limit = take.simulation.plan.limit
    _on(take, 2)
    take, _ = _add(builder, take, 0.05)
    _on(take, 2)
    take, numbers = _add(builder, take, 0.16)
    _on(take, 2)
    assert numbers == [4, 5]
    assert [part.present for part in take.simulation.system.world.bodies] == [True] * 4
    with pytest.raises(InputError, match="no particle 9000"):
        with_lump(take, "block", 9000, LUMP, [0, 0, 1], False)
    _replayed(take, tmp_path)
    builder, take = _begin(tmp_path / "other", "mass-spring", step=f"{0.02 / np.ceil(0.02 / limit)}")
    _on(take, 1)
    with pytest.raises(InputError, match="smaller time step than the"):
        _add(builder, take, 0.05)


def test_a_take_with_a_budget_in_seconds_replays(tmp_path: Path) -> None:
    levels = '{ type = "multires", levels = 2, seconds = 2e-3 }'
    text = SCENE.replace('"MODEL"', levels).replace("divisions = [4, 2, 2]", "divisions = [2, 1, 1]")
    take = TakeBuilder(tmp_path, _silent, _silent).build(text, str(tmp_path), False)
    _on(take, 3)
    select = {"body": "block", "plane": {"axis": "x", "at": "max"}}
    pull = {"type": "pull", "select": select, "target": [0.2, 0.05, 0.05], "stiffness": 20.0}
    number = take.live.add(pull)
    take.live.steer(number, (0.25, 0.05, 0.15))
    _on(take, 6)
    assert "decisions = [[" in take.text()
    assert "seconds = 0.002" in _replayed(take, tmp_path).scene_text


def test_a_take_with_two_pulls_and_two_tools_replays(tmp_path: Path) -> None:
    """Pulls have no series, and a second tool gets a name of its own: series of a scene differ in name."""
    _, take = _begin(tmp_path, "mass-spring")
    _on(take, 1)
    for x in (0.0, 0.2):
        select = {"body": "block", "plane": {"axis": "x", "at": "max"}}
        take.live.add({"type": "pull", "select": select, "target": [x, 0.05, 0.1], "stiffness": 20.0})
        take.live.add({"type": "tool", "sphere": {"radius": 0.02}, "position": [x, 0.05, 0.3]})
    _on(take, 2)
    assert [table.get("name") for table in take.live.tables() if table["type"] == "tool"] == [None, "tool-2"]
    _replayed(take, tmp_path)
    assert "tool-2.x" in load(tmp_path / "again.pliant").series
