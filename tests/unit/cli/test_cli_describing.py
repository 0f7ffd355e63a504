"""What commands say about models and examples."""

import inspect
import json
import re
from pathlib import Path

import pytest

from pliant.cli.main import run
from pliant.core.text import readable
from pliant.models import MODELS
from pliant.validation.citations import PLIANT, library


@pytest.mark.parametrize("model", ["mass-spring", "fem", "rigid"])
def test_a_model_lists_the_fields_its_bodies_have(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert model in MODELS
    assert run(["info", "--model", model, "--json"]) == 0
    fields = json.loads(capsys.readouterr().out)["fields"]
    assert {"displacement", "velocity"} <= set(fields)
    assert ({"force", "strain", "stress"} <= set(fields)) == (model != "rigid")


def test_an_example_as_json_and_copied_over_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["examples", "hello", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["name"] == "hello"
    place = tmp_path / "mine.toml"
    place.write_text("something else")
    assert run(["examples", "hello", "--copy", str(place)]) == 2
    assert place.read_text() == "something else"
    capsys.readouterr()
    assert run(["examples", "hello", "--copy", str(place), "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"name": "hello", "path": str(place)}
    assert place.read_text() == told["scene"]


@pytest.mark.parametrize("model", sorted(set(MODELS)))
def test_the_words_about_a_model_have_no_markup(model: str) -> None:
    text = readable(inspect.cleandoc(MODELS[model].__doc__ or ""))
    assert not re.search(r"``|:\w+:`|\]_|\\\w", text), text


def test_parameters_are_called_as_scenes_spell_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["info", "--model", "fem", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "law-parameters" in [each["name"] for each in found["parameters"]]
    assert "law-parameters" in found["about"]
    assert "law_parameters" not in found["about"]


def test_formulas_are_written_as_one_reads_them() -> None:
    tex = r"a tet: :math:`\tfrac12 (\lambda - \mu) V (J - 1)^2` and :math:`1.5\,\mu a` of ``k`` [Everts2006]_"
    assert readable(tex) == "a tet: 1/2 (λ - μ) V (J - 1)² and 1.5 μ a of k [Everts2006]"


REQUIRED = {
    "article": ("journal", "volume"),
    "book": ("publisher",),
    "inproceedings": ("booktitle",),
    "misc": ("howpublished",),
    "software": ("version", "license"),
    "unpublished": ("note",),
}


@pytest.mark.parametrize("entry", [PLIANT, *library().values()])
def test_entries_for_citing_are_complete(entry: str) -> None:
    """All that BibTeX asks for, in one line with closed braces."""
    kind = entry[1 : entry.index("{")]
    for name in ("author", "title", "year", *REQUIRED[kind]):
        assert re.search(rf"\b{name} = \{{[^}}]", entry), (name, entry)
    assert entry.count("{") == entry.count("}")
