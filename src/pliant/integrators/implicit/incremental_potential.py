"""The problem that every implicit step solves."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.plastic_flow import begin_flow, leave_flow
from pliant.integrators.implicit.stage import ImplicitStage, StageSolution

if TYPE_CHECKING:
    from pliant.integrators.implicit.active_set_contact import ActiveSetContact
    from pliant.integrators.implicit.barrier_solve import ContactPreconditioner
    from pliant.integrators.implicit.barrier_stage import BarrierStage
    from pliant.integrators.implicit.energy_momentum import ForcesBetween
    from pliant.integrators.implicit.preconditioners.rest import RestPreconditioner
    from pliant.integrators.implicit.preconditioners.tangent import TangentPreconditioner
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

    Forces ``between`` the ends of the step (``ForcesBetween``) have no potential; there the residual is
    :math:`M (x - \tilde x) - 2 h^2 f` with h = dt/2.

    Bodies that yield have the flow from the beginning of the step to the stage in f and E, except in forces
    between.
    """

    def __init__(
        self,
        system: "System",
        stage: ImplicitStage,
        time: float,
        dt: float,
        at_rest: bool = False,
        between: "ForcesBetween | None" = None,
    ) -> None:
        """The problem of a stage of a step from ``time`` to ``time + dt``; at_rest: prescribed velocities are
        zero."""
        world, h = system.world, stage.h
        self.system, self.stage, self.h, self.between = system, stage, h, between
        self.time = time + stage.end * dt
        self.end_time = time + dt if stage.midpoint else self.time  # what ``end_positions`` belong to
        self.lead = (stage.end - stage.origin[2]) * dt  # time from the origin of the guess to the stage
        self.static = bool(np.isinf(h))
        self.inertia, self.scale = (0.0, 1.0) if self.static else (1.0, h * h)
        if between is not None:
            self.scale *= 2.0
        x, v = world.x.copy(), world.v.copy()
        system.drive(self.end_time, x, v)
        if stage.midpoint:
            x, v = 0.5 * (world.x + x), (x - world.x) / dt
        if self.static:
            v[world.inverse_mass > 0.0] = 0.0
        if at_rest:
            v[world.inverse_mass == 0.0] = 0.0
        if between is None:
            begin_flow(system, stage.end * dt)
        else:
            leave_flow(system)
        self.x, self.v, self._v_prescribed = x, v, v.copy()
        self.x_tilde = stage.x_base if self.static else stage.x_base + h * stage.v_predicted
        self.f = np.empty_like(x)  # forces [N] where ``evaluate`` was called last
        self.reaction_norm = 0.0  # norm of the forces on prescribed degrees of freedom [N], there
        self.contact: ActiveSetContact | None = None
        self.barrier: BarrierStage | None = None
        self._pushed: Array | None = None  # forces of the barrier at the last evaluation [N]
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
        if self.between is None:
            system.evaluate(self.time, x, self.v, self.f)
        else:
            self.between.evaluate(x, self.v, self.f)
        if self.contact is not None:
            self.f[self.contact.rows] += self.contact.friction
        forces = self.f
        if self.barrier is not None:
            self._pushed = self.barrier.forces(x)
            forces = self.f + self._pushed
        total, reactions = kernels.residual(
            x, self.x_tilde, forces, world.mass, world.inverse_mass, self.inertia, self.scale, g
        )
        self.reaction_norm = float(np.sqrt(reactions))
        if self.contact is not None:
            self.contact_residual = self.contact.project_out(g)
            total = kernels.dot(g.reshape(-1), g.reshape(-1))
        if self.between is not None:
            self.between.turn(g)
        return float(np.sqrt(total))

    def renew_friction(self, g: Array) -> float:
        """Renew the loads of friction where ``evaluate`` was called last, and the residual ``g`` there;
        returns its norm."""
        assert self.barrier is not None
        assert self._pushed is not None
        now = self.barrier.renewed_forces(len(g))
        change = np.where(self.system.world.inverse_mass > 0.0, self.scale * (self._pushed - now), 0.0)
        if self.between is not None:
            self.between.turn(change)
        g += change
        self._pushed = now
        return float(np.sqrt(kernels.dot(g.reshape(-1), g.reshape(-1))))

    def iterate(self, x: Array) -> Iterate:
        """``x`` with its residual."""
        g = np.empty_like(x)
        return Iterate(x, g, self.evaluate(x, g))

    def turn_residual(
        self,
        x: Array,
        g: Array,
        preconditioner: "RestPreconditioner | TangentPreconditioner | ContactPreconditioner",
    ) -> None:
        """Called where the rotations of the preconditioner were taken from ``x``: brings the residual ``g``
        there up to date (see ``ForcesBetween``)."""
        if self.between is not None:
            held = None if self.contact is None else self.contact.rows
            self.between.take_rotations(x, g, preconditioner, held)

    def settled(self, x: Array, g: Array) -> bool:
        """Whether the residual ``g`` at ``x`` is small in what else counts: the energy of its forces."""
        return self.between is None or self.between.error_share(x, g, self.scale) < self.between.SETTLED

    def momentum_surplus(self, g: Array) -> Array:
        """The momentum (n, 3) [kg m/s] that velocities have beyond the impulse of the forces, for ``g``."""
        plain = g if self.between is None else self.between.unturned(g)
        return np.asarray(plain / self.h)

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
        touching = 0.0 if self.barrier is None else self.barrier.energy(x)
        return self.inertia * float(moved) + self.scale * (self.system.internal_energy(x) + touching)

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
        elsewhere = self._stale or self.stage.midpoint or self.between is not None
        return None if elsewhere or self.contact is not None else self.f

    def _known(self) -> BoolArray:
        return np.asarray(self.system.world.inverse_mass == 0.0)

    def solution(self) -> StageSolution:
        """The stage as later ones, and momenta, need it: forces are those of obstacles too."""
        if self._stale:
            self.evaluate(self.x, np.empty_like(self.x))
            self._stale = False
        forces, x, v = self.f.copy(), self.x, self.v
        if self.between is not None:
            forces, x, v = self.between.outer.copy(), *self.between.middle(self.x)
            known = self._known()
            forces[known] -= self.f[known]
        if self.barrier is not None:
            pushed = self.barrier.forces(self.x)
            forces += pushed if self.between is None else np.where(self._known(), 0.0, pushed)
        if self.contact is not None:
            forces[self.contact.rows] += self.contact_residual / self.scale
            if self.between is not None:
                forces[self.contact.rows] += self.contact.rubbing
        return StageSolution(self.time, x, v, forces)
