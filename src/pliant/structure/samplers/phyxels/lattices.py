"""Places of phyxels: lattices with a layer on the surface, and octrees."""

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.structure.samplers.phyxels.inside import InsideTest
from pliant.structure.samplers.phyxels.voronoi_volumes import REACH

SHELL = 0.5  # of the spacing: nodes this near to the surface, on either side, move onto it
FITS = 0.02  # of the spacing: nodes that move less onto the surface fit it
CLOSEST = 0.55  # of the spacing: phyxels on the surface keep this distance from each other
DEEPEST = 9
FIRST = (1, 3, 5, 7)  # boxes along the shortest side to start from: one, or more where that comes nearer
_EIGHT = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1], indexing="ij"), axis=-1).reshape(-1, 3)


def cubic_nodes(solid: InsideTest, spacing: float) -> Array:
    """Nodes of a lattice that fits the box of the body, ``spacing`` rounded to fit along each axis."""
    counts = np.maximum(1, np.round(solid.extent / spacing).astype(np.int64))
    axes = [np.linspace(a, b, n + 1) for a, b, n in zip(solid.low, solid.high, counts, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def centred_nodes(solid: InsideTest, spacing: float) -> Array:
    """Nodes and cell centres of a cubic lattice, cells of ``2^(1/3) spacing``: as many per volume."""
    counts = np.maximum(1, np.round(solid.extent / (2.0 ** (1 / 3) * spacing)).astype(np.int64))
    axes = [np.linspace(a, b, n + 1) for a, b, n in zip(solid.low, solid.high, counts, strict=True)]
    middles = [0.5 * (axis[1:] + axis[:-1]) for axis in axes]
    parts = [np.stack(np.meshgrid(*a, indexing="ij"), axis=-1).reshape(-1, 3) for a in (axes, middles)]
    return np.concatenate(parts)


def fitted(nodes: Array, solid: InsideTest, spacing: float) -> tuple[Array, BoolArray]:
    """The nodes inside, and those near the surface moved onto it: one of them per ``spacing``^2; and which of
    them may still move, because they are below others that did.

    A band of nodes one spacing wide has as many nodes as the surface needs. Phyxels on the surface make
    a body as stiff as it should be; a first layer half a spacing inside leaves it too soft.
    """
    from scipy.spatial import cKDTree

    nearest, distance = solid.distance(nodes)
    shell = distance <= SHELL * spacing
    deep = nodes[~shell & solid.inside(nodes)]
    moved = distance[shell] / spacing
    order = np.argsort(np.round(moved, 6), kind="stable")
    surface = nearest[shell][order]
    kept = apart(surface, CLOSEST * spacing)
    strayed = surface[kept & (moved[order] > FITS)]
    points = np.concatenate([deep, surface[kept]])
    free = np.zeros(len(points), bool)
    if len(strayed):
        free[: len(deep)] = np.asarray(cKDTree(strayed).query(deep)[0]) < REACH * spacing
    return points, free


def apart(points: Array, gap: float) -> BoolArray:
    """Which points to keep so that none is nearer than ``gap`` to an earlier kept one."""
    from scipy.spatial import cKDTree

    keep = np.ones(len(points), bool)
    pairs: IntArray = cKDTree(points).query_pairs(gap, output_type="ndarray") if len(points) else pairs_none()
    pairs = np.sort(pairs, axis=1)
    for first, second in pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]:
        if keep[first]:
            keep[second] = False
    return keep


def pairs_none() -> IntArray:
    return np.zeros((0, 2), np.int64)


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
