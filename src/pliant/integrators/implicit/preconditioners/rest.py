"""The rest-shape preconditioner: what quasi-Newton iterations start from."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.preconditioners.banded_cholesky import (
    BandedCholesky,
    band_width,
    best_order,
)
from pliant.integrators.implicit.preconditioners.nodal_rotations import NodalRotations, SingleAxisRotations
from pliant.integrators.implicit.preconditioners.smoothed_aggregation import SmoothedAggregation
from pliant.integrators.implicit.preconditioners.stiffness import (
    longest_axis_order,
    neighbour_graph,
    rest_stiffness,
)
from pliant.interfaces import Damped

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from pliant.state.world import World

BAND_BYTES = 32e6  # up to this size of its factor, a band Cholesky; above, two-level aggregation


class RestSystem:
    """Rest stiffness and neighbours of all bodies of a World, for one version of its topology."""

    def __init__(self, world: "World") -> None:
        from scipy.sparse import block_diag, csr_array

        graphs = [neighbour_graph(part) for part in world.bodies]
        own = [rest_stiffness(part, graph) for part, graph in zip(world.bodies, graphs, strict=True)]
        self.version, self.rest = world.topology_version, world.rest
        self.graph: csr_array = block_diag(graphs, format="csr")
        self.parts = own
        self.stiffness: csr_array = block_diag(own, format="csr")
        self.diagonal = np.abs(self.stiffness.diagonal())
        blocks = self.stiffness.tobsr((3, 3))  # cells of lattices go on where connections are cut
        pattern = np.ones(len(blocks.indices)), blocks.indices, blocks.indptr
        self.coupled = csr_array(pattern, shape=self.graph.shape)

    def matrix(self, world: "World", h: float, free: BoolArray, damping_rates: Array) -> "csr_array":
        """``M (1 + h c) + sum (h^2 + h beta) K0``, rows and columns of driven degrees of freedom cleared.

        beta [s] is each body's stiffness damping, c = ``damping_rates`` [1/s] that of actions, (n,). For
        h = inf the mass is a millionth of a millionth of the stiffness: enough to make the matrix of a
        floating body regular.
        """
        from scipy.sparse import block_diag, diags_array

        mass = np.repeat(world.mass, 3)
        if np.isinf(h):
            own = self.parts
            mass = mass * 1e-12 * float(np.median(self.diagonal / mass))
        else:
            damped = [part.mechanics.offer(Damped) for part in world.bodies]
            betas = [0.0 if each is None else each.damping_time for each in damped]
            own = [(h * h + h * beta) * k for k, beta in zip(self.parts, betas, strict=True)]
            mass = mass * np.repeat(1.0 + h * damping_rates, 3)
        keep = diags_array(free.ravel().astype(float))
        held = np.where(free.ravel(), mass, 1.0)
        found: csr_array = (keep @ block_diag(own, format="csr") @ keep + diags_array(held)).tocsr()
        return found


class RestPreconditioner:
    r"""Applies :math:`R\,(M + h^2 K_0)^{-1} R^T` with nodal rotations R: a solve in the rest shape.

    Set up once for a step and a set of driven particles, in float32 (float64 for h = inf, where the softest
    mode would drown in rounding). Warping it by the rotations keeps it good at any deflection.
    """

    refresh_interval = 15  # iterations after which the rotations are updated

    def __init__(self, rest: RestSystem, world: "World", h: float, damping_rates: Array) -> None:
        self.h, self.damping_rates = h, damping_rates
        self.free: BoolArray = world.inverse_mass > 0.0
        driven = np.count_nonzero(~self.free, axis=1)
        self.rotations = NodalRotations(rest.graph, rest.rest, driven > 1)
        one_axis = np.flatnonzero(driven == 1)
        self._single_axis = SingleAxisRotations(one_axis, np.argmin(self.free[one_axis], axis=1))
        self._rotation = self.rotations.values
        matrix = rest.matrix(world, h, self.free, damping_rates)
        self.unit = float(np.mean(matrix.diagonal()[self.free.ravel()])) if self.free.any() else 1.0
        matrix.data *= 1.0 / self.unit
        order, width = best_order(rest.graph, [longest_axis_order(rest.rest)])
        width = max(width, band_width(rest.coupled, order))
        precise = np.isinf(h)
        if 3 * world.count * (3 * width + 2) * 8.0 <= BAND_BYTES:
            rows = (3 * order[:, None] + np.arange(3)).ravel()
            band = BandedCholesky(matrix[rows][:, rows], 3 * width + 2, precise)
            self.factor: BandedCholesky | SmoothedAggregation = band
            self.place: IntArray = np.empty(world.count, np.int64)
            self.place[order] = band.width + 3 * np.arange(world.count)
        else:
            cycle = SmoothedAggregation(matrix, rest.graph, rest.rest, self.free, order)
            self.factor, self.place = cycle, cycle.place

    def fits(self, world: "World", h: float, damping_rates: Array) -> bool:
        """Whether it was set up for this step, damping and set of driven degrees of freedom."""
        same = self.h == h and np.array_equal(self.damping_rates, damping_rates)
        return same and np.array_equal(self.free, world.inverse_mass > 0.0)

    def update(self, x: Array) -> None:
        """Take the nodal rotations from positions ``x``: of particles with one driven axis, that about it."""
        self.rotations.update(x)
        self._single_axis.straighten(self._rotation)

    def rotations_at(self, x: Array) -> Array:
        """The nodal rotations (n, 3, 3) at positions ``x``, which need not be those of the last update."""
        out = np.empty_like(self._rotation)
        self.rotations.write(x, out)
        self._single_axis.straighten(out)
        return out

    def apply(self, g: Array, size: float, w: Array, out: Array) -> None:
        """``out = R A^-1 R^T g`` on free degrees of freedom; ``size`` is about \\|g\\|, to stay in range."""
        factor = self.factor
        kernels.rotate_to_rest(g, self._rotation, self.place, 1.0 / size, factor.vector)
        factor.solve()
        kernels.rotate_from_rest(factor.vector, self._rotation, self.place, size / self.unit, w, out)
