"""Newton's method on positions and constraint multipliers together."""

from typing import Any

import numpy as np

from pliant.core.typing import Array
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.incremental_potential import IncrementalPotential, Iterate, SolveResult
from pliant.integrators.implicit.lbfgs import Tolerance
from pliant.integrators.implicit.preconditioners.rest import RestPreconditioner
from pliant.integrators.implicit.preconditioners.tangent import TangentPreconditioner
from pliant.interfaces import Damped, ElasticConstraints

INNER = 60  # most conjugate-gradient iterations of a Newton step, of bodies in contact
LOOSE = 1e-3  # how far they solve it


class ConstraintNewton:
    r"""Solves :math:`M (x - \tilde x) = h^2 (f + J(x)^T \lambda)`, :math:`C(x) + \alpha \lambda = 0`, with
    elastic energies :math:`\tfrac12 C^T \alpha^{-1} C` as constraints C whose compliance :math:`\alpha` is
    the inverse of the elastic stiffness.

    Each iteration solves the linearised equations for x and the multipliers together by a sparse
    factorisation, in which the multipliers are eliminated:

    .. math:: \bigl(M + h^2 (J^T \alpha^{-1} J + \lambda : \nabla^2 C)\bigr) dx = -g(x), \quad
              \lambda \leftarrow -\alpha^{-1} (C + J dx).

    The multipliers are those of the linearised constraints, so a rotation of a stiff body within a step
    leaves no spurious stress in the matrix, and the number of iterations does not grow with the stiffness. It
    ends where the residual g of the step itself meets the tolerance: a step of backward Euler.
    """

    def solve(
        self,
        potential: IncrementalPotential,
        preconditioner: "RestPreconditioner | TangentPreconditioner",
        first: Iterate,
        goal: Tolerance,
        most: int,
    ) -> SolveResult:
        """As ``Lbfgs.solve``."""
        bodies = potential.system.world.bodies
        x, g, norm = first.x.copy(), first.g.copy(), first.norm
        if not np.isfinite(norm):
            return SolveResult(first, 0, np.inf, False)
        parts = [(part.rows, self._constraints(part)) for part in bodies]
        still = np.zeros_like(x)
        multipliers = [own.multipliers(x[rows], still[rows]) for rows, own in parts]
        iterations = 0
        while iterations < most and (iterations == 0 or not goal.met(norm, potential)):
            if norm <= goal.floor:
                break
            iterations += 1
            matrix = self._matrix(potential, preconditioner, x, parts, multipliers)
            dx = self._direction(potential, matrix, g)
            multipliers = [own.multipliers(x[rows], dx[rows]) for rows, own in parts]
            x = x + dx
            norm = potential.evaluate(x, g)
            if not np.isfinite(norm):
                break
        return goal.result(Iterate(x, g, norm), iterations, potential, False)

    @staticmethod
    def _constraints(part: Any) -> ElasticConstraints:
        own = part.mechanics.offer(ElasticConstraints)
        assert own is not None
        found: ElasticConstraints = own
        return found

    def _matrix(
        self,
        potential: IncrementalPotential,
        preconditioner: "RestPreconditioner | TangentPreconditioner",
        x: Array,
        parts: list[tuple[slice, ElasticConstraints]],
        multipliers: list[Array],
    ) -> Any:
        """The matrix of the linearised equations, with rows of driven degrees of freedom cleared."""
        from scipy.sparse import block_diag, diags_array

        world, h = potential.system.world, potential.h
        own = []
        for body, (rows, constraints), forces in zip(world.bodies, parts, multipliers, strict=True):
            damped = body.mechanics.offer(Damped)
            beta = 0.0 if damped is None else damped.damping_time
            own.append((h * h + h * beta) * constraints.constraint_stiffness(x[rows], forces))
        rates = preconditioner.damping_rates if isinstance(preconditioner, RestPreconditioner) else 0.0
        mass = np.repeat(world.mass * (1.0 + h * rates), 3)
        free = (world.inverse_mass > 0.0).reshape(-1)
        keep = diags_array(free.astype(float))
        return (keep @ block_diag(own, format="csr") @ keep + diags_array(mass)).tocsc()

    def _direction(self, potential: IncrementalPotential, matrix: Any, g: Array) -> Array:
        """Solve for the change of positions: exactly, or, where contacts hold particles, by conjugate
        gradients on what they leave free."""
        from scipy.sparse.linalg import splu

        factor = splu(
            matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )

        def solved(r: Array) -> Array:
            out: Array = factor.solve(-r.reshape(-1)).reshape(-1, 3)
            potential.project_out(out)
            return out

        p = solved(g)
        if potential.contact is None or not len(potential.contact.rows):
            return p
        p = np.zeros_like(g)
        r = g.copy()
        z = solved(r)
        d, rz, start = z.copy(), float(np.sum(r * z)), float(kernels.dot(g.reshape(-1), g.reshape(-1)))
        for _ in range(INNER):
            product = (matrix @ d.reshape(-1)).reshape(-1, 3)
            potential.project_out(product)
            step = -rz / float(np.sum(d * product))
            p += step * d
            r += step * product
            if float(np.sum(r * r)) <= LOOSE**2 * start:
                break
            z = solved(r)
            new = float(np.sum(r * z))
            d = z + new / rz * d
            rz = new
        return p
