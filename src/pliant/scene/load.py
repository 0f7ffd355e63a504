"""Scene files: TOML text to a Scene, or one SceneError that says file, line, key and what to try."""

import math
import os
import tomllib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from pliant.actions.base import ActionParameters
from pliant.core.errors import PliantError, SceneError
from pliant.core.parameters import from_table
from pliant.core.registry import SceneMember, nearest
from pliant.core.tables import Table, TableView
from pliant.core.validation_messages import Path, Problem, from_pydantic, shown, spelled, without_repeats
from pliant.materials import Material, presets
from pliant.scene.body import Body
from pliant.scene.override import Override, apply
from pliant.scene.scene import Scene
from pliant.scene.schema import (
    FAMILIES,
    SceneFile,
    cross_check,
    keys_of,
    wrong_body_names,
    wrong_names,
    wrong_time_names,
)
from pliant.scene.toml_lines import line_of, lines_of

LARGEST = 16 * 1024 * 1024  # bytes of a scene file; geometry belongs into mesh files
_SHORTHAND = ("keys", "ease")


def read(path: str | os.PathLike[str], overrides: Sequence[Override] = ()) -> Scene:
    """The Scene in the file ``path``, with ``overrides`` applied; SceneError where anything is wrong."""
    file, name = FilePath(path), os.fspath(path)
    try:
        if not file.exists():
            raise SceneError("no such file", path=name, hint=_similar(file))
        if not file.is_file():
            what = (
                "is a folder, not a scene file" if file.is_dir() else "is not a file that could hold a scene"
            )
            raise SceneError(what, path=name)
        if file.stat().st_size > LARGEST:
            size = file.stat().st_size / 1024**2
            raise SceneError(
                f"{size:.0f} MB is too large for a scene file",
                path=name,
                hint='Put geometry into a mesh file: mesh = "..."',
            )
        data = file.read_bytes()
    except OSError as error:
        raise SceneError(f"could not be read: {error.strerror}", path=name) from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SceneError("is not UTF-8 text", path=name, line=line, hint="Scenes are TOML files.") from None
    return parse(text, file.parent, name, overrides=overrides)


def parse(
    text: str,
    folder: str | os.PathLike[str] | None = None,
    name: str = "scene",
    *,
    overrides: Sequence[Override] = (),
    meshes: bool = True,
) -> Scene:
    """The Scene in a TOML text; mesh paths are relative to ``folder``, errors call the text ``name``.

    ``meshes = False`` does not look whether mesh files exist.
    """
    table = _table(text, name)
    origins = apply(table, overrides)
    place = None if folder is None else FilePath(folder)
    built: dict[str, list[Any]] = {"bodies": [], "actions": [], "measures": []}
    tops: list[SceneFile] = []
    problems = without_repeats(_build(table, built, tops))
    if not problems:
        problems = without_repeats(cross_check(table, tops[0].time, built, place if meshes else None))
    if problems:
        raise _error(problems, text, name, origins)
    (top,) = tops
    given: Table = {**vars(top), **built, "folder": place}
    del given["schema"]
    return Scene(**given)


def read_members(text: str) -> tuple[Table, list[ActionParameters], list[SceneMember]]:
    """The tables of a scene's text, and of its actions and measures those that can be built here: for looking
    at a recorded run, which may come from another version or use packages that are not installed."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}, [], []
    built: dict[str, list[Any]] = {}
    for family in ("actions", "measures"):
        entries = [entry for _, entry in _tables(table.get(family, []), family) if isinstance(entry, dict)]
        built[family] = [made for entry in entries if (made := build_member(family, entry)) is not None]
    return table, built["actions"], built["measures"]


def build_member(family: str, table: Table) -> Any:
    """The action or measure of one table of a scene; None where it is not valid, or not known here."""
    made: list[Any] = []
    deque(_member(family, table, (family, 0), made), maxlen=0)
    return made[0] if made else None


def _table(text: str, name: str) -> Table:
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        what, _, where = str(error).partition(" (at ")
        digits = "".join(c if c.isdigit() else " " for c in where).split()
        line = int(digits[0]) if digits else text.count("\n") + 1
        raise SceneError(f"not valid TOML: {what[:1].lower()}{what[1:]}", path=name, line=line) from None
    except RecursionError:
        raise SceneError("not a scene: nested too deeply", path=name) from None


def _build(table: Table, built: dict[str, list[Any]], tops: list[SceneFile]) -> Iterator[Problem]:
    """Fill ``built`` with bodies, actions and measures, and ``tops`` with the rest; yield what is wrong."""
    if "schema" not in table:
        yield Problem(("schema",), "is missing: a scene starts with the line schema = 1", rank=2)
    elif table["schema"] != 1 or isinstance(table["schema"], bool):
        yield Problem(("schema",), f"this pliant reads schema 1, the file says {shown(table['schema'])}")
    yield from wrong_names(SceneFile, table, ())
    yield from wrong_time_names(table.get("time"))
    top = {k: v for k, v in table.items() if k not in built and k != "schema"}
    yield from _making(SceneFile, top, (), tops)
    if not table.get("bodies"):
        yield Problem(("bodies",), "a scene needs at least one body: [[bodies]]", rank=2)
    for family, items in built.items():
        for at, entry in _tables(table.get(family, []), family):
            if isinstance(entry, Problem):
                yield entry
            elif family == "bodies":
                yield from _body(entry, at, items)
            else:
                yield from _member(family, entry, at, items)


def _tables(entries: Any, family: str) -> Iterator[tuple[Path, Any]]:
    """The tables of an array of tables, each with its place; a Problem where something else stands."""
    if isinstance(entries, dict):
        yield (family,), Problem((family,), f"write [[{family}]], with two brackets: there may be several")
    elif not isinstance(entries, list):
        yield (family,), Problem((family,), f"expected tables headed [[{family}]], got {shown(entries)}")
    else:
        for number, entry in enumerate(entries):
            at = (family, number)
            ok = isinstance(entry, dict)
            yield at, entry if ok else Problem(at, f"expected a table, got {shown(entry)}")


def _body(table: Table, at: Path, items: list[Any]) -> Iterator[Problem]:
    yield from wrong_names(Body, table, at)
    yield from wrong_body_names(table, at)
    material = table.get("material")
    if isinstance(material, dict):
        yield from _making(Material, material, (*at, "material"))
    elif isinstance(material, str) and material not in presets.names():
        yield Problem((*at, "material"), presets.unknown(material))
    yield from _making(Body, table, at, items)


def _member(family: str, table: Table, at: Path, items: list[Any]) -> Iterator[Problem]:
    """An action or a measure."""
    registry = FAMILIES[family]
    kind = table.get("type")
    if not isinstance(kind, str) or kind not in registry:
        what, known = registry.family, list(registry)
        if kind is None:
            yield Problem((*at, "type"), f"is missing: which {what}? known: {', '.join(sorted(known))}", 2)
        else:
            yield Problem((*at, "type"), f"unknown {what} {shown(kind)}; {nearest(str(kind), known)}")
        return
    cls: Any = registry[kind]
    rest = {key: value for key, value in table.items() if key != "type"}
    main = cls.main
    short = {key: rest.pop(key) for key in _SHORTHAND if key in rest and key not in keys_of(cls)}
    if short and main is None:
        yield Problem((*at, next(iter(short))), f"'{kind}' has nothing that can be keyed", rank=0)
    elif short and main in rest:
        yield Problem((*at, "keys"), f"stands for {main}: give one of them, not both")
    elif "ease" in short and "keys" not in short:
        yield Problem((*at, "ease"), "says how to go between keys, and there are no keys")
    yield from wrong_names(cls, rest, at, extra=_SHORTHAND if main else ())
    if not short or main is None:
        yield from _making(cls, rest, at, items)
    elif "keys" in short and main not in rest:
        for problem in _making(cls, {**rest, main: short}, at, items):
            own = problem.path[: len(at) + 1] == (*at, main)
            yield Problem((*at, "keys"), problem.text, problem.rank) if own else problem


def _making(cls: Any, table: TableView, at: Path, items: list[Any] | None = None) -> Iterator[Problem]:
    try:
        made = from_table(cls, dict(table))
        if items is not None:
            items.append(made)
    except ValidationError as error:
        yield from from_pydantic(error, table, at)
    except PliantError as error:
        yield Problem(at, str(error))


def _error(problems: list[Problem], text: str, name: str, origins: Mapping[Path, str]) -> SceneError:
    """The first problem as an error; those in what was overridden name the option instead of a line."""
    lines = lines_of(text)

    def order(problem: Problem) -> tuple[float, int]:
        return line_of(lines, problem.path) or math.inf, problem.rank

    first = min(problems, key=order)
    others = len(problems) - 1
    more = f" (and {others} more problem{'s' * (others > 1)})" if others else ""
    key, line = spelled(first.path) or None, line_of(lines, first.path)
    for path, origin in origins.items():
        shared = min(len(path), len(first.path))
        if path[:shared] == first.path[:shared] and (len(path) <= shared or first.path not in lines):
            return SceneError(first.text + more, path=f"{name}, {origin}", key=key)
    return SceneError(first.text + more, path=name, line=line, key=key)


def _similar(file: FilePath) -> str | None:
    """A hint that names a file of nearly the same name."""
    from difflib import get_close_matches

    if not file.parent.is_dir():
        return f"There is no folder '{file.parent}'."
    names = [entry.name for entry in file.parent.iterdir() if entry.suffix == ".toml"]
    close = get_close_matches(file.name, names, 1)
    return f"Did you mean '{file.parent / close[0]}'?" if close else None
