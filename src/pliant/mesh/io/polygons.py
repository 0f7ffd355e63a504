"""Polygons to triangles."""

import numpy as np

from pliant.core.typing import Array, IntArray


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


def merged(points: Array) -> tuple[Array, IntArray]:
    """The distinct points, in order of first appearance, and the number of each point among them."""
    keys = np.ascontiguousarray(points + 0.0)  # -0.0 is 0.0
    _, first, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return keys[first[order]], rank[number.ravel()]
