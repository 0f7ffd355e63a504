"""The energy ledger: work done on the bodies and heat lost by them, step by step."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.core.typing import Array
from pliant.interfaces import ActionRuntime, Dissipation, Ledger, Power, PrescribedMotion, Settling
from pliant.state.world import BodyState, World


class EnergyLedger:
    """Books what acts on a World into its ledger."""

    def __init__(self, world: World) -> None:
        self.ledger = Ledger()
        self._world = world
        self._settling: list[Settling] = []
        self._powers: list[Power] = []
        self._moving: list[PrescribedMotion] = []
        self._dissipating: list[tuple[Any, slice]] = []

    def bind(
        self, every: Sequence[Any], active: Sequence[ActionRuntime], stepped: Sequence[BodyState]
    ) -> None:
        """Account for ``every`` action and model that settles, the ``active`` actions, and the heat of the
        parts that are ``stepped`` by the integrator."""
        self._settling = [a for a in every if isinstance(a, Settling)]
        self._powers = [a for a in active if isinstance(a, Power)]
        self._moving = [a for a in active if isinstance(a, PrescribedMotion) and not a.still]
        self._dissipating = [
            (p.mechanics.dissipation, p.rows) for p in stepped if isinstance(p.mechanics, Dissipation)
        ]

    def open(self, time: float) -> None:
        """Take stock of powers and of driven motion, where a step does not continue the last one."""
        self.ledger.powers, self.ledger.driven = self._power(time), self._driven_energy()

    def book(self, time: float, dt: float) -> None:
        """Add the work and heat of the step that ended at ``time``.

        Powers by the trapezoidal rule. What moves driven particles does the work that changes their kinetic
        energy and works against f on them, which books jumps of a prescribed velocity exactly.
        """
        ledger = self.ledger
        for action in self._settling:
            action.report_energy(ledger)
        work, heat = self._power(time)
        driven = self._driven_energy()
        ledger.work += 0.5 * dt * (ledger.powers[0] + work) + driven - ledger.driven
        ledger.dissipated += 0.5 * dt * (ledger.powers[1] + heat)
        ledger.powers, ledger.driven = (work, heat), driven

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
        for action in self._powers:
            w, h = action.power(time, world)
            work, heat = work + w, heat + h
        for dissipation, rows in self._dissipating:
            heat += dissipation(world.x[rows], world.v[rows])
        return work, heat

    def entries(self) -> Array:
        """The ledger as numbers, for checkpoints."""
        ledger = self.ledger
        return np.array([ledger.work, ledger.dissipated, *ledger.powers, ledger.driven])

    def reopen(self, entries: Array) -> None:
        """Continue from what ``entries`` gave."""
        work, heat, p, q, driven = (float(value) for value in entries)
        self.ledger = Ledger(work, heat, (p, q), driven)
