"""All cases of a validation, several at the same time in processes of their own."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from pliant.core.errors import PliantError
from pliant.core.tables import Table
from pliant.validation.cases import CaseResult, outcome, pairs
from pliant.validation.comparison_run import shared_cores

Show = Callable[[CaseResult, int, int], object]
"""Sees an outcome, how many there are so far and how many there will be."""


def run_validation(
    name: str | None = None, quick: bool = False, show: Show | None = None, jobs: int | None = None
) -> list[Table]:
    """Run the matching cases, ``jobs`` at a time (None: as many as there are cores); in the table's order."""
    wanted = pairs(name, quick)
    at_once, threads = shared_cores(len(wanted), jobs)
    found: dict[tuple[str, str], CaseResult] = {}
    for result in _serial(wanted) if at_once == 1 else _parallel(wanted, at_once, threads):
        found[result.case, result.model] = result
        if show is not None:
            show(result, len(found), len(wanted))
    return [found[pair].to_dict() for pair in wanted]


def _serial(wanted: Sequence[tuple[str, str]]) -> Iterator[CaseResult]:
    for pair in wanted:
        yield outcome(*pair)


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
