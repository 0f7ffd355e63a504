"""Entries changed from the command line."""

from typing import Any

import pytest
from scene_texts import ACTION, BODY

from pliant.core.errors import SceneError
from pliant.scene.load import parse
from pliant.scene.override import Override, value_of

SCENE = BODY + ACTION.format("gravity") + ACTION.format("ground")


def changed(*assignments: str, text: str = SCENE) -> Any:
    return parse(text, None, "beam.toml", overrides=[Override.of(each) for each in assignments])


def test_entries_are_found_by_name_number_type_and_star() -> None:
    assert changed("bodies.cube.edge=0.02").bodies[0].edge == 0.02
    assert changed("bodies.0.edge=0.03").bodies[0].edge == 0.03
    assert changed("bodies.*.edge=5 cm").bodies[0].edge == 0.05
    assert changed("actions.gravity.acceleration=5").actions[0].acceleration.at(0) == 5
    assert changed("actions.1.level=-0.5").actions[1].level == -0.5


def test_tables_that_are_missing_are_made() -> None:
    assert changed("time.duration=2").time.duration == 2
    assert changed("record.velocities=true").record.velocities is True
    assert changed("title=A new one").title == "A new one"


def test_a_name_makes_room_for_more() -> None:
    given = changed(
        "bodies.cube.material.young=1 MPa", text=SCENE.replace("[[act", 'material = "foam"\n[[act', 1)
    )
    assert (given.bodies[0].material.preset, given.bodies[0].material.young) == ("foam", 1e6)
    default = changed("bodies.cube.material.young=1 MPa").bodies[0].material
    assert (default.preset, default.young) == ("rubber", 1e6)
    assert changed("bodies.cube.model.stiffness=10").bodies[0].model.stiffness == 10


def test_later_changes_win() -> None:
    assert changed("time.fps=10", "time.fps=20").time.fps == 20


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.02", 0.02),
        ("true", True),
        ("[1, 2]", [1, 2]),
        ('{ preset = "foam" }', {"preset": "foam"}),
        ("3 MPa", "3 MPa"),
        ('"3"', "3"),
        (" rubber ", "rubber"),
        ("1\nx = 2", "1\nx = 2"),
        ("", ""),
    ],
)
def test_values_are_toml_or_else_text(text: str, value: Any) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("bodies.cub.edge=1", "--set bodies.cub.edge=1: bodies has no 'cub'; did you mean 'cube'?"),
        ("bodies.5.edge=1", "--set bodies.5.edge=1: bodies has 1 entries, counted from 0"),
        ("actions.gravty.x=1", "--set actions.gravty.x=1: actions has no 'gravty'; did you mean 'gravity'?"),
        ("schema.x=1", "--set schema.x=1: schema is a single value and has no 'x'"),
        ("time", "--set time: expected key=value"),
        ("=3", "--set =3: expected key=value"),
        ("bodies.cube.edge=abc", "beam.toml, --set bodies.cube.edge=abc: bodies[0].edge: expected a number"),
        (
            "bodies.cube.egde=1",
            "beam.toml, --set bodies.cube.egde=1: bodies[0].egde: unknown key; did you mean",
        ),
        ("tiem.duration=1", "beam.toml, --set tiem.duration=1: tiem: unknown key; did you mean 'time'?"),
        ("time.duration=nan", "beam.toml, --set time.duration=nan: time.duration: expected a finite number"),
        ("bodies.cube=3", "beam.toml, --set bodies.cube=3: bodies[0]: expected a table, got 3"),
    ],
)
def test_a_change_that_cannot_be_is_told_with_what_was_typed(assignment: str, message: str) -> None:
    with pytest.raises(SceneError) as caught:
        changed(assignment)
    assert message in str(caught.value)


def test_a_type_that_is_there_twice_must_be_told_apart() -> None:
    text = SCENE + ACTION.format("gravity")
    with pytest.raises(SceneError, match=r"several with type 'gravity' Say which by number: 0 or 2\."):
        changed("actions.gravity.acceleration=5", text=text)


def test_problems_elsewhere_keep_their_line() -> None:
    with pytest.raises(SceneError, match=r"beam.toml:5: bodies\[0\].scale: must be greater than 0"):
        changed("time.fps=10", text=BODY + "scale = 0\n")
