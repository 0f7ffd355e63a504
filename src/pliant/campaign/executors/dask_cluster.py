"""``dask`` (a cluster on this machine), ``dask:tcp://HOST:PORT`` and ``dask:FILE`` (a running scheduler).

Dask hands out the points and notices workers that die; a point that was lost is submitted again, and resumes.
"""

import logging
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from pliant.campaign.executors.base import Executor, Function
from pliant.core.environment import need
from pliant.core.errors import InputError
from pliant.core.option_names import option
from pliant.core.tables import Table

PATIENCE = 20.0  # s to wait for the scheduler
LOST = 20  # times that a point may lose its worker


def check(text: str) -> None:
    """InputError where ``text`` is neither empty, a number above 0, an address, nor a scheduler file."""
    need(option("on", "dask"), "dask", "distributed", extra="cluster")
    number = text.isdigit() and int(text) > 0
    if text and not number and "://" not in text and not Path(text).is_file():
        raise InputError(
            f"{option('on', f'dask:{text}')}: neither an address nor a scheduler file.",
            hint="Write dask:tcp://HOST:PORT or dask:scheduler.json",
        )


def connect(text: str, threads: int | None) -> "DaskExecutor":
    """``text``: nothing or a number for a cluster on this machine, an address, or a scheduler file."""
    check(text)
    from distributed import Client

    if not text or text.isdigit():
        return _on_this_machine(int(text) if text else None, threads)
    try:
        if "://" in text:
            client = Client(text, timeout=PATIENCE)
        else:
            client = Client(scheduler_file=text, timeout=PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"{option('on', f'dask:{text}')}: no scheduler answers there ({error}).",
            hint="Start one with: dask scheduler",
        ) from None
    return DaskExecutor(client, None, threads or 1)


def _on_this_machine(workers: int | None, threads: int | None) -> "DaskExecutor":
    from distributed import Client, LocalCluster

    from pliant.kernels.jit import core_count

    slots = workers or core_count()
    with _interrupts_for_us_alone():
        cluster = LocalCluster(
            n_workers=slots,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,  # memory belongs to the child of a worker
            dashboard_address=None,
            host="127.0.0.1",
            silence_logs=logging.CRITICAL,  # workers whose scheduler went first; failed points have rows
        )
    return DaskExecutor(Client(cluster), cluster, threads or max(1, core_count() // slots))


@contextmanager
def _interrupts_for_us_alone() -> Iterator[None]:
    """Block SIGINT, which a terminal sends to the whole process group, in threads and processes that start
    here: this process stops its workers itself. One that arrives meanwhile is delivered at the end."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # unblocks SIGINT in the thread that starts it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class DaskExecutor(Executor):
    """The workers of a Dask cluster; each of their threads is a slot for a point."""

    def __init__(self, client: Any, cluster: Any, threads: int) -> None:
        self.client, self.cluster, self.threads = client, cluster, threads

    @property
    def slots(self) -> int:  # type: ignore[override]
        """Threads of the workers that are there now."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return max(1, sum(int(worker["nthreads"]) for worker in workers))

    def run(
        self, function: Function, items: Sequence[Table], starts_child: bool
    ) -> Iterator[tuple[int, Table]]:
        from distributed import as_completed
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        lost = dict.fromkeys(range(len(items)), 0)
        waiting = {self._submit(function, item): number for number, item in enumerate(items)}
        arriving = as_completed(list(waiting))
        try:
            for done in arriving:
                number = waiting.pop(done)
                try:
                    answer = done.result()
                except (KilledWorker, FutureCancelledError):  # its workers died: another one goes on
                    lost[number] += 1
                    if lost[number] > LOST:
                        raise
                    again = self._submit(function, items[number])
                    waiting[again] = number
                    arriving.add(again)
                    continue
                yield number, answer
        finally:
            self.client.cancel(list(waiting))

    def _submit(self, function: Function, item: Table, **where: Any) -> Any:
        return self.client.submit(function, item, pure=False, **where)

    def everywhere(self, function: Function, item: Table) -> list[Table]:
        """On one worker of each machine; those that die meanwhile are left out."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        hosts = {worker["host"]: address for address, worker in workers.items()}
        futures = [
            self._submit(function, item, workers=[address], allow_other_workers=True)
            for address in hosts.values()
        ]
        if not futures:  # none has come yet: whoever comes first
            futures = [self._submit(function, item)]
        answers: list[Table] = self.client.gather(futures, errors="skip")
        return answers

    def close(self) -> None:
        self.client.close()
        if self.cluster is not None:
            self.cluster.close()
