"""Parameter classes: what a scene file says, as frozen, validated dataclasses.

Every model, action, shape, measure and material is one. The scene name of a field is its Python name
in kebab-case (``crack_speed`` is ``crack-speed``), a trailing underscore dropped (``from_`` is ``from``).
"""

from collections.abc import Callable
from dataclasses import fields
from functools import cache, wraps
from typing import Any, TypeVar, cast, dataclass_transform

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from pliant.core.errors import ParameterError
from pliant.core.tables import Table

T = TypeVar("T")


def kebab(name: str) -> str:
    """The scene-file form of a Python name."""
    return name.rstrip("_").replace("_", "-")


_CONFIG = ConfigDict(
    extra="forbid",
    alias_generator=kebab,
    validate_by_name=True,
    validate_by_alias=True,
    arbitrary_types_allowed=True,
    allow_inf_nan=False,
    validate_default=True,
    defer_build=True,
)


@dataclass_transform(frozen_default=True, field_specifiers=(Field,))
def parameters(cls: type[T]) -> type[T]:
    """Class decorator: a frozen dataclass that validates its fields and refuses unknown ones."""
    made: Any = dataclass(frozen=True, config=_CONFIG)(cls)
    _speak_plainly(made)
    _KNOWN.setdefault(cls.__name__, []).append(made)
    return made  # type: ignore[no-any-return]


def _speak_plainly(made: Any) -> None:
    """Let ``made(...)`` raise ParameterError in the words of scene files. (Tables are read without it.)"""
    plain = made.__init__

    @wraps(plain)
    def init(self: Any, *args: Any, **given: Any) -> None:
        try:
            plain(self, *args, **given)
        except ValidationError as error:
            from pliant.core.validation_messages import explained

            raise ParameterError(f"{made.__name__}: {explained(made, error, args, given)}") from None
        finally:
            made.__init__ = init  # pydantic puts its own there when it builds the class, at its first use

    made.__init__ = init


_KNOWN: dict[str, list[Any]] = {}  # parameter classes by the names that pydantic's errors give them


def keys_named(name: str) -> list[str]:
    """The scene keys of the parameter class called ``name``; none where several are called so."""
    found = _KNOWN.get(name, [])
    return [kebab(entry.name) for entry in fields(found[0])] if len(found) == 1 else []


@cache
def _adapter(cls: Any) -> TypeAdapter[Any]:
    return TypeAdapter(cls)


def from_table(cls: Callable[..., T], table: Table) -> T:
    """An instance of the parameter class ``cls`` from a scene-file table (pydantic's error on failure)."""
    instance: T = _adapter(cls).validate_python(table)
    return instance


def to_table(instance: Any) -> Table:
    """The scene-file table of a parameter object, without fields that have their default."""
    adapter = _adapter(cast(Any, type(instance)))
    table: Table = adapter.dump_python(instance, mode="json", by_alias=True, exclude_defaults=True)
    return table
