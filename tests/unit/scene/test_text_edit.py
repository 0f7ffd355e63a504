"""Scene files that the studio saves: comments and order of what did not change stay."""

import copy
import tomllib

import pytest

from pliant import examples
from pliant.scene.text_edit import edited_text

pytest.importorskip("tomlkit")

SCENE = """# Two blocks.
schema = 1
title = "Blocks"   # as the window shows it

[time]
duration = "2 s"   # long enough
fps = 25

# The lower one.
[[bodies]]
name = "low"
material = { preset = "rubber", young = "3 MPa" }  # soft
keys = [
    1.0,  # first
    2.0,
]

# The upper one.
[[bodies]]
name = "high"
[bodies.material]
preset = "steel"   # hard

[[actions]]        # pulls down
type = "gravity"

# It stops them.
[[actions]]
type = "ground"
level = 0.0        # of the table
"""


def test_an_unchanged_scene_keeps_its_bytes() -> None:
    for text in (SCENE, *(examples.text(name) for name in examples.names())):
        assert edited_text(text, tomllib.loads(text)) == text


def test_one_value_changes_one_line() -> None:
    table = tomllib.loads(SCENE)
    table["bodies"][0]["material"]["young"] = "5 MPa"
    assert edited_text(SCENE, table) == SCENE.replace("3 MPa", "5 MPa")
    table = tomllib.loads(SCENE)
    table["bodies"][1]["material"]["preset"] = "rubber"
    assert edited_text(SCENE, table) == SCENE.replace('"steel"', '"rubber"')
    table = tomllib.loads(SCENE)
    table["bodies"][0]["keys"][1] = 3.0
    assert edited_text(SCENE, table) == SCENE.replace("2.0", "3.0")
    table = tomllib.loads(SCENE)
    table["title"] = 'A "name"'
    assert edited_text(SCENE, table) == SCENE.replace('"Blocks"', '"A \\"name\\""')


def test_what_is_removed_takes_its_own_comments() -> None:
    table = tomllib.loads(SCENE)
    del table["actions"][0]
    found = edited_text(SCENE, table)
    assert "pulls down" not in found
    assert "# It stops them.\n[[actions]]" in found
    del table["actions"]
    found = edited_text(SCENE, table)
    assert "It stops them" not in found
    assert "# The upper one.\n[[bodies]]" in found


def test_what_is_new_comes_after_its_kind() -> None:
    table = tomllib.loads(SCENE)
    table["bodies"].append({"name": "third"})
    table["actions"].insert(0, {"type": "damping", "rate": 2.0})
    table["measures"] = [{"type": "volume"}]
    table["camera"] = {"distance": 2.0}
    table["time"]["step"] = "auto"
    found = edited_text(SCENE, table)
    assert tomllib.loads(found) == table
    places = [found.index(f'"{name}"') for name in ("third", "damping", "gravity", "volume")]
    assert places == sorted(places)
    for line in SCENE.splitlines():
        assert line in found.splitlines(), line


def test_edits_of_shipped_scenes_say_what_the_tables_have() -> None:
    """Every entry of every family changed, removed and doubled, one at a time."""
    for name in ("hello", "own-mesh", "everts-twist", "elements-wall", "multires-organ", "wind"):
        text = examples.text(name)
        before = tomllib.loads(text)
        for family in ("bodies", "actions", "measures"):
            for k in range(len(before.get(family, []))):
                for change in ("new key", "remove", "double"):
                    table = copy.deepcopy(before)
                    if change == "new key":
                        table[family][k]["later"] = {"at": [1, 2.5, "3 s"]}
                    elif change == "remove":
                        del table[family][k]
                    else:
                        table[family].insert(k, copy.deepcopy(table[family][k]))
                    found = edited_text(text, table)
                    wanted = {key: value for key, value in table.items() if value or key not in before}
                    assert tomllib.loads(found) == {k: v for k, v in wanted.items() if v != []}
                    if change == "new key" and "#" in text:
                        assert found.count("#") == text.count("#"), name
