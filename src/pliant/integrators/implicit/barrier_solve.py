"""L-BFGS on an incremental potential with barrier contact: every move is clamped by collision detection."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.barrier_stage import ADVANCE, BarrierStage, ContactStiffness
from pliant.integrators.implicit.incremental_potential import IncrementalPotential, Iterate, SolveResult
from pliant.integrators.implicit.lbfgs import Lbfgs, Tolerance
from pliant.integrators.implicit.rigid_motion import ConnectedParts

if TYPE_CHECKING:
    from pliant.integrators.implicit.preconditioners.rest import RestPreconditioner
    from pliant.integrators.implicit.preconditioners.tangent import TangentPreconditioner

CG_TOLERANCE = 0.3
CG_ROUNDS = 40
TOUCHING = 0.1  # times the tolerance, in contact: friction needs it
RENEWALS = 60  # iterations after which friction keeps its loads
ROUND_UP = 3  # times that a converged solve may be taken up again with new loads of friction
RESULTANT = 1e-3  # of the loads on a body: the resultant of what is unbalanced on it
INERTIA = 0.01  # of its momentum over the stage: which of its loads is not weight


class ContactPreconditioner:
    r"""Applies :math:`(W^{-1} + C)^{-1}`, W the preconditioner without contact and C the contact stiffness,
    by conjugate gradients that are preconditioned with W. Its inverse is not needed: where the search
    direction is :math:`z + \beta d`, :math:`W^{-1} d` is :math:`r + \beta a`."""

    def __init__(self, plain: "RestPreconditioner | TangentPreconditioner") -> None:
        self._plain = plain
        self.refresh_interval = plain.refresh_interval
        self.contact: ContactStiffness | None = None

    def update(self, x: Array) -> None:
        self._plain.update(x)

    def rotations_at(self, x: Array) -> Array:
        return self._plain.rotations_at(x)

    def apply(self, g: Array, size: float, w: Array, out: Array) -> None:
        """``out = (W^-1 + C)^-1 g`` on free degrees of freedom."""
        if self.contact is None:
            self._plain.apply(g, size, w, out)
            return
        r, z = np.where(w > 0.0, g, 0.0), np.empty_like(g)
        self._plain.apply(r, size, w, z)
        out[:] = 0.0
        d, a = z.copy(), r.copy()
        first = left = float(kernels.dot(r.reshape(-1), z.reshape(-1)))
        for _ in range(CG_ROUNDS):
            if not left > CG_TOLERANCE**2 * first:
                break
            q = a.copy()
            self.contact.add(d, q)
            curvature = float(kernels.dot(d.reshape(-1), q.reshape(-1)))
            if not curvature > 0.0:
                break
            step = left / curvature
            out += step * d
            r -= step * q
            norm = float(np.sqrt(kernels.dot(r.reshape(-1), r.reshape(-1))))
            if not norm > 0.0:
                break
            self._plain.apply(r, norm, w, z)
            now = float(kernels.dot(r.reshape(-1), z.reshape(-1)))
            if not now > 0.0:
                break
            d *= now / left
            d += z
            a *= now / left
            a += r
            left = now
        if not out.any():
            self._plain.apply(g, size, w, out)


class BarrierLbfgs:
    """Minimises from a start without intersections; every iterate is reached on straight moves that keep all
    distances."""

    def __init__(self, lbfgs: Lbfgs, parts: ConnectedParts | None, loads: Array) -> None:
        """loads (n, 3) [N]: forces of actions at the beginning of the step."""
        self._lbfgs, self._parts, self._loads = lbfgs, parts, loads

    def solve(
        self,
        potential: IncrementalPotential,
        stage: BarrierStage,
        plain: "RestPreconditioner | TangentPreconditioner",
        guess: Array,
        goal: Tolerance,
        most: int,
    ) -> SolveResult:
        """Minimise from the way to ``guess`` until the residual is below ``goal``."""
        method, operator = self._lbfgs, ContactPreconditioner(plain)
        method.forget()
        first = potential.iterate(stage.first_move(guess))
        x, g, norm = first.x, first.g, first.norm
        stage.pass_through(x)
        cap = max(float(stage.geometry.surfaces.edge.max()), 2.0 * _longest(guess - stage.begin))
        if not np.isfinite(norm):
            return SolveResult(first, 0, np.inf, False)
        operator.update(x)
        potential.turn_residual(x, g, operator)
        iterations, renewed, failed = 0, 0, False
        while iterations < most:
            met = self._met(potential, stage, goal, x, g, norm)
            if stage.driven < 1.0 and (met or (stage.active is not None and stage.active.least > ADVANCE)):
                if stage.advance(x):
                    stage.pass_through(x)
                    potential.evaluate(x, g)
                    norm = potential.renew_friction(g)
                    method.forget()
                    met = False
                elif met:
                    break
            if met and iterations and potential.settled(x, g):
                if renewed >= ROUND_UP or iterations > RENEWALS or not stage.touches:
                    break
                renewed += 1
                norm = self._renewed(potential, stage, g, norm)
                if self._met(potential, stage, goal, x, g, norm):
                    break
            if not norm > 0.0:  # nothing is free
                break
            iterations += 1
            if iterations % operator.refresh_interval == 0:
                operator.update(x)
                potential.turn_residual(x, g, operator)
                method.forget()
            found = self._move(potential, stage, operator, x, g, norm, cap)
            if found is None and method.stored:
                method.forget()
                found = self._move(potential, stage, operator, x, g, norm, cap)
            if found is None:
                failed = True
                break
            method.remember(x, g)
            x, g = method.taken(x, g)
            stage.pass_through(x)
            norm = found
            if iterations <= RENEWALS:
                norm = self._renewed(potential, stage, g, norm)
        if failed:
            norm = potential.evaluate(x, g)
        result = goal.result(Iterate(x, g, norm), iterations, potential, False)
        if stage.driven < 1.0:
            return SolveResult(result.last, iterations, np.inf, False)
        return result

    def _move(
        self, potential: IncrementalPotential, stage: BarrierStage, operator: ContactPreconditioner,
        x: Array, g: Array, norm: float, cap: float,
    ) -> float | None:  # fmt: skip
        """Find the next iterate, left in the method's arrays; its residual, or None."""
        method = self._lbfgs
        operator.contact = stage.stiffness(potential.scale) if stage.touches else None
        slope = method.direction(potential, operator, g, norm)
        longest = _longest(method.p)
        if longest > cap:
            method.p *= cap / longest
            slope *= cap / longest
        step = stage.clamp(x, method.p)
        return method.search(potential, x, g, slope, norm, step)

    def _renewed(self, potential: IncrementalPotential, stage: BarrierStage, g: Array, norm: float) -> float:
        """Renew the loads of friction where ``potential`` was evaluated last, and the residual ``g`` there;
        its norm."""
        return potential.renew_friction(g) if stage.touches or len(stage.lag.load) else norm

    def _met(
        self,
        potential: IncrementalPotential,
        stage: BarrierStage,
        goal: Tolerance,
        x: Array,
        g: Array,
        norm: float,
    ) -> bool:
        share = TOUCHING if stage.touches else 1.0
        small = norm <= share * goal.limit(potential)
        return norm <= goal.floor or (small and self._balanced(potential, stage, goal, x, g))

    def _balanced(
        self, potential: IncrementalPotential, stage: BarrierStage, goal: Tolerance, x: Array, g: Array
    ) -> bool:
        """Whether the resultant force and moment of what is unbalanced are small on every part that touches
        anything."""
        parts = self._parts
        if parts is None or not stage.touches:
            return True
        assert stage.active is not None
        plain = g if potential.between is None else potential.between.unturned(g)
        touched = parts.touched(stage.contact.rows_in_contact(stage.active))
        force = np.where(parts.loose, parts.sums(plain), 0.0)
        speed = 0.0 if potential.static else INERTIA / potential.h
        world = potential.system.world
        moving = np.linalg.norm(parts.sums(world.mass[:, None] * world.v), axis=1)
        loads = np.linalg.norm(parts.sums(self._loads), axis=1)
        limit = RESULTANT * potential.scale * np.maximum(loads, speed * moving)
        limit = np.maximum(limit, 0.1 * TOUCHING * goal.limit(potential))
        if (np.linalg.norm(force, axis=1) > limit)[touched].any():
            return False
        arms = x - parts.mean(x)[parts.label]
        radius = np.sqrt(parts.sums(world.mass[:, None] * arms**2).sum(axis=1) / parts.total)
        moment = np.linalg.norm(parts.sums(np.cross(arms, plain)), axis=1)
        return not bool((moment > limit * radius)[touched & parts.free].any())


def _longest(p: Array) -> float:
    return float(np.sqrt(np.einsum("ni,ni->n", p, p).max(initial=0.0)))
