"""Equilibrium under the loads of each moment."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from pliant.core.errors import Diverged, IncompatibleError
from pliant.core.parameters import parameters
from pliant.core.typing import Array
from pliant.core.units import Number
from pliant.integrators.implicit.schemes import ImplicitEuler, ImplicitIntegrator, prescribed_accelerations
from pliant.interfaces import Projection

if TYPE_CHECKING:
    from pliant.integrators.implicit.incremental_potential import IncrementalPotential, SolveResult
    from pliant.integrators.implicit.solver import Solver
    from pliant.simulation.system import System

DIRECT = 30  # iterations of the first, direct attempt
NEWTON = 120  # iterations from the tangent, where that is not enough
CALM = 1e-3  # unbalanced share of the loads at which relaxation hands over
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

    def prepare(self, system: "System") -> Any:
        for label, action in system.actions:
            if action.offer(Projection):
                raise IncompatibleError(
                    f"Integrator 'static' cannot do contacts and constraints: {label}.",
                    hint='Use { type = "implicit-euler", kinetic-damping = true }, which comes to rest.',
                )
        return super().prepare(system)

    def stage(self, solver: "Solver", time: float, dt: float) -> "IncrementalPotential":
        from pliant.integrators.implicit.incremental_potential import IncrementalPotential

        world = solver.system.world
        x, v = prescribed_accelerations(solver.system, time + dt)
        v[world.inverse_mass > 0.0] = 0.0
        return IncrementalPotential(solver.system, time + dt, np.inf, world.x, world.v, x, v)

    def close(self, solver: "Solver", stage: "IncrementalPotential", dt: float) -> tuple[Array, Array]:
        return stage.x, stage.v

    def step(self, system: "System", time: float, dt: float) -> None:
        solver: Any = system.solver
        stage = self.stage(solver, time, dt)
        outcome = solver.solve(stage, min(DIRECT, self.iterations))
        if not outcome.converged:
            stage, outcome = self._newton(solver, time, dt, stage, outcome)
        if not outcome.converged:
            self._relax(solver, time + dt)
            stage = self.stage(solver, time, dt)
            outcome = solver.solve(stage, self.iterations)
            stage, outcome = self._newton(solver, time, dt, stage, outcome)
        if not outcome.residual <= 100.0 * self.tolerance:
            raise Diverged(
                f"Stopped at t = {time + dt:.6g} s: no equilibrium found "
                f"(unbalanced: {outcome.residual:.2g} of the loads).",
                hint="Hold the body, apply the load in smaller steps, or step through time instead.",
            )
        solver.accept(stage, outcome, stage.x, stage.v, time + dt, dt)
        solver.count_step()

    def _newton(
        self, solver: Any, time: float, dt: float, stage: "IncrementalPotential", outcome: "SolveResult"
    ) -> tuple["IncrementalPotential", "SolveResult"]:
        """Go on from where ``stage`` is with the tangent at x, if it did not converge and is small."""
        from pliant.integrators.implicit.tangent_preconditioner import TangentPreconditioner

        if outcome.converged:
            return stage, outcome
        operator = TangentPreconditioner(solver.shape(), solver.system.world)
        if not (solver.minimises and operator.small):
            return stage, outcome
        again = self.stage(solver, time, dt)
        start = stage.x if np.isfinite(outcome.residual) else None
        return again, solver.solve(again, min(NEWTON, self.iterations), start=start, operator=operator)

    def _relax(self, solver: Any, time: float) -> None:
        """Backward Euler with kinetic damping under the loads of ``time``, until nearly at rest."""
        from pliant.integrators.implicit.force_scales import external_force_norm, relaxation_step

        world = solver.system.world
        free = world.inverse_mass > 0.0
        solver.system.drive(time, world.x, world.v)
        world.v[free] = 0.0
        solver.kinetic, scheme = 0.0, ImplicitEuler()
        h = relaxation_step(solver.system, solver.shape(), time)
        for _ in range(RELAXING):
            stage = scheme.stage(solver, time - h, h)
            stage.v[:] = stage.known = np.where(free, stage.v, 0.0)
            outcome = solver.solve(stage, 50, RELAXED)
            if not np.isfinite(outcome.residual):
                h *= 0.5
                continue
            world.x[:], world.v[:] = stage.x, np.where(free, stage.v, 0.0)
            solver.system.evaluate(time, world.x, np.zeros_like(world.v), world.f)
            unbalanced = float(np.linalg.norm(np.where(free, world.f, 0.0)))
            solver.stop_at_peak()
            if unbalanced <= CALM * external_force_norm(solver.system, time):
                break
        world.v[free] = 0.0
