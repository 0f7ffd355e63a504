"""Names of version 0.1 keep working: in scenes, on the command line and in Python."""

from pathlib import Path

import pytest

import pliant as pl
from pliant.models import MODELS
from pliant.scene.load import parse
from pliant.scene.to_toml import to_toml

SCENE = """
schema = 1
[time]
duration = 0.02
fps = 50
[[bodies]]
shape = { box = { size = [0.2, 0.2, 0.2] } }
edge = 0.1
model = MODEL
material = "rubber"
"""


@pytest.mark.parametrize("model", ['"elements"', '{ type = "elements", rule = "calibrated" }'])
def test_scenes_may_call_the_lattice_model_elements(model: str) -> None:
    scene = parse(SCENE.replace("MODEL", model))
    assert scene.bodies[0].model.kind == "lattice"
    assert 'type = "lattice"' in to_toml(scene) or 'model = "lattice"' in to_toml(scene)
    assert parse(to_toml(scene)).bodies == scene.bodies


def test_the_model_of_a_run_may_be_given_by_its_former_name(tmp_path: Path) -> None:
    from pliant.cli.main import run

    (tmp_path / "scene.toml").write_text(SCENE.replace("MODEL", '"mass-spring"'))
    out = tmp_path / "out.pliant"
    assert run(["run", str(tmp_path / "scene.toml"), "-o", str(out), "--model", "elements"]) == 0
    assert pl.load(out).bodies[0].model == "lattice"


def test_former_python_names_are_the_present_ones() -> None:
    assert pl.models.Elements is pl.models.Lattice is MODELS["elements"]
    assert pl.TimePlan is pl.TimeSettings  # type: ignore[attr-defined]
    assert pl.Record is pl.RecordSettings  # type: ignore[attr-defined]
    assert pl.measures.FluxMeasure is pl.Flux
    assert "elements" in MODELS
    assert "elements" not in list(MODELS)
