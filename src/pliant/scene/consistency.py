"""What a scene file must have right beyond the values of its entries, and that needs no mesh to tell."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from pliant.core.registry import nearest
from pliant.core.tables import TableView
from pliant.core.validation_messages import Path, Problem
from pliant.scene.scene import TimeSettings, complete_names

MOST_FRAMES = 10_000_000


def cross_check(
    table: TableView, time: TimeSettings, built: Mapping[str, list[Any]], folder: FilePath | None
) -> Iterator[Problem]:
    """Problems of a scene whose entries are valid one by one; ``folder`` None: meshes are not looked for."""
    yield from _time(time)
    yield from _body_names(table)
    yield from _references(table)
    yield from _labels(table, built)
    if folder is not None:
        for number, body in enumerate(table["bodies"]):
            if "mesh" in body:
                yield from _mesh(FilePath(body["mesh"]), folder, number)


def _time(plan: TimeSettings) -> Iterator[Problem]:
    frames = plan.duration * plan.fps
    if round(frames) < 1:
        yield Problem(
            ("time", "duration"),
            f"{plan.duration:g} s at {plan.fps:g} frames a second is less than one frame: raise one of them",
        )
    if frames > MOST_FRAMES:
        yield Problem(
            ("time", "duration"), f"{plan.duration:g} s at {plan.fps:g} frames a second is too much"
        )


def _body_names(table: TableView) -> Iterator[Problem]:
    seen: set[str] = set()
    for number, body in enumerate(table["bodies"]):
        name = body.get("name")
        if name is not None and name in seen:
            yield Problem(("bodies", number, "name"), f"another body is called '{name}' already")
        seen.add(name)


def _references(table: TableView) -> Iterator[Problem]:
    """Actions, measures and pairs of contact that point at bodies which are not there."""
    known = complete_names([body.get("name") for body in table["bodies"]])
    for path, name in _named(table):
        if isinstance(name, str) and name not in known:
            yield Problem(path, f"there is no body '{name}'; {nearest(name, known)}")


def _named(table: TableView) -> Iterator[tuple[Path, Any]]:
    """Where a scene names bodies, and what it says there."""
    for family in ("actions", "measures"):
        for number, entry in enumerate(table.get(family, [])):
            at = (family, number)
            yield (*at, "body"), entry.get("body")
            yield (*at, "to"), entry.get("to")
            if isinstance(entry.get("select"), dict):
                yield (*at, "select", "body"), entry["select"].get("body")
            for place, name in enumerate(entry.get("bodies", ())):
                yield (*at, "bodies", place), name
    for number, pair in enumerate(table.get("contact", {}).get("pairs", ())):
        for place, name in enumerate(pair.get("bodies", ())):
            yield ("contact", "pairs", number, "bodies", place), name


def _labels(table: TableView, built: Mapping[str, list[Any]]) -> Iterator[Problem]:
    """Series need names that differ: of measures, and of actions that bring their own."""
    labels = Counter[str]()
    for family in ("measures", "actions"):
        for number, (entry, made) in enumerate(zip(table.get(family, []), built[family], strict=True)):
            label = made.series_label
            if label is not None:
                labels[label] += 1
                if labels[label] > 1:
                    key = ("name",) if entry.get("name") else ()
                    yield Problem(
                        (family, number, *key),
                        f"another series is called '{label}' already; give this one a name of its own",
                    )


def _mesh(given: FilePath, folder: FilePath, number: int) -> Iterator[Problem]:
    path = folder / given
    at = ("bodies", number, "mesh")
    if not path.exists():
        dangling = " (a link to nothing)" if path.is_symlink() else ""
        yield Problem(at, f"there is no file {path}{dangling}")
    elif path.is_dir():
        yield Problem(at, f"{path} is a folder, not a mesh file")
    elif not path.is_file():
        yield Problem(at, f"{path} is not a file")
