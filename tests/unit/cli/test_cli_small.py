"""new, examples, check, info, doctor, validate, bench."""

import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import Pliant

import pliant as pl
from pliant import examples
from pliant.materials import presets


def test_a_new_scene_is_valid_and_nothing_is_overwritten(pliant: Pliant, folder: Path) -> None:
    result = pliant("new", "my-beam")
    assert (result.code, result.err) == (0, "")
    assert result.out == "my-beam.toml written; next: pliant run my-beam.toml\n"
    text = (folder / "my-beam.toml").read_text()
    assert pl.read("my-beam.toml").title == "My beam"
    assert "pliant run my-beam.toml" in text
    again = pliant("new", "my-beam.toml")
    assert again.code == 2
    assert "my-beam.toml exists already" in again.err
    assert (folder / "my-beam.toml").read_text() == text
    assert pliant("run", "my-beam.toml", "-q", "--duration", "0.02").code == 0


def test_odd_names_make_scenes_too(pliant: Pliant) -> None:
    assert pliant("new", 'a "b" {c}').code == 0
    assert pl.read('a "b" {c}.toml').title == 'A "b" {c}'
    assert pliant("new", "two words").out.endswith("next: pliant run 'two words.toml'\n")
    for nothing in ("", ".toml"):
        assert pliant("new", nothing).code == 2


def test_examples_are_listed_shown_copied_and_run(pliant: Pliant, folder: Path) -> None:
    listed = pliant("examples", "--json").json
    assert [entry["name"] for entry in listed] == examples.names()
    assert all(entry["title"] for entry in listed)
    assert all(name in pliant("examples").out for name in examples.names())
    assert pliant("examples", "poke").out == examples.text("poke")
    assert pliant("examples", "poke", "--copy", ".").code == 0
    assert (folder / "poke.toml").read_text() == examples.text("poke")
    again = pliant("examples", "poke", "--copy", "poke.toml")
    assert again.code == 2
    assert "exists already" in again.err
    unknown = pliant("examples", "pkoe")
    assert unknown.code == 2
    assert "There is no example 'pkoe'; did you mean 'poke'?" in unknown.err
    assert pliant("examples", "--run").code == 2
    ran = pliant("examples", "squeeze-cube", "--run", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["state"] == "done"
    volume = pl.load("squeeze-cube.pliant").series["volume"]
    assert volume == pytest.approx(1.0, abs=1e-6)  # the constraint's own tolerance
    side = pl.load("squeeze-cube.pliant").series["side.y"][-1]
    assert 0.03 < side < 0.15  # it bulges


def test_check_reports_for_people_and_machines(pliant: Pliant, scene: Path, folder: Path) -> None:
    before = sorted(folder.iterdir())
    result = pliant("check", str(scene), "--set", "actions.gravity.from=5")
    assert (result.code, result.err) == (0, "")
    assert "A small cube falls" in result.out
    assert "warning: action 1 ('gravity') starts at 5 s, after the end at 0.1 s" in result.out
    found = pliant("check", str(scene), "--json").json
    assert (found["frames"], found["bodies"][0]["mass"]) == (6, pytest.approx(1200))
    (locking,) = found["warnings"]  # springs of rubber
    assert "lock" in locking
    assert sorted(folder.iterdir()) == before


def test_info_of_a_scene_a_mesh_a_model_and_a_material(pliant: Pliant, scene: Path, folder: Path) -> None:
    found = pliant("info", str(scene), "--json").json
    assert (found["title"], found["time"]["frames"], found["actions"]) == (
        "A small cube falls",
        6,
        ["gravity"],
    )
    assert "cube  box" in pliant("info", str(scene)).out
    (folder / "one.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
    )
    mesh = pliant("info", "one.obj", "--json").json
    assert (mesh["kind"], mesh["triangles"], mesh["closed"]) == ("surface", 4, True)
    assert mesh["volume"] == pytest.approx(1 / 6)
    model = pliant("info", "--model", "mass-spring", "--json").json
    assert "stiffness" in [row["name"] for row in model["parameters"]]
    assert "Everts2006" in model["references"]
    assert "Springs on the edges" in pliant("info", "--model", "mass-spring").out
    material = pliant("info", "--material", "rubber", "--json").json
    assert (material["young"], material["density"]) == (3e6, 1200)
    assert material["source"]


@pytest.mark.parametrize("name", presets.names())
def test_every_material_can_be_described(pliant: Pliant, name: str) -> None:
    result = pliant("info", "--material", name)
    assert result.code == 0
    assert result.out.startswith("material")
    assert pliant("info", "--material", name, "--json").json["density"] > 0


def test_the_doctor_looks_at_everything(pliant: Pliant) -> None:
    found = pliant("doctor", "--json").json
    named = {entry["name"]: entry for entry in found}
    assert {"pliant", "python", "numpy", "numba", "mesher", "threads", "tetgen", "cache", "disk"} <= set(
        named
    )
    assert named["threads"]["ok"] is True
    assert named["numpy"]["ok"] is True
    assert all(entry["name"] in pliant("doctor").out for entry in found[:3])


ROW = {
    "model": "m",
    "case": "c",
    "value": 1.0,
    "expected": 1.1,
    "error": 0.1,
    "tolerance": 0.2,
    "applies": True,
    "expected_failure": "",
}


def test_a_slow_case_among_the_fast_ones_is_an_error() -> None:
    from pliant.core.errors import InputError
    from pliant.validation.cases import pairs

    assert pairs("everts-stretch")
    with pytest.raises(InputError, match="not one of the fast ones"):
        pairs("everts-stretch", quick=True)


@pytest.mark.parametrize(("ok", "code"), [(True, 0), (False, 1)])
def test_validate_prints_rows_and_fails_where_one_does(
    pliant: Pliant, monkeypatch: pytest.MonkeyPatch, ok: bool, code: int
) -> None:
    asked: list[Any] = []

    def rows(case: str | None, quick: bool, show: Any, jobs: int | None) -> list[dict[str, Any]]:
        asked.append((case, quick, jobs))
        return [{**ROW, "ok": ok}]

    monkeypatch.setattr("pliant.validation.cases.run_validation", rows)
    result = pliant("validate", "c", "--quick", "--jobs", "3", "--json")
    assert (result.code, result.json) == (code, [{**ROW, "ok": ok}])
    assert asked == [("c", True, 3)]
    assert f"{int(ok)} of 1 within tolerance" in pliant("validate").out


def test_bench_says_what_is_missing(pliant: Pliant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pliant_benchmarks", None)
    result = pliant("bench")
    assert result.code != 0
    assert "pliant_benchmarks is not installed" in result.err
    assert "pip install" in result.err


def test_bench_prints_rows(pliant: Pliant, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"case": "a/b", "value": 1.5, "unit": "ms", "reference": None, "ratio": None, "limit_ratio": 0.5}
    monkeypatch.setattr("pliant_benchmarks.bench.run_bench", lambda case, repeat, skip: [row])
    shown = pliant("bench", "a", "--json").json[0]
    assert {key: shown[key] for key in row} == row
    assert "a/b" in pliant("bench").out


def test_unknown_cases_are_told_the_nearest(pliant: Pliant) -> None:
    for verb in ("validate", "bench"):
        result = pliant(verb, "no-such-case")
        assert result.code == 2
        assert result.err.startswith("error: There is no")


def test_what_is_not_there_is_said_to_be_missing(pliant: Pliant) -> None:
    result = pliant("info", "nothing")
    assert result.code == 2
    assert "nothing does not exist" in result.err
