"""What is wrong with a scene file or with given values, found by us or by pydantic, as one message each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from pydantic import ValidationError

from pliant.core.parameters import kebab, keys_named
from pliant.core.registry import nearest
from pliant.core.tables import TableView

Path = tuple[str | int, ...]


def spelled(path: Path) -> str:
    """``("bodies", 0, "edge")`` as ``bodies[0].edge``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


@dataclass(frozen=True)
class Problem:
    """Something wrong at an entry; ``rank`` 0 is a wrong name, 1 a wrong value, 2 something missing."""

    path: Path
    text: str
    rank: int = 1


def unknown_key(path: Path, known: Iterable[str]) -> Problem:
    return Problem(path, f"unknown key; {nearest(str(path[-1]), list(known))}", rank=0)


def from_pydantic(error: ValidationError, raw: Mapping[Any, Any], at: Path) -> Iterator[Problem]:
    """The problems in a validation error of the table ``raw``, which stands at ``at``."""
    for path, entries in _by_place(error, raw).items():
        if any(entry["type"] == "unexpected_keyword_argument" for entry in entries):
            yield Problem((*at, *path), "unknown key", rank=0)
        elif entries[0]["type"] == "missing" and isinstance(entries[0]["loc"][-1], int):  # a short list
            wanted, given = 1 + max(entry["loc"][-1] for entry in entries), len(entries[0]["input"])
            yield Problem((*at, *path), f"expected {wanted} values, got {given}")
        else:
            rank = 2 if entries[0]["type"] == "missing" else 1
            yield Problem((*at, *path), _joined([_text(entry) for entry in entries]), rank)


def explained(cls: Any, error: ValidationError, args: Sequence[Any], given: TableView) -> str:
    """The problems of values given from Python to the parameter class ``cls``, in one line."""
    names = [entry.name for entry in fields(cls) if entry.init]
    places: dict[str | int, str] = {number: f"value {number + 1}" for number in range(len(args))}
    places |= dict(enumerate(entry.name for entry in fields(cls) if entry.init and not entry.kw_only))
    places |= {kebab(name): name for name in names}
    values: dict[Any, Any] = {**dict(enumerate(args)), **given}
    values |= {kebab(name): value for name, value in given.items()}
    told: dict[str, str] = {}  # by text: each once
    for problem in without_repeats(from_pydantic(error, values, ())):
        first, *rest = problem.path or ("",)
        unknown = problem.rank == 0 and not rest
        text = unknown_key(problem.path, names).text if unknown else problem.text
        told.setdefault(text, spelled((places.get(first, str(first)), *rest)))
    return "; ".join(text if text.startswith(place) else f"{place}: {text}" for text, place in told.items())


def _joined(texts: list[str]) -> str:
    """What the members of a union say about a value, as one sentence."""
    *others, last = dict.fromkeys(texts)
    return "".join(f"{text.rsplit(', got ')[0]} or " for text in others) + (
        last.removeprefix("expected ") if others else last
    )


def _by_place(error: ValidationError, raw: Mapping[Any, Any]) -> dict[Path, list[Any]]:
    found: dict[Path, list[Any]] = {}
    for entry in error.errors(include_url=False):
        found.setdefault(_real_path(entry["loc"], raw, entry["type"] == "missing"), []).append(entry)
    return found


def _real_path(loc: tuple[str | int, ...], raw: Any, missing: bool) -> Path:
    """Pydantic's place as the file has it: without the names of union members, with the shape's name."""
    path: list[str | int] = []
    for number, part in enumerate(loc):
        if path and path[-1] == "shape" and isinstance(raw, dict) and len(raw) == 1 and part not in raw:
            ((name, raw),) = raw.items()
            path.append(name)
        inside = (
            part in raw
            if isinstance(raw, dict)
            else isinstance(raw, list | tuple) and part in range(len(raw))
        )
        if inside:
            raw = raw[part]
            path.append(part)
        elif missing and number == len(loc) - 1 and isinstance(part, str):
            path.append(part)
    return tuple(path)


_TEXTS = {  # by pydantic's type of error
    "missing": "is missing",
    "unexpected_positional_argument": "is one value too many",
    "string_type": "expected text in quotes, got {input}",
    "int_type": "expected a whole number, got {input}",
    "int_parsing": "expected a whole number, got {input}",
    "int_from_float": "expected a whole number, got {input}",
    "bool_type": "expected true or false, got {input}",
    "bool_parsing": "expected true or false, got {input}",
    "list_type": "expected a list, got {input}",
    "tuple_type": "expected a list, got {input}",
    "dataclass_type": "expected a table {{ {keys} }}, got {input}",
    "literal_error": "expected {expected}, got {input}",
    "greater_than": "must be greater than {gt:g}, got {input}",
    "greater_than_equal": "must be at least {ge:g}, got {input}",
    "less_than": "must be less than {lt:g}, got {input}",
    "less_than_equal": "must be at most {le:g}, got {input}",
    "too_long": "expected {max_length} values, got {actual_length}",
    "string_pattern_mismatch": "a name is a letter and then letters, digits, - or _, got {input}",
    "finite_number": "expected a finite number, got {input}",
}


def _text(entry: Any) -> str:
    kind = entry["type"]
    if kind in _TEXTS:
        told = {**entry.get("ctx", {}), "input": shown(entry["input"])}
        told["keys"] = ", ".join(keys_named(str(told.get("class_name")))) or "..."
        return _TEXTS[kind].format(**told)
    return str(entry["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")


def shown(value: object) -> str:
    """A value as the file has it, shortened."""
    if isinstance(value, bool):
        return str(value).lower()
    text = "a table" if isinstance(value, dict) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def without_repeats(problems: Iterable[Problem]) -> list[Problem]:
    """Each entry's first problem; none about a table where one about something in it came before."""
    kept: list[Problem] = []
    for problem in problems:
        size = len(problem.path)
        if not any(other.path[:size] == problem.path for other in kept):
            kept.append(problem)
    named = {problem.path[:-1] for problem in kept if problem.rank == 0}
    return [problem for problem in kept if problem.rank < 2 or problem.path[:-1] not in named]
