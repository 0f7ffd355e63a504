"""Points of a sweep: values of scene keys, from lists, ranges, samples or a table."""

import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from pliant.core.errors import InputError
from pliant.core.option_names import option
from pliant.core.tables import TableView
from pliant.core.units import to_si
from pliant.scene.override import value_of

Point = dict[str, Any]
"""Values by scene key, as ``--set`` has them; numbers are SI."""
_COLUMN = re.compile(r"^(?P<key>.+?)\s*(?:\[(?P<unit>[^\[\]]*)\])?$")
_SYNTAX = "Write a,b,c or a..b:5 or log:a..b:5."
MOST = 1_000_000  # points of a sweep


class Quantity(float):
    """A number in SI that remembers the unit it was given in, so that a length is refused as a pressure."""

    unit: str

    def __new__(cls, value: float, unit: str) -> "Quantity":
        made = super().__new__(cls, value)
        made.unit = unit
        return made


@dataclass(frozen=True)
class Variation:
    """The values that a scene key takes: a list of ``values``, or a range from ``low`` to ``high``.

    count: values of the range, evenly spaced (in the logarithm if ``log``); None: the range is sampled.
    unit: in SI, of a range whose ends were given with one.
    """

    key: str
    values: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    count: int | None = None
    whole: bool = False
    unit: str = ""

    @property
    def is_range(self) -> bool:
        return not self.values

    def at(self, share: float) -> Any:
        """The value at ``share``, 0 to 1, of the range, or of the list."""
        if not self.is_range:
            return self.values[min(int(share * len(self.values)), len(self.values) - 1)]
        if self.log:
            value = math.exp(math.log(self.low) + share * math.log(self.high / self.low))
        else:
            value = self.low + share * (self.high - self.low)
        value = float(f"{value:.12g}")  # 0.3, not 0.30000000000000004
        if self.unit:
            return Quantity(value, self.unit)
        return int(value) if self.whole and value == int(value) else value

    def grid(self) -> list[Any]:
        """All values of a list or of a range with a count."""
        if not self.is_range:
            return list(self.values)
        if self.count is None:
            raise InputError(
                f"{option('vary', key=self.key)}: the range has no number of values.",
                hint=f"Write a..b:5, or take samples of the ranges with {option('sample', 'sobol:64')}.",
            )
        if self.count == 1:
            return [self.at(0.0)]
        return [self.at(k / (self.count - 1)) for k in range(self.count)]


def read_variation(text: str) -> Variation:
    """From ``key=a,b,c``, ``key=a..b:n`` or ``key=log:a..b:n``; strings may include units."""
    key, equals, given = (part.strip() for part in text.partition("="))
    if not equals or not key or not given:
        raise InputError(f"{option('vary', text)}: expected key=values.", hint=_SYNTAX)
    return vary(key, given)


def vary(key: str, given: Any) -> Variation:
    """The variation of ``key`` by a list of values, or by a text such as ``"1 MPa..4 MPa:5"``."""
    if isinstance(given, Variation):
        return given
    if not isinstance(given, str):
        several = isinstance(given, Iterable) and not isinstance(given, Mapping)
        values = list(given) if several else [given]
        return _listed(key, [v.item() if isinstance(v, np.generic) else v for v in values])
    log = given.startswith("log:")
    body = given.removeprefix("log:")
    low, dots, rest = body.partition("..")
    if not dots or given[0] in "[{\"'":
        if log:
            raise InputError(f"{option('vary', given, key)}: log belongs to a range.", hint=_SYNTAX)
        parts = split(given)
        bare = [part for part in parts if _is_number(part) and float(part) != 0]
        if bare and any(isinstance(si_value(part), Quantity) for part in parts):
            raise InputError(
                f"{option('vary', given, key)}: {bare[0]} has no unit, others have one.",
                hint="Write the unit after each value.",
            )
        return _listed(key, [value_of(part) for part in parts])
    high, *options = rest.split(":")
    count = None
    for part in options:
        if part == "log":
            log = True
        elif part.isdigit() and int(part) > 0:
            count = int(part)
        else:
            raise InputError(f"{option('vary', given, key)}: '{part}' is no number of values.", hint=_SYNTAX)
    first, last, unit = _ends(key, low, high)
    if log and (first <= 0 or last <= 0):
        raise InputError(f"{option('vary', given, key)}: a logarithmic range has both ends above 0.")
    plain = not log and all(re.fullmatch(r"\s*[-+]?\d+\s*", end) for end in (low, high))
    return Variation(key, low=first, high=last, log=log, count=count, whole=plain, unit=unit)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _ends(key: str, low: str, high: str) -> tuple[float, float, str]:
    """Both ends in SI and their unit; a unit at the upper one alone holds for both."""
    try:
        last, unit = to_si(high)
        first, own = to_si(low)
        if unit and not own:
            first, own = to_si(f"{low.strip()} {re.sub(r'^[-+0-9.eE_ ]+', '', high.strip())}")
    except ValueError as error:
        raise InputError(f"{option('vary', f'{low}..{high}', key)}: {error}.", hint=_SYNTAX) from None
    if own != unit:
        raise InputError(
            f"{option('vary', f'{low}..{high}', key)}: one end is in {own or '1'}, "
            f"the other in {unit or '1'}."
        )
    return first, last, unit


def _listed(key: str, values: Sequence[Any]) -> Variation:
    if not values:
        raise InputError(f"{option('vary', key=key)}: no values.", hint=_SYNTAX)
    return Variation(key, values=tuple(si_value(value) for value in values))


def si_value(value: Any) -> Any:
    """A text with a unit as a number in SI; anything else as it is."""
    if isinstance(value, str):
        try:
            number, unit = to_si(value)
        except ValueError:
            return value
        return Quantity(number, unit) if unit else number
    return value


def split(text: str) -> list[str]:
    """``a, [1, 2], "b, c"`` at the commas outside of brackets and quotes."""
    parts, depth, quote, start = list[str](), 0, "", 0
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{(":
            depth += 1
        elif letter in "]})":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def grid(variations: Sequence[Variation]) -> list[Point]:
    """All combinations; the last key varies fastest."""
    keys = [variation.key for variation in variations]
    _refuse_too_many(math.prod(each.count or len(each.values) or 1 for each in variations))
    return [dict(zip(keys, values, strict=True)) for values in product(*(each.grid() for each in variations))]


def _refuse_too_many(count: int) -> None:
    if count > MOST:
        raise InputError(
            f"{count} points are more than the {MOST} that a sweep may have.",
            hint=f"Vary fewer values, or take samples with {option('sample', 'sobol:64')}.",
        )


def sample(variations: Sequence[Variation], text: str) -> list[Point]:
    """``sobol:256``: the first so many points of a scrambled Sobol sequence over ranges and lists.

    The scrambling is fixed, so that a longer sample begins with the shorter one.
    """
    kind, _, number = text.partition(":")
    if kind != "sobol" or not number.isdigit() or int(number) < 1:
        raise InputError(f"{option('sample', text)}: expected sobol:N.", hint="For example sobol:64")
    _refuse_too_many(int(number))
    if not variations:
        raise InputError(
            f"{option('sample')} needs ranges to take samples of.",
            hint=f"Add {option('vary', 'a..b', 'key')}",
        )
    for each in variations:
        if each.count is not None:
            raise InputError(
                f"{option('vary', key=each.key)}: a number of values does not go with {option('sample')}.",
                hint="Write a..b",
            )
    points = []
    for row in sobol(len(variations), int(number)):
        points.append({v.key: v.at(share) for v, share in zip(variations, row, strict=True)})
    return points


def sobol(dimensions: int, count: int) -> list[list[float]]:
    """``count`` points of the unit cube."""
    from scipy.stats import qmc

    whole = 1 << max(0, (count - 1).bit_length())
    rows: list[list[float]] = qmc.Sobol(dimensions, scramble=True, rng=0).random(whole)[:count].tolist()
    return rows


def from_table(path: Path) -> list[Point]:
    """The points of a CSV file: a header of keys, each with a unit in brackets where its values have one."""
    header, rows = read_csv(path)
    columns = [read_title(name) for name in header]
    points = []
    for number, row in enumerate(rows, 2):
        point: Point = {}
        for (key, unit), text in zip(columns, row, strict=True):
            if key in ("point", "run") or not text.strip():
                continue
            try:
                point[key] = Quantity(*to_si(f"{text} {unit}")) if unit else si_value(value_of(text))
            except ValueError as error:
                raise InputError(f"{path}, line {number}: {key}: {error}.") from None
        points.append(point)
    if not points:
        raise InputError(
            f"{path} has no points.", hint="It needs a header of keys and a line for each point."
        )
    return points


def read_title(title: str) -> tuple[str, str]:
    """Name and unit in the header of a column, ``edge [mm]``; "" where there is no unit."""
    match = _COLUMN.match(title)
    return (match["key"], match["unit"] or "") if match else (title, "")


def read_csv(path: Path) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a CSV file; comment lines (#) and empty ones are left out."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in file if line.strip() and not line.lstrip().startswith("#")]
    except OSError as error:
        raise InputError(f"{path} could not be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} could not be read: {error}.") from None
    rows = list(csv.reader(lines))
    if not rows:
        raise InputError(f"{path} is empty.")
    header = [name.strip() for name in rows[0]]
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise InputError(f"{path}: two columns are called '{twice}'.")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise InputError(f"{path}, line {number}: {len(row)} values for {len(header)} columns.")
    return header, rows[1:]


def label(point: TableView) -> str:
    """``young=1e+06 edge=0.02``: the last part of each key and its value."""
    short = {key: key.rpartition(".")[2] for key in point}
    short |= {key: ".".join(key.split(".")[-2:]) for key, name in short.items() if name.isdigit()}
    names = [key if list(short.values()).count(name) > 1 else name for key, name in short.items()]
    shown = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in point.values()]
    return " ".join(f"{name}={value}" for name, value in zip(names, shown, strict=True))
