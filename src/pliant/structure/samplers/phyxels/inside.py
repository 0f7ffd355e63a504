"""The inside of a closed surface, as phyxel samplers ask for it."""

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array, BoolArray
from pliant.mesh.bvh import Bvh
from pliant.mesh.edge_length import enclosed
from pliant.mesh.mesh import Surface
from pliant.mesh.triangles import double_areas

TOUCHING = 1e-7  # of the box diagonal: closer counts as on the surface


class InsideTest:
    """Distances and inside tests of a surface in its own coordinates.

    Inside is where the winding number exceeds one half: small holes and overlaps do no harm.
    """

    def __init__(self, surface: Surface) -> None:
        used = surface.points[np.unique(surface.triangles)]
        self.low, self.high = used.min(axis=0), used.max(axis=0)
        self.extent = self.high - self.low
        self.tree = Bvh(surface.points, surface.triangles)
        self.volume = enclosed(surface.points, surface.triangles)
        self.area = float(double_areas(surface.points, surface.triangles).sum() / 2)
        self.tolerance = TOUCHING * float(np.linalg.norm(self.extent))
        if not self.volume > 1e-9 * float(np.linalg.norm(self.extent)) ** 3:
            raise MeshError(
                "The surface encloses no volume.",
                hint="An open sheet cannot be filled: give it a thickness, or close it in a modelling tool.",
            )

    def distance(self, points: Array) -> tuple[Array, Array]:
        """The nearest points of the surface (q, 3) and their distances (q,), those on it exactly zero."""
        nearest, distance, _ = self.tree.nearest(points)
        touching = distance <= self.tolerance
        return np.where(touching[:, None], points, nearest), np.where(touching, 0.0, distance)

    def inside(self, points: Array) -> BoolArray:
        """Whether the surface goes round each point; shape (q,)."""
        return self.tree.inside(points)
