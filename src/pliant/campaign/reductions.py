"""Numbers that a sweep keeps of each run: reductions of its series."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pliant.campaign.expression import REDUCTIONS, Expression
from pliant.core.errors import InputError, PliantError
from pliant.core.option_names import option
from pliant.core.tables import TableView
from pliant.run.store import Run
from pliant.scene.load import read_members

STANDARD = ("last", "min", "max", "mean")
BESIDE = frozenset({"point", "run", "wall"})
"""Columns of results.csv beside parameters and reductions."""


@dataclass(frozen=True)
class Reduction:
    """A number of a run: its column in results.csv and the formula that gives it."""

    name: str
    text: str

    @cached_property
    def formula(self) -> Expression:
        return Expression(self.text)

    def unit(self, units: Mapping[str, str]) -> str:
        """The unit of the number, where it is a plain reduction of one series."""
        kind, _, rest = self.text.partition("(")
        plain = kind in (*REDUCTIONS, "at") and len(self.formula.names) == 1 and rest.count("(") == 0
        return units.get(self.formula.names[0], "") if plain and not set("+-*/") & set(rest[:-1]) else ""

    def value(self, run: Run, point: TableView) -> float:
        """The number for ``run``; formulas may name the varied keys too."""
        numbers = {key: value for key, value in point.items() if isinstance(value, (int, float))}
        known = {**numbers, **dict.fromkeys(run.series)}
        needed = {name: run.series[name] for name in self.formula.names if name in run.series}
        missing = [name for name in self.formula.names if name not in known]
        if missing:
            run.series[missing[0]]  # its error names the nearest series
        return self.formula.number({**numbers, **needed}, run.series.time_of)


def read_reduction(text: str) -> Reduction:
    """From ``tip.z:min``, ``tip.z:at=0.5`` or ``name=formula``."""
    series, colon, kind = (part.strip() for part in text.rpartition(":"))
    if colon and kind in REDUCTIONS:
        return _checked(Reduction(f"{series}.{kind}", f"{kind}({_quoted(series)})"))
    if colon and kind.startswith("at="):
        moment = kind.removeprefix("at=").strip()
        return _checked(Reduction(f"{series}.at-{moment}", f"at({_quoted(series)}, {moment})"))
    name, equals, formula = (part.strip() for part in text.partition("="))
    if not equals or not name or not formula:
        raise InputError(
            f"{option('reduce', text)}: expected SERIES:{'|'.join(REDUCTIONS)}, SERIES:at=T or NAME=FORMULA.",
            hint="For example tip.z:min or 'stiffness=max(grip.x) / max(tip.x)'",
        )
    return _checked(Reduction(name, formula))


def read_reductions(texts: Sequence[str]) -> list[Reduction]:
    """All of ``--reduce``; InputError where two have one name."""
    found = [read_reduction(text) for text in texts]
    names = [each.name for each in found]
    twice = [name for name in names if names.count(name) > 1 or name in BESIDE]
    if twice:
        raise InputError(
            f"{option('reduce')}: two columns would be called '{twice[0]}'.", hint="Rename one: NAME=FORMULA"
        )
    return found


def _quoted(series: str) -> str:
    return repr(series)


def _checked(reduction: Reduction) -> Reduction:
    _ = reduction.formula
    return reduction


def standard_reductions(run: Run) -> list[Reduction]:
    """Last, min, max and mean of the series of the scene's own measures and actions; of all series where the
    scene has none of its own."""
    _, actions, measures = read_members(run.scene_text)
    labels = [member.series_label for member in (*measures, *actions) if member.series_label]
    own = [n for n in run.series if n != "time" and any(n == b or n.startswith(f"{b}.") for b in labels)]
    chosen = own or [name for name in run.series if name != "time"]
    return [Reduction(f"{name}.{kind}", f"{kind}({name!r})") for name in chosen for kind in STANDARD]


def reduced(
    run: Run, reductions: Sequence[Reduction], point: TableView
) -> tuple[list[float], dict[str, str]]:
    """The numbers of ``run``, NaN where it lacks a series; and why, by the reduction's name."""
    numbers, missing = [], {}
    for each in reductions:
        try:
            numbers.append(each.value(run, point))
        except PliantError as error:
            numbers.append(math.nan)
            missing[each.name] = str(error)
    return numbers, missing


def without_effect(rows: Sequence[TableView], keys: Sequence[str]) -> list[str]:
    """Keys that no result depends on: points that differ in such a key alone have the same numbers."""
    names = [name for name in (rows[0] if rows else ()) if name not in BESIDE and name not in keys]
    found = []
    for key in keys:
        groups: dict[tuple[str, ...], dict[str, tuple[Any, ...]]] = {}
        for row in rows:
            others = tuple(str(row.get(other)) for other in keys if other != key)
            groups.setdefault(others, {})[str(row.get(key))] = tuple(row[name] for name in names)
        several = [list(group.values()) for group in groups.values() if len(group) > 1]
        if names and several and all(len(set(numbers)) == 1 for numbers in several):
            found.append(key)
    return found
