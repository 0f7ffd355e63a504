"""Numbers that a sweep keeps of each run: reductions of its series."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pliant.campaign.expression import REDUCTIONS, Expression
from pliant.core.errors import InputError
from pliant.run.store import Run
from pliant.scene.load import read_members

STANDARD = ("last", "min", "max", "mean")


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

    def value(self, run: Run, point: Mapping[str, Any]) -> float:
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
            f"--reduce {text}: expected SERIES:{'|'.join(REDUCTIONS)}, SERIES:at=T or NAME=FORMULA.",
            hint="For example --reduce tip.z:min or --reduce 'stiffness=max(grip.x) / max(tip.x)'",
        )
    return _checked(Reduction(name, formula))


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


def reduced(run: Run, reductions: Sequence[Reduction], point: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of ``run`` by their names."""
    return {each.name: each.value(run, point) for each in reductions}
