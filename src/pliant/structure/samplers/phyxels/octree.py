"""The octree of [Stegmayr2008]_ table 3.1: fine at the surface, coarse inside."""

import numpy as np

from pliant.core.typing import Array
from pliant.structure.samplers.phyxels.inside import InsideTest

DEEPEST = 9
FIRST = (1, 3, 5, 7)  # boxes along the shortest side to start from: one, or more where that comes nearer
_EIGHT = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1], indexing="ij"), axis=-1).reshape(-1, 3)


def divisions_for(solid: InsideTest, spacing: float) -> tuple[int, int]:
    """With how many boxes along the shortest side to start, and how often to halve them, so that the finest
    are about ``spacing`` wide."""
    wanted = float(solid.extent.min()) / spacing
    ways = [(first, levels) for first in FIRST for levels in range(DEEPEST + 1)]
    return min(ways, key=lambda way: abs(float(np.log(way[0] * 2.0 ** way[1] / wanted))))


def root_boxes(solid: InsideTest, first: int) -> tuple[Array, Array]:
    """Centres (m, 3) and size (3,) of the nearly cubic boxes that the body's box is made of."""
    counts = first * np.maximum(1, np.round(solid.extent / solid.extent.min()).astype(np.int64))
    size = solid.extent / counts
    axes = [low + step * (np.arange(n) + 0.5) for low, step, n in zip(solid.low, size, counts, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3), size


def octree_centres(solid: InsideTest, first: int, levels: int) -> tuple[Array, float]:
    """Centres of the boxes that lie inside, and the edge of the finest ones.

    A box that the surface passes through is divided into eight until it has been divided ``levels`` times.
    Differs from the source: "passes through" is judged by the ball around the box; a body that is long, or
    whose count asks for it, starts from several nearly cubic boxes instead of one.
    """
    boxes, size = root_boxes(solid, first)
    found = []
    for level in range(levels + 1):
        _, distance = solid.distance(boxes)
        divide = (
            distance < 0.5 * float(np.linalg.norm(size)) if level < levels else np.zeros(len(boxes), bool)
        )
        whole = boxes[~divide]
        found.append(whole[solid.inside(whole)])
        if level < levels:
            size = 0.5 * size
            boxes = (boxes[divide][:, None, :] + 0.5 * size * _EIGHT).reshape(-1, 3)
    return np.concatenate(found), float(size.mean())
