"""Citations, the history of benchmarks, and the report of validation."""

import json
import re
from pathlib import Path

import pytest

from pliant import examples
from pliant.cli.main import run as command
from pliant.scene.load import parse
from pliant.validation.cases import Case, CaseResult, load_cases
from pliant.validation.citations import citations, library
from pliant.validation.report import write_report
from pliant_benchmarks import history


def test_a_scene_cites_its_model_and_its_integrator(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scene = tmp_path / "hello.toml"
    scene.write_text(examples.text("hello"))
    words = ["cite", str(scene), "--model", "fem", "--integrator", "newmark"]
    assert command([*words, "--json"]) == 0
    found = {entry["key"]: entry["for"] for entry in json.loads(capfd.readouterr().out)}
    assert "integrator newmark" in found["Newmark1959"]
    assert "model fem" in found["MuellerGross2004"]
    assert next(iter(found)) == "pliant"


@pytest.mark.parametrize("name", examples.names())
def test_every_example_cites_papers_that_exist(name: str) -> None:
    found = citations(parse(examples.text(name), None, name, meshes=False))
    assert len(found) > 1
    assert all(c.key in library() and c.used for c in found[1:])


def test_a_benchmark_compares_itself_with_the_last_one(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    rows = [{"case": "a", "value": 2.0, "unit": "s"}, {"case": "b", "value": 30.0, "unit": "MB/s"}]
    assert [row["last"] for row in history.compared(rows, history.read(path))] == [None, None]
    history.append(path, rows)
    later = [{"case": "a", "value": 1.0, "unit": "s"}, {"case": "b", "value": 15.0, "unit": "MB/s"}]
    assert [row["last"] for row in history.compared(later, history.read(path))] == [2.0, 0.5]
    path.write_text("damaged")
    assert history.read(path) == []


def test_the_report_shows_failures_and_their_reasons(tmp_path: Path) -> None:
    case = Case(
        "bar", lambda model: (1.0, 1.0, 0.0, 1.0, ""), "u = F / k", None, True, "Hooke 1678", "Exact."
    )
    good = CaseResult("fem", "bar", 1.0, 1.0, 0.0, 0.1)
    bad = CaseResult("mass-spring", "bar", 2.0, 1.0, 1.0, 0.1, expected_failure="Springs <cannot>.")
    off = CaseResult("cpm1", "bar", float("nan"), 0.0, float("nan"), 0.0, "no bars", applies=False)
    write_report(tmp_path / "r.html", [o.to_dict() for o in (good, bad, off)], {"bar": case})
    text = (tmp_path / "r.html").read_text()
    for words in ("1 of 2 pairs", "Hooke 1678", "Springs &lt;cannot&gt;.", "does not apply", "<svg"):
        assert words in text


def test_there_are_enough_cases_and_each_says_what_it_is() -> None:
    cases = load_cases()
    assert len(cases) >= 30
    assert all(case.equation and case.source and case.why for case in cases.values())


def test_the_checks_that_the_page_of_reproducibility_names_are_there() -> None:
    root = Path(__file__).resolve().parents[3]
    page = (root / "docs" / "reproducibility.md").read_text(encoding="utf-8")
    commands = [words.split() for words in re.findall(r"`pytest ([^`]+)`", page)]
    assert len(commands) >= 5
    for words in commands:
        chosen = words[words.index("-k") + 1] if "-k" in words else "test_"
        for path in (word for word in words if word.startswith("tests/")):
            files = [root / path] if path.endswith(".py") else list((root / path).glob("test_*.py"))
            tests = [line for file in files for line in file.read_text().splitlines() if "def test_" in line]
            assert any(chosen in line for line in tests), (path, chosen)
