"""Tools: their paths, what they feel, what sticks to them, and devices that hold them."""

from typing import Any

import numpy as np
import pytest
from bodies import simulate, values

import pliant as pl
from pliant.actions import Manipulator
from pliant.contact import Contact, ContactPairSettings
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene, TimeSettings

MATERIAL = {"young": 1e6, "poisson": 0.25, "density": 1000.0, "damping": 1e-3}


def bar(**options: Any) -> Body:
    options.setdefault("name", "bar")
    options.setdefault("material", MATERIAL)
    return Body(box(0.6, 0.2, 0.2), edge=0.1, model="lattice", **options)


def keyed(*keys: tuple[float, tuple[float, float, float]]) -> dict[str, Any]:
    return {"keys": [{"time": time, "value": list(value)} for time, value in keys]}


def press(depth: float) -> dict[str, Any]:
    return keyed((0.0, (0, 0, 0)), (0.3, (0, 0, -depth)))


def test_a_tool_feels_what_it_presses() -> None:
    """The force on the tool is what the ground bears, and its path is the keyed one."""
    tool = bar(name="tool", position=(0, 0, 0.2))
    hand = Manipulator(body="tool", displacement=press(0.01), name="hand")
    simulation = simulate([bar(), tool], [hand, pl.Ground(), pl.Damping(rate=30.0)], seconds=1.0)
    row, world = values(simulation), simulation.system.world
    assert world.x[24:] == pytest.approx(world.rest[24:] - [0, 0, 0.01], abs=1e-12)
    assert row["hand.z"] > 50.0
    assert row["ground.z"] == pytest.approx(-row["hand.z"], rel=0.02)


def lever(degrees: float) -> tuple[Any, np.ndarray[Any, Any]]:
    """A tool presses with its end on one element that is held; the Simulation, and the arm from the middle of
    the tool to that element."""
    post = Body(box(0.1, 0.1, 0.1), edge=0.1, model="lattice", material=MATERIAL, name="post")
    turn = np.deg2rad(degrees)
    middle = np.array([0.05, 0.05, 0.15]) + 0.25 * np.array([np.cos(turn), np.sin(turn), 0.0])
    tool = Body(
        box(0.6, 0.1, 0.1), edge=0.1, model="lattice", material=MATERIAL, name="tool",
        position=tuple(middle - [0.3 * np.cos(turn) - 0.05 * np.sin(turn),
                                 0.3 * np.sin(turn) + 0.05 * np.cos(turn), 0.05]),
        rotation={"axis": "z", "degrees": degrees},
    )  # fmt: skip
    hand = Manipulator(body="tool", displacement=press(0.004), name="hand")
    simulation = simulate([post, tool], [hand, pl.Fix("post", pl.where.all())], seconds=0.4)
    world = simulation.system.world
    return simulation, world.x[0] - world.x[1:].mean(axis=0)


@pytest.mark.parametrize("degrees", [0.0, 30.0])
def test_the_torque_on_a_tool_is_arm_times_force(degrees: float) -> None:
    """4 mm of one contact each way, of 0.6 E a each: 480 N, 0.25 m beside the middle of the tool:
    120 N m about the horizontal axis across the tool, and nothing about the others."""
    simulation, arm = lever(degrees)
    row = values(simulation)
    force = np.array([row[f"hand.{c}"] for c in "xyz"])
    torque = np.array([row[f"hand.torque.{c}"] for c in "xyz"])
    assert force == pytest.approx([0, 0, 2 * 0.6 * 1e6 * 0.1 * 0.004], abs=1e-6)
    assert np.hypot(*arm[:2]) == pytest.approx(0.25, abs=1e-9)
    assert torque == pytest.approx(np.cross(arm, force), abs=1e-6)
    assert np.linalg.norm(torque) == pytest.approx(0.25 * force[2], rel=1e-9)


def carried(sticky: bool, release: float | None = None, seconds: float = 0.6) -> tuple[Any, list[float]]:
    """A tool presses on a bar, goes up by 0.1 m until 0.5 s, and waits; the force on it after each frame."""
    tool = bar(name="tool", position=(0, 0, 0.2))
    path = keyed((0.0, (0, 0, 0)), (0.1, (0, 0, -0.002)), (0.2, (0, 0, 0)), (0.5, (0, 0, 0.1)))
    hand = Manipulator(body="tool", displacement=path, sticky=sticky, release=release, name="hand")
    scene = Scene(
        [bar(material={**MATERIAL, "friction": 0.0}), tool],
        [pl.Gravity(acceleration=9.81), pl.Ground(), hand, pl.Damping(rate=5.0)],
        time=TimeSettings(duration=seconds, fps=50),
    )
    simulation = scene.simulation()
    felt = []
    for _ in range(round(50 * seconds)):
        simulation.advance()
        felt.append(values(simulation)["hand.z"])
    return simulation, felt


def test_a_sticky_tool_lifts_what_it_pressed_and_lets_it_fall() -> None:
    """Without it the bar lies on the ground; with it the bar hangs on the tool, which bears both weights
    (24 kg each); released at 0.6 s it falls freely (but for the drag) for 0.1 s."""
    plain, _ = carried(sticky=False)
    assert plain.system.world.x[:24, 2].mean() == pytest.approx(0.1, abs=1e-3)
    held, felt = carried(sticky=True, seconds=1.0)
    assert held.system.world.x[:24, 2].mean() == pytest.approx(0.2, abs=2e-3)
    assert felt[-1] == pytest.approx(-2 * 24 * 9.81, rel=0.02)
    dropped, felt = carried(sticky=True, release=0.6, seconds=0.7)
    rate, time = 5.0, 0.1
    fall = 9.81 / rate * (time - (1 - np.exp(-rate * time)) / rate)
    assert dropped.system.world.x[:24, 2].mean() == pytest.approx(0.2 - fall, abs=5e-3)
    assert felt[-1] == pytest.approx(-24 * 9.81, rel=1e-6)


def test_a_sticky_tool_drags_what_has_no_friction() -> None:
    """Pressed and moved sideways by 0.1 m, the bar goes along; without stickiness it stays."""
    moved = []
    for sticky in (False, True):
        tool = Body(
            box(0.2, 0.2, 0.1), edge=0.1, model="lattice", material=MATERIAL, name="tool",
            position=(0.15, 0, 0.2),
        )  # fmt: skip
        path = keyed((0.0, (0, 0, 0)), (0.1, (0, 0, -0.002)), (0.4, (0.1, 0, -0.002)))
        hand = Manipulator(body="tool", displacement=path, sticky=sticky)
        actions = [pl.Ground(friction=0.0), hand, pl.Damping(rate=5.0)]
        simulation = simulate([bar(material={**MATERIAL, "friction": 0.0}), tool], actions, seconds=0.6)
        moved.append((simulation.system.world.x - simulation.system.world.rest)[:24, 0].mean())
    assert moved == pytest.approx([0.0, 0.1], abs=2e-3)
    assert "manipulator.tool.torque.z" in values(simulation)


def test_only_sticky_tools_release() -> None:
    with pytest.raises(ValueError, match="sticky = true too"):
        Manipulator(body="tool", release=1.0)


def test_a_device_drives_a_tool_and_reads_its_force() -> None:
    """A device that goes down while it feels less than 100 N, and up while it feels more, comes to hold
    100 N, which the series says too."""
    told: list[tuple[float, float, float]] = []
    place = 0.0

    def device(time: float, force: Any, torque: Any) -> Any:
        nonlocal place
        since = time - told[-1][0] if told else 0.0
        place -= 4e-5 * (100.0 - force[2]) * since
        told.append((time, float(force[2]), float(np.abs(torque).max())))
        return np.array([0, 0, place]), np.eye(3)

    tool = bar(name="tool", position=(0, 0, 0.2))
    actions = [Manipulator(body="tool", device=device, name="hand"), pl.Ground(), pl.Damping(rate=30.0)]
    scene = Scene([bar(), tool], actions, time=TimeSettings(duration=0.5, fps=50))
    simulation = scene.simulation()
    for _ in range(25):
        simulation.advance()
    world = simulation.system.world
    assert (world.x - world.rest)[24:, 2] == pytest.approx(place, abs=1e-12)
    assert values(simulation)["hand.z"] == pytest.approx(100.0, rel=0.01)
    assert told[-1][1] == pytest.approx(100.0, rel=0.01)
    assert told[-1][2] < 1.0  # it presses evenly


def test_what_sticks_is_lifted_up_to_its_adhesion() -> None:
    """A tool that touched a bar lifts it with 5 kPa of adhesion, and lets it lie with 0.5 kPa; its weight is
    1.96 kPa."""
    heights = []
    for adhesion in (5e3, 5e2):
        tool = bar(name="tool", position=(0, 0, 0.199))
        path = keyed((0.0, (0, 0, 0)), (0.1, (0, 0, -0.002)), (0.2, (0, 0, 0)), (0.6, (0, 0, 0.1)))
        actions = [pl.Gravity(), pl.Ground(), Manipulator(body="tool", displacement=path)]
        contact = Contact(pairs=[ContactPairSettings(bodies=("tool", "bar"), adhesion=adhesion)])
        simulation = simulate([bar(), tool], actions, seconds=0.6, contact=contact)
        heights.append(simulation.system.world.x[:24, 2].mean() - 0.1)
    assert heights[0] == pytest.approx(0.1, abs=0.01)
    assert heights[1] == pytest.approx(0.0, abs=0.01)
