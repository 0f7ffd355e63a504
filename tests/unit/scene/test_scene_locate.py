"""Lines of entries, held against texts whose lines are plain to see."""

import tomllib
from typing import Any

import pytest

from pliant import examples
from pliant.core.validation_messages import spelled
from pliant.scene.toml_lines import line_of, lines_of

TEXT = """\
# a comment with [brackets] and = signs
schema = 1
title = "a [bodies] = 'b' # c"   # d

[time]
duration = 1.6
"quoted key" = 2

[[bodies]]
name = 'one'
shape = { box = { size = [
    1.0,  # a ] in a comment
    2.0,
    3.0,
] } }
material.young = 3
material.density = 4
[bodies.rotation]
axis = "x"

[[bodies]]
text = \"\"\"
[[bodies]]
name = "not me"
\"\"\"
after = 1
[[bodies.material.regions]]
region = 1
[[bodies.material.regions]]
region = 2

[[actions]]
keys = [ { time = 0.0, value = [0, 0, 0] },
         { time = 0.5, value = [0, 0, 50] } ]
late = 2024-01-01T00:00:00
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("schema",), 2),
        (("title",), 3),
        (("time",), 5),
        (("time", "duration"), 6),
        (("time", "quoted key"), 7),
        (("bodies", 0), 9),
        (("bodies", 0, "name"), 10),
        (("bodies", 0, "shape", "box", "size"), 11),
        (("bodies", 0, "shape", "box", "size", 1), 13),
        (("bodies", 0, "material"), 16),
        (("bodies", 0, "material", "density"), 17),
        (("bodies", 0, "rotation", "axis"), 19),
        (("bodies", 1), 21),
        (("bodies", 1, "after"), 26),
        (("bodies", 1, "material", "regions", 0, "region"), 28),
        (("bodies", 1, "material", "regions", 1, "region"), 30),
        (("actions", 0, "keys", 0, "value", 2), 33),
        (("actions", 0, "keys", 1, "time"), 34),
        (("actions", 0, "late"), 35),
    ],
)
def test_every_kind_of_entry_is_found_on_its_line(path: tuple[str | int, ...], line: int) -> None:
    assert line_of(lines_of(TEXT), path) == line


def test_an_entry_that_is_not_there_has_the_line_of_what_surrounds_it() -> None:
    lines = lines_of(TEXT)
    assert line_of(lines, ("bodies", 0, "shape", "box", "divisions")) == 11
    assert line_of(lines, ("bodies", 1, "model")) == 21
    assert line_of(lines, ("record",)) is None


def _paths(value: Any, at: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    return {at} | {path for key, inner in entries for path in _paths(inner, (*at, key))}


@pytest.mark.parametrize("text", [TEXT, *map(examples.text, examples.names())])
def test_the_scanner_finds_exactly_the_entries_that_the_parser_finds(text: str) -> None:
    assert set(lines_of(text)) | {()} == _paths(tomllib.loads(text))


def test_absurd_nesting_gives_no_lines_instead_of_a_crash() -> None:
    assert lines_of("a = " + "[" * 100_000 + "]" * 100_000) == {}


def test_paths_are_spelled_as_messages_show_them() -> None:
    assert spelled(("bodies", 0, "shape", "box", "size", 2)) == "bodies[0].shape.box.size[2]"
