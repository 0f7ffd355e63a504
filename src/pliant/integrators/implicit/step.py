"""One implicit step: composes scheme, contacts and solver, and keeps what one step leaves to the next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.contact.mesh_obstacle import MeshObstacle
from pliant.core.errors import Diverged, IncompatibleError
from pliant.core.typing import AnyArray, Array
from pliant.integrators.implicit.active_set_contact import (
    LAST_ROUNDS,
    ROUNDS,
    ActiveSetContact,
    ObstacleForces,
)
from pliant.integrators.implicit.barrier_stage import BarrierStage
from pliant.integrators.implicit.barrier_step import BARRIER_HALVINGS, barrier_of
from pliant.integrators.implicit.conservation import StepConservation
from pliant.integrators.implicit.energy_momentum import ForcesBetween
from pliant.integrators.implicit.incremental_potential import IncrementalPotential, SolveResult
from pliant.integrators.implicit.plastic_flow import end_flow
from pliant.integrators.implicit.solver import Solver
from pliant.integrators.implicit.stage import (
    BACKWARD_EULER,
    ENERGY_MOMENTUM,
    History,
    StageSolution,
    StepRule,
    StepStart,
)
from pliant.integrators.implicit.step_control import KineticDamping, gains_energy
from pliant.interfaces import IntegratorState, Projection, offered

if TYPE_CHECKING:
    from pliant.integrators.implicit.preconditioners.tangent import TangentPreconditioner
    from pliant.simulation.system import System

HALVINGS = 6
HALVED_BETWEEN = 3  # times that an energy-momentum step is halved before backward Euler takes over
UNSOLVED = "at t = {:.4g} s the equations of an energy-momentum step were not solved: it is taken in halves"
LOSSY = "at t = {:.4g} s a step {}: it is taken by backward Euler, which loses energy"


@dataclass(frozen=True)
class StepAttempt:
    """A step that was solved: its last problem and how its solve ended, the state at its end, the forces
    there where they are known, the forces of obstacles with their shares of the step, and whether it may be
    taken."""

    problem: IncrementalPotential
    result: SolveResult
    x: Array
    v: Array
    forces: Array | None
    obstacles: Sequence[tuple[float, ObstacleForces]]
    good: bool
    contacts: Sequence[tuple[float, BarrierStage]] = ()  # shares of the step, and barrier contact in them


class ImplicitState(IntegratorState):
    """What implicit integrators keep: the solver, held contacts, the last step of two-step schemes, the peak
    of the kinetic energy, and counts for the series. continues: whether the next step begins under loads that
    did not jump."""

    series_names = ("solver.iterations", "solver.residual")

    def __init__(
        self, system: "System", tolerance: float, iterations: int, memory: int, constraints: bool = False
    ) -> None:
        self.system = system
        self.solver = Solver(system, tolerance, iterations, memory, constraints)
        self.contact = ActiveSetContact()
        self.barrier = barrier_of(system)
        for each in offered([a for _, a in system.actions], Projection) if self.barrier is None else ():
            if isinstance(each, MeshObstacle) and not each.motion.only_shifts:
                raise IncompatibleError(
                    f"Obstacle '{each.name}' turns or deforms, which implicit steps follow with barrier "
                    "contact only.",
                    hint='Use [contact] method = "barrier", or an explicit integrator.',
                )
        if self.barrier is not None:
            self.barrier.prepare(self.solver)
        self.history: History = None
        self.continues = True
        self.kinetic_damping = KineticDamping()
        self._steps, self._iterations, self._residual = 0, 0, 0.0
        self._told: set[str] = set()

    # ------------------------------------------------------------------------------------ one step

    def take_step(self, rule: StepRule, time: float, dt: float, two_step: bool = False) -> None:
        """Take the World from ``time`` to ``time + dt``; two_step: keep its state for the next step."""
        world = self.system.world
        before = (world.x.copy(), world.v.copy()) if two_step else None
        self._advance(rule, time, dt)
        self.continues = not self.contact.changed
        touches = self.barrier is not None and self.barrier.touches
        self.history = before if self.continues and not touches else None
        self.count_step()

    def _advance(self, rule: StepRule, time: float, dt: float, depth: int = 0) -> None:
        """Take a step; one that does not converge, or would gain energy, another way: an energy-momentum step
        in halves, a guarded one by backward Euler, others in halves of backward Euler (quarters where the
        stage was half a step long), and so on."""
        held = {name: values.copy() for name, values in self.contact.state().items()}
        attempt = self._attempt(rule, time, dt)
        final = depth >= HALVINGS
        if self.barrier is not None:
            final = depth >= BARRIER_HALVINGS and not (rule.between or rule.guarded)
            if final and not (attempt.good or self._solved(attempt.result)):
                self.barrier.stop(attempt.problem, time)
        if attempt.good or final:
            if not np.isfinite(attempt.result.residual):
                raise Diverged(
                    f"Stopped at t = {time:.6g} s: the implicit solver found no next state.",
                    hint="Try a smaller step, a gentler load, or an explicit integrator.",
                )
            self.close(attempt, dt)
            return
        self.contact.restore(held)
        if rule.between and depth < HALVED_BETWEEN:
            self._tell("halves", UNSOLVED.format(time))
            again, pieces = ENERGY_MOMENTUM, 2
        elif rule.guarded and self.barrier is not None and depth < BARRIER_HALVINGS - 1:
            again, pieces = rule, 2
        elif rule.between or rule.guarded:
            why = "would gain energy or was not solved" if rule.guarded else "was not solved in halves either"
            self._tell("euler", LOSSY.format(time, why))
            again, pieces = BACKWARD_EULER, 1
        else:
            again, pieces = BACKWARD_EULER, 2 if attempt.problem.h > 0.5 * dt else 4
        for k in range(pieces):
            self._advance(again, time + k * dt / pieces, dt / pieces, depth + (pieces > 1))

    def _tell(self, kind: str, text: str) -> None:
        """Report something once in a run."""
        if kind not in self._told:
            self._told.add(kind)
            self.diagnostics.note(text)

    def _attempt(self, rule: StepRule, time: float, dt: float) -> StepAttempt:
        """Solve the stages of a step and find its end; the World stays as it is."""
        system, world, contact = self.system, self.system.world, self.contact
        start = StepStart(time, world.x, world.v, world.f, world.inverse_mass, self.history)
        shares = rule.contact_shares
        obstacles: list[tuple[float, ObstacleForces]] = []
        contact.changed = False
        solved: list[StageSolution] = []
        left: Array | float = 0.0
        contacts: list[tuple[float, BarrierStage]] = []
        for make, share in zip(rule.stages, shares, strict=True):
            stage = make(start, solved, dt)
            between = ForcesBetween(system, time, dt) if rule.between else None
            problem = IncrementalPotential(system, stage, time, dt, between=between)
            span = dt if stage.midpoint else stage.end * dt
            if self.barrier is not None:
                before = [each for _, each in contacts]
                contacts.append((share, self.barrier.begin_stage(problem, rule, time, before)))
                result = self.solve(problem)
            else:
                result = self._solve_with_contact(problem, span) if system.obstacles else self.solve(problem)
            good = self._solved(result)
            if between is not None and good:
                good = between.error_share(problem.x, result.last.g, problem.scale) <= between.WRONG
            if not (good or (len(rule.stages) == 1 and np.isfinite(result.residual))):
                return StepAttempt(problem, result, problem.x, problem.v, None, (), False)
            left = rule.carry * left + self._balance(problem, result)
            solved.append(problem.solution())
            obstacles.append((share, contact.applied()))
        x, v = problem.end_state()
        ends = problem.end_forces()
        if stage.midpoint and good:
            system.drive(time + dt, x, v)
            ends = np.empty_like(x)
            system.evaluate(time + dt, x, v, ends)
            good = not gains_energy(problem, x, v, ends, self.solver.minimises)
        elif rule.restores:
            couples = None if self.barrier is None else self.barrier.friction_couples(rule, contacts)
            ended = StepConservation(system, rule, start, solved, obstacles, couples)
            parts = self.solver.parts()
            rows = contact.rows if self.barrier is None else self.barrier.rows(contacts)
            touched, energies = parts.touched(rows), self.solver.minimises
            surplus = 0.0 if self.barrier is None else self.barrier.surplus_work(rule, contacts)
            v, gains = ended.restore(parts, x, v, dt, touched, left, energies, surplus)
            good = good and not gains
        if system.velocity_dependent and not stage.midpoint:
            ends = None
        return StepAttempt(problem, result, x, v, ends, obstacles, good, contacts)

    def _solved(self, result: SolveResult) -> bool:
        slack = 10.0 if self.barrier is None else 1.0
        return result.converged or result.residual <= slack * self.solver.tolerance

    def _balance(self, problem: IncrementalPotential, result: SolveResult) -> Array:
        """Make the momentum of the connected parts exact, whatever the tolerance left: in the velocities, so
        that nothing moves that is in contact. Parts at obstacles are left alone, where that would be noise;
        returns the angular momentum (parts, 3) of what the tolerance left to them."""
        parts, surplus = self.solver.parts(), problem.momentum_surplus(result.last.g)
        touched = parts.touched(self.contact.rows)
        parts.balance(surplus, problem.v, touched)
        return np.where(touched[:, None], parts.sums(np.cross(problem.x, surplus)), 0.0)

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
        for k in range(ROUNDS + LAST_ROUNDS):
            lost = potential.between is not None and not self._solved(result)
            if lost or not np.isfinite(result.residual):
                break
            contact.measure(potential)
            changed = k < ROUNDS and contact.update(potential, potential.x)
            if not changed and not contact.hold_driven(potential.end_positions(potential.x)):
                break
            start = potential.x.copy()
            contact.place(potential, start)
            result = self.solve(potential, start=start)
        else:
            contact.measure(potential)
        return result

    def close(self, attempt: StepAttempt, dt: float) -> None:
        """Write the state at the end of a step to the World, and the forces there. Projections see x moved by
        dt v; their change of velocity is added to the scheme's own."""
        system, world, problem = self.system, self.system.world, attempt.problem
        time, x, v = problem.end_time, attempt.x, attempt.v
        self._residual = max(self._residual, attempt.result.residual)
        if self.barrier is not None:
            self.barrier.end_step(time, dt, attempt.contacts)
        if attempt.forces is not None and not system.projects:
            end_flow(system, x, dt)
            world.x[:], world.v[:], world.f[:] = x, v, attempt.forces
            return
        before = (world.x.copy(), world.v.copy()) if problem.contact is not None else None
        moved = (x - world.x) / dt
        world.x[:], world.v[:], world.f[:] = x, moved, problem.f
        system.drive(time, world.x, world.v)
        moved[:] = world.v
        system.project(time, dt)
        world.v += v - moved
        system.drive(time, world.x, world.v)
        if before is not None:
            self.contact.finish(*before, attempt.obstacles)
        end_flow(system, world.x, dt)
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
        self.history, self.contact, self.continues = None, ActiveSetContact(), False

    def state(self) -> dict[str, AnyArray]:
        scales = np.array([self.solver.past_forces, self.kinetic_damping.peak, self.continues])
        kept: dict[str, AnyArray] = {"scales": scales, **self.contact.state()}
        if self.history is not None:
            kept["x"], kept["v"] = self.history
        return kept

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.solver.past_forces, self.kinetic_damping.peak, *last = (float(a) for a in state["scales"])
        self.continues = bool(last and last[0])  # runs of 0.1 have no third number
        self.contact.restore(state)
        self.history = (state["x"].copy(), state["v"].copy()) if "x" in state else None


def implicit_state(state: IntegratorState) -> ImplicitState:
    """``state`` as what ``ImplicitIntegrator.start`` returned."""
    assert isinstance(state, ImplicitState)
    return state
