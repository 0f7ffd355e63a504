"""What hands did to a running simulation replays from the scene file, byte for byte."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from pliant.core.errors import IncompatibleError, InputError
from pliant.core.typing import Array
from pliant.run.live_session import LiveSession
from pliant.scene.load import parse
from pliant.scene.to_toml import scene_text, to_table_of

SCENE = """
schema = 1
[time]
duration = 1.0
fps = 50
integrator = "INTEGRATOR"
[[bodies]]
name = "block"
shape = { box = { size = [0.2, 0.1, 0.1], divisions = [4, 2, 2] } }
model = "MODEL"
material = { young = 2e4, poisson = 0.3, density = 1000 }
[[actions]]
type = "gravity"
[[actions]]
type = "fix"
select = { body = "block", plane = { axis = "x", at = "min" } }
"""
SPOT = {"body": "block", "plane": {"axis": "x", "at": "max"}}


def pulled(live: LiveSession, frame: int) -> None:
    """Pull, pause, pull on; let go; kick; hold the other end; push with a ball; turn gravity round."""
    match frame:
        case 2:
            live.add({"type": "pull", "select": SPOT, "target": [0.2, 0.05, 0.05], "stiffness": 40.0})
            live.steer(2, (0.2, 0.06, 0.08))
        case 3 | 4 | 8:
            live.steer(2, (0.2 + 0.01 * frame, 0.05, 0.1 / frame))
        case 9:
            live.end(2)
            live.add({"type": "impulse", "select": SPOT, "value": [0.0, 0.02, 0.0]})
        case 10:
            live.end(1)
            live.add({"type": "fix", "select": SPOT})
            live.add({"type": "tool", "name": "ball", "sphere": {"radius": 0.05}, "position": [0, 0.05, 0.2]})
        case 11 | 12 | 13:
            live.steer(5, (0.0, 0.05, 0.2 - 0.02 * (frame - 10)))
        case 15:
            live.end(0)
            live.add({"type": "gravity", "acceleration": -3.0})


def play(text: str, hand: Callable[[LiveSession, int], None] | None, frames: int) -> tuple[list[Array], str]:
    scene = parse(text)
    simulation = scene.simulation()
    simulation.start()
    live = LiveSession(scene, simulation)
    found = [simulation.system.world.x.copy()]
    for frame in range(frames):
        if hand is not None:
            hand(live, frame)
        live.before_frame()
        simulation.advance()
        found.append(simulation.system.world.x.copy())
    table = to_table_of(replace(scene, time=replace(scene.time, step=simulation.plan.seconds), step=None))
    table["actions"] = live.tables()
    return found, scene_text(table)


@pytest.mark.parametrize(
    ("model", "integrator"),
    [("mass-spring", "leapfrog"), ("mass-spring", "implicit-euler"), ("mass-spring", "rk4")],
)
def test_a_take_replays_byte_for_byte(model: str, integrator: str) -> None:
    text = SCENE.replace("MODEL", model).replace("INTEGRATOR", integrator)
    taken, saved = play(text, pulled, 20)
    replayed, _ = play(saved, None, 20)
    untouched, _ = play(text, None, 20)
    assert np.abs(taken[-1] - untouched[-1]).max() > 1e-3
    for number, (a, b) in enumerate(zip(taken, replayed, strict=True)):
        assert a.tobytes() == b.tobytes(), f"frame {number}"


def test_a_take_of_bodies_that_meet_replays_byte_for_byte() -> None:
    """Contact between bodies comes after the actions, those that hands add included."""
    second = """[[bodies]]
name = "guest"
shape = { box = { size = [0.1, 0.1, 0.1], divisions = [2, 2, 2] } }
material = { young = 2e4, poisson = 0.3, density = 1000 }
position = [0.1, 0, 0.12]
"""
    text = SCENE.replace("MODEL", "mass-spring").replace("INTEGRATOR", "leapfrog") + second
    taken, saved = play(text, pulled, 20)
    replayed, _ = play(saved, None, 20)
    assert np.abs(taken[-1] - play(text, None, 20)[0][-1]).max() > 1e-3
    for number, (a, b) in enumerate(zip(taken, replayed, strict=True)):
        assert a.tobytes() == b.tobytes(), f"frame {number}"


def test_material_added_by_hand_replays_byte_for_byte() -> None:
    """Twice, with a cut between: what comes later is prepared among the elements that are there then."""

    def hand(live: LiveSession, frame: int) -> None:
        match frame:
            case 3:
                lump = {"shape": {"box": {"size": [0.05, 0.1, 0.1]}}, "position": [0.2, 0.0, 0.0]}
                live.add({"type": "add", "body": "block", **lump})
            case 6:
                live.add({"type": "cut", "body": "block", "plane": {"axis": "x", "at": 0.201}})
            case 8:
                ball = {"shape": {"sphere": {"radius": 0.06}}, "position": [0.1, 0.05, 0.1]}
                live.add({"type": "add", "body": "block", **ball})

    text = SCENE.replace('"MODEL"', '"lattice"\nedge = 0.05').replace("INTEGRATOR", "leapfrog")
    taken, saved = play(text, hand, 14)
    replayed, _ = play(saved, None, 14)
    assert len(taken[0]) < len(taken[5]) < len(taken[-1])
    for number, (a, b) in enumerate(zip(taken, replayed, strict=True)):
        assert a.tobytes() == b.tobytes(), f"frame {number}"


def test_what_cannot_be_done_live_says_so_and_changes_nothing() -> None:
    scene = parse(SCENE.replace("MODEL", "mass-spring").replace("INTEGRATOR", "leapfrog"))
    simulation = scene.simulation()
    live = LiveSession(scene, simulation)
    whole = {"body": "block", "all": True}
    with pytest.raises(IncompatibleError, match="while the simulation runs"):
        live.add({"type": "volume-constraint"})
    with pytest.raises(IncompatibleError, match="same particles"):
        live.add({"type": "fix", "select": whole})
    with pytest.raises(InputError, match="fix"):
        live.add({"type": "fix", "select": whole, "colour": 3})
    with pytest.raises(InputError, match="cannot be steered"):
        live.steer(0, (0, 0, 0))
    with pytest.raises(InputError, match="no action 9"):
        live.end(8)
    assert len(live.entries) == 2
    simulation.advance()


def test_a_kick_does_not_wait_for_the_kicks_that_the_scene_has_planned() -> None:
    later = '[[actions]]\ntype = "impulse"\nselect = { body = "block", all = true }\n'
    later += "value = [0, 0, 0.1]\nat = 0.9\n"
    text = SCENE.replace("MODEL", "mass-spring").replace("INTEGRATOR", "leapfrog") + later

    def kick(live: LiveSession, frame: int) -> None:
        if frame == 1:
            live.add({"type": "impulse", "select": SPOT, "value": [0.0, 0.02, 0.0]})

    kicked, replay = play(text, kick, 4)
    left_alone, _ = play(text, None, 4)
    assert np.abs(kicked[4] - left_alone[4]).max() > 1e-4
    again, _ = play(replay, None, 4)
    assert all(np.array_equal(a, b) for a, b in zip(kicked, again, strict=True))


TWO = """
schema = 1
[time]
duration = 1.0
fps = 50
[[bodies]]
name = "low"
shape = { box = { size = [0.2, 0.1, 0.1], divisions = [4, 2, 2] } }
model = "LOW"
edge = 0.05
material = { young = 2e4, poisson = 0.3, density = 1000 }
[[bodies]]
name = "high"
shape = { box = { size = [0.1, 0.1, 0.1], divisions = [2, 2, 2] } }
model = "HIGH"
edge = 0.05
position = [0.05, 0.0, 0.11]
material = { young = 2e4, poisson = 0.3, density = 1000 }
[[actions]]
type = "gravity"
[[actions]]
type = "fix"
select = { body = "low", plane = { axis = "z", at = "min" } }
[[actions]]
type = "impulse"
select = { body = "high", all = true }
value = [0.0, 0.01, 0.0]
at = 0.3
"""


def worked(live: LiveSession, frame: int) -> None:
    """Cut a body in two, pull a piece by particles that came with the cut, glue, stiffen, kick."""
    match frame:
        case 3:
            live.add({"type": "impulse", "select": {"body": "high", "all": True}, "value": [0.0, 0.0, -0.02]})
        case 4:
            live.add({"type": "cut", "body": "high", "plane": {"axis": "x", "at": 0.09}})
        case 6:
            new = len(live._simulation.system.world.bodies_named("high", "")[0].structure.rest)
            spot = {"body": "high", "ids": [new - 1, new - 2]}
            live.add({"type": "pull", "select": spot, "target": [0.1, 0.05, 0.25], "stiffness": 5.0})
            live.steer(5, (0.1, 0.1, 0.3))
        case 8:
            live.add({"type": "glue", "select": {"body": "high", "all": True}, "to": "low", "reach": 0.06})
        case 12:
            live.end(5)


def clayed(live: LiveSession, frame: int) -> None:
    """Keep the present shape of a bar of elements, stiffen one end, and let the bodies fuse."""
    match frame:
        case 5:
            live.add({"type": "renormalise", "select": {"body": "low", "all": True}})
        case 7:
            select = {"body": "low", "plane": {"axis": "z", "at": "max"}}
            live.add({"type": "attributes", "select": select, "stiffness": 3.0})
        case 9:
            live.add({"type": "fuse", "bodies": ["low", "high"], "reach": 0.08})


@pytest.mark.parametrize(
    ("low", "high", "hand"), [("mass-spring", "fem", worked), ("lattice", "lattice", clayed)]
)
def test_cuts_glue_and_clay_replay_byte_for_byte(low: str, high: str, hand: Callable[..., None]) -> None:
    text = TWO.replace("LOW", low).replace("HIGH", high)
    taken, saved = play(text, hand, 18)
    replayed, _ = play(saved, None, 18)
    untouched, _ = play(text, None, 18)
    assert saved.count("late = true") >= 3
    assert taken[-1].shape != untouched[-1].shape or np.abs(taken[-1] - untouched[-1]).max() > 1e-3
    for number, (a, b) in enumerate(zip(taken, replayed, strict=True)):
        assert a.tobytes() == b.tobytes(), f"frame {number}"
