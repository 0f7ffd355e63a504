r"""The six sub-faces of each tet at rest.

For Hooke's law without lambda a face of normal n holds the energy :math:`\mu w |\varepsilon n|^2` at small
strains, so a tet is isotropic, and exactly the linear tet of finite elements, if
:math:`\sum w\, n n^T = V I` over its faces. The sub-faces have :math:`w = A_0 h_0 = V/2` each, which gives
:math:`V T` with T near I, but not I. The variational form therefore turns the normals: with
:math:`\tilde n = T^{-1/2} n` in place of n, and w grown by :math:`|\tilde n|^2`, the sum is exact for
any tet. The printed form keeps the faces of [Everts2006]_.
"""

from dataclasses import dataclass

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.models.continuum_particles.cpm2.kernels import FIRST, SECOND
from pliant.models.continuum_particles.face_law import FLAT
from pliant.models.tets.fields import edge_matrices, volume_gradients


@dataclass(frozen=True)
class SubFaces:
    """Sub-faces of tets, all (m, 6, ...).

    edge_weights (m, 6, 3): of x_k - x_0 in the image of the unit normal; area_weights (m, 6, 3): of
    ``A_k = 6 dV/dx_k``, k = 1 .. 3, in the area vector; size (m, 6): what the constants of the law are
    multiplied with, A0 [m2] for printed forces, A0 h0 [m3] for the energy; floor (m, 6) [m2].
    """

    edge_weights: Array
    area_weights: Array
    size: Array
    floor: Array

    def vectors(self, x: Array, tets: IntArray) -> tuple[Array, Array]:
        """Images m of the rest normals and area vectors N [m2] of all faces; (m, 6, 3) each."""
        normals = 6.0 * volume_gradients(x, tets)[:, 1:]
        m = np.einsum("mck,mfk->mfc", edge_matrices(x, tets), self.edge_weights)
        return m, np.einsum("mkc,mfk->mfc", normals, self.area_weights)


def _areas(rest: Array, tets: IntArray) -> Array:
    """Area vectors of the printed sub-faces [m2], from i to j, ``(dV/dx_j - dV/dx_i) / 4``; (m, 6, 3)."""
    g = volume_gradients(rest, tets)
    return np.asarray((g[:, SECOND] - g[:, FIRST]) / 4.0)


def _made(rest: Array, tets: IntArray, areas: Array, size: Array) -> SubFaces:
    edges = edge_matrices(rest, tets)
    area = np.linalg.norm(areas, axis=2)
    outward = np.linalg.inv(6.0 * volume_gradients(rest, tets)[:, 1:].transpose(0, 2, 1))
    return SubFaces(
        edge_weights=np.einsum("mkc,mfc->mfk", np.linalg.inv(edges), areas / area[:, :, None]),
        area_weights=np.einsum("mkc,mfc->mfk", outward, areas),
        size=size,
        floor=FLAT * area,
    )


def image_weights(rest: Array, tets: IntArray) -> Array:
    """Weights of x_k - x_0 in the images ``B_k = F A_k`` of the rest vectors A_1 .. A_3; (m, 3, 3)."""
    outward = 6.0 * volume_gradients(rest, tets)[:, 1:]
    return np.asarray(np.einsum("mkc,mfc->mfk", np.linalg.inv(edge_matrices(rest, tets)), outward))


def printed(rest: Array, tets: IntArray) -> SubFaces:
    """The faces of [Everts2006]_ 7.3."""
    areas = _areas(rest, tets)
    return _made(rest, tets, areas, np.linalg.norm(areas, axis=2))


def isotropic(rest: Array, tets: IntArray) -> SubFaces:
    """The faces with their normals turned so that they make an isotropic tet."""
    areas = _areas(rest, tets)
    area = np.linalg.norm(areas, axis=2)
    normals = areas / area[:, :, None]
    values, vectors = np.linalg.eigh(0.5 * np.einsum("mfi,mfj->mij", normals, normals))
    root = np.einsum("mik,mk,mjk->mij", vectors, 1.0 / np.sqrt(values), vectors)
    turned = np.einsum("mij,mfj->mfi", root, normals)
    length = np.linalg.norm(turned, axis=2)
    volumes = np.linalg.det(edge_matrices(rest, tets)) / 6.0
    return _made(rest, tets, turned * (area / length)[:, :, None], 0.5 * volumes[:, None] * length**2)
