"""The gallery: pictures of the present scenes, small movies, tags and costs, and its pages."""

import runpy
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from pliant import examples

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    """The names of ``docs/gallery_record.py``."""
    return runpy.run_path(str(DOCS / "gallery_record.py"))


@pytest.fixture(scope="module")
def gallery() -> dict[str, Any]:
    """The names of ``docs/make_gallery.py``."""
    sys.path.insert(0, str(DOCS))
    try:
        return runpy.run_path(str(DOCS / "make_gallery.py"))
    finally:
        sys.path.remove(str(DOCS))


@pytest.mark.filterwarnings("default")
def test_pictures_are_of_the_present_scenes(record: dict[str, Any]) -> None:
    """A picture whose scene file or mesh has changed since is an error; where only the code of its models
    has, a warning asks to look."""
    changed, unsure = record["outdated"]()
    drawn = record["read"]()
    assert [name for name in changed if name in drawn] == [], "run python docs/make_gallery.py"
    if unsure:
        warnings.warn(f"models changed since these were drawn: {', '.join(unsure)}", stacklevel=1)


def test_a_changed_scene_or_model_is_noticed(record: dict[str, Any]) -> None:
    entry, other = record["entry_of"]("hello"), record["entry_of"]("poke")
    assert entry.scene != other.scene
    assert record["code_digest"](("fem",)) != record["code_digest"](("lattice",))


def test_tags_say_what_a_scene_is_about(record: dict[str, Any]) -> None:
    tags = {name: record["tags_of"](record["table_of"](name)) for name in examples.names()}
    assert "fracture" in tags["break-goblet"]
    assert "cutting" in tags["cut-loaf"]
    assert {"mesh file", "implicit", "contact"} <= set(tags["own-mesh"])
    assert sum(not each for each in tags.values()) < 8


def test_entries_have_costs_a_picture_and_a_small_movie(record: dict[str, Any]) -> None:
    for name, entry in record["read"]().items():
        assert entry.particles > 0, name
        assert entry.cpu > 0, name
        assert entry.memory > 50, name
        assert len(entry.commit) >= 10, name
        assert (DOCS / "pictures" / f"{name}.jpg").stat().st_size > 5000, name
        assert 1000 < (DOCS / "pictures/movies" / f"{name}.mp4").stat().st_size < 300_000, name


def test_a_scene_that_fails_is_named_and_leaves_the_record_alone(tmp_path: Path) -> None:
    before = (DOCS / "gallery.json").read_bytes()
    command = [
        sys.executable,
        str(DOCS / "make_gallery.py"),
        "--runs",
        str(tmp_path),
        "no-such-scene",
        "nor-this",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert sorted(line.split(":")[0] for line in done.stderr.splitlines()) == ["no-such-scene", "nor-this"]
    assert (DOCS / "gallery.json").read_bytes() == before


def test_the_pages_are_those_of_the_record(record: dict[str, Any], gallery: dict[str, Any]) -> None:
    entries = record["read"]()
    assert (DOCS / "gallery.md").read_text(encoding="utf-8") == gallery["gallery_page"](entries)
    page = (DOCS / "flagships.md").read_text(encoding="utf-8")
    for name in record["flagships"]():
        block = gallery["flagship_block"](name, entries)
        assert block in page
        drawn = f"![{record['table_of'](name)['title']}](pictures/{name}.jpg)" in block
        assert drawn == (name in entries)
