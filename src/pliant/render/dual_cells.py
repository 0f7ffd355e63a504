"""The dual cell of each particle as triangles, shrunk towards its middle."""

from dataclasses import dataclass

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.mesh.mesh import boundary_triangles
from pliant.structure.samplers.dual.cells import Dual, dual_cells, face_triangles


@dataclass(frozen=True)
class CellFaces:
    """Faces of all dual cells of a tet mesh.

    corners (m, 3): triangles over the dual vertices, the midpoints of edges and the particles, in this order,
    facing out of their cell; owner (m,): the particle whose cell a triangle bounds.
    """

    dual: Dual
    corners: IntArray
    owner: IntArray

    def points(self, x: Array, shrink: float) -> Array:
        """Corners of all triangles (3 m, 3) for particles at ``x``, cells scaled by ``shrink``."""
        ends = self.dual.edges
        every = np.concatenate([self.dual.vertices(x), 0.5 * (x[ends[:, 0]] + x[ends[:, 1]]), x])
        placed = every[self.corners]
        count = np.maximum(np.bincount(self.owner, minlength=len(x)), 1)
        means = placed.mean(axis=1)
        sums = [np.bincount(self.owner, means[:, c], minlength=len(x)) for c in range(3)]
        middle = (np.stack(sums, axis=1) / count[:, None])[self.owner][:, None]
        return np.asarray(middle + shrink * (placed - middle)).reshape(-1, 3)


def cell_faces(rest: Array, tets: IntArray) -> CellFaces:
    """Faces across edges, once for each of the two cells beside them, and the parts of the boundary: of a
    triangle each corner gets the quarter between the midpoints of its sides and its barycentre."""
    dual = dual_cells(rest, tets)
    faces, owner = _across_edges(dual)
    outer, outer_owner = _boundary(dual, tets)
    return CellFaces(dual, np.concatenate([faces, outer]), np.concatenate([owner, outer_owner]))


def _across_edges(dual: Dual) -> tuple[IntArray, IntArray]:
    triangles, face = face_triangles(dual)  # facing from i to j: out of the cell of i
    owner = np.concatenate([dual.edges[face, 0], dual.edges[face, 1]])
    return np.concatenate([triangles, triangles[:, ::-1]]), owner


def _boundary(dual: Dual, tets: IntArray) -> tuple[IntArray, IntArray]:
    outer = boundary_triangles(tets)
    vertices, edges = len(dual.particles), dual.edges
    n = int(tets.max()) + 1
    keys = edges[:, 0] * n + edges[:, 1]
    barycentre = len(tets) + np.arange(len(outer))  # dual vertices: tets first, then boundary triangles
    corners, owner = [], []
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        i = outer[:, a]
        sides = []
        for other in (outer[:, b], outer[:, c]):
            pair = np.minimum(i, other) * n + np.maximum(i, other)
            sides.append(vertices + np.searchsorted(keys, pair))
        particle = vertices + len(edges) + i
        corners += [
            np.stack([particle, sides[0], barycentre], axis=1),
            np.stack([particle, barycentre, sides[1]], axis=1),
        ]
        owner += [i, i]
    return np.concatenate(corners), np.concatenate(owner)
