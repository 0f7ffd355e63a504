"""The tangent preconditioner of small worlds, for equilibria far from the rest shape."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray
from pliant.integrators.implicit.preconditioners.banded_cholesky import BandedCholesky, best_order
from pliant.integrators.implicit.preconditioners.rest import BAND_BYTES, RestSystem
from pliant.integrators.implicit.preconditioners.stiffness import differenced_stiffness, longest_axis_order

if TYPE_CHECKING:
    from pliant.state.world import World


class TangentPreconditioner:
    r"""Applies :math:`K(x)^{-1}`, the tangent stiffness of the bodies at the last ``update``.

    The warped rest preconditioner is poor where rotations differ a lot from particle to particle: a slender
    beam bent to a circle. Then Newton's method is worth its matrix, which is made by differences of forces
    for any model; forces of actions are left to the iterations. Where it is not positive definite a part of
    its diagonal is added (``BandedCholesky``), so its directions always descend.
    """

    refresh_interval = 6  # iterations after which the tangent is taken at the present x

    def __init__(self, rest: RestSystem, world: "World") -> None:
        self.rest, self.world = rest, world
        self.free: BoolArray = world.inverse_mass > 0.0
        self.order, self.width = best_order(rest.graph, [longest_axis_order(rest.rest)])
        self.graphs = [rest.graph[part.rows][:, part.rows] for part in world.bodies]

    @property
    def small(self) -> bool:
        """Whether its factor is of a size at which making it again and again is quick."""
        return 3 * self.world.count * (3 * self.width + 2) * 8.0 <= BAND_BYTES

    def update(self, x: Array) -> None:
        """Take the tangent at ``x``."""
        from scipy.sparse import block_diag, diags_array

        pairs = zip(self.world.bodies, self.graphs, strict=True)
        own = [differenced_stiffness(part, graph, x[part.rows]) for part, graph in pairs]
        free = self.free.ravel()
        keep = diags_array(free.astype(float))
        self.unit = float(np.mean(self.rest.diagonal[free])) if free.any() else 1.0
        held = diags_array(np.where(free, 1e-12 * self.unit, self.unit))
        matrix = (keep @ block_diag(own, format="csr") @ keep + held).tocsr() / self.unit
        rows = (3 * self.order[:, None] + np.arange(3)).ravel()
        self.factor = BandedCholesky(matrix[rows][:, rows], 3 * self.width + 2, precise=True)
        self.rows = rows

    def rotations_at(self, x: Array) -> Array:
        """None: the tangent is taken where the body is."""
        return np.tile(np.eye(3), (len(x), 1, 1))

    def apply(self, g: Array, size: float, w: Array, out: Array) -> None:
        """``out = K^-1 g`` on free degrees of freedom."""
        factor = self.factor
        window = slice(factor.width, factor.width + factor.size)
        factor.vector[window] = np.where(w > 0.0, g, 0.0).reshape(-1)[self.rows]
        factor.solve()
        out.reshape(-1)[self.rows] = factor.vector[window] / self.unit
        out[w == 0.0] = 0.0
