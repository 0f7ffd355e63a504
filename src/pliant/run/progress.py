"""Watching a run go on."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pliant.simulation.time_step import StepPlan


class RunProgress(Protocol):
    """Whoever wants to see a run go on."""

    def note(self, text: str) -> None:
        """Something worth saying: a warning, a choice that was made."""

    def working(self, fraction: float | None, text: str) -> None:
        """Preparation goes on (meshing, compiling); fraction 0 to 1 where it is known."""

    def started(self, frames: int, plan: "StepPlan") -> None:
        """The loop starts; ``frames`` are to be made."""

    def frame(self, done: int, frames: int, simulated: float, wall: float) -> None:
        """``done`` of ``frames`` are on disk, ``simulated`` seconds took ``wall`` seconds in this process."""

    def finished(self, state: str, message: str) -> None:
        """The run ended as done, interrupted, diverged or failed."""


class SilentProgress:
    """Shows nothing."""

    def note(self, text: str) -> None: ...
    def working(self, fraction: float | None, text: str) -> None: ...
    def started(self, frames: int, plan: "StepPlan") -> None: ...
    def frame(self, done: int, frames: int, simulated: float, wall: float) -> None: ...
    def finished(self, state: str, message: str) -> None: ...
