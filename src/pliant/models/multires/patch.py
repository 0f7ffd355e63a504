"""The part of a body around some of its simulated nodes, whose positions are found for given forces."""

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.models.multires import level_kernels, patch_kernels
from pliant.models.multires.arrangement import Arrangement, network_of
from pliant.models.multires.element_kernels import DEBUNNE, LINEAR

RINGS = 2  # elements around nodes that change, through which what these do decays
NEWTON, ITERATIONS, RESIDUAL = 2, 60, 1e-3
INEXACT, ENOUGH = 0.1, 0.2  # residuals of one step of Newton's method, and of all: energies err by the square


class Patch:
    """``free`` (r,): the simulated nodes of an arrangement within so many rings of elements around flagged
    ones (n,); the elements that hold them, and what hangs on them."""

    def __init__(self, arrangement: Arrangement, flags: BoolArray, rings: int = RINGS) -> None:
        h = self.hierarchy = arrangement.hierarchy
        self.arrangement, self.network = arrangement, network_of(h)
        own, active = arrangement.own, np.zeros(len(flags), bool)
        active[arrangement.active] = True
        flags = flags.copy()
        patch_kernels.hand_flags_up(own, h.corners, h.weights, flags)
        flags &= active
        for _ in range(rings):
            elements = elements_of(arrangement, flags, own)
            flags = nodes_of(arrangement, *elements)
            patch_kernels.hand_flags_up(own, h.corners, h.weights, flags)
            flags &= active
        rows = np.flatnonzero(flags[arrangement.active])
        self.free, self.held = arrangement.active[rows], arrangement.held[rows]
        self.flags = flags
        self.clusters, self.tets = elements_of(arrangement, flags, own)
        needed = nodes_of(arrangement, self.clusters, self.tets)
        self.hanging: IntArray = level_kernels.hanging_nodes(own, needed, h.corners, h.weights)
        self.used = np.flatnonzero(needed)  # hanging_nodes has flagged what these hang on too

    def target(self, before: Arrangement, x: Array) -> Array:
        """Elastic forces [N] (r, 3) on the free nodes, of the field x of another arrangement."""
        h, own = self.hierarchy, self.arrangement.own
        clusters, tets = elements_of(before, self.flags, own)
        needed = nodes_of(before, clusters, tets)
        hanging = level_kernels.hanging_nodes(own, needed, h.corners, h.weights)
        out = np.zeros_like(x)
        used = np.flatnonzero(needed)
        patch_kernels.patch_forces(self.network, hanging, clusters, tets, used, x, out)
        return np.asarray(out[self.free])

    def hang(self, x: Array) -> None:
        """Positions of what hangs on the free nodes."""
        patch_kernels.hang_listed(self.hanging, self.hierarchy.corners, self.hierarchy.weights, x)

    def find_positions(self, x: Array, target: Array) -> None:
        """Move the free nodes until the elastic forces on them are the ``target``, by Newton's method."""
        out, law = np.zeros_like(x), self.hierarchy.mesh.law
        elements = (self.hanging, self.clusters, self.tets, self.used)
        share = RESIDUAL if law in (LINEAR, DEBUNNE) else INEXACT
        goal = RESIDUAL * max(float(np.abs(target).max(initial=0.0)), 1e-30)
        self.hang(x)
        for _ in range(NEWTON):
            patch_kernels.patch_forces(self.network, *elements, x, out)
            off = np.where(self.held, 0.0, out[self.free] - target)
            size = float(np.abs(off).max(initial=0.0))
            if size <= goal:
                break
            goal = max(goal, ENOUGH * size)
            x[self.free] += patch_kernels.patch_solve(
                self.network, self.free, self.held, *elements, x, off, ITERATIONS, share
            )
            self.hang(x)
            if law in (LINEAR, DEBUNNE):
                break

    def product(self, x: Array, u: Array) -> Array:
        """``G^T K G u`` of displacements of the free nodes, (r, 3)."""
        found = np.empty_like(u)
        elements = (self.hanging, self.clusters, self.tets, self.used)
        work = (np.zeros_like(x), np.zeros_like(x), found)
        patch_kernels.patch_product(self.network, self.free, self.held, *elements, x, u, *work)
        return found


def elements_of(arrangement: Arrangement, flags: BoolArray, own: BoolArray) -> tuple[IntArray, IntArray]:
    """Clusters and mesh tets of an arrangement that flagged nodes (n,) move, where ``own`` are simulated."""
    h, reached = arrangement.hierarchy, flags.copy()
    patch_kernels.hand_flags_down(own, h.corners, h.weights, reached)
    c, mesh = h.clusters, h.mesh
    clusters = arrangement.clusters[
        patch_kernels.clusters_at(reached, arrangement.clusters, c.first, c.nodes)
    ]
    return clusters, arrangement.tets[
        patch_kernels.tets_at(reached, arrangement.tets, mesh.tets, h.particles.start)
    ]


def nodes_of(arrangement: Arrangement, clusters: IntArray, tets: IntArray) -> BoolArray:
    """Flags (n,) of the nodes of elements."""
    h = arrangement.hierarchy
    c, flags = h.clusters, np.zeros(len(h.points), bool)
    patch_kernels.flag_nodes_of(clusters, c.first, c.nodes, tets, h.mesh.tets, h.particles.start, flags)
    return flags
