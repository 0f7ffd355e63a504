"""Lines of TOML entries: where ``bodies[0].shape.box.size`` stands in the text.

``tomllib`` gives values without their places. This scanner gives places without values; it expects text that
``tomllib`` has accepted, and knows just enough TOML not to be fooled by strings and nesting.
"""

import re
from bisect import bisect_left
from collections.abc import Callable

from pliant.core.validation_messages import Path

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]*")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|' r"'''(?:.|\n)*?'{3,5}|" r'"(?:\\.|[^"\\\n])*"|' r"'[^'\n]*'", re.DOTALL
)


def lines_of(text: str) -> dict[Path, int]:
    """Line (from 1) of every entry of a TOML text, by its path: ``("bodies", 0, "edge")``."""
    try:
        return _Scanner(text).scan()
    except RecursionError:  # absurd nesting: do without lines
        return {}


def line_of(lines: dict[Path, int], path: Path) -> int | None:
    """Line of the entry ``path``, or of the nearest entry around it that has one."""
    for end in range(len(path), 0, -1):
        if path[:end] in lines:
            return lines[path[:end]]
    return None


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text, self.at, self.lines = text, 0, dict[Path, int]()
        self.ends = [match.start() for match in re.finditer("\n", text)]
        self.counts: dict[Path, int] = {}  # entries so far of each array of tables

    def scan(self) -> dict[Path, int]:
        table: Path = ()
        self._skip(_BLANK)
        while self.at < len(self.text):
            if self._peek("["):
                table = self._header()
            else:
                self._entry(table)
            self._skip(_BLANK)
        return self.lines

    def _header(self) -> Path:
        """``[time]``, ``[bodies.material]`` or ``[[bodies]]``; the path of what follows."""
        line, double = self._line(), self._peek("[[")
        self.at += 2 if double else 1
        names = self._key()
        self.at += 2 if double else 1
        path: Path = ()
        for name in names[:-1]:
            path = (*path, name)
            self.lines.setdefault(path, line)
            path = self._last(path)
        path = (*path, names[-1])
        if double:
            self.counts[path] = self.counts.get(path, 0) + 1
            self.lines.setdefault(path, line)
        path = self._last(path)
        self.lines.setdefault(path, line)
        return path

    def _last(self, path: Path) -> Path:
        """``path``, or its last entry where it is an array of tables."""
        return (*path, self.counts[path] - 1) if path in self.counts else path

    def _entry(self, table: Path) -> None:
        """``key = value``"""
        line, path = self._line(), table
        for name in self._key():
            path = (*path, name)
            self.lines.setdefault(path, line)
        self.at += 1  # the equals sign
        self._skip(_SPACE)
        self._value(path)

    def _key(self) -> list[str]:
        """``a.b."c d"`` up to the sign that ends it."""
        names = []
        while True:
            self._skip(_SPACE)
            quoted = _STRING.match(self.text, self.at)
            match = quoted or _BARE_KEY.match(self.text, self.at)
            if match is None:  # cannot be in text that tomllib accepts
                raise ValueError(f"line {self._line()}: not a key")
            names.append(match[0][1:-1] if quoted else match[0])
            self.at = match.end()
            self._skip(_SPACE)
            if not self._peek("."):
                return names
            self.at += 1

    def _value(self, path: Path) -> None:
        string = _STRING.match(self.text, self.at)
        if string:
            self.at = string.end()
        elif self._peek("["):
            self._nested("]", lambda number: self._item((*path, number)))
        elif self._peek("{"):
            self._nested("}", lambda _: self._entry(path))
        else:
            self._skip(_BARE_VALUE)

    def _item(self, path: Path) -> None:
        self.lines[path] = self._line()
        self._value(path)

    def _nested(self, end: str, read: Callable[[int], None]) -> None:
        """An array or inline table: ``read`` is called for each of its entries, with their number."""
        self.at += 1
        number = 0
        self._skip(_BLANK)
        while self.at < len(self.text) and not self._peek(end):
            read(number)
            number += 1
            self._skip(_BLANK)
            if self._peek(","):
                self.at += 1
                self._skip(_BLANK)
        self.at += 1

    def _peek(self, sign: str) -> bool:
        return self.text.startswith(sign, self.at)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def _line(self) -> int:
        return bisect_left(self.ends, self.at) + 1
