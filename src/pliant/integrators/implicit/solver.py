"""The implicit solver of one simulation: its operators, its safety net and its series."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pliant.core.errors import Diverged, IncompatibleError
from pliant.core.typing import AnyArray, Array
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.active_set_contact import ROUNDS, ActiveSetContact
from pliant.integrators.implicit.force_scales import damping_rates, external_force_norm, rounding_floor
from pliant.integrators.implicit.incremental_potential import IncrementalPotential, SolveResult
from pliant.integrators.implicit.lbfgs import Lbfgs, Tolerance
from pliant.integrators.implicit.rest_preconditioner import RestPreconditioner, RestSystem
from pliant.integrators.implicit.step_control import conserve_momentum, first_guess, gains_energy
from pliant.interfaces import StoredEnergy, Tangent

if TYPE_CHECKING:
    from pliant.simulation.system import System

HALVINGS = 6
KEPT_OPERATORS = 4
FADING = 0.98  # per step: how slowly the scale of past forces is forgotten


class Scheme(Protocol):
    """What a time scheme adds to the solver."""

    @property
    def tolerance(self) -> float: ...
    @property
    def iterations(self) -> int: ...
    @property
    def memory(self) -> int: ...

    def stage(self, solver: "Solver", time: float, dt: float) -> IncrementalPotential: ...
    def close(self, solver: "Solver", stage: IncrementalPotential, dt: float) -> tuple[Array, Array]: ...


class Solver:
    """Solves stages: chooses the method and the guess, and keeps what one step leaves to the next.

    Models with an energy are minimised by L-BFGS; where one has none, Newton-Krylov on the stiffness
    products. A step that does not converge, or would gain energy, is taken as two half steps of backward
    Euler (four quarters where the stage was half a step long), and so on.
    """

    series_names = ("solver.iterations", "solver.residual")

    def __init__(self, system: "System", scheme: Scheme) -> None:
        self.system, self.scheme = system, scheme
        self.forces = 0.0  # scale of past forces [N]
        self.kinetic = 0.0  # kinetic energy after the last step [J], for kinetic damping
        self.previous: tuple[Array, Array] | None = None  # x, v one step ago, for two-step schemes
        self.contacts = ActiveSetContact()
        self._shape: RestSystem | None = None
        self._operators: list[RestPreconditioner] = []
        self._minimiser: Any = None
        self._steps, self._iterations, self._residual = 0, 0, 0.0
        parts = system.world.bodies
        self.minimises = all(p.mechanics.offer(StoredEnergy) for p in parts)
        for part in parts:
            if not self.minimises and not part.mechanics.offer(Tangent):
                raise IncompatibleError(
                    f"Implicit integrators need an energy or a stiffness product from every model; '"
                    f"{part.model.kind}' of body '{part.name}' has neither that goes with the others.",
                    hint="Use an explicit integrator such as leapfrog.",
                )

    # -------------------------------------------------------------------------------------- series

    def sample(self, time: float) -> Sequence[float]:
        """Iterations per step (mean) and the largest residual over the force scale, since the last row."""
        return [self._iterations / max(self._steps, 1), self._residual]

    def reset(self) -> None:
        self._steps, self._iterations, self._residual = 0, 0, 0.0

    # ----------------------------------------------------------------------------------- one stage

    def shape(self) -> RestSystem:
        world = self.system.world
        if self._shape is None or self._shape.version != world.topology_version:
            self._shape, self._operators, self.previous = RestSystem(world), [], None
            self._minimiser = None
            self.contacts = ActiveSetContact()
        return self._shape

    def operator(self, time: float, h: float) -> RestPreconditioner:
        """The rest operator for stages of length ``h``, made anew only where none of the kept ones fits."""
        world, shape, rates = self.system.world, self.shape(), damping_rates(self.system, time, h)
        for operator in self._operators:
            if operator.fits(world, h, rates):
                return operator
        self._operators = [*self._operators[1 - KEPT_OPERATORS :], RestPreconditioner(shape, world, h, rates)]
        return self._operators[-1]

    def solve(
        self,
        stage: IncrementalPotential,
        most: int | None = None,
        tolerance: float | None = None,
        start: Array | None = None,
        operator: Any = None,
    ) -> SolveResult:
        """Solve ``stage`` in at most ``most`` iterations, from ``start`` if it is given; its x and v are the
        solution then. operator: to start iterations from, in place of the rest operator."""
        scheme = self.scheme
        operator = operator or self.operator(stage.time, stage.h)
        x, norm = (
            first_guess(stage, self.minimises) if start is None else (start, stage.evaluate(start, stage.g))
        )
        floor = rounding_floor(stage, self.shape(), x)
        goal = Tolerance(tolerance or scheme.tolerance, self._force_scale(stage), floor)
        method = self._method()
        outcome: SolveResult
        outcome, x = method.solve(stage, operator, x, norm, goal, most or scheme.iterations)
        if not stage.static and np.isfinite(outcome.residual):
            stage.stale |= conserve_momentum(stage, x)
        stage.finish(x.copy())
        self._iterations += outcome.iterations
        return outcome

    def _method(self) -> Any:
        if self._minimiser is None:
            count = self.system.world.count
            if self.minimises:
                self._minimiser = Lbfgs(count, self.scheme.memory)
            else:
                from pliant.integrators.implicit.newton_cg import NewtonCg

                self._minimiser = NewtonCg(count)
        return self._minimiser

    def _force_scale(self, stage: IncrementalPotential) -> float:
        """Size of the forces at work [N]: those of actions, or a tenth of recent unbalanced ones."""
        world = self.system.world
        self.forces = max(FADING * self.forces, float(kernels.free_norm(world.f, world.inverse_mass)))
        size = external_force_norm(self.system, stage.time)
        return size if stage.static else max(size, 0.1 * self.forces)

    # ------------------------------------------------------------------------------------ one step

    def advance(self, scheme: Scheme, time: float, dt: float, depth: int = 0) -> None:
        """Take the World from ``time`` to ``time + dt``, in halves where it must be."""
        stage = scheme.stage(self, time, dt)
        outcome = self._solve_with_contacts(stage, dt) if self.system.obstacles else self.solve(stage)
        good = outcome.converged or outcome.residual <= 10.0 * self.scheme.tolerance
        x, v = scheme.close(self, stage, dt)
        if good and x is not stage.x:
            good = not gains_energy(stage, x, v, time + dt, self.minimises)
        if not good and depth < HALVINGS:
            from pliant.integrators.implicit.schemes import ImplicitEuler

            pieces = 2 if stage.h > 0.5 * dt else 4  # else the first would be this stage again
            for k in range(pieces):
                self.advance(ImplicitEuler(), time + k * dt / pieces, dt / pieces, depth + 1)
            return
        if not np.isfinite(outcome.residual):
            raise Diverged(
                f"Stopped at t = {time:.6g} s: the implicit solver found no next state.",
                hint="Try a smaller step, a gentler load, or an explicit integrator.",
            )
        self.accept(stage, outcome, x, v, time + dt, dt)

    def _solve_with_contacts(self, stage: IncrementalPotential, dt: float) -> SolveResult:
        """Solve, and look at the contacts, until they stay as they are."""
        self.shape()
        contacts = stage.contacts = self.contacts
        contacts.begin(self.system, stage, dt)
        outcome = self.solve(stage)
        for _ in range(ROUNDS):
            if not np.isfinite(outcome.residual) or not contacts.update(stage, stage.x):
                break
            start = stage.x.copy()
            contacts.place(stage, start)
            outcome = self.solve(stage, start=start)
        return outcome

    def accept(
        self, stage: IncrementalPotential, outcome: SolveResult, x: Array, v: Array, time: float, dt: float
    ) -> None:
        """Close the step that ends at ``time`` with ``x`` and ``v``. Projections see x moved by dt v; their
        change of velocity is added to the scheme's own."""
        system, world = self.system, self.system.world
        self._residual = max(self._residual, outcome.residual)
        forces = (None if stage.stale else stage.f) if x is stage.x else stage.end
        if forces is not None and not system.projects:
            world.x[:], world.v[:], world.f[:] = x, v, forces
            return
        before = (world.x.copy(), world.v.copy()) if stage.contacts is not None else None
        moved = (x - world.x) / dt
        world.x[:], world.v[:], world.f[:] = x, moved, stage.f
        system.drive(time, world.x, world.v)
        moved[:] = world.v
        system.project(time, dt)
        world.v += v - moved
        system.drive(time, world.x, world.v)
        if before is not None:
            self.contacts.finish(*before, 0.5 if stage.h == 0.5 * dt and stage.reach == 1.0 else 1.0)
        system.evaluate(time, world.x, world.v, world.f)

    def interrupt(self) -> None:
        """What acts has changed: a scheme of several steps starts anew, and so do contacts."""
        self.previous, self.contacts = None, ActiveSetContact()

    def count_step(self) -> None:
        self._steps += 1

    def stop_at_peak(self) -> None:
        """Kinetic damping: all free motion ends once the kinetic energy has begun to fall."""
        system, world = self.system, self.system.world
        free = world.inverse_mass > 0.0
        kinetic = 0.5 * float(np.sum(world.mass[:, None] * np.where(free, world.v, 0.0) ** 2))
        if kinetic < self.kinetic:
            world.v[free] = 0.0
            system.totals.dissipated += kinetic
            kinetic = 0.0
        self.kinetic = kinetic

    # ------------------------------------------------------------------------------------- restart

    def state(self) -> dict[str, AnyArray]:
        kept: dict[str, AnyArray] = {"scales": np.array([self.forces, self.kinetic]), **self.contacts.state()}
        if self.previous is not None:
            kept["x"], kept["v"] = self.previous
        return kept

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.shape()
        self.forces, self.kinetic = (float(value) for value in state["scales"])
        self.contacts.restore(state)
        self.previous = (state["x"].copy(), state["v"].copy()) if "x" in state else None
