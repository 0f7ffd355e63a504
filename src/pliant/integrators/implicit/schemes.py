"""Implicit time schemes: each gives the coefficients of the stage that a step solves."""

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from pliant.core.parameters import parameters
from pliant.core.units import Number
from pliant.integrators.implicit.stage import History, ImplicitStage, backward_euler, implicit_midpoint
from pliant.interfaces import Integrator, IntegratorState

if TYPE_CHECKING:
    from pliant.integrators.implicit.step import ImplicitState
    from pliant.simulation.system import System
    from pliant.state.world import World


@parameters
class ImplicitIntegrator(Integrator):
    """What implicit integrators share.

    tolerance: largest residual of a step, as a share of the external forces (their norm over all
    particles); iterations: most a step may take before it is halved; memory: pairs that L-BFGS keeps.
    """

    stability: ClassVar[float] = float("inf")
    two_step: ClassVar[bool] = False  # whether stages use the state one step ago

    tolerance: Number = Field(default=0.1, gt=0, le=0.5)
    iterations: int = Field(default=100, ge=1)
    memory: int = Field(default=5, ge=1, le=50)

    @abstractmethod
    def stage(self, world: "World", history: History, dt: float) -> ImplicitStage:
        """The stage of a step of ``dt`` from the World's present state."""

    def start(self, system: "System") -> "ImplicitState":
        from pliant.integrators.implicit.step import ImplicitState

        return ImplicitState(system, self.tolerance, self.iterations, self.memory)

    def step(self, system: "System", state: IntegratorState, time: float, dt: float) -> None:
        from pliant.integrators.implicit.step import implicit_state

        kept, world = implicit_state(state), system.world
        before = (world.x.copy(), world.v.copy()) if self.two_step else None
        kept.advance(self.stage, time, dt)
        if before is not None:
            kept.history = None if kept.contact.changed else before
        kept.count_step()


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

    def stage(self, world: "World", history: History, dt: float) -> ImplicitStage:
        return backward_euler(world, history, dt)

    def step(self, system: "System", state: IntegratorState, time: float, dt: float) -> None:
        from pliant.integrators.implicit.step import implicit_state

        super().step(system, state, time, dt)
        if self.kinetic_damping:
            implicit_state(state).kinetic_damping.stop_at_peak(system)


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

    def stage(self, world: "World", history: History, dt: float) -> ImplicitStage:
        return implicit_midpoint(world, history, dt)


@parameters
class Newmark(ImplicitIntegrator):
    r"""Newmark's method with constant average acceleration (beta = 1/4, gamma = 1/2) [Newmark1959]_:
    :math:`x_{n+1} = x_n + \tfrac{dt}{2}(v_n + v_{n+1})` and
    :math:`v_{n+1} = v_n + \tfrac{dt}{2}(a_n + a_{n+1})`.

    Second order, no numerical damping. Where forces are far from linear the midpoint rule is safer.
    """

    kind: ClassVar[str] = "newmark"
    order: ClassVar[int] = 2

    def stage(self, world: "World", history: History, dt: float) -> ImplicitStage:
        x_base = world.x + 0.5 * dt * world.v
        v_predicted = world.v + 0.5 * dt * world.inverse_mass * world.f
        return ImplicitStage(0.5 * dt, x_base, v_predicted, force_share=0.5)


@parameters
class Bdf2(ImplicitIntegrator):
    r"""Two-step backward differentiation with :math:`h = \tfrac23 dt`:
    :math:`x_{n+1} = \tfrac13(4 x_n - x_{n-1}) + h v_{n+1}`, and so for v.

    Second order; damps fast motion and leaves slow motion alone. The first step is an implicit midpoint.
    """

    kind: ClassVar[str] = "bdf2"
    order: ClassVar[int] = 2
    two_step: ClassVar[bool] = True

    def stage(self, world: "World", history: History, dt: float) -> ImplicitStage:
        if history is None:
            return implicit_midpoint(world, history, dt)
        x, v = history
        return ImplicitStage(dt / 1.5, (4.0 * world.x - x) / 3.0, (4.0 * world.v - v) / 3.0)
