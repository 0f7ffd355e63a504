"""The page about the published systems: its commands run in their short forms, its links lead somewhere."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pliant import examples
from pliant.scene.load import parse

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "texts.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"`pliant ([^`]+)`", PAGE)))
SCENES = sorted({command.split()[1] for command in COMMANDS if command.startswith("examples ")})
LARGE = {"everts-pulled-paws", "everts-sine-beam", "everts-hanging-beam", "multires-organ", "chocolate-snap"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LARGE else []) for name in SCENES]
)
def test_its_scenes_take_a_step(name: str) -> None:
    """The short form of ``pliant examples NAME --run``: one step instead of the duration."""
    scene = parse(examples.text(name), examples.folder(), f"{name}.toml")
    first = replace(scene.time, duration=1e-3, fps=1e3) if scene.time.integrator.order else scene.time
    simulation = replace(scene, time=first).simulation()
    simulation.start()
    simulation.advance()
    assert all(value == value for value in simulation.row())


def test_its_cases_and_families_exist() -> None:
    from pliant.validation.cases import load_cases
    from pliant_benchmarks.bench import matching

    cases = load_cases()
    for command in COMMANDS:
        verb, *rest = command.split()
        if verb == "validate" and rest:
            assert rest[0] in cases, command
        if verb == "bench":
            assert matching(rest[0]), command


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("validate ")])
def test_its_cases_run(command: str) -> None:
    """The short form of ``pliant validate CASE``: with the first model that it is for."""
    from pliant.validation.cases import outcome, pairs

    found = outcome(*pairs(command.split()[1])[0])
    assert found.applies
    assert found.ok or found.expected_failure, found


FIGURES = {  # of each family the case that takes least
    "hanging-beam": "hanging-beam/cpm1",
    "efg": "efg/48x37",
    "stiff": "stiff/implicit",
    "cairns": "cairns/prism",
    "elements": "elements/supports",
}


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(f"bench {family}", marks=[] if family in ("efg", "stiff") else [pytest.mark.slow])
        for family in FIGURES
    ],
)
def test_its_benchmarks_measure(command: str) -> None:
    """The short form of ``pliant bench FAMILY``: one measurement of one of its cases (``multires``, whose
    cases take minutes, is looked up only)."""
    from pliant_benchmarks.bench import load_benches

    assert command in COMMANDS
    family = command.split()[1]
    found = load_benches()[FIGURES[family]]()
    assert found
    assert all(each.value > 0.0 for each in found), found


def test_its_verbs_are_commands() -> None:
    from pliant.cli.main import VERBS

    assert {command.split()[0] for command in COMMANDS} <= set(VERBS)
    assert set(SCENES) <= set(examples.names())


def test_its_styles_models_and_keys_are_known() -> None:
    from pliant.models import MODELS
    from pliant.render.render_options import STYLES

    assert set(re.findall(r"--style (\w+)", PAGE)) <= set(STYLES)
    assert set(re.findall(r"model `([\w-]+)`", PAGE)) <= {name for name, _ in MODELS.items()}


def test_its_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", PAGE):
        path, _, anchor = target.partition("#")
        text = (DOCS / path).read_text(encoding="utf-8")
        if anchor:
            heads = [re.sub(r"[^\w\- ]", "", head).strip().lower().replace(" ", "-")
                     for head in re.findall(r"^#+ (.+)$", text, re.M)]  # fmt: skip
            assert anchor in heads, target


SHORT = {
    "render": ["--size", "160x120", "--frame", "0"],
    "card": ["--edge", "0.5"],
    "check": [str(examples.folder() / "listing-8-1.toml")],
}
LONG = {"examples", "validate", "bench"}  # run above, in their short forms


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.split()[0] not in LONG and "render" not in c])
def test_its_other_commands_run(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    from pliant.cli.main import run

    arguments = command.split()
    assert run([*arguments, *SHORT.get(arguments[0], [])]) == 0
    assert capfd.readouterr().out.strip()


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("render ")])
def test_its_pictures_are_drawn(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the first frame of a run of one step."""
    pytest.importorskip("pyvista")
    from pliant.cli.main import run

    monkeypatch.chdir(tmp_path)
    _, source, picture, *options = command.split()
    name = source.removesuffix(".pliant")
    scene = parse(examples.text(name), examples.folder(), f"{name}.toml")
    replace(scene, time=replace(scene.time, duration=1e-3, fps=1e3)).run(to=source)
    assert run(["render", source, picture, *options, *SHORT["render"]]) == 0
    assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")
