"""Newton's method with conjugate gradients, for models that have a stiffness product but no energy."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.incremental_potential import IncrementalPotential, SolveResult
from pliant.integrators.implicit.lbfgs import Tolerance

if TYPE_CHECKING:
    from pliant.integrators.implicit.rest_preconditioner import RestPreconditioner

INNER = 200  # most conjugate-gradient iterations of a Newton step
LOOSE = 0.1  # how far a Newton step is solved; tightened as the residual falls
TRIES = 10


class NewtonCg:
    r"""Newton steps :math:`(M + h^2 K(x))\,p = -g`, by conjugate gradients with the warped rest operator.

    A direction of negative curvature ends the inner iteration (as in Steihaug's method); the step
    is cut back until the residual falls. Stiffness damping enters as :math:`h \beta K`. Source:
    [DemboEisenstatSteihaug1982]_ for the inner tolerance.
    """

    def __init__(self, count: int) -> None:
        self.p, self.r, self.z, self.d, self.ad = (np.zeros((count, 3)) for _ in range(5))
        self.next, self.g_next = np.zeros((count, 3)), np.zeros((count, 3))

    def solve(
        self,
        stage: IncrementalPotential,
        operator: "RestPreconditioner",
        x: Array,
        norm: float,
        goal: Tolerance,
        most: int,
    ) -> tuple[SolveResult, Array]:
        """As ``Lbfgs.solve``; iterations are those of Newton and of conjugate gradients together."""
        g, done, newton, start = stage.g, 0, 0, norm
        if not np.isfinite(norm):
            return SolveResult(0, np.inf, False), x
        operator.turn(x)
        while newton < most and (newton == 0 or not goal.met(norm, stage)) and norm > goal.floor:
            newton += 1
            done += self._direction(stage, operator, x, g, norm, min(LOOSE, np.sqrt(norm / start)))
            found = self._search(stage, x, norm)
            if found is None:
                stage.stale = True
                break
            norm = found
            x, self.next = self.next, x
            g, self.g_next = self.g_next, g
        stage.g = g
        good = norm <= goal.floor or goal.met(norm, stage)
        return SolveResult(newton + done, goal.relative(norm, stage), good), x

    def _product(self, stage: IncrementalPotential, x: Array, d: Array, out: Array) -> None:
        system, world = stage.system, stage.system.world
        out.fill(0.0)
        for part in world.bodies:
            rows, mechanics = part.rows, part.mechanics
            beta = 0.0 if stage.static else getattr(mechanics, "damping_time", 0.0) / stage.h
            mechanics.add_stiffness_product(x[rows], (1.0 + beta) * d[rows], out[rows])  # type: ignore[attr-defined]
        out *= stage.scale
        out += stage.inertia * world.mass[:, None] * d
        out[system.world.inverse_mass == 0.0] = 0.0
        stage.confine(out)

    def _direction(
        self,
        stage: IncrementalPotential,
        operator: "RestPreconditioner",
        x: Array,
        g: Array,
        norm: float,
        share: float,
    ) -> int:
        """Solve for the Newton direction until the residual is ``share`` of g; returns the iterations."""
        p, r, z, d, ad, w = self.p, self.r, self.z, self.d, self.ad, stage.system.world.inverse_mass
        dot = kernels.dot
        p.fill(0.0)
        np.negative(g, out=r)
        operator.apply(r, norm, w, z)
        stage.confine(z)
        d[:] = z
        rz = float(dot(r.reshape(-1), z.reshape(-1)))
        for k in range(INNER):
            self._product(stage, x, d, ad)
            curvature = float(dot(d.reshape(-1), ad.reshape(-1)))
            if not curvature > 0.0:
                if k == 0:
                    p[:] = d
                return k + 1
            step = rz / curvature
            kernels.move(p.reshape(-1), d.reshape(-1), step, p.reshape(-1))
            kernels.move(r.reshape(-1), ad.reshape(-1), -step, r.reshape(-1))
            size = float(np.sqrt(dot(r.reshape(-1), r.reshape(-1))))
            if size <= share * norm:
                return k + 1
            operator.apply(r, size, w, z)
            stage.confine(z)
            new = float(dot(r.reshape(-1), z.reshape(-1)))
            kernels.move(z.reshape(-1), d.reshape(-1), new / rz, d.reshape(-1))
            rz = new
        return INNER

    def _search(self, stage: IncrementalPotential, x: Array, norm: float) -> float | None:
        """Cut the step back until the residual falls; returns the new norm, or None."""
        step = 1.0
        for _ in range(TRIES):
            kernels.move(x.reshape(-1), self.p.reshape(-1), step, self.next.reshape(-1))
            found = stage.evaluate(self.next, self.g_next)
            if np.isfinite(found) and found <= (1.0 - 1e-4 * step) * norm:
                return found
            step *= 0.5
        return None
