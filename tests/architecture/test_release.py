"""What a release says about itself is the same in all places."""

import re
import tomllib
from pathlib import Path

import pliant

ROOT = Path(__file__).resolve().parents[2]


def test_the_version_stands_in_one_place() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in table["project"]["dynamic"]
    assert table["tool"]["hatch"]["version"]["path"] == "src/pliant/__init__.py"
    assert f"\nversion: {pliant.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    heads = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert heads[0] == pliant.__version__


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
