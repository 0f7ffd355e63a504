"""A Scene as TOML text that ``parse`` reads back to an equal Scene: what a run keeps as ``scene.toml``."""

import json
import re
from pathlib import Path
from typing import Any

from pliant.actions import ACTIONS
from pliant.contact import Contact
from pliant.core.parameters import to_table
from pliant.core.tables import Table, TableView
from pliant.measures import MEASURES
from pliant.mesh.mesh import Surface, TetMesh
from pliant.scene.body import Body
from pliant.scene.override import NAME_KEY
from pliant.scene.scene import RecordSettings, Scene

IN_MEMORY = "(a mesh in memory)"  # stands for a body whose mesh came from Python and not from a file
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_TABLES = ("time", "record", "contact", "camera")
_SECTIONS = (*_TABLES, "bodies", "actions", "measures")


def to_toml(scene: Scene, *, absolute: bool = False) -> str:
    """``scene`` as the text of a scene file, without what has its default.

    Mesh paths stay as they are, relative to ``scene.folder``, unless ``absolute``. A mesh in memory cannot be
    written; its place is kept, for ``parse(..., meshes=False)``.
    """
    return scene_text(to_table_of(scene, absolute=absolute))


def to_table_of(scene: Scene, *, absolute: bool = False) -> Table:
    """``scene`` as the tables of its file: plain values that ``scene_text`` writes."""
    folder = (scene.folder or Path()) if absolute else None
    plan, time = scene.time, to_table(scene.time)
    time = {"duration": plan.duration, "fps": plan.fps, "step": plan.step, **time}
    time.setdefault("integrator", {"type": plan.integrator.kind})
    top: Table = {"schema": 1, "title": scene.title, "up": scene.up, "time": time}
    if scene.record != RecordSettings():
        top["record"] = to_table(scene.record)
    if scene.contact != Contact():
        top["contact"] = to_table(scene.contact)
    if scene.camera is not None:
        top["camera"] = to_table(scene.camera)
    return top | {
        "bodies": [_body(body, folder) for body in scene.bodies],
        "actions": [ACTIONS.describe(action) for action in scene.actions],
        "measures": [MEASURES.describe(measure) for measure in scene.measures],
    }


def scene_text(table: TableView) -> str:
    """The tables of a scene file as its text."""
    top = {key: value for key, value in table.items() if key not in _SECTIONS}
    parts = [_entries(top)]
    parts += [f"\n[{name}]\n" + _entries(table[name]) for name in _TABLES if name in table]
    for family in ("bodies", "actions", "measures"):
        parts += [f"\n[[{family}]]\n" + _entries(entry) for entry in table.get(family, ())]
    return "".join(parts)


def _body(body: Body, folder: Path | None) -> Table:
    table = to_table(body)
    shape = body.shape
    path = shape if isinstance(shape, (str, Path)) else body.mesh
    if isinstance(shape, (Surface, TetMesh)):
        path = None
        table["mesh"] = IN_MEMORY
    if path is not None:
        table["mesh"] = Path(path).as_posix() if folder is None else (folder / path).absolute().as_posix()
    if "mesh" in table:
        table.pop("shape", None)
    table.setdefault("model", {"type": body.model.kind})
    table.setdefault("material", to_table(body.material))
    first = {key: table[key] for key in ("name", "shape", "mesh", "edge") if key in table}
    return first | table


def _entries(table: TableView) -> str:
    lines = []
    for key, value in table.items():
        name = NAME_KEY.get(key)
        if name and isinstance(value, dict) and list(value) == [name]:
            value = value[name]  # noqa: PLW2901
        lines.append(f"{_key(key)} = {toml_value(value)}\n")
    return "".join(lines)


def toml_value(value: Any) -> str:
    """A number, text, list or table as TOML, on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(k)} = {toml_value(v)}" for k, v in value.items() if v is not None)
        return f"{{ {inner} }}" if inner else "{}"
    raise TypeError(f"{type(value).__name__} has no place in a scene file")


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else toml_value(name)
