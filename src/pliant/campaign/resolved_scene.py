"""The scene of a point: overridden, validated, written out in full, and its hash."""

import hashlib
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from pydantic import WithJsonSchema

from pliant.campaign.points import Quantity
from pliant.contact import Contact
from pliant.core.errors import SceneError
from pliant.core.option_names import option
from pliant.core.tables import Table, TableView
from pliant.integrators import INTEGRATORS
from pliant.materials import Material
from pliant.mesh.shapes import SHAPES
from pliant.models import MODELS
from pliant.scene.body import Body
from pliant.scene.load import parse
from pliant.scene.override import Override, apply
from pliant.scene.scene import RecordSettings, Scene, TimeSettings
from pliant.scene.schema import FAMILIES, keys_of
from pliant.scene.to_toml import IN_MEMORY, scene_text, to_table_of

DIGITS = 16  # of a hash: two of a million points agree by chance once in 4e7 sweeps


def resolved_text(scene: Scene) -> str:
    """``scene`` as the text of a scene file that means the same from any folder: mesh paths are absolute."""
    table = to_table_of(scene, absolute=True)
    for body in table["bodies"]:
        if body.get("mesh") == IN_MEMORY:
            raise SceneError(
                f"body '{body['name']}' has a mesh in memory, which other processes do not see.",
                hint="Write the mesh to a file and give its path.",
            )
    for action in table["actions"]:
        if "mesh" in action:
            action["mesh"] = ((scene.folder or Path()) / action["mesh"]).absolute().as_posix()
    return scene_text(table)


def scene_hash(text: str, meshes: dict[str, str]) -> str:
    """The hash of a resolved scene: of its text, with the contents of mesh files instead of their paths.

    meshes: hashes by path that are known already; new ones are added.
    """
    import tomllib

    table = tomllib.loads(text)
    for entry in (*table.get("bodies", ()), *table.get("actions", ())):
        if "mesh" in entry:
            path = entry["mesh"]
            if path not in meshes:
                try:
                    meshes[path] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
                except OSError as error:
                    raise SceneError(f"The mesh {path} cannot be read: {error.strerror}.") from None
            entry["mesh"] = f"sha256:{meshes[path]}"
    return hashlib.sha256(scene_text(table).encode()).hexdigest()[:DIGITS]


def scene_at(text: str, point: TableView, name: str = "scene", origin: str = "vary") -> Scene:
    """The scene ``text`` with the values of ``point``; SceneError where one is wrong.

    origin: the option that gave the values.
    """
    plain = {key: f"{v!r} {v.unit}" if isinstance(v, Quantity) else v for key, v in point.items()}
    changes = [Override(key, value, option(origin, value, key)) for key, value in plain.items()]
    return parse(text, Path(), name, overrides=changes)


def units_of_keys(text: str, keys: TableView) -> dict[str, str]:
    """The SI unit of the numbers that each scene key takes, "" where it has none or none is known.

    keys: by name, with a value each.
    """
    import tomllib

    found = {}
    for key, value in keys.items():
        table = tomllib.loads(text)
        paths = list(apply(table, [Override(key, value, option("vary", key=key))]))
        found[key] = _unit_at(table, paths[0]) if paths else ""
    return found


def _unit_at(table: Table, path: tuple[str | int, ...]) -> str:
    """The unit of the entry at ``path``, from the type of its field."""
    family, *rest = path
    tables: dict[Any, Any] = {"time": TimeSettings, "record": RecordSettings, "contact": Contact}
    cls, node = tables.get(family), table[str(family)]
    if isinstance(node, list) and rest:
        node = node[int(rest.pop(0))]
        cls = Body if family == "bodies" else FAMILIES[str(family)].get(str(node.get("type")))
    hint: Any = None
    for part in rest:
        if isinstance(part, int):
            continue
        node = node.get(part) if isinstance(node, dict) else None
        if cls is SHAPES:
            cls = SHAPES.get(part)
            continue
        hint = keys_of(cls).get(part) if cls is not None else None
        cls = _class_of(part, node, hint)
    return _unit_in(hint) or ""


def _class_of(key: str, node: Any, hint: Any) -> Any:
    """The parameter class of the table under ``key``; None where there is none."""
    if key in ("model", "integrator"):
        kind = node.get("type") if isinstance(node, dict) else node
        return (MODELS if key == "model" else INTEGRATORS).get(str(kind))
    if key == "shape":
        return SHAPES
    if key == "material":
        return Material
    from pliant.scene.schema import class_in

    return class_in(hint)


def _unit_in(hint: Any) -> str | None:
    """The unit that a quantity's type declares."""
    if get_origin(hint) is Annotated:
        for entry in hint.__metadata__:
            if isinstance(entry, WithJsonSchema) and entry.json_schema and "unit" in entry.json_schema:
                return str(entry.json_schema["unit"])
    for part in get_args(hint):
        if (unit := _unit_in(part)) is not None:
            return unit
    return None
