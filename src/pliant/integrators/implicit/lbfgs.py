"""Quasi-Newton minimisation of a Stage, from the warped rest-shape operator."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.incremental_potential import IncrementalPotential, SolveResult

if TYPE_CHECKING:
    from pliant.integrators.implicit.rest_preconditioner import RestPreconditioner

RISE = 0.8  # a step that ends in a rise of at most this share of its first fall is good without more ado
ARMIJO = 1e-4
TRIES = 14  # of one line search


class Lbfgs:
    r"""L-BFGS whose initial inverse Hessian is the rest operator [LiuNocedal1989]_ [LiuBouazizKavan2017]_.

    A step is taken where the slope along it shows that it descends, :math:`g(x) \cdot p \le g(x + p) \cdot p
    \le -0.8\,g(x) \cdot p` (the approximate Wolfe condition of [HagerZhang2005]_ with 0.1). One that
    overshoots is cut back by the secant rule; where the slope fell further, the energy decides (Armijo).
    Forces without an energy count there with the value that they have at x. One force evaluation and one
    application of the operator per iteration. The pairs are forgotten after each solve: nothing is carried
    over a step.
    """

    def __init__(self, count: int, memory: int) -> None:
        size = 3 * count
        self.memory = memory
        self.s, self.y = np.zeros((memory, size)), np.zeros((memory, size))
        self.rho, self.alpha = np.zeros(memory), np.zeros(memory)
        self.first = self.stored = 0
        self.p, self.q = np.zeros((count, 3)), np.zeros((count, 3))
        self.next, self.g_next = np.zeros((count, 3)), np.zeros((count, 3))

    def solve(
        self,
        stage: IncrementalPotential,
        operator: "RestPreconditioner",
        x: Array,
        norm: float,
        goal: "Tolerance",
        most: int,
    ) -> tuple[SolveResult, Array]:
        """Minimise from ``x``, whose residual is in ``stage.g``, until it is below ``goal``.

        At least one iteration, at most ``most``; returns how it went and the positions.
        """
        self.first = self.stored = 0
        g = stage.g
        if not np.isfinite(norm):
            return SolveResult(0, np.inf, False), x
        operator.turn(x)
        iterations = 0
        while iterations < most and (iterations == 0 or not goal.met(norm, stage)):
            if norm <= goal.floor:
                break
            iterations += 1
            if iterations % operator.again == 0:
                operator.turn(x)
                self.stored = 0
            slope = self._direction(stage, operator, g, norm)
            found = self._search(stage, x, g, slope)
            if found is None and self.stored:
                self.stored = 0
                slope = self._direction(stage, operator, g, norm)
                found = self._search(stage, x, g, slope)
            if found is None:
                stage.stale = True
                break
            norm = found
            self._remember(x, g)
            x, self.next = self.next, x
            g, self.g_next = self.g_next, g
        stage.g = g
        return SolveResult(
            iterations, goal.relative(norm, stage), norm <= goal.floor or goal.met(norm, stage)
        ), x

    def _direction(
        self, stage: IncrementalPotential, operator: "RestPreconditioner", g: Array, norm: float
    ) -> float:
        """``p = -H g``; returns the slope g.p, negative."""
        q, p, pairs = self.q, self.p, (self.s, self.y, self.rho, self.first, self.stored, self.alpha)
        w = stage.system.world.inverse_mass
        q[:] = g
        flat = p.reshape(-1)
        kernels.history_down(q.reshape(-1), *pairs)
        operator.apply(q, norm, w, p)
        stage.confine(p)
        kernels.history_up(flat, *pairs)
        np.negative(p, out=p)
        slope = float(kernels.dot(g.reshape(-1), flat))
        if not slope < 0.0:
            self.stored = 0
            operator.apply(g, norm, w, p)
            stage.confine(p)
            np.negative(p, out=p)
            slope = float(kernels.dot(g.reshape(-1), flat))
        return slope

    def _search(self, stage: IncrementalPotential, x: Array, g: Array, slope: float) -> float | None:
        """Find an acceptable point along p, left in ``next`` with its residual; returns the norm, or None."""
        if not slope < 0.0:
            return None
        p, step = self.p.reshape(-1), 1.0
        start: tuple[float, Array] | None = None
        for _ in range(TRIES):
            kernels.move(x.reshape(-1), p, step, self.next.reshape(-1))
            norm = stage.evaluate(self.next, self.g_next)
            end = float(kernels.dot(self.g_next.reshape(-1), p)) if np.isfinite(norm) else np.inf
            if slope <= end <= RISE * -slope:
                return norm
            if end < slope:
                if start is None:
                    start = stage.potential(x), stage.outer_forces(x)
                outer = float(kernels.dot(start[1].reshape(-1), p))
                change = stage.potential(self.next) - start[0] - step * outer
                if change <= ARMIJO * step * slope:
                    return norm
            secant = slope / (slope - end) if 0.0 < end < np.inf else 0.25
            step *= min(max(secant, 0.1), 0.6)
        return None

    def _remember(self, x: Array, g: Array) -> None:
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

    def _scale(self, stage: IncrementalPotential) -> float:
        forces = max(self.forces, stage.held) if stage.static else self.forces
        return stage.scale * forces

    def met(self, norm: float, stage: IncrementalPotential) -> bool:
        return norm <= self.tolerance * self._scale(stage)

    def relative(self, norm: float, stage: IncrementalPotential) -> float:
        scale = self._scale(stage)
        return norm / scale if scale > 0.0 else 0.0
