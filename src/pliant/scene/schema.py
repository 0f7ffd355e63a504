"""The keys that a scene file may have, read off the parameter classes: finds unknown and unkeyable ones.

Pydantic checks values; this looks at names first, since a wrong name deserves the nearest right one.
"""

import typing
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field

from pliant.actions import ACTIONS
from pliant.contact import Contact
from pliant.core import curves
from pliant.core.parameters import kebab, parameters
from pliant.core.registry import Registry
from pliant.core.tables import Table, TableView
from pliant.core.validation_messages import Path, Problem, unknown_key
from pliant.integrators import INTEGRATORS
from pliant.materials import Material
from pliant.measures import MEASURES
from pliant.mesh.shapes import SHAPES
from pliant.models import MODELS
from pliant.scene.scene import RecordSettings, TimeSettings

FAMILIES: dict[str, Registry[Any]] = {"actions": ACTIONS, "measures": MEASURES}
KEYED = [kind for name, kind in vars(curves).items() if name.startswith("Keyed")]


@parameters
class SceneFile:
    """The top level of a scene file; bodies, actions and measures stay tables here."""

    schema: Literal[1] = 1
    title: str = ""
    up: Literal["x", "y", "z"] = "z"
    time: TimeSettings = Field(default_factory=TimeSettings)
    record: RecordSettings = Field(default_factory=RecordSettings)
    contact: Contact = Field(default_factory=Contact)
    bodies: list[Any] = Field(default_factory=list)
    actions: list[Any] = Field(default_factory=list)
    measures: list[Any] = Field(default_factory=list)


@cache
def keys_of(cls: type) -> Table:
    """Scene keys of a parameter class and the types behind them (Any where they cannot be told)."""
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError:
        hints = {}
    return {kebab(entry.name): hints.get(entry.name, Any) for entry in fields(cls)}


def is_keyed(hint: Any) -> bool:
    """Whether a field of this type takes keys."""
    return hint in KEYED or any(is_keyed(part) for part in _parts(hint))


def wrong_names(cls: type, table: TableView, at: Path, extra: tuple[str, ...] = ()) -> Iterator[Problem]:
    """Problems with the keys of ``table``, and of the tables in it, for the parameter class ``cls``."""
    known = keys_of(cls)
    for key, value in table.items():
        here = (*at, key)
        if key not in known:
            if key not in extra:
                yield unknown_key(here, [*known, *extra])
            continue
        hint = known[key]
        inner, entry = _class_in(hint), vars(cls).get("kind")
        if isinstance(value, dict) and "keys" in value and not is_keyed(hint) and inner is None:
            keyed = [name for name, other in known.items() if is_keyed(other)]
            also = f"; of '{entry}', keys work for {', '.join(keyed)}" if entry and keyed else ""
            yield Problem(here, f"cannot be keyed: it has one value for all times{also}")
        elif inner is not None:
            many = value if isinstance(value, list) else None
            for place, item in (
                [(here, value)] if many is None else [((*here, k), v) for k, v in enumerate(many)]
            ):
                if isinstance(item, dict):
                    yield from wrong_names(inner, item, place)


def wrong_body_names(table: TableView, at: Path) -> Iterator[Problem]:
    """As ``wrong_names``, for what a body names: its shape, model and material."""
    shape, model, material = (table.get(key) for key in ("shape", "model", "material"))
    if isinstance(shape, dict) and len(shape) == 1:
        ((name, inner),) = shape.items()
        if name in SHAPES and isinstance(inner, dict):
            yield from wrong_names(SHAPES[name], inner, (*at, "shape", name))
    yield from wrong_choice_names(MODELS, model, (*at, "model"))
    if isinstance(material, dict):
        yield from wrong_names(Material, material, (*at, "material"))


def wrong_choice_names(family: Registry[Any], value: Any, at: Path) -> Iterator[Problem]:
    """As ``wrong_names``, for a ``{ type = ..., ... }`` table of ``family``."""
    if isinstance(value, dict) and isinstance(value.get("type"), str) and value["type"] in family:
        cls: Any = family[value["type"]]
        yield from wrong_names(cls, value, at, extra=("type",))


def wrong_time_names(table: Any) -> Iterator[Problem]:
    if isinstance(table, dict):
        yield from wrong_choice_names(INTEGRATORS, table.get("integrator"), ("time", "integrator"))


def _parts(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) is Annotated:
        return (typing.get_args(hint)[0],)
    return typing.get_args(hint)


def _class_in(hint: Any) -> type | None:
    """The parameter class in a type such as ``Plane | None`` or ``tuple[Region, ...]``."""
    if isinstance(hint, type) and is_dataclass(hint):
        return hint
    return next((found for part in _parts(hint) if (found := _class_in(part)) is not None), None)
