"""The carried surface of phyxel bodies."""

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.embedding.barycentric import EmbeddedSurface
from pliant.mesh.mesh import Surface

AROUND = 20  # phyxels that carry a point of the surface
FLAT = 1e-3  # less spread than this across a plane: the linear fit is held back there
CLOSE = 0.01  # how little the surface may pass by phyxels on it, as a share of h^2
_BLOCK = 4096


def carried(surface: Surface, rest: Array) -> EmbeddedSurface:
    """``surface`` carried by the phyxels at ``rest`` (n, 3) around each of its points."""
    from scipy.spatial import cKDTree

    count = min(AROUND, len(rest) - 1)
    found = cKDTree(rest).query(surface.points, k=count + 1)
    distance, around = np.asarray(found[0]), np.asarray(found[1])
    return EmbeddedSurface(
        surface,
        around[:, :count].astype(np.uint32),
        shape_functions(surface.points, rest, around[:, :count], distance[:, -1]),
    )


def shape_functions(points: Array, rest: Array, around: IntArray, radius: Array) -> Array:
    r"""Weights (p, k) of the phyxels ``around`` each point, by moving least squares with a linear basis.

    .. math:: \phi_j(x) = w_j\,p(x_j)^T \Bigl(\sum_k w_k\,p(x_k) p(x_k)^T\Bigr)^{-1} p(x), \quad
              w_j = \frac{(1 - r_j^2)^3}{r_j^2 + 0.01}, \; r_j = |x - x_j| / h, \; p(x) = (1, x),

    ([Stegmayr2008]_ eq. 3.16 to 3.22). They sum to one and reproduce linear fields, so rigid and affine
    motions carry the surface exactly; nearly so where all phyxels lie in a plane. Differs: the kernel 3.15 is
    divided by r^2, so that the surface keeps close to the phyxels on it ([LancasterSalkauskas1981]_; with
    r^2 alone it would go through them); smoothed ones cut corners, 6 % of a long bar of dough.
    """
    out = np.empty(around.shape)
    for start in range(0, len(points), _BLOCK):
        rows = slice(start, start + _BLOCK)
        near, h = around[rows], radius[rows, None]
        d = (rest[near] - points[rows, None]) / h[:, :, None]
        r2 = np.einsum("pki,pki->pk", d, d)
        w = np.maximum(1.0 - r2, 0.0) ** 3 / (r2 + CLOSE) + 1e-6
        basis = np.concatenate([np.ones((*near.shape, 1)), d], axis=2)
        moments = np.einsum("pk,pki,pkj->pij", w, basis, basis)
        size = np.trace(moments[:, 1:, 1:], axis1=1, axis2=2)
        spread = moments[:, 1:, 1:] - moments[:, 1:, :1] * moments[:, :1, 1:] / moments[:, :1, :1]
        values = np.linalg.eigvalsh(spread)
        flat = values[:, 0] < FLAT * values[:, 2]  # few phyxels, or all in a plane
        moments[:, [1, 2, 3], [1, 2, 3]] += np.where(flat, FLAT * size, 1e-14 * size)[:, None]
        first = np.linalg.solve(moments, np.broadcast_to(np.eye(4)[:, :1], (len(near), 4, 1)))[:, :, 0]
        out[rows] = w * np.einsum("pki,pi->pk", basis, first)
    return out
