r"""A guard against energy from nothing in implicit steps.

Schemes that do not keep energy by themselves book what they lose as numerical, and what they gain as its
opposite. The ledger is closed at the end of each frame, and wherever something happens within it. Let r be
what the total without the numerical account changes by from there to there, A the largest energy that moved
so far and S the gain (a cumulative sum that never falls below zero, so that losses cannot hide gains). The
run stops where S exceeds MOST A. What happens between windows (bodies that come, cuts, glue) does not count.

Steps are not taken again: an implicit step that gains energy is one whose equations were not solved well, or
that contact has changed, and which step would do is not known. MOST is larger than in explicit steps: works
are those of the mean force of a step, which long ones take with errors: 5 % of what moves in dough that is
pressed, 10 % of a block on a turntable, 17 % in the first step of a block on a slope.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray
from pliant.simulation.energy_guard import largest_energy, smallest_motion
from pliant.state.world import World

if TYPE_CHECKING:
    from pliant.simulation.system import System

MOST = 0.5  # share of the largest energy that moved which may be gained


class FrameGuard:
    """What a run with implicit steps has gained, and whether that is more than it may."""

    def __init__(self, world: World) -> None:
        self.moved = smallest_motion(world)  # A [J]
        self.gain = 0.0  # S [J]
        self.ground: float | None = None  # potential energy at the start [J]
        self._total = 0.0  # at the beginning of the window [J]

    def begin(self, system: "System") -> None:
        """Called before steps are taken."""
        if self.ground is None:
            self.ground = system.potential_energy()
        self._total = self._measure(system)

    def end(self, system: "System", changed: bool) -> str:
        """Called after them; ``changed``: bodies broke or were cut in the last one. Returns in words why the
        run has to stop, or nothing."""
        rise = self._measure(system) - self._total
        if not changed and math.isfinite(rise):
            self.gain = max(0.0, self.gain + rise)
        if changed or self.gain <= MOST * self.moved:
            return ""
        return f"energy grows from nothing: {self.gain:.3g} J, of {self.moved:.3g} J that moved at most"

    def _measure(self, system: "System") -> float:
        """The total [J] without the numerical account."""
        totals = system.energy_ledger.totals
        own, potential = sum(system.energies()), system.potential_energy()
        self.moved = largest_energy(self.moved, own, potential, self.ground or 0.0, totals.work)
        return system.energy_ledger.balance(own + potential) - totals.numerical

    # ------------------------------------------------------------------------------------- restart

    def state(self) -> dict[str, AnyArray]:
        """Everything that the next decisions depend on."""
        ground = np.nan if self.ground is None else self.ground
        return {"frame-guard": np.array([self.moved, self.gain, ground])}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Continue from ``state``."""
        if "frame-guard" in state:
            self.moved, self.gain, ground = (float(value) for value in state["frame-guard"])
            self.ground = None if math.isnan(ground) else ground
