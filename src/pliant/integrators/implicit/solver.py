"""The implicit solver of one simulation: its operators, its safety net and its series."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pliant.errors import Diverged, IncompatibleError
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.lbfgs import Goal, Lbfgs
from pliant.integrators.implicit.rest_operator import RestOperator, RestShape
from pliant.integrators.implicit.stage import ROUNDING, Outcome, Stage
from pliant.protocols import Energy, Stiffness
from pliant.typing import AnyArray, Array

if TYPE_CHECKING:
    from pliant.simulation.system import System

HALVINGS = 6
KEPT_OPERATORS = 4
SUSPICIOUS = 30.0  # times the residual of staying: then energies decide about the guess
GAIN = 0.005  # share of the moving energy that a step may gain before it is taken in halves
FADING = 0.98  # per step: how slowly the scale of past forces is forgotten


class Scheme(Protocol):
    """What a time scheme adds to the solver."""

    @property
    def tolerance(self) -> float: ...
    @property
    def iterations(self) -> int: ...
    @property
    def memory(self) -> int: ...

    def stage(self, solver: "Solver", time: float, dt: float) -> Stage: ...
    def close(self, solver: "Solver", stage: Stage, dt: float) -> tuple[Array, Array]: ...


class Solver:
    """Solves stages: chooses the method and the guess, and keeps what one step leaves to the next.

    Models with an energy are minimised by L-BFGS; where one has none, Newton-Krylov on the stiffness
    products. A step that does not converge, or would gain energy, is taken as two half steps of backward
    Euler (four quarters where the stage was half a step long), and so on.
    """

    columns = ("solver.iterations", "solver.residual")

    def __init__(self, system: "System", scheme: Scheme) -> None:
        self.system, self.scheme = system, scheme
        self.forces = 0.0  # scale of past forces [N]
        self.kinetic = 0.0  # kinetic energy after the last step [J], for kinetic damping
        self.previous: tuple[Array, Array] | None = None  # x, v one step ago, for two-step schemes
        self._shape: RestShape | None = None
        self._operators: list[RestOperator] = []
        self._minimiser: Any = None
        self._steps, self._iterations, self._residual = 0, 0, 0.0
        parts = system.world.parts
        self.minimises = all(isinstance(p.mechanics, Energy) for p in parts)
        for part in parts:
            if not isinstance(part.mechanics, Energy if self.minimises else Stiffness):
                raise IncompatibleError(
                    f"Implicit integrators need an energy or a stiffness product from every model; '"
                    f"{part.model.kind}' of body '{part.name}' has neither that goes with the others.",
                    hint="Use an explicit integrator such as leapfrog.",
                )

    # -------------------------------------------------------------------------------------- series

    def values(self, time: float) -> Sequence[float]:
        """Iterations per step (mean) and the largest residual over the force scale, since the last row."""
        return [self._iterations / max(self._steps, 1), self._residual]

    def restart(self) -> None:
        self._steps, self._iterations, self._residual = 0, 0, 0.0

    # ----------------------------------------------------------------------------------- one stage

    def shape(self) -> RestShape:
        world = self.system.world
        if self._shape is None or self._shape.version != world.topology_version:
            self._shape, self._operators, self.previous = RestShape(world), [], None
            self._minimiser = None
        return self._shape

    def operator(self, time: float, h: float) -> RestOperator:
        """The rest operator for stages of length ``h``, made anew only where none of the kept ones fits."""
        world, shape, slowing = self.system.world, self.shape(), self._slowing(time, h)
        for operator in self._operators:
            if operator.fits(world, h, slowing):
                return operator
        self._operators = [*self._operators[1 - KEPT_OPERATORS :], RestOperator(shape, world, h, slowing)]
        return self._operators[-1]

    def _slowing(self, time: float, h: float) -> Array:
        """Rates c [1/s] at which actions slow particles down, ``-df/dv / m``, typical of each body; (n,).

        Values of 1 + h c are rounded to powers of 1.5: the operator is made anew only when they change a
        lot, and depends on nothing but the present state, so that a restart finds the same.
        """
        world = self.system.world
        rates = np.zeros(world.count)
        if not self.system.velocity_dependent or np.isinf(h):
            return rates
        now, faster = np.zeros_like(world.x), np.zeros_like(world.x)
        change = 1e-3 * (1.0 + float(np.abs(world.v).max()))
        self.system.external_forces(time, world.x, world.v, now)
        self.system.external_forces(time, world.x, world.v + change, faster)
        for part in world.parts:
            own = (now - faster)[part.rows].mean(axis=1) / (change * world.mass[part.rows])
            steps = np.round(np.log1p(h * max(float(np.median(own)), 0.0)) / np.log(1.5))
            rates[part.rows] = (1.5**steps - 1.0) / h
        return rates

    def solve(self, stage: Stage, most: int | None = None, tolerance: float | None = None) -> Outcome:
        """Solve ``stage`` in at most ``most`` iterations; its x and v are the solution then."""
        scheme, world = self.scheme, self.system.world
        operator = self.operator(stage.time, stage.h)
        x, norm = self._guess(stage)
        goal = Goal(tolerance or scheme.tolerance, self._force_scale(stage), self._floor(stage, x))
        method = self._method()
        outcome: Outcome
        outcome, x = method.solve(stage, operator, x, norm, goal, most or scheme.iterations)
        if not stage.static and np.isfinite(outcome.residual):
            stage.stale |= _balance(world, stage, x)
        stage.finish(x.copy())
        self._iterations += outcome.iterations
        return outcome

    def _method(self) -> Any:
        if self._minimiser is None:
            count = self.system.world.count
            if self.minimises:
                self._minimiser = Lbfgs(count, self.scheme.memory)
            else:
                from pliant.integrators.implicit.krylov import NewtonKrylov

                self._minimiser = NewtonKrylov(count)
        return self._minimiser

    def _guess(self, stage: Stage) -> tuple[Array, float]:
        """Where to start: where inertia leads, or, if that is a far worse place, where the step began."""
        world = self.system.world
        free = world.inverse_mass > 0.0
        stay = np.where(free, world.x, stage.x)
        if stage.static:
            return stay, stage.evaluate(stay, stage.g)
        ahead = np.where(free, stage.y, stage.x)
        norm = stage.evaluate(ahead, stage.g)
        args = (stay, stage.y, world.f, world.mass, world.inverse_mass, stage.inertia, stage.scale)
        if norm <= SUSPICIOUS * np.sqrt(kernels.residual(*args, np.empty_like(stay))[0]):
            return ahead, norm
        if np.isfinite(norm) and self.minimises:
            outer = stage.outer_forces(stay)
            gain = stage.potential(ahead) - stage.potential(stay) - float(np.sum(outer * (ahead - stay)))
            if gain <= 0.0:
                return ahead, norm
        return stay, stage.evaluate(stay, stage.g)

    def _force_scale(self, stage: Stage) -> float:
        """Size of the forces at work [N]: those of actions, or a tenth of recent unbalanced ones."""
        world = self.system.world
        self.forces = max(FADING * self.forces, float(kernels.free_norm(world.f, world.inverse_mass)))
        return self.loads(stage.time) if stage.static else max(self.loads(stage.time), 0.1 * self.forces)

    def loads(self, time: float) -> float:
        """Norm of the forces of actions on free degrees of freedom [N]."""
        world = self.system.world
        outer = np.zeros_like(world.x)
        self.system.external_forces(time, world.x, world.v, outer)
        return float(kernels.free_norm(outer, world.inverse_mass))

    def relaxation_step(self, time: float) -> float:
        """A step [s] for relaxing: loads move a body by a fiftieth of its size in it, or, without loads, some
        vibrations of a single particle pass."""
        world, loads = self.system.world, self.loads(time)
        if loads > 0.0:
            weight = float(np.linalg.norm(world.mass))
            return float(np.sqrt(0.02 * np.ptp(world.rest, axis=0).max() * weight / loads))
        return 30.0 * float(np.sqrt(np.median(np.repeat(world.mass, 3) / self.shape().diagonal)))

    def _floor(self, stage: Stage, x: Array) -> float:
        """Residual that rounding alone can make: positions have a relative error of 2e-16."""
        shape, world = self.shape(), self.system.world
        stiff = stage.inertia * np.sqrt(3.0) * np.linalg.norm(world.mass)
        stiff += stage.scale * np.linalg.norm(shape.diagonal)
        return ROUNDING * float(stiff) * float(np.abs(x).max())

    # ------------------------------------------------------------------------------------ one step

    def advance(self, scheme: Scheme, time: float, dt: float, depth: int = 0) -> None:
        """Take the World from ``time`` to ``time + dt``, in halves where it must be."""
        stage = scheme.stage(self, time, dt)
        outcome = self.solve(stage)
        good = outcome.converged or outcome.residual <= 10.0 * self.scheme.tolerance
        x, v = scheme.close(self, stage, dt)
        if good and x is not stage.x:
            good = not self._gains(stage, x, v, time + dt)
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

    def _gains(self, stage: Stage, x: Array, v: Array, time: float) -> bool:
        """Whether a step that leaves its stage behind would feed energy in: more than GAIN of what moves.

        The work of the stage's forces is what kinetic energy gets; where that of the forces at both ends
        says otherwise, energies decide. Forces at the end are left in ``stage.end``.
        """
        system, world = self.system, self.system.world
        system.drive(time, x, v)
        stage.end = np.empty_like(x)
        system.evaluate(time, x, v, stage.end)
        dx = (x - world.x).reshape(-1)
        given = float(kernels.dot(stage.f.reshape(-1), dx))
        ends = 0.5 * float(kernels.dot((world.f + stage.end).reshape(-1), dx))
        moving = [0.5 * float(np.sum(world.mass[:, None] * u**2)) for u in (world.v, v)]
        if not self.minimises or abs(given - ends) <= GAIN * (abs(given) + sum(moving)):
            return not np.isfinite(given + ends)
        outer, known = np.zeros_like(x), world.inverse_mass == 0.0
        system.external_forces(stage.time, stage.x, stage.v, outer)
        outer[known] -= stage.f[known]
        work = float(kernels.dot(outer.reshape(-1), dx))
        before = moving[0] + system.internal_energy(world.x)
        after = moving[1] + system.internal_energy(x)
        return not after - before - work <= GAIN * (before + abs(work))

    def accept(self, stage: Stage, outcome: Outcome, x: Array, v: Array, time: float, dt: float) -> None:
        """Close the step that ends at ``time`` with ``x`` and ``v``. Projections see x moved by dt v; their
        change of velocity is added to the scheme's own."""
        system, world = self.system, self.system.world
        self._residual = max(self._residual, outcome.residual)
        forces = (None if stage.stale else stage.f) if x is stage.x else stage.end
        if forces is not None and not system.projects:
            world.x[:], world.v[:], world.f[:] = x, v, forces
            return
        moved = (x - world.x) / dt
        world.x[:], world.v[:], world.f[:] = x, moved, stage.f
        system.drive(time, world.x, world.v)
        moved[:] = world.v
        system.project(time, dt)
        world.v += v - moved
        system.drive(time, world.x, world.v)
        system.evaluate(time, world.x, world.v, world.f)

    def interrupt(self) -> None:
        """What acts has changed: a scheme of several steps starts anew."""
        self.previous = None

    def count_step(self) -> None:
        self._steps += 1

    def stop_at_peak(self) -> None:
        """Kinetic damping: all free motion ends once the kinetic energy has begun to fall."""
        system, world = self.system, self.system.world
        free = world.inverse_mass > 0.0
        kinetic = 0.5 * float(np.sum(world.mass[:, None] * np.where(free, world.v, 0.0) ** 2))
        if kinetic < self.kinetic:
            world.v[free] = 0.0
            system.ledger.dissipated += kinetic
            kinetic = 0.0
        self.kinetic = kinetic

    # ------------------------------------------------------------------------------------- restart

    def state(self) -> dict[str, AnyArray]:
        kept: dict[str, AnyArray] = {"scales": np.array([self.forces, self.kinetic])}
        if self.previous is not None:
            kept["x"], kept["v"] = self.previous
        return kept

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.shape()
        self.forces, self.kinetic = (float(value) for value in state["scales"])
        self.previous = (state["x"].copy(), state["v"].copy()) if "x" in state else None


def _balance(world: Any, stage: Stage, x: Array) -> bool:
    """Shift bodies that nothing holds so that the sum of the residual is zero: their momentum is exact.

    True if there are any.
    """
    moved = False
    for part in world.parts:
        rows = part.rows
        loose = (world.inverse_mass[rows] > 0.0).all(axis=0)
        if loose.any():
            shift = -stage.g[rows].sum(axis=0) / world.mass[rows].sum()
            x[rows] += np.where(loose, shift, 0.0)
            moved = True
    return moved
