"""Comparisons of models on one scene: figures, messages, files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pliant.cli.main import run as command
from pliant.core.errors import InputError
from pliant.models import deforming
from pliant.scene.load import parse
from pliant.validation import study
from pliant.validation.compare import refined, variations
from pliant.validation.comparison_run import error_against
from pliant.validation.study import SHOWN

SCENE = """
schema = 1
title = "A small block falls"
[time]
duration = 0.1
fps = 50
[[bodies]]
name = "block"
shape = { box = { size = [0.2, 0.1, 0.1], divisions = [2, 1, 1] } }
material = { young = 1e5, poisson = 0.3, density = 1000 }
[[actions]]
type = "gravity"
"""


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    (folder / "fall.toml").write_text(SCENE)
    out = folder / "out"
    words = ["compare", str(folder / "fall.toml"), "--models", "mass-spring,fem", "-o", str(out)]
    assert command([*words, "--no-pictures", "--quiet"]) == 0
    assert command([*words, "--no-pictures", "--quiet"]) == 2  # it is there already
    return out


def test_free_fall_is_the_same_for_all_models(compared: Path) -> None:
    found = json.loads((compared / "compare.json").read_text())
    assert [entry["label"] for entry in found["attempts"]] == ["mass-spring", "fem"]
    for entry in found["attempts"]:
        assert entry["state"] == "done"
        assert entry["error"] < 1e-9
        assert entry["volume_change"] < 1e-9
        assert entry["energy_drift"] < 1e-9
        assert entry["particles"] == 12
        assert 0.0 < entry["stable_step"] < 0.1
        assert entry["memory"] > 20.0
        assert entry["wall"] > 0.0
    assert found["reference"] == "fem at half the edge length, 45 particles"


def test_the_page_holds_everything_in_itself(compared: Path) -> None:
    text = (compared / "index.html").read_text()
    assert "A small block falls" in text
    assert "mass-spring" in text
    assert "http" not in text.replace("http-equiv", "")


def test_errors_are_distances_over_the_largest_displacement(tmp_path: Path) -> None:
    scene = parse(SCENE, tmp_path, "scene")
    slow = parse(SCENE.replace('"gravity"', '"gravity"\nacceleration = 4.905'), tmp_path, "scene")
    run, other = scene.run(to=tmp_path / "a.pliant"), slow.run(to=tmp_path / "b.pliant")
    # falls d and d / 2: apart by d / 2 at the end; t^2 at six frames, root mean square over (0.2 .. 1)^2
    expected = np.sqrt(np.mean((np.arange(6) / 5.0) ** 4)) / 2.0
    assert error_against(other, run) == pytest.approx(expected, rel=1e-6)
    assert error_against(run, run) < 1e-12


def test_resolutions_and_names(tmp_path: Path) -> None:
    scene = parse(SCENE, tmp_path, "scene")
    assert refined(scene, 0.5) == ["bodies.block.shape.box.divisions=[4, 2, 2]"]
    assert len(variations(None, ["leapfrog", "verlet"], [2.0, 1.0])) == 4 * len(deforming())
    with pytest.raises(InputError, match="no model 'fe'; did you mean 'fem'"):
        variations(["fe"], [], [])


def test_the_page_of_the_study_has_every_model_in_every_table() -> None:
    """And its scenes in their order; ``docs/make_study.py`` fills the marks."""
    page = (Path(__file__).resolve().parents[3] / "docs" / "study.md").read_text(encoding="utf-8")
    for key in SHOWN:
        table = page.partition(f"<!-- {key} -->\n")[2].partition("<!-- end -->")[0].splitlines()
        head = [cell.strip() for cell in table[0].strip("|").split("|")]
        assert head == ["scene", *deforming()]
        scenes = [line.strip("| ").split()[0] for line in table[2:]]
        assert scenes == [name for name in study.NAMES if name in scenes]
        assert all(f"pictures/study-{name}.jpg" in page for name in scenes)
    assert all(f"<!-- picture {name} -->" in page for name in study.NAMES)


@pytest.mark.parametrize("name", study.NAMES)
def test_the_scenes_of_the_study_are_valid(name: str, tmp_path: Path) -> None:
    scene = parse(study.text(name), tmp_path, name)
    assert scene.title
    assert refined(scene, 0.5)


def test_a_model_that_refuses_is_told_and_the_others_go_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "low.toml").write_text(SCENE.replace("0.3", "0.1"))
    words = ["compare", str(tmp_path / "low.toml"), "--models", "mass-spring,fem", "-o", str(tmp_path / "o")]
    assert command([*words, "--no-pictures", "--json"]) == 0
    found: Any = json.loads(capfd.readouterr().out)
    states = {entry["label"]: entry["state"] for entry in found["attempts"]}
    assert states == {"mass-spring": "refused", "fem": "done"}
    assert "poisson" in found["attempts"][0]["message"].lower()
