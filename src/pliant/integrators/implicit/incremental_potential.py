"""One implicit stage: the problem that every implicit scheme solves."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.integrators.implicit import kernels

if TYPE_CHECKING:
    from pliant.integrators.implicit.active_set_contact import ActiveSetContact
    from pliant.simulation.system import System


@dataclass
class SolveResult:
    """How a solve went: iterations, residual over the force scale, and whether that met the tolerance."""

    iterations: int
    residual: float
    converged: bool


class IncrementalPotential:
    r"""Find positions x and velocities v at ``time`` with

    .. math:: x = b + h v, \qquad M (v - u) = h f(x, v),

    for given b (``base``) and u (``pushed``): backward Euler, the implicit midpoint, Newmark and BDF2 are
    all of this form. With :math:`y = b + h u` its residual is

    .. math:: g(x) = M (x - y) - h^2 f(x, (x - b)/h),

    the gradient of :math:`\tfrac12 |x - y|_M^2 + h^2 E(x)` where all forces have a potential. For h = inf
    the stage is static: :math:`g = -f(x, 0)`. Degrees of freedom with zero inverse mass stay where
    ``x`` and ``v`` have them. All forces, those that depend on velocity included, are taken at x and v.
    """

    def __init__(
        self, system: "System", time: float, h: float, base: Array, pushed: Array, x: Array, v: Array
    ) -> None:
        self.system, self.time, self.h = system, time, h
        self.static = bool(np.isinf(h))
        self.inertia, self.scale = (0.0, 1.0) if self.static else (1.0, h * h)
        self.base, self.x, self.v = base, x, v
        self.known = v.copy()
        self.y = base if self.static else base + h * pushed
        self.f, self.g = np.empty_like(x), np.empty_like(x)
        self.held = 0.0
        self.contacts: ActiveSetContact | None = None
        self.taken: Array = np.zeros((0, 3))  # of the residual, from held particles
        self.reach = 1.0  # how far the step goes, over how far the stage does
        self.ends = time  # when the step ends
        self.stale = False  # f is not that of the solution
        self.end: Array | None = None  # forces where the step ends, if that is not in the stage

    def evaluate(self, x: Array, g: Array) -> float:
        """Residual at ``x`` into ``g``; returns its norm."""
        system, world = self.system, self.system.world
        if system.velocity_dependent:
            self._velocity(x)
        system.evaluate(self.time, x, self.v, self.f)
        if self.contacts is not None:
            self.f[self.contacts.rows] += self.contacts.friction
        total, held = kernels.residual(
            x, self.y, self.f, world.mass, world.inverse_mass, self.inertia, self.scale, g
        )
        self.held = float(np.sqrt(held))
        if self.contacts is not None:
            self.taken = self.contacts.confine(g)
            total = kernels.dot(g.reshape(-1), g.reshape(-1))
        return float(np.sqrt(total))

    def _velocity(self, x: Array) -> None:
        if self.static:
            self.v.fill(0.0)
        else:
            w = self.system.world.inverse_mass
            kernels.stage_velocity(x, self.base, w, self.h, self.known, self.v)

    def potential(self, x: Array) -> float:
        """The part of the objective that has an energy: inertia and the bodies' own."""
        world = self.system.world
        moved = kernels.inertia_energy(x, self.y, world.mass, world.inverse_mass)
        return self.inertia * float(moved) + self.scale * self.system.internal_energy(x)

    def outer_forces(self, x: Array) -> Array:
        """Forces at ``x`` that the potential leaves out, times the scale: actions and damping."""
        self._velocity(x)
        inner, all_ = np.zeros_like(x), np.empty_like(x)
        self.system.internal_forces(x, np.zeros_like(x), inner)
        self.system.evaluate(self.time, x, self.v, all_)
        if self.contacts is not None:
            all_[self.contacts.rows] += self.contacts.friction
        return self.scale * (all_ - inner)

    def confine(self, direction: Array) -> None:
        """Take the directions of held particles out of a search direction."""
        if self.contacts is not None:
            self.contacts.confine(direction)

    def end_of(self, x: Array) -> Array:
        """Where the step ends, if ``x`` solves the stage."""
        start = self.system.world.x
        return x if self.reach == 1.0 else start + self.reach * (x - start)

    def stage_of(self, end: Array, rows: IntArray) -> Array:
        """Where the stage must have some rows for the step to end at ``end``."""
        start = self.system.world.x[rows]
        return start + (end - start) / self.reach

    def finish(self, x: Array) -> None:
        """Take ``x`` as the solution; v follows from it."""
        self.x = x
        if self.static:
            self.v[:] = self.known
        else:
            self._velocity(x)
