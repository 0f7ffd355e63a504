"""One table per family of things that scenes name; outside packages join through entry points."""

import difflib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points as installed_entry_points
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from pliant.core.parameters import from_table, to_table
from pliant.core.tables import Table

T = TypeVar("T")


def nearest(name: str, known: list[str]) -> str:
    """ " — did you mean 'x'?" for the closest known name, else the list of them."""
    close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    return f"did you mean '{close[0]}'?" if close else f"known: {', '.join(sorted(known))}"


class SceneMember:
    """What actions and measures declare besides their fields, for whoever reads or shows a scene.

    kind: the name in scenes; main: the field that a bare ``keys`` stands for; series_label: what the names of
    its series begin with, None where it has none; series_units: the unit of each series, by the beginning of
    its name.
    """

    kind: ClassVar[str]
    main: ClassVar[str | None] = None

    @property
    def series_label(self) -> str | None:
        return None

    def series_units(self) -> dict[str, str]:
        return {}


class Registry(Mapping[str, type[T]], Generic[T]):
    """Classes by their scene name (``kind``); an unknown name is a ValueError with the nearest known one.

    aliases: earlier names that scenes may still use, and the present ones. They are not listed.
    base: declares what the others read off a class; classes that do not derive from it get its defaults.
    """

    def __init__(
        self,
        family: str,
        classes: Sequence[Any],
        entry_points: str,
        aliases: Mapping[str, str] | None = None,
        base: type | None = None,
    ) -> None:
        self.family, self._group, self._base = family, entry_points, base
        self._table: dict[str, Any] = {cls.kind: cls for cls in classes}
        self.aliases = dict(aliases or {})
        self._outside = False
        self._broken: dict[str, str] = {}

    def _load_outside(self) -> None:
        if not self._outside:
            self._outside = True
            for point in installed_entry_points(group=self._group):
                try:
                    cls = point.load()
                    if cls.kind != point.name:
                        raise ValueError(f"the entry point is called '{point.name}', the class '{cls.kind}'")
                    self._table.setdefault(point.name, self._complete(cls))
                except Exception as error:
                    self._broken[point.name] = f"{point.value} cannot be loaded: {error}"

    def register(self, cls: Any) -> Any:
        """Add a class under its ``kind``; usable as a decorator."""
        self._table[cls.kind] = self._complete(cls)
        return cls

    def _complete(self, cls: Any) -> Any:
        """``cls`` with the defaults of the family's base class for what it does not declare itself."""
        if self._base is not None and not issubclass(cls, self._base):
            for name in set(dir(self._base)) - set(dir(cls)):
                setattr(cls, name, inspect.getattr_static(self._base, name))
        return cls

    def build(self, value: Any) -> T:
        """An instance from its scene form: a name, a table with ``type``, or an instance already."""
        if isinstance(value, str):
            value = {"type": value}
        if not isinstance(value, dict):
            if type(value) in self.values():
                return value  # type: ignore[no-any-return]
            raise ValueError(f"expected the name of a {self.family} or a table, got {value!r}")
        table = dict(value)
        if "type" not in table:
            raise ValueError(f'a {self.family} table needs type = "..."; known: {", ".join(sorted(self))}')
        return from_table(self[table.pop("type")], table)

    def describe(self, instance: Any) -> Table:
        """The scene form of an instance: a table with ``type``, without defaults."""
        return {"type": instance.kind, **to_table(instance)}

    def __getitem__(self, name: str) -> type[T]:
        name = self.aliases.get(name, name) if isinstance(name, str) else name
        if name not in self._table:
            self._load_outside()
        if name in self._broken:
            raise ValueError(f"{self.family} '{name}': {self._broken[name]}")
        if not isinstance(name, str) or name not in self._table:
            raise ValueError(f"unknown {self.family} '{name}'; {nearest(str(name), list(self._table))}")
        return self._table[name]  # type: ignore[no-any-return]

    def __contains__(self, name: object) -> bool:
        self._load_outside()
        return name in self._table or name in self.aliases

    def __iter__(self) -> Iterator[str]:
        self._load_outside()
        return iter(self._table)

    def __len__(self) -> int:
        self._load_outside()
        return len(self._table)


@dataclass(frozen=True)
class NameOf:
    """Marks a text field, ``Annotated[str, NameOf(registry)]``: a name of the registry, aliases resolved."""

    registry: Registry[Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._known, handler(source))

    def _known(self, name: str) -> str:
        kind: str = self.registry[name].kind
        return kind
