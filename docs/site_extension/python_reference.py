"""Reference of the Python interface: every public name of ``pliant``, with its real signature, by autodoc."""

import inspect
import re
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from sphinx.application import Sphinx

import pliant
from pliant.core import errors
from pliant.core.parameters import kebab
from pliant.scene.schema import keys_of

from . import bibliography
from .scene_reference import REGISTRIES

GROUPS = {
    "Scenes": ("Scene", "Body", "TimeSettings", "RecordSettings", "Rotation", "read"),
    "Runs": ("load", "resume", "Run"),
    "Materials": ("Material",),
    "Many runs": ("sweep", "open_sweep", "Sweep", "fit", "FitResult", "dataset", "Dataset"),
}
MODULES = ("where",)  # whose functions are listed one by one
FAMILIES = {"actions": "pliant", "measures": "pliant"}  # others are reached through their module
Options = Any


def page() -> str:
    """All of it, in groups."""
    parts = [_group(title, [f"pliant.{name}" for name in names]) for title, names in GROUPS.items()]
    for module in MODULES:
        found = inspect.getmembers(getattr(pliant, module), inspect.isfunction)
        names = [name for name, _ in found if not name.startswith("_")]
        parts.append(_group(f"pliant.{module}", [f"pliant.core.{module}.{name}" for name in names]))
    for family, registry in REGISTRIES.items():
        place = FAMILIES.get(family, f"pliant.{'mesh.shapes' if family == 'shapes' else family}")
        parts.append(_group(family.capitalize(), [f"{place}.{cls.__name__}" for cls in registry.values()]))
    raised = [name for name, value in vars(errors).items() if inspect.isclass(value)]
    parts.append(_group("Errors", [f"pliant.core.errors.{name}" for name in raised]))
    return "\n\n".join(parts)


def _group(title: str, names: list[str]) -> str:
    lines = [_directive(name) for name in names]
    return f"## {title}\n\n```{{eval-rst}}\n" + "\n\n".join(lines) + "\n```"


def _directive(name: str) -> str:
    module, _, own = name.rpartition(".")
    value: Any = getattr(__import__(module, fromlist=[own]), own)
    if not inspect.isclass(value):
        return f".. autofunction:: {name}"
    members = name.removeprefix("pliant.") in {own for names in GROUPS.values() for own in names}
    return f".. autoclass:: {name}" + ("\n   :members:" if members else "")


def signature(
    app: Sphinx, what: str, name: str, value: Any, options: Options, given: str | None, returned: str | None
) -> tuple[str, str | None] | None:
    """Parameter classes: names and defaults, without the machinery of their types."""
    if what != "class" or not is_dataclass(value):
        return None
    shown = []
    for each in sorted(fields(value), key=lambda each: bool(each.kw_only)):
        if each.init:
            if each.kw_only and "*" not in shown:
                shown.append("*")
            shown.append(f"{each.name}{_default(each)}")
    return f"({', '.join(shown)})", None


def _default(entry: Field[Any]) -> str:
    """``=`` and the default as it is written in Python; three dots where it is made by a function."""
    told = getattr(entry.default, "default", entry.default)  # a pydantic Field
    made = getattr(entry.default, "default_factory", None) or entry.default_factory
    if made is not MISSING and made is not None:
        return "=..."
    if told is MISSING or type(told).__name__ == "PydanticUndefinedType":
        return ""
    return f"={told.to_scene() if hasattr(told, 'to_scene') else told!r}"


def docstring(app: Sphinx, what: str, name: str, value: Any, options: Options, lines: list[str]) -> None:
    """Citations as links; of members of registries the first paragraph and a link to their keys."""
    place = next((f for f, registry in REGISTRIES.items() if value in registry.values()), None)
    if place is not None:
        end = lines.index("") if "" in lines else len(lines)
        kind = next(kind for kind, cls in REGISTRIES[place].items() if cls is value)
        lines[end:] = ["", f"Keys: :doc:`/reference/{place}`, ``{kind}``.", ""]
    elif inspect.isclass(value) and is_dataclass(value) and what == "class":
        known = {kebab(key).replace("-", "_") for key in keys_of(value)}
        lines[:] = [_listed(line, known) for line in lines]
    lines[:] = [bibliography.roles(line) for line in lines]


def _listed(line: str, keys: set[str]) -> str:
    """``line`` with the names of keys in bold where they are explained, ``name: ...``."""

    def bold(found: re.Match[str]) -> str:
        return f"**{found[1]}**" if found[1] in keys else found[1]

    return re.sub(r"\b(\w+)(?=( \[[^\]]*\])?: )", bold, line)
