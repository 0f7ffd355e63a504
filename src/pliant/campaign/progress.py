"""How a sweep reports its progress: a line for each point and a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pliant.core.text import seconds


class SweepProgress:
    """What is told how a sweep goes on; here: shows nothing."""

    def planned(self, total: int, done: int) -> None:
        """``done`` of ``total`` points need no work."""

    def note(self, text: str) -> None:
        """Something that takes a while, or is worth knowing."""

    def started(self) -> None:
        """Points start now; what took time before does not count for the time that is left."""

    def point(self, line: str) -> None:
        """One more point has ended."""


class SweepLines(SweepProgress):
    """A line for each point on stderr, with the time that is left."""

    def __init__(self) -> None:
        self._total = self._done = self._first = 0
        self._start = time.monotonic()

    def planned(self, total: int, done: int) -> None:
        self._total, self._done, self._first = total, done, done
        if done:
            self.note(f"{done} of {total} points need no work")

    def note(self, text: str) -> None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def started(self) -> None:
        self._start = time.monotonic()

    def point(self, line: str) -> None:
        self._done += 1
        made, left = self._done - self._first, self._total - self._done
        rest = f", about {seconds((time.monotonic() - self._start) / made * left)} left" if left else ""
        sys.stderr.write(f"[{self._done}/{self._total}{rest}] {line}\n")
        sys.stderr.flush()


class SweepBar(SweepProgress):
    """A bar with the time that is left, below the lines of the points."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"), BarColumn(bar_width=30), MofNCompleteColumn(),
            TimeRemainingColumn(),
        )  # fmt: skip
        self._bar = Progress(*columns, console=Console(stderr=True))
        self._task: Any = self._bar.add_task("points", total=None)
        self._bar.start()

    def planned(self, total: int, done: int) -> None:
        self._bar.update(self._task, total=total, completed=done)

    def note(self, text: str) -> None:
        self._bar.update(self._task, description=text)

    def point(self, line: str) -> None:
        self._bar.console.print(line, markup=False, highlight=False)
        self._bar.update(self._task, description="points", advance=1)

    def close(self) -> None:
        self._bar.stop()


@contextmanager
def sweep_reporter(progress: "SweepProgress | bool | None") -> Iterator[SweepProgress]:
    """The progress to report to: one that is given, stderr (True), nothing (False), stderr if it is a
    terminal (None)."""
    if isinstance(progress, SweepProgress):
        yield progress
    elif progress is False or (progress is None and not sys.stderr.isatty()):
        yield SweepProgress()
    elif not sys.stderr.isatty():
        yield SweepLines()
    else:
        bar = SweepBar()
        try:
            yield bar
        finally:
            bar.close()
