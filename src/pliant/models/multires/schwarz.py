"""Levels coupled by ghosts that interpolate in space and time: for bodies that are held."""

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.jit import SERIAL_ROWS
from pliant.models.multires import (
    load_restriction,
    node_roles,
    schwarz_substeps,
    tet_kernels,
    transfer_kernels,
)
from pliant.models.multires.border_damping import BorderDamping
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.level_state import (
    ActiveNodes,
    LevelState,
    NearbyObstacles,
    StackedNodes,
    flagged,
    laid_out,
    nonzero_rows,
)
from pliant.models.multires.level_transfer import LevelTransfer
from pliant.models.multires.levels import COROTATIONAL, CsrRows
from pliant.models.multires.node_roles import ABSENT

MEMORY = 16.0  # of the coarsest critical step: how slowly reactions follow the balance of forces
LEAST = 0.2  # share of its level's mass that a node stands for at least


class Schwarz(ActiveNodes):
    r"""Each level is simulated where its nodes are active and borrows the values around them.

    A fine ghost takes the coarse field at both ends of the coarse step, :math:`u_0 + \theta (u_1 - u_0)` at
    its own sub-step's start, through quadratic interpolation. Coarse nodes that are replaced by finer ones
    take the fine field at the start of their step and move on with its velocity. Stiffness damping of a
    quarter of each level's critical step keeps it stable, ``BorderDamping`` adds more at borders.

    Differs from [DebunneDesbrunCaniBarr2000]_ 3.2 and 4.3, where fine ghosts run a coarse step ahead
    (``printed`` keeps that, without damping and with linear ghosts): its energy grows without bound.
    """

    synchronous = False  # half kicks at the ends of advances would double what a border reflects

    def __init__(self, hierarchy: Hierarchy, motion: LevelState, damping: float, printed: bool) -> None:
        self.hierarchy, self.motion, self.printed = hierarchy, motion, printed
        self.damping = BorderDamping(hierarchy, motion, damping, printed)
        self.heat: Array = np.zeros(0)
        self.left_over: Array = np.zeros(3)  # [N] what borders disagree on, lately
        self._buffers: list[Array] = [np.zeros((0, 3)) for _ in hierarchy.levels]
        self._push = [_linear(link) if printed else link.push for link in hierarchy.links]
        self._ones = [np.ones(len(level.tets)) for level in hierarchy.levels]
        self.mass = [level.mass for level in hierarchy.levels]
        self.weigh()
        levels, none = hierarchy.levels, CsrRows.none
        self._family, self._all_nodes = motion.family, StackedNodes(hierarchy, self.mass)
        self.points = self._all_nodes.points
        self._level_masses = self._all_nodes.mass.copy()
        self.mass, self._ratio = motion.parts(self._all_nodes.mass), np.ones(len(self.points))
        self.simulated = (np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._stiffness = motion.joined([CsrRows(v.first, v.columns, v.blocks) for v in levels], 0)
        self._push_rows = motion.joined([none(levels[0].count), *self._push], -1)
        self._pull_rows = motion.joined([*(link.pull for link in hierarchy.links), none(levels[-1].count)], 1)
        n = len(self.points)
        self._standing, self._hanging = np.full(n, ABSENT, np.int8), flagged(n)
        self.hanging = motion.parts(self._hanging)
        self._room = (np.zeros((3, n), np.int64), np.zeros((3, n), bool), np.zeros((3, n, 3)))  # for lists
        self._spare, self._corners = np.zeros(n), [np.zeros(len(level.tets), np.int8) for level in levels]
        self._there: tuple[IntArray, ...] = (np.zeros(0, np.int64),)
        self._body_mass = float(levels[-1].mass.sum())
        self.arrange([flagged(level.count) for level in hierarchy.levels])

    def weigh(self) -> None:
        self.inverse = self.motion.inverse

    def limits(self) -> list[float]:
        return self.damping.limits()

    def arrange(self, split: list[BoolArray]) -> None:
        levels, motion, room = self.hierarchy.levels, self.motion, self._room
        family, before = self._family, self._there[0]
        there = self._there = node_roles.list_roles(
            motion.first, np.concatenate(split), family.children_first, family.children, before,
            self._standing, room[0],
        )  # fmt: skip
        ghosts = node_roles.list_ghosts(
            motion.first, there, self._stiffness[:2], self._push_rows[:2], self._pull_rows[:2],
            self._standing, room[1][0], room[0][0],
        )  # fmt: skip
        np.equal(self._standing, ABSENT, out=self._hanging)
        self._lists = (*there[2:4], *ghosts, *there[4:6])
        self.active, self.ghosts, self.replaced = (
            motion.own_lists(*self._lists[n : n + 2]) for n in (0, 2, 4)
        )
        self.damping.lay(self.ghosts, motion.parts(self._standing))
        none = np.zeros(0, np.int64)
        self.tets = [(none, none)] * len(levels)
        for k, level in enumerate(levels):
            if level.operator == COROTATIONAL:
                flags = flagged(len(level.tets))
                transfer_kernels.mark_tets(self.active[k], level.around_first, level.around, flags)
                layer = self.damping.tets[k]
                self.tets[k] = (np.flatnonzero(flags & ~layer), np.flatnonzero(flags & layer))
                if not len(self._buffers[k]):
                    self._buffers[k] = np.zeros((4 * len(level.tets), 3))
        self.deepest = max((k for k in range(len(levels)) if len(self.active[k])), default=0)
        before, self.simulated = self.simulated[0], there[2:4]
        self._all_nodes.mass[before], self._ratio[before] = self._level_masses[before], 1.0
        self._ends = tuple(np.zeros((len(ghosts[0]), 3)) for _ in range(4))
        self._share_masses()

    def _share_masses(self) -> None:
        """The body's mass as its simulated nodes stand for it: what levels overlap by, or leave out between
        them, is taken from or given to the coarse nodes at borders.

        Nodes move with their level's mass; momentum, weight and kinetic energy are counted with these, so
        that they are the body's. Finer nodes keep their own: their forces are the ones that tools feel.
        """
        mass, now = self._all_nodes.mass, self.simulated[0]
        border = node_roles.list_border(self._there, *self._stiffness[:2], self._room[1][0])
        held = float(mass[border].sum())
        if held > 0.0:
            mass[border] *= max(LEAST, 1.0 + (self._body_mass - mass[now].sum()) / held)
        self._ratio[now] = mass[now] / self._level_masses[now]

    # -------------------------------------------------------------------------------------- loads

    def share(self, values: Array) -> list[Array]:
        """Transposed interpolation to and fro between levels until all has come to rest on active nodes.

        Every hand-over keeps the sum and the moment. Masses of active nodes at borders are not shared out in
        this way: of what acts on all particles, the mean acceleration is taken as such.
        """
        levels, rest = self.hierarchy.levels, values
        rows = nonzero_rows(values)
        whole = np.zeros_like(self.points)
        if len(rows) == len(values):
            mean = values.sum(axis=0) / levels[-1].mass.sum()
            whole = self._level_masses[:, None] * mean
            rest = values - levels[-1].mass[:, None] * mean
            rest[np.abs(rest) <= 1e-14 * np.abs(values).max(initial=0.0)] = 0.0
            rows = nonzero_rows(rest)
        nodes, amounts = self._handed_on(rows, rest[rows])
        whole[nodes] += amounts
        return self.motion.parts(whole)

    def kick(self, rows: IntArray, impulses: Array) -> None:
        nodes, amounts = self._handed_on(rows, impulses)
        self.motion.whole[1][nodes] += self.motion.whole[4][nodes] * amounts

    def _handed_on(self, rows: IntArray, values: Array) -> tuple[IntArray, Array]:
        """Simulated nodes, in arrays that hold all levels, and what they get of values at finest nodes."""
        family, scale, now = self._family, self._spare, self.simulated[0]
        scale[now] = self._level_masses[now] / self._all_nodes.mass[now]
        links, (room, marks, zeros) = (
            (family.up, family.up_weights, family.down, family.down_weights),
            self._room,
        )
        rounds = 4 * len(self.hierarchy.levels)
        nodes, amounts, left = load_restriction.restrict_to_active(
            self.motion.first, links, self._standing, scale, rows, values, rounds, (zeros, marks, room)
        )
        if not left.any():
            return nodes, amounts
        every = self._level_masses[now, None] / self._body_mass * left  # goes round in circles: keep the sum
        every[np.searchsorted(now, nodes)] += amounts
        return now, every

    # ------------------------------------------------------------------------------------- motion

    def advance(self, time: float, dt: float, counts: list[int], near: NearbyObstacles) -> None:
        m, ticks = self.motion, counts[self.deepest]
        self._refresh_ghosts()
        periods = np.array([max(ticks // count, 1) for count in counts])
        times = (ticks, dt / ticks, periods, self.deepest, self.printed)
        self.damping.follow([dt / count for count in counts])
        outside = np.array([self._outside(k) for k in range(len(counts))])
        cursor, balance = np.zeros(3, np.int64), np.stack([np.zeros(3), self.left_over])
        contacts, out = near.tables(time, dt, ticks, self._all_nodes)
        while True:
            event = schwarz_substeps.run(
                cursor, times, outside, self.damping.table, self._lists, self._stiffness, self._push_rows,
                self._pull_rows, tuple(m.whole), self._ends, contacts, self.heat, self._ratio, balance,
                MEMORY * self.hierarchy.levels[0].critical,
            )  # fmt: skip
            if event == schwarz_substeps.DONE:
                break
            k = int(cursor[1])
            stride = schwarz_substeps.heat_stride(counts[k])
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
        schwarz_substeps.refresh_ghosts(self.deepest, ghosts, first, self._push_rows, d, v)

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
            tet_kernels.tet_forces(layer, none, *common, damped * damping.tops[k], self._buffers[k], m.f[k])
            tet_kernels.tet_forces(inner, nodes, *common, damped * damping.base[k], self._buffers[k], m.f[k])
        else:
            beta = damping.of_level[k] if damped == 1.0 else damped * damping.of_level[k]
            transfer_kernels.row_forces(nodes, level, m.d[k], m.v[k], beta, m.f[k])
            if damped:
                damping.damp_edge(k, nodes, *self._stiffness[:2])

    def surround(self) -> None:
        for k in range(self.deepest - 1, -1, -1):
            self.motion.pull(k, self.replaced[k])
        self._refresh_ghosts()

    def fill(self) -> None:
        for k in range(self.deepest - 1, -1, -1):
            self.motion.pull(k, self.replaced[k])
        for k in range(1, len(self.hanging) - 1):
            self.motion.hang(k, self.hanging[k])

    def reactions(self, nodes: list[IntArray]) -> None:
        """The two sides of a border do not agree on the force between them. What the forces between nodes
        miss zero by for that reason is made up for here, so that what holds a body balances it."""
        self._refresh_ghosts()
        for k in range(self.deepest + 1):
            self._forces_at(k, nodes[k])
        f, load = self.motion.whole[2], self.motion.whole[3]
        there = laid_out(nodes, self.motion.first)[0]
        mass = self._all_nodes.mass[there, None]
        f[there] = self._ratio[there, None] * (f[there] + load[there]) - load[there]
        if not self.printed and len(there):
            f[there] -= mass / mass.sum() * self.left_over

    def energy(self) -> tuple[float, float]:
        """Of the active nodes; a tet counts by its share of active corners."""
        kinetic = elastic = 0.0
        m = self.motion
        self._refresh_ghosts()
        for k, level in enumerate(self.hierarchy.levels):
            nodes = self.active[k]
            kinetic += 0.5 * float(np.sum(self.mass[k][nodes, None] * m.v[k][nodes] ** 2))
            elastic += tet_kernels.energy_around(
                nodes, level.around_first, level.around, level.tets, level.gradients, level.volumes,
                level.operator, level.lam, level.mu, m.d[k], self._corners[k],
            )  # fmt: skip
        return kinetic, elastic


def _linear(link: LevelTransfer) -> CsrRows:
    n = len(link.corners)
    return CsrRows(np.arange(0, 4 * n + 1, 4), link.corners.ravel(), link.weights.ravel())
