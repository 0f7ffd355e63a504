"""Speed, case by case: beside the reference texts' figures and beside the machine's limit."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

from pliant.errors import InputError
from pliant.registry import nearest


@dataclass(frozen=True)
class Figure:
    """One line of a benchmark.

    value in ``unit``; reference: the figure to beat, in the same unit (None where there is none);
    ratio > 1: better than the reference; limit_ratio: share of what the machine's bandwidth would allow.
    """

    case: str
    value: float
    unit: str
    reference: float | None = None
    ratio: float | None = None
    limit_ratio: float | None = None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


Bench = Callable[[], list[Figure]]
BENCHES: dict[str, Bench] = {}


def bench(name: str) -> Callable[[Bench], Bench]:
    """Decorator: enter a function that gives Figures as the case ``FAMILY/...``."""

    def enter(function: Bench) -> Bench:
        BENCHES[name] = function
        return function

    return enter


def load_benches() -> dict[str, Bench]:
    """All cases; importing their modules enters them in the table."""
    for module in ("bench_loop", "bench_mass_spring", "bench_cpm", "bench_cantilever", "bench_studio"):
        import_module(f"pliant.evidence.{module}")
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


def run_bench(
    pattern: str | None = None, show: Callable[[Figure], None] | None = None
) -> list[dict[str, Any]]:
    """Run the matching cases; ``show`` sees each figure as it comes."""
    figures = []
    for name in matching(pattern):
        for figure in BENCHES[name]():
            figures.append(figure.to_dict())
            if show is not None:
                show(figure)
    return figures
