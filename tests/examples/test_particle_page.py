"""The page about particle models says what is there."""

import re
from pathlib import Path

from pliant import examples
from pliant.scene import Scene
from pliant.scene.load import parse

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "particle-models.md").read_text(encoding="utf-8")


def test_every_scene_named_exists_and_every_scene_is_named() -> None:
    named = set(re.findall(r"`(everts-[a-z-]+)`", PAGE))
    assert named == {name for name in examples.names() if name.startswith("everts-")}


def test_every_picture_is_there_and_small() -> None:
    for name in re.findall(r"\]\((pictures/[a-z-]+\.png)\)", PAGE):
        assert (DOCS / name).stat().st_size < 200_000, name


def test_every_model_line_is_valid() -> None:
    (block,) = re.findall(r"^```toml fragment[^\n]*\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    for line in block.splitlines():
        text = f"schema = 1\n[[bodies]]\nshape = {{ box = {{ size = [1, 1, 1] }} }}\n{line}"
        assert isinstance(parse(text), Scene)
