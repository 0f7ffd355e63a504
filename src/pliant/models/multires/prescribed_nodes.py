"""Driven particles of the finest level, as every level sees them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.models.multires import transfer_kernels
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.level_state import LevelState, flagged

CAUGHT = 0.75  # share of driven corners in the finer level that makes a node driven


@dataclass(frozen=True)
class _PrescribedLevel:
    """Nodes of a level that are driven or that coarser driven ones are led by: which of their degrees of
    freedom are driven, and by which of the finer level's led nodes, with weights, they are led."""

    nodes: IntArray
    driven: BoolArray
    corners: IntArray
    weights: Array


class PrescribedNodes:
    """A coarse node is driven where its child tet is; it moves as its child tet's corners do.

    uncaught: nodes that have to be split because a driven fine particle would not be held at their level.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self.driven: list[BoolArray] = [np.zeros((level.count, 3), bool) for level in hierarchy.levels]
        self.uncaught: list[BoolArray] = [flagged(level.count) for level in hierarchy.levels[:-1]]
        self.any = False
        self._home: list[IntArray] = []
        self._led: list[_PrescribedLevel] = []
        self._any: list[BoolArray] = [flagged(level.count) for level in hierarchy.levels]
        self._rows: IntArray = np.zeros(0, np.int64)
        self._place: Array = np.zeros((0, 3))
        self.still = False  # driven nodes are at rest already; newborn ones may not be

    def hold(self, inverse_mass: Array, motion: LevelState) -> bool:
        """Take over which degrees of freedom are driven; True where that changed."""
        if transfer_kernels.mark_prescribed(inverse_mass, self.driven[-1]):
            return False
        driven = self.driven[-1] = inverse_mass == 0.0
        self.any = bool(driven.any())
        links, levels = self.hierarchy.links, self.hierarchy.levels
        for k in range(len(links) - 1, -1, -1):
            link = links[k]
            share = np.einsum("nq,nqc->nc", link.down_weights, self.driven[k + 1][link.down].astype(float))
            self.driven[k] = share > CAUGHT
            covered = np.einsum("nq,nqc->nc", link.weights, self.driven[k][link.corners].astype(float))
            lost = (self.driven[k + 1] & (covered < 0.5)).any(axis=1)
            self.uncaught[k] = flagged(levels[k].count)
            self.uncaught[k][link.parent[lost]] = True
        for k, level in enumerate(levels):
            motion.inverse[k][:] = np.where(self.driven[k], 0.0, 1.0 / level.mass[:, None])
        self._home, self.still = self._homes(), False
        self._any = [np.asarray(flags.any(axis=1)) for flags in self.driven]
        self._led = self._leading()
        return True

    def _leading(self) -> list[_PrescribedLevel]:
        nodes: list[IntArray] = []
        for k, driven in enumerate(self._any):
            rows = np.flatnonzero(driven)
            nodes.append(np.union1d(rows, self.hierarchy.links[k - 1].down[nodes[-1]]) if k else rows)
        found = []
        for k, rows in enumerate(nodes):
            corners, weights = np.zeros((0, 4), np.int64), np.zeros((0, 4))
            if k < len(nodes) - 1:
                link = self.hierarchy.links[k]
                corners, weights = np.searchsorted(nodes[k + 1], link.down[rows]), link.down_weights[rows]
            found.append(_PrescribedLevel(rows, self.driven[k][rows], corners, weights))
        return found

    def change(self, level: int, nodes: IntArray) -> None:
        """Take note that these nodes have begun or ceased to be simulated."""
        self.still = self.still and not self._any[level][nodes].any()

    def state(self) -> dict[str, AnyArray]:
        return {"driven": self.driven[-1], "led": self._place, "still": np.array(self.still)}

    def restore(self, state: Mapping[str, AnyArray], motion: LevelState) -> None:
        self.hold(np.where(state["driven"], 0.0, 1.0), motion)
        self._place, self.still = np.array(state["led"]), bool(state["still"])

    def _homes(self) -> list[IntArray]:
        """For every node of every level, the nearest driven particle."""
        if not self.any:
            return []
        from scipy.spatial import cKDTree

        rows = self._rows = np.flatnonzero(self.driven[-1].any(axis=1))
        tree = cKDTree(self.hierarchy.levels[-1].points[rows])
        return [rows[np.asarray(tree.query(level.points)[1], np.int64)] for level in self.hierarchy.levels]

    def lead(self, x: Array, dt: float, motion: LevelState) -> None:
        """Velocities that take driven nodes to where the driven particles are at the end of the step."""
        if not self.any:
            return
        rest = self.hierarchy.levels[-1].points
        if len(self._place) != len(self._rows):
            self._place = np.full((len(self._rows), 3), np.nan)
        moved = transfer_kernels.take_places(self._rows, self.driven[-1], x, rest, self._place)
        if not moved and self.still:
            return
        self.still = not moved
        finest = self._led[-1]
        target = np.empty((len(finest.nodes), 3))
        transfer_kernels.finest_targets(finest.nodes, finest.driven, x, rest, motion.d[-1], target)
        for k in range(len(self._led) - 1, -1, -1):
            led, finer = self._led[k], target
            if k < len(self._led) - 1:
                target = np.empty((len(led.nodes), 3))
                transfer_kernels.prescribed_targets(led.corners, led.weights, finer, target)
            moving = transfer_kernels.set_prescribed_velocity(
                led.nodes, led.driven, target, motion.d[k], motion.v[k], dt
            )
            self.still &= not moving  # newborn ones go where they belong first

    def held(self, active: list[IntArray]) -> list[IntArray]:
        """The driven ones of simulated nodes."""
        return [nodes[flags[nodes]] for flags, nodes in zip(self._any, active, strict=True)]

    def add_reactions(
        self, held: list[IntArray], motion: LevelState, external: Array | None, out: Array
    ) -> None:
        """Replace what acts on driven particles by what acts on the driven nodes that stand for them."""
        if external is not None:
            rows = self._rows
            out[rows] -= np.where(self.driven[-1][rows], external[rows], 0.0)
        for k, nodes in enumerate(held):
            transfer_kernels.add_reactions(
                nodes, self.driven[k], motion.f[k], motion.load[k], self._home[k], out
            )
