"""What an executor does: it calls a function for many items and gives the answers as they come."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Self

from pliant.core.tables import Table

Function = Callable[[Table], Table]


class Executor(ABC):
    """A place with ``slots`` for tasks at the same time, each with ``threads`` threads.

    Functions are importable by name and their arguments plain tables, so that they can go to other machines;
    files are shared. A context: leaving it stops what is still running.
    """

    slots: int = 1
    threads: int = 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def run(
        self, function: Function, items: Sequence[Table], starts_child: bool
    ) -> Iterator[tuple[int, Table]]:
        """Call ``function`` for all ``items``; gives (number, answer) as they come.

        starts_child: the function starts a process of its own and waits for it. An exception in between,
        Ctrl-C say, drops what waits; ``close`` waits for what runs.
        """

    def gather(self, function: Function, items: Sequence[Table]) -> list[Table]:
        """The answers of ``function`` for all ``items``, in their order."""
        answers = dict(self.run(function, items, starts_child=False))
        return [answers[number] for number in range(len(items))]

    def everywhere(self, function: Function, item: Table) -> list[Table]:
        """Call ``function`` once on every machine, to compile kernels there."""
        return [answer for _, answer in self.run(function, [item], starts_child=True)]

    @abstractmethod
    def close(self) -> None:
        """Let go of processes and connections."""
