"""Solves incremental potentials, and keeps what is worth keeping between solves."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import Array
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.barrier_solve import BarrierLbfgs
from pliant.integrators.implicit.barrier_stage import BarrierStage
from pliant.integrators.implicit.constraint_newton import ConstraintNewton
from pliant.integrators.implicit.force_scales import StartScales, rounding_floor
from pliant.integrators.implicit.incremental_potential import IncrementalPotential, SolveResult
from pliant.integrators.implicit.lbfgs import Lbfgs, Tolerance
from pliant.integrators.implicit.newton_cg import NewtonCg
from pliant.integrators.implicit.preconditioners.rest import RestPreconditioner, RestSystem
from pliant.integrators.implicit.rigid_motion import ConnectedParts
from pliant.integrators.implicit.step_control import PROMISING, first_guess
from pliant.interfaces import StoredEnergy, Tangent

if TYPE_CHECKING:
    from pliant.integrators.implicit.preconditioners.tangent import TangentPreconditioner
    from pliant.simulation.system import System

KEPT_PRECONDITIONERS = 4
BARRIER_SCALE = 0.01  # of the momenta over the stage: a scale of forces where there are no loads
BARRIER_ITERATIONS = 150  # that a solve in contact may take, at least
FADING = 0.98  # per solve: how slowly the scale of past forces is forgotten


class Solver:
    """Solves the incremental potentials of one System: chooses the method, the preconditioner and the guess.

    Models with an energy are minimised by L-BFGS; where one has none, Newton steps by conjugate gradients on
    the stiffness products. tolerance, iterations: the defaults of ``solve``; memory: pairs of L-BFGS.
    constraints: whether elastic energies are solved as constraints (``ConstraintNewton``).
    """

    def __init__(
        self, system: "System", tolerance: float, iterations: int, memory: int, constraints: bool = False
    ) -> None:
        self.system = system
        self.tolerance, self.iterations, self.memory = tolerance, iterations, memory
        self._start = StartScales(system)
        self.past_forces = 0.0  # scale of past unbalanced forces [N]
        self._rest: RestSystem | None = None
        self._parts: ConnectedParts | None = None
        self._preconditioners: list[RestPreconditioner] = []
        self._method: Lbfgs | NewtonCg | ConstraintNewton | None = None
        self._constraints = constraints
        bodies = system.world.bodies
        self.minimises = all(body.mechanics.offer(StoredEnergy) for body in bodies)
        for body in bodies:
            if not self.minimises and not body.mechanics.offer(Tangent):
                raise IncompatibleError(
                    f"Implicit integrators need an energy or a stiffness product from every model; '"
                    f"{body.model.kind}' of body '{body.name}' has neither that goes with the others.",
                    hint="Use an explicit integrator such as leapfrog.",
                )

    def rest_system(self) -> RestSystem:
        """Rest stiffness and neighbours for the World's present topology."""
        world = self.system.world
        if self._rest is None or self._rest.version != world.topology_version:
            self._rest, self._preconditioners, self._method = RestSystem(world), [], None
            self._parts = None
        return self._rest

    def parts(self) -> ConnectedParts:
        """The connected parts of the bodies, and what holds them now."""
        world, rest = self.system.world, self.rest_system()
        if self._parts is None or not self._parts.fits(world):
            self._parts = ConnectedParts(rest.graph, world)
        return self._parts

    def preconditioner(self, time: float, h: float) -> RestPreconditioner:
        """The rest preconditioner for stages of length ``h``; built where none of the kept ones fits."""
        world, rest, rates = self.system.world, self.rest_system(), self._start.damping_rates(time, h)
        for kept in self._preconditioners:
            if kept.fits(world, h, rates):
                return kept
        made = RestPreconditioner(rest, world, h, rates)
        self._preconditioners = [*self._preconditioners[1 - KEPT_PRECONDITIONERS :], made]
        return made

    def solve(
        self,
        potential: IncrementalPotential,
        most: int | None = None,
        tolerance: float | None = None,
        start: Array | None = None,
        preconditioner: "TangentPreconditioner | None" = None,
    ) -> SolveResult:
        """Solve ``potential`` in at most ``most`` iterations, from ``start`` if it is given; its x and v are
        the solution then. preconditioner: in place of the one made from the rest shape."""
        chosen = preconditioner or self.preconditioner(potential.time, potential.h)
        limit, forces = tolerance or self.tolerance, self._force_scale(potential)
        if potential.barrier is not None:
            return self._solve_barrier(potential, potential.barrier, chosen, limit, forces, most, start)
        if start is None:
            parts = None if potential.static else self.parts()
            good = PROMISING * limit * potential.scale * forces
            first = first_guess(potential, parts, self.minimises, good)
        else:
            first = potential.iterate(start)
        floor = rounding_floor(potential, self.rest_system(), first.x)
        goal = Tolerance(limit, forces, floor)
        result = self._minimiser().solve(potential, chosen, first, goal, most or self.iterations)
        if potential.static and result.converged:
            self.past_forces = max(self.past_forces, potential.reaction_norm)
        potential.accept(result.last.x.copy(), evaluated=not result.search_failed)
        return result

    def _solve_barrier(
        self,
        potential: IncrementalPotential,
        stage: BarrierStage,
        preconditioner: "RestPreconditioner | TangentPreconditioner",
        tolerance: float,
        forces: float,
        most: int | None,
        start: Array | None,
    ) -> SolveResult:
        """``solve`` with barrier contact."""
        world, parts = self.system.world, self.parts()
        speeds = BARRIER_SCALE * (0.0 if potential.static else self._momentum() / potential.h)
        goal = Tolerance(
            tolerance,
            max(forces, speeds),
            rounding_floor(potential, self.rest_system(), world.x),
        )
        if start is None:
            start = stage.begin if potential.static else self._led(potential, parts)
            start = np.where(world.inverse_mass > 0.0, start, potential.x)
        loads = np.zeros_like(world.x)
        self.system.external_forces(potential.time, world.x, world.v, loads)
        method = self._minimiser()
        assert isinstance(method, Lbfgs)
        barrier = BarrierLbfgs(method, parts, loads)
        result = barrier.solve(
            potential, stage, preconditioner, start, goal, most or max(self.iterations, BARRIER_ITERATIONS)
        )
        potential.accept(result.last.x.copy(), evaluated=not result.search_failed)
        return result

    def _led(self, potential: IncrementalPotential, parts: ConnectedParts) -> Array:
        """Where the motion leads."""
        x, v, _ = potential.stage.origin
        between = potential.between is not None
        return parts.ahead(x, v, potential.lead, potential.x_tilde, between)

    def _momentum(self) -> float:
        world = self.system.world
        return float(kernels.free_norm(world.mass[:, None] * world.v, world.inverse_mass))

    def _minimiser(self) -> Lbfgs | NewtonCg | ConstraintNewton:
        if self._method is None and self._constraints:
            self._method = ConstraintNewton()
        if self._method is None:
            count = self.system.world.count
            self._method = Lbfgs(count, self.memory) if self.minimises else NewtonCg(count)
        return self._method

    def _force_scale(self, potential: IncrementalPotential) -> float:
        """Size of the forces [N]: those of actions, or a tenth of recent unbalanced ones."""
        world = self.system.world
        present = float(kernels.free_norm(world.f, world.inverse_mass))
        self.past_forces = max(FADING * self.past_forces, present)
        size = self._start.load(potential.time)
        if potential.static:
            self.past_forces = max(self.past_forces, size)
        return max(size, 0.1 * self.past_forces)
