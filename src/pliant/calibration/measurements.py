"""Measured curves and what they are compared with: ``grip.x=F@t`` matches a series with a column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from pliant.campaign.expression import Expression, Value
from pliant.campaign.points import read_csv, read_title
from pliant.core.errors import InputError
from pliant.core.option_names import option
from pliant.core.registry import nearest
from pliant.core.typing import Array
from pliant.core.units import si_unit, to_si

_HINT = "Write SERIES=COLUMN@COLUMN, as in grip.x=F_N@t_s, or grip.x=F_N@u_m:tip.x"
TURN = 0.05  # of the range of an abscissa, by which it goes back where a branch ends


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
    x_unit: str = ""

    @property
    def scale(self) -> float:
        """The size of the measured values (root mean square)."""
        return float(np.sqrt(np.mean(self.y**2))) or 1.0

    def predicted(self, x: Array, y: Array) -> Array:
        """The simulated curve at the measured places, linear in between.

        Where the simulated abscissa goes back (loading and unloading), branches are compared with branches,
        in their order. InputError where the data has more of them.
        """
        simulated = [slice(0, len(x))] if self.abscissa == "time" else branches(x)
        if len(simulated) == 1:
            return _interpolated(self.x, x, y)
        measured = branches(self.x)
        if len(measured) > len(simulated):
            raise InputError(
                f"{self.text}: the data goes back and forth over {len(measured)} branches, "
                f"{self.abscissa} over {len(simulated)}.",
                hint="Match over time.",
            )
        pairs = zip(measured, simulated, strict=False)
        return np.concatenate([_interpolated(self.x[own], x[part], y[part]) for own, part in pairs])


def _interpolated(places: Array, x: Array, y: Array) -> Array:
    order = np.argsort(x, kind="stable")
    found: Array = np.interp(places, x[order], y[order])
    return found


def branches(x: Array) -> list[slice]:
    """Parts of ``x`` between its turns; changes of less than ``TURN`` of its range are no turns."""
    least, ends = TURN * float(np.ptp(x)), [0]
    low = high = direction = 0
    for k, value in enumerate(x):
        low, high = (k if value < x[low] else low), (k if value > x[high] else high)
        if direction >= 0 and x[high] - value > least:
            ends += [high + 1] if direction else []
            direction, low = -1, k
        elif direction <= 0 and value - x[low] > least:
            ends += [low + 1] if direction else []
            direction, high = 1, k
    return [slice(*pair) for pair in pairwise([*ends, len(x)])]


class Measurements:
    """Columns of CSV files by name; a header ``F [kN]`` gives a unit."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.columns: dict[str, Array] = {}
        self.units: dict[str, str] = {}
        for file in files:
            header, rows = read_csv(file)
            for number, title in enumerate(header):
                name, unit = read_title(title)
                if name in self.columns:
                    raise InputError(f"{file}: another column is called '{name}' already.")
                try:
                    self.units[name] = si_unit(unit) if unit else ""
                except ValueError as error:
                    raise InputError(f"{file}: column '{name}': {error}.") from None
                self.columns[name] = _numbers(file, name, unit, [row[number] for row in rows])

    def curve(self, text: str, name: str = "match") -> MeasuredCurve:
        """The curve of ``SERIES=COLUMN@COLUMN``, with ``:FORMULA`` for an abscissa other than time;
        ``name`` is the option that gives it."""
        given = option(name, text)
        formula, equals, rest = (part.strip() for part in text.partition("="))
        ordinate, at, across = (part.strip() for part in rest.partition("@"))
        column, _, abscissa = (part.strip() for part in across.partition(":"))
        if not (formula and equals and ordinate and at and column):
            raise InputError(f"{given}: not complete.", hint=_HINT)
        for part in (formula, abscissa or "time"):
            Expression(part)
        x, y = (self._column(name, given) for name in (column, ordinate))
        good = np.isfinite(x) & np.isfinite(y)
        if good.sum() < 3:
            raise InputError(f"{given}: {int(good.sum())} rows have both values; at least 3 are needed.")
        if not y[good].any():
            raise InputError(f"{given}: column '{ordinate}' is 0 everywhere.")
        units = self.units[ordinate], self.units[column]
        return MeasuredCurve(text, formula, abscissa or "time", x[good], y[good], *units)

    def _column(self, name: str, given: str) -> Array:
        if name not in self.columns:
            raise InputError(f"{given}: the data has no column '{name}'; {nearest(name, list(self.columns))}")
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


def simulated_curve(series: Mapping[str, Value], formula: str, abscissa: str) -> tuple[Array, Array]:
    """Abscissa and ordinate of a formula over all frames of a simulation."""
    x = np.atleast_1d(np.asarray(Expression(abscissa).evaluate(series), float))
    y = np.broadcast_to(np.asarray(Expression(formula).evaluate(series), float), x.shape)
    return x, np.array(y)
