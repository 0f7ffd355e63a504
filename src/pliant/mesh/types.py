"""The two kinds of mesh: a triangle surface and a tetrahedral volume."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from pliant.typing import Array, IntArray


@dataclass(frozen=True)
class Surface:
    """Triangles in space, with what must survive to the exported frames.

    points (n, 3) [m]; triangles (m, 3), counter-clockwise seen from outside;
    uv (k, 2) and uv_triangles (m, 3) texture coordinates with their own indexing, or None;
    groups: named sets of triangle indices (OBJ ``g``/``usemtl``).
    """

    points: Array
    triangles: IntArray
    uv: Array | None = None
    uv_triangles: IntArray | None = None
    groups: Mapping[str, IntArray] = field(default_factory=dict)


@dataclass(frozen=True)
class TetMesh:
    """Tetrahedra in space, each with positive volume.

    points (n, 3) [m]; tets (m, 4); groups: named sets of point indices;
    regions (m,): a region number per tet, or None; extra: blocks of a file format that no one here
    interprets (``.str`` Voronoi blocks), kept so that a file is written back as it was read.
    """

    points: Array
    tets: IntArray
    groups: Mapping[str, IntArray] = field(default_factory=dict)
    regions: IntArray | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


def tet_volumes(points: Array, tets: IntArray) -> Array:
    """Signed volumes of tets [m3], ``det(p1 - p0, p2 - p0, p3 - p0) / 6``; shape (m,)."""
    p0, p1, p2, p3 = (points[tets[:, k]] for k in range(4))
    return np.asarray(np.einsum("ij,ij->i", np.cross(p1 - p0, p2 - p0), p3 - p0) / 6.0)


def boundary_triangles(tets: IntArray) -> IntArray:
    """Triangles that belong to one tet only, facing outward; shape (k, 3), in tet order."""
    faces = tets[:, [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]]].reshape(-1, 3)
    key = np.sort(faces, axis=1)
    _, first, count = np.unique(key, axis=0, return_index=True, return_counts=True)
    outside: IntArray = faces[np.sort(first[count == 1])]
    return outside


def tet_edges(tets: IntArray) -> IntArray:
    """The distinct edges of the tets as sorted pairs (i < j), in lexicographic order; shape (e, 2)."""
    pairs = tets[:, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]].reshape(-1, 2)
    edges: IntArray = np.unique(np.sort(pairs, axis=1), axis=0)
    return edges


def surface_volume(points: Array, triangles: IntArray) -> float:
    """Volume enclosed by closed triangles [m3], ``1/6 sum det(r1, r2, r3)`` about their mean point."""
    r = points - points.mean(axis=0)
    a, b, c = (r[triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", np.cross(a, b), c) / 6.0)
