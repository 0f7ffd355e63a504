"""Cases with a known answer: our number beside it, for every model that the case applies to."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

from pliant.errors import InputError
from pliant.models import MODELS
from pliant.registry import nearest


@dataclass(frozen=True)
class Outcome:
    """One number: ours, the expected one, the error (absolute or relative, as the case says)."""

    model: str
    case: str
    value: float
    expected: float
    error: float
    tolerance: float
    note: str = ""

    @property
    def ok(self) -> bool:
        return bool(self.error <= self.tolerance)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "ok": self.ok}


@dataclass(frozen=True)
class Case:
    """A case: ``run(model)`` gives (value, expected, error, tolerance, note)."""

    name: str
    run: Callable[[str], tuple[float, float, float, float, str]]
    equation: str
    models: tuple[str, ...] | None = None  # None: all
    quick: bool = True
    integrated: bool = False  # about the World's integrator: not for models that own their step

    def applies(self) -> tuple[str, ...]:
        """The models that it is run for."""
        every = (name for name in MODELS if not (self.integrated and name in OWN_STEP))
        return self.models or tuple(every)


OWN_STEP = ("multires",)
CASES: dict[str, Case] = {}


def case(
    name: str,
    equation: str,
    models: tuple[str, ...] | None = None,
    quick: bool = True,
    integrated: bool = False,
) -> Callable[[Any], Any]:
    """Decorator: enter a function as a case."""

    def enter(function: Any) -> Any:
        CASES[name] = Case(name, function, equation, models, quick, integrated)
        return function

    return enter


def load_cases() -> dict[str, Case]:
    """All cases; importing their modules enters them in the table."""
    for module in ("cases_constraints", "cases_motion"):
        import_module(f"pliant.evidence.{module}")
    return CASES


def outcomes(name: str | None = None, quick: bool = False) -> Iterator[Outcome]:
    """Run a case (all for None; the quick ones for ``quick``) over its models."""
    table = load_cases()
    if name is not None and name not in table:
        raise InputError(f"There is no case '{name}'; {nearest(name, list(table))}")
    for entry in table.values():
        if (name is None or entry.name == name) and (entry.quick or not quick):
            for model in entry.applies():
                value, expected, error, tolerance, note = entry.run(model)
                yield Outcome(model, entry.name, value, expected, error, tolerance, note)


def run_validation(
    name: str | None = None, quick: bool = False, show: Callable[[Outcome], None] | None = None
) -> list[dict[str, Any]]:
    """Run the matching cases; ``show`` sees each outcome as it comes."""
    found = []
    for outcome in outcomes(name, quick):
        found.append(outcome.to_dict())
        if show is not None:
            show(outcome)
    return found
