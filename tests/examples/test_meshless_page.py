"""The page about meshless bodies says what is there."""

import re
from pathlib import Path

from pliant import examples
from pliant.scene import Scene
from pliant.scene.load import parse

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "meshless.md").read_text(encoding="utf-8")


def test_every_scene_named_exists() -> None:
    named = set(re.findall(r"`(stegmayr-[a-z-]+|dough-pull|jelly-tear|chocolate-snap|plate-shatter)`", PAGE))
    assert named <= set(examples.names())
    assert named >= {name for name in examples.names() if name.startswith("stegmayr-")}


def test_every_picture_is_there_and_small() -> None:
    for name in re.findall(r"\]\((pictures/[a-z-]+\.(?:png|jpg))\)", PAGE):
        assert (DOCS / name).stat().st_size < 150_000, name


def test_every_model_line_is_valid() -> None:
    block = re.findall(r"^```toml fragment[^\n]*\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[0]
    for line in block.splitlines():
        text = f"schema = 1\n[[bodies]]\nshape = {{ box = {{ size = [1, 1, 1] }} }}\n{line}"
        assert isinstance(parse(text), Scene)
