"""Named materials: numbers, usual ranges and where they come from, read once from ``presets.toml``."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

from pliant.core.errors import MaterialError
from pliant.core.registry import nearest
from pliant.core.tables import TableView

_ABOUT = ("source", "checked", "note", "young-range", "density-range")


@dataclass(frozen=True)
class Preset:
    """A named material: ``table`` holds its scene keys in SI units, the rest is about them."""

    name: str
    table: TableView
    source: str
    note: str
    young_range: tuple[float, float]  # [Pa]
    density_range: tuple[float, float]  # [kg/m3]
    checked: bool  # compared with the source, or a page that quotes it


@cache
def _load() -> Mapping[str, Preset]:
    text = (resources.files("pliant.materials") / "presets.toml").read_text(encoding="utf-8")
    return MappingProxyType(
        {
            name: Preset(
                name,
                MappingProxyType({key: value for key, value in entry.items() if key not in _ABOUT}),
                entry["source"],
                entry.get("note", ""),
                (entry["young-range"][0], entry["young-range"][1]),
                (entry["density-range"][0], entry["density-range"][1]),
                entry.get("checked", False),
            )
            for name, entry in tomllib.loads(text).items()
        }
    )


def names() -> list[str]:
    """The names of all presets, in alphabetical order."""
    return sorted(_load())


def unknown(name: str) -> str:
    """What to tell someone who asked for the preset ``name``, which does not exist."""
    return f"unknown material '{name}'; {nearest(name, names())}"


def get(name: str) -> Preset:
    """The preset ``name``."""
    try:
        return _load()[name]
    except KeyError:
        raise MaterialError(unknown(name)) from None
