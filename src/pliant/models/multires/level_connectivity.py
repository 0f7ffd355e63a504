"""Parents and children of the nodes of all levels, with levels laid end to end."""

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.models.multires.hierarchy import Hierarchy


class LevelConnectivity:
    """Nodes have one number in all levels; those of level k begin at ``first[k]``.

    parent (n,): the nearest node of the next coarser level, -1 at the coarsest; children of node i:
    ``children[children_first[i] : children_first[i + 1]]``; up, down (n, 4): corners of the parent tet and of
    the child tet, with weights (zeros where there is none).
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        levels, links = hierarchy.levels, hierarchy.links
        counts = [level.count for level in levels]
        self.first: IntArray = np.concatenate([[0], np.cumsum(counts)])
        above, below = (
            list(zip(self.first, links, strict=False)),
            list(zip(self.first[1:], links, strict=False)),
        )
        none = np.zeros((0, 4), np.int64)
        self.parent: IntArray = np.concatenate(
            [np.full(counts[0], -1), *(link.parent + a for a, link in above)]
        )
        self.children: IntArray = np.concatenate([none[:, 0], *(link.children + b for b, link in below)])
        sizes = [np.diff(link.children_first) for link in links]
        self.children_first: IntArray = np.concatenate(
            [[0], np.cumsum(np.concatenate([*sizes, np.zeros(counts[-1], np.int64)]))]
        ).astype(np.int64)
        first, last = np.zeros((counts[0], 4)), np.zeros((counts[-1], 4))
        self.up: IntArray = np.concatenate([first.astype(np.int64), *(link.corners + a for a, link in above)])
        self.up_weights: Array = np.concatenate([first, *(link.weights for link in links)])
        self.down: IntArray = np.concatenate([*(link.down + b for b, link in below), last.astype(np.int64)])
        self.down_weights: Array = np.concatenate([*(link.down_weights for link in links), last])
