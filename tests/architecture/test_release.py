"""What a release says about itself is the same in all places."""

import re
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import pliant

ROOT = Path(__file__).resolve().parents[2]


def test_the_version_stands_in_one_place() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in table["project"]["dynamic"]
    assert table["tool"]["hatch"]["version"]["path"] == "src/pliant/__init__.py"
    assert f"\nversion: {pliant.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    heads = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert next(head for head in heads if head != "Unreleased") == pliant.__version__


def test_every_dependency_is_explained_and_imported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    page = (ROOT / "design/dependencies.md").read_text()
    code = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    names = [re.split(r"[><=]", entry)[0] for entry in project["dependencies"]]
    for name in names:
        assert name in page, name
        assert re.search(rf"import(_module\(f?\")? ?{name}|from {name}|\"{name}", code), name
    for extra in ("render", "studio", "usd", "tetgen"):
        for entry in project["optional-dependencies"][extra]:
            assert re.split(r"[><=]", entry)[0] in page, entry


def test_the_description_for_pypi_has_no_links_into_the_repository() -> None:
    pytest.importorskip("hatchling")
    spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    build = module_from_spec(spec)
    spec.loader.exec_module(build)
    readme = (ROOT / "README.md").read_text()
    relative = re.compile(r"\]\((?!https?:|#)")
    assert relative.search(readme)
    plain, linked = build.description(readme, ""), build.description(readme, "https://example.org/pliant")
    assert not relative.search(plain)
    assert not relative.search(linked)
    assert "[installing](https://example.org/pliant/docs/installing.md)" in linked
    assert re.sub(r"\]\(https://example.org/pliant/", "](", linked) == readme
    assert plain.count("```") == readme.count("```")
