"""The JSON Schema of scene files, held against an independent validator."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pliant import examples
from pliant.core.errors import PliantError
from pliant.core.parameters import _KNOWN
from pliant.mesh.shapes import SHAPES
from pliant.scene.json_schema import scene_schema
from pliant.scene.key_meanings import SHARED, meanings
from pliant.scene.load import parse

jsonschema = pytest.importorskip("jsonschema")

SCENE = """\
schema = 1
title = "A beam"
up = "z"
[time]
duration = 1.0
fps = 50
step = "auto"
integrator = "leapfrog"
[contact]
between = true
[[bodies]]
name = "beam"
shape = { box = { size = [2.0, 0.2, 0.2], divisions = [10, 2, 2] } }
model = { type = "fem", law = "neo-hookean" }
material = { preset = "rubber", young = "3 MPa" }
position = [0, 0, 1]
rotation = { axis = "z", degrees = 30 }
[[actions]]
type = "gravity"
[[actions]]
type = "fix"
axes = "xy"
select = { body = "beam", plane = { axis = "x", at = "min" } }
[[actions]]
type = "force"
select = { all = true }
keys = [{ time = 0, value = [0, 0, 0] }, { time = 1, value = [0, 0, 5] }]
[[measures]]
type = "probe"
name = "tip"
select = { body = "beam", plane = { axis = "x", at = "max" } }
"""
BROKEN = [  # (what stands in the scene, what takes its place)
    ("schema = 1", "schema = 2"),
    ("schema = 1", "schema = '1'"),
    ("schema = 1\n", ""),
    ('title = "A beam"', "title = 3"),
    ('up = "z"', 'up = "w"'),
    ('up = "z"', "updown = 1"),
    ("duration = 1.0", "duration = 0"),
    ("duration = 1.0", "duration = -1"),
    ("duration = 1.0", "duration = [1]"),
    ("duration = 1.0", "durations = 1"),
    ("fps = 50", "fps = true"),
    ("fps = 50", "fps = -50"),
    ('step = "auto"', "step = {}"),
    ('"leapfrog"', '"leap-frog"'),
    ('"leapfrog"', "3"),
    ('"leapfrog"', '{ type = "leapfrog", steps = 2 }'),
    ('"leapfrog"', '{ type = "static", tolerance = 0 }'),
    ("between = true", "betwen = true"),
    ("between = true", "stiffness = 5"),
    ('name = "beam"\n', "name = 5\n"),
    ('name = "beam"\n', 'name = "a beam"\n'),
    ('name = "beam"\n', 'nam = "beam"\n'),
    ("{ box = {", "{ bocks = {"),
    ("size = [2.0, 0.2, 0.2]", "size = [2.0, 0.2]"),
    ("size = [2.0, 0.2, 0.2]", "size = 2"),
    ("size = [2.0, 0.2, 0.2], ", ""),
    ("divisions = [10, 2, 2]", 'divisions = ["a", 2, 2]'),
    ("divisions = [10, 2, 2]", "divisons = [10, 2, 2]"),
    ("divisions = [10, 2, 2]", 'divisions = [10, 2, 2], split = "random"'),
    ('type = "fem"', 'type = "fme"'),
    ('type = "fem", ', ""),
    ('law = "neo-hookean"', 'law = "hook"'),
    ('law = "neo-hookean"', 'elements = "cubic"'),
    ('law = "neo-hookean"', "fracture = 3"),
    ('preset = "rubber"', 'preset = "rubbr"'),
    ('young = "3 MPa"', "young = [3e6]"),
    ('young = "3 MPa"', "yong = 3e6"),
    ("position = [0, 0, 1]", "position = [0, 0]"),
    ("position = [0, 0, 1]", "position = 1"),
    ("position = [0, 0, 1]", "scale = 0"),
    ('axis = "z", degrees', 'axis = "q", degrees'),
    ('type = "gravity"', 'type = "gravitation"'),
    ('type = "gravity"', 'type = "gravity"\nacceleration = true'),
    ('type = "gravity"', 'type = "gravity"\naceleration = 5'),
    ('type = "gravity"', "acceleration = 5"),
    ('type = "gravity"', 'type = "gravity"\nfrom = -1'),
    ('axis = "x", at = "min"', 'axis = "x", at = true'),
    ('axis = "x", at = "min"', 'axis = "u", at = "min"'),
    ('axis = "x", at = "max"', "axis = 1, at = 0.5"),
    ("{ all = true }", "{ all = true, ids = 3 }"),
    ("value = [0, 0, 5] }", "value = 5 }"),
    ("value = [0, 0, 5] }", "value = [0, 0, 5], eas = 1 }"),
    ('type = "probe"', 'type = "prob"'),
    ('type = "probe"', 'type = "probe"\nwhat = "speed"'),
]


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = json.loads(json.dumps(scene_schema()))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", examples.names())
def test_shipped_scenes_are_valid(validator: Any, name: str) -> None:
    validator.validate(tomllib.loads(examples.text(name)))


def test_a_scene_with_much_in_it_is_valid(validator: Any) -> None:
    parse(SCENE)
    validator.validate(tomllib.loads(SCENE))


@pytest.mark.parametrize(("good", "bad"), BROKEN)
def test_broken_scenes_are_refused(validator: Any, good: str, bad: str) -> None:
    assert SCENE.count(good) >= 1
    text = SCENE.replace(good, bad, 1)
    assert not validator.is_valid(tomllib.loads(text))
    with pytest.raises(PliantError):
        parse(text)


def test_there_are_fifty_broken_scenes() -> None:
    assert len(BROKEN) >= 50


def test_keys_have_descriptions_units_and_defaults() -> None:
    schema = scene_schema()
    time = schema["properties"]["time"]["properties"]
    assert (time["duration"]["description"], time["duration"]["default"]) == ("[s] simulated time", 1.0)
    actions = schema["properties"]["actions"]["items"]["oneOf"]
    (gravity,) = [each for each in actions if each["properties"]["type"]["enum"] == ["gravity"]]
    assert gravity["description"].startswith("Weight of every particle")
    acceleration = gravity["properties"]["acceleration"]
    assert acceleration["description"].startswith("[m/s2] magnitude, in the direction opposite to up")
    assert acceleration["default"] == 9.81


def keys_in(schema: Any, at: str = "scene") -> Iterator[tuple[str, Any]]:
    """(place, schema) of every key of every table."""
    transparent = ("properties", "items", "anyOf", "oneOf")
    if isinstance(schema, dict):
        told = isinstance(schema.get("properties"), dict) and "keys" not in schema.get("required", ())
        for name, inner in schema["properties"].items() if told else ():
            yield f"{at}.{name}", inner
        for name, inner in schema.items():
            yield from keys_in(inner, at if name in transparent else f"{at}.{name}")
    elif isinstance(schema, list):
        for inner in schema:
            yield from keys_in(inner, at)


CHOICES = {
    "type",
    "keys",
    "ease",
    "time",
    "value",
    *SHAPES,
}  # of unions and keyed values: their words are the class's


def test_every_key_has_a_meaning() -> None:
    found = list(keys_in(scene_schema()))
    assert len(found) > 300
    silent = {
        place
        for place, schema in found
        if place.split(".")[-1] not in CHOICES
        and not re.sub(r"^\[[^]]*\] ?", "", schema.get("description", ""))
    }
    assert not silent


def test_every_shared_meaning_is_used() -> None:
    used = {text for classes in _KNOWN.values() for cls in classes for text in meanings(cls).values()}
    assert not set(SHARED.values()) - used


def test_a_new_scene_names_the_schema(tmp_path: Path) -> None:
    from pliant.cli.main import run

    assert run(["new", str(tmp_path / "beam")]) == 0
    assert (tmp_path / "beam.toml").read_text().startswith("#:schema pliant.schema.json\n")
    assert run(["schema", "-o", str(tmp_path / "deep/pliant.schema.json")]) == 0
    assert json.loads((tmp_path / "deep/pliant.schema.json").read_text())["title"] == "pliant scene"
