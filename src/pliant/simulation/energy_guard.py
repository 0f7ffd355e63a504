r"""A guard against energy from nothing in explicit steps.

Steps are taken in windows. After each window the energy ledger is closed: where its total has risen, or the
forces ring from step to step, the window is taken again with smaller steps; once windows have been quiet for
some time, the step grows back. The criteria are functions of the state alone, so a run repeats to the byte.

Let A be the largest energy that moved so far, B = TOLERANCE A, r the change of the total over the window, S
the gain so far (a cumulative sum that never falls below zero, so that losses cannot hide gains), T the same
for losses, C the correction of the scheme, minus ``Integrator.scheme_energy``
(:math:`\tfrac{dt^2}{8} \sum w f^2`), and Q that for nonlinear forces (``NonlinearCorrection``). Where nothing
collides, B = SMOOTH A. A window is rejected where

* anything is not finite, or
* :math:`r > \max(0.1\,(B - S),\ 3 \cdot 10^{-4} B)`, or Q falls, and below -TOLERANCE A: then K + U grows, or
* :math:`-r > \max(0.1\,(B - T),\ 0.01 B)` and :math:`-r < 10 |Q|`: Q is not accurate. Where smaller steps do
  not change that, losses are accepted for some time, and do not count in T. Or
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
    from pliant.simulation.system import System

WINDOW = 40  # planned steps
LADDER = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0)
SMALLEST = 1e-7  # strain of all bodies whose energy does not count as motion
ROUNDING = 1e-9  # nor does this share of the potential energy: sums of it are rounded
TOLERANCE, SMOOTH = 0.01, 0.001  # shares of the largest energy that moved which the total may gain
"""With obstacles, contacts or constraints, and without."""
MOST = 0.05  # share at which a run stops
PATIENCE, MOST_PATIENCE = 200, 3200  # quiet planned steps before the step may grow, at first and at most

Verdict = Literal["accept", "retake", "diverged"]


def smallest_motion(world: World) -> float:
    """The energy [J] below which nothing counts as motion."""
    bodies = [(part.material, float(part.structure.mass.sum())) for part in world.bodies]
    return float(SMALLEST**2 * sum(m.young * mass / m.density for m, mass in bodies))


def largest_energy(moved: float, own: float, potential: float, ground: float, work: float) -> float:
    """The largest energy that moved [J]: ``moved`` so far, and now that bodies hold ``own`` and actions
    ``potential``, which was ``ground`` at the start, and did ``work``."""
    found = (own, abs(potential - ground), abs(work), ROUNDING * abs(potential))
    return max([moved, *(each for each in found if math.isfinite(each))])


class EnergyGuard:
    """Decides about windows of steps; its place on the ladder is the factor by which steps are shortened."""

    def __init__(self, retakes: bool, world: World, repays: bool = False) -> None:
        self.retakes = retakes  # whether windows may be taken again; otherwise it only stops runs
        self.repays = repays  # whether bodies give back what they lost, so that gains make up for losses
        self.broken = False  # whether bodies broke or were cut: then runs are warned of, not stopped
        self.pushed = False  # whether obstacles push bodies out that start inside: work of the first window
        self.place = 0  # on the ladder
        self.moved = smallest_motion(world)  # A [J]
        self.gain = 0.0  # S [J]
        self.loss = 0.0  # T [J]
        self.deaf, self.deafness = 0, PATIENCE  # planned steps for which losses are accepted: now, next time
        self.gaps = 0.0  # gains that smaller steps did not cure: not the stepping [J]
        self.patience, self.quiet = PATIENCE, 0
        self.losing = False  # whether the last window that was rejected had lost energy
        self.trying = False  # whether the last window was the first with a larger step
        self.ground: float | None = None  # potential energy at the start [J]
        self._total = self._correction = self._nonlinear = self._numerical = 0.0
        self._stored: float | None = (
            None  # energy at the end of the last window, or at the start of this one [J]
        )
        self._first: tuple[int, float] | None = None  # place and r of the window's first attempt
        self._forces: list[Array] = []
        self.cause, self.finest = "", 1.0  # why the run has to stop, and the largest factor that was tried

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
        scheme = ledger.scheme_energy()
        self._total = ledger.balance(self._stored, scheme)
        self._numerical = ledger.totals.numerical
        self.begin_attempt(system, scheme)

    def begin_attempt(self, system: "System", scheme: float | None = None) -> None:
        """Called before the steps of a window are taken, for the first time or again; scheme: the energy of
        the scheme at the present state [J], where it is known."""
        self._forces = []
        self._correction = -(system.energy_ledger.scheme_energy() if scheme is None else scheme)
        self._nonlinear = system.energy_ledger.nonlinear_energy

    def watch(self, forces: Array) -> None:
        """Remember the forces of the last three steps of a window."""
        self._forces = [*self._forces[-2:], forces.copy()]

    def pass_over(self, system: "System") -> None:
        """End a window in which bodies broke or were cut: what it lost went into new surfaces, unless bodies
        report that by themselves. Then a run that gains energy is stopped like any other, also where
        new forces let go of what the correction of the scheme held."""
        ledger = system.energy_ledger
        own, potential = sum(system.energies()), system.potential_energy()
        total = ledger.balance(own + potential)
        self.moved, self._stored = self._largest(own, potential, ledger.totals.work), None
        if system.breaks_booked:
            freed = self._numerical - ledger.totals.numerical  # of a correction that forces had driven up
            self._add(total - self._total + freed)
            return
        self.broken = True
        ledger.totals.fracture += max(0.0, self._total - total)
        self.gain += max(0.0, total - self._total)

    @property
    def exceeded(self) -> bool:
        """Whether the gains so far are more than a run may have."""
        return self.gain + self.gaps > MOST * self.moved

    @property
    def gained(self) -> str:
        """What the gains so far add up to, in words."""
        return (
            f"energy grows from nothing: {self.gain + self.gaps:.3g} J so far, "
            f"of {self.moved:.3g} J that moved at most"
        )

    def judge(self, system: "System", span: int) -> Verdict:
        """Whether the window of ``span`` planned steps stands, is to be taken again, or cannot be cured."""
        ledger = system.energy_ledger
        self.finest = max(self.finest, self.factor)
        own, potential = sum(system.energies()), system.potential_energy()
        scheme = ledger.scheme_energy()
        correction = -scheme
        rise = ledger.balance(own + potential, scheme) - self._total
        if self.pushed and math.isfinite(rise):
            ledger.totals.work += max(rise, 0.0)
            rise, self.pushed = min(rise, 0.0), False
        finite = math.isfinite(rise) and math.isfinite(correction)
        moved = self._largest(own, potential, ledger.totals.work)
        hidden = self._nonlinear - ledger.nonlinear_energy  # gain of K + U that Q makes up for
        excess = hidden if ledger.nonlinear_energy < -TOLERANCE * moved and hidden > 0.0 else rise
        rings = finite and correction > max(0.02 * moved, self._correction)
        rings = rings and (correction > 0.2 * moved or self._ringing(system) > 0.6)
        allowed = (TOLERANCE if system.collides else SMOOTH) * moved
        largest = max(abs(self._nonlinear), abs(ledger.nonlinear_energy))
        wrong = rings or not finite or self._is_wrong(excess, allowed, largest)
        lenient = not self.retakes or (self.broken and self.exceeded)
        if finite:
            stands, place = not wrong or lenient, self.place
            if not stands and not rings:
                stands = self._is_incurable(excess)
                rise = 0.0 if stands else rise
            if not stands and self.place == len(LADDER) - 1 and (self.broken or (excess < 0.0 and not rings)):
                self.gaps += max(rise, 0.0)
                stands, rise = True, min(rise, 0.0)
            if stands:
                self.moved, self._stored = moved, own + potential
                return self._accept(rise, span)
            if self._first is None and not rings:
                self._first = place, excess
        if not self.retakes or self.place == len(LADDER) - 1:
            self.cause = _cause(finite, rings, excess, correction, moved)
            return "diverged"
        self.losing = finite and not rings and excess < 0.0
        if self.trying:
            self.patience = min(2 * self.patience, MOST_PATIENCE)
        self.place = min(self.place + (1 if self.trying else 2), len(LADDER) - 1)
        self.trying, self.quiet = False, 0
        return "retake"

    def _is_wrong(self, excess: float, allowed: float, nonlinear: float) -> bool:
        """Whether the total rose, or fell by an error of the ``nonlinear`` correction, by more than a window
        may add to what is ``allowed`` in a run."""
        if excess < 0.0 and not self.deaf:
            return max(0.1 * (allowed - self.loss), 0.01 * allowed) < -excess < 10.0 * nonlinear
        return excess > max(0.1 * (allowed - self.gain), 3e-4 * allowed)

    def _is_incurable(self, excess: float) -> bool:
        """Whether half the step did not help: a gap in the ledger or a force without energy, and not the
        stepping. The step is then what it was."""
        if self._first is None:
            return False
        place, first = self._first
        if self.factor < 2.0 * LADDER[place] or excess * first <= 0.5 * first**2:
            return False
        self.place = place
        self.gaps += max(excess, 0.0)
        if excess < 0.0:
            self.deaf, self.deafness = self.deafness, min(2 * self.deafness, MOST_PATIENCE)
        return True

    def _largest(self, own: float, potential: float, work: float) -> float:
        """The largest energy that moved, now that bodies hold ``own`` and actions ``potential``."""
        return largest_energy(self.moved, own, potential, self.ground or 0.0, work)

    def _accept(self, rise: float, span: int) -> Verdict:
        self._add(rise)
        if not self.deaf:
            self.loss = max(0.0, self.loss - rise)
        self.deaf = max(0, self.deaf - span)
        if self.exceeded and not self.broken:
            self.cause = self.gained
            return "diverged"
        self.trying = False
        self.quiet += span
        if self.place and self.quiet >= self.patience:
            self.place -= 1
            self.trying, self.quiet = True, 0
        return "accept"

    def _add(self, rise: float) -> None:
        if not self.repays:
            self.gain = max(0.0, self.gain + rise)
        else:  # such bodies begin within their first step, which may add to what they hold
            self.gain += rise if self.quiet else min(rise, 0.0)

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
        numbers = (self.moved, self.gain, self.gaps, ground)
        flags = (self.place, self.patience, self.quiet, self.trying, self.broken)
        losses = np.array([self.loss, self.deaf, self.deafness], float)
        return {"guard": np.array([*flags, *numbers], float), "guard/losses": losses}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Continue from ``state``."""
        if "guard" not in state:
            return
        place, patience, quiet, trying, broken, *numbers = (float(value) for value in state["guard"])
        self.moved, self.gain, self.gaps, ground = numbers
        self.place, self.patience, self.quiet = int(place), int(patience), int(quiet)
        self.trying, self.broken = bool(trying), bool(broken)
        self.ground = None if math.isnan(ground) else ground
        self.loss, deaf, deafness = (float(value) for value in state.get("guard/losses", (0.0, 0, PATIENCE)))
        self.deaf, self.deafness = int(deaf), int(deafness)


def _cause(finite: bool, rings: bool, excess: float, correction: float, moved: float) -> str:
    """What is wrong with a window of steps, in words."""
    if not finite:
        return "its energy is no longer a finite number"
    if rings:
        return (
            "forces swing from step to step with an energy (dt^2/8 sum f^2/m) of "
            f"{correction:.3g} J, and {moved:.3g} J moved at most"
        )
    return f"energy grows from nothing: {excess:.3g} J in a few steps, of {moved:.3g} J that moved at most"
