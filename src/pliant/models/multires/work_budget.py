"""The work that a frame may take: as given, or as this machine manages in the given time."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.diagnostics import Diagnostics
from pliant.core.typing import AnyArray

if TYPE_CHECKING:
    from pliant.models.multires.model import Multires

LOWER, HIGHER = 0.95, 1.15  # a measured budget is changed where the machine manages less or more than this
FORGET = 0.02  # by which the time for a change is taken to fall from frame to frame
SMOOTH = 0.1  # weight of the last frame in the measured speed


class WorkBudget:
    """The number of node updates that a frame may take.

    A budget in seconds is multiplied by the speed that was measured lately. The resulting number, not the
    time, decides what is simulated where; so it is logged whenever it changes: ``decisions``, pairs of time
    [s] and updates. A model that is given them repeats the run on any machine.
    """

    def __init__(self, model: "Multires", diagnostics: Diagnostics) -> None:
        self.seconds, self._given = model.seconds, model.decisions
        self.allowed: float | None = None if model.budget is None else float(model.budget)
        self.decisions: list[tuple[float, float]] = []
        self.speed = 0.0  # node updates per second
        self.changes = 0.0  # seconds that a change of levels may take
        self._diagnostics, self._warned = diagnostics, False

    def allowed_at(self, time: float) -> float | None:
        """Node updates that a frame may take from ``time`` on."""
        if self.seconds is None:
            return self.allowed
        if self._given is not None:
            past = [allowed for begin, allowed in self._given if begin <= time]
            self.allowed = past[-1] if past else None
        elif self.speed:
            now = max(self.seconds - self.changes, 0.1 * self.seconds) * self.speed
            if self.allowed is None or not LOWER * self.allowed <= now <= HIGHER * self.allowed:
                self.allowed = now
        if self.allowed is not None and (not self.decisions or self.decisions[-1][1] != self.allowed):
            self.decisions.append((time, self.allowed))
        return self.allowed

    def measure(self, updates: int, seconds: float, changes: float) -> None:
        """Update the measured speed by a frame's work and time [s], of which ``changes`` were for choosing and
        changing levels."""
        self.changes = max(changes, (1.0 - FORGET) * self.changes)
        if updates:
            rate = updates / seconds
            self.speed = rate if not self.speed else (1.0 - SMOOTH) * self.speed + SMOOTH * rate

    def warn(self, time: float, least: float, refused: bool) -> None:
        """Warn once where the budget does not allow the coarsest level's own ``least`` updates a frame, or
        where nodes were ``refused`` to be split."""
        if self._warned or self.allowed is None:
            return
        if least > self.allowed:
            self._diagnostics.warn(
                f"at {time:.2f} s the coarsest level alone takes {least:.0f} node updates a frame, the "
                f"budget is {self.allowed:.0f}: frames take longer than asked for, and nothing is refined. "
                "More levels, a larger edge or a higher frame rate leave each frame less to do"
            )
        elif refused:
            self._diagnostics.warn(
                f"at {time:.2f} s the budget kept nodes from splitting (series load, refused): the motion is "
                "coarser there than asked for"
            )
        self._warned = least > self.allowed or refused

    def state(self) -> dict[str, AnyArray]:
        """What a restart needs; the names are those of run folders since 0.1."""
        allowed = np.nan if self.allowed is None else self.allowed
        return {
            "governor": np.array([allowed, self.speed, self.changes, self._warned]),
            "decisions": np.array(self.decisions).reshape(-1, 2),
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        allowed, self.speed, self.changes, warned = (float(value) for value in state["governor"])
        self.allowed, self._warned = None if np.isnan(allowed) else allowed, bool(warned)
        self.decisions = [(float(time), float(value)) for time, value in state["decisions"]]
