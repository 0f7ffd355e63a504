"""Runs that are broken off."""

from typing import Any


class Stop:
    """Progress that breaks a run off once more than ``after`` frames are done."""

    def __init__(self, after: int) -> None:
        self.after = after

    def note(self, text: str) -> None: ...
    def working(self, fraction: float | None, text: str) -> None: ...
    def started(self, frames: int, plan: Any) -> None: ...
    def finished(self, state: str, message: str) -> None: ...
    def frame(self, done: int, frames: int, simulated: float, wall: float) -> None:
        if done > self.after:
            raise KeyboardInterrupt
