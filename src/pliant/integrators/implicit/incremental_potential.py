"""The problem that every implicit step solves."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.stage import ImplicitStage

if TYPE_CHECKING:
    from pliant.integrators.implicit.active_set_contact import ActiveSetContact
    from pliant.simulation.system import System


@dataclass
class Iterate:
    """Positions (n, 3), the residual g there (n, 3), and its norm."""

    x: Array
    g: Array
    norm: float


@dataclass(frozen=True)
class SolveResult:
    """How a solve ended: the last iterate, the number of iterations, the norm of the residual over the force
    scale, whether that met the tolerance, and whether the last line search failed (forces were then evaluated
    elsewhere last)."""

    last: Iterate
    iterations: int
    residual: float
    converged: bool
    search_failed: bool = False


class IncrementalPotential:
    r"""Find positions x and velocities v of a stage (see ``ImplicitStage``): backward Euler, the implicit
    midpoint rule, Newmark's method and BDF2 all have this form. With
    :math:`\tilde x = x_b + h v_p` (``x_tilde``, where inertia leads) the residual is

    .. math:: g(x) = M (x - \tilde x) - h^2 f(x, (x - x_b)/h),

    the gradient of :math:`\tfrac12 |x - \tilde x|_M^2 + h^2 E(x)` where all forces have a potential. For
    h = inf it is that of an equilibrium: :math:`g = -f(x, 0)`. Degrees of freedom with zero inverse mass stay
    where ``x`` and ``v`` have them. All forces, those that depend on velocity included, are taken at x and v.
    """

    def __init__(
        self, system: "System", stage: ImplicitStage, time: float, dt: float, at_rest: bool = False
    ) -> None:
        """The problem of a step from ``time`` to ``time + dt``; at_rest: prescribed velocities are zero."""
        world, h = system.world, stage.h
        self.system, self.stage, self.h = system, stage, h
        self.time, self.end_time = time + dt, time + dt
        self.static = bool(np.isinf(h))
        self.inertia, self.scale = (0.0, 1.0) if self.static else (1.0, h * h)
        x, v = world.x.copy(), world.v.copy()
        system.drive(time + dt, x, v)
        if stage.midpoint:
            x, v = 0.5 * (world.x + x), (x - world.x) / dt
            self.time = time + 0.5 * dt
        if self.static:
            v[world.inverse_mass > 0.0] = 0.0
        if at_rest:
            v[world.inverse_mass == 0.0] = 0.0
        self.x, self.v, self._v_prescribed = x, v, v.copy()
        self.x_tilde = stage.x_base if self.static else stage.x_base + h * stage.v_predicted
        self.f = np.empty_like(x)  # forces [N] where ``evaluate`` was called last
        self.reaction_norm = 0.0  # norm of the forces on prescribed degrees of freedom [N], there
        self.contact: ActiveSetContact | None = None
        self.contact_residual: Array = np.zeros((0, 3))  # taken out of the residual at held particles
        self._stale = True  # f is not that of the solution

    def hold(self, contact: "ActiveSetContact", dt: float) -> None:
        """Let ``contact`` hold particles against obstacles while the problem is solved."""
        self.contact = contact
        contact.begin(self, dt)

    def evaluate(self, x: Array, g: Array) -> float:
        """Residual at ``x`` into ``g``; returns its norm."""
        system, world = self.system, self.system.world
        if system.velocity_dependent:
            self._set_velocity(x)
        system.evaluate(self.time, x, self.v, self.f)
        if self.contact is not None:
            self.f[self.contact.rows] += self.contact.friction
        total, reactions = kernels.residual(
            x, self.x_tilde, self.f, world.mass, world.inverse_mass, self.inertia, self.scale, g
        )
        self.reaction_norm = float(np.sqrt(reactions))
        if self.contact is not None:
            self.contact_residual = self.contact.project_out(g)
            total = kernels.dot(g.reshape(-1), g.reshape(-1))
        return float(np.sqrt(total))

    def iterate(self, x: Array) -> Iterate:
        """``x`` with its residual."""
        g = np.empty_like(x)
        return Iterate(x, g, self.evaluate(x, g))

    def _set_velocity(self, x: Array) -> None:
        if self.static:
            self.v.fill(0.0)
        else:
            w = self.system.world.inverse_mass
            kernels.stage_velocity(x, self.stage.x_base, w, self.h, self._v_prescribed, self.v)

    def energy(self, x: Array) -> float:
        """The part of the objective that has an energy: inertia and the bodies' own."""
        world = self.system.world
        moved = kernels.inertia_energy(x, self.x_tilde, world.mass, world.inverse_mass)
        return self.inertia * float(moved) + self.scale * self.system.internal_energy(x)

    def outer_forces(self, x: Array) -> Array:
        """Forces at ``x`` that ``energy`` leaves out, times the scale: actions and damping."""
        self._set_velocity(x)
        inner, total = np.zeros_like(x), np.empty_like(x)
        self.system.internal_forces(x, np.zeros_like(x), inner)
        self.system.evaluate(self.time, x, self.v, total)
        if self.contact is not None:
            total[self.contact.rows] += self.contact.friction
        return self.scale * (total - inner)

    def project_out(self, direction: Array) -> None:
        """Take the directions in which particles are held out of a search direction."""
        if self.contact is not None:
            self.contact.project_out(direction)

    def end_positions(self, x: Array) -> Array:
        """Where the step ends, if ``x`` solves the stage."""
        start = self.system.world.x
        return start + 2.0 * (x - start) if self.stage.midpoint else x

    def stage_positions(self, end: Array, rows: IntArray) -> Array:
        """Where the stage must have some rows for the step to end at ``end``."""
        start = self.system.world.x[rows]
        return start + (end - start) / (2.0 if self.stage.midpoint else 1.0)

    def accept(self, x: Array, evaluated: bool) -> None:
        """Take ``x`` as the solution; v follows from it. evaluated: ``f`` are the forces there."""
        self.x, self._stale = x, not evaluated
        if self.static:
            self.v[:] = self._v_prescribed
        else:
            self._set_velocity(x)

    def end_state(self) -> tuple[Array, Array]:
        """Positions and velocities at the end of the step, from the solution."""
        world = self.system.world
        if self.stage.midpoint:
            return 2.0 * self.x - world.x, 2.0 * self.v - world.v
        return self.x, self.v

    def end_forces(self) -> Array | None:
        """The forces [N] at the end of the step, if the solution has them."""
        return None if self._stale or self.stage.midpoint else self.f
