"""Linear elasticity on the tets of a body: its stiffness matrix at rest, and mean rotations of particles."""

from typing import Any

import numpy as np

from pliant.models.tet_fields import deformation_gradients, edge_matrices
from pliant.typing import Array, IntArray


def shape_gradients(rest: Array, tets: IntArray) -> Array:
    """Gradients of the four linear shape functions of each tet [1/m]; shape (m, 4, 3)."""
    own = np.linalg.inv(edge_matrices(rest, tets))
    return np.concatenate([-own.sum(axis=1, keepdims=True), own], axis=1)


def linear_stiffness(rest: Array, tets: IntArray, volumes: Array, lame: tuple[Array, Array]) -> Any:
    """Stiffness of linear elasticity [N/m], scipy CSR (3n, 3n), rows 3 i + c.

    Blocks ``V (mu (a_i . a_j) I + mu a_j a_i^T + lambda a_i a_j^T)`` with shape gradients a.
    """
    from scipy.sparse import coo_array

    a, n = shape_gradients(rest, tets), len(rest)
    lam, mu = (volumes * value for value in lame)
    dots = np.einsum("mic,mjc->mij", a, a)
    outer = np.einsum("mic,mjd->mijcd", a, a)
    blocks = lam[:, None, None, None, None] * outer + mu[:, None, None, None, None] * outer.swapaxes(3, 4)
    blocks += (mu[:, None, None] * dots)[..., None, None] * np.eye(3)
    rows = 3 * tets[:, :, None, None, None] + np.arange(3)[:, None] + np.zeros((1, 1, 4, 1, 3), np.int64)
    columns = 3 * tets[:, None, :, None, None] + np.arange(3) + np.zeros((1, 4, 1, 3, 1), np.int64)
    return coo_array((blocks.ravel(), (rows.ravel(), columns.ravel())), shape=(3 * n, 3 * n)).tocsr()


def nodal_rotations(x: Array, rest: Array, tets: IntArray, volumes: Array) -> Array:
    """Rotation of the material around each particle (n, 3, 3): the polar factor of its tets' mean F."""
    F = (volumes[:, None, None] * deformation_gradients(x, rest, tets)).reshape(-1, 9)
    at = tets.ravel()
    total = np.stack([np.bincount(at, np.repeat(F[:, c], 4), len(rest)) for c in range(9)], axis=1)
    u, _, vt = np.linalg.svd(total.reshape(-1, 3, 3))
    u[:, :, 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
    return np.asarray(u @ vt)
