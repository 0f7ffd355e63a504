"""Measured curves and what they are compared with: ``grip.x=F@t`` matches a series with a column."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.campaign.expression import Expression
from pliant.campaign.points import read_csv
from pliant.core.errors import InputError
from pliant.core.registry import nearest
from pliant.core.typing import Array
from pliant.core.units import si_unit, to_si

_HINT = "Write SERIES=COLUMN@COLUMN, as in grip.x=F_N@t_s, or grip.x=F_N@u_m:tip.x"
_COLUMN = re.compile(r"^(?P<name>.+?)\s*(?:\[(?P<unit>[^\[\]]*)\])?$")


@dataclass(frozen=True)
class MeasuredCurve:
    """A measured curve, in SI: ``y`` over ``x``; ``formula`` is what it is compared with, over the time of
    the simulation or over ``abscissa``, another formula of series."""

    text: str
    formula: str
    abscissa: str
    x: Array
    y: Array
    unit: str = ""

    @property
    def scale(self) -> float:
        """The size of the measured values (root mean square)."""
        return float(np.sqrt(np.mean(self.y**2))) or 1.0

    def predicted(self, x: Array, y: Array) -> Array:
        """The simulated curve at the measured places, linear in between."""
        order = np.argsort(x, kind="stable")
        found: Array = np.interp(self.x, x[order], y[order])
        return found


class Measurements:
    """Columns of CSV files by name; a header ``F [kN]`` gives a unit."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.columns: dict[str, Array] = {}
        self.units: dict[str, str] = {}
        for file in files:
            header, rows = read_csv(file)
            for number, title in enumerate(header):
                match = _COLUMN.match(title)
                assert match is not None
                name, unit = match["name"], match["unit"] or ""
                if name in self.columns:
                    raise InputError(f"{file}: another column is called '{name}' already.")
                self.columns[name] = _numbers(file, name, unit, [row[number] for row in rows])
                self.units[name] = si_unit(unit) if unit else ""

    def curve(self, text: str) -> MeasuredCurve:
        """The curve of ``SERIES=COLUMN@COLUMN``, with ``:FORMULA`` for an abscissa other than time."""
        formula, equals, rest = (part.strip() for part in text.partition("="))
        ordinate, at, across = (part.strip() for part in rest.partition("@"))
        column, _, abscissa = (part.strip() for part in across.partition(":"))
        if not (formula and equals and ordinate and at and column):
            raise InputError(f"--match {text}: not complete.", hint=_HINT)
        for part in (formula, abscissa or "time"):
            Expression(part)
        x, y = (self._column(name, text) for name in (column, ordinate))
        good = np.isfinite(x) & np.isfinite(y)
        if good.sum() < 3:
            raise InputError(
                f"--match {text}: {int(good.sum())} rows have both values; at least 3 are needed."
            )
        return MeasuredCurve(text, formula, abscissa or "time", x[good], y[good], self.units[ordinate])

    def _column(self, name: str, text: str) -> Array:
        if name not in self.columns:
            raise InputError(
                f"--match {text}: the data has no column '{name}'; {nearest(name, list(self.columns))}"
            )
        return self.columns[name]


def _numbers(file: Path, name: str, unit: str, cells: Sequence[str]) -> Array:
    """The cells of a column as numbers in SI; NaN where one is empty."""
    found = []
    for number, text in enumerate(cells, 2):
        try:
            plain = float(text) if text.strip() else float("nan")
            found.append(to_si(f"{text.strip()} {unit}")[0] if unit and text.strip() else plain)
        except ValueError:
            raise InputError(f"{file}, line {number}: {name} is '{text}', not a number.") from None
    return np.array(found)


def simulated_curve(series: Mapping[str, Any], formula: str, abscissa: str) -> tuple[Array, Array]:
    """Abscissa and ordinate of a formula over all frames of a simulation."""
    x = np.atleast_1d(np.asarray(Expression(abscissa).evaluate(series), float))
    y = np.broadcast_to(np.asarray(Expression(formula).evaluate(series), float), x.shape)
    return x, np.array(y)
