"""The two kinds of mesh: a triangle surface and a tetrahedral volume."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from pliant.core.typing import AnyArray, Array, IntArray


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
    _, first, count = np.unique(_keys(faces), return_index=True, return_counts=True)
    outside: IntArray = faces[np.sort(first[count == 1])]
    return outside


def tet_edges(tets: IntArray) -> IntArray:
    """The distinct edges of the tets as sorted pairs (i < j), in lexicographic order; shape (e, 2)."""
    pairs = tets[:, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]].reshape(-1, 2)
    size = int(tets.max()) + 1 if tets.size else 1
    keys = np.unique(_keys(pairs))
    return np.column_stack([keys // size, keys % size]).astype(np.int64)


def _keys(cells: IntArray) -> AnyArray:
    """One number per cell that is the same for any order of its (at most three) points; sorting numbers is
    many times faster than sorting rows."""
    size = int(cells.max()) + 1 if cells.size else 1
    if float(size) ** cells.shape[1] > 2.0**64:
        raise MemoryError(f"a mesh of {size} points is too large")
    ordered = np.sort(cells, axis=1).astype(np.uint64)
    key = ordered[:, 0]
    for column in ordered.T[1:]:
        key = key * np.uint64(size) + column
    return key


def surface_volume(points: Array, triangles: IntArray) -> float:
    """Volume enclosed by closed triangles [m3], ``1/6 sum det(r1, r2, r3)`` about their mean point."""
    r = points - points.mean(axis=0)
    a, b, c = (r[triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", np.cross(a, b), c) / 6.0)
