"""Weights of points in tets and triangles: barycentres, circumcentres, and blends of them."""

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray


def tet_circumcentre_weights(points: Array, tets: IntArray) -> Array:
    """Barycentric weights of the circumcentres of tets; shape (m, 4), each row sums to 1.

    With edge vectors a, b, c from corner 0: ``2 [a b c]^T u = (|a|^2, |b|^2, |c|^2)`` is the centre,
    ``[a b c] w = u`` its weights.
    """
    p = points[tets]
    edges = p[:, 1:] - p[:, :1]
    centre = np.linalg.solve(2.0 * edges, np.einsum("mij,mij->mi", edges, edges)[:, :, None])
    w = np.linalg.solve(edges.transpose(0, 2, 1), centre)[:, :, 0]
    return np.concatenate([1.0 - w.sum(axis=1, keepdims=True), w], axis=1)


def triangle_circumcentre_weights(points: Array, triangles: IntArray) -> Array:
    """Barycentric weights of the circumcentres of triangles; shape (m, 3).

    Corner k weighs ``s_k (s_i + s_j - s_k)`` with s the squared length of the side opposite to it.
    """
    p = points[triangles]
    sides = p[:, [2, 0, 1]] - p[:, [1, 2, 0]]
    s = np.einsum("mij,mij->mi", sides, sides)
    w = s * (s.sum(axis=1, keepdims=True) - 2.0 * s)
    weights: Array = w / w.sum(axis=1, keepdims=True)
    return weights


def blended(weights: Array, blend: Array) -> Array:
    """``(1 - blend) weights + blend / k``: moved towards the barycentre of k corners; shape (m, k)."""
    return np.asarray(weights + blend[:, None] * (1.0 / weights.shape[1] - weights))


def blend_into_body(weights: Array, boundary: BoolArray) -> Array:
    """The smallest blend (m,) that makes the weights of corners opposite a boundary triangle non-negative.

    boundary (m, 4): whether the triangle opposite each corner lies on the boundary.
    """
    outside = np.where(boundary & (weights < 0.0), -weights, 0.0)
    needed: Array = (outside / (0.25 + outside)).max(axis=1)
    return needed
