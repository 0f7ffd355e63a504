"""The JSON Schema of scene files, for editors: read off the parameter classes, as ``scene.schema`` does.

It knows keys, types, units, choices, bounds of plain numbers and defaults. What depends on several keys, on
the mesh or on names of bodies is left to ``pliant check``.
"""

import inspect
import types
import typing
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import WithJsonSchema
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from pliant.core import curves
from pliant.core.parameters import kebab
from pliant.core.registry import NameOf, Registry
from pliant.core.rotation import Direction
from pliant.core.selection import BodyRef
from pliant.core.tables import Table
from pliant.core.text import readable
from pliant.integrators import INTEGRATORS
from pliant.materials import Material, presets
from pliant.mesh.shapes import SHAPES
from pliant.mesh.shapes.scene_form import AnyShape
from pliant.models import MODELS
from pliant.scene.body import AnyMaterial, AnyModel, Body
from pliant.scene.key_meanings import meanings
from pliant.scene.scene import AnyIntegrator, TimeSettings
from pliant.scene.schema import FAMILIES, KEYED, SceneFile, keys_of, mentions

DIALECT = "https://json-schema.org/draft/2020-12/schema"
PLAIN: dict[Any, Table] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    Path: {"type": "string"},
}
BOUNDS = {"gt": "exclusiveMinimum", "ge": "minimum", "lt": "exclusiveMaximum", "le": "maximum"}
QUANTITY: Table = {"anyOf": [{"type": "number"}, {"type": "string"}]}  # a number, or a string with a unit
AXIS: Table = {"type": "string", "pattern": "^[+-]?[xyz]$"}


def scene_schema() -> Table:
    """The schema of a whole scene file."""
    schema = _table_of(SceneFile)
    places = schema["properties"]
    places["time"] = _table_of(TimeSettings) | {"description": places["time"]["description"]}
    places["bodies"] |= {"type": "array", "minItems": 1, "items": _table_of(Body)}
    for family, registry in FAMILIES.items():
        places[family] |= {"type": "array", "items": _choice(registry, named=False)}
    return {
        "$schema": DIALECT,
        "title": "pliant scene",
        **schema,
        "required": ["schema", "bodies"],
    }


def _table_of(cls: Any, extra: Table | None = None) -> Table:
    """A table with the keys of a parameter class, and those of ``extra``."""
    hints, known = keys_of(cls), {entry.name: entry for entry in fields(cls)}
    meaning = {key: readable(text) for key, text in meanings(cls).items()}
    properties = dict(extra or {})
    required = list(extra or ())
    for name, entry in known.items():
        key, info = kebab(name), _info(cls, name)
        hint = _SPECIAL.get((cls, key), hints[key])
        found = _with_bounds(_of(hint), info)
        default, unit = _default(entry, info), _unit(hint)
        about = meaning.get(key, "")
        if unit:
            about = f"[{unit}] {about.replace(f' [{unit}]', '')}".rstrip()
        if about:
            found = {**found, "description": about}
        if default is not None:
            found = {**found, "default": default}
        properties[key] = found
        if info is not None and info.is_required():
            required.append(key)
    main = vars(cls).get("main") or getattr(cls, "main", None)
    if main is not None:  # bare keys stand for it
        properties.setdefault("keys", _keyed(_of_value(hints[kebab(main)]))["properties"]["keys"])
        properties.setdefault("ease", {"enum": ["linear", "smooth"]})
        required = [key for key in required if key != kebab(main)]
    about = inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0]
    return {
        "type": "object",
        "description": readable(" ".join(about.split())),
        "properties": properties,
        "additionalProperties": False,
        **({"required": sorted(set(required))} if required else {}),
    }


def _info(cls: Any, name: str) -> FieldInfo | None:
    return getattr(cls, "__pydantic_fields__", {}).get(name)


def _choice(registry: Registry[Any], named: bool = True) -> Table:
    """A table with ``type``, or with ``named`` the bare name, of something in a registry."""
    options = []
    for kind, cls in registry.items():
        old = [name for name, new in registry.aliases.items() if new == kind]
        options.append(_table_of(cls, {"type": {"enum": [kind, *old]}}))
    names = [*registry, *registry.aliases]
    return {"anyOf": [{"enum": names}, *options]} if named else {"type": "object", "oneOf": options}


def _shape() -> Table:
    """``{ box = { ... } }``, of one shape."""
    options = [
        {
            "type": "object",
            "properties": {kind: _table_of(cls)},
            "required": [kind],
            "additionalProperties": False,
        }
        for kind, cls in SHAPES.items()
    ]
    return {"oneOf": options}


def _of(hint: Any) -> Table:
    """The schema of a type of a field."""
    for known, make in _TYPES:
        if hint == known:
            return dict(make())
    if hint in KEYED:
        value = _of_value(hint)
        return {"anyOf": [value, _keyed(value)]}
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is None and isinstance(hint, type):
        return _table_of(hint) if is_dataclass(hint) else dict(PLAIN.get(hint, {}))
    if origin is Annotated:
        return _of_annotated(args)
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (typing.Union, types.UnionType):
        options = [_of(part) for part in args if part is not type(None)]
        return options[0] if len(options) == 1 else {"anyOf": options}
    if origin in (tuple, list):
        if origin is list or (len(args) == 2 and args[1] is Ellipsis):
            return {"type": "array", "items": _of(args[0])}
        count = {"minItems": len(args), "maxItems": len(args)}
        return {"type": "array", "prefixItems": [_of(part) for part in args], **count}
    if origin is dict:
        return {"type": "object", "additionalProperties": _of(args[1])}
    return {}


def _of_annotated(args: tuple[Any, ...]) -> Table:
    for note in args[1:]:
        if isinstance(note, NameOf):
            return {"enum": [*note.registry, *note.registry.aliases]}
        if isinstance(note, WithJsonSchema):
            known = note.json_schema or {}
            return {"type": known["type"]} if "type" in known else dict(QUANTITY)
    found = _of(args[0])
    if args[0] is not Any and typing.get_origin(args[0]) is tuple and _converts(args):
        return {"anyOf": [found, {"type": "string"}]}  # axes = "xy"
    for note in args[1:]:
        if isinstance(note, FieldInfo):
            found = _with_bounds(found, note)
    return found


def _converts(args: tuple[Any, ...]) -> bool:
    return any(type(note).__name__ == "BeforeValidator" for note in args[1:])


def _of_value(hint: Any) -> Table:
    """A constant of a keyed field: a quantity, or three."""
    vector = [kind for kind in KEYED if mentions(hint, [kind])]
    three = {"type": "array", "items": QUANTITY, "minItems": 3, "maxItems": 3}
    if vector and vector[0] is curves.KeyedAcceleration:
        return {"anyOf": [QUANTITY, three]}
    is_vector = bool(vector) and vector[0] in curves.VECTORS
    return three if is_vector else dict(QUANTITY)


def _keyed(value: Table) -> Table:
    key = {
        "type": "object",
        "properties": {"time": QUANTITY, "value": value},
        "required": ["time", "value"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "keys": {"type": "array", "items": key, "minItems": 1},
            "ease": {"enum": ["linear", "smooth"]},
        },
        "required": ["keys"],
        "additionalProperties": False,
    }


def _with_bounds(schema: Table, info: FieldInfo | None) -> Table:
    """``schema`` with the bounds of a field for plain numbers."""
    if info is None:
        return schema
    limits = {}
    for note in info.metadata:
        for name, word in BOUNDS.items():
            if (limit := getattr(note, name, None)) is not None:
                limits[word] = limit
        if pattern := getattr(note, "pattern", None):
            return {**schema, "pattern": pattern}
    if not limits:
        return schema
    if schema.get("type") in ("number", "integer"):
        return {**schema, **limits}
    if schema == QUANTITY:
        return {"anyOf": [{"type": "number", **limits}, {"type": "string"}]}
    return schema


def _default(entry: Any, info: FieldInfo | None) -> Any:
    value: Any = entry.default if info is None else info.default
    if hasattr(value, "to_scene"):
        value = value.to_scene()
    if value is PydanticUndefined or not isinstance(value, (bool, int, float, str, tuple, list)):
        return None
    return list(value) if isinstance(value, tuple) else value


def _unit(hint: Any) -> str | None:
    """The unit of a quantity, or of a keyed one."""
    for kind, keyed in curves.UNITS.items():
        if mentions(hint, [kind]):
            return keyed or None
    if typing.get_origin(hint) is Annotated:
        for note in typing.get_args(hint)[1:]:
            if isinstance(note, WithJsonSchema) and note.json_schema and note.json_schema.get("unit"):
                return str(note.json_schema["unit"])
    return next((unit for part in typing.get_args(hint) if (unit := _unit(part))), None)


def _material() -> Table:
    return {"anyOf": [{"enum": list(presets.names())}, _table_of(Material)]}


_SPECIAL: dict[tuple[Any, str], Any] = {
    (TimeSettings, "step"): Annotated[float, WithJsonSchema({"unit": "s"})],
    (Material, "preset"): Literal[tuple(presets.names())],
}
_TYPES: list[tuple[Any, Any]] = [
    (AnyShape, _shape),
    (AnyModel, lambda: _choice(MODELS)),
    (AnyIntegrator, lambda: _choice(INTEGRATORS)),
    (AnyMaterial, _material),
    (BodyRef, lambda: {"type": "string"}),
    (
        Direction,
        lambda: {"anyOf": [AXIS, {"type": "array", "items": QUANTITY, "minItems": 3, "maxItems": 3}]},
    ),
]
