"""Sharp edges and corners of a surface."""

from typing import NamedTuple

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.mesh.topology import Edges

SHARP = 40.0  # degrees between the normals of two neighbours, or between two sharp edges at a corner


class SharpFeatures(NamedTuple):
    """Sharp edges (k, 2), and the vertices where they end, meet or turn (c,)."""

    edges: IntArray
    corners: IntArray


def features(points: Array, triangles: IntArray, sharp: float = SHARP) -> SharpFeatures:
    """The sharp edges and corners of triangles whose neighbours share vertices."""
    edges = Edges(triangles, len(points))
    twins = edges.twins
    a, b, c = (points[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1), np.finfo(float).tiny)[:, None]
    cosine = np.einsum("ij,ij->i", normal[twins[:, 0] // 3], normal[twins[:, 1] // 3])
    pairs = edges.half[twins[cosine < np.cos(np.radians(sharp)), 0]]
    return SharpFeatures(pairs, np.flatnonzero(_corners(points, pairs, sharp)))


def _corners(points: Array, pairs: IntArray, sharp: float) -> BoolArray:
    """Vertices with one sharp edge, with three or more, or with two that are not in line."""
    count = np.bincount(pairs.reshape(-1), minlength=len(points))
    along = points[pairs[:, 1]] - points[pairs[:, 0]]
    along /= np.maximum(np.linalg.norm(along, axis=1), np.finfo(float).tiny)[:, None]
    out = np.zeros((len(points), 3))
    np.add.at(out, pairs[:, 0], along)
    np.add.at(out, pairs[:, 1], -along)
    bend = np.linalg.norm(out, axis=1) > 2 * np.sin(np.radians(sharp) / 2)
    return np.asarray((count == 1) | (count > 2) | ((count == 2) & bend))


def nearest_on_segments(queries: Array, start: Array, end: Array) -> tuple[Array, Array]:
    """The nearest points (q, 3) of segments (k, 3), (k, 3) to queries, and their distances (q,)."""
    best, out = np.full(len(queries), np.inf), queries.copy()
    step = max(1, 2_000_000 // max(len(queries), 1))
    for k in range(0, len(start), step):
        a, u = start[k : k + step], end[k : k + step] - start[k : k + step]
        w = queries[:, None] - a[None]
        square = np.maximum((u * u).sum(axis=1), np.finfo(float).tiny)
        s = np.clip(np.einsum("qkc,kc->qk", w, u) / square, 0.0, 1.0)
        gap = np.linalg.norm(w - s[..., None] * u, axis=2)
        which = gap.argmin(axis=1)
        rows = np.arange(len(queries))
        closer = gap[rows, which] < best
        place = a[which] + s[rows, which, None] * u[which]
        out = np.where(closer[:, None], place, out)
        best = np.where(closer, gap[rows, which], best)
    return out, best
