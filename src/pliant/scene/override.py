"""Changes to a scene from the command line: ``bodies.beam.edge=0.02``, applied before validation."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from pliant.core.errors import SceneError
from pliant.core.parameters import kebab
from pliant.core.registry import nearest
from pliant.core.tables import Table
from pliant.core.validation_messages import Path, spelled
from pliant.scene.body import Body
from pliant.scene.scene import TimeSettings

NAME_KEY = {"model": "type", "integrator": "type", "material": "preset"}
_DEFAULTS = {kebab(f.name): f.default for cls in (Body, TimeSettings) for f in fields(cls)}


@dataclass(frozen=True)
class Override:
    """``value`` for the entry ``key``; ``origin`` is how the user said it, for messages.

    A key goes down tables by name; in arrays by number, by the entry's name, by its type where that is
    unique, or ``*`` for all: ``actions.0.value``, ``bodies.beam.edge``, ``actions.gravity.acceleration``.
    """

    key: str
    value: Any
    origin: str

    @classmethod
    def of(cls, assignment: str) -> "Override":
        """From ``key=value``."""
        key, equals, value = assignment.partition("=")
        if not equals or not key.strip():
            raise SceneError(
                f"--set {assignment}: expected key=value", hint="For example --set time.duration=2"
            )
        return cls(key.strip(), value_of(value), f"--set {assignment}")


def value_of(text: str) -> Any:
    """A TOML value (``0.02``, ``true``, ``[1, 2]``, ``{ ... }``), or the text itself."""
    try:
        return tomllib.loads(f"value = {text}\n")["value"] if "\n" not in text else text
    except (tomllib.TOMLDecodeError, RecursionError):
        return text.strip()


def apply(table: Table, overrides: Sequence[Override]) -> dict[Path, str]:
    """Change ``table`` in place; returns where each changed entry is and what changed it."""
    origins: dict[Path, str] = {}
    for override in overrides:
        *way, last = override.key.split(".")
        for path, owner in _walk(table, way, override):
            for place, key in _members(owner, last, path, override):
                owner[key] = override.value
                origins[(*place,)] = override.origin
    return origins


def _walk(table: Table, way: list[str], override: Override) -> list[tuple[Path, Any]]:
    """The tables and arrays at the end of ``way``, which are made where they are missing."""
    nodes: list[tuple[Path, Any]] = [((), table)]
    for step in way:
        found = []
        for path, node in nodes:
            for place, key in _members(node, step, path, override):
                if isinstance(node, dict):
                    inner = node.setdefault(key, _DEFAULTS[key] if key in NAME_KEY else {})
                    if isinstance(inner, str) and key in NAME_KEY:  # material = "rubber" has room for more
                        node[key] = {NAME_KEY[key]: inner}
                found.append((place, node[key]))
        nodes = found
    return nodes


def _members(node: Any, step: str, path: Path, override: Override) -> list[tuple[Path, Any]]:
    """Places and keys of the entries of ``node`` that ``step`` means."""
    if isinstance(node, dict):
        return [((*path, step), step)]
    if not isinstance(node, list):
        raise SceneError(f"{override.origin}: {spelled(path)} is a single value and has no '{step}'")
    if step == "*":
        return [((*path, number), number) for number in range(len(node))]
    if step.isdigit():
        if int(step) >= len(node):
            raise SceneError(f"{override.origin}: {spelled(path)} has {len(node)} entries, counted from 0")
        return [((*path, int(step)), int(step))]
    for key in ("name", "type"):
        same = [k for k, entry in enumerate(node) if isinstance(entry, dict) and entry.get(key) == step]
        if len(same) > 1:
            numbers = " or ".join(map(str, same))
            raise SceneError(
                f"{override.origin}: {spelled(path)} has several with {key} '{step}'",
                hint=f"Say which by number: {numbers}.",
            )
        if same:
            return [((*path, same[0]), same[0])]
    names = [str(e.get("name") or e.get("type")) for e in node if isinstance(e, dict)]
    names = [name for name in names if name != "None"] or [str(k) for k in range(len(node))]
    raise SceneError(f"{override.origin}: {spelled(path)} has no '{step}'; {nearest(step, names)}")
