"""From what a file holds to a mesh: polygons become triangles, and all numbers are checked."""

from collections.abc import Mapping

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import AnyArray, Array, IntArray
from pliant.mesh.mesh import Surface, TetMesh, tet_volumes


def fans(points: Array, corners: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
    """Triangles of polygons, as fans about one corner each.

    A fan starts at the first corner, unless it would turn a triangle over (a concave polygon): then at the
    corner whose smallest triangle, measured along the polygon's normal, is largest.
    ``corners``: point numbers, polygon after polygon; ``sizes`` (n,): how many each polygon has, 3 or more.
    Returns positions into ``corners`` (m, 3) and the polygon of each triangle (m,), in polygon order.
    """
    start = np.cumsum(sizes) - sizes
    if np.all(sizes == 3):
        return np.arange(3 * len(sizes)).reshape(-1, 3), np.arange(len(sizes))
    triangles, owners = [], []
    for size in np.unique(sizes):
        which = np.flatnonzero(sizes == size)
        ring = start[which][:, None] + np.arange(size)
        first = np.zeros(len(which), dtype=np.int64) if size == 3 else _best_start(points[corners[ring]])
        turned = np.take_along_axis(ring, (first[:, None] + np.arange(size)) % size, axis=1)
        k = np.arange(1, size - 1)
        apex = np.broadcast_to(turned[:, :1], (len(which), len(k)))
        triangles.append(np.stack([apex, turned[:, k], turned[:, k + 1]], axis=-1).reshape(-1, 3))
        owners.append(np.repeat(which, size - 2))
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    return np.concatenate(triangles)[order], owner[order]


def _best_start(x: Array) -> IntArray:
    """For polygons (n, size, 3), the corner to start a fan at."""
    size = x.shape[1]
    x = x - x[:, :1]
    normal = np.cross(x, np.roll(x, -1, axis=1)).sum(axis=1)
    scale = np.einsum("ij,ij->i", normal, normal)
    smallest = np.empty((len(x), size))
    for first in range(size):
        turned = np.roll(x, -first, axis=1)
        a, b = turned[:, 1:-1] - turned[:, :1], turned[:, 2:] - turned[:, :1]
        smallest[:, first] = np.einsum("ikj,ij->ik", np.cross(a, b), normal).min(axis=1)
    plain = smallest[:, 0] > 1e-9 * scale
    return np.where(plain, 0, np.argmax(smallest, axis=1)).astype(np.int64)


LARGEST = 1e30
FLAT = 1e-12
EDGES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))


def checked_surface(
    place: str,
    points: AnyArray,
    triangles: AnyArray,
    uv: AnyArray | None = None,
    uv_triangles: AnyArray | None = None,
    groups: Mapping[str, IntArray] | None = None,
) -> Surface:
    """A Surface of finite points and triangles that exist; ``place`` opens the error messages."""
    x = _points(place, points)
    if len(triangles) == 0:
        raise MeshError(f"{place}: no triangles.", hint="Export the model as a polygon mesh.")
    t = _cells(place, triangles, 3, len(x), "triangle")
    if uv is None or uv_triangles is None:
        return Surface(x, t, groups=dict(groups or {}))
    coordinates = np.ascontiguousarray(uv, dtype=np.float64).reshape(-1, 2)
    if not np.isfinite(coordinates).all():
        raise MeshError(f"{place}: a texture coordinate is not a finite number.", hint="Export it again.")
    corners = _cells(place, uv_triangles, 3, len(coordinates), "texture triangle")
    return Surface(x, t, coordinates, corners, dict(groups or {}))


def checked_volume(
    place: str,
    points: AnyArray,
    tets: AnyArray,
    groups: Mapping[str, IntArray] | None = None,
    regions: AnyArray | None = None,
    extra: Mapping[str, object] | None = None,
) -> TetMesh:
    """A TetMesh of finite points that are all used, and tets of positive volume.

    Tets with negative volume have their last two corners swapped; a tet with |V| <= 1e-12 L^3, L its
    longest edge, is an error.
    """
    x = _points(place, points)
    if len(tets) == 0:
        raise MeshError(f"{place}: no tetrahedra.", hint="Fill a surface with: pliant mesh IN OUT")
    t = _cells(place, tets, 4, len(x), "tetrahedron")
    volumes = tet_volumes(x, t)
    longest = np.max([np.linalg.norm(x[t[:, a]] - x[t[:, b]], axis=1) for a, b in EDGES], axis=0)
    flat = np.flatnonzero(~(np.abs(volumes) > FLAT * longest**3))
    if len(flat):
        raise MeshError(
            f"{place}: {len(flat)} of {len(t)} tetrahedra have no volume, the first is number {flat[0]} "
            f"(corners {', '.join(str(i) for i in t[flat[0]])}, counted from 0).",
            hint="Mesh the surface again with: pliant mesh IN OUT",
        )
    t = np.where((volumes < 0)[:, None], t[:, [0, 1, 3, 2]], t)
    used = np.unique(t)
    if len(used) < len(x):
        x, t = x[used], np.searchsorted(used, t)
        groups = {name: np.searchsorted(used, np.intersect1d(i, used)) for name, i in (groups or {}).items()}
    kinds = None if regions is None else np.asarray(regions).astype(np.int64)
    return TetMesh(x, t, dict(groups or {}), kinds, dict(extra or {}))


def _points(place: str, points: AnyArray) -> Array:
    x = np.ascontiguousarray(points, dtype=np.float64)
    if len(x) == 0:
        raise MeshError(f"{place}: no points.", hint="Check that the file holds a mesh.")
    if x.ndim == 2 and x.shape[1] == 2:
        raise MeshError(f"{place}: the points are flat (2 coordinates).", hint="pliant needs 3 coordinates.")
    bad = np.flatnonzero(~(np.abs(x) < LARGEST).all(axis=1))
    if len(bad):
        raise MeshError(
            f"{place}: {len(bad)} of {len(x)} points are not finite, the first is number {bad[0]} "
            f"(counted from 0): {x[bad[0]].tolist()}.",
            hint="Repair the points, or export the model again.",
        )
    return x


def _cells(place: str, cells: AnyArray, width: int, count: int, what: str) -> IntArray:
    c = np.ascontiguousarray(cells, dtype=np.int64).reshape(-1, width)
    wrong = (c < 0) | (c >= count)
    if wrong.any():
        bad, outside = np.flatnonzero(wrong.any(axis=1)), c[wrong]
        raise MeshError(
            f"{place}: {what} {bad[0]} (counted from 0) refers to point {outside[0]}, "
            f"but there are only {count} points.",
            hint="It may be cut short, or its numbering start elsewhere; export it again.",
        )
    return c
