"""Phyxels by slices through a surface, as a graphics card fills them with its stencil buffer."""

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.structure.samplers.phyxels.lattices import UNTIE, InsideTest


def stencil_centres(solid: InsideTest, spacing: float) -> tuple[Array, float]:
    """Centres of a lattice of nearly cubic cells, ``spacing`` rounded to fit the box of the body along each
    axis, that lie inside; and the edge of the cells.

    A column of cells along z is a pixel, a layer of them a step of the depth buffer. In each pixel the
    stencil counts the faces that look up (+1) and down (-1) beyond the layer, and a cell is inside where the
    count is not zero: [Stegmayr2008]_ table 3.2. Differs: pixels and depths are in the body's own box instead
    of a view of it, and columns are moved by 1e-5 of a cell, so that none runs along the edge of a triangle.
    """
    counts = np.maximum(1, np.round(solid.extent / spacing).astype(np.int64))
    size = solid.extent / counts
    column, height, facing = _crossings(solid, counts, size)
    below = np.clip(np.ceil((height - solid.low[2]) / size[2] - 0.5), 0, counts[2]).astype(np.int64)
    steps = np.zeros((counts[0] * counts[1], counts[2] + 1), np.int64)
    np.add.at(steps, (column, below), facing)
    stencil = np.cumsum(steps[:, ::-1], axis=1)[:, ::-1][:, 1:]  # the faces beyond each layer
    pixel, layer = np.nonzero(stencil)
    cells = np.column_stack([pixel // counts[1], pixel % counts[1], layer])
    return solid.low + size * (cells + 0.5), float(size.mean())


def _crossings(solid: InsideTest, counts: IntArray, size: Array) -> tuple[IntArray, Array, IntArray]:
    """Where columns pass through triangles: column (k,), height z (k,) [m], +1 up or -1 down (k,)."""
    corners = solid.tree.corners.reshape(-1, 3, 3)
    plane = (corners[:, :, :2] - solid.low[:2]) / size[:2] - 0.5 - UNTIE[:2]  # in pixels
    a, b, c = plane[:, 0], plane[:, 1], plane[:, 2]
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    first = np.maximum(np.ceil(plane.min(axis=1)), 0).astype(np.int64)
    last = np.minimum(np.floor(plane.max(axis=1)), counts[:2] - 1).astype(np.int64)
    wide = np.maximum(last - first + 1, 0)
    number = np.where(area != 0.0, wide[:, 0] * wide[:, 1], 0)
    triangle = np.repeat(np.arange(len(corners)), number)
    place = np.arange(len(triangle)) - np.repeat(np.cumsum(number) - number, number)
    i = first[triangle, 0] + place // wide[triangle, 1]
    j = first[triangle, 1] + place % wide[triangle, 1]
    pixel = np.column_stack([i, j]).astype(float)
    p, q, r = (plane[triangle, k] - pixel for k in range(3))
    weights = np.stack([_cross(q, r), _cross(r, p), _cross(p, q)], axis=1) / area[triangle][:, None]
    hit = (weights >= 0.0).all(axis=1)
    height = np.einsum("kc,kc->k", weights, corners[triangle, :, 2])
    facing = np.sign(area[triangle]).astype(np.int64)
    return (i * counts[1] + j)[hit], height[hit], facing[hit]


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
