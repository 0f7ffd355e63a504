"""What scenes can be made of, told to the page: models, materials, shapes, actions, integrators, their keys.

Read off the parameter classes, so that whatever is registered shows up by itself.
"""

import typing
from dataclasses import MISSING, asdict, fields
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import WithJsonSchema

from pliant.actions import ACTIONS
from pliant.core import curves
from pliant.core.parameters import kebab
from pliant.core.registry import NameOf
from pliant.integrators import INTEGRATORS
from pliant.materials import presets
from pliant.mesh.shapes import SHAPES
from pliant.models import MODELS
from pliant.scene.body import Body
from pliant.scene.schema import is_keyed, keys_of, mentions, parts
from pliant.studio.words import plain

_KEYED_UNITS = {
    "KeyedForce": ("N", True),
    "KeyedTorque": ("N*m", False),
    "KeyedPressure": ("Pa", False),
    "KeyedTraction": ("Pa", True),
    "KeyedAcceleration": ("m/s2", False),
    "KeyedVelocity": ("m/s", True),
    "KeyedPoint": ("m", True),
    "KeyedLength": ("m", False),
    "KeyedRate": ("1/s", False),
    "KeyedFrequency": ("Hz", False),
    "KeyedAngularSpeed": ("rad/s", False),
    "KeyedDensity": ("kg/m3", False),
    "KeyedNumber": ("", False),
}
_MATERIAL_KEYS = ("young", "poisson", "density", "damping", "yield", "strength", "friction", "restitution")
_ORDER = ("select", "body")
_HIDDEN = ("late",)  # for takes


@cache
def catalogue() -> dict[str, Any]:
    """Everything, as plain JSON."""
    plain = Body(mesh="any")
    return {
        "models": {name: {**_entry(cls), "subject": cls.subject} for name, cls in MODELS.items()},
        "integrators": {name: _entry(cls) for name, cls in INTEGRATORS.items()},
        "shapes": {name: _entry(cls) for name, cls in SHAPES.items()},
        "actions": {
            name: {
                **_entry(cls),
                "main": cls.main,
                "live": cls.live,
                "steered": cls.steered,
                "holds": cls.holds,
                "mark": cls.mark,
                "tools": [
                    {**asdict(tool), "needs": cls.needs is not None and tool.target != "body"}
                    for tool in cls.tools
                ],
            }
            for name, cls in ACTIONS.items()
        },
        "materials": {name: _material(name) for name in presets.names()},
        "formats": _formats(),
        "body": {"model": plain.model.kind, "material": plain.material.preset},
    }


def _formats() -> list[dict[str, str]]:
    """What can be exported: suffixes and what such files hold."""
    from pliant.exporters import EXPORTERS

    drawn = {".mp4": "a movie, plays anywhere", ".gif": "a movie for web pages", ".png": "a picture"}
    return [
        {"suffix": suffix, "about": about}
        for suffix, about in {**drawn, **{name: each.about for name, each in EXPORTERS.items()}}.items()
    ]


def _material(name: str) -> dict[str, Any]:
    from pliant.materials import resolve

    preset, whole = presets.get(name), resolve(name)
    values = {}
    for key in _MATERIAL_KEYS:
        value = getattr(whole, key if key != "yield" else "yield_", None)
        if isinstance(value, (int, float)):
            values[key] = float(value)
    return {"note": preset.note, "source": preset.source, "young_range": preset.young_range, "values": values}


def _entry(cls: Any) -> dict[str, Any]:
    """The keys of a parameter class and the first sentence about it."""
    text = " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())
    about = plain(text.removesuffix(": one of"))
    hints = keys_of(cls)
    defaults = {kebab(f.name): _default(f) for f in fields(cls)}
    asked = [_key(name, hint, defaults.get(name)) for name, hint in hints.items() if name not in _HIDDEN]
    keys = [key for key in asked if key is not None]
    keys.sort(key=lambda key: key["name"] not in _ORDER)
    return {"about": about, "keys": keys}


def _default(field: Any) -> Any:
    value: Any = field.default if field.default is not MISSING else None
    if hasattr(value, "default"):  # a pydantic Field
        value = value.default
    if hasattr(value, "to_scene"):
        value = value.to_scene()
    if isinstance(value, tuple):
        value = list(value)
    plain = value is None or isinstance(value, (bool, int, float, str, list))
    return value if plain and "Undefined" not in type(value).__name__ else None


def _key(name: str, hint: Any, default: Any) -> dict[str, Any] | None:
    """How the page asks for one key."""
    found: dict[str, Any] = {"name": name, "default": default, "unit": "", "keyed": False}
    for label, (unit, vector) in _KEYED_UNITS.items():
        if mentions(hint, [getattr(curves, label)]):
            return found | {"kind": "vector" if vector else "number", "unit": unit, "keyed": is_keyed(hint)}
    if name in ("select", "body", "axes"):
        return found | {"kind": name}
    choices = _choices(hint)
    if choices:
        return found | {"kind": "choice", "choices": choices}
    if hint is bool or bool in typing.get_args(hint):
        return found | {"kind": "flag"}
    own, text = _unit(hint), str(hint)
    if "tuple[" in text and own is not None:
        length = text.count("Annotated[float")
        return found | {"kind": "vector", "unit": own, "length": length or 3}
    if own is not None:
        return found | {"kind": "number", "unit": own}
    if hint is int or int in typing.get_args(hint):
        return found | {"kind": "whole"}
    if name in ("axis", "direction"):
        return found | {"kind": "choice", "choices": ["x", "y", "z"]}
    if name == "name":
        return found | {"kind": "text"}
    if name in ("sphere", "box", "capsule", "rotation", "plane"):
        return found | {"kind": "table"}
    return None


def _choices(hint: Any) -> list[str] | None:
    if typing.get_origin(hint) is Literal:
        return [str(value) for value in typing.get_args(hint)]
    if typing.get_origin(hint) is Annotated:
        for note in typing.get_args(hint)[1:]:
            if isinstance(note, NameOf):
                return list(note.registry)
    for part in parts(hint):
        if typing.get_origin(part) is Literal:
            return _choices(part)
    return None


def _unit(hint: Any) -> str | None:
    """The unit of a quantity type, however deep it sits; None for what is no quantity."""
    if typing.get_origin(hint) is Annotated:
        for note in typing.get_args(hint)[1:]:
            if isinstance(note, WithJsonSchema) and note.json_schema and "unit" in note.json_schema:
                return str(note.json_schema["unit"])
    for part in typing.get_args(hint):
        if (found := _unit(part)) is not None:
            return found
    return None
