"""Fewer triangles for the same shape, so that a mesher does not spend its time on detail it will drop."""

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.kernels.csr import incidence
from pliant.mesh.topology import SHARP, Edges

PASSES = 60


def simplify(points: Array, triangles: IntArray, error: float, edge: float) -> tuple[Array, IntArray]:
    """The surface with edges collapsed while its vertices, old and new, stay within 4 ``error`` [m].

    Edges are merged in order of the quadric error (mean squared distance from the planes of all triangles
    merged so far), up to ``error`` squared and to merged edges of length ``edge`` [m]; rims and sharp edges
    are held by planes upright on them. Should a vertex end up farther away, all is done again with half the
    error. Topology stays: holes neither open nor close.

    Source: Garland and Heckbert, Surface simplification using quadric error metrics (1997). Differs: errors
    are means, not sums; each pass merges edges that share no triangle.
    """
    from pliant.mesh.bvh import Bvh

    tree = Bvh(points, triangles)
    for halving in range(5):
        x, t = _collapsed(points, triangles, error / 2**halving, edge)
        if max(tree.nearest(x)[1].max(), Bvh(x, t).nearest(points)[1].max()) <= 4 * error:
            return x, t
    return points, triangles


def _collapsed(points: Array, triangles: IntArray, error: float, edge: float) -> tuple[Array, IntArray]:
    """Passes of collapses until hardly any are left."""
    from pliant.mesh import edge_collapse

    points, triangles = points.astype(np.float64, copy=True), triangles.copy()
    quadrics = _quadrics(points, triangles)
    for _ in range(PASSES):
        topology = Edges(triangles, len(points))
        edges, uses = np.ascontiguousarray(topology.pairs), topology.uses
        cost, place = np.empty(len(edges)), np.empty((len(edges), 3))
        edge_collapse.edge_costs(points, quadrics, edges, cost, place)
        length = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
        rank = cost + 1e-3 * (error * length / edge) ** 2  # on flat parts, short edges first
        good = np.flatnonzero((cost <= error**2) & (length <= edge) & (uses <= 2))
        order = good[np.argsort(rank[good], kind="stable")]
        corners, start = incidence(triangles, len(points))
        target = np.arange(len(points))
        done = edge_collapse.collapse_pass(
            points, triangles, edges, order, place, start, corners // 3, quadrics, target, uses
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
    normal /= np.maximum(np.linalg.norm(normal, axis=1), np.finfo(float).tiny)[:, None]
    out = np.zeros((len(points), 11))
    _add_planes(out, triangles, normal, a)
    topology = Edges(triangles, len(points))
    twins = topology.twins
    cosine = np.einsum("ij,ij->i", normal[twins[:, 0] // 3], normal[twins[:, 1] // 3])
    sharp = twins[cosine < np.cos(np.radians(SHARP))].reshape(-1)
    held = np.concatenate([np.flatnonzero(topology.uses[topology.edge] == 1), sharp])
    i, j = topology.half[held].T
    upright = np.cross(points[j] - points[i], normal[held // 3])
    upright /= np.maximum(np.linalg.norm(upright, axis=1), np.finfo(float).tiny)[:, None]
    _add_planes(out, np.column_stack([i, j]), upright, points[i])
    return out


def _add_planes(out: Array, cells: IntArray, normal: Array, through: Array) -> None:
    """Add the planes (m,) with unit ``normal`` through points to the sums of all vertices of ``cells``."""
    nx, ny, nz = normal.T
    d = -np.einsum("ij,ij->i", normal, through)
    one = np.ones_like(d)
    terms = [nx * nx, nx * ny, nx * nz, ny * ny, ny * nz, nz * nz, nx * d, ny * d, nz * d, d * d, one]
    for k in range(cells.shape[1]):
        for column, term in enumerate(terms):
            out[:, column] += np.bincount(cells[:, k], term, len(out))
