"""Text files of numbers, read row by row with errors that name the line."""

import math
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import AnyArray, Array, IntArray

TEXT_HINT = "Check that the file is a text file of this format and was saved completely."


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, line ends as ``\\n``; anything else is an error that names the line."""
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise MeshError(f"{path}:{line}: not UTF-8 text.", hint=TEXT_HINT) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise MeshError(f"{path}:{line}: binary data in a text format.", hint=TEXT_HINT)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse_tokens(
    path: Path, tokens: Sequence[str], line_of: Callable[[int], int], kind: type[float] | type[int]
) -> AnyArray:
    """The tokens as an array; one that is no (finite) number is an error at the line ``line_of(place)``."""
    try:
        numbers = np.array(list(map(kind, tokens)), dtype=_TYPES[kind])
        if np.isfinite(numbers).all():
            return numbers
    except (ValueError, OverflowError):
        pass
    what = "a finite number" if kind is float else "a whole number"
    for k, token in enumerate(tokens):
        if not _is_number(token, kind):
            raise MeshError(f"{path}:{line_of(k)}: expected {what}, got '{token[:40]}'.", hint=TEXT_HINT)
    raise MeshError(f"{path}: numbers that cannot be read.", hint=TEXT_HINT)


def parse_rows(
    path: Path, rows: list[list[str]], lines: list[int], kind: type[float] | type[int]
) -> AnyArray:
    """The tokens of ``rows``, which stand on ``lines``, as one flat array."""

    def line_of(k: int) -> int:
        return lines[int(np.searchsorted(np.cumsum([len(row) for row in rows]), k, side="right"))]

    return parse_tokens(path, list(chain.from_iterable(rows)), line_of, kind)


_TYPES = {float: np.float64, int: np.int64}


def _is_number(token: str, kind: type[float] | type[int]) -> bool:
    try:
        return abs(kind(token)) < (math.inf if kind is float else 2**63)
    except ValueError:
        return False


class TextRows:
    """The rows of a text file that are not empty, taken from the top."""

    def __init__(self, path: Path, comment: str | None = None) -> None:
        self.path = path
        self.tokens: list[list[str]] = []
        self.lines: list[int] = []
        for number, text in enumerate(read_text(path).split("\n"), 1):
            row = (text.split(comment, 1)[0] if comment else text).split()
            if row:
                self.tokens.append(row)
                self.lines.append(number)
        self.next = 0

    def fail(self, message: str, *, hint: str = TEXT_HINT) -> MeshError:
        """An error at the row taken last."""
        line = self.lines[max(self.next - 1, 0)] if self.lines else 1
        return MeshError(f"{self.path}:{line}: {message}", hint=hint)

    def left(self) -> int:
        """How many rows have not been taken."""
        return len(self.tokens) - self.next

    def row(self, what: str) -> list[str]:
        """The next row."""
        if not self.left():
            raise self.fail(f"the file ends where {what} should be.")
        self.next += 1
        return self.tokens[self.next - 1]

    def whole(self, token: str, what: str) -> int:
        """A whole number of the row taken last."""
        try:
            return int(token)
        except ValueError:
            raise self.fail(f"expected {what}, got '{token[:40]}'.") from None

    def count(self, token: str, what: str) -> int:
        """A number of items of which each still has a row."""
        value = self.whole(token, f"the number of {what}")
        if value < 0:
            raise self.fail(f"a negative number of {what}: {value}.")
        if value > self.left():
            raise self.fail(f"{value} {what} are announced, but only {self.left()} more lines follow.")
        return value

    def floats(self, count: int, width: int, what: str, *, more: bool = False) -> Array:
        """The next ``count`` rows of ``width`` numbers (``more``: or more); shape (count, width)."""
        rows, lines = self._take(count, width, what, more)
        return np.asarray(parse_rows(self.path, rows, lines, float).reshape(count, width))

    def integers(self, count: int, width: int, what: str, *, more: bool = False) -> IntArray:
        """The next ``count`` rows of ``width`` whole numbers; shape (count, width)."""
        rows, lines = self._take(count, width, what, more)
        return np.asarray(parse_rows(self.path, rows, lines, int).reshape(count, width))

    def ragged(self, count: int, counter: int, what: str) -> list[list[int]]:
        """The next ``count`` rows of whole numbers, whose number ``counter`` says how many follow it."""
        taken = self.tokens[self.next : self.next + count]
        lines = self.lines[self.next : self.next + count]
        flat = iter(parse_rows(self.path, taken, lines, int).tolist())
        rows = [[next(flat) for _ in row] for row in taken]
        for row in rows:
            self.next += 1
            if len(row) <= counter or row[counter] < 0 or len(row) < counter + 1 + row[counter]:
                raise self.fail(f"this row of {what} does not have as many numbers as it says.")
        return rows

    def _take(self, count: int, width: int, what: str, more: bool) -> tuple[list[list[str]], list[int]]:
        rows = self.tokens[self.next : self.next + count]
        lines = self.lines[self.next : self.next + count]
        for k, row in enumerate(rows):
            if len(row) < width or (len(row) > width and not more):
                self.next += k + 1
                raise self.fail(f"expected {width} numbers for {what}, got {len(row)}.")
        self.next += count
        return ([row[:width] for row in rows] if more else rows), lines
