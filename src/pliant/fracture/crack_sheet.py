"""Smoothing of cracks that are sheets of triangles, along which embedded surfaces are cut."""

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray


def sheet_rim(triangles: IntArray, count: int) -> BoolArray:
    """Which of ``count`` corners lie on the rim of a sheet, or on lines where sheets meet: on edges that do
    not belong to two ``triangles`` (t, 3)."""
    sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    edges, uses = np.unique(sides, axis=0, return_counts=True)
    found = np.zeros(count, bool)
    found[edges[uses != 2]] = True
    return found


def relax_sheet(
    points: Array, triangles: IntArray, corner: IntArray, owner: IntArray, still: BoolArray
) -> Array:
    """``points`` (p, 3) moved half of the way to the mean of the centroids of the triangles around them, but
    those that are ``still`` (p,). corner, owner (3 t,): corners of all triangles and the triangle of each."""
    mean = corner_means(points[triangles].mean(axis=1)[owner], corner, len(points))
    return np.where(still[:, None], points, 0.5 * points + 0.5 * mean)


def corner_means(values: Array, corner: IntArray, count: int) -> Array:
    """Means (count, 3) of ``values`` (m, 3) over the entries of ``corner`` (m,) that name each corner."""
    total = np.stack([np.bincount(corner, values[:, c], count) for c in range(3)], axis=1)
    return np.asarray(total / np.bincount(corner, minlength=count)[:, None])
