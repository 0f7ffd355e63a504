"""The end of an implicit step: momenta that its forces give, and no energy from nothing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray
from pliant.integrators.implicit.active_set_contact import ObstacleForces
from pliant.integrators.implicit.rigid_motion import ConnectedParts
from pliant.integrators.implicit.stage import StageSolution, StepRule, StepStart
from pliant.integrators.implicit.step_control import StepEnergy

if TYPE_CHECKING:
    from pliant.simulation.system import System


class StepConservation:
    r"""Momenta and energy of one step.

    Angular momentum: :math:`L_{n+1} = c_0 L_n + c_1 L_{n-1} + dt \sum_k w_k \sum x_k \times f_k` over the
    forces other than the bodies' own, with the weights and places of the scheme (``StepRule``): what a scheme
    lets leak away is given back as rigid rotation. Energy: guarded steps are told whether they gain any;
    those of the energy-momentum method get back what the tolerance of their solver cost.
    """

    def __init__(
        self,
        system: "System",
        rule: StepRule,
        start: StepStart,
        solved: Sequence[StageSolution],
        obstacles: Sequence[tuple[float, ObstacleForces]],
        couples: Array | None = None,
    ) -> None:
        """couples (n, 3) [N m]: mean moments beside those of the forces."""
        self._couples = couples
        self._system, self._rule, self._start, self._obstacles = system, rule, start, obstacles
        self._outer: list[tuple[float, Array, Array]] = []  # weights, places and forces
        if rule.weights[0]:
            first = StageSolution(start.time, start.x, start.v, start.f)
            self._outer.append((rule.weights[0], start.x, self._outer_forces(first, None)))
        for weight, stage, (_, pushed) in zip(rule.weights[1:], solved, obstacles, strict=True):
            self._outer.append((weight, stage.x, self._outer_forces(stage, pushed)))

    def _outer_forces(self, stage: StageSolution, pushed: ObstacleForces | None) -> Array:
        """Forces [N] of a stage other than the bodies' own; minus those of the bodies where motion is
        prescribed. Contacts between bodies are not evaluated again: they are what elasticity leaves."""
        if self._rule.between:
            return stage.f
        system, known = self._system, self._start.inverse_mass == 0.0
        out = np.zeros_like(stage.x)
        if any(term.stored == "contact" for term in system.acting):
            for body in system.bodies:
                body.add_forces(stage.time, stage.x, stage.v, out)
            np.subtract(stage.f, out, out=out)
        else:
            system.external_forces(stage.time, stage.x, stage.v, out)
            if pushed is not None:
                pushed.add_to(out)
        out[known] -= stage.f[known]
        return out

    def restoring_spin(
        self, parts: ConnectedParts, x: Array, v: Array, dt: float, left: Array | float
    ) -> Array:
        """The rigid rotation (n, 3) [m/s] that gives the free parts their angular momentum at ``x``, ``v``;
        left: angular momentum (parts, 3) that they keep beyond that."""
        if not parts.free.any():
            return np.zeros_like(v)
        rule, start = self._rule, self._start
        momentum = rule.past[0] * parts.angular_momentum(start.x, start.v) + left
        if start.history is not None and rule.past[1]:
            momentum += rule.past[1] * parts.angular_momentum(*start.history)
        for weight, place, forces in self._outer:
            momentum += weight * dt * parts.sums(np.cross(place, forces))
        if self._couples is not None:
            momentum += dt * parts.sums(self._couples)
        return parts.restoring_spin(x, v, momentum)

    def _obstacle_work(self, x: Array, dt: float) -> float:
        """Work [J] that obstacles did on the bodies beyond that of their own motion: contacts cannot do
        any."""
        total, end = 0.0, self._start.time + dt
        for weight, (_, pushed) in zip(self._rule.weights[1:], self._obstacles, strict=True):
            for k, obstacle in enumerate(self._system.obstacles if len(pushed.rows) else ()):
                own = pushed.shape == k
                rows = pushed.rows[own]
                moved = x[rows] - self._start.x[rows] - dt * obstacle.velocity(end, dt)
                total += weight * float(np.sum(pushed.force[own] * moved))
        return total

    def restore(
        self,
        parts: ConnectedParts,
        x: Array,
        v: Array,
        dt: float,
        touched: BoolArray,
        left: Array | float,
        energies: bool,
        surplus: float = 0.0,
    ) -> tuple[Array, bool]:
        """Velocities at the end ``x`` of the step, from the scheme's own ``v``, and whether the step gains
        energy.

        touched: parts at obstacles, where only as much spin is given back as gains no energy, and where
        backward Euler may end in another minimum of its potential, of higher energy than where it began.
        energies: whether all bodies have one. surplus [J]: work of barrier contact beyond what it had stored.
        """
        rule, touching = self._rule, bool(touched.any())
        if rule.mean_velocity and parts.free.any():
            v = parts.turned_half(self._start.x, x, v, touched)
        spin = self.restoring_spin(parts, x, v, dt, left)
        if not energies or not (rule.guarded or rule.between or touching):
            return v + spin, False
        energy = StepEnergy(self._system)
        energy.end(x, np.asarray(sum(weight * forces for weight, _, forces in self._outer)))
        energy.work -= max(self._obstacle_work(x, dt), 0.0) + max(surplus, 0.0)
        v = v + (energy.most_of(spin, v) if touching else 1.0) * spin
        if rule.between and not touching:
            v = energy.restored(v, parts.deformation_velocity(x, v))
        return v, not rule.between and energy.is_gain(v)
