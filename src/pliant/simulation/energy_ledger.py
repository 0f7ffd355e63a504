"""The energy ledger: work done on the bodies and heat lost by them, step by step."""

from collections.abc import Sequence

import numpy as np

from pliant.core.typing import Array
from pliant.interfaces import EnergyTotals, ForceTerm, PrescribedMotion
from pliant.state.world import World


class EnergyLedger:
    """Adds up the work and heat of all force terms of a World."""

    def __init__(self, world: World) -> None:
        self.totals = EnergyTotals()
        self._world = world
        self._reporting: list[ForceTerm] = []
        self._powers: list[ForceTerm] = []
        self._moving: list[PrescribedMotion] = []

    def bind(
        self, every: Sequence[ForceTerm], active: Sequence[ForceTerm], drives: Sequence[PrescribedMotion]
    ) -> None:
        """Account for impulses of ``every`` term, the power of ``active`` ones, and prescribed motion."""
        self._reporting = [term for term in every if "report_energy" in term.members]
        self._powers = [term for term in active if "power" in term.members]
        self._moving = [drive for drive in drives if not drive.is_static]

    def open(self, time: float) -> None:
        """Record powers and driven energy, where a step does not continue the last one."""
        self.totals.powers, self.totals.driven = self._power(time), self._driven_energy()

    def add_step(self, time: float, dt: float) -> None:
        """Add the work and heat of the step that ended at ``time``.

        Powers by the trapezoidal rule. Prescribed motion does the work that changes the kinetic energy of its
        particles and works against f on them, which accounts for jumps of a prescribed velocity exactly.
        """
        totals = self.totals
        for term in self._reporting:
            term.report_energy(totals)
        work, heat = self._power(time)
        driven = self._driven_energy()
        totals.work += 0.5 * dt * (totals.powers[0] + work) + driven - totals.driven
        totals.dissipated += 0.5 * dt * (totals.powers[1] + heat)
        totals.powers, totals.driven = (work, heat), driven

    def _driven_energy(self) -> float:
        world, total = self._world, 0.0
        for drive in self._moving:
            speed = world.v[drive.rows][:, drive.axes]
            total += 0.5 * float(np.sum(world.mass[drive.rows, None] * speed**2))
        return total

    def _power(self, time: float) -> tuple[float, float]:
        world, work, heat = self._world, 0.0, 0.0
        for drive in self._moving:
            force, speed = world.f[drive.rows][:, drive.axes], world.v[drive.rows][:, drive.axes]
            work -= float(np.sum(force * speed))
        for term in self._powers:
            w, h = term.power(time, world)
            work, heat = work + w, heat + h
        return work, heat

    def entries(self) -> Array:
        """The totals as numbers, for checkpoints."""
        totals = self.totals
        return np.array([totals.work, totals.dissipated, *totals.powers, totals.driven])

    def restore(self, entries: Array) -> None:
        """Continue from what ``entries`` gave."""
        work, heat, p, q, driven = (float(value) for value in entries)
        self.totals = EnergyTotals(work, heat, (p, q), driven)
