"""Folders tell the flow of data: each imports only from itself and from those above it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "src" / "pliant"

LAYERS = [
    {"core"},
    {"interfaces"},
    {"kernels"},
    {"mesh"},
    {"materials"},
    {"embedding"},
    {"structure"},
    {"fracture"},
    {"state"},
    {"contact"},
    {"models"},
    {"actions", "integrators", "measures"},
    {"simulation"},
    {"scene"},
    {"run"},
    {"exporters"},
    {"render"},
    {"examples"},
    {"studio"},
    {"validation"},
    {"audit", "campaign"},
    {"calibration", "training_data"},
    {"cli"},
    {"__main__"},
]
ONLY_WHEN_ASKED = {
    "scene": {"run", "studio"},
    "run": {"exporters", "render", "studio"},
    "exporters": {"render"},
}
"""Later folders that a folder may import inside functions: for ``Scene.run``, ``Run.export``, ``Run.render``
and ``view`` in notebooks."""
ONLY_TYPES = {
    "core": {"state"},  # a selection gives rows of the World
    "interfaces": {"materials", "mesh", "state", "contact", "simulation"},  # signatures that others implement
    "measures": {"simulation"},  # a measure is prepared for the System that it looks at
    "integrators": {"simulation"},  # a scheme advances the System
    "scene": {"run"},  # what ``Scene.run`` takes and returns
}
"""Later folders of which a folder may name types, and why."""
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def imports_of(path: Path) -> tuple[set[str], set[str]]:
    """First parts of the pliant modules that a file imports, those in strings included, and of those that it
    imports for types only."""
    used, typed = set[str](), set[str]()

    def visit(node: ast.AST, found: set[str]) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            found = typed
        if isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
            named = ast.unparse(node.args[0]).strip("f'\"")
            if named.startswith("pliant."):
                found.add(named.split(".")[1])
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("pliant."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.ImportFrom) and node.module == "pliant":
            found.update(alias.name for alias in node.names if alias.name in LEVEL)
        elif isinstance(node, ast.Import):
            found.update(a.name.split(".")[1] for a in node.names if a.name.startswith("pliant."))
        for child in ast.iter_child_nodes(node):
            visit(child, found)

    visit(ast.parse(path.read_text()), used)
    return used, typed


FILES = sorted(p for p in ROOT.rglob("*.py") if p.parent != ROOT or p.stem != "__init__")


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_folder_imports_only_from_folders_above_it(path: Path) -> None:
    own = path.relative_to(ROOT).parts[0].removesuffix(".py")
    assert own in LEVEL, f"{own} has no place in LAYERS"
    used, typed = ({name for name in names if LEVEL[name] > LEVEL[own]} for names in imports_of(path))
    wrong = (used - ONLY_WHEN_ASKED.get(own, set())) | (typed - ONLY_TYPES.get(own, set()))
    assert not wrong, f"{own} imports from {wrong}, which come after it"


def test_every_exception_is_needed() -> None:
    found = {own: (set[str](), set[str]()) for own in LEVEL}
    for path in FILES:
        known = found[path.relative_to(ROOT).parts[0].removesuffix(".py")]
        for names, own in zip(imports_of(path), known, strict=True):
            own.update(names)
    for folder, later in ONLY_WHEN_ASKED.items():
        assert later <= found[folder][0]
    for folder, later in ONLY_TYPES.items():
        assert later <= found[folder][1]


@pytest.mark.parametrize("folder", ONLY_WHEN_ASKED)
def test_a_run_is_read_without_what_shows_it(folder: str) -> None:
    for path in (ROOT / folder).rglob("*.py"):
        tops = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ImportFrom)]
        found = {node.module.split(".")[1] for node in tops if node.module and node.module.count(".")}
        assert not found & ONLY_WHEN_ASKED[folder], path.name


def test_importing_pliant_is_light() -> None:
    """No compiler, no mesher, no store, no graphics: those load when they are used."""
    heavy = ["numba", "scipy", "trimesh", "zarr", "meshio", "pyvista", "matplotlib", "rich", "starlette"]
    use = "import sys, pliant; pliant.Body; pliant.Gravity; pliant.Scene"
    code = f"{use}; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_stub_and_table_of_public_names_agree() -> None:
    import pliant
    from pliant.actions import ACTIONS
    from pliant.measures import MEASURES

    stub = ast.parse((ROOT / "__init__.pyi").read_text())
    typed = {alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    families = {cls.__name__ for cls in (*ACTIONS.values(), *MEASURES.values())}  # type: ignore[attr-defined]
    former = {"EnergyMeasure", "FluxMeasure", "FractureMeasure"}
    assert (typed - {None}) | {"__version__"} | families | former == set(dir(pliant))
    for name in dir(pliant):
        assert getattr(pliant, name) is not None


def test_every_cited_key_is_in_the_references() -> None:
    import re

    keys = set(re.findall(r"@\w+\{(\w+),", (ROOT / "references.bib").read_text()))
    for path in ROOT.rglob("*.py"):
        for key in re.findall(r"\[(\w+\d{4})\]_", path.read_text()):
            assert key in keys, f"{path.name} cites {key}"
    from pliant.models import MODELS

    for model in MODELS.values():
        assert set(model.references) <= keys  # type: ignore[attr-defined]
