r"""A guard against energy from nothing in explicit steps.

Steps are taken in windows. After each window the energy ledger is closed: where its total has risen, or the
forces ring from step to step, the window is taken again with smaller steps; once windows have been quiet for
some time, the step grows back. The criteria are functions of the state alone, so a run repeats to the byte.

Let A be the largest energy that moved so far, B = TOLERANCE A, r the change of the total over the window, S
the gain so far (a cumulative sum that never falls below zero, so that losses cannot hide gains), and C the
correction of the scheme, minus ``Integrator.scheme_energy`` (:math:`\tfrac{dt^2}{8} \sum w f^2`). A window is
rejected where

* anything is not finite, or
* :math:`r > \max(0.1\,(B - S),\ 3 \cdot 10^{-4} B)`, or
* :math:`C_1 > \max(0.02 A, C_0)` and either :math:`C_1 > 0.2 A` or the forces of its last three steps ring:
  :math:`s_f > 0.6` with :math:`s_f^2 = -\sum w f_1 (f_0 - 2 f_1 + f_2) / (4 \sum w f_1^2)`, which is
  :math:`\sin^2(\omega dt/2)` for a single frequency. Under linear instability C grows with K + U, so that the
  total alone does not show it.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np

from pliant.core.typing import AnyArray, Array
from pliant.state.world import World

if TYPE_CHECKING:
    from pliant.simulation.energy_ledger import EnergyLedger
    from pliant.simulation.system import System

WINDOW = 40  # planned steps
LADDER = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0)
SMALLEST = 1e-7  # strain of all bodies whose energy does not count as motion
TOLERANCE = 0.01  # share of the largest energy that moved which the total may gain
MOST = 0.05  # share at which a run stops
PATIENCE, MOST_PATIENCE = 200, 3200  # quiet planned steps before the step may grow, at first and at most

Verdict = Literal["accept", "retake", "diverged"]


class EnergyGuard:
    """Decides about windows of steps; its place on the ladder is the factor by which steps are shortened."""

    def __init__(self, retakes: bool, world: World) -> None:
        self.retakes = retakes  # whether windows may be taken again; otherwise it only stops runs
        bodies = [(part.material, float(part.structure.mass.sum())) for part in world.bodies]
        self.broken = False  # whether bodies broke or were cut: then runs are warned of, not stopped
        self.pushed = False  # whether obstacles push bodies out that start inside: work of the first window
        self.place = 0  # on the ladder
        self.moved = SMALLEST**2 * sum(m.young * mass / m.density for m, mass in bodies)  # A [J]
        self.gain = 0.0  # S [J]
        self.gaps = 0.0  # gains that smaller steps did not cure: not the stepping [J]
        self.won = 0.0  # correction that changes of step have turned into numerical loss [J]
        self.patience, self.quiet = PATIENCE, 0
        self.trying = False  # whether the last window was the first with a larger step
        self.ground: float | None = None  # potential energy at the start [J]
        self._total = self._correction = 0.0
        self.changed = 0.0  # in minus the correction, by changes of the step within the window [J]
        self._stored: float | None = (
            None  # energy at the end of the last window, or at the start of this one [J]
        )
        self._first: tuple[int, float] | None = None  # place and r of the window's first attempt
        self._forces: list[Array] = []

    @property
    def factor(self) -> float:
        """By how much steps are shortened."""
        return LADDER[self.place]

    # -------------------------------------------------------------------------------- one window

    def begin(self, system: "System", continues: bool) -> None:
        """Called at the beginning of a window; ``continues``: nothing happened since the last one ended."""
        ledger = system.energy_ledger
        self._first = None
        if not continues or self._stored is None:
            own, potential = sum(system.energies()), system.potential_energy()
            if self.ground is None:
                self.ground = potential
            self.moved = self._largest(own, potential, ledger.totals.work)
            self._stored = own + potential
        self._total = ledger.balance(self._stored)
        self.begin_attempt(system)

    def begin_attempt(self, system: "System") -> None:
        """Called before the steps of a window are taken, for the first time or again."""
        self._forces, self.changed = [], 0.0
        self._correction = -system.energy_ledger.scheme_energy()

    def watch(self, forces: Array) -> None:
        """Remember the forces of the last three steps of a window."""
        self._forces = [*self._forces[-2:], forces.copy()]

    def pass_over(self, system: "System") -> None:
        """End a window in which bodies broke or were cut: what it lost went into new surfaces, unless bodies
        report that by themselves. Then a run that gains energy is stopped like any other."""
        ledger = system.energy_ledger
        total = ledger.balance(sum(system.energies()) + system.potential_energy())
        self._stored = None
        if system.breaks_booked:
            self.gain = max(0.0, self.gain + total - self._total)
            return
        self.broken = True
        ledger.totals.fracture += max(0.0, self._total - total)
        self.gain += max(0.0, total - self._total)

    @property
    def exceeded(self) -> bool:
        """Whether the gains so far are more than a run may have."""
        return self.gain + self.gaps > MOST * self.moved

    def judge(self, system: "System", span: int) -> Verdict:
        """Whether the window of ``span`` planned steps stands, is to be taken again, or cannot be cured."""
        ledger = system.energy_ledger
        own, potential = sum(system.energies()), system.potential_energy()
        correction = -ledger.scheme_energy()
        rise = ledger.balance(own + potential) - self._total
        if self.pushed and math.isfinite(rise):
            ledger.totals.work += max(rise, 0.0)
            rise, self.pushed = min(rise, 0.0), False
        finite = math.isfinite(rise) and math.isfinite(correction)
        moved, stored = self._largest(own, potential, ledger.totals.work), own + potential
        allowed = TOLERANCE * moved
        gained = not finite or rise > max(0.1 * (allowed - self.gain), 3e-4 * allowed)
        rings = finite and correction > max(0.02 * moved, self._correction)
        rings = rings and (correction > 0.2 * moved or self._ringing(system) > 0.6)
        lenient = not self.retakes or (self.broken and self.exceeded)
        if not (gained or rings) or (finite and lenient):
            self.moved, self._stored = moved, stored
            return self._accept(rise + self._book_mixing(ledger, rise, correction), correction, span)
        if finite and self._first is not None and not rings:
            place, first = self._first
            if self.factor >= 2.0 * LADDER[place] and rise > 0.5 * first:
                self.gaps += rise  # a gap in the ledger or a force without energy: not the stepping
                self.place, self.moved, self._stored = place, moved, stored
                return self._accept(0.0, correction, span)
        if self._first is None and finite and not rings:
            self._first = self.place, rise
        if not self.retakes or self.place == len(LADDER) - 1:
            if not (self.broken and finite):
                return "diverged"
            self.gaps += max(rise, 0.0)
            self.moved, self._stored = moved, stored
            return self._accept(0.0, correction, span)
        if self.trying:
            self.patience = min(2 * self.patience, MOST_PATIENCE)
        self.place = min(self.place + (1 if self.trying else 2), len(LADDER) - 1)
        self.trying, self.quiet = False, 0
        return "retake"

    def _book_mixing(self, ledger: "EnergyLedger", rise: float, correction: float) -> float:
        """Book as numerical what the total lost because the correction grew: nonlinear forces pass energy on
        to faster motion, whose correction is larger, while K + U stays. Returns what was booked [J]: no more
        than the loss, and no more than the correction has grown by itself."""
        grown = correction - self._correction + self.changed
        booked = max(0.0, min(-rise, grown))
        ledger.totals.numerical += booked
        return booked

    def _largest(self, own: float, potential: float, work: float) -> float:
        """The largest energy that moved, now that bodies hold ``own`` and actions ``potential``."""
        found = (own, abs(potential - (self.ground or 0.0)), abs(work))
        return max([self.moved, *(each for each in found if math.isfinite(each))])

    def _accept(self, rise: float, correction: float, span: int) -> Verdict:
        self.gain = max(0.0, self.gain + rise)
        if self.exceeded and not self.broken:
            return "diverged"
        self.trying = False
        self.quiet += span
        if self.place and self.quiet >= self.patience:
            ratio = (LADDER[self.place] / LADDER[self.place - 1]) ** 2
            if self.won - correction * (ratio - 1.0) <= 0.5 * TOLERANCE * self.moved:
                self.place -= 1
                self.trying, self.quiet = True, 0
        return "accept"

    def _ringing(self, system: "System") -> float:
        if len(self._forces) < 3 or self._forces[0].shape != self._forces[2].shape:
            return 0.0
        f0, f1, f2 = self._forces
        w = system.world.inverse_mass
        below = 4.0 * float(np.sum(w * f1 * f1))
        above = -float(np.sum(w * f1 * (f0 - 2.0 * f1 + f2)))
        return math.sqrt(above / below) if above > 0.0 and below > 0.0 else 0.0

    # ------------------------------------------------------------------------------------- restart

    def state(self) -> dict[str, AnyArray]:
        """Everything that the next decisions depend on."""
        ground = np.nan if self.ground is None else self.ground
        numbers = (self.moved, self.gain, self.gaps, self.won, ground)
        flags = (self.place, self.patience, self.quiet, self.trying, self.broken)
        return {"guard": np.array([*flags, *numbers], float)}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Continue from ``state``."""
        if "guard" not in state:
            return
        place, patience, quiet, trying, broken, *numbers = (float(value) for value in state["guard"])
        self.moved, self.gain, self.gaps, self.won, ground = numbers
        self.place, self.patience, self.quiet = int(place), int(patience), int(quiet)
        self.trying, self.broken = bool(trying), bool(broken)
        self.ground = None if math.isnan(ground) else ground
