"""What commands say about models and examples."""

import json
from pathlib import Path

import pytest

from pliant.cli.main import run
from pliant.models import MODELS


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
