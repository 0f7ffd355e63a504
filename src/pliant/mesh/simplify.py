"""Fewer triangles for the same shape, so that a mesher does not spend its time on detail it will drop."""

import numpy as np

from pliant.mesh.topology import Edges
from pliant.typing import Array, IntArray

PASSES = 60
RIM_WEIGHT = 10.0


def simplify(points: Array, triangles: IntArray, error: float, edge: float) -> tuple[Array, IntArray]:
    """The surface with edges collapsed while it stays within about ``error`` [m] of itself.

    Edges are merged in order of the quadric error (area-weighted mean squared distance from the planes of
    all triangles merged so far), up to ``error`` squared and to merged edges of length ``edge`` [m];
    rims of holes are held by planes upright on them. Topology stays: holes neither open nor close.

    Source: Garland and Heckbert, Surface simplification using quadric error metrics (1997). Differs: errors
    are means, not sums; each pass merges edges that share no triangle.
    """
    from pliant.mesh import _collapse

    points, triangles = points.astype(np.float64, copy=True), triangles.copy()
    quadrics = _quadrics(points, triangles)
    for _ in range(PASSES):
        topology = Edges(triangles, len(points))
        edges, uses = np.ascontiguousarray(topology.pairs), topology.uses
        cost, place = np.empty(len(edges)), np.empty((len(edges), 3))
        _collapse.edge_costs(points, quadrics, edges, cost, place)
        length = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
        rank = cost + 1e-3 * (error * length / edge) ** 2  # on flat parts, short edges first
        good = np.flatnonzero((cost <= error**2) & (length <= edge) & (uses <= 2))
        order = good[np.argsort(rank[good], kind="stable")]
        ring = np.argsort(triangles.reshape(-1), kind="stable") // 3
        start = np.concatenate([[0], np.cumsum(np.bincount(triangles.reshape(-1), minlength=len(points)))])
        target = np.arange(len(points))
        done = _collapse.collapse_pass(
            points, triangles, edges, order, place, start, ring, quadrics, target, uses
        )
        triangles = target[triangles]
        distinct = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
        triangles = triangles[distinct]
        if done < 0.002 * len(points):
            break
    used, compact = np.unique(triangles, return_inverse=True)
    return points[used], compact.reshape(-1, 3)


def _quadrics(points: Array, triangles: IntArray) -> Array:
    """Per vertex the plane sums that the collapse kernel reads; shape (n, 11)."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    weight = np.linalg.norm(normal, axis=1)
    normal /= np.maximum(weight, np.finfo(float).tiny)[:, None]
    out = np.zeros((len(points), 11))
    _add_planes(out, triangles, normal, a, weight)
    rim = np.flatnonzero(Edges(triangles, len(points)).uses[Edges(triangles, len(points)).edge] == 1)
    if len(rim):
        face, k = rim // 3, rim % 3
        i, j = triangles[face, k], triangles[face, (k + 1) % 3]
        along = points[j] - points[i]
        upright = np.cross(along, normal[face])
        length = np.linalg.norm(upright, axis=1)
        upright /= np.maximum(length, np.finfo(float).tiny)[:, None]
        _add_planes(out, np.column_stack([i, j]), upright, points[i], RIM_WEIGHT * length**2)
    return out


def _add_planes(out: Array, cells: IntArray, normal: Array, through: Array, weight: Array) -> None:
    """Add the planes (m,) with unit ``normal`` through points to the sums of all vertices of ``cells``."""
    nx, ny, nz = normal.T
    d = -np.einsum("ij,ij->i", normal, through)
    one = np.ones_like(d)
    terms = [nx * nx, nx * ny, nx * nz, ny * ny, ny * nz, nz * nz, nx * d, ny * d, nz * d, d * d, one]
    for k in range(cells.shape[1]):
        for column, term in enumerate(terms):
            out[:, column] += np.bincount(cells[:, k], weight * term, len(out))
