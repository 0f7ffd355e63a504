"""Levels coupled by slaved nodes and transposed forces: keeps momentum, and energy without damping."""

from itertools import pairwise

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.jit import SERIAL_ROWS
from pliant.models.multires import galerkin_substeps, tet_kernels
from pliant.models.multires.coupling import Coupling, Times, damped_step
from pliant.models.multires.galerkin_substeps import GalerkinNodes, TetTable
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.level_state import LevelState, flagged, stack_nodes
from pliant.models.multires.levels import Level
from pliant.models.multires.substep_kernels import Contacts
from pliant.structure import mass_scaling

LIGHT = 0.1  # share of its level's mass below which a node is embedded in a finer tet where it can be
LEAST = 0.03  # share that every other node has (about that of one tet): extrapolated weights may leave less
STEADY = 0.9  # of a level's critical step


class Galerkin(Coupling):
    r"""A tet is refined or not; what is simulated is one field over all levels.

    The tets at split nodes are refined. A fine tet counts by its share inside refined coarse tets (four
    sample points). A fine node is free if all its tets count in full; otherwise it is slaved to its parent
    tet, :math:`u = \sum w_i u_i`. With G the matrix of those weights, forces are :math:`G^T f`, masses the
    row sums :math:`G^T m` of the finest nodes'. So the sum of forces is zero, whatever the levels, and they
    are the gradient of an energy. A coarse node inside the refined part that a few slaved nodes still depend
    on would have next to no mass: it is embedded in the finer tet around it, takes its value and passes loads
    on to it. Weights of nodes outside of their tets are negative and may leave others with less mass than
    their level's step needs: mass (and loads with it) is transferred from neighbours. Every level's forces
    act at its own step, as impulses; positions move, and loads act, at the finest one.
    """

    synchronous = True

    def __init__(self, hierarchy: Hierarchy, motion: LevelState, damping: float) -> None:
        super().__init__(hierarchy, motion)
        self.damping = damping
        self._inverse: Array = np.zeros_like(self.points)
        self.inverse = motion.by_level(self._inverse)
        self._free = flagged(len(self.points))
        self.free = motion.by_level(self._free)
        levels, transfers = hierarchy.levels, hierarchy.transfers
        first = self._first_tet = np.concatenate([[0], np.cumsum([len(level.tets) for level in levels])])
        weight, buffer = np.ones(first[-1]), np.zeros((4 * first[-1], 3))
        self.weight: list[Array] = [weight[a:b] for a, b in pairwise(first)]
        self._buffers: list[Array] = [buffer[4 * a : 4 * b] for a, b in pairwise(first)]
        incident = [level.incident_first[1:] + 4 * a for level, a in zip(levels, first, strict=False)]
        self._tet_table = TetTable(
            np.concatenate([level.tets + a for level, a in zip(levels, motion.first, strict=False)]),
            np.concatenate([level.gradients for level in levels]),
            np.concatenate([level.volumes for level in levels]),
            weight, levels[0].operator, levels[0].lam, levels[0].mu, buffer,
            np.concatenate([np.zeros(1, np.int64), *incident]),
            np.concatenate([level.incident + 4 * a for level, a in zip(levels, first, strict=False)]),
        )  # fmt: skip
        parents, _, *children = motion.connectivity.tets
        none = np.zeros((levels[0].count, 4))
        loads, masses = (
            [none, *(t.load_weights for t in transfers)],
            [none, *(t.mass_weights for t in transfers)],
        )
        self._load_tets = (parents, np.concatenate(loads), *children)
        self._mass_tets = (parents, np.concatenate(masses), *children)
        self.set_active([flagged(level.count) for level in levels])

    def stable_steps(self) -> list[float]:
        return [damped_step(STEADY * level.critical_step, self.damping) for level in self.hierarchy.levels]

    def set_active(self, split: list[BoolArray]) -> None:
        levels, transfers, first = self.hierarchy.levels, self.hierarchy.transfers, self.motion.first
        count = len(levels)
        inside = np.ones(len(levels[0].tets))
        self.slaved, self.tets, self.nodes = list[IntArray](), list[IntArray](), list[IntArray]()
        for k, level in enumerate(levels):
            partial = flagged(level.count)
            partial[level.tets[inside < 1.0].ravel()] = True
            touched = flagged(level.count)
            touched[level.tets[inside > 0.0].ravel()] = True
            refined = split[k][level.tets].any(axis=1) & (inside == 1.0) if k < count - 1 else None
            self.weight[k][:] = inside if refined is None else inside * ~refined
            self.free[k][:] = ~partial & touched
            self.slaved.append(np.flatnonzero(partial & touched))
            self.tets.append(np.flatnonzero(self.weight[k] > 0.0))
            used = flagged(level.count)
            used[level.tets[self.tets[k]].ravel()] = True
            self.nodes.append(np.flatnonzero(used))
            if refined is not None:
                inside = refined[transfers[k].samples].mean(axis=1)
        for k in range(count - 1, 1, -1):  # corners of parent tets that are not free are slaved themselves
            corners = np.unique(transfers[k - 1].parent_corners[self.slaved[k]])
            self.slaved[k - 1] = np.union1d(self.slaved[k - 1], corners[~self.free[k - 1][corners]])
        self.finest_active = max(k for k in range(count) if len(self.tets[k]))
        self.constrained = self.motion.by_level(~self._free)
        self._slaved = stack_nodes(self.slaved, first)
        self._distribute_mass()
        moving = self.motion.by_level(self.stacked_mass > 0.0)
        self.active = [np.flatnonzero(free & some) for free, some in zip(self.free, moving, strict=True)]
        self.replaced = [np.flatnonzero(free & ~some) for free, some in zip(self.free, moving, strict=True)]
        self.active_stacked = stack_nodes(self.active, first)
        lists = zip(self.active, self.slaved, self.embedded, self.nodes, strict=True)
        touched_by_forces = [np.unique(np.concatenate(some)) for some in lists]
        self._nodes = GalerkinNodes(
            *self.active_stacked, *self._slaved, *self._embedded, *stack_nodes(self.tets, self._first_tet),
            *stack_nodes(self.nodes, first), *stack_nodes(touched_by_forces, first),
        )  # fmt: skip

    # ------------------------------------------------------------------------------- masses and loads

    def _distribute_mass(self) -> None:
        levels, motion = self.hierarchy.levels, self.motion
        constrained = [np.flatnonzero(flags) for flags in self.constrained]
        self._constrained = stack_nodes(constrained, motion.first)
        self._transfers = [mass_scaling.NONE for _ in levels]
        self._set_embedded([np.zeros(0, np.int64) for _ in levels])
        mass = levels[-1].mass[:, None]
        masses = motion.by_level(self._restrict(mass)[:, 0])
        self._set_embedded([self._light_nodes(k, own) for k, own in enumerate(masses)])
        masses = motion.by_level(self._restrict(mass)[:, 0])
        required = motion.by_level(self._required_masses())
        self._transfers = [_mass_transfers(*each) for each in zip(levels, masses, required, strict=True)]
        self.stacked_mass[:] = self._restrict(mass)[:, 0]

    def _set_embedded(self, nodes: list[IntArray]) -> None:
        self.embedded, self._embedded = nodes, stack_nodes(nodes, self.motion.first)

    def _required_masses(self) -> Array:
        """Masses (n,) [kg] of all levels that keep their steps stable: for the counted tets of each level, at
        their corners, and through slaved nodes at the corners of their parent tets."""
        found = np.zeros(len(self.points))
        for k, level in enumerate(self.hierarchy.levels):
            required = np.zeros((len(found), 1))
            self.motion.by_level(required)[k][:, 0] = _level_required_masses(
                level, self.tets[k], self.weight[k]
            )
            galerkin_substeps.restrict_constrained(
                k, *self._slaved, *self._embedded, self._mass_tets, required
            )
            found = np.maximum(found, required[:, 0])
        return self._free * found

    def _light_nodes(self, k: int, mass: Array) -> IntArray:
        """Nodes of level k to be embedded: of little mass, no tet of theirs counts, and all corners of the
        finer tet around them are free."""
        if k == len(self.hierarchy.transfers):
            return np.zeros(0, np.int64)
        transfer, used = self.hierarchy.transfers[k], flagged(len(mass))
        used[self.nodes[k]] = True
        free = self.free[k + 1][transfer.child_corners] & (transfer.child_weights >= 0.0)
        inside = (free | (transfer.child_weights == 0.0)).all(axis=1)
        return np.flatnonzero((mass != 0.0) & (mass < LIGHT * self.hierarchy.levels[k].mass) & ~used & inside)

    def _restrict(self, values: Array) -> Array:
        """:math:`G^T` times values (n, c) of the finest nodes, at the free nodes of all levels."""
        found = np.zeros((len(self.points), values.shape[1]))
        found[self.motion.first[-2] :] = values
        galerkin_substeps.restrict_constrained(
            len(self.hierarchy.transfers), *self._constrained, *self._embedded, self._load_tets, found
        )
        for part, transfers in zip(self.motion.by_level(found), self._transfers, strict=True):
            mass_scaling.apply_transfers(transfers, part)
        return np.where(self._free[:, None], found, 0.0)

    def restrict_loads(self, values: Array) -> Array:
        """:math:`G^T f`, with the same weights as the masses: sums and moments stay."""
        return self._restrict(values)

    def apply_impulses(self, rows: IntArray, impulses: Array) -> None:
        values = np.zeros((self.hierarchy.levels[-1].count, 3))
        values[rows] = impulses
        nodes = self.active_stacked[0]
        self.motion.stacked[1][nodes] += self._inverse[nodes] * self._restrict(values)[nodes]

    def update_inverse_mass(self) -> None:
        free = self.stacked_mass > 0.0
        own = np.where(free, 1.0 / np.where(free, self.stacked_mass, 1.0), 0.0)
        self._inverse[:] = np.where(self.motion.stacked[4] > 0.0, own[:, None], 0.0)

    # ------------------------------------------------------------------------------------- motion

    def _begin_step(self, dt: float, counts: list[int]) -> BoolArray:
        return np.array([len(tets) >= SERIAL_ROWS for tets in self.tets])

    def _run_substeps(self, cursor: IntArray, times: Times, outside: BoolArray, contacts: Contacts) -> int:
        d, v, f, load, _ = self.motion.stacked
        found: int = galerkin_substeps.run(
            cursor, times, outside, self.damping, self._nodes, self.motion.connectivity.tets, self._tet_table,
            (d, v, f, load, self._inverse), contacts, self.heat,
        )  # fmt: skip
        return found

    def _level_forces(self, k: int, seconds: float) -> None:
        """Forces of level k's tets: on its own nodes, and through slaved ones on all coarser levels."""
        m, nodes = self.motion, self.nodes[k]
        counted = len(self.heat) and seconds and self.damping
        if counted:
            self._tet_forces(k, 0.0)
            undamped = m.f[k][nodes]
        self._tet_forces(k, self.damping)
        if counted:
            self.heat[0] += seconds * float(np.sum(m.v[k][nodes] * (undamped - m.f[k][nodes])))
        f = m.stacked[2]
        f[: m.first[k]] = 0.0
        galerkin_substeps.restrict_constrained(k, *self._slaved, *self._embedded, m.connectivity.tets, f)

    def _tet_forces(self, k: int, damping: float) -> None:
        m, level = self.motion, self.hierarchy.levels[k]
        m.f[k].fill(0.0)
        tet_kernels.tet_forces(
            self.tets[k], self.nodes[k], level, self.weight[k], m.d[k], m.v[k], damping,
            self._buffers[k], m.f[k],
        )  # fmt: skip

    def refresh_ghosts(self) -> None:
        self.prolongate()
        if self.hierarchy.transfers:
            self.motion.interpolate_in_parents(len(self.constrained) - 1, self.constrained[-1])

    def prolongate(self) -> None:
        m = self.motion
        for k in range(self.finest_active - 1, -1, -1):
            m.restrict(k, self.replaced[k])
            m.interpolate_in_children(k, self.embedded[k])
        for k in range(1, len(self.constrained) - 1):
            m.interpolate_in_parents(k, self.constrained[k])

    def update_forces(self, nodes: list[IntArray]) -> None:
        f, first = self.motion.stacked[2], self.motion.first
        total = np.zeros_like(f)
        for k in range(self.finest_active + 1):
            self._level_forces(k, 0.0)
            end = first[k + 1]
            total[:end] += np.where(self._free[:end, None], f[:end], 0.0)
        f[:] = total

    def energy(self) -> tuple[float, float]:
        elastic = 0.0
        for k, level in enumerate(self.hierarchy.levels):
            out = np.zeros(len(self.tets[k]))
            tet_kernels.tet_energies(
                self.tets[k], level.tets, level.gradients, level.volumes, self.weight[k], level.operator,
                level.lam, level.mu, self.motion.d[k], out,
            )  # fmt: skip
            elastic += float(out.sum())
        return self._kinetic_energy(), elastic


def _level_required_masses(level: Level, tets: IntArray, weight: Array) -> Array:
    """Masses (n,) [kg] with which no node, moving alone, is faster than the fastest motion of the whole
    level: ``m_i = k_i (dt_c / 2)^2``, k_i the largest eigenvalue of the nodal stiffness that the listed tets,
    which count by their ``weight``, give it."""
    counts, blocks = np.zeros(level.count), np.zeros((level.count, 3, 3))
    tet_kernels.tet_nodal_stiffness(
        tets, level.tets, level.gradients, level.volumes, weight, level.lam, level.mu, counts, blocks
    )
    stiffest = np.where(counts > 0.0, level.nodal_stiffness, 0.0)
    some = np.flatnonzero((counts > 0.0) & (counts < np.diff(level.incident_first) - 1e-9))
    stiffest[some] = np.linalg.eigvalsh(blocks[some])[:, -1]
    return np.asarray(stiffest * (0.5 * level.critical_step) ** 2)


def _mass_transfers(level: Level, mass: Array, required: Array) -> mass_scaling.Loans:
    least = np.maximum(required, LEAST * level.mass * (mass != 0.0))
    return mass_scaling.transfers(least, mass, level.first, level.columns)
