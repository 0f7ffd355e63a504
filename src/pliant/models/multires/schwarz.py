"""Levels coupled by ghosts that interpolate in space and time: for bodies that are held."""

import numpy as np

from pliant.compiled import SERIAL_ROWS
from pliant.models.multires import kernels, schedule, tet_loops
from pliant.models.multires.damping import Damping
from pliant.models.multires.levels import COROTATIONAL, LINEAR, Hierarchy, Link, Rows
from pliant.models.multires.motion import (
    AllNodes,
    Motion,
    Near,
    Simulated,
    flagged,
    laid_out,
    nonzero_rows,
)
from pliant.typing import Array, BoolArray, IntArray

MEMORY = 16.0  # of the coarsest critical step: how slowly the balance of forces follows
FLAT = 0.05  # of the largest moment of inertia: what counts as none
LEAST = 0.2  # share of its level's mass that a node stands for at least
ACTIVE, REPLACED, ABSENT = 0, 1, 2  # how a node stands: simulated, replaced by finer ones, not there


class Schwarz(Simulated):
    r"""Each level is simulated where its nodes are active and borrows the values around them.

    A fine ghost takes the coarse field at both ends of the coarse step, :math:`u_0 + \theta (u_1 - u_0)` at
    its own sub-step's start, through quadratic interpolation. Coarse nodes that are replaced by finer ones
    take the fine field at the start of their step and move on with its velocity. Stiffness damping of a
    quarter of each level's critical step keeps it stable, more of it at borders calms them: see ``Damping``.

    Differs from [DebunneDesbrunCaniBarr2000]_ 3.2 and 4.3, where fine ghosts run a coarse step ahead
    (``printed`` keeps that, without damping and with linear ghosts): its energy grows without bound.
    """

    synchronous = False  # half kicks at the ends of advances would double what a border reflects

    def __init__(self, hierarchy: Hierarchy, motion: Motion, damping: float, printed: bool) -> None:
        self.hierarchy, self.motion, self.printed = hierarchy, motion, printed
        self.damping = Damping(hierarchy, motion, damping, printed)
        self.heat: Array = np.zeros(0)
        self.left_over: Array = np.zeros(6)  # [N], [N m] what borders disagree on, lately
        self._buffers: list[Array] = [np.zeros((0, 3)) for _ in hierarchy.levels]
        self._push = [_linear(link) if printed else link.push for link in hierarchy.links]
        self._ones = [np.ones(len(level.tets)) for level in hierarchy.levels]
        self.mass = [level.mass for level in hierarchy.levels]
        self.weigh()
        levels, none = hierarchy.levels, Rows.none
        self._standing = [np.zeros(level.count, np.int8) for level in levels]
        self._all_nodes = AllNodes(hierarchy, self.mass)
        self.points = self._all_nodes.points
        self._level_masses = self._all_nodes.mass.copy()
        self.mass, self._ratio = motion.parts(self._all_nodes.mass), np.ones(len(self.points))
        self.simulated = (np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._stiffness = motion.joined([Rows(v.first, v.columns, v.blocks) for v in levels], 0)
        self._push_rows = motion.joined([none(levels[0].count), *self._push], -1)
        self._pull_rows = motion.joined([*(link.pull for link in hierarchy.links), none(levels[-1].count)], 1)
        self.arrange([flagged(level.count) for level in hierarchy.levels])

    def weigh(self) -> None:
        self.inverse = self.motion.inverse

    def limits(self) -> list[float]:
        return self.damping.limits()

    def arrange(self, split: list[BoolArray]) -> None:
        levels, links = self.hierarchy.levels, self.hierarchy.links
        count = len(levels)
        self.active: list[IntArray] = []
        self.replaced: list[IntArray] = []
        self.absent: list[IntArray] = []
        above, parent = flagged(0), np.zeros(0, np.int64)
        for k in range(count):
            lists = kernels.standing(parent, above, split[k], self._standing[k])
            for own, nodes in zip((self.active, self.replaced, self.absent), lists, strict=True):
                own.append(nodes)
            if k < count - 1:
                above, parent = split[k], links[k].parent
        self.ghosts: list[IntArray] = [np.zeros(0, np.int64)] * count
        needed = flagged(0)
        for k in range(count - 1, 0, -1):
            flags = flagged(levels[k].count)
            if needed.size:
                flags |= needed
            kernels.mark_rows(self.active[k], levels[k].first, levels[k].columns, flags)
            pull = links[k - 1].pull
            kernels.mark_rows(self.replaced[k - 1], pull.first, pull.columns, flags)
            self.ghosts[k] = np.flatnonzero(flags & (self._standing[k] == ABSENT))
            needed = flagged(levels[k - 1].count)
            push = self._push[k - 1]
            kernels.mark_rows(self.ghosts[k], push.first, push.columns, needed)
        self.damping.lay(self.ghosts, self._standing)
        none = np.zeros(0, np.int64)
        self.tets = [(none, none)] * count
        for k, level in enumerate(levels):
            if level.operator == COROTATIONAL:
                flags = flagged(len(level.tets))
                kernels.mark_tets(self.active[k], level.around_first, level.around, flags)
                layer = self.damping.tets[k]
                self.tets[k] = (np.flatnonzero(flags & ~layer), np.flatnonzero(flags & layer))
                if not len(self._buffers[k]):
                    self._buffers[k] = np.zeros((4 * len(level.tets), 3))
        self.deepest = max((k for k in range(count) if len(self.active[k])), default=0)
        kinds = [laid_out(nodes, self.motion.first) for nodes in (self.active, self.ghosts, self.replaced)]
        before, self.simulated = self.simulated[0], kinds[0]
        self._all_nodes.mass[before], self._ratio[before] = self._level_masses[before], 1.0
        self._lists = tuple(array for pair in kinds for array in pair)
        self._ends = tuple(np.zeros((len(kinds[1][0]), 3)) for _ in range(4))
        self._share_masses()

    def _share_masses(self) -> None:
        """The body's mass as its simulated nodes stand for it, where levels overlap or leave gaps at borders.

        Nodes that exist take their mass from their parent tets; what replaced nodes have left goes to their
        children. Nodes move with their level's mass; momentum, weight and kinetic energy are counted with
        these, so that they are the body's.
        """
        levels, links = self.hierarchy.levels, self.hierarchy.links
        there = [np.flatnonzero(standing != ABSENT) for standing in self._standing]
        left: list[Array] = [np.zeros((level.count, 1)) for level in levels]
        for level, nodes, mass in zip(levels, there, left, strict=True):
            mass[nodes, 0] = level.mass[nodes]
        for k in range(len(links), 0, -1):
            link = links[k - 1]
            kernels.hand_up(there[k], link.corners, link.weights, -levels[k].mass[:, None], left[k - 1])
            if k < len(links):
                lost = self.absent[k][left[k][self.absent[k], 0] != 0.0]
                kernels.hand_up(lost, link.corners, link.weights, left[k], left[k - 1])
        for k, link in enumerate(links):
            born, mass = there[k + 1], levels[k + 1].mass
            own = np.bincount(link.parent[born], mass[born], minlength=levels[k].count)
            given = np.divide(left[k][:, 0], own, out=np.zeros(levels[k].count), where=own > 0.0)
            left[k + 1][born, 0] += given[link.parent[born]] * mass[born]
        found = []
        for k, (level, nodes) in enumerate(zip(levels, self.active, strict=True)):
            self.mass[k][nodes] = np.maximum(left[k][nodes, 0], LEAST * level.mass[nodes])
            flags = flagged(level.count)
            kernels.mark_rows(self.replaced[k], level.first, level.columns, flags)
            found.append(nodes[flags[nodes]])
        border = laid_out(found, self.motion.first)[0]
        mass, now = self._all_nodes.mass, self.simulated[0]
        held = float(mass[border].sum())
        if held > 0.0:  # what was clipped
            mass[border] *= 1.0 + (levels[-1].mass.sum() - mass[now].sum()) / held
            held = float(mass[border].sum())
        self._ratio[now] = mass[now] / self._level_masses[now]
        share, memory = 1.0 / held if held else 0.0, MEMORY * levels[0].critical
        centre, turn = self._inertia(border)
        self._border = (border[: 0 if self.printed else None], share, self._ratio, memory, centre, turn)

    def _inertia(self, nodes: IntArray) -> tuple[Array, Array]:
        """Centre of the nodes' masses, and the inverse of their inertia about it; none about axes that they
        lie along, and none for operators whose forces may turn a mesh at rest."""
        mass, centre = self._all_nodes.mass[nodes], np.zeros(3)
        if not len(nodes) or self.hierarchy.levels[0].operator != LINEAR:
            return centre, np.zeros((3, 3))
        centre = mass @ self.points[nodes] / mass.sum()
        arms = self.points[nodes] - centre
        products = np.einsum("n,ni,nj->ij", mass, arms, arms)
        inertia = np.trace(products) * np.eye(3) - products
        return centre, np.asarray(np.linalg.pinv(inertia, rcond=FLAT, hermitian=True))

    # -------------------------------------------------------------------------------------- loads

    def share(self, values: Array, rows: IntArray | None = None) -> list[Array]:
        """Transposed interpolation to and fro between levels until all has come to rest on active nodes.

        Every hand-over keeps the sum and the moment. Masses of active nodes at borders are not shared out in
        this way: of what acts on all particles, the mean acceleration is taken as such.
        """
        levels, none = self.hierarchy.levels, np.zeros(0, np.int64)
        rows = nonzero_rows(values) if rows is None else rows
        shares: list[Array] = [np.zeros((level.count, 3)) for level in levels]
        if not len(rows):
            return shares
        rest = values
        if len(rows) == len(values):
            mean = values.sum(axis=0) / levels[-1].mass.sum()
            shares = [level.mass[:, None] * mean for level in levels]
            rest = values - shares[-1]
            rest[np.abs(rest) <= 1e-14 * np.abs(values).max(initial=0.0)] = 0.0
            rows = nonzero_rows(rest)
        arriving = [np.zeros((level.count, 3)) for level in levels[:-1]] + [rest]
        places = [none] * (len(levels) - 1) + [rows]
        for _ in range(4 * len(levels)):
            arriving, places = self._settle(arriving, places, shares)
            if not any(len(some) for some in places):
                return shares
        left = np.sum([a.sum(axis=0) for a in arriving], axis=0)  # goes round in circles: keep the sum
        for share, level, nodes in zip(shares, levels, self.active, strict=True):
            share[nodes] += level.mass[nodes, None] / levels[-1].mass.sum() * left
        return shares

    def _settle(
        self, arriving: list[Array], places: list[IntArray], shares: list[Array]
    ) -> tuple[list[Array], list[IntArray]]:
        """Active nodes keep, absent ones hand to parent tets, replaced ones to child tets: what arrives
        there, and at which nodes, is returned."""
        links = self.hierarchy.links
        down, below = list(arriving), [np.zeros(0, np.int64)] * len(places)
        for k in range(len(arriving) - 1, -1, -1):
            here, rows = arriving[k], places[k]
            state = self._standing[k][rows]
            kept, up, replaced = (rows[state == value] for value in (ACTIVE, ABSENT, REPLACED))
            shares[k][kept] += (
                here[kept] * (self.hierarchy.levels[k].mass[kept] / self.mass[k][kept])[:, None]
            )
            if len(up):
                link = links[k - 1]
                kernels.hand_up(up, link.corners, link.weights, here, arriving[k - 1])
                places[k - 1] = np.union1d(places[k - 1], link.corners[up])
            if len(replaced):
                link = links[k]
                down[k + 1], below[k + 1] = np.zeros(arriving[k + 1].shape), np.unique(link.down[replaced])
                kernels.hand_up(replaced, link.down, link.down_weights, here, down[k + 1])
        return [a if len(rows) else np.zeros(a.shape) for a, rows in zip(down, below, strict=True)], below

    # ------------------------------------------------------------------------------------- motion

    def advance(self, time: float, dt: float, counts: list[int], near: Near) -> None:
        m, ticks = self.motion, counts[self.deepest]
        self._refresh_ghosts()
        periods = np.array([max(ticks // count, 1) for count in counts])
        times = (ticks, dt / ticks, periods, self.deepest, self.printed)
        self.damping.follow([dt / count for count in counts])
        outside = np.array([self._outside(k) for k in range(len(counts))])
        cursor, balance = np.zeros(3, np.int64), np.stack([np.zeros(6), self.left_over])
        contacts, out = near.tables(time, dt, ticks, self._all_nodes)
        while True:
            event = schedule.run(
                cursor, times, outside, self.damping.table, self._lists, self._stiffness, self._push_rows,
                self._pull_rows, tuple(m.whole), self._ends, contacts, self.heat, self._border, balance,
            )  # fmt: skip
            if event == schedule.DONE:
                break
            k = int(cursor[1])
            stride = schedule.heat_stride(counts[k])
            counted = (cursor[0] // periods[k]) % stride == 0
            self._forces(k, stride * dt / counts[k] if counted else 0.0)
        self.left_over = balance[1]
        for obstacle, row in zip(near.obstacles, out, strict=True):
            obstacle.take_contacts(row)

    def _outside(self, k: int) -> bool:
        """Whether forces are worth a parallel loop, or made tet by tet."""
        return self.hierarchy.levels[k].operator == COROTATIONAL or len(self.active[k]) >= SERIAL_ROWS

    def _refresh_ghosts(self) -> None:
        ghosts, first = self._lists[2], self._lists[3]
        d, v = self.motion.whole[:2]
        schedule.refresh_ghosts(self.deepest, ghosts, first, self._push_rows, d, v)

    def _forces(self, k: int, dt: float = 0.0) -> None:
        nodes = self.active[k]
        self._forces_at(k, nodes)
        if len(self.heat) and dt:
            f = self.motion.f[k]
            damped = f[nodes]
            self._forces_at(k, nodes, 0.0)
            self.heat[0] += dt * float(np.sum(self.motion.v[k][nodes] * (f[nodes] - damped)))
            f[nodes] = damped

    def _forces_at(self, k: int, nodes: IntArray, damped: float = 1.0) -> None:
        """Forces on nodes of level k, with ``damped`` times its damping."""
        level, m, damping = self.hierarchy.levels[k], self.motion, self.damping
        if level.operator == COROTATIONAL:
            none, common = np.zeros(0, np.int64), (level, self._ones[k], m.d[k], m.v[k])
            inner, layer = self.tets[k]
            tet_loops.tet_forces(layer, none, *common, damped * damping.tops[k], self._buffers[k], m.f[k])
            tet_loops.tet_forces(inner, nodes, *common, damped * damping.base[k], self._buffers[k], m.f[k])
        else:
            kernels.row_forces(nodes, level, m.d[k], m.v[k], damped * damping.of_level[k], m.f[k])
            if damped:
                damping.damp_edge(k, nodes, *self._stiffness[:2])

    def fill(self) -> None:
        for k in range(self.deepest - 1, -1, -1):
            self.motion.pull(k, self.replaced[k])
        for k in range(1, len(self.absent)):
            self.motion.hang(k, self.absent[k])

    def reactions(self, nodes: list[IntArray]) -> None:
        self._refresh_ghosts()
        for k in range(self.deepest + 1):
            self._forces_at(k, nodes[k])
        border, share, ratio, _, centre, turn = self._border
        f, load = self.motion.whole[2], self.motion.whole[3]
        there = laid_out(nodes, self.motion.first)[0]
        f[there] = ratio[there, None] * (f[there] + load[there]) - load[there]
        there = np.intersect1d(there, border)
        turned = np.cross(turn @ self.left_over[3:], self.points[there] - centre)
        f[there] -= self._all_nodes.mass[there, None] * (share * self.left_over[:3] + turned)

    def energy(self) -> tuple[float, float]:
        """Of the active nodes; a tet counts by its share of active corners."""
        kinetic = elastic = 0.0
        m = self.motion
        self._refresh_ghosts()
        for k, level in enumerate(self.hierarchy.levels):
            nodes, flags = self.active[k], flagged(len(level.tets))
            kernels.mark_tets(nodes, level.around_first, level.around, flags)
            ids = np.flatnonzero(flags)
            kinetic += 0.5 * float(np.sum(self.mass[k][nodes, None] * m.v[k][nodes] ** 2))
            share, out = np.zeros(len(level.tets)), np.zeros(len(ids))
            share[ids] = (self._standing[k][level.tets[ids]] == ACTIVE).mean(axis=1)
            tet_loops.tet_energies(
                ids, level.tets, level.gradients, level.volumes, share, level.operator, level.lam, level.mu,
                m.d[k], out,
            )  # fmt: skip
            elastic += float(out.sum())
        return kinetic, elastic


def _linear(link: Link) -> Rows:
    n = len(link.corners)
    return Rows(np.arange(0, 4 * n + 1, 4), link.corners.ravel(), link.weights.ravel())
