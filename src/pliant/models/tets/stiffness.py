"""The linear stiffness matrix of a tet mesh at rest."""

import numpy as np
from scipy import sparse

from pliant.core.typing import Array, IntArray
from pliant.mesh.mesh import tet_volumes
from pliant.models.tets.fields import edge_matrices


def gradients(inverse: Array) -> Array:
    """Gradients of the four linear shape functions (m, 4, 3) [1/m] from ``D_m^-1`` (m, 3, 3)."""
    return np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)


def isotropic_stiffness(lam: Array, mu: Array) -> Array:
    """Lame's constants (m,) as stiffness matrices (m, 6, 6) [Pa] in Voigt's order."""
    C = np.zeros((len(lam), 6, 6))
    C[:, :3, :3] = lam[:, None, None]
    C[:, range(3), range(3)] += 2.0 * mu[:, None]
    C[:, range(3, 6), range(3, 6)] = mu[:, None]
    return C


def element_stiffness(inverse: Array, volumes: Array, C: Array) -> Array:
    """The stiffness of linear tets with ``D_m^-1`` (m, 3, 3), (m, 12, 12) [N/m]."""
    return stiffness_at(gradients(inverse), volumes, C)


def stiffness_at(g: Array, volumes: Array, C: Array) -> Array:
    r""":math:`V B^T C B` of elements whose shape functions have the gradients g (m, k, 3) [1/m].

    Shape (m, 3k, 3k) [N/m]; [Cairns2012]_ eq. (3.11) for linear tets and isotropic C.
    """
    B = np.zeros((len(g), 6, g.shape[1], 3))
    for axis in range(3):
        B[:, axis, :, axis] = g[:, :, axis]
    for row, (a, b) in ((3, (1, 2)), (4, (0, 2)), (5, (0, 1))):
        B[:, row, :, a] = g[:, :, b]
        B[:, row, :, b] = g[:, :, a]
    flat = B.reshape(len(g), 6, -1)
    return np.asarray(volumes[:, None, None] * (flat.transpose(0, 2, 1) @ C @ flat))


def assemble(blocks: Array, elements: IntArray, particle_count: int) -> sparse.bsr_array:
    """The sparse matrix (3n, 3n) in 3x3 blocks (scipy BSR) of element matrices (m, 3k, 3k) on (m, k)."""
    m, k = elements.shape
    rows = np.repeat(elements, k, axis=1).ravel()
    columns = np.tile(elements, (1, k)).ravel()
    parts = blocks.reshape(m, k, 3, k, 3).transpose(0, 1, 3, 2, 4).reshape(-1, 3, 3)
    key = rows * np.int64(particle_count) + columns
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    data = np.add.reduceat(parts[order], starts, axis=0)
    found = key[order][starts]
    first = np.searchsorted(found // particle_count, np.arange(particle_count + 1))
    shape = (3 * particle_count, 3 * particle_count)
    return sparse.bsr_array((data, found % particle_count, first), shape=shape)


def linear_stiffness(rest: Array, tets: IntArray, lam: Array, mu: Array) -> sparse.bsr_array:
    """Stiffness of isotropic linear elasticity (3n, 3n) [N/m] with Lame's constants per tet (m,)."""
    inverse = np.linalg.inv(edge_matrices(rest, tets)).astype(np.float64)
    own = element_stiffness(inverse, tet_volumes(rest, tets), isotropic_stiffness(lam, mu))
    return assemble(own, tets, len(rest))
