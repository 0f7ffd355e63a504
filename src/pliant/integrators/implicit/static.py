"""Equilibrium under the loads of each moment."""

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from pliant.core.errors import Diverged, IncompatibleError
from pliant.core.parameters import parameters
from pliant.core.units import Number
from pliant.integrators.implicit.schemes import ImplicitIntegrator
from pliant.integrators.implicit.stage import BACKWARD_EULER, ImplicitStage, StepRule
from pliant.interfaces import IntegratorState, Projection

if TYPE_CHECKING:
    from pliant.integrators.implicit.incremental_potential import IncrementalPotential, SolveResult
    from pliant.integrators.implicit.step import ImplicitState
    from pliant.simulation.system import System

DIRECT = 30  # iterations of the first, direct attempt
NEWTON = 120  # iterations from the tangent, where that is not enough
CALM = 1e-3  # unbalanced share of the loads at which relaxation ends
RELAXED = 0.1  # tolerance of a step of relaxation
RELAXING = 400  # most steps of relaxation


@parameters
class Static(ImplicitIntegrator):
    r"""Equilibrium :math:`f(x) = 0` under the loads of each moment: no inertia, velocities are zero.

    Frame 0 is the initial shape; every later frame is an equilibrium, found from the one before. Where a
    direct minimisation of the energy does not get there soon, the body is first relaxed by backward Euler
    steps that stop all motion at every peak of the kinetic energy. Bodies must be held, or balanced.
    tolerance: largest residual as a share of the loads or the reactions, whichever is larger.
    """

    kind: ClassVar[str] = "static"
    order: ClassVar[int] = 0

    tolerance: Number = Field(default=1e-6, gt=0)
    iterations: int = Field(default=2000, ge=1)
    memory: int = Field(default=8, ge=1, le=50)

    def start(self, system: "System") -> "ImplicitState":
        from pliant.contact.obstacle import ObstacleRuntime
        from pliant.integrators.implicit.barrier_step import barrier_of

        barrier = barrier_of(system) is not None
        for label, action in system.actions:
            if action.offer(Projection) and not (barrier and isinstance(action, ObstacleRuntime)):
                raise IncompatibleError(
                    f"Integrator 'static' cannot do contacts and constraints: {label}.",
                    hint='Use { type = "implicit-euler", kinetic-damping = true }, which comes to rest.',
                )
        return super().start(system)

    def rule(self, state: "ImplicitState") -> StepRule:
        """Backward Euler, which relaxation takes."""
        return BACKWARD_EULER

    def step(self, system: "System", state: IntegratorState, time: float, dt: float) -> None:
        from pliant.integrators.implicit.barrier_step import contacts
        from pliant.integrators.implicit.step import StepAttempt, implicit_state

        kept = implicit_state(state)
        potential = self._potential(kept, time, dt)
        result = kept.solve(potential, min(DIRECT, self.iterations))
        if not result.converged:
            potential, result = self._newton(kept, time, dt, potential, result)
        if not result.converged:
            self._relax(kept, time + dt)
            potential = self._potential(kept, time, dt)
            result = kept.solve(potential, self.iterations)
            potential, result = self._newton(kept, time, dt, potential, result)
        if not result.residual <= 100.0 * self.tolerance:
            raise Diverged(
                f"Stopped at t = {time + dt:.6g} s: no equilibrium found "
                f"(unbalanced: {result.residual:.2g} of the loads).",
                hint="Hold the body, apply the load in smaller steps, or step through time instead.",
            )
        kept.close(
            StepAttempt(
                potential,
                result,
                *potential.end_state(),
                potential.end_forces(),
                (),
                True,
                contacts(potential),
            ),
            dt,
        )
        kept.count_step()

    def _potential(self, kept: "ImplicitState", time: float, dt: float) -> "IncrementalPotential":
        from pliant.integrators.implicit.incremental_potential import IncrementalPotential

        system, world = kept.system, kept.system.world
        stage = ImplicitStage(np.inf, world.x, world.v, (world.x, world.v, 0.0))
        potential = IncrementalPotential(system, stage, time, dt)
        if kept.barrier is not None:
            kept.barrier.begin_stage(potential, BACKWARD_EULER, time, ())
        return potential

    def _newton(
        self,
        kept: "ImplicitState",
        time: float,
        dt: float,
        potential: "IncrementalPotential",
        result: "SolveResult",
    ) -> tuple["IncrementalPotential", "SolveResult"]:
        """Go on from where ``potential`` is with the tangent at x, if it did not converge and is small."""
        from pliant.integrators.implicit.preconditioners.tangent import TangentPreconditioner

        if result.converged:
            return potential, result
        solver = kept.solver
        tangent = TangentPreconditioner(solver.rest_system(), kept.system.world)
        if not (solver.minimises and tangent.small):
            return potential, result
        again = self._potential(kept, time, dt)
        start = potential.x if np.isfinite(result.residual) else None
        return again, kept.solve(again, min(NEWTON, self.iterations), start=start, preconditioner=tangent)

    def _relax(self, kept: "ImplicitState", time: float) -> None:
        """Backward Euler with kinetic damping under the loads of ``time``, until nearly at rest."""
        from pliant.integrators.implicit.barrier_step import contacts
        from pliant.integrators.implicit.force_scales import external_force_norm, relaxation_step
        from pliant.integrators.implicit.incremental_potential import IncrementalPotential
        from pliant.integrators.implicit.step_control import KineticDamping

        system, world, damping = kept.system, kept.system.world, KineticDamping()
        free = world.inverse_mass > 0.0
        system.drive(time, world.x, world.v)
        world.v[free] = 0.0
        h = relaxation_step(system, kept.solver.rest_system(), time)
        for _ in range(RELAXING):
            stage = ImplicitStage(h, world.x, world.v, (world.x, world.v, 0.0))
            potential = IncrementalPotential(system, stage, time - h, h, at_rest=True)
            if kept.barrier is not None:
                kept.barrier.begin_stage(potential, BACKWARD_EULER, time - h, ())
            result = kept.solve(potential, 50, RELAXED)
            if not np.isfinite(result.residual):
                h *= 0.5
                continue
            if kept.barrier is not None:
                potential.solution()
                kept.barrier.end_step(time, h, contacts(potential))
            world.x[:], world.v[:] = potential.x, np.where(free, potential.v, 0.0)
            system.evaluate(time, world.x, np.zeros_like(world.v), world.f)
            push = 0.0 if potential.barrier is None else potential.barrier.forces(world.x)
            unbalanced = float(np.linalg.norm(np.where(free, world.f + push, 0.0)))
            damping.stop_at_peak(system)
            if unbalanced <= CALM * external_force_norm(system, time):
                break
        world.v[free] = 0.0
