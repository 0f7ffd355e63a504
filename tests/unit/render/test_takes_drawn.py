"""A recorded interactive session is drawn with the tools that a hand moved."""

from pathlib import Path

import numpy as np

from pliant.actions import ACTIONS
from pliant.render.plan import scenery_of
from pliant.run.store import load
from pliant.studio.take_builder import TakeBuilder

SCENE = """
schema = 1
[time]
duration = 1.0
[[bodies]]
name = "block"
shape = { box = { size = [0.4, 0.2, 0.2], divisions = [4, 2, 2] } }
material = { young = 2e4, poisson = 0.3, density = 500 }
[[actions]]
type = "gravity"
[[actions]]
type = "ground"
"""
TOOL = np.array([75, 134, 200]) / 255.0


def _silent(*_: object) -> None: ...


def _of_the_tool(path: Path) -> float:
    """Share of the pixels whose hue is a tool's."""
    from PIL import Image

    with Image.open(path) as picture:
        image = np.asarray(picture.convert("RGB")).astype(float)
    shares = image / np.maximum(image.sum(axis=2, keepdims=True), 1.0)
    return float((np.abs(shares - TOOL / TOOL.sum()).max(axis=2) < 0.04).mean())


def test_the_tool_of_a_take_is_drawn_where_the_hand_moved_it(drawable: Path, tmp_path: Path) -> None:
    take = TakeBuilder(tmp_path, _silent, _silent).build(SCENE, str(tmp_path), False)
    take.advance(_silent)
    tool = take.live.add({"type": "tool", "box": {"size": [0.1, 0.1, 0.1]}, "position": [0.2, 0.1, 0.6]})
    take.live.steer(tool, (0.2, 0.1, 0.4))
    take.advance(_silent)
    take.advance(_silent)
    take.keep(tmp_path / "kept.pliant")
    run = load(tmp_path / "kept.pliant")
    (shape,) = scenery_of(run).shapes
    assert (shape.kind, shape.role) == ("box", "tool")
    np.testing.assert_allclose(shape.path.at(0.06), [0.2, 0.1, 0.4])
    with_tool = run.render(tmp_path / "with.png", frame=3, size="192x128", view="front")
    before = run.render(tmp_path / "before.png", frame=0, size="192x128", view="front")
    assert _of_the_tool(with_tool) > 0.005
    assert _of_the_tool(before) < 0.001  # it has not come yet


def test_scenery_and_the_runtime_are_the_same_shape() -> None:
    tables = [
        {"type": "ground", "level": 0.2},
        {"type": "tabletop", "height": 0.5, "size": [1.0, 2.0]},
        {"type": "obstacle", "capsule": {"radius": 0.1, "length": 0.4, "axis": "x"}, "position": [1, 2, 3]},
        {"type": "tool", "sphere": {"radius": 0.1}},
    ]
    for table in tables:
        action = ACTIONS.build(table)
        shape, runtime = action.scenery((0.0, 1.0, 0.0)), action.prepare(None, (0.0, 1.0, 0.0))  # type: ignore
        assert shape is not None
        np.testing.assert_array_equal(shape.size, runtime.size)  # type: ignore[attr-defined]
        np.testing.assert_array_equal(shape.frame, runtime.frame)  # type: ignore[attr-defined]
        assert action.series_units() == {table["type"]: "N", f"{table['type']}.torque": "N m"}
