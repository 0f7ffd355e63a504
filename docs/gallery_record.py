"""What the gallery remembers of each picture: cost, tags and the sources it was drawn from.

``docs/gallery.json`` has an entry per picture: SHA-256 of the scene (with its mesh files), of the code of its
models, the commit, and what the run cost. A picture is *outdated* when its scene changed, and *to be checked*
when the code of its models changed: comments and docstrings do not count.
"""

import ast
import hashlib
import json
import tomllib
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pliant
from pliant import examples
from pliant.models import MODELS

DOCS = Path(__file__).resolve().parent
FLAGSHIPS = DOCS / "flagships"
RECORD = DOCS / "gallery.json"
SHARED = ("materials/constitutive",)  # code that all deformable models use
TAGS = {"cut": "cutting", "seam": "cutting", "volume-constraint": "volume constraint", "create": "clay"}
TAGS |= {
    "manipulator": "tools",
    "tool": "tools",
    "obstacle": "tools",
    "fuse": "clay",
    "glue": "clay",
    "add": "clay",
}
CONTACT = {"ground", "tabletop", "obstacle", "tool"}


@dataclass
class Drawn:
    """One picture of the gallery. cpu [s] and memory [MB] are those of ``pliant run``, start-up included."""

    scene: str = ""
    code: str = ""
    commit: str = ""
    models: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    particles: int = 0
    cells: int = 0
    cpu: float = 0.0
    memory: int = 0
    speed: float = 1.0


def flagships() -> list[str]:
    """Names of the large scenes of ``docs/flagships``."""
    return sorted(path.stem for path in FLAGSHIPS.glob("*.toml"))


def place_of(name: str) -> Path:
    """The scene file of an example or a large scene."""
    large = FLAGSHIPS / f"{name}.toml"
    return large if large.exists() else examples.folder() / f"{name}.toml"


def table_of(name: str) -> dict[str, Any]:
    """The scene file as a table."""
    return tomllib.loads(place_of(name).read_text(encoding="utf-8"))


def models_of(table: dict[str, Any]) -> list[str]:
    """Models of the bodies, without repetition."""
    given = [body.get("model", "mass-spring") for body in table["bodies"]]
    names = [entry["type"] if isinstance(entry, dict) else entry for entry in given]
    return list(dict.fromkeys(MODELS[name].kind for name in names))


def tags_of(table: dict[str, Any]) -> list[str]:
    """What the scene is about, from its keys."""
    actions = [action["type"] for action in table.get("actions", [])]
    materials = [body.get("material", {}) for body in table["bodies"]]
    models = [body.get("model", {}) for body in table["bodies"]]
    keys = {key for entry in (*materials, *models) if isinstance(entry, dict) for key in entry}
    integrator = table.get("time", {}).get("integrator", "auto")
    kind = integrator["type"] if isinstance(integrator, dict) else integrator
    tags = [TAGS[action] for action in actions if action in TAGS]
    tags += ["contact"] if CONTACT & set(actions) or len(table["bodies"]) > 1 else []
    tags += ["fracture"] if "strength" in keys else []
    tags += ["plasticity"] if keys & {"yield", "plasticity"} else []
    tags += ["own mesh"] if any("mesh" in body for body in table["bodies"]) else []
    tags += (
        ["implicit"]
        if kind not in ("auto", "leapfrog", "verlet", "symplectic-euler", "explicit-euler", "rk4")
        else []
    )
    return sorted(set(tags))


def scene_digest(name: str) -> str:
    """SHA-256 of the scene's table and of its mesh files; comments do not count."""
    table = table_of(name)
    digest = hashlib.sha256(json.dumps(table, sort_keys=True, default=str).encode())
    for body in table["bodies"]:
        if "mesh" in body:
            digest.update((place_of(name).parent / body["mesh"]).read_bytes())
    return digest.hexdigest()


@cache
def code_digest(models: tuple[str, ...]) -> str:
    """SHA-256 of the syntax trees, without docstrings, of the models' folders and the code they share."""
    package = Path(pliant.__file__).parent
    folders = {Path(str(import_module(MODELS[name].__module__).__file__)).parent for name in models}
    folders |= {package / name for name in SHARED}
    digest = hashlib.sha256()
    for path in sorted({path for folder in folders for path in folder.rglob("*.py")}):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
                and ast.get_docstring(node) is not None
            ):
                node.body = node.body[1:]
        digest.update(ast.dump(tree).encode())
    return digest.hexdigest()


def entry_of(name: str) -> Drawn:
    """The entry of a picture drawn now, without its cost and commit."""
    table = table_of(name)
    models = models_of(table)
    return Drawn(scene_digest(name), code_digest(tuple(models)), models=models, tags=tags_of(table))


def read() -> dict[str, Drawn]:
    """All entries, by name."""
    if not RECORD.exists():
        return {}
    return {name: Drawn(**entry) for name, entry in json.loads(RECORD.read_text(encoding="utf-8")).items()}


def write(entries: dict[str, Drawn]) -> None:
    """Keep the entries."""
    table = {name: asdict(entries[name]) for name in sorted(entries)}
    RECORD.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def outdated() -> tuple[list[str], list[str]]:
    """Names whose scene changed since (or that were never drawn), and those of which only a model did."""
    entries = read()
    changed, unsure = [], []
    for name in (*flagships(), *examples.names()):
        now, then = entry_of(name), entries.get(name)
        if then is None or then.scene != now.scene:
            changed.append(name)
        elif then.code != now.code:
            unsure.append(name)
    return changed, unsure
