"""Implicit time schemes: each names the rule by which a step is taken (``stage.py``)."""

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from pliant.core.errors import IncompatibleError
from pliant.core.parameters import parameters
from pliant.core.units import Number
from pliant.integrators.implicit.stage import (
    BACKWARD_EULER,
    BDF2,
    ENERGY_MOMENTUM,
    IMPLICIT_MIDPOINT,
    NEWMARK,
    TR_BDF2,
    StepRule,
)
from pliant.interfaces import ElasticConstraints, Integrator, IntegratorState, StoredEnergy

if TYPE_CHECKING:
    from pliant.integrators.implicit.step import ImplicitState
    from pliant.simulation.system import System

SPINS_UP = (
    "integrator '{}' gains energy where bodies turn by more than a few degrees a step; "
    "take 'energy-momentum' for motion that must not lose energy, 'tr-bdf2' for anything else"
)


@parameters
class ImplicitIntegrator(Integrator):
    """What implicit integrators share.

    tolerance: largest residual of a step, as a share of the external forces (their norm over all
    particles); iterations: most a step may take before it is halved; memory: pairs that L-BFGS keeps.
    """

    stability: ClassVar[float] = float("inf")
    two_step: ClassVar[bool] = False  # whether steps use the state one step ago
    warning: ClassVar[str] = ""  # what users are told when a run starts
    constraints: ClassVar[bool] = False  # whether elastic energies are solved as constraints
    barrier: ClassVar[bool] = True  # whether barrier contact holds at the end of its steps

    tolerance: Number = Field(default=0.1, gt=0, le=0.5)
    iterations: int = Field(default=100, ge=1)
    memory: int = Field(default=5, ge=1, le=50)

    @abstractmethod
    def rule(self, state: "ImplicitState") -> StepRule:
        """How the next step is taken."""

    def start(self, system: "System") -> "ImplicitState":
        from pliant.integrators.implicit.step import ImplicitState

        state = ImplicitState(system, self.tolerance, self.iterations, self.memory, self.constraints)
        if state.barrier is not None and not self.barrier:
            raise IncompatibleError(
                f"Integrator '{self.kind}' ends its steps where contact was not looked at.",
                hint='Use "implicit-euler", "tr-bdf2" or "energy-momentum" with barrier contact.',
            )
        if self.warning:
            state.diagnostics.warn(self.warning.format(self.kind))
        return state

    def step(self, system: "System", state: IntegratorState, time: float, dt: float) -> None:
        from pliant.integrators.implicit.step import implicit_state

        kept = implicit_state(state)
        kept.take_step(self.rule(kept), time, dt, self.two_step)


@parameters
class ImplicitEuler(ImplicitIntegrator):
    r"""Backward Euler, :math:`x_{n+1} = x_n + dt\,v_{n+1}`, :math:`M v_{n+1} = M v_n + dt f_{n+1}`.

    First order; damps all motion that the step does not resolve [BaraffWitkin1998]_. Differs: the angular
    momentum of free bodies, which the scheme lets leak away, is restored after each step.
    kinetic_damping: stop all motion whenever the kinetic energy has passed a peak: the fastest way
    to the rest shape by time stepping (the path there means nothing).
    """

    kind: ClassVar[str] = "implicit-euler"
    order: ClassVar[int] = 1

    kinetic_damping: bool = False

    def rule(self, state: "ImplicitState") -> StepRule:
        return BACKWARD_EULER

    def step(self, system: "System", state: IntegratorState, time: float, dt: float) -> None:
        from pliant.integrators.implicit.step import implicit_state

        super().step(system, state, time, dt)
        if self.kinetic_damping:
            implicit_state(state).kinetic_damping.stop_at_peak(system)


@parameters
class CompliantConstraints(ImplicitIntegrator):
    r"""Backward Euler with elastic energies as constraints, whose compliance is the inverse of the elastic
    stiffness (``constraint_newton.py``): :math:`\tfrac12 C^T \alpha^{-1} C`, solved for positions and
    multipliers together [ServinLacoursiereMelin2006]_ [MacklinMuellerChentanez2016]_.

    For meshless elastic bodies of any stiffness. Differs: the equations are iterated until the step is one of
    backward Euler with the law's own forces, instead of once; each iteration factorises a matrix of all
    positions. memory: not used.
    """

    kind: ClassVar[str] = "compliant-constraints"
    order: ClassVar[int] = 1
    requires: ClassVar[tuple[type, ...]] = (ElasticConstraints,)
    constraints: ClassVar[bool] = True
    barrier: ClassVar[bool] = False

    def rule(self, state: "ImplicitState") -> StepRule:
        return BACKWARD_EULER

    def start(self, system: "System") -> "ImplicitState":
        for part in system.world.bodies:
            if (own := part.mechanics.offer(ElasticConstraints)) is not None:
                own.check_constraints()
        return super().start(system)


@parameters
class TrBdf2(ImplicitIntegrator):
    r"""TR-BDF2 [Bank1985]_: the trapezoidal rule to :math:`t_n + \gamma\,dt`, :math:`\gamma = 2 - \sqrt2`,
    and backward differentiation from both to the end, with :math:`h = \tfrac\gamma2 dt` and one operator in
    both:

    .. math::
        x_\gamma &= x_n + h (v_n + v_\gamma), & M v_\gamma &= M v_n + h (f_n + f_\gamma), \\
        x_{n+1} &= c_1 x_\gamma + c_0 x_n + h v_{n+1}, &
        M v_{n+1} &= M (c_1 v_\gamma + c_0 v_n) + h f_{n+1},

    :math:`c_1 = 1 / (\gamma (2 - \gamma))`, :math:`c_0 = 1 - c_1`. Second order; damps what the step does not
    resolve and leaves slow motion alone. Differs: the angular momentum of free bodies is restored after each
    step; steps after a jump of the loads, and those that would gain energy, are taken by backward Euler.
    """

    kind: ClassVar[str] = "tr-bdf2"
    order: ClassVar[int] = 2

    def rule(self, state: "ImplicitState") -> StepRule:
        return TR_BDF2 if state.continues else BACKWARD_EULER


@parameters
class EnergyMomentum(ImplicitIntegrator):
    r"""Energy-momentum method, :math:`x_{n+1} = x_n + \tfrac{dt}2 (v_n + v_{n+1})`,
    :math:`M (v_{n+1} - v_n) = dt\,f(x_n, x_{n+1})`, where the bodies' forces are a discrete gradient of their
    energies: they do exactly the work by which these change, and have no moment. So energy, momentum and
    angular momentum of undamped motion are exact at any step [SimoTarnow1992]_ [Gonzalez2000]_.

    Second order. For ordinary motion: far from rest it takes many iterations, and vibration that the step
    does not resolve goes on for ever. Contacts act with their forces at the end of the step, which only loses
    energy. A step whose equations cannot be solved is halved, three times at most, and then taken by backward
    Euler.
    """

    kind: ClassVar[str] = "energy-momentum"
    order: ClassVar[int] = 2
    requires: ClassVar[tuple[type, ...]] = (StoredEnergy,)

    def rule(self, state: "ImplicitState") -> StepRule:
        return ENERGY_MOMENTUM


@parameters
class ImplicitMidpoint(ImplicitIntegrator):
    r"""Implicit midpoint rule, :math:`x_m = x_n + \tfrac{dt}{2} v_m` and
    :math:`M v_m = M v_n + \tfrac{dt}{2} f(x_m)`, then
    :math:`x_{n+1} = 2 x_m - x_n`, :math:`v_{n+1} = 2 v_m - v_n`.

    Second order and symplectic for small steps [HairerLubichWanner2006]_. In a body that turns by the angle t
    in a step the stage is shorter by :math:`1 - \cos(t/2)` than the body: its stress feeds energy in, without
    bound. Steps that gain are therefore taken by backward Euler, which loses: see ``EnergyMomentum``.
    Driven particles take the mean of their ends in the stage.
    """

    kind: ClassVar[str] = "implicit-midpoint"
    barrier: ClassVar[bool] = False
    order: ClassVar[int] = 2
    warning: ClassVar[str] = SPINS_UP

    def rule(self, state: "ImplicitState") -> StepRule:
        return IMPLICIT_MIDPOINT


@parameters
class Newmark(ImplicitIntegrator):
    r"""Newmark's method with constant average acceleration (beta = 1/4, gamma = 1/2) [Newmark1959]_:
    :math:`x_{n+1} = x_n + \tfrac{dt}{2}(v_n + v_{n+1})` and
    :math:`v_{n+1} = v_n + \tfrac{dt}{2}(a_n + a_{n+1})`.

    Second order. It keeps energy for linear forces alone: in rotation it gains without bound. For comparison
    with other codes.
    """

    kind: ClassVar[str] = "newmark"
    barrier: ClassVar[bool] = False
    order: ClassVar[int] = 2
    warning: ClassVar[str] = SPINS_UP

    def rule(self, state: "ImplicitState") -> StepRule:
        return NEWMARK


@parameters
class Bdf2(ImplicitIntegrator):
    r"""Two-step backward differentiation with :math:`h = \tfrac23 dt`:
    :math:`x_{n+1} = \tfrac13(4 x_n - x_{n-1}) + h v_{n+1}`, and so for v.

    Second order; damps fast motion. Differs: the angular momentum of free bodies is restored after each step,
    and steps that continue none are taken as by ``TrBdf2``.
    """

    kind: ClassVar[str] = "bdf2"
    order: ClassVar[int] = 2
    two_step: ClassVar[bool] = True

    def rule(self, state: "ImplicitState") -> StepRule:
        if state.history is not None:
            return BDF2
        return TR_BDF2 if state.continues else BACKWARD_EULER
