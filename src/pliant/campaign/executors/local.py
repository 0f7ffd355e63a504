"""``local:N``: so many child processes of this one at the same time."""

import queue
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from pliant.campaign.executors.base import Executor, Function
from pliant.campaign.executors.worker import WorkerProcess
from pliant.core.errors import InputError
from pliant.core.option_names import option
from pliant.core.tables import Table


def check(text: str) -> None:
    """InputError where ``text`` is no number of processes."""
    if text and (not text.isdigit() or int(text) < 1):
        raise InputError(
            f"{option('on', f'local:{text}')}: expected a number of processes.", hint="For example local:4"
        )


def connect(text: str, threads: int | None) -> "LocalExecutor":
    """``text`` is the number of processes; none for the number of cores."""
    from pliant.kernels.jit import core_count

    check(text)
    slots = int(text) if text else core_count()
    return LocalExecutor(slots, threads or max(1, core_count() // slots))


class LocalExecutor(Executor):
    """Threads that wait for child processes: those that functions start, or workers that call functions."""

    def __init__(self, slots: int, threads: int) -> None:
        self.slots, self.threads = slots, threads
        self._pool: ThreadPoolExecutor | None = None
        self._workers: list[WorkerProcess] = []
        self._idle: queue.SimpleQueue[WorkerProcess] = queue.SimpleQueue()

    def run(
        self, function: Function, items: Sequence[Table], starts_child: bool
    ) -> Iterator[tuple[int, Table]]:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.slots)
        if not starts_child:
            for _ in range(len(self._workers), min(self.slots, len(items))):
                self._workers.append(WorkerProcess(self.threads))
                self._idle.put(self._workers[-1])
        call = function if starts_child else lambda item: self._by_worker(function, item)
        waiting = {self._pool.submit(call, item): number for number, item in enumerate(items)}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        finally:
            for future in waiting:
                future.cancel()

    def _by_worker(self, function: Function, item: Table) -> Table:
        worker = self._idle.get()
        try:
            return worker.call(function, item)
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None
        for worker in self._workers:
            worker.close()
        self._workers, self._idle = [], queue.SimpleQueue()
