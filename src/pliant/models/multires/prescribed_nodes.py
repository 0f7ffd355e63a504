"""Prescribed particles of the finest level, and the nodes of all levels that stand for them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.models.multires import transfer_kernels
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.level_state import LevelState, flagged

CAUGHT = 0.75  # share of prescribed corners in the finer level that makes a node prescribed


@dataclass(frozen=True)
class _PrescribedLevel:
    """Nodes of a level that are prescribed or that coarser prescribed ones follow: which of their degrees of
    freedom are prescribed, and the corners of their child tets, among the finer level's nodes, with
    weights."""

    nodes: IntArray
    flags: BoolArray
    corners: IntArray
    weights: Array


class PrescribedNodes:
    """A coarse node is prescribed where its child tet is; it moves as its child tet's corners do.

    flags: of each level's degrees of freedom, (n, 3); unresolved: nodes that have to be split because a
    prescribed fine particle would not be held at their level.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self.flags: list[BoolArray] = [np.zeros((level.count, 3), bool) for level in hierarchy.levels]
        self.unresolved: list[BoolArray] = [flagged(level.count) for level in hierarchy.levels[:-1]]
        self.any = False
        self._nearest: list[IntArray] = []
        self._levels: list[_PrescribedLevel] = []
        self._nodes: list[BoolArray] = [flagged(level.count) for level in hierarchy.levels]
        self._rows: IntArray = np.zeros(0, np.int64)
        self._displacement: Array = np.zeros((0, 3))
        self._at_rest = False  # prescribed nodes have stopped; newly active ones may not have

    def update(self, inverse_mass: Array, motion: LevelState) -> bool:
        """Take the degrees of freedom without inverse mass as prescribed; True where that changed."""
        if np.array_equal(flags := inverse_mass == 0.0, self.flags[-1]):
            return False
        self.flags[-1], self.any = flags, bool(flags.any())
        transfers, levels = self.hierarchy.transfers, self.hierarchy.levels
        for k in range(len(transfers) - 1, -1, -1):
            t = transfers[k]
            share = np.einsum("nq,nqc->nc", t.child_weights, self.flags[k + 1][t.child_corners].astype(float))
            self.flags[k] = share > CAUGHT
            covered = np.einsum("nq,nqc->nc", t.parent_weights, self.flags[k][t.parent_corners].astype(float))
            lost = (self.flags[k + 1] & (covered < 0.5)).any(axis=1)
            self.unresolved[k] = flagged(levels[k].count)
            self.unresolved[k][t.parent_node[lost]] = True
        for k, level in enumerate(levels):
            motion.inverse[k][:] = np.where(self.flags[k], 0.0, 1.0 / level.mass[:, None])
        self._nearest, self._at_rest = self._nearest_prescribed(), False
        self._nodes = [np.asarray(flags.any(axis=1)) for flags in self.flags]
        self._levels = self._prescribed_levels()
        return True

    def _prescribed_levels(self) -> list[_PrescribedLevel]:
        transfers, nodes = self.hierarchy.transfers, list[IntArray]()
        for k, flags in enumerate(self._nodes):
            rows = np.flatnonzero(flags)
            nodes.append(np.union1d(rows, transfers[k - 1].child_corners[nodes[-1]]) if k else rows)
        found = []
        for k, rows in enumerate(nodes):
            corners, weights = np.zeros((0, 4), np.int64), np.zeros((0, 4))
            if k < len(nodes) - 1:
                corners = np.searchsorted(nodes[k + 1], transfers[k].child_corners[rows])
                weights = transfers[k].child_weights[rows]
            found.append(_PrescribedLevel(rows, self.flags[k][rows], corners, weights))
        return found

    def mark_changed(self, level: int, nodes: IntArray) -> None:
        """Note that these nodes have begun or ceased to be active."""
        self._at_rest = self._at_rest and not self._nodes[level][nodes].any()

    def state(self) -> dict[str, AnyArray]:
        return {"driven": self.flags[-1], "led": self._displacement, "still": np.array(self._at_rest)}

    def restore(self, state: Mapping[str, AnyArray], motion: LevelState) -> None:
        self.update(np.where(state["driven"], 0.0, 1.0), motion)
        self._displacement, self._at_rest = np.array(state["led"]), bool(state["still"])

    def _nearest_prescribed(self) -> list[IntArray]:
        """For every node of every level, the nearest prescribed particle."""
        if not self.any:
            return []
        from scipy.spatial import cKDTree

        rows = self._rows = np.flatnonzero(self.flags[-1].any(axis=1))
        tree = cKDTree(self.hierarchy.levels[-1].points[rows])
        return [rows[np.asarray(tree.query(level.points)[1], np.int64)] for level in self.hierarchy.levels]

    def set_velocities(self, x: Array, dt: float, motion: LevelState) -> None:
        """Set the velocities that take prescribed nodes to where the prescribed particles are at the end of
        the step."""
        if not self.any:
            return
        rest = self.hierarchy.levels[-1].points
        if len(self._displacement) != len(self._rows):
            self._displacement = np.full((len(self._rows), 3), np.nan)
        moved = transfer_kernels.update_prescribed(self._rows, self.flags[-1], x, rest, self._displacement)
        if not moved and self._at_rest:
            return
        self._at_rest = not moved
        finest = self._levels[-1]
        target = np.empty((len(finest.nodes), 3))
        transfer_kernels.finest_targets(finest.nodes, finest.flags, x, rest, motion.d[-1], target)
        for k in range(len(self._levels) - 1, -1, -1):
            own, finer = self._levels[k], target
            if k < len(self._levels) - 1:
                target = np.empty((len(own.nodes), 3))
                transfer_kernels.prescribed_targets(own.corners, own.weights, finer, target)
            moving = transfer_kernels.set_prescribed_velocity(
                own.nodes, own.flags, target, motion.d[k], motion.v[k], dt
            )
            self._at_rest &= not moving  # newly active ones go where they belong first

    def active_prescribed(self, active: list[IntArray]) -> list[IntArray]:
        """The prescribed ones of the active nodes."""
        return [nodes[flags[nodes]] for flags, nodes in zip(self._nodes, active, strict=True)]

    def add_reactions(
        self, nodes: list[IntArray], motion: LevelState, external: Array | None, out: Array
    ) -> None:
        """Replace the forces on prescribed particles by those on the prescribed nodes that stand for them."""
        if external is not None:
            rows = self._rows
            out[rows] -= np.where(self.flags[-1][rows], external[rows], 0.0)
        for k, own in enumerate(nodes):
            transfer_kernels.add_reactions(
                own, self.flags[k], motion.f[k], motion.load[k], self._nearest[k], out
            )
