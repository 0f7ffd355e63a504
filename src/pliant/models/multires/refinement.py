"""Which level is simulated where: splitting, merging, grading, and the limit of the work budget."""

from collections.abc import Callable, Sequence

import numpy as np

from pliant.contact.obstacle import ObstacleRuntime
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.models.multires import contact_kernels, level_kernels
from pliant.models.multires.arrangement import Arrangement
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.motion_kernels import NodeMotion

MERGE = 0.2  # of the split threshold; half of it still flickers
CALM, MOST_CALM = 0.5, 16.0  # seconds that all children of a node have to be below that before it merges
SOON = 2.0  # a node that is split again within so many times that waits twice as long the next time
REACH, LEAVE = 1.2, 2.0  # in edges: how near to a tool particles are simulated, and how far they may merge
NEAR_ENOUGH = 40  # the most nodes that fit a budget are found to this part of what is wanted
FULL = 0.95  # share of the budget beyond which nothing is split
URGENT = 1e9


class Refinement:
    """Chooses the nodes that are replaced by finer ones.

    eta (n,): rms deviation of the gradients of a node's incident tets, the "strain change across a cell":
    zero on linear fields, about 0.4 h |u''|. A node is split above ``threshold``, and merged when all its
    children have been below a fifth of it for half a second: merging takes energy out of the motion, so it
    must be rare. Particles near a tool are simulated whatever eta is: it is zero before the first contact.
    calm (n,) [s]: how long a split node's children have been calm; patience (n,) [s]: how long they have to
    be; merged (n,) [s]: how long ago a node merged. Nodes that merge and are split again soon wait twice as
    long, so that levels settle under a tool that rests."""

    def __init__(self, hierarchy: Hierarchy, threshold: float) -> None:
        self.hierarchy, self.threshold = hierarchy, threshold
        self.eta: Array = np.zeros(len(hierarchy.points))
        n = len(hierarchy.points)
        self.calm: Array = np.zeros(n)
        self.patience: Array = np.full(n, CALM)
        self.merged: Array = np.full(n, np.inf)
        self._own = np.zeros(n, bool)

    def measure(self, arrangement: Arrangement, motion: NodeMotion) -> None:
        """Compute eta of all active nodes; it is zero elsewhere. x of all nodes is up to date."""
        h = self.hierarchy
        self.eta[:] = 0.0
        known = ~arrangement.own
        known[arrangement.active] = True
        level = h.level[arrangement.active]
        for k, tets in enumerate(h.level_tets):
            level_kernels.gradient_jump(
                arrangement.active[level == k], known, h.first[k], tets.tets, tets.gradients, tets.volumes,
                tets.incident_first, tets.incident, motion.x, self.eta,
            )  # fmt: skip

    def near_tools(
        self, x: Array, obstacles: Sequence[ObstacleRuntime], times: Array, edges: float
    ) -> BoolArray:
        """Particles at x (n, 3) within so many ``edges`` of a tool."""
        found = np.zeros(len(x), bool)
        reach = np.full(len(x), edges * self.hierarchy.edge)
        for tool in (obstacle for obstacle in obstacles if obstacle.refines):
            shape = tool.rigid(times)
            contact_kernels.near_shape(shape.kind, shape.size, shape.frame, shape.places, x, reach, found)
        return found

    def above(self, particles: BoolArray) -> BoolArray:
        """All nodes (n,) that flagged particles (of the finest level) hang on, at every coarser level."""
        h = self.hierarchy
        flags = np.zeros(len(h.points), bool)
        flags[h.particles] = particles
        for k in range(h.count - 1, 0, -1):
            rows = np.arange(h.first[k], h.first[k + 1])[flags[h.first[k] : h.first[k + 1]]]
            flags[h.nested_corners[rows][h.nested_weights[rows] != 0.0]] = True
        flags[h.particles] = False
        return flags

    def choose(
        self, arrangement: Arrangement, urgent: BoolArray, kept: BoolArray, elapsed: float
    ) -> tuple[BoolArray, Array]:
        """Which nodes should be split, and how urgent each is. urgent, kept (n,): nodes that have to be
        split, and split ones that may not merge; elapsed [s]: since the last call."""
        h, some = self.hierarchy, slice(0, self.hierarchy.particles.start)  # particles are never split
        split, eta, urgent, kept = arrangement.split[some], self.eta[some], urgent[some], kept[some]
        worst = np.zeros(len(split))
        level_kernels.worst_children(arrangement.split, self.eta, h.children_first, h.children, worst)
        calm = split & (worst < MERGE * self.threshold) & ~kept & ~urgent
        self.calm[some] = np.where(calm, self.calm[some] + elapsed, 0.0)
        patience = self.patience[some]
        stays = split & (self.calm[some] < patience)
        fresh = ~split & (eta > self.threshold)
        self.merged[some] = np.where(split & ~stays, 0.0, self.merged[some] + elapsed)
        soon = fresh & (self.merged[some] < SOON * patience)
        self.patience[some] = np.where(soon, np.minimum(2.0 * patience, MOST_CALM), patience)
        wanted, urgency = np.zeros(len(self.eta), bool), np.zeros(len(self.eta))
        wanted[some] = urgent | stays | fresh
        urgency[some] = np.where(split, 2.0 * np.minimum(worst, 1e6), eta)
        urgency[some] = np.where(urgent, URGENT - h.level[some], urgency[some])
        return wanted, urgency

    def grade(self, wanted: BoolArray) -> BoolArray:
        """``wanted`` and what it needs: nodes that a split node hangs on are split too."""
        h, flags = self.hierarchy, wanted.copy()
        for k in range(h.count - 2, 0, -1):
            rows = np.arange(h.first[k], h.first[k + 1])[flags[h.first[k] : h.first[k + 1]]]
            flags[h.corners[rows][h.weights[rows] != 0.0]] = True
        return flags

    def within_budget(
        self,
        wanted: BoolArray,
        urgency: Array,
        pinned: BoolArray,
        ticks: Callable[[int], int],
        budget: float | None,
    ) -> tuple[BoolArray, int]:
        """The most urgent of ``wanted`` whose node updates stay within 95 % of the budget, graded, and how
        many were refused. ticks: of a frame whose deepest level is the given one."""
        flags = self.grade(wanted)
        if budget is None or self.updates(flags, pinned, ticks) <= FULL * budget:
            return flags, 0
        order = np.flatnonzero(wanted)
        order = order[np.lexsort((order, -urgency[order]))]
        low, high = 0, len(order)
        while high - low > 1 + len(order) // NEAR_ENOUGH:
            middle = (low + high) // 2
            if self.updates(self._first(order[:middle]), pinned, ticks) <= FULL * budget:
                low = middle
            else:
                high = middle
        kept = self._first(order[:low])
        return kept, int((flags & ~kept).sum())

    def _first(self, nodes: IntArray) -> BoolArray:
        flags = np.zeros(len(self.eta), bool)
        flags[nodes] = True
        return self.grade(flags)

    def updates(self, split: BoolArray, pinned: BoolArray, ticks: Callable[[int], int]) -> int:
        """Node updates of a frame with these split flags."""
        h = self.hierarchy
        begin = h.particles.start
        count, deepest = level_kernels.count_active(
            np.flatnonzero(split[:begin]), split, pinned, h.anchored, h.level, h.corners, h.weights, begin,
            h.first[1], h.children_first, h.children, self._own,
        )  # fmt: skip
        return int(count) * ticks(int(deepest))
