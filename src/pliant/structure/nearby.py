"""Surfaces carried by nearby elements: moving least squares around each surface point."""

import numpy as np

from pliant.mesh.types import Surface
from pliant.structure.carrier import EmbeddedSurface
from pliant.typing import Array, IntArray

NEAR = 20  # elements that carry a point
_BLOCK = 4096


def carried_by_elements(surface: Surface, rest: Array, spacing: float) -> EmbeddedSurface:
    r"""Carry ``surface`` by the elements (n, 3) nearest to each of its points.

    With :math:`p = (1, X - X_s)` and a weight :math:`\phi` that falls with distance, the shares
    :math:`w_k = \phi_k\, p_s^T A^{+} p_k`, :math:`A = \sum \phi_k p_k p_k^T`, sum to one and move the point
    with every affine motion of its elements: it is carried by their local frame. Where the elements lie in a
    plane or a line the pseudo-inverse leaves out what they cannot tell.
    """
    return carry(surface, rest, spacing, surface.points, rest)


def carry(surface: Surface, rest: Array, spacing: float, points: Array, x: Array) -> EmbeddedSurface:
    """As above, for points and elements at other places than in ``surface`` and ``rest``."""
    from scipy.spatial import cKDTree

    count = min(NEAR, len(x))
    found = np.asarray(cKDTree(x).query(points, k=np.arange(1, count + 1))[1])
    weights = np.concatenate(
        [
            _shares(points[k : k + _BLOCK], x[found[k : k + _BLOCK]], spacing)
            for k in range(0, len(points), _BLOCK)
        ]
    )
    return EmbeddedSurface(surface, found.astype(np.uint32), weights)


def _shares(points: Array, near: Array, spacing: float) -> Array:
    """Weights (p, k) of the elements at ``near`` (p, k, 3)."""
    d = (near - points[:, None]) / spacing
    phi = np.exp(-np.einsum("pki,pki->pk", d, d))
    p = np.concatenate([np.ones_like(d[..., :1]), d], axis=2)
    A = np.einsum("pk,pki,pkj->pij", phi, p, p)
    inverse = np.linalg.pinv(A, rcond=1e-8, hermitian=True)
    shares: Array = phi * np.einsum("pj,pkj->pk", inverse[:, 0], p)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def affected(carrier: EmbeddedSurface, elements: IntArray) -> IntArray:
    """Points of a carrier that any of ``elements`` carries."""
    return np.flatnonzero(np.isin(carrier.indices, elements).any(axis=1))
