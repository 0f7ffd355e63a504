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
from pliant.models.multires.coupling import Coupling, Times
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.level_state import LevelState, flagged, stack_nodes
from pliant.models.multires.level_transfer import LevelTransfer
from pliant.models.multires.levels import COROTATIONAL, CsrRows
from pliant.models.multires.node_roles import ABSENT
from pliant.models.multires.schwarz_substeps import SchwarzNodes
from pliant.models.multires.substep_kernels import Contacts

MEMORY = 16.0  # of the coarsest critical step: how slowly reactions follow the balance of forces
LEAST = 0.2  # share of its level's mass that a node stands for at least


class Schwarz(Coupling):
    r"""Each level is simulated where its nodes are active, with boundary values from the other levels.

    A fine ghost takes the coarse field at both ends of the coarse step, :math:`u_0 + \theta (u_1 - u_0)` at
    its own sub-step's start, through quadratic interpolation. Coarse nodes that are replaced by finer ones
    take the fine field at the start of their step and move on with its velocity. Stiffness damping of a
    quarter of each level's critical step keeps it stable, ``BorderDamping`` adds more at borders.

    Differs from [DebunneDesbrunCaniBarr2000]_ 3.2 and 4.3, where fine ghosts run a coarse step ahead
    (``published`` keeps that, without damping and with linear ghosts): its energy grows without bound.
    """

    synchronous = False  # half kicks at the ends of steps would double what a border reflects

    def __init__(self, hierarchy: Hierarchy, motion: LevelState, damping: float, published: bool) -> None:
        super().__init__(hierarchy, motion)
        self.published = published
        self.damping = BorderDamping(hierarchy, motion, damping, published)
        self.inverse = motion.inverse
        levels, none, n = hierarchy.levels, CsrRows.none, len(self.points)
        self._level_masses = self.stacked_mass.copy()
        self._body_mass = float(levels[-1].mass.sum())
        self._mass_ratio: Array = np.ones(n)
        self._buffers: list[Array] = [np.zeros((0, 3)) for _ in levels]
        self._ones = [np.ones(len(level.tets)) for level in levels]
        ghost_rows = [_linear(t) if published else t.prolongation for t in hierarchy.transfers]
        self._stiffness = motion.stacked_rows([CsrRows(v.first, v.columns, v.blocks) for v in levels], 0)
        self._prolongation = motion.stacked_rows([none(levels[0].count), *ghost_rows], -1)
        self._restriction = motion.stacked_rows(
            [*(t.restriction for t in hierarchy.transfers), none(levels[-1].count)], 1
        )
        self._role, self._constrained = np.full(n, ABSENT, np.int8), flagged(n)
        self.constrained = motion.by_level(self._constrained)
        self._scratch = (np.zeros((3, n), np.int64), np.zeros((3, n), bool), np.zeros((3, n, 3)))
        self._scale, self._corners = np.zeros(n), [np.zeros(len(level.tets), np.int8) for level in levels]
        self._roles: tuple[IntArray, ...] = (np.zeros(0, np.int64),)
        self.set_active([flagged(level.count) for level in levels])

    def update_inverse_mass(self) -> None:
        """Nothing: nodes move with their level's mass, as ``motion.inverse`` has it."""

    def stable_steps(self) -> list[float]:
        return self.damping.stable_steps()

    def set_active(self, split: list[BoolArray]) -> None:
        levels, motion, tree = self.hierarchy.levels, self.motion, self.motion.connectivity
        lists, marks, _ = self._scratch
        roles = node_roles.list_roles(
            motion.first, np.concatenate(split), tree.children_first, tree.children, self._roles[0],
            self._role, lists,
        )  # fmt: skip
        ghosts = node_roles.list_ghosts(
            motion.first, roles, self._stiffness[:2], self._prolongation[:2], self._restriction[:2],
            self._role, marks[0], lists[0],
        )  # fmt: skip
        np.equal(self._role, ABSENT, out=self._constrained)
        self._roles, self._nodes = roles, SchwarzNodes(*roles[2:4], *ghosts, *roles[4:6])
        self.active = motion.split_by_level(*roles[2:4])
        self.ghosts = motion.split_by_level(*ghosts)
        self.replaced = motion.split_by_level(*roles[4:6])
        self.damping.build_layers(self.ghosts, motion.by_level(self._role))
        none = np.zeros(0, np.int64)
        self.tets = [(none, none)] * len(levels)
        for k, level in enumerate(levels):
            if level.operator == COROTATIONAL:
                flags = flagged(len(level.tets))
                transfer_kernels.mark_tets(self.active[k], level.incident_first, level.incident, flags)
                layer = self.damping.tets[k]
                self.tets[k] = (np.flatnonzero(flags & ~layer), np.flatnonzero(flags & layer))
                if not len(self._buffers[k]):
                    self._buffers[k] = np.zeros((4 * len(level.tets), 3))
        self.finest_active = max((k for k in range(len(levels)) if len(self.active[k])), default=0)
        before, self.active_stacked = self.active_stacked[0], roles[2:4]
        self.stacked_mass[before], self._mass_ratio[before] = self._level_masses[before], 1.0
        self._ghost_ends = tuple(np.zeros((len(ghosts[0]), 3)) for _ in range(4))
        self._distribute_mass()

    def _distribute_mass(self) -> None:
        """The body's mass as its active nodes stand for it: what levels overlap by, or leave out between
        them, is taken from or given to the coarse nodes at borders.

        Nodes move with their level's mass; momentum, weight and kinetic energy are counted with these, so
        that they are the body's. Finer nodes keep their own: their forces are the ones that act on tools.
        """
        mass, now = self.stacked_mass, self.active_stacked[0]
        border = node_roles.list_border(self._roles, *self._stiffness[:2], self._scratch[1][0])
        held = float(mass[border].sum())
        if held > 0.0:
            mass[border] *= max(LEAST, 1.0 + (self._body_mass - mass[now].sum()) / held)
        self._mass_ratio[now] = mass[now] / self._level_masses[now]

    # -------------------------------------------------------------------------------------- loads

    def restrict_loads(self, values: Array) -> Array:
        """By ``load_restriction.restrict_to_active``. Masses of active nodes at borders are not distributed
        in that way: of loads on all particles, the mean acceleration is applied to all nodes as such."""
        finest, rest = self.hierarchy.levels[-1], values
        rows = _nonzero_rows(values)
        found = np.zeros_like(self.points)
        if len(rows) == len(values):
            mean = values.sum(axis=0) / finest.mass.sum()
            found = self._level_masses[:, None] * mean
            rest = values - finest.mass[:, None] * mean
            rest[np.abs(rest) <= 1e-14 * np.abs(values).max(initial=0.0)] = 0.0
            rows = _nonzero_rows(rest)
        nodes, amounts = self._restrict_to_active(rows, rest[rows])
        found[nodes] += amounts
        return found

    def apply_impulses(self, rows: IntArray, impulses: Array) -> None:
        nodes, amounts = self._restrict_to_active(rows, impulses)
        self.motion.stacked[1][nodes] += self.motion.stacked[4][nodes] * amounts

    def _restrict_to_active(self, rows: IntArray, values: Array) -> tuple[IntArray, Array]:
        """Active nodes, in arrays that hold all levels, and their parts of values at finest nodes."""
        motion, scale, now = self.motion, self._scale, self.active_stacked[0]
        scale[now] = self._level_masses[now] / self.stacked_mass[now]
        nodes, amounts, left = load_restriction.restrict_to_active(
            motion.first, motion.connectivity.tets, self._role, scale, rows, values,
            4 * len(self.hierarchy.levels), self._scratch[::-1],
        )  # fmt: skip
        if not left.any():
            return nodes, amounts
        every = self._level_masses[now, None] / self._body_mass * left  # goes round in circles: keep the sum
        every[np.searchsorted(now, nodes)] += amounts
        return now, every

    # ------------------------------------------------------------------------------------- motion

    def _begin_step(self, dt: float, counts: list[int]) -> BoolArray:
        self._interpolate_ghosts()
        self.damping.limit_to_steps([dt / count for count in counts])
        self._balance = np.stack([np.zeros(3), self.force_imbalance])
        self.force_imbalance = self._balance[1]
        levels = zip(self.hierarchy.levels, self.active, strict=True)
        return np.array([v.operator == COROTATIONAL or len(nodes) >= SERIAL_ROWS for v, nodes in levels])

    def _run_substeps(self, cursor: IntArray, times: Times, outside: BoolArray, contacts: Contacts) -> int:
        found: int = schwarz_substeps.run(
            cursor, (*times, self.published), outside, self.damping.table, self._nodes, self._stiffness,
            self._prolongation, self._restriction, tuple(self.motion.stacked), self._ghost_ends, contacts,
            self.heat, self._mass_ratio, self._balance, MEMORY * self.hierarchy.levels[0].critical_step,
        )  # fmt: skip
        return found

    def _interpolate_ghosts(self) -> None:
        schwarz_substeps.interpolate_ghosts(
            self.finest_active, self._nodes, self._prolongation, *self.motion.stacked[:2]
        )

    def _level_forces(self, k: int, seconds: float) -> None:
        nodes = self.active[k]
        self._forces_at(k, nodes)
        if len(self.heat) and seconds:
            f = self.motion.f[k]
            damped = f[nodes]
            self._forces_at(k, nodes, 0.0)
            self.heat[0] += seconds * float(np.sum(self.motion.v[k][nodes] * (f[nodes] - damped)))
            f[nodes] = damped

    def _forces_at(self, k: int, nodes: IntArray, damped: float = 1.0) -> None:
        """Forces on nodes of level k, with ``damped`` times its damping."""
        level, m, damping = self.hierarchy.levels[k], self.motion, self.damping
        if level.operator == COROTATIONAL:
            none, common = np.zeros(0, np.int64), (level, self._ones[k], m.d[k], m.v[k])
            inner, layer = self.tets[k]
            output = (self._buffers[k], m.f[k])
            tet_kernels.tet_forces(layer, none, *common, damped * damping.layer_beta[k], *output)
            tet_kernels.tet_forces(inner, nodes, *common, damped * damping.level_beta[k], *output)
        else:
            beta = damping.node_beta[k] if damped == 1.0 else damped * damping.node_beta[k]
            transfer_kernels.row_forces(nodes, level, m.d[k], m.v[k], beta, m.f[k])
            if damped:
                damping.add_rim_damping(k, nodes, *self._stiffness[:2])

    def refresh_ghosts(self) -> None:
        for k in range(self.finest_active - 1, -1, -1):
            self.motion.restrict(k, self.replaced[k])
        self._interpolate_ghosts()

    def prolongate(self) -> None:
        for k in range(self.finest_active - 1, -1, -1):
            self.motion.restrict(k, self.replaced[k])
        for k in range(1, len(self.constrained) - 1):
            self.motion.interpolate_in_parents(k, self.constrained[k])

    def update_forces(self, nodes: list[IntArray]) -> None:
        """The two sides of a border do not agree on the force between them. The sum by which the forces
        between nodes miss zero for that reason is subtracted here, so that reactions balance the loads."""
        self._interpolate_ghosts()
        for k in range(self.finest_active + 1):
            self._forces_at(k, nodes[k])
        f, load = self.motion.stacked[2], self.motion.stacked[3]
        listed = stack_nodes(nodes, self.motion.first)[0]
        mass = self.stacked_mass[listed, None]
        f[listed] = self._mass_ratio[listed, None] * (f[listed] + load[listed]) - load[listed]
        if not self.published and len(listed):
            f[listed] -= mass / mass.sum() * self.force_imbalance

    def energy(self) -> tuple[float, float]:
        """A tet counts by its share of active corners."""
        self._interpolate_ghosts()
        elastic = 0.0
        for k, level in enumerate(self.hierarchy.levels):
            elastic += tet_kernels.energy_around(
                self.active[k], level.incident_first, level.incident, level.tets, level.gradients,
                level.volumes, level.operator, level.lam, level.mu, self.motion.d[k], self._corners[k],
            )  # fmt: skip
        return self._kinetic_energy(), elastic


def _linear(transfer: LevelTransfer) -> CsrRows:
    n = len(transfer.parent_corners)
    return CsrRows(
        np.arange(0, 4 * n + 1, 4), transfer.parent_corners.ravel(), transfer.parent_weights.ravel()
    )


def _nonzero_rows(values: Array) -> IntArray:
    """Rows (of three) that are not all zero."""
    x, y, z = values.T
    return np.flatnonzero((x != 0) | (y != 0) | (z != 0))
