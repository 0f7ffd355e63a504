"""How far two surfaces are apart, by sampling: what tests of meshers measure."""

from typing import NamedTuple

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.mesh.bvh import Bvh
from pliant.mesh.diagnostics import hidden
from pliant.mesh.mesh import Surface, TetMesh, boundary_triangles
from pliant.mesh.triangles import double_areas


class SurfaceDistance(NamedTuple):
    """Largest distances [m] over the samples of one surface from the whole of the other."""

    there: float  # from the first to the second
    back: float  # from the second to the first

    @property
    def largest(self) -> float:
        """The larger of the two: a lower bound of the Hausdorff distance [m]."""
        return max(self)


def distance(mesh: Surface | TetMesh, surface: Surface, samples: int = 20_000) -> SurfaceDistance:
    """Largest one-sided distances between a mesh (a tet mesh by its boundary) and a surface, both ways.

    Each side is sampled at its used points, its triangles' centres and about ``samples`` points spread
    evenly by area (a fixed low-discrepancy sequence, so the result is the same each time). The true largest
    distance can exceed the sampled one by about the spacing of the samples. Parts of ``surface`` that lie
    inside it, where it cuts itself, are no boundary of the body and are left out.
    """
    triangles = boundary_triangles(mesh.tets) if isinstance(mesh, TetMesh) else mesh.triangles
    one, two = (mesh.points, triangles), (surface.points, surface.triangles)
    there = Bvh(*two).nearest(spread(*one, samples))[1].max()
    shown = surface.triangles[~hidden(surface)]
    back = Bvh(*one).nearest(spread(surface.points, shown, samples))[1].max()
    return SurfaceDistance(float(there), float(back))


def spread(points: Array, triangles: IntArray, samples: int) -> Array:
    """Points on triangles: corners, centres, and about ``samples`` of equal density over the area.

    The i-th of those lies where the summed area passes (i + 1/2) / samples, at barycentric coordinates from
    the plastic-number sequence folded into the triangle.
    """
    total = np.cumsum(double_areas(points, triangles))
    i = np.arange(samples)
    where = np.searchsorted(total, (i + 0.5) / samples * total[-1])
    u, v = (i * 0.7548776662466927 + 0.5) % 1.0, (i * 0.5698402909980532 + 0.5) % 1.0
    fold = u + v > 1
    u, v = np.where(fold, 1 - u, u), np.where(fold, 1 - v, v)
    a, b, c = (points[triangles[where, k]] for k in range(3))
    inner = a + u[:, None] * (b - a) + v[:, None] * (c - a)
    return np.concatenate([points[np.unique(triangles)], points[triangles].mean(axis=1), inner])
