"""Progress of work that is counted in pieces: a bar on a terminal, plain lines elsewhere, or nothing."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pliant.cli.output import note, seconds

PAUSE = 2.0  # seconds between plain lines

Count = Callable[[int, int], object]


@contextmanager
def counting(what: str, quiet: bool) -> Iterator[Count | None]:
    """A function to call with (done, total) while the work goes on."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
    else:
        yield _Lines(what)


class _Lines:
    """A line about every two seconds; what is left is judged by the work since the first of it was done."""

    def __init__(self, what: str) -> None:
        self._what, self._last = what, time.perf_counter()
        self._first: tuple[float, int] | None = None

    def __call__(self, done: int, total: int) -> None:
        now = time.perf_counter()
        since, begun = self._first = self._first or (now, done)
        if done < total and now - self._last >= PAUSE:
            self._last = now
            made = done - begun
            left = f"  {seconds((now - since) / made * (total - done))} left" if made else ""
            note(f"{self._what} {done}/{total}{left}")
