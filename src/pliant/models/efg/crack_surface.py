"""Cracks as sheets of triangles, along which the carried surface is cut."""

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.models.efg.cells import VoronoiCells

UPRIGHT = 0.3  # cosine: how far triangles of a smoothed crack may turn


def sheet(cells: VoronoiCells, opened: BoolArray, planes: Array, smooth: float) -> tuple[Array, IntArray]:
    """The open faces as triangles; their corners the share ``smooth`` of the way to where they are on the
    planes of the faces around them, and inside in the middle of what is around them."""
    fans, of = cells.triangles
    chosen = opened[of]
    used, triangles = np.unique(fans[chosen], return_inverse=True)
    triangles = triangles.reshape(-1, 3)
    points = cells.points[used].copy()
    sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    edges, uses = np.unique(sides, axis=0, return_counts=True)
    still = cells.outside[used]
    still[edges[uses != 2]] = True  # rims, and lines where cracks meet
    corner, face = triangles.ravel(), np.repeat(of[chosen], 3)
    count = np.bincount(corner, minlength=len(points))[:, None]
    for _ in range(3):
        middle = np.repeat(points[triangles].mean(axis=1), 3, axis=0)
        moved = 0.5 * points + 0.5 * _summed(middle, corner, len(points)) / count
        points = np.where(still[:, None], points, moved)
        at, normal = planes[face, :3], planes[face, 3:]
        off = np.einsum("ti,ti->t", points[corner] - at, normal)[:, None] * normal
        points = points - _summed(off, corner, len(points)) / count
    start = cells.points[used]
    return _unfolded(start + smooth * (points - start), start, triangles), triangles


def _unfolded(points: Array, start: Array, triangles: IntArray) -> Array:
    """``points`` (p, 3), but the corners of triangles that were turned over on their way from ``start``, or
    nearly so, where they started."""
    before = _across(start, triangles)
    points = points.copy()
    for _ in range(20):
        after = _across(points, triangles)
        size = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
        folded = np.unique(triangles[np.einsum("ti,ti->t", before, after) < UPRIGHT * size])
        folded = folded[(points[folded] != start[folded]).any(axis=1)]
        if not len(folded):
            break
        points[folded] = start[folded]
    return points


def _across(points: Array, triangles: IntArray) -> Array:
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


def _summed(values: Array, of: IntArray, count: int) -> Array:
    return np.stack([np.bincount(of, values[:, c], count) for c in range(3)], axis=1)
