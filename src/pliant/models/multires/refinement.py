"""Which level is simulated where: splitting, merging, grading, and the limit of the work budget."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pliant.contact.obstacle import ObstacleRuntime
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.models.multires import refinement_kernels, substep_kernels, tet_kernels
from pliant.models.multires.coupling import Coupling
from pliant.models.multires.level_state import LevelState, flagged

MERGE = 0.2  # of the split threshold; half of it still flickers
REACH, LEAVE = 0.8, 1.2  # in spacings: how near to a tool nodes are split, and how far they may merge
FULL = 0.95  # share of the budget beyond which nothing is split


class Refinement:
    """Chooses the nodes that are replaced by finer ones.

    eta: rms deviation of the gradients of a node's incident tets, the "strain change across a cell": zero on
    linear fields, about 0.4 h |u''|. A node is split above ``threshold``, and merged when all its children
    are below a fifth of it. Nodes near a tool are split whatever eta is: it is zero before the first contact.

    Inside, nodes have one number in all levels; those that can be split, all but the finest, come first.
    """

    def __init__(self, motion: LevelState, threshold: float) -> None:
        self.hierarchy, self.threshold, self._tree = motion.hierarchy, threshold, motion.connectivity
        levels, first = self.hierarchy.levels, motion.first
        self._eta: Array = np.zeros(int(first[-1]))
        self.eta: list[Array] = motion.by_level(self._eta)
        self._measured: IntArray = np.zeros(0, np.int64)
        self._scratch: list[Array] = [np.zeros((len(level.tets), 9)) for level in levels]
        self._stamps: list[IntArray] = [np.zeros(len(level.tets), np.int64) for level in levels]
        self._stamp = 0
        self._grading = self._graded_rows()
        coarse = levels[:-1]
        self._points = np.concatenate([np.zeros((0, 3)), *(level.points for level in coarse)])
        self._spacing = np.concatenate([np.zeros(0), *(np.full(lv.count, lv.spacing) for lv in coarse)])
        self._level = np.concatenate([np.zeros(0, int), *(np.full(v.count, k) for k, v in enumerate(coarse))])
        self._counts: list[int] = []
        self._costs: Array = np.zeros(0)
        self._child_counts = np.diff(self._tree.children_first)[: len(self._points)]

    def set_eta(self, eta: Sequence[Array]) -> None:
        """Set the values of each level, those of another mesh or of an earlier time."""
        for own, values in zip(self.eta, eta, strict=True):
            own[:] = values
        self._measured = np.flatnonzero(self._eta)

    def measure(self, motion: LevelState, coupling: Coupling) -> None:
        """Compute eta of all active nodes; it is zero elsewhere."""
        self._eta[self._measured] = 0.0
        self._measured = coupling.active_stacked[0]
        for k, level in enumerate(self.hierarchy.levels):
            self._stamp += 1
            tet_kernels.gradient_jump(
                coupling.active[k], level.incident_first, level.incident, level.tets, level.gradients,
                level.volumes, motion.d[k], self._stamps[k], self._stamp, self._scratch[k], self.eta[k],
            )  # fmt: skip

    def obstacle_distance(
        self, motion: LevelState, obstacles: Sequence[ObstacleRuntime], time: float
    ) -> Array:
        """Distance [m] of the nodes that can be split from tools; infinite where none is near."""
        found, when = np.full(len(self._points), np.inf), np.array([time])
        for tool in (obstacle for obstacle in obstacles if obstacle.refines):
            shape = tool.rigid(when)
            substep_kernels.lower_to_distance(
                shape.kind, shape.size, shape.frame, shape.places[0], self._points, motion.stacked[0],
                LEAVE * self._spacing, found,
            )  # fmt: skip
        return found

    def choose(
        self, split: Sequence[BoolArray], distance: Array, forced: Sequence[BoolArray], whole_tets: bool
    ) -> tuple[BoolArray, Array]:
        """Which nodes should be split, and how urgent each is (forced ones: infinitely).

        Where ``whole_tets``, every split node has a tet whose corners are all split: with schwarz, single
        nodes among active ones let borders gain energy: growth rates up to 3 /s in 6 of 18 random choices on
        an irregular cube, none with whole tets (tests/verification/test_multires_borders.py).
        """
        count = len(self._points)
        wanted, urgency = flagged(count), np.empty(count)
        refinement_kernels.choose(
            np.concatenate(split), self._eta, distance, self._spacing, np.concatenate([flagged(0), *forced]),
            (self._tree.children_first, self._tree.children), self.threshold, (MERGE, REACH, LEAVE), wanted,
            urgency,
        )  # fmt: skip
        if whole_tets:
            for level, flags in zip(self.hierarchy.levels, self._by_level(wanted)[:-1], strict=False):
                nodes = np.flatnonzero(flags)
                refinement_kernels.whole_tets(nodes, level.incident_first, level.incident, level.tets, flags)
        return wanted, urgency

    def grade(self, wanted: Sequence[BoolArray]) -> list[BoolArray]:
        """``wanted`` and what it needs: a split node's neighbours are simulated at its level or finer."""
        flags = np.concatenate([flagged(0), *wanted[:-1]])
        return self._by_level(self._split_in_order(np.flatnonzero(flags), np.zeros(len(flags)), np.inf)[0])

    def within_budget(
        self, wanted: BoolArray, urgency: Array, counts: list[int], budget: float | None
    ) -> tuple[list[BoolArray], bool]:
        """The most urgent of ``wanted`` whose work stays within 95 % of the budget, graded; True if some were
        refused.

        Work: node updates of a step in which level k takes ``counts[k]`` sub-steps.
        """
        nodes, costs = np.flatnonzero(wanted), self._costs_of(counts)
        flags, work = self._split_in_order(nodes, costs, np.inf)
        least = counts[0] * self.hierarchy.levels[0].count
        if budget is None or not len(costs) or least + work <= FULL * budget:
            return self._by_level(flags), False
        order = nodes[np.argsort(-urgency[nodes], kind="stable")]
        return self._by_level(self._split_in_order(order, costs, FULL * budget - least)[0]), True

    def _costs_of(self, counts: list[int]) -> Array:
        """Node updates that each split node adds."""
        if counts != self._counts:
            steps = np.array(counts)
            self._counts = counts
            self._costs = 1.0 * steps[self._level + 1] * self._child_counts - steps[self._level]
        return self._costs

    def _by_level(self, flags: BoolArray) -> list[BoolArray]:
        """The flags of each level, as views, and those of the finest, which are never set."""
        parts = [flags[a:b] for a, b in pairwise(self._tree.first[:-1])]
        return [*parts, flagged(self.hierarchy.levels[-1].count)]

    def _split_in_order(self, order: IntArray, costs: Array, most: float) -> tuple[BoolArray, float]:
        """Split flags of the nodes ``order`` and of what these need, as far as the costs add up to no more
        than ``most``, and their sum."""
        flags = flagged(len(costs))
        return flags, refinement_kernels.split_in_order(order, costs, most, *self._grading, flags)

    def _graded_rows(self) -> tuple[IntArray, IntArray, IntArray]:
        """Neighbours of all nodes but the finest, as sparse rows, and their parents (the coarsest: -1)."""
        columns, firsts = [np.zeros(0, np.int64)], [np.zeros(1, np.int64)]
        for begin, level in zip(self._tree.first, self.hierarchy.levels[:-1], strict=False):
            firsts.append(level.first[1:] + firsts[-1][-1])
            columns.append(level.columns + begin)
        return np.concatenate(firsts), np.concatenate(columns), self._tree.parent
