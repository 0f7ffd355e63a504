"""Newton's method with conjugate gradients, for models that have a stiffness product but no energy."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.incremental_potential import IncrementalPotential, Iterate, SolveResult
from pliant.integrators.implicit.lbfgs import Tolerance
from pliant.interfaces import Damped, Tangent

if TYPE_CHECKING:
    from pliant.integrators.implicit.preconditioners.rest import RestPreconditioner
    from pliant.integrators.implicit.preconditioners.tangent import TangentPreconditioner

INNER = 200  # most conjugate-gradient iterations of a Newton step
LOOSE = 0.1  # how far a Newton step is solved; tightened as the residual falls
TRIES = 10


class NewtonCg:
    r"""Newton steps :math:`(M + h^2 K(x))\,p = -g`, by conjugate gradients with the warped rest
    preconditioner.

    A direction of negative curvature ends the inner iteration (as in Steihaug's method); the step
    is cut back until the residual falls. Stiffness damping enters as :math:`h \beta K`. Source:
    [DemboEisenstatSteihaug1982]_ for the inner tolerance.
    """

    def __init__(self, count: int) -> None:
        self.p, self.r, self.z, self.d, self.ad = (np.zeros((count, 3)) for _ in range(5))
        self.next, self.g_next = np.zeros((count, 3)), np.zeros((count, 3))

    def solve(
        self,
        potential: IncrementalPotential,
        preconditioner: "RestPreconditioner | TangentPreconditioner",
        first: Iterate,
        goal: Tolerance,
        most: int,
    ) -> SolveResult:
        """As ``Lbfgs.solve``; iterations are those of Newton and of conjugate gradients together."""
        x, g, norm = first.x, first.g, first.norm
        done, newton, failed = 0, 0, False
        if not np.isfinite(norm):
            return SolveResult(first, 0, np.inf, False)
        preconditioner.update(x)
        while newton < most and (newton == 0 or not goal.met(norm, potential)) and norm > goal.floor:
            newton += 1
            share = min(LOOSE, np.sqrt(norm / first.norm))
            done += self._direction(potential, preconditioner, x, g, norm, share)
            found = self._search(potential, x, norm)
            if found is None:
                failed = True
                break
            norm = found
            x, self.next = self.next, x
            g, self.g_next = self.g_next, g
        return goal.result(Iterate(x, g, norm), newton + done, potential, failed)

    def _product(self, potential: IncrementalPotential, x: Array, d: Array, out: Array) -> None:
        """``(M + (h^2 + h beta) K) d`` on free degrees of freedom."""
        world = potential.system.world
        out.fill(0.0)
        for part in world.bodies:
            rows, damped, tangent = part.rows, part.mechanics.offer(Damped), part.mechanics.offer(Tangent)
            beta = 0.0 if potential.static or damped is None else damped.damping_time / potential.h
            if tangent is not None:
                tangent.add_stiffness_product(x[rows], (1.0 + beta) * d[rows], out[rows])
        out *= potential.scale
        out += potential.inertia * world.mass[:, None] * d
        out[world.inverse_mass == 0.0] = 0.0
        potential.project_out(out)

    def _direction(
        self,
        potential: IncrementalPotential,
        preconditioner: "RestPreconditioner | TangentPreconditioner",
        x: Array,
        g: Array,
        norm: float,
        share: float,
    ) -> int:
        """Solve for the Newton direction until the residual is ``share`` of g; returns the iterations."""
        p, r, z, d, ad, w = self.p, self.r, self.z, self.d, self.ad, potential.system.world.inverse_mass
        dot = kernels.dot
        p.fill(0.0)
        np.negative(g, out=r)
        preconditioner.apply(r, norm, w, z)
        potential.project_out(z)
        d[:] = z
        rz = float(dot(r.reshape(-1), z.reshape(-1)))
        for k in range(INNER):
            self._product(potential, x, d, ad)
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
            preconditioner.apply(r, size, w, z)
            potential.project_out(z)
            new = float(dot(r.reshape(-1), z.reshape(-1)))
            kernels.move(z.reshape(-1), d.reshape(-1), new / rz, d.reshape(-1))
            rz = new
        return INNER

    def _search(self, potential: IncrementalPotential, x: Array, norm: float) -> float | None:
        """Cut the step back until the residual falls; returns the new norm, or None."""
        step = 1.0
        for _ in range(TRIES):
            kernels.move(x.reshape(-1), self.p.reshape(-1), step, self.next.reshape(-1))
            found = potential.evaluate(self.next, self.g_next)
            if np.isfinite(found) and found <= (1.0 - 1e-4 * step) * norm:
                return found
            step *= 0.5
        return None
