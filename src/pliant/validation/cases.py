"""Cases with a known answer: our number beside it, for every model that the case applies to, in parallel."""

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from itertools import starmap
from pkgutil import iter_modules
from typing import Any

from pliant.core.errors import Diverged, InputError, PliantError
from pliant.core.registry import nearest
from pliant.core.tables import Table
from pliant.models import models_where
from pliant.validation.comparison_run import shared_cores


def import_all(package: str, prefix: str) -> None:
    """Import every module of ``package`` whose name begins with ``prefix``."""
    for module in iter_modules(import_module(package).__path__):
        if module.name.startswith(prefix):
            import_module(f"{package}.{module.name}")


Result = tuple[float, float, float, float, str]
CaseRun = Callable[[str], Result]


@dataclass(frozen=True)
class CaseResult:
    """One number: ours, the expected one, the error (absolute or relative, as the case says).

    expected_failure: why a method cannot be within the tolerance here ("" where it should be);
    applies: False where the model refuses the case, with its reason in ``note``; seconds: CPU time.
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
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return bool(self.error <= self.tolerance)

    def to_dict(self) -> Table:
        return {**asdict(self), "ok": self.ok}


@dataclass(frozen=True)
class Case:
    """A case: ``run(model)`` gives (value, expected, error, tolerance, note).

    source: where the closed form or the published number comes from; why: why this tolerance; cannot: by
    model, why a method is outside it.
    """

    name: str
    run: CaseRun
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
        every = models_where(None if self.rigid else True, False if self.integrated else None)
        return self.models or tuple(every)


CASES: dict[str, Case] = {}


def case(
    name: str, equation: str, models: tuple[str, ...] | None = None, **about: Any
) -> Callable[[CaseRun], CaseRun]:
    """Decorator: enter a function as a case; ``about`` are further fields of Case."""

    def enter(function: CaseRun) -> CaseRun:
        CASES[name] = Case(name, function, equation, models, **about)
        return function

    return enter


def relative(value: float, expected: float, tolerance: float, note: str = "relative") -> Result:
    """The result of a case whose error is relative to the expected number."""
    return value, expected, abs(value / expected - 1.0), tolerance, note


def load_cases() -> dict[str, Case]:
    """All cases, those of the modules ``cases_...``."""
    import_all("pliant.validation", "cases_")
    return CASES


def pairs(name: str | None = None, quick: bool = False) -> list[tuple[str, str]]:
    """Cases and models to run: of one case (all for None; the quick ones for ``quick``)."""
    table = load_cases()
    if name is not None and name not in table:
        raise InputError(f"There is no case '{name}'; {nearest(name, list(table))}")
    chosen = [table[name]] if name is not None else list(table.values())
    if name is not None and quick and not table[name].quick:
        raise InputError(f"Case '{name}' is not one of the fast ones.", hint="Leave --quick out.")
    return [(entry.name, model) for entry in chosen if entry.quick or not quick for model in entry.applies()]


def outcomes(name: str | None = None, quick: bool = False) -> Iterator[CaseResult]:
    """Run the cases of ``pairs`` one after the other."""
    return starmap(outcome, pairs(name, quick))


def outcome(name: str, model: str) -> CaseResult:
    """Run one case with one model."""
    start = time.process_time()
    found = _outcome(load_cases()[name], model)
    return replace(found, seconds=time.process_time() - start)


def _outcome(entry: Case, model: str) -> CaseResult:
    cannot = (entry.cannot or {}).get(model, "")
    try:
        value, expected, error, tolerance, note = entry.run(model)
    except Diverged as failure:
        nothing = float("nan")
        return CaseResult(model, entry.name, nothing, nothing, float("inf"), 0.0, failure.message, cannot)
    except PliantError as refusal:
        nothing = float("nan")
        return CaseResult(
            model, entry.name, nothing, nothing, nothing, nothing, refusal.message, applies=False
        )
    return CaseResult(model, entry.name, value, expected, error, tolerance, note, cannot)


Show = Callable[[CaseResult, int, int], object]
"""Sees an outcome, how many there are so far and how many there will be."""


def run_validation(
    name: str | None = None, quick: bool = False, show: Show | None = None, jobs: int | None = None
) -> list[Table]:
    """Run the matching cases, ``jobs`` at a time (None: as many as there are cores); in the table's order."""
    wanted = pairs(name, quick)
    at_once, threads = shared_cores(len(wanted), jobs)
    found: dict[tuple[str, str], CaseResult] = {}
    for result in starmap(outcome, wanted) if at_once == 1 else _parallel(wanted, at_once, threads):
        found[result.case, result.model] = result
        if show is not None:
            show(result, len(found), len(wanted))
    return [found[pair].to_dict() for pair in wanted]


def _parallel(wanted: Sequence[tuple[str, str]], at_once: int, threads: int) -> Iterator[CaseResult]:
    """As they come. Spawned, not forked: threads of compiled loops do not survive a fork."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(at_once, context, _begin, (threads,)) as pool:
        waiting = [pool.submit(outcome, *pair) for pair in wanted]
        try:
            for done in as_completed(waiting):
                yield done.result()
        except BrokenProcessPool as error:
            raise PliantError(
                "A process that ran a case was ended, by a lack of memory or from outside.",
                hint="Use --jobs 1 to see which one.",
            ) from error
        except BaseException:  # an interruption does not wait for the cases that are running
            for child in multiprocessing.active_children():
                child.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _begin(threads: int) -> None:
    from pliant.kernels.jit import set_threads

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent tells when to stop
    set_threads(threads)
