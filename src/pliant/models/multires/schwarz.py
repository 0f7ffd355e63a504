"""Levels coupled by ghosts that interpolate in space and time: for bodies that are held."""

import numpy as np

from pliant.models.multires import kernels
from pliant.models.multires.levels import COROTATIONAL, Hierarchy, Link, Rows
from pliant.models.multires.motion import Contacts, Motion, flagged, limit
from pliant.typing import Array, BoolArray, IntArray

STIFFNESS_DAMPING = 0.25  # of a level's critical step


class Schwarz:
    r"""Each level is simulated where its nodes are active and borrows the values around them.

    A fine ghost takes the coarse field at both ends of the coarse step, :math:`u_0 + \theta (u_1 - u_0)` at
    its own sub-step's start, through quadratic interpolation. Coarse nodes that are replaced by finer ones
    take the fine field at the start of their step and move on with its velocity. Stiffness damping of a
    quarter of each level's critical step keeps it stable.

    Differs from [DebunneDesbrunCaniBarr2000]_ 3.2 and 4.3, where fine ghosts run a coarse step ahead
    (``printed`` keeps that, without damping and with linear ghosts): its energy grows without bound.
    """

    def __init__(self, hierarchy: Hierarchy, motion: Motion, damping: float, printed: bool) -> None:
        self.hierarchy, self.motion, self.printed = hierarchy, motion, printed
        share = 0.0 if printed else STIFFNESS_DAMPING
        self.beta = [damping + share * level.critical for level in hierarchy.levels]
        self.heat = 0.0
        self._buffers: list[Array] = [np.zeros((0, 3)) for _ in hierarchy.levels]
        self._push = [_linear(link) if printed else link.push for link in hierarchy.links]
        self._ones = [np.ones(len(level.tets)) for level in hierarchy.levels]
        self.mass = [level.mass for level in hierarchy.levels]
        self.weigh()
        self.arrange([flagged(level.count) for level in hierarchy.levels])

    def weigh(self) -> None:
        self.inverse = self.motion.inverse

    def limits(self) -> list[float]:
        levels = self.hierarchy.levels
        return [limit(level.critical, beta) for level, beta in zip(levels, self.beta, strict=True)]

    def arrange(self, split: list[BoolArray]) -> None:
        levels, links = self.hierarchy.levels, self.hierarchy.links
        count = len(levels)
        exists = [np.ones(levels[0].count, bool)]
        for k in range(1, count):
            exists.append(split[k - 1][links[k - 1].parent])
        self.exists = exists
        self.active = [np.flatnonzero(exists[k] & ~split[k]) for k in range(count)]
        self.replaced = [np.flatnonzero(exists[k] & split[k]) for k in range(count)]
        self.absent = [np.flatnonzero(~exists[k]) for k in range(count)]
        self.ghosts: list[IntArray] = [np.zeros(0, np.int64)] * count
        needed = flagged(0)
        for k in range(count - 1, 0, -1):
            flags = flagged(levels[k].count)
            if needed.size:
                flags |= needed
            kernels.mark_rows(self.active[k], levels[k].first, levels[k].columns, flags)
            pull = links[k - 1].pull
            kernels.mark_rows(self.replaced[k - 1], pull.first, pull.columns, flags)
            self.ghosts[k] = np.flatnonzero(flags & ~exists[k])
            needed = flagged(levels[k - 1].count)
            push = self._push[k - 1]
            kernels.mark_rows(self.ghosts[k], push.first, push.columns, needed)
        self.tets = []
        for k, level in enumerate(levels):
            flags = flagged(len(level.tets))
            kernels.mark_tets(self.active[k], level.around_first, level.around, flags)
            self.tets.append(np.flatnonzero(flags))
            if level.operator == COROTATIONAL and not len(self._buffers[k]):
                self._buffers[k] = np.zeros((4 * len(level.tets), 3))
        self.deepest = max((k for k in range(count) if len(self.active[k])), default=0)

    # -------------------------------------------------------------------------------------- loads

    def share(self, values: Array) -> list[Array]:
        """Transposed interpolation to and fro between levels until all has come to rest on active nodes.

        Every hand-over keeps the sum and the moment. Masses of active nodes at borders are not shared out in
        this way, so that what is proportional to mass is taken as the acceleration that it is.
        """
        levels = self.hierarchy.levels
        mean = values.sum(axis=0) / self.mass[-1].sum()
        shares: list[Array] = [mass[:, None] * mean for mass in self.mass]
        rest = values - shares[-1]
        if np.abs(rest).max(initial=0.0) <= 1e-12 * np.abs(values).max(initial=0.0):
            return shares
        arriving = [np.zeros((level.count, 3)) for level in levels]
        arriving[-1] = rest
        for _ in range(4 * len(levels)):
            arriving = self._settle(arriving, shares)
            if not any(a.any() for a in arriving):
                return shares
        left, total = sum(a.sum(axis=0) for a in arriving), sum(self.mass[k][n].sum() for k, n in self._all())
        for k, nodes in self._all():
            shares[k][nodes] += self.mass[k][nodes, None] / total * left
        return shares

    def _all(self) -> list[tuple[int, IntArray]]:
        return list(enumerate(self.active))

    def _settle(self, arriving: list[Array], shares: list[Array]) -> list[Array]:
        """Active nodes keep, absent ones hand to parent tets, replaced ones to child tets (returned)."""
        links = self.hierarchy.links
        down: list[Array] = [np.zeros_like(a) for a in arriving]
        for k in range(len(arriving) - 1, -1, -1):
            here = arriving[k]
            shares[k][self.active[k]] += here[self.active[k]]
            if k:
                link = links[k - 1]
                kernels.hand_up(self.absent[k], link.corners, link.weights, here, arriving[k - 1])
            if k < len(links):
                link = links[k]
                kernels.hand_up(self.replaced[k], link.down, link.down_weights, here, down[k + 1])
        return down

    # ------------------------------------------------------------------------------------- motion

    def advance(self, time: float, dt: float, counts: list[int], contacts: Contacts) -> None:
        self.motion.shift(self, [-0.5 * dt / count for count in counts])
        self._refresh_ghosts()
        for s in range(counts[0]):
            self._step(0, time + s * dt / counts[0], dt / counts[0], counts, contacts)
        self.motion.shift(self, [0.5 * dt / count for count in counts])

    def _refresh_ghosts(self) -> None:
        for k in range(1, self.deepest + 1):
            values = self._interpolated(k)
            self._set_ghosts(k, values, values, 0.0)

    def _interpolated(self, k: int) -> tuple[Array, Array]:
        """Displacements and velocities that the coarser level's field gives to the ghosts of level k."""
        rows, nodes = self._push[k - 1], self.ghosts[k]
        d, v = np.empty((len(nodes), 3)), np.empty((len(nodes), 3))
        kernels.interpolate(nodes, rows.first, rows.columns, rows.weights, self.motion.d[k - 1], d)
        kernels.interpolate(nodes, rows.first, rows.columns, rows.weights, self.motion.v[k - 1], v)
        return d, v

    def _set_ghosts(
        self, k: int, before: tuple[Array, Array], after: tuple[Array, Array], theta: float
    ) -> None:
        kernels.blend(self.ghosts[k], before[0], after[0], theta, self.motion.d[k])
        kernels.blend(self.ghosts[k], before[1], after[1], theta, self.motion.v[k])

    def _step(self, k: int, time: float, dt: float, counts: list[int], contacts: Contacts) -> None:
        """One step of level k, and those of the finer levels within it."""
        m, below = self.motion, k < self.deepest
        if below:
            m.pull(k, self.replaced[k])
        self._forces(k)
        before = self._interpolated(k + 1) if below else None
        nodes = self.active[k]
        kernels.kick_drift(nodes, m.d[k], m.v[k], m.f[k], m.load[k], m.inverse[k], dt, dt)
        if below and not self.printed:
            kernels.carry(self.replaced[k], m.d[k], m.v[k], dt)
            kernels.carry(self.ghosts[k], m.d[k], m.v[k], dt)
        contacts(k, time + dt, dt)
        if before is None:
            return
        after = self._interpolated(k + 1)
        ratio = counts[k + 1] // counts[k]
        for s in range(ratio):
            self._set_ghosts(k + 1, before, after, 1.0 if self.printed else s / ratio)
            self._step(k + 1, time + s * dt / ratio, dt / ratio, counts, contacts)
        self._set_ghosts(k + 1, after, after, 0.0)

    def _forces(self, k: int) -> None:
        level, m, nodes = self.hierarchy.levels[k], self.motion, self.active[k]
        if level.operator == COROTATIONAL:
            kernels.tet_forces(
                self.tets[k],
                nodes,
                level,
                self._ones[k],
                m.d[k],
                m.v[k],
                self.beta[k],
                self._buffers[k],
                m.f[k],
            )
        else:
            kernels.row_forces(nodes, level, m.d[k], m.v[k], self.beta[k], m.f[k])

    def fill(self) -> None:
        for k in range(self.deepest - 1, -1, -1):
            self.motion.pull(k, self.replaced[k])
        for k in range(1, len(self.absent)):
            self.motion.hang(k, self.absent[k])

    def reactions(self) -> None:
        self._refresh_ghosts()
        for k in range(self.deepest + 1):
            self._forces(k)

    def energy(self) -> tuple[float, float]:
        """Of the active nodes, with half of ``-f . d`` as their elastic part (linear operators)."""
        kinetic = elastic = 0.0
        m = self.motion
        for k, level in enumerate(self.hierarchy.levels):
            nodes = self.active[k]
            kinetic += 0.5 * float(np.sum(level.mass[nodes, None] * m.v[k][nodes] ** 2))
            out = np.zeros_like(m.d[k])
            kernels.row_forces(nodes, level, m.d[k], m.v[k], 0.0, out)
            elastic -= 0.5 * float(np.sum(out[nodes] * m.d[k][nodes]))
        return kinetic, elastic


def _linear(link: Link) -> Rows:
    n = len(link.corners)
    return Rows(np.arange(0, 4 * n + 1, 4), link.corners.ravel(), link.weights.ravel())
