"""The rest-shape operator: what quasi-Newton iterations start from."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.banded_cholesky import BandedCholesky, best_order
from pliant.integrators.implicit.rest_stiffness import longest_axis_order, neighbour_graph, rest_stiffness
from pliant.integrators.implicit.rotations import NodalRotations, SingleAxisRotations

if TYPE_CHECKING:
    from pliant.state.world import World

BAND_BYTES = 32e6  # up to this size of its factor, a band Cholesky; above, two-level aggregation


class RestSystem:
    """Rest stiffness and neighbours of all bodies of a World, for one version of its topology."""

    def __init__(self, world: "World") -> None:
        from scipy.sparse import block_diag

        graphs = [neighbour_graph(part) for part in world.bodies]
        own = [rest_stiffness(part, graph) for part, graph in zip(world.bodies, graphs, strict=True)]
        self.version, self.rest = world.topology_version, world.rest
        self.graph: Any = block_diag(graphs, format="csr")
        self.parts = own
        self.stiffness: Any = block_diag(own, format="csr")
        self.diagonal = np.abs(self.stiffness.diagonal())

    def matrix(self, world: "World", h: float, free: BoolArray, slowing: Array) -> Any:
        """``M (1 + h c) + sum (h^2 + h beta) K0``, rows and columns of driven degrees of freedom cleared.

        beta [s] is each body's stiffness damping, c = ``slowing`` [1/s] that of actions, (n,). For
        h = inf the mass is a millionth of a millionth of the stiffness: enough to make the matrix of a
        floating body regular.
        """
        from scipy.sparse import block_diag, diags

        mass = np.repeat(world.mass, 3)
        if np.isinf(h):
            own: list[Any] = self.parts
            mass = mass * 1e-12 * float(np.median(self.diagonal / mass))
        else:
            betas = [getattr(p.mechanics, "damping_time", 0.0) for p in world.bodies]
            own = [(h * h + h * beta) * k for k, beta in zip(self.parts, betas, strict=True)]
            mass = mass * np.repeat(1.0 + h * slowing, 3)
        keep = diags(free.ravel().astype(float))
        held = np.where(free.ravel(), mass, 1.0)
        return (keep @ block_diag(own, format="csr") @ keep + diags(held)).tocsr()


class RestPreconditioner:
    r"""Applies :math:`R\,(M + h^2 K_0)^{-1} R^T` with nodal rotations R: a solve in the rest shape.

    Set up once for a step and a set of driven particles, in float32 (float64 for h = inf, where the softest
    mode would drown in rounding). Warping it by the rotations keeps it good at any deflection.
    """

    again = 15  # iterations after which the rotations are taken anew

    def __init__(self, shape: RestSystem, world: "World", h: float, slowing: Array) -> None:
        self.shape, self.h, self.slowing = shape, h, slowing
        self.free: BoolArray = world.inverse_mass > 0.0
        driven = np.count_nonzero(~self.free, axis=1)
        self.rotations = NodalRotations(shape.graph, shape.rest, driven > 1)
        hinged = np.flatnonzero(driven == 1)
        self._hinges = SingleAxisRotations(hinged, np.argmin(self.free[hinged], axis=1))
        self.turns = self.rotations.values
        matrix = shape.matrix(world, h, self.free, slowing)
        self.unit = float(np.mean(matrix.diagonal()[self.free.ravel()])) if self.free.any() else 1.0
        matrix = matrix / self.unit
        order, width = best_order(shape.graph, [longest_axis_order(shape.rest)])
        precise = np.isinf(h)
        if 3 * world.count * (3 * width + 2) * 8.0 <= BAND_BYTES:
            rows = (3 * order[:, None] + np.arange(3)).ravel()
            self.factor: Any = BandedCholesky(matrix[rows][:, rows], 3 * width + 2, precise)
            self.place: IntArray = np.empty(world.count, np.int64)
            self.place[order] = self.factor.width + 3 * np.arange(world.count)
        else:
            from pliant.integrators.implicit.aggregation import SmoothedAggregation

            self.factor = SmoothedAggregation(matrix, shape, self.free, order)
            self.place = self.factor.place

    def fits(self, world: "World", h: float, slowing: Array) -> bool:
        """Whether it was set up for this step, damping and set of driven degrees of freedom."""
        same = self.h == h and np.array_equal(self.slowing, slowing)
        return same and np.array_equal(self.free, world.inverse_mass > 0.0)

    def turn(self, x: Array) -> None:
        """Take the nodal rotations from positions ``x``: of particles with one driven axis, that about it."""
        self.rotations.update(x)
        self._hinges.straighten(self.turns)

    def apply(self, g: Array, size: float, w: Array, out: Array) -> None:
        """``out = R A^-1 R^T g`` on free degrees of freedom; ``size`` is about \\|g\\|, to stay in range."""
        factor = self.factor
        kernels.turn_back(g, self.turns, self.place, 1.0 / size, factor.vector)
        factor.solve()
        kernels.turn_forth(factor.vector, self.turns, self.place, size / self.unit, w, out)
