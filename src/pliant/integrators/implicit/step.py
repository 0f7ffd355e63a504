"""One implicit step: composes scheme, contacts and solver, and keeps what one step leaves to the next."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.errors import Diverged
from pliant.core.typing import AnyArray, Array
from pliant.integrators.implicit.active_set_contact import ROUNDS, ActiveSetContact
from pliant.integrators.implicit.incremental_potential import IncrementalPotential, SolveResult
from pliant.integrators.implicit.solver import Solver
from pliant.integrators.implicit.stage import History, ImplicitStage, backward_euler
from pliant.integrators.implicit.step_control import KineticDamping, gains_energy
from pliant.interfaces import IntegratorState

if TYPE_CHECKING:
    from pliant.integrators.implicit.preconditioners.tangent import TangentPreconditioner
    from pliant.simulation.system import System
    from pliant.state.world import World

HALVINGS = 6

StageRule = Callable[["World", History, float], ImplicitStage]


class ImplicitState(IntegratorState):
    """What implicit integrators keep: the solver, held contacts, the last step of two-step schemes, the peak
    of the kinetic energy, and counts for the series."""

    series_names = ("solver.iterations", "solver.residual")

    def __init__(self, system: "System", tolerance: float, iterations: int, memory: int) -> None:
        self.system = system
        self.solver = Solver(system, tolerance, iterations, memory)
        self.contact = ActiveSetContact()
        self.history: History = None
        self.kinetic_damping = KineticDamping()
        self._steps, self._iterations, self._residual = 0, 0, 0.0

    # ------------------------------------------------------------------------------------ one step

    def advance(self, stage_rule: StageRule, time: float, dt: float, depth: int = 0) -> None:
        """Take the World from ``time`` to ``time + dt``.

        A step that does not converge, or would gain energy, is taken as two half steps of backward Euler
        (four quarters where the stage was half a step long), and so on.
        """
        system = self.system
        stage = stage_rule(system.world, self.history, dt)
        potential = IncrementalPotential(system, stage, time, dt)
        result = self._solve_with_contact(potential, dt) if system.obstacles else self.solve(potential)
        good = result.converged or result.residual <= 10.0 * self.solver.tolerance
        x, v = potential.end_state()
        forces = potential.end_forces()
        if good and stage.midpoint:
            system.drive(time + dt, x, v)
            forces = np.empty_like(x)
            system.evaluate(time + dt, x, v, forces)
            good = not gains_energy(potential, x, v, forces, self.solver.minimises)
        if not good and depth < HALVINGS:
            pieces = 2 if stage.h > 0.5 * dt else 4  # else the first would be this stage again
            for k in range(pieces):
                self.advance(backward_euler, time + k * dt / pieces, dt / pieces, depth + 1)
            return
        if not np.isfinite(result.residual):
            raise Diverged(
                f"Stopped at t = {time:.6g} s: the implicit solver found no next state.",
                hint="Try a smaller step, a gentler load, or an explicit integrator.",
            )
        self.close(potential, result, x, v, forces, dt)

    def solve(
        self,
        potential: IncrementalPotential,
        most: int | None = None,
        tolerance: float | None = None,
        start: Array | None = None,
        preconditioner: "TangentPreconditioner | None" = None,
    ) -> SolveResult:
        """``Solver.solve``, with its iterations counted for the series."""
        result = self.solver.solve(potential, most, tolerance, start, preconditioner)
        self._iterations += result.iterations
        return result

    def _solve_with_contact(self, potential: IncrementalPotential, dt: float) -> SolveResult:
        """Solve, and update the held particles, until they stay as they are."""
        contact = self.contact
        potential.hold(contact, dt)
        result = self.solve(potential)
        for _ in range(ROUNDS):
            if not np.isfinite(result.residual) or not contact.update(potential, potential.x):
                break
            start = potential.x.copy()
            contact.place(potential, start)
            result = self.solve(potential, start=start)
        return result

    def close(
        self,
        potential: IncrementalPotential,
        result: SolveResult,
        x: Array,
        v: Array,
        forces: Array | None,
        dt: float,
    ) -> None:
        """Write the state at the end of the step to the World: ``x``, ``v``, and the forces there if they are
        known. Projections see x moved by dt v; their change of velocity is added to the scheme's own."""
        system, world, time = self.system, self.system.world, potential.end_time
        self._residual = max(self._residual, result.residual)
        if forces is not None and not system.projects:
            world.x[:], world.v[:], world.f[:] = x, v, forces
            return
        before = (world.x.copy(), world.v.copy()) if potential.contact is not None else None
        moved = (x - world.x) / dt
        world.x[:], world.v[:], world.f[:] = x, moved, potential.f
        system.drive(time, world.x, world.v)
        moved[:] = world.v
        system.project(time, dt)
        world.v += v - moved
        system.drive(time, world.x, world.v)
        if before is not None:
            self.contact.finish(*before, potential.stage.force_share)
        system.evaluate(time, world.x, world.v, world.f)

    def count_step(self) -> None:
        """Count a step for the series."""
        self._steps += 1

    # -------------------------------------------------------------------------- series and restart

    def sample(self, time: float) -> Sequence[float]:
        """Iterations per step (mean) and the largest residual over the force scale, since the last row."""
        return [self._iterations / max(self._steps, 1), self._residual]

    def reset(self) -> None:
        self._steps, self._iterations, self._residual = 0, 0, 0.0

    def reset_history(self) -> None:
        self.history, self.contact = None, ActiveSetContact()

    def state(self) -> dict[str, AnyArray]:
        scales = np.array([self.solver.past_forces, self.kinetic_damping.peak])
        kept: dict[str, AnyArray] = {"scales": scales, **self.contact.state()}
        if self.history is not None:
            kept["x"], kept["v"] = self.history
        return kept

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.solver.past_forces, self.kinetic_damping.peak = (float(value) for value in state["scales"])
        self.contact.restore(state)
        self.history = (state["x"].copy(), state["v"].copy()) if "x" in state else None


def implicit_state(state: IntegratorState) -> ImplicitState:
    """``state`` as what ``ImplicitIntegrator.start`` returned."""
    assert isinstance(state, ImplicitState)
    return state
