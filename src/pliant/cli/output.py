"""What commands print and write: results on stdout, everything else on stderr, files never over others."""

import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pliant.core.errors import StorageError
from pliant.core.text import seconds

PAUSE = 2.0  # seconds between plain lines of progress
Row = Sequence[Any]


def say(text: str = "") -> None:
    """A line of the result."""
    sys.stdout.write(text + "\n")


def note(text: str) -> None:
    """A line beside the result."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def error(message: str, hint: str | None = None) -> None:
    """The one message of a command that failed."""
    sys.stdout.flush()
    note(f"error: {message}")
    if hint:
        note(f"hint: {hint}")


def say_json(value: Any) -> None:
    """The result for machines; what is not a number comes out as null."""
    say(json.dumps(_plain(value), indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    import numpy as np

    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def say_pairs(pairs: Sequence[tuple[str, Any]], indent: str = "") -> None:
    """Names and values, one pair a line, aligned."""
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        say(f"{indent}{name:<{width}}  {value}".rstrip())


def say_table(head: Row, rows: Sequence[Row]) -> None:
    """Rows under a head, in columns; numbers to the right."""
    texts = [[cell(value) for value in row] for row in rows]
    widths = [max([len(str(h)), *(len(row[k]) for row in texts)]) for k, h in enumerate(head)]
    right = [all(isinstance(row[k], (int, float, type(None))) for row in rows) for k in range(len(head))]

    def line(values: Sequence[str]) -> str:
        return "  ".join(
            f"{v:>{w}}" if r else f"{v:<{w}}" for v, w, r in zip(values, widths, right, strict=True)
        )

    for values in ([str(h) for h in head], *texts):
        say(line(values).rstrip())


def cell(value: Any) -> str:
    """A value as text: numbers with four digits."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def make_parent(path: Path) -> None:
    """Make the folder that ``path`` will be in; StorageError where that cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"Cannot make the folder {path.parent}: {error.strerror or error}.") from error


def write_new(path: Path, text: str, force: bool = False) -> None:
    """``text`` as the new file ``path``, whose folder is made; StorageError where it cannot be written, or
    exists and ``force`` does not replace it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        hint = "Choose another name, or replace it with --force."
        raise StorageError(f"{path} exists already; it is not changed.", hint=hint) from None
    except OSError as error:
        raise StorageError(f"Cannot write {path}: {error.strerror or error}.") from error
    except ValueError as error:  # a name with a null in it
        raise StorageError(f"Cannot write {str(path)!r}: {error}.") from error


Count = Callable[[int, int], object]


@contextmanager
def counting(what: str, quiet: bool) -> Iterator[Count | None]:
    """A function to call with (done, total) while the work goes on."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
    else:
        yield _Lines(what)


class _Lines:
    """A line about every two seconds; what is left is judged by the work since the first of it was done."""

    def __init__(self, what: str) -> None:
        self._what, self._last = what, time.perf_counter()
        self._first: tuple[float, int] | None = None

    def __call__(self, done: int, total: int) -> None:
        now = time.perf_counter()
        since, begun = self._first = self._first or (now, done)
        if done < total and now - self._last >= PAUSE:
            self._last = now
            made = done - begun
            left = f"  {seconds((now - since) / made * (total - done))} left" if made else ""
            note(f"{self._what} {done}/{total}{left}")
