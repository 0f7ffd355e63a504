"""Cases with a known answer: our number beside it, for every model that the case applies to."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pliant.evidence
from pliant.errors import Diverged, InputError, PliantError
from pliant.models import MODELS, deforming
from pliant.registry import nearest

Result = tuple[float, float, float, float, str]


@dataclass(frozen=True)
class Outcome:
    """One number: ours, the expected one, the error (absolute or relative, as the case says).

    expected_failure: why a method cannot be within the tolerance here ("" where it should be);
    applies: False where the model refuses the case, with its reason in ``note``.
    """

    model: str
    case: str
    value: float
    expected: float
    error: float
    tolerance: float
    note: str = ""
    expected_failure: str = ""
    applies: bool = True

    @property
    def ok(self) -> bool:
        return bool(self.error <= self.tolerance)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "ok": self.ok}


@dataclass(frozen=True)
class Case:
    """A case: ``run(model)`` gives (value, expected, error, tolerance, note).

    source: where the closed form or the published number comes from; why: why this tolerance; cannot: by
    model, why a method is outside it.
    """

    name: str
    run: Callable[[str], Result]
    equation: str
    models: tuple[str, ...] | None = None  # None: all
    quick: bool = True
    source: str = ""
    why: str = ""
    cannot: dict[str, str] | None = None
    integrated: bool = False  # about the World's integrator: not for models that own their step
    rigid: bool = False  # about the motion of the whole body: also for bodies that do not deform

    def applies(self) -> tuple[str, ...]:
        """The models that it is run for."""
        every = MODELS if self.rigid else deforming()
        return self.models or tuple(name for name in every if not (self.integrated and name in OWN_STEP))


OWN_STEP = ("multires", "rigid")
CASES: dict[str, Case] = {}


def case(
    name: str,
    equation: str,
    models: tuple[str, ...] | None = None,
    quick: bool = True,
    source: str = "",
    why: str = "",
    cannot: dict[str, str] | None = None,
    integrated: bool = False,
    rigid: bool = False,
) -> Callable[[Any], Any]:
    """Decorator: enter a function as a case."""

    def enter(function: Any) -> Any:
        CASES[name] = Case(name, function, equation, models, quick, source, why, cannot, integrated, rigid)
        return function

    return enter


def load_cases() -> dict[str, Case]:
    """All cases; importing the modules ``cases_...`` enters them in the table."""
    for module in iter_modules(pliant.evidence.__path__):
        if module.name.startswith("cases_"):
            import_module(f"pliant.evidence.{module.name}")
    return CASES


def outcomes(name: str | None = None, quick: bool = False) -> Iterator[Outcome]:
    """Run a case (all for None; the quick ones for ``quick``) over its models."""
    table = load_cases()
    if name is not None and name not in table:
        raise InputError(f"There is no case '{name}'; {nearest(name, list(table))}")
    for entry in table.values():
        if (name is None or entry.name == name) and (entry.quick or not quick):
            for model in entry.applies():
                yield _outcome(entry, model)


def _outcome(entry: Case, model: str) -> Outcome:
    cannot = (entry.cannot or {}).get(model, "")
    try:
        value, expected, error, tolerance, note = entry.run(model)
    except Diverged as failure:
        nothing = float("nan")
        return Outcome(model, entry.name, nothing, nothing, float("inf"), 0.0, failure.message, cannot)
    except PliantError as refusal:
        nothing = float("nan")
        return Outcome(model, entry.name, nothing, nothing, nothing, nothing, refusal.message, applies=False)
    return Outcome(model, entry.name, value, expected, error, tolerance, note, cannot)


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
