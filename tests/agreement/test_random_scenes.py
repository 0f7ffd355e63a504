"""Scenes drawn by hypothesis: valid ones run or say why not, broken ones are one message, and runs in two
parts are those in one."""

import contextlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("hypothesis", reason="needs hypothesis: pip install 'pliant[dev]'")
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pliant.cli.main import run as command
from pliant.core.errors import PliantError
from pliant.models import MODELS
from pliant.scene.load import parse
from pliant.scene.to_toml import toml_value
from pliant.simulation.simulation import Simulation

SETTINGS: dict[str, Any] = {
    "derandomize": True, "deadline": None, "database": None, "suppress_health_check": list(HealthCheck),
}  # fmt: skip
JUNK = ["", "=", "[", "]]", '"', "\x00", "nan", "-1e400", "{}", "é", "9" * 400]
sides = st.floats(0.05, 2.0).map(lambda x: round(x, 3))
BODY = {
    "name": st.just("body"),
    "shape": st.builds(
        lambda size, cells: {"box": {"size": list(size), "divisions": list(cells)}},
        st.tuples(sides, sides, sides),
        st.tuples(*[st.integers(1, 3)] * 3),
    ),
    "model": st.sampled_from(list(MODELS)),
    "material": st.fixed_dictionaries({
        "young": st.floats(3, 7).map(lambda e: 10.0**e),
        "poisson": st.floats(0.25, 0.45),
        "density": st.floats(50, 5000),
    }),
    "position": st.tuples(*[st.floats(-1, 1)] * 3).map(list),
}  # fmt: skip
PLACE = st.sampled_from([
    {"body": "body", "all": True},
    {"body": "body", "plane": {"axis": "x", "at": "min"}},
    {"body": "body", "plane": {"axis": "z", "at": "max"}},
])  # fmt: skip
VECTOR = st.tuples(*[st.floats(-5, 5)] * 3).map(list)
ACTION = st.one_of(
    st.just({"type": "gravity"}),
    st.fixed_dictionaries({"type": st.just("ground"), "level": st.floats(-3, -1.5)}),
    st.fixed_dictionaries({"type": st.just("fix"), "select": PLACE}),
    st.fixed_dictionaries({"type": st.just("force"), "select": PLACE, "value": VECTOR}),
    st.fixed_dictionaries({"type": st.just("impulse"), "select": PLACE, "value": VECTOR}),
    st.fixed_dictionaries({"type": st.just("damping"), "rate": st.floats(0, 50)}),
    st.fixed_dictionaries(
        {"type": st.just("pressure"), "body": st.just("body"), "value": st.floats(-50, 50)}
    ),
)
SCENE = st.fixed_dictionaries({"body": st.fixed_dictionaries(BODY), "actions": st.lists(ACTION, max_size=4)})


def text_of(scene: dict[str, Any], seconds: float = 0.04) -> str:
    def entries(table: dict[str, Any]) -> str:
        return "".join(f"{key} = {toml_value(value)}\n" for key, value in table.items())

    actions = "".join(f"\n[[actions]]\n{entries(action)}" for action in scene["actions"])
    return (
        f"schema = 1\n[time]\nduration = {seconds}\nfps = 50\n\n[[bodies]]\n{entries(scene['body'])}{actions}"
    )


def played(text: str) -> Simulation:
    """Two frames of a scene; warnings are errors here."""
    simulation = parse(text, Path(), "scene").simulation()
    simulation.start()
    for _ in range(2):
        simulation.advance()
    return simulation


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=2, **SETTINGS)
@given(scene=SCENE)
def test_valid_scenes_run_or_say_why_not(model: str, scene: dict[str, Any]) -> None:
    scene["body"]["model"] = model
    try:
        simulation = played(text_of(scene))
    except PliantError:
        return
    assert np.isfinite(simulation.system.world.x).all()
    assert np.isfinite(simulation.row()).all()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("key", "value"),
    [("velocity", [1e300, 0, 0]), ("spin", [0, 1e300, 0]), ("scale", 1e200), ("gravity", -1e300)],
)
def test_absurd_numbers_are_a_message_and_no_warning(model: str, key: str, value: Any) -> None:
    shape = {"box": {"size": [0.2, 0.1, 0.1], "divisions": [2, 1, 1]}}
    material = {"young": 1e5, "poisson": 0.3, "density": 1000.0}
    body: dict[str, Any] = {"name": "body", "shape": shape, "model": model, "material": material}
    gravity: dict[str, Any] = {"type": "gravity"}
    (gravity if key == "gravity" else body)["acceleration" if key == "gravity" else key] = value
    with pytest.raises(PliantError):
        played(text_of({"body": body, "actions": [gravity]}))


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=2, **SETTINGS)
@given(scene=SCENE, split=st.integers(1, 3))
def test_a_run_in_two_parts_is_the_run_in_one(model: str, scene: dict[str, Any], split: int) -> None:
    scene["body"]["model"] = model
    text = text_of(scene)

    def started() -> Any:
        simulation = parse(text, Path(), "scene").simulation()
        simulation.start()
        return simulation

    try:
        whole, first, second = started(), started(), started()
        for _ in range(4):
            whole.advance()
        for _ in range(split):
            first.advance()
    except PliantError:
        return
    second.restore(split, first.state())
    for _ in range(4 - split):
        second.advance()
    assert np.array_equal(whole.system.world.x, second.system.world.x)
    assert np.array_equal(whole.system.world.v, second.system.world.v)


@settings(max_examples=60, **SETTINGS)
@given(scene=SCENE, data=st.data())
def test_broken_scenes_are_one_message_and_never_a_traceback(
    scene: dict[str, Any], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = text_of(scene)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 12))
        junk = data.draw(st.sampled_from(JUNK))
        text = text[:place] + junk + text[place + length :]
    path = tmp_path_factory.mktemp("broken") / "scene.toml"
    path.write_text(text, encoding="utf-8")
    err, out = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(err), contextlib.redirect_stdout(out):
        code = command(["check", str(path)])
    assert code in (0, 2), err.getvalue()
    assert "Traceback" not in err.getvalue()
    assert "internal error" not in err.getvalue()
