"""Shown surfaces at a frame, ready to be written."""

import numpy as np

from pliant.typing import Array, IntArray


def vertex_normals(points: Array, triangles: IntArray) -> Array:
    """Smooth unit normals (n, 3): triangle normals, by area; zero where no triangle has one."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    face = np.cross(b - a, c - a)
    total = np.empty_like(points)
    flat = triangles.ravel()
    for axis in range(3):
        total[:, axis] = np.bincount(flat, np.repeat(face[:, axis], 3), len(points))
    length = np.linalg.norm(total, axis=1, keepdims=True)
    normals: Array = np.divide(total, length, out=np.zeros_like(total), where=length > 0)
    return normals
