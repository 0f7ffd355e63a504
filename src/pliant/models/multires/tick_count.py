"""How many ticks a step of the scene is divided into."""

import numpy as np

from pliant.models.multires.arrangement import Arrangement

SAFETY = 0.4  # of the stable step without damping: contacts, which are as stiff as ticks allow, need the rest
RETAKES = 5  # times that a step is taken again with half the ticks
CALM = 1.0  # seconds after which ticks that were halved are twice as long again


class TickCount:
    """Ticks of 0.4 of the stable step of the deepest level that is simulated, halved where a step gained
    energy.

    halved: how often they are halved now; calm [s]: how long that was enough. They stay halved for a second,
    because leapfrog's own energy differs from tick to tick, and each such change has to be repaid."""

    def __init__(self, fixed: int | None = None) -> None:
        self.fixed = fixed  # ticks of a step, whatever is stable
        self.halved, self.calm = 0, 0.0

    def stable(self, arrangement: Arrangement, dt: float, level: int) -> int:
        """Ticks of a step of dt [s] whose deepest level is the given one."""
        if self.fixed is not None:
            return self.fixed << self.halved
        critical = arrangement.hierarchy.critical_step(level, arrangement.prescribed.flags)
        limit = np.sqrt(arrangement.beta**2 + (SAFETY * critical) ** 2) - arrangement.beta
        count = max(1, int(np.ceil(dt / limit * (1.0 - 1e-9))))
        return count << self.halved

    def halve(self) -> bool:
        """Halve the ticks; False where they have been halved too often."""
        if self.halved >= RETAKES:
            return False
        self.halved, self.calm = self.halved + 1, 0.0
        return True

    def state(self) -> tuple[float, float]:
        """What a restart needs."""
        return float(self.halved), self.calm

    def pass_time(self, dt: float) -> None:
        """A step of dt [s] was good."""
        self.calm += dt
        if self.halved and self.calm > CALM:
            self.halved, self.calm = self.halved - 1, 0.0
