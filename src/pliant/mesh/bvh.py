"""A bounding volume hierarchy of a surface's triangles: nearest points, inside tests, self-intersections."""

from functools import cached_property

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray

FAR = 3.0  # a group of triangles this many radii away counts as one dipole


class Bvh:
    """Answers questions about the triangles (m, 3) over points (n, 3); built once, then read only."""

    def __init__(self, points: Array, triangles: IntArray) -> None:
        from pliant.mesh import bvh_kernels

        self.triangles = np.ascontiguousarray(triangles, dtype=np.int64)
        self.corners = np.ascontiguousarray(points[self.triangles].reshape(-1, 9), dtype=np.float64)
        cube = self.corners.reshape(-1, 3, 3)
        self._nodes = bvh_kernels.build(cube.min(axis=1), cube.max(axis=1))

    def nearest(self, queries: Array) -> tuple[Array, Array, IntArray]:
        """The nearest surface points (q, 3), their distances (q,) and triangles (q,)."""
        from pliant.mesh import bvh_kernels

        queries = np.ascontiguousarray(queries, dtype=np.float64)
        out, which = np.empty_like(queries), np.zeros(len(queries), dtype=np.int64)
        bvh_kernels.nearest(queries, self.corners, *self._nodes, out, which)
        return out, np.linalg.norm(out - queries, axis=1), which

    @cached_property
    def _moments(self) -> tuple[Array, Array]:
        from pliant.mesh import bvh_kernels

        found: tuple[Array, Array] = bvh_kernels.moments(self.corners, *self._nodes[3:])
        return found

    def winding(self, queries: Array) -> Array:
        """How often the surface goes round each query, shape (q,): 1 inside, 0 outside, between at holes."""
        from pliant.mesh import bvh_kernels

        queries = np.ascontiguousarray(queries, dtype=np.float64)
        out = np.empty(len(queries))
        bvh_kernels.winding(queries, self.corners, *self._nodes[2:], *self._moments, FAR, out)
        return out

    def inside(self, queries: Array) -> BoolArray:
        """Is each query inside? The winding number is above one half; shape (q,)."""
        return np.asarray(self.winding(queries) > 0.5)

    def cutting_pairs(self) -> int:
        """Number of pairs of triangles without a common vertex that cut each other."""
        from pliant.mesh import bvh_kernels

        return int(bvh_kernels.cutting_pairs(self.corners, self.triangles, *self._nodes))
