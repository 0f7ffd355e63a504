"""What the speed of pliant is meant to be: a goal for every figure of ``pliant bench`` that has one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pliant.models import MODELS


@dataclass(frozen=True)
class PerformanceTarget:
    """A bound on ``value``, ``ratio`` or ``limit_ratio`` of a figure."""

    bound: float
    of: str = "value"
    least: bool = True  # at least, or at most

    def __str__(self) -> str:
        field = {"value": "", "ratio": "ratio ", "limit_ratio": "limit "}[self.of]
        return f"{field}{'>=' if self.least else '<='} {self.bound:g}"

    def met(self, row: Mapping[str, Any]) -> bool | None:
        """Whether a figure is within the bound; None where it has no such number."""
        number = row.get(self.of)
        if number is None:
            return None
        return bool(number >= self.bound if self.least else number <= self.bound)


def _ratio(bound: float) -> PerformanceTarget:
    return PerformanceTarget(bound, "ratio")


def _most(bound: float) -> PerformanceTarget:
    return PerformanceTarget(bound, least=False)


GOALS: dict[str, PerformanceTarget] = {
    "start/import": _most(0.5),
    "start/first-frame": _most(5.0),
    "loop/python-share": _most(20.0),
    "loop/side-by-side": _most(2.5),
    "mass-spring/hanging-beam": PerformanceTarget(1.0),
    "mass-spring/million-springs": PerformanceTarget(0.6, "limit_ratio"),
    "mass-spring/scaling": _most(1.1),
    "hanging-beam/cpm1": _ratio(7.0),
    "hanging-beam/cpm1-everts": _ratio(15.0),
    "hanging-beam/cpm2": _ratio(15.0),
    "hanging-beam/cpm2-everts": _ratio(30.0),
    "hanging-beam/cpm1-implicit": PerformanceTarget(1.0),
    "hanging-beam/cpm2-implicit": PerformanceTarget(1.0),
    "cantilever/small-rest": _most(0.2),
    "cantilever/small-transient": _most(0.4),
    "cantilever/large-rest": _most(4.0),
    "cantilever/large-transient": _most(7.0),
    "cantilever/small-ten-seconds/motion": _most(0.4),
    "cantilever/small-ten-seconds/rest": _most(0.2),
    "cantilever/large-ten-seconds/motion": _most(7.0),
    "cantilever/large-ten-seconds/rest": _most(4.0),
    "cantilever/frame-660": _ratio(1000.0),
    "fem/real-time-7k": PerformanceTarget(1.0),
    "fem/implicit-100k": PerformanceTarget(3.0),
    "fem/explicit-162k": _ratio(0.8),
    "fem/memory/two-level": _most(1500.0),
    "efg/1210x66": _ratio(200.0),
    "efg/50k": PerformanceTarget(60.0),
    "efg/linear-in-phyxels": PerformanceTarget(0.99),
    "efg/linear-in-neighbours": PerformanceTarget(0.99),
    "elements/100k-touching": PerformanceTarget(40.0),
    "elements/scaling": _most(1.1),
    "elements/supports": _most(5.0),
    "multires/frames-in-budget": PerformanceTarget(99.9),
    "multires/all-fine-frame": PerformanceTarget(1000.0 / 60.0),  # everything fine does not fit in a frame
    "multires/against-all-fine-2-levels": PerformanceTarget(5.0),
    "multires/against-all-fine-3-levels": PerformanceTarget(10.0),
    "studio/frame-10k": _most(2.0),
    "studio/slow-page-10k": PerformanceTarget(0.9),
    "studio/memory": _most(5.0),
    "files/vtkhdf": PerformanceTarget(0.6, "limit_ratio"),
    "files/usd": PerformanceTarget(0.3, "limit_ratio"),
    "files/obj": PerformanceTarget(20.0),
    "pictures/processes": PerformanceTarget(1.5),
    "evidence/validate-quick": _most(60.0),
    **{f"scaling/{model}": _most(1.1) for model in MODELS},
}


def judged(row: Mapping[str, Any]) -> dict[str, Any]:
    """The figure with its ``goal`` in words and whether it is ``met``; None where there is none."""
    goal = GOALS.get(row["case"])
    return {
        **row,
        "goal": None if goal is None else str(goal),
        "met": None if goal is None else goal.met(row),
    }
