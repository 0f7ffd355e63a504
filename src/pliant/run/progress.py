"""How a run reports its progress: a changing line on a terminal, plain lines elsewhere, or nothing."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pliant.core.text import seconds
from pliant.simulation.time_step import StepPlan

PAUSE = 2.0  # seconds between plain lines


class RunProgress:
    """What is told how a run goes on; here: shows nothing."""

    def note(self, text: str) -> None:
        """Something worth saying: a warning, a choice that was made."""

    def working(self, fraction: float | None, text: str) -> None:
        """Preparation goes on (meshing, compiling); fraction 0 to 1 where it is known."""

    def started(self, frames: int, plan: StepPlan) -> None:
        """The loop starts; ``frames`` are to be made."""

    def frame(self, done: int, frames: int, simulated: float, wall: float) -> None:
        """``done`` of ``frames`` are on disk, ``simulated`` seconds took ``wall`` seconds in this process."""

    def finished(self, state: str, message: str) -> None:
        """The run ended as done, interrupted, diverged or failed."""


@contextmanager
def progress_reporter(progress: RunProgress | bool | None) -> Iterator[RunProgress]:
    """The progress to report to: one that is given, stderr (True), nothing (False), or stderr if it is a
    terminal (None). What it shows on the screen is completed in the end."""
    if progress is None:
        progress = sys.stderr.isatty()
    if not isinstance(progress, bool):
        yield progress
    elif not progress:
        yield RunProgress()
    elif not sys.stderr.isatty():
        yield PlainProgress()
    else:
        live = LiveProgress()
        try:
            yield live
        finally:
            live.close()


def _write(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


class PlainProgress(RunProgress):
    """A line at the start, about every two seconds, and at the end."""

    def __init__(self) -> None:
        self._last, self._told, self._first, self._line = 0.0, "", 0, ""

    def note(self, text: str) -> None:
        _write(f"note: {text}")

    def working(self, fraction: float | None, text: str) -> None:
        if text != self._told:
            _write(text)
        self._told = text

    def started(self, frames: int, plan: StepPlan) -> None:
        _write(f"step {plan.seconds:.4g} s: {plan.reason}")
        self._last, self._first = time.perf_counter(), -1

    def state(self, done: int, frames: int, simulated: float, wall: float) -> str:
        """``frame 12/101  t = 0.22 s  0.83 x real time  10 s left``; rates count what this process did."""
        if self._first < 0:
            self._first = done - 1
        made = done - self._first
        time = f"t = {simulated / made * (done - 1):.4g} s" if made > 0 else ""
        speed = f"{simulated / wall:.3g} x real time" if wall > 0 else ""
        left = seconds(wall / made * (frames - done)) + " left" if made > 0 and done < frames else ""
        return "  ".join(text for text in (f"frame {done}/{frames}", time, speed, left) if text)

    def frame(self, done: int, frames: int, simulated: float, wall: float) -> None:
        self._line = self.state(done, frames, simulated, wall)
        if time.perf_counter() - self._last >= PAUSE:
            _write(self._line)
            self._last, self._line = time.perf_counter(), ""

    def finished(self, state: str, message: str) -> None:
        if self._line:
            _write(self._line)


class LiveProgress(PlainProgress):
    """One line that changes in place, with a bar."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[state]}"),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), transient=False)
        self._task: Any = self._bar.add_task("preparing", total=None, state="")
        self._bar.start()

    def note(self, text: str) -> None:
        self._bar.console.print(f"note: {text}", markup=False, highlight=False)

    def working(self, fraction: float | None, text: str) -> None:
        self._bar.update(
            self._task, total=None if fraction is None else 1.0, completed=fraction or 0.0, state=text
        )

    def started(self, frames: int, plan: StepPlan) -> None:
        self._first = -1
        self._bar.console.print(f"step {plan.seconds:.4g} s: {plan.reason}", markup=False, highlight=False)
        self._bar.update(self._task, description="running", total=frames, completed=0, state="")

    def frame(self, done: int, frames: int, simulated: float, wall: float) -> None:
        self._bar.update(self._task, completed=done, state=self.state(done, frames, simulated, wall))

    def finished(self, state: str, message: str) -> None:
        self._bar.update(self._task, description=state)

    def close(self) -> None:
        self._bar.stop()
