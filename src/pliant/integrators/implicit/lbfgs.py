"""Quasi-Newton minimisation of an incremental potential, from the warped rest-shape preconditioner."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.incremental_potential import IncrementalPotential, Iterate, SolveResult

if TYPE_CHECKING:
    from pliant.integrators.implicit.barrier_solve import ContactPreconditioner
    from pliant.integrators.implicit.preconditioners.rest import RestPreconditioner
    from pliant.integrators.implicit.preconditioners.tangent import TangentPreconditioner

RISE = 0.8  # a step that ends in a rise of at most this share of its first fall is good without more ado
ARMIJO = 1e-4
GROWTH = 2.0  # of a residual without a potential, in one step whose slope fell further
DETOUR = 16.0  # times the smallest residual: how far such steps may lead
TRIES = 14  # of one line search


class Lbfgs:
    r"""L-BFGS whose initial inverse Hessian is the preconditioner [LiuNocedal1989]_ [LiuBouazizKavan2017]_.

    A step is taken where the slope along it shows that it descends, :math:`g(x) \cdot p \le g(x + p) \cdot p
    \le -0.8\,g(x) \cdot p` (the approximate Wolfe condition of [HagerZhang2005]_ with 0.1). One that
    overshoots is cut back by the secant rule; where the slope fell further, the energy decides (Armijo).
    Forces without an energy count there with the value that they have at x; where the whole residual has no
    potential (energy-momentum steps), its norm decides. One force evaluation and one
    application of the preconditioner per iteration. The pairs are forgotten after each solve: nothing is
    carried over a step.
    """

    def __init__(self, count: int, memory: int) -> None:
        size = 3 * count
        self.memory = memory
        self.s, self.y = np.zeros((memory, size)), np.zeros((memory, size))
        self.rho, self.alpha = np.zeros(memory), np.zeros(memory)
        self.first = self.stored = 0
        self.smallest = 0.0  # residual of the solve that is under way
        self.p, self.q = np.zeros((count, 3)), np.zeros((count, 3))
        self.next, self.g_next = np.zeros((count, 3)), np.zeros((count, 3))

    def solve(
        self,
        potential: IncrementalPotential,
        preconditioner: "RestPreconditioner | TangentPreconditioner",
        first: Iterate,
        goal: "Tolerance",
        most: int,
    ) -> SolveResult:
        """Minimise from ``first`` until the residual is below ``goal``: at least one iteration, at most
        ``most``. Arrays of the result are good until the next call."""
        self.forget()
        x, g, norm = first.x, first.g, first.norm
        self.smallest = norm
        if not np.isfinite(norm):
            return SolveResult(first, 0, np.inf, False)
        preconditioner.update(x)
        potential.turn_residual(x, g, preconditioner)
        iterations, failed = 0, False
        while iterations < most and not (
            iterations and goal.met(norm, potential) and potential.settled(x, g)
        ):
            if norm <= goal.floor:
                break
            iterations += 1
            if iterations % preconditioner.refresh_interval == 0:
                preconditioner.update(x)
                potential.turn_residual(x, g, preconditioner)
                self.stored = 0
            slope = self.direction(potential, preconditioner, g, norm)
            found = self.search(potential, x, g, slope, norm)
            if found is None and self.stored:
                self.stored = 0
                slope = self.direction(potential, preconditioner, g, norm)
                found = self.search(potential, x, g, slope, norm)
            if found is None:
                failed = True
                break
            norm = found
            self.smallest = min(self.smallest, norm)
            self.remember(x, g)
            x, g = self.taken(x, g)
        return goal.result(Iterate(x, g, norm), iterations, potential, failed)

    def direction(
        self,
        potential: IncrementalPotential,
        preconditioner: "RestPreconditioner | TangentPreconditioner | ContactPreconditioner",
        g: Array,
        norm: float,
    ) -> float:
        """``p = -H g``; returns the slope g.p, negative."""
        q, p, pairs = self.q, self.p, (self.s, self.y, self.rho, self.first, self.stored, self.alpha)
        w = potential.system.world.inverse_mass
        q[:] = g
        flat = p.reshape(-1)
        kernels.history_down(q.reshape(-1), *pairs)
        preconditioner.apply(q, norm, w, p)
        potential.project_out(p)
        kernels.history_up(flat, *pairs)
        np.negative(p, out=p)
        slope = float(kernels.dot(g.reshape(-1), flat))
        if not slope < 0.0:
            self.stored = 0
            preconditioner.apply(g, norm, w, p)
            potential.project_out(p)
            np.negative(p, out=p)
            slope = float(kernels.dot(g.reshape(-1), flat))
        return slope

    def search(
        self,
        potential: IncrementalPotential,
        x: Array,
        g: Array,
        slope: float,
        before: float,
        step: float = 1.0,
    ) -> float | None:
        """Find an acceptable point along p, at most ``step`` of it, left in ``next`` with its residual;
        returns the norm, or None."""
        if not slope < 0.0:
            return None
        p = self.p.reshape(-1)
        start: tuple[float, Array] | None = None
        for _ in range(TRIES):
            kernels.move(x.reshape(-1), p, step, self.next.reshape(-1))
            norm = potential.evaluate(self.next, self.g_next)
            end = float(kernels.dot(self.g_next.reshape(-1), p)) if np.isfinite(norm) else np.inf
            if slope <= end <= RISE * -slope:
                return norm
            if end < slope and potential.between is not None:
                if norm <= min(GROWTH * before, DETOUR * self.smallest):
                    return norm
            elif end < slope:
                if start is None:
                    start = potential.energy(x), potential.outer_forces(x)
                outer = float(kernels.dot(start[1].reshape(-1), p))
                change = potential.energy(self.next) - start[0] - step * outer
                if change <= ARMIJO * step * slope:
                    return norm
            secant = slope / (slope - end) if 0.0 < end < np.inf else 0.25
            step *= min(max(secant, 0.1), 0.6)
        return None

    def forget(self) -> None:
        """Forget all pairs."""
        self.first = self.stored = 0

    def taken(self, x: Array, g: Array) -> tuple[Array, Array]:
        """The point that ``search`` found, and its residual; the arrays ``x`` and ``g`` are used again."""
        found = self.next, self.g_next
        self.next, self.g_next = x, g
        return found

    def remember(self, x: Array, g: Array) -> None:
        """Keep the pair of the step from ``x`` to the point that ``search`` found."""
        size, slot = self.memory, (self.first + self.stored) % self.memory
        flat = (a.reshape(-1) for a in (x, self.next, g, self.g_next))
        curvature = kernels.pair(*flat, self.s[slot], self.y[slot])
        if self.stored == size:
            self.first, self.stored = (self.first + 1) % size, self.stored - 1
        if curvature > 0.0:
            self.rho[slot] = 1.0 / curvature
            self.stored += 1


class Tolerance:
    """When a residual is small enough: a share of the force scale, or down in the rounding."""

    def __init__(self, tolerance: float, forces: float, floor: float) -> None:
        self.tolerance, self.forces, self.floor = tolerance, forces, floor

    def _scale(self, potential: IncrementalPotential) -> float:
        forces = max(self.forces, potential.reaction_norm) if potential.static else self.forces
        return potential.scale * forces

    def limit(self, potential: IncrementalPotential) -> float:
        """The residual that meets the tolerance."""
        return self.tolerance * self._scale(potential)

    def met(self, norm: float, potential: IncrementalPotential) -> bool:
        """Whether a residual of ``norm`` meets the tolerance."""
        return norm <= self.limit(potential)

    def result(
        self, last: Iterate, iterations: int, potential: IncrementalPotential, search_failed: bool
    ) -> SolveResult:
        """What a solve came to that ended at ``last``."""
        scale = self._scale(potential)
        relative = last.norm / scale if scale > 0.0 else 0.0
        converged = last.norm <= self.floor or self.met(last.norm, potential)
        return SolveResult(last, iterations, relative, converged, search_failed)
