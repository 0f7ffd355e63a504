"""Speed, case by case: beside the reference texts' figures and beside the machine's limit."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pliant.core.errors import InputError, MissingExtra
from pliant.core.registry import nearest
from pliant.validation.cases import import_all
from pliant_benchmarks.disturbance import watched_cores


@dataclass(frozen=True)
class BenchResult:
    """One line of a benchmark.

    value in ``unit``; reference: the figure to beat, in the same unit (None where there is none);
    ratio > 1: better than the reference; limit_ratio: share of what the machine's bandwidth would allow;
    spread: from the least to the largest of ``repeats`` measurements, over their median, which is the value;
    disturbed: other jobs took cores meanwhile (``others`` of them on average), so that it may be too slow.
    """

    case: str
    value: float
    unit: str
    reference: float | None = None
    ratio: float | None = None
    limit_ratio: float | None = None
    note: str = ""
    spread: float | None = None
    repeats: int = 1
    disturbed: bool = False
    others: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


Bench = Callable[[], list[BenchResult]]
BENCHES: dict[str, Bench] = {}
REPEATS, PATIENCE = 3, 60.0  # measurements of a case, and seconds after which fewer will do


def bench(name: str) -> Callable[[Bench], Bench]:
    """Decorator: enter a function that gives Figures as the case ``FAMILY/...``."""

    def enter(function: Bench) -> Bench:
        BENCHES[name] = function
        return function

    return enter


def load_benches() -> dict[str, Bench]:
    """All cases, those of the modules ``bench_...``."""
    import_all("pliant_benchmarks", "bench_")
    return BENCHES


def matching(pattern: str | None) -> list[str]:
    """Names of the cases of a family, or the one case called ``pattern``; all for None."""
    names = list(load_benches())
    if pattern is None:
        return names
    found = [n for n in names if n == pattern or n.startswith(pattern.rstrip("/") + "/")]
    if not found:
        families = sorted({n.split("/")[0] for n in names} | set(names))
        raise InputError(f"There is no benchmark '{pattern}'; {nearest(pattern, families)}")
    return found


def median(figures: Sequence[BenchResult]) -> BenchResult:
    """The measurement in the middle of several of one case, with their spread; of those that nothing
    disturbed, if there are any."""
    calm = [figure for figure in figures if not figure.disturbed]
    ordered = sorted(calm or figures, key=lambda figure: figure.value)
    middle = ordered[(len(ordered) - 1) // 2]
    if len(ordered) < 2 or not middle.value:
        return middle
    spread = (ordered[-1].value - ordered[0].value) / abs(middle.value)
    return replace(middle, spread=spread, repeats=len(ordered))


def measured(name: str, repeat: int | None = None) -> list[BenchResult]:
    """The figures of a case, measured ``repeat`` times (None: REPEATS, or as PATIENCE allows)."""
    found: dict[str, list[BenchResult]] = {}
    start, done = time.perf_counter(), 0
    while done < (repeat or REPEATS):
        with watched_cores() as use:
            figures = BENCHES[name]()
        for figure in figures:
            marked = replace(figure, disturbed=use.disturbed, others=use.others)
            found.setdefault(figure.case, []).append(marked)
        done += 1
        each = (time.perf_counter() - start) / done
        if repeat is None and each * (done + 1) > PATIENCE:
            break
    return [median(figures) for figures in found.values()]


def run_bench(
    pattern: str | None = None,
    show: Callable[[BenchResult], None] | None = None,
    repeat: int | None = None,
    skip: Callable[[str, str], None] | None = None,
) -> list[dict[str, Any]]:
    """Run the matching cases; ``show`` sees each figure as it comes, ``skip`` the cases that cannot run here
    (they raise MissingExtra) and why."""
    figures = []
    for name in matching(pattern):
        try:
            found = measured(name, repeat)
        except MissingExtra as missing:
            if skip is not None:
                skip(name, str(missing))
            continue
        for figure in found:
            figures.append(figure.to_dict())
            if show is not None:
                show(figure)
    return figures
