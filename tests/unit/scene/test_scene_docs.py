"""The pages about scenes and commands say what is true."""

import re
from pathlib import Path

import numpy as np
import pytest

from pliant.actions import ACTIONS
from pliant.cli.main import VERBS
from pliant.integrators import INTEGRATORS
from pliant.materials import Material
from pliant.measures import MEASURES
from pliant.mesh.shapes import SHAPES
from pliant.scene import Body, Scene
from pliant.scene.load import parse
from pliant.scene.schema import SceneFile, keys_of

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = (DOCS / "scene-files.md").read_text(encoding="utf-8")
COMPLETE = re.findall(r"^```toml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
FRAGMENTS = re.findall(r"^```toml fragment[^\n]*\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_every_block_is_complete_or_marked() -> None:
    assert len(COMPLETE) >= 2
    assert PAGE.count("```toml") == len(COMPLETE) + len(FRAGMENTS)


@pytest.mark.parametrize("text", COMPLETE, ids=range(len(COMPLETE)))
def test_complete_scenes_are_scenes(text: str) -> None:
    assert isinstance(parse(text, None, "scene-files.md"), Scene)


def test_the_last_one_runs_and_stays_bounded() -> None:
    simulation = parse(COMPLETE[-1]).simulation()
    simulation.start()
    for _ in range(3):
        simulation.advance()
    x = simulation.system.world.x
    assert np.isfinite(x).all()
    assert np.abs(x).max() < 0.3


@pytest.mark.parametrize("line", [line for text in FRAGMENTS for line in text.splitlines()])
def test_fragments_are_valid_where_they_belong(line: str) -> None:
    body = "schema = 1\n[[bodies]]\nshape = { box = { size = [1, 1, 1] } }\n"
    owner = '[[actions]]\ntype = "gravity"\n' if line.startswith("acceleration") else ""
    assert isinstance(parse(body + owner + line), Scene)


def row(name: str) -> str:
    """The table row or sentence about ``name``."""
    found = re.search(rf"^\| `{re.escape(name)}`.*$", PAGE, re.MULTILINE)
    assert found, f"nothing about {name}"
    return found[0]


@pytest.mark.parametrize("family", [ACTIONS, MEASURES])
def test_every_action_and_measure_is_listed_with_its_keys(family: dict[str, type]) -> None:
    common = {"from", "until", "late", "every", "name"}
    optional = {"gain", "compliance", "sweeps", "step"}  # for the record, or beside another key
    for name, cls in family.items():
        text = row(name)
        for key in keys_of(cls):
            if key in common | optional or (key == "body" and "select" in keys_of(cls)):
                continue
            assert f"`{key}" in text, f"{name}: {key}"
        main = getattr(cls, "main", None)
        assert main is None or f"`{main}`*" in text, f"{name}: {main} is the main one"


def test_shapes_materials_bodies_integrators_and_the_top_are_listed() -> None:
    for name, cls in SHAPES.items():
        listed = re.search(rf"`{name} {{([^}}]*)}}`", PAGE)
        assert listed, name
        assert set(re.split(r",\s*", listed[1])) == set(keys_of(cls)), name
    keys = [*keys_of(Material), *keys_of(Body), *keys_of(SceneFile), *INTEGRATORS]
    missing = [key for key in keys if f"`{key}`" not in PAGE and f"`[{key}]`" not in PAGE]
    assert [key for key in missing if key not in ("bodies", "actions", "measures")] == []


def test_every_command_is_listed() -> None:
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    for verb in VERBS:
        assert re.search(rf"^\| `{verb}\b", page, re.MULTILINE), verb
