"""Checks on the triangles of a surface, one by one."""

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.mesh.mesh import Surface

FLAT = 1e-12  # a triangle is degenerate when 2 area <= FLAT * longest edge^2


def check_arrays(surface: Surface) -> None:
    """Refuse arrays that are no surface: wrong shape, empty, not finite, corners that do not exist."""
    points, triangles = np.asarray(surface.points), np.asarray(surface.triangles)
    if points.ndim != 2 or points.shape[1] != 3 or triangles.ndim != 2 or triangles.shape[1] != 3:
        raise MeshError(
            f"A surface needs points (n, 3) and triangles (m, 3), not {points.shape} and {triangles.shape}.",
            hint="Triangulate the faces first.",
        )
    if not len(triangles) or not len(points):
        raise MeshError("The surface has no triangles.", hint="Check that the file holds a mesh.")
    if not np.issubdtype(triangles.dtype, np.integer):
        raise MeshError(
            f"Triangles must be integers, not {triangles.dtype}.", hint="Convert them with astype(int)."
        )
    if not np.isfinite(points).all():
        raise MeshError("The surface has points that are not finite.", hint="Export the model again.")
    if triangles.min() < 0 or triangles.max() >= len(points):
        raise MeshError(
            f"A triangle refers to point {triangles.max()}, but there are {len(points)} points.",
            hint="Points count from 0; export the model again.",
        )


def double_areas(points: Array, triangles: IntArray) -> Array:
    """Twice the areas of triangles [m2]; shape (m,)."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return np.asarray(np.linalg.norm(np.cross(b - a, c - a), axis=1))


def degenerate(points: Array, triangles: IntArray) -> BoolArray:
    """Which triangles have no area to speak of: 2 A <= 1e-12 L^2, L the longest edge; shape (m,)."""
    corners = points[triangles]
    longest = ((corners - np.roll(corners, 1, axis=1)) ** 2).sum(axis=2).max(axis=1)
    return np.asarray(double_areas(points, triangles) <= FLAT * longest)


def duplicates(triangles: IntArray) -> BoolArray:
    """Which triangles have the same three corners as an earlier one, whatever the winding; shape (m,)."""
    _, first = np.unique(np.sort(triangles, axis=1), axis=0, return_index=True)
    again = np.ones(len(triangles), dtype=bool)
    again[first] = False
    return again


def part_volumes(points: Array, triangles: IntArray, part: IntArray, count: int) -> Array:
    """Signed volumes [m3] of the ``count`` parts that triangles belong to; shape (count,).

    ``1/6 sum det(r1, r2, r3)`` about the mean corner of each part.
    """
    corners = points[triangles]
    number = np.maximum(np.bincount(part, minlength=count), 1)
    middle = corners.mean(axis=1)
    centre = np.stack([np.bincount(part, middle[:, c], count) / number for c in range(3)], axis=1)
    r = corners - centre[part][:, None]
    volumes = np.einsum("ij,ij->i", np.cross(r[:, 0], r[:, 1]), r[:, 2]) / 6
    return np.bincount(part, volumes, count).astype(np.float64)
