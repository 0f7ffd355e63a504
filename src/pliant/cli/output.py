"""What commands print: results on stdout, everything else on stderr."""

import json
import math
import sys
from collections.abc import Sequence
from typing import Any

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
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if hasattr(value, "tolist"):  # NumPy
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


def seconds(value: float) -> str:
    """A span of time for people."""
    if value < 0.1:
        return f"{value * 1e3:.3g} ms"
    if value < 120:
        return f"{value:.3g} s"
    return f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"


def size(count: float) -> str:
    """A number of bytes for people."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
