"""Levels coupled by slaved nodes and transposed forces: keeps momentum, and energy without damping."""

from itertools import pairwise

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.jit import SERIAL_ROWS
from pliant.models.multires import galerkin_substeps, schwarz_substeps, tet_kernels, transfer_kernels
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.level_state import (
    ActiveNodes,
    LevelState,
    NearbyObstacles,
    StackedNodes,
    flagged,
    laid_out,
    limit,
)
from pliant.models.multires.levels import Level
from pliant.models.multires.required_mass import required_masses
from pliant.structure import mass_scaling

POOR = 0.1  # share of its level's mass below which a node is pulled along by finer ones where it can be
LEAST = 0.03  # share that every other node has (about that of one tet): extrapolated weights may leave less
STEADY = 0.9  # of a level's longest step


class Galerkin(ActiveNodes):
    r"""A tet is refined or not; what is simulated is one field over all levels.

    The tets around split nodes are. A fine tet counts by its share inside refined coarse tets (four sample
    points). A fine node is free if all its tets count in full; otherwise it is slaved to its parent tet,
    :math:`u = \sum w_i u_i`. With G the matrix of those weights, forces are :math:`G^T f`, masses the row
    sums :math:`G^T m` of the finest nodes'. So the sum of forces is zero, whatever the levels, and they are
    the gradient of an energy. A coarse node inside the refined part that a few slaves still hang on would
    have next to no mass: it is ``pulled``, takes the value of the finer tet around it and hands on to that
    what it gets. Weights of nodes outside of their tets are negative and may leave others with less mass
    than their level's step needs: neighbours lend it (and loads with it). Every level's forces act at its own
    step, as impulses; positions move, and loads act, at the finest one.
    """

    synchronous = True

    def __init__(self, hierarchy: Hierarchy, motion: LevelState, damping: float) -> None:
        self.hierarchy, self.motion, self.damping = hierarchy, motion, damping
        self.heat: Array = np.zeros(0)
        self.left_over: Array = np.zeros(3)  # nothing ever is
        self.mass: list[Array] = [level.mass.copy() for level in hierarchy.levels]
        self._lay_out()
        self.arrange([flagged(level.count) for level in hierarchy.levels])

    def _lay_out(self) -> None:
        """What the compiled loop reads, with all levels end to end; ``weight``, ``inverse`` and the buffers
        of tets' forces are views of that."""
        levels, links, nodes = self.hierarchy.levels, self.hierarchy.links, self.motion.first
        first = np.concatenate([[0], np.cumsum([len(level.tets) for level in levels])])
        spans = list(pairwise(first))
        weight, buffer = np.ones(first[-1]), np.zeros((4 * first[-1], 3))
        self.weight: list[Array] = [weight[a:b] for a, b in spans]
        self._buffers: list[Array] = [buffer[4 * a : 4 * b] for a, b in spans]
        self._first_tet, self._all_nodes = first, StackedNodes(self.hierarchy, self.mass)
        self.points = self._all_nodes.points
        self._inverse: Array = np.zeros_like(self.points)
        self.inverse = self.motion.parts(self._inverse)
        around = [level.around_first[1:] + 4 * a for level, a in zip(levels, first, strict=False)]
        self._elastic = (
            np.concatenate([level.tets + a for level, a in zip(levels, nodes, strict=False)]),
            np.concatenate([level.gradients for level in levels]),
            np.concatenate([level.volumes for level in levels]),
            weight, levels[0].operator, levels[0].lam, levels[0].mu, buffer,
            np.concatenate([np.zeros(1, np.int64), *around]),
            np.concatenate([level.around + 4 * a for level, a in zip(levels, first, strict=False)]),
        )  # fmt: skip
        none, whole = (np.zeros((levels[0].count, 4), np.int64), np.zeros((levels[0].count, 4))), []
        last = (np.zeros((levels[-1].count, 4), np.int64), np.zeros((levels[-1].count, 4)))
        whole.append(
            np.concatenate([none[0], *(link.corners + a for link, a in zip(links, nodes, strict=False))])
        )
        whole.append(np.concatenate([none[1], *(link.weights for link in links)]))
        whole.append(
            np.concatenate([*(link.down + a for link, a in zip(links, nodes[1:], strict=False)), last[0]])
        )
        whole.append(np.concatenate([*(link.down_weights for link in links), last[1]]))
        self._links = tuple(whole)

    def limits(self) -> list[float]:
        return [limit(STEADY * level.critical, self.damping) for level in self.hierarchy.levels]

    def arrange(self, split: list[BoolArray]) -> None:
        levels, links = self.hierarchy.levels, self.hierarchy.links
        count = len(levels)
        inside = np.ones(len(levels[0].tets))
        self.active, self.slaves, self.tets, self.nodes = [], [], [], []
        self.free: list[BoolArray] = []
        for k, level in enumerate(levels):
            partial = flagged(level.count)
            partial[level.tets[inside < 1.0].ravel()] = True
            touched = flagged(level.count)
            touched[level.tets[inside > 0.0].ravel()] = True
            refined = split[k][level.tets].any(axis=1) & (inside == 1.0) if k < count - 1 else None
            self.weight[k][:] = inside if refined is None else inside * ~refined
            self.free.append(~partial & touched)
            self.slaves.append(np.flatnonzero(partial & touched))
            self.tets.append(np.flatnonzero(self.weight[k] > 0.0))
            used = flagged(level.count)
            used[level.tets[self.tets[k]].ravel()] = True
            self.nodes.append(np.flatnonzero(used))
            if refined is not None:
                inside = refined[links[k].samples].mean(axis=1)
        for k in range(count - 1, 1, -1):  # what slaves hang on hangs itself, where it is not simulated
            above = np.unique(links[k - 1].corners[self.slaves[k]])
            self.slaves[k - 1] = np.union1d(self.slaves[k - 1], above[~self.free[k - 1][above]])
        self.deepest = max(k for k in range(count) if len(self.tets[k]))
        self._share_masses()
        self.active = [np.flatnonzero(self.free[k] & (self.mass[k] > 0.0)) for k in range(count)]
        self.replaced = [np.flatnonzero(self.free[k] & ~(self.mass[k] > 0.0)) for k in range(count)]
        self.hanging: list[BoolArray] = [~free for free in self.free]
        through = [
            np.unique(np.concatenate(some))
            for some in zip(self.active, self.slaves, self.pulled, self.nodes, strict=True)
        ]
        nodes = [
            laid_out(some, self.motion.first)
            for some in (self.active, self.slaves, self.pulled, self.nodes, through)
        ]
        lists = [*nodes[:3], laid_out(self.tets, self._first_tet), *nodes[3:]]
        self._lists, self.simulated = tuple(array for pair in lists for array in pair), lists[0]
        self._all_nodes.mass[:] = np.concatenate(self.mass)

    def _share_masses(self) -> None:
        levels = self.hierarchy.levels
        self._passed = [np.flatnonzero(~free) for free in self.free]  # hand what they have to parent tets
        self.pulled: list[IntArray] = [np.zeros(0, np.int64) for _ in levels]
        self._loans = [mass_scaling.NONE for _ in levels]
        mass = levels[-1].mass[:, None]
        first = self._shared(mass)
        self.pulled = [self._poor(k, first[k][:, 0]) for k in range(len(levels))]
        masses = [share[:, 0] for share in self._shared(mass)]
        self._loans = [self._lent(*each) for each in zip(levels, masses, self._needed(), strict=True)]
        self.mass = [share[:, 0] for share in self._shared(mass)]

    def _needed(self) -> list[Array]:
        """Masses that keep the steps of all levels stable: for the counted tets of each, at their corners,
        and through slaves at what these hang on."""
        levels = self.hierarchy.levels
        found: list[Array] = [np.zeros(level.count) for level in levels]
        bounds = [link.bounds for link in self.hierarchy.links]
        for k, level in enumerate(levels):
            asked = [np.zeros((each.count, 1)) for each in levels]
            asked[k][:, 0] = required_masses(level, self.tets[k], self.weight[k])
            self._hand_on(k, self.slaves, asked, bounds)
            found = [np.maximum(a, b[:, 0]) for a, b in zip(found, asked, strict=True)]
        return [free * needed for free, needed in zip(self.free, found, strict=True)]

    def _lent(self, level: Level, mass: Array, needed: Array) -> mass_scaling.Loans:
        least = np.maximum(needed, LEAST * level.mass * (mass != 0.0))
        return mass_scaling.transfers(least, mass, level.first, level.columns)

    def _poor(self, k: int, mass: Array) -> IntArray:
        """Nodes of level k to be pulled: no tet of theirs counts, and the finer tet around them is free."""
        if k == len(self.hierarchy.links):
            return np.zeros(0, np.int64)
        link, used = self.hierarchy.links[k], flagged(len(mass))
        used[self.nodes[k]] = True
        free = self.free[k + 1][link.down] & (link.down_weights >= 0.0)
        inside = (free | (link.down_weights == 0.0)).all(axis=1)
        return np.flatnonzero((mass != 0.0) & (mass < POOR * self.hierarchy.levels[k].mass) & ~used & inside)

    def _shared(self, values: Array) -> list[Array]:
        """:math:`G^T` times values (n, c) of the finest nodes, on free nodes."""
        levels = self.hierarchy.levels
        shares = [np.zeros((level.count, values.shape[1])) for level in levels]
        shares[-1][:] = values
        self._hand_on(len(levels) - 1, self._passed, shares, [link.shares for link in self.hierarchy.links])
        for share, loans in zip(shares, self._loans, strict=True):
            mass_scaling.apply_transfers(loans, share)
        return [np.where(free[:, None], share, 0.0) for free, share in zip(self.free, shares, strict=True)]

    def _hand_on(
        self, deepest: int, nodes: list[IntArray], values: list[Array], weights: list[Array] | None = None
    ) -> None:
        """Add values of ``nodes`` to their parent tets', from level ``deepest`` up, then those of pulled
        nodes to their child tets', down again: the transpose of ``impulses.hang_slaves``. weights: those of
        the links' corners, if others than for places."""
        links = self.hierarchy.links
        weights = weights or [link.weights for link in links]
        for k in range(deepest, 0, -1):
            link = links[k - 1]
            transfer_kernels.restrict(nodes[k], link.corners, weights[k - 1], values[k], values[k - 1])
        for k in range(deepest):
            if len(pulled := self.pulled[k]):
                transfer_kernels.restrict(
                    pulled, links[k].down, links[k].down_weights, values[k], values[k + 1]
                )
                values[k][pulled] = 0.0

    # ------------------------------------------------------------------------------------- motion

    def kick(self, rows: IntArray, impulses: Array) -> None:
        whole = np.zeros((self.hierarchy.levels[-1].count, 3))
        whole[rows] = impulses
        shares = self.share(whole)
        for k, nodes in enumerate(self.active):
            self.motion.v[k][nodes] += self.inverse[k][nodes] * shares[k][nodes]

    def share(self, values: Array) -> list[Array]:
        """:math:`G^T f`, the same weights as those of the masses: sums and moments stay."""
        return self._shared(values)

    def weigh(self) -> None:
        for mass, driven, inverse in zip(self.mass, self.motion.inverse, self.inverse, strict=True):
            free = mass > 0.0
            own = np.where(free, 1.0 / np.where(free, mass, 1.0), 0.0)
            inverse[:] = np.where(driven > 0.0, own[:, None], 0.0)

    def advance(self, time: float, dt: float, counts: list[int], near: NearbyObstacles) -> None:
        m, ticks = self.motion, counts[self.deepest]
        periods = np.array([max(ticks // count, 1) for count in counts])
        times = (ticks, dt / ticks, periods, self.deepest)
        outside = np.array([len(tets) >= SERIAL_ROWS for tets in self.tets])
        cursor = np.zeros(3, np.int64)
        contacts, out = near.tables(time, dt, ticks, self._all_nodes, self.deepest + 1)
        d, v, f, load, _ = m.whole
        while True:
            event = galerkin_substeps.run(
                cursor, times, outside, self.damping, self._lists, self._links, self._elastic,
                (d, v, f, load, self._inverse), contacts, self.heat,
            )  # fmt: skip
            if event == schwarz_substeps.DONE:
                break
            t, k = int(cursor[0]), int(cursor[1])
            stride = schwarz_substeps.heat_stride(counts[k])
            counted = (t // periods[k]) % stride == 0 and t < ticks
            self._level_forces(k, stride * dt / counts[k] if counted else 0.0)
        for obstacle, row in zip(near.obstacles, out, strict=True):
            obstacle.take_contacts(row)

    def _pull(self, k: int) -> None:
        if len(self.pulled[k]):
            link, m = self.hierarchy.links[k], self.motion
            fine, here = (m.d[k + 1], m.v[k + 1]), (m.d[k], m.v[k])
            transfer_kernels.interpolate_constrained(
                self.pulled[k], link.down, link.down_weights, *fine, *here
            )

    def _level_forces(self, k: int, dt: float = 0.0) -> None:
        """Forces of level k's tets: on its own nodes, and through slaves on all coarser levels."""
        m = self.motion
        if len(self.heat) and dt and self.damping:
            self._tet_forces(k, 0.0)
            free = m.f[k][self.nodes[k]]
        self._tet_forces(k, self.damping)
        if len(self.heat) and dt and self.damping:
            lost = free - m.f[k][self.nodes[k]]
            self.heat[0] += dt * float(np.sum(m.v[k][self.nodes[k]] * lost))
        for j in range(k):
            m.f[j].fill(0.0)
        self._hand_on(k, self.slaves, m.f)

    def _tet_forces(self, k: int, damping: float) -> None:
        m, level = self.motion, self.hierarchy.levels[k]
        m.f[k].fill(0.0)
        tet_kernels.tet_forces(
            self.tets[k], self.nodes[k], level, self.weight[k], m.d[k], m.v[k], damping,
            self._buffers[k], m.f[k],
        )  # fmt: skip

    def surround(self) -> None:
        self.fill()
        if self.hierarchy.links:
            self.motion.hang(len(self.hanging) - 1, self.hanging[-1])

    def fill(self) -> None:
        for k in range(self.deepest - 1, -1, -1):
            self.motion.pull(k, self.replaced[k])
            self._pull(k)
        for k in range(1, len(self.hanging) - 1):
            self.motion.hang(k, self.hanging[k])

    def reactions(self, nodes: list[IntArray]) -> None:
        m = self.motion
        total: list[Array] = [np.zeros_like(f) for f in m.f]
        for k in range(self.deepest + 1):
            self._level_forces(k)
            for j in range(k + 1):
                total[j] += np.where(self.free[j][:, None], m.f[j], 0.0)
        for f, value in zip(m.f, total, strict=True):
            f[:] = value

    def energy(self) -> tuple[float, float]:
        kinetic = elastic = 0.0
        m = self.motion
        for k, level in enumerate(self.hierarchy.levels):
            nodes = self.active[k]
            kinetic += 0.5 * float(np.sum(self.mass[k][nodes, None] * m.v[k][nodes] ** 2))
            out = np.zeros(len(self.tets[k]))
            tet_kernels.tet_energies(
                self.tets[k], level.tets, level.gradients, level.volumes, self.weight[k], level.operator,
                level.lam, level.mu, m.d[k], out,
            )  # fmt: skip
            elastic += float(out.sum())
        return kinetic, elastic
