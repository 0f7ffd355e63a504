"""``local:N``: so many child processes of this one at the same time."""

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor as Pool
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from typing import Any

from pliant.campaign.executors.base import Executor, Function
from pliant.core.errors import InputError


def connect(text: str, threads: int | None) -> "LocalExecutor":
    """``text`` is the number of processes; none for the number of cores."""
    from pliant.kernels.jit import core_count

    if text and (not text.isdigit() or int(text) < 1):
        raise InputError(f"--on local:{text}: expected a number of processes.", hint="For example local:4")
    slots = int(text) if text else core_count()
    return LocalExecutor(slots, threads or max(1, core_count() // slots))


class LocalExecutor(Executor):
    """Threads that wait for child processes, or a pool of processes for functions that start none."""

    def __init__(self, slots: int, threads: int) -> None:
        self.slots, self.threads = slots, threads
        self._threads: ThreadPoolExecutor | None = None
        self._processes: ProcessPoolExecutor | None = None

    def run(self, function: Function, items: Sequence[Any], starts_child: bool) -> Iterator[tuple[int, Any]]:
        if starts_child:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(self.slots)
            yield from self._in(self._threads, function, items)
        else:
            if self._processes is None:
                method = multiprocessing.get_context("spawn")
                self._processes = ProcessPoolExecutor(
                    self.slots, mp_context=method, initializer=_use_threads, initargs=(self.threads,)
                )
            yield from self._in(self._processes, function, items)

    def _in(self, pool: Pool, function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        waiting = {pool.submit(function, item): number for number, item in enumerate(items)}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        finally:
            for future in waiting:
                future.cancel()

    def close(self) -> None:
        for pool in (self._threads, self._processes):
            if pool is not None:
                pool.shutdown(cancel_futures=True)
        self._threads = self._processes = None


def _use_threads(count: int) -> None:
    """Start a process of the pool: Ctrl-C is the parent's to handle."""
    import signal

    from pliant.kernels.jit import set_threads

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    set_threads(count)
