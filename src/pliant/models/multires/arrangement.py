r"""What of a hierarchy is simulated: nodes, elements, masses, and the velocities of momenta.

The mass of the simulated nodes is lumped, :math:`D = diag(|G|^T (m \circ |G| 1))`, with absolute values
because a few weights are below zero. It is never lighter than the particles': :math:`D \ge M = G^T m G`. For
bodies that nothing holds it is corrected so that affine motions, among them all rigid ones, have exactly the
particles' momenta and energy:

.. math:: \tilde M = M + Q^T B Q, \quad B = D - M, \quad Q v = v - A a(v),

a(v) being the affine motion nearest to that of the particles. As G reproduces affine fields, :math:`\tilde M
= D - U C U^T` with :math:`U = [B A, a^T]` (n x 8), A their values at the nodes, follows from :math:`G^T m`
and :math:`G^T m X` alone, and its inverse is that of D and an 8 x 8 matrix."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.models.multires import cluster_kernels, element_kernels, level_kernels, motion_kernels
from pliant.models.multires.hierarchy import ANCHORS, Hierarchy
from pliant.models.multires.motion_kernels import Acting, Network, NodeMotion

LIGHT = 1e-12  # share of the mean mass below which nothing hangs on a node


def network_of(hierarchy: Hierarchy) -> Network:
    """The hierarchy as compiled loops want it."""
    h = hierarchy
    return Network(h.corners, h.weights, h.points, h.mesh, h.clusters, h.particles.start)


@dataclass(frozen=True)
class Prescribed:
    """Degrees of freedom of particles that are prescribed, (n, 3)."""

    flags: BoolArray

    @cached_property
    def particles(self) -> BoolArray:
        """Particles (n,) that are prescribed in some direction."""
        return np.asarray(self.flags.any(axis=1))


class Arrangement:
    """The simulated nodes for the given split flags (n,): nodes that hang on a split one are simulated.

    own (n,): flags of nodes that are degrees of freedom; active: those that something hangs on; depth (n,):
    the deepest level that a node depends on; deepest: that of all that moves freely. mass (a,) [kg]; held (a,
    3): prescribed degrees of freedom. Prescribed particles hang on the anchors of the hierarchy where they
    stay at rest, and on nothing else: they are where they have to be, whatever is simulated around them."""

    def __init__(self, hierarchy: Hierarchy, split: BoolArray, prescribed: Prescribed, beta: float) -> None:
        h = self.hierarchy = hierarchy
        self.split, self.prescribed, self.beta = split, prescribed, beta
        n = len(h.points)
        self.own: BoolArray = np.zeros(n, bool)
        self.depth: IntArray = np.zeros(n, np.int64)
        usable, tets = np.zeros(len(h.cluster_parent), bool), np.zeros(len(h.mesh.tets), bool)
        cluster_level = np.repeat(np.arange(h.count - 1), np.diff(h.cluster_first))
        pinned = prescribed.particles & ~h.anchored
        level_kernels.arrange(
            split, pinned, h.level, h.corners, h.weights, h.particles.start, h.mesh.tets, h.tet_cluster,
            h.cluster_parent, cluster_level, h.summed, self.own, self.depth, usable, tets,
        )  # fmt: skip
        moments, hung = np.zeros((n, 4)), np.zeros(n)
        begin = h.particles.start
        level_kernels.hung_masses(self.own, h.corners, h.weights, begin, h.mass, h.points, moments, hung)
        self.active: IntArray = np.flatnonzero(self.own & (hung > LIGHT * h.mass.mean()))
        self._moments: Array = moments[self.active]
        self.mass: Array = hung[self.active]
        free = self.depth[h.particles][~prescribed.flags.all(axis=1)]
        self.deepest = int(free.max(initial=0))
        self.clusters, self.tets = np.flatnonzero(usable), np.flatnonzero(tets)
        self.held = self._held()
        self.counts = np.bincount(h.level[self.active[self.active >= ANCHORS]], minlength=h.count)
        self._change = self._correction()
        self._near: IntArray = np.zeros(0, np.int64)

    def _held(self) -> BoolArray:
        h, held = self.hierarchy, np.zeros((len(self.active), 3), bool)
        particles = self.active >= h.particles.start
        held[particles] = self.prescribed.flags[self.active[particles] - h.particles.start]
        held[self.active < ANCHORS] = True
        return held

    @cached_property
    def acting(self) -> Acting:
        """What acts; positions of particles that no element needs are not known at every tick."""
        return self._acting(self._near)

    @cached_property
    def _needed(self) -> BoolArray:
        h = self.hierarchy
        needed = np.zeros(len(h.points), bool)
        needed[h.particles.start + h.mesh.tets[self.tets].ravel()] = True
        first, nodes = h.clusters.first, h.clusters.nodes
        sizes = first[self.clusters + 1] - first[self.clusters]
        start = np.repeat(first[self.clusters] - np.cumsum(sizes) + sizes, sizes)
        needed[nodes[start + np.arange(len(start))]] = True
        return needed

    def _acting(self, near: IntArray) -> Acting:
        h, needed = self.hierarchy, self._needed.copy()
        needed[h.particles.start + near] = True
        hanging = level_kernels.hanging_nodes(self.own, needed, h.corners, h.weights)
        change, _, inner = self._change
        return Acting(
            self.active, hanging, self.clusters, self.tets, 1.0 / self.mass, change, inner, self.held,
            h.piece[self.active], self.beta,
        )  # fmt: skip

    @cached_property
    def _at_anchors(self) -> IntArray:
        """Mesh tets with an anchored corner for which a cluster stands."""
        h = self.hierarchy
        some = np.logical_or.reduce(h.anchored[h.mesh.tets], axis=1)
        some[self.tets] = False
        return np.flatnonzero(some)

    def anchored_forces(self, motion: NodeMotion) -> Array:
        """Forces [N] on the anchored particles at the present state, without loads: those of elements that
        are evaluated one by one and of contacts, and of the tets that clusters stand for; what their sum and
        torque differ by from those of the clusters is distributed by mass."""
        h = self.hierarchy
        own, rows = np.zeros((len(h.mass), 3)), np.flatnonzero(h.anchored)
        element_kernels.tet_forces(self._at_anchors, h.mesh, motion.x[h.particles], own, False)
        nodes = self.acting.hanging[self.acting.hanging >= h.particles.start]
        own[nodes - h.particles.start] += motion.f[nodes] + motion.q[nodes]
        weights, found = h.weights[rows + h.particles.start], own[rows]
        missing = motion.f[:ANCHORS] - motion.load[:ANCHORS] - weights.T @ found
        gram = weights.T @ (h.mass[rows, None] * weights)
        share = np.linalg.lstsq(gram, missing, rcond=1e-10)[0]
        return np.asarray(found + h.mass[rows, None] * (weights @ share))

    def rows_of_particles(self) -> sparse.csr_array:
        """How particles hang on the active nodes, (particles, a)."""
        h = self.hierarchy
        place = np.full(len(h.points), -1)
        place[self.active] = np.arange(len(self.active))
        rows = sparse.csr_array((0, len(self.active)))
        for begin, end in zip([0, *h.first[:-1]], h.first, strict=True):
            nodes = np.arange(begin, end)
            simulated = nodes[place[nodes] >= 0]
            unit = (np.ones(len(simulated)), (simulated - begin, place[simulated]))
            found = sparse.csr_array(unit, shape=(end - begin, len(self.active)))
            hung = np.flatnonzero(~self.own[begin:end])
            if len(hung):
                weights = (
                    h.weights[begin + hung].ravel(),
                    (np.repeat(hung, 4), h.corners[begin + hung].ravel()),
                )
                found = found + sparse.csr_array(weights, shape=(end - begin, begin)) @ rows
            rows = sparse.csr_array(sparse.vstack([rows, found]))
        return sparse.csr_array(rows[h.particles])

    def with_particles(self, near: IntArray) -> Acting:
        """What acts, with the positions of the particles ``near`` known at every tick."""
        if not np.array_equal(near, self._near):
            self._near, self.acting = near, self._acting(near)
        return self.acting

    def _correction(self) -> tuple[Array, Array, Array]:
        """Per piece of the body: U (a, 8), C (8, 8) and ``W = (C^-1 - U^T D^-1 U)^-1``; zeros for pieces that
        something holds, whose mass stays lumped."""
        h, d = self.hierarchy, self.mass
        u, c = np.zeros((len(self.active), 8)), np.zeros((h.pieces, 8, 8))
        inner = np.zeros((h.pieces, 8, 8))
        node_piece = h.piece[self.active]
        held = self.prescribed.particles
        for e in range(h.pieces):
            rows, some = np.flatnonzero(node_piece == e), h.particle_piece == e
            if len(rows) < 5 or held[some].any():
                continue
            mass, x = h.mass[some], h.points[h.particles][some]
            centre = mass @ x / mass.sum()
            size = np.sqrt((mass[:, None] * (x - centre) ** 2).sum() / mass.sum())
            affine = np.column_stack([np.ones(len(rows)), (h.points[self.active[rows]] - centre) / size])
            first = self._moments[rows, :1]
            own = np.column_stack([first, (self._moments[rows, 1:] - first * centre) / size])  # G^T m A_f
            fields = np.column_stack([np.ones(len(x)), (x - centre) / size])
            gram = fields.T @ (mass[:, None] * fields)
            heavy = d[rows, None] * affine - own  # B A
            u[rows] = np.column_stack([heavy, np.linalg.solve(gram, own.T).T])
            c[e, :4, 4:] = c[e, 4:, :4] = np.eye(4)
            c[e, 4:, 4:] = -affine.T @ heavy
            found = np.linalg.inv(np.linalg.inv(c[e]) - u[rows].T @ (u[rows] / d[rows, None]))
            inner[e] = 0.5 * (found + found.T)
        return u, c, inner

    # ------------------------------------------------------------------------------------- quantities

    def momenta_of(self, v: Array) -> Array:
        """``M~ v`` of velocities of the active nodes, (a, 3)."""
        out, u, piece = self.mass[:, None] * v, self._change[0], self.acting.piece
        for e in range(len(self._change[1])):
            rows = piece == e
            out[rows] -= u[rows] @ (self._change[1][e] @ (u[rows].T @ v[rows]))
        return out

    def kinetic_energy(self, motion: NodeMotion) -> float:
        """``p . v / 2`` [J]; of prescribed degrees of freedom, that of their masses."""
        own = self.active
        free = np.where(self.held, self.mass[:, None] * motion.v[own], motion.p[own])
        return 0.5 * float(np.sum(free * motion.v[own]))

    def led_energy(self, motion: NodeMotion) -> float:
        """Kinetic energy [J] of prescribed degrees of freedom."""
        return 0.5 * float(np.sum((self.mass[:, None] * motion.v[self.active] ** 2)[self.held]))

    def elastic_energy(self, motion: NodeMotion) -> float:
        """Elastic energy [J]; x of hanging nodes is up to date."""
        h = self.hierarchy
        found = cluster_kernels.cluster_energy(self.clusters, h.clusters, h.mesh.law, h.points, motion.x)
        return float(found + element_kernels.tet_energy(self.tets, h.mesh, motion.x[h.particles]))

    def scheme_energy(self, motion: NodeMotion, dt: float) -> float:
        r"""Leapfrog's own, :math:`-dt^2/8\, F \cdot \tilde M^{-1} F` [J], without the constant that loads add
        by accelerating pieces that nothing holds."""
        spare = motion._replace(p=motion.f, v=np.zeros_like(motion.v), led=np.zeros_like(motion.v))
        motion_kernels.velocities(self.acting, spare)
        own = self.active
        power = float(np.sum(np.where(self.held, 0.0, motion.f[own] * spare.v[own])))
        pieces = self.acting.piece
        for e in sorted(set(np.unique(pieces).tolist()) - set(pieces[self.held.any(axis=1)].tolist())):
            rows = pieces == e
            power -= float(np.sum(motion.load[own[rows]].sum(axis=0) ** 2) / self.mass[rows].sum())
        return -0.125 * dt * dt * power

    def stable_step(self) -> float:
        """Largest stable step [s]: that of the deepest level, which contains all that is simulated."""
        critical = self.hierarchy.critical_step(self.deepest, self.prescribed.flags)
        return float(np.sqrt(self.beta**2 + critical**2) - self.beta)
