"""Where which level is simulated: splitting, merging, grading, and a budget of work."""

from collections.abc import Sequence

import numpy as np

from pliant.models.multires import kernels, tet_loops
from pliant.models.multires.levels import Hierarchy
from pliant.models.multires.motion import Coupling, Motion, flagged
from pliant.protocols import Pushing
from pliant.typing import Array, BoolArray, IntArray

MERGE = 0.2  # of the split threshold; half of it still flickers
REACH, LEAVE = 0.8, 1.2  # in spacings: how near to a tool nodes are split, and how far they may merge
FULL = 0.95  # share of the budget beyond which nothing is split


class Adaptation:
    """Chooses the nodes that are replaced by finer ones.

    eta: rms deviation of the tets' gradients around a node, the "strain change across a cell": zero on linear
    fields, about 0.4 h |u''|. A node is split above ``threshold`` and comes back when all its children are
    below a fifth of it. Nodes near a tool are split whatever eta says: it is zero before the first touch.
    """

    def __init__(self, hierarchy: Hierarchy, threshold: float) -> None:
        self.hierarchy, self.threshold = hierarchy, threshold
        self.whole = True  # split nodes come as corners of whole tets
        levels = hierarchy.levels
        self.eta: list[Array] = [np.zeros(level.count) for level in levels]
        self._scratch: list[Array] = [np.zeros((len(level.tets), 9)) for level in levels]
        self._stamps: list[IntArray] = [np.zeros(len(level.tets), np.int64) for level in levels]
        self._looks = 0
        self._grading = self._grades()
        self._points = np.concatenate([np.zeros((0, 3)), *(level.points for level in levels[:-1])])
        self._fans = [np.diff(link.children_first) for link in hierarchy.links]

    def measure(self, motion: Motion, coupling: Coupling) -> None:
        """eta of all simulated nodes; zero elsewhere."""
        for k, level in enumerate(self.hierarchy.levels):
            self.eta[k].fill(0.0)
            self._looks += 1
            tet_loops.jumps(
                coupling.active[k], level.around_first, level.around, level.tets, level.gradients,
                level.volumes, motion.d[k], self._stamps[k], self._looks, self._scratch[k], self.eta[k],
            )  # fmt: skip

    def near(
        self, motion: Motion, obstacles: Sequence[Pushing], time: float
    ) -> tuple[list[BoolArray], list[BoolArray]]:
        """Nodes of all levels but the finest that are near a tool, and those that were not left far
        behind."""
        levels = self.hierarchy.levels[:-1]
        last = int(motion.first[-2])
        away = np.full(last, np.inf)
        for tool in (obstacle for obstacle in obstacles if obstacle.refines):
            np.minimum(away, tool.distance(time, self._points[:last] + motion.whole[0][:last]), out=away)
        found: tuple[list[BoolArray], list[BoolArray]] = ([], [])
        for level, a, b in zip(levels, motion.first, motion.first[1:], strict=False):
            for flags, reach in zip(found, (REACH, LEAVE), strict=True):
                flags.append(away[a:b] < reach * level.spacing)
        return found

    def choose(
        self, split: list[BoolArray], near: list[BoolArray], lately: list[BoolArray], held: list[BoolArray]
    ) -> tuple[list[BoolArray], list[Array]]:
        """New split flags, and how urgent each is (forced ones: infinitely).

        Where ``whole``, every split node has a tet whose corners are all split: with schwarz, single nodes
        among simulated ones let borders gain energy: growth rates up to 3 /s in 6 of 18 random choices on an
        irregular cube, none with whole tets (tests/verification/test_multires_borders.py).
        """
        wanted, urgency = [], []
        for k, link in enumerate(self.hierarchy.links):
            worst = np.zeros(len(split[k]))
            kernels.worst_children(
                np.flatnonzero(split[k]), link.children_first, link.children, split[k + 1],
                self.eta[k + 1], worst,
            )  # fmt: skip
            kept = split[k] & ((worst > MERGE * self.threshold) | lately[k])
            fresh = ~split[k] & (self.eta[k] > self.threshold)
            forced = near[k] | held[k]
            wanted.append(kept | fresh | forced)
            own = np.where(split[k], 2.0 * np.minimum(worst, 1e6), self.eta[k])
            urgency.append(np.where(forced, 1e9, own))
            if self.whole:
                level, nodes = self.hierarchy.levels[k], np.flatnonzero(wanted[k])
                kernels.whole_tets(nodes, level.around_first, level.around, level.tets, wanted[k])
        wanted.append(flagged(self.hierarchy.levels[-1].count))
        return wanted, urgency

    def graded(self, wanted: list[BoolArray]) -> list[BoolArray]:
        """``wanted`` and what it needs: a split node's neighbours are simulated at its level or finer."""
        flags = self._joined(wanted)
        return self._taken(np.flatnonzero(flags), np.zeros(len(flags)), np.inf)

    def within(
        self, wanted: list[BoolArray], urgency: list[Array], counts: list[int], budget: float | None
    ) -> tuple[list[BoolArray], bool]:
        """The most urgent of ``wanted`` whose work stays within 95 % of the budget, graded; True if cut."""
        whole = self.graded(wanted)
        if budget is None or not len(self._fans) or self.work(whole, counts) <= FULL * budget:
            return whole, False
        nodes = np.flatnonzero(self._joined(wanted))
        order = nodes[np.argsort(-np.concatenate(urgency)[nodes], kind="stable")]
        each = zip(self._fans, counts[:-1], counts[1:], strict=True)
        costs = np.concatenate([1.0 * finer * fans - own for fans, own, finer in each])
        return self._taken(order, costs, FULL * budget - self.work([], counts)), True

    def work(self, split: list[BoolArray], counts: list[int]) -> int:
        """Node updates of an advance in which level k takes ``counts[k]`` steps."""
        total = counts[0] * self.hierarchy.levels[0].count
        for flags, fans, m, n in zip(split, self._fans, counts, counts[1:], strict=False):
            total += n * int(fans[flags].sum()) - m * int(np.count_nonzero(flags))
        return total

    def _joined(self, split: list[BoolArray]) -> BoolArray:
        """Flags of all levels but the finest, end to end."""
        return np.concatenate([flagged(0), *split[:-1]])

    def _taken(self, order: IntArray, costs: Array, most: float) -> list[BoolArray]:
        """Split flags of the nodes ``order`` (their places among all levels but the finest) and of what these
        need, as far as the costs add up to no more than ``most``."""
        flags = flagged(len(costs))
        kernels.split_in_order(order, costs, most, *self._grading, flags)
        ends = np.cumsum([level.count for level in self.hierarchy.levels[:-1]])
        return [*np.split(flags, ends[:-1])[: len(ends)], flagged(self.hierarchy.levels[-1].count)]

    def _grades(self) -> tuple[IntArray, IntArray, IntArray]:
        """Neighbours of all nodes but the finest, as sparse rows, and their parents (the coarsest: -1)."""
        columns, parents, firsts, begin = [], [], [np.zeros(1, np.int64)], 0
        above = 0
        for k, level in enumerate(self.hierarchy.levels[:-1]):
            firsts.append(level.first[1:] + firsts[-1][-1])
            columns.append(level.columns + begin)
            parents.append(self.hierarchy.links[k - 1].parent + above if k else np.full(level.count, -1))
            above, begin = begin, begin + level.count
        none = np.zeros(0, np.int64)
        return np.concatenate(firsts), np.concatenate([none, *columns]), np.concatenate([none, *parents])
