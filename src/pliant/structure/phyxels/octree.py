"""The octree of [Stegmayr2008]_ table 3.1: fine at the surface, coarse inside."""

import numpy as np

from pliant.structure.phyxels.solid import Solid
from pliant.typing import Array

DEEPEST = 9
_EIGHT = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1], indexing="ij"), axis=-1).reshape(-1, 3)


def levels_for(solid: Solid, spacing: float) -> int:
    """How often to halve so that the finest boxes are about ``spacing`` wide."""
    return int(np.clip(round(float(np.log2(float(root_boxes(solid)[1].mean()) / spacing))), 0, DEEPEST))


def root_boxes(solid: Solid) -> tuple[Array, Array]:
    """Centres (m, 3) and size (3,) of the nearly cubic boxes that the body's box is made of."""
    counts = np.maximum(1, np.round(solid.extent / solid.extent.min()).astype(np.int64))
    size = solid.extent / counts
    axes = [low + step * (np.arange(n) + 0.5) for low, step, n in zip(solid.low, size, counts, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3), size


def octree_centres(solid: Solid, levels: int) -> tuple[Array, float]:
    """Centres of the boxes that lie inside, and the edge of the finest ones.

    A box that the surface passes through is divided into eight until it has been divided ``levels`` times.
    Differs from the source: "passes through" is judged by the ball around the box, and a body that is long
    starts from several nearly cubic boxes instead of one long one.
    """
    boxes, size = root_boxes(solid)
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
