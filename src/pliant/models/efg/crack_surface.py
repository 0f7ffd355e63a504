"""Cracks as sheets of triangles, along which the carried surface is cut."""

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.fracture.crack_sheet import corner_means, relax_sheet, sheet_rim
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
    still = cells.outside[used] | sheet_rim(triangles, len(points))
    corner, owner, face = triangles.ravel(), np.repeat(np.arange(len(triangles)), 3), np.repeat(of[chosen], 3)
    for _ in range(3):
        points = relax_sheet(points, triangles, corner, owner, still)
        at, normal = planes[face, :3], planes[face, 3:]
        off = np.einsum("ti,ti->t", points[corner] - at, normal)[:, None] * normal
        points = points - corner_means(off, corner, len(points))
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
