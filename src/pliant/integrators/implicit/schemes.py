"""Implicit time schemes: each is a stage to solve and a way to close the step."""

from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from pliant.core.parameters import parameters
from pliant.core.typing import Array
from pliant.core.units import Number
from pliant.interfaces import Integrator, IntegratorState

if TYPE_CHECKING:
    from pliant.integrators.implicit.incremental_potential import IncrementalPotential
    from pliant.integrators.implicit.solver import Solver
    from pliant.simulation.system import System


@parameters
class ImplicitIntegrator(Integrator):
    """What implicit integrators share.

    tolerance: largest residual of a step, as a share of the external forces (their norm over all
    particles); iterations: most a step may take before it is halved; memory: pairs that L-BFGS keeps.
    """

    stability: ClassVar[float] = float("inf")

    tolerance: Number = Field(default=0.1, gt=0, le=0.5)
    iterations: int = Field(default=100, ge=1)
    memory: int = Field(default=5, ge=1, le=50)

    def start(self, system: "System") -> IntegratorState:
        from pliant.integrators.implicit.solver import Solver

        return Solver(system, self)  # type: ignore[arg-type]

    def step(self, system: "System", state: IntegratorState, time: float, dt: float) -> None:
        solver: Any = state
        solver.advance(self, time, dt)
        solver.count_step()


def prescribed_accelerations(system: "System", time: float) -> tuple[Array, Array]:
    """Copies of the World's x and v with driven degrees of freedom where they are at ``time``."""
    x, v = system.world.x.copy(), system.world.v.copy()
    system.drive(time, x, v)
    return x, v


@parameters
class ImplicitEuler(ImplicitIntegrator):
    r"""Backward Euler, :math:`x_{n+1} = x_n + dt\,v_{n+1}`, :math:`M v_{n+1} = M v_n + dt f_{n+1}`.

    First order; damps all motion that the step does not resolve [BaraffWitkin1998]_.
    kinetic_damping: stop all motion whenever the kinetic energy has passed a peak: the quickest way
    to the rest shape by time stepping (the path there means nothing).
    """

    kind: ClassVar[str] = "implicit-euler"
    order: ClassVar[int] = 1

    kinetic_damping: bool = False

    def stage(self, solver: "Solver", time: float, dt: float) -> "IncrementalPotential":
        from pliant.integrators.implicit.incremental_potential import IncrementalPotential

        world = solver.system.world
        return IncrementalPotential(
            solver.system,
            time + dt,
            dt,
            world.x,
            world.v,
            *prescribed_accelerations(solver.system, time + dt),
        )

    def close(self, solver: "Solver", stage: "IncrementalPotential", dt: float) -> tuple[Array, Array]:
        return stage.x, stage.v

    def step(self, system: "System", state: IntegratorState, time: float, dt: float) -> None:
        solver: Any = state
        solver.advance(self, time, dt)
        solver.count_step()
        if self.kinetic_damping:
            solver.stop_at_peak()


@parameters
class ImplicitMidpoint(ImplicitIntegrator):
    r"""Implicit midpoint rule, :math:`x_m = x_n + \tfrac{dt}{2} v_m` and
    :math:`M v_m = M v_n + \tfrac{dt}{2} f(x_m)`, then
    :math:`x_{n+1} = 2 x_m - x_n`, :math:`v_{n+1} = 2 v_m - v_n`.

    Second order and symplectic: no numerical damping; momentum is kept to the tolerance
    [HairerLubichWanner2006]_. Driven particles take the mean of their ends in the stage.
    """

    kind: ClassVar[str] = "implicit-midpoint"
    order: ClassVar[int] = 2

    def stage(self, solver: "Solver", time: float, dt: float) -> "IncrementalPotential":
        from pliant.integrators.implicit.incremental_potential import IncrementalPotential

        world = solver.system.world
        x, v = prescribed_accelerations(solver.system, time + dt)
        x, v = 0.5 * (world.x + x), (x - world.x) / dt
        stage = IncrementalPotential(solver.system, time + 0.5 * dt, 0.5 * dt, world.x, world.v, x, v)
        stage.reach, stage.ends = 2.0, time + dt
        return stage

    def close(self, solver: "Solver", stage: "IncrementalPotential", dt: float) -> tuple[Array, Array]:
        world = solver.system.world
        return 2.0 * stage.x - world.x, 2.0 * stage.v - world.v


@parameters
class Newmark(ImplicitIntegrator):
    r"""Newmark's method with constant average acceleration (beta = 1/4, gamma = 1/2) [Newmark1959]_:
    :math:`x_{n+1} = x_n + \tfrac{dt}{2}(v_n + v_{n+1})` and
    :math:`v_{n+1} = v_n + \tfrac{dt}{2}(a_n + a_{n+1})`.

    Second order, no numerical damping. Where forces are far from linear the midpoint rule is safer.
    """

    kind: ClassVar[str] = "newmark"
    order: ClassVar[int] = 2

    def stage(self, solver: "Solver", time: float, dt: float) -> "IncrementalPotential":
        from pliant.integrators.implicit.incremental_potential import IncrementalPotential

        world = solver.system.world
        base = world.x + 0.5 * dt * world.v
        pushed = world.v + 0.5 * dt * world.inverse_mass * world.f
        return IncrementalPotential(
            solver.system,
            time + dt,
            0.5 * dt,
            base,
            pushed,
            *prescribed_accelerations(solver.system, time + dt),
        )

    def close(self, solver: "Solver", stage: "IncrementalPotential", dt: float) -> tuple[Array, Array]:
        return stage.x, stage.v


@parameters
class Bdf2(ImplicitIntegrator):
    r"""Two-step backward differentiation with :math:`h = \tfrac23 dt`:
    :math:`x_{n+1} = \tfrac13(4 x_n - x_{n-1}) + h v_{n+1}`, and so for v.

    Second order; damps fast motion and leaves slow motion alone. The first step is an implicit midpoint.
    """

    kind: ClassVar[str] = "bdf2"
    order: ClassVar[int] = 2

    def stage(self, solver: "Solver", time: float, dt: float) -> "IncrementalPotential":
        from pliant.integrators.implicit.incremental_potential import IncrementalPotential

        world = solver.system.world
        if solver.previous is None:
            return ImplicitMidpoint.stage(self, solver, time, dt)  # type: ignore[arg-type]
        x, v = solver.previous
        base, pushed = (4.0 * world.x - x) / 3.0, (4.0 * world.v - v) / 3.0
        return IncrementalPotential(
            solver.system,
            time + dt,
            dt / 1.5,
            base,
            pushed,
            *prescribed_accelerations(solver.system, time + dt),
        )

    def close(self, solver: "Solver", stage: "IncrementalPotential", dt: float) -> tuple[Array, Array]:
        if stage.h == 0.5 * dt:
            return ImplicitMidpoint.close(self, solver, stage, dt)  # type: ignore[arg-type]
        return stage.x, stage.v

    def step(self, system: "System", state: IntegratorState, time: float, dt: float) -> None:
        solver: Any = state
        solver.shape()
        before = system.world.x.copy(), system.world.v.copy()
        solver.advance(self, time, dt)
        solver.previous = None if solver.contacts.changed else before
        solver.count_step()
