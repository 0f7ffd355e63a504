"""Processes that live on from run to run: starting one costs as much as a short run, and a run that ends its
process ends no other."""

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Literal

Lost = Literal["crashed", "expired"]
"""What can happen to a process: it ended by itself, or it was ended because its task took too long."""


@dataclass(frozen=True)
class Outcome:
    """What came of a task: the value of its function, or how its process was lost."""

    task: Any
    value: Any = None
    lost: Lost | None = None


class MatrixWorker:
    """A process that does one task at a time."""

    def __init__(self, threads: int) -> None:
        context = multiprocessing.get_context("spawn")  # threads of compiled loops do not survive a fork
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, threads), daemon=True)
        self.process.start()
        theirs.close()
        self.task: Any = None
        self.deadline = 0.0

    def give(self, task: Any, words: tuple[Callable[..., Any], tuple[Any, ...]], limit: float) -> None:
        """Begin ``task``: the function and its arguments in ``words``, ended after ``limit`` seconds."""
        self.task, self.deadline = task, time.monotonic() + limit
        self.pipe.send(words)

    def outcome(self) -> Outcome | None:
        """What came of the task; None while it goes on. A lost process cannot be given another one."""
        task = self.task
        try:
            if self.pipe.poll():
                value = self.pipe.recv()
                self.task = None
                return Outcome(task, value)
        except (EOFError, OSError):
            self.end()
            return Outcome(task, lost="crashed")
        if time.monotonic() > self.deadline:
            self.end()
            return Outcome(task, lost="expired")
        return None

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


class WorkerPool:
    """``count`` workers, each with ``threads`` threads; one that is lost is replaced."""

    def __init__(self, count: int, threads: int) -> None:
        self.threads = threads
        self.workers = [MatrixWorker(threads) for _ in range(count)]

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.end()

    def outcomes(
        self,
        next_task: Callable[[], Any],
        words: Callable[[Any], tuple[Callable[..., Any], tuple[Any, ...]]],
        limit: float,
    ) -> Iterator[Outcome]:
        """Do what ``next_task`` gives until it gives None and all is done; ``words`` is the function and its
        arguments for a task. Who takes an outcome may add tasks before the next one is asked for."""
        while True:
            for worker in self.workers:
                if worker.task is None and (task := next_task()) is not None:
                    worker.give(task, words(task), limit)
            busy = [worker for worker in self.workers if worker.task is not None]
            if not busy:
                return
            patience = min(worker.deadline for worker in busy) - time.monotonic()
            wait([worker.pipe for worker in busy], timeout=max(0.0, patience) + 0.1)
            for number, worker in enumerate(self.workers):
                if worker.task is None or (found := worker.outcome()) is None:
                    continue
                if found.lost is not None:
                    self.workers[number] = MatrixWorker(self.threads)
                yield found


def _work(pipe: Connection, threads: int) -> None:
    """The child: does what comes through ``pipe`` until that is closed."""
    from pliant.kernels.jit import set_threads

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    set_threads(threads)
    while True:
        try:
            function, arguments = pipe.recv()
        except EOFError:
            return
        pipe.send(function(*arguments))
