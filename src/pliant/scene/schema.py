"""What a scene file must have right besides the values of its entries, which pydantic checks.

Keys are read off the parameter classes, and looked at first: a wrong name deserves the nearest right one.
Entries that are valid one by one are then checked against each other (``cross_check``), without a mesh.
"""

import typing
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from pydantic import Field

from pliant.actions import ACTIONS
from pliant.contact import Contact
from pliant.core import curves
from pliant.core.parameters import kebab, parameters
from pliant.core.registry import Registry, nearest
from pliant.core.tables import Table, TableView
from pliant.core.validation_messages import Path, Problem, unknown_key
from pliant.integrators import INTEGRATORS
from pliant.materials import Material
from pliant.measures import MEASURES
from pliant.mesh.shapes import SHAPES
from pliant.models import MODELS
from pliant.scene.camera import CameraKeys
from pliant.scene.scene import RecordSettings, TimeSettings, complete_names

FAMILIES: dict[str, Registry[Any]] = {"actions": ACTIONS, "measures": MEASURES}
MOST_FRAMES = 10_000_000
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
    camera: CameraKeys | None = None
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


def mentions(hint: Any, wanted: Collection[Any]) -> bool:
    """Whether a type is one of ``wanted`` or made of them."""
    return hint in wanted or any(mentions(part, wanted) for part in parts(hint))


def is_keyed(hint: Any) -> bool:
    """Whether a field of this type takes keys."""
    return mentions(hint, KEYED)


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
        inner, entry = class_in(hint), vars(cls).get("kind")
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


def parts(hint: Any) -> tuple[Any, ...]:
    """The types that a type is made of, without its annotations."""
    if typing.get_origin(hint) is Annotated:
        return (typing.get_args(hint)[0],)
    return typing.get_args(hint)


def class_in(hint: Any) -> type | None:
    """The parameter class in a type such as ``Plane | None`` or ``tuple[Region, ...]``."""
    if isinstance(hint, type) and is_dataclass(hint):
        return hint
    return next((found for part in parts(hint) if (found := class_in(part)) is not None), None)


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
