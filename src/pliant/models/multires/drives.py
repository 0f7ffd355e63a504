"""Driven particles of the finest level, as every level sees them."""

from collections.abc import Mapping

import numpy as np

from pliant.models.multires.levels import Hierarchy
from pliant.models.multires.motion import Coupling, Motion, flagged
from pliant.typing import AnyArray, Array, BoolArray, IntArray

CAUGHT = 0.75  # share of driven corners in the finer level that makes a node driven


class Drives:
    """A coarse node is driven where its child tet is; it moves as its child tet's corners do.

    uncaught: nodes that have to be split because a driven fine particle would not be held at their level.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self.driven: list[BoolArray] = [np.zeros((level.count, 3), bool) for level in hierarchy.levels]
        self.uncaught: list[BoolArray] = [flagged(level.count) for level in hierarchy.levels[:-1]]
        self.any = False
        self._home: list[IntArray] = []
        self._needed: list[IntArray] = []
        self._rows: IntArray = np.zeros(0, np.int64)
        self._place: Array = np.zeros((0, 3))
        self.still = False  # driven nodes are at rest already; newborn ones may not be

    def hold(self, inverse_mass: Array, motion: Motion) -> bool:
        """Take over which degrees of freedom are driven; True where that changed."""
        driven = inverse_mass == 0.0
        if np.array_equal(driven, self.driven[-1]):
            return False
        self.driven[-1] = driven
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
        self._needed = self._needed_rows()
        return True

    def _needed_rows(self) -> list[IntArray]:
        """Driven nodes of each level, and those that the next coarser level's are led by."""
        found: list[IntArray] = []
        for k, driven in enumerate(self.driven):
            rows = np.flatnonzero(driven.any(axis=1))
            if k:
                rows = np.union1d(rows, self.hierarchy.links[k - 1].down[found[-1]])
            found.append(rows)
        return found

    def state(self) -> dict[str, AnyArray]:
        return {"driven": self.driven[-1], "led": self._place, "still": np.array(self.still)}

    def restore(self, state: Mapping[str, AnyArray], motion: Motion) -> None:
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

    def lead(self, displacement: Array, dt: float, motion: Motion) -> None:
        """Velocities that take driven nodes to where the driven particles are at the end of the step."""
        if not self.any:
            return
        place = np.where(self.driven[-1][self._rows], displacement[self._rows], 0.0)
        moved, self._place = not np.array_equal(place, self._place), place
        if not moved and self.still:
            return
        self.still = not moved
        rows, last = self._needed[-1], len(self.driven) - 1
        target = np.where(self.driven[-1][rows], displacement[rows], motion.d[-1][rows])
        for k in range(last, -1, -1):
            rows, led = self._needed[k], self.driven[k][self._needed[k]]
            if k < last:
                link, finer = self.hierarchy.links[k], self._needed[k + 1]
                corners = target[np.searchsorted(finer, link.down[rows])]
                target = np.einsum("nq,nqc->nc", link.down_weights[rows], corners)
            speed = (target - motion.d[k][rows]) / dt
            motion.v[k][rows] = np.where(led, speed, motion.v[k][rows])
            self.still &= not speed[led].any()  # newborn ones go where they belong first, and stop then

    def add_reactions(self, coupling: Coupling, motion: Motion, external: Array, out: Array) -> None:
        """Replace what acts on driven particles by what acts on the driven nodes that stand for them."""
        rows = self._rows
        out[rows] -= np.where(self.driven[-1][rows], external[rows], 0.0)
        for k, nodes in enumerate(coupling.active):
            held = nodes[self.driven[k][nodes].any(axis=1)]
            total = np.where(self.driven[k][held], motion.f[k][held] + motion.load[k][held], 0.0)
            np.add.at(out, self._home[k][held], total)
