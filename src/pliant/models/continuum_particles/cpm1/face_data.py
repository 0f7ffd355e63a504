"""From dual cells and constants to the faces that the kernels work on."""

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import Array, IntArray
from pliant.models.continuum_particles.cpm1.layout import FaceData
from pliant.models.continuum_particles.face_law import FLAT
from pliant.models.continuum_particles.material_mapping import FaceConstants
from pliant.structure.samplers.dual import Dual

EDGE_FIRST = 9.0  # how much sooner the image of the normal is taken from the edge than from the face


def normal_images(rest: Array, dual: Dual) -> tuple[Array, Array]:
    """Weights of the image of each face's unit normal, ``m = along (x_j - x_i) + sum weight (v_k - q)``.

    Of all weights that give ``m = F n0`` for any uniform deformation F they are the smallest ones (those of
    the face's vertices counting nine times as much as the edge's); a face across its edge gets m = d / d0.
    Returns along (e,) and weight (fan,).
    """
    owner = np.repeat(np.arange(len(dual.edges)), np.diff(dual.start))
    d = rest[dual.edges[:, 1]] - rest[dual.edges[:, 0]]
    q = 0.5 * (rest[dual.edges[:, 0]] + rest[dual.edges[:, 1]])
    v = dual.vertices(rest)[dual.fan] - q[owner]
    first, last = dual.start[:-1], dual.start[1:] - 1
    v[last[dual.fan[first] == dual.fan[last]]] = 0.0  # closed fans name their first vertex twice
    squares = np.einsum("ki,kj->kij", v, v).reshape(-1, 9)
    total = np.stack([np.bincount(owner, squares[:, c], len(d)) for c in range(9)], axis=1)
    gram = total.reshape(-1, 3, 3) + EDGE_FIRST * np.einsum("ki,kj->kij", d, d)
    normal = dual.areas / np.linalg.norm(dual.areas, axis=1)[:, None]
    z = np.linalg.solve(gram, normal[:, :, None])[:, :, 0]
    along = EDGE_FIRST * np.einsum("ij,ij->i", d, z)
    return along, np.asarray(np.einsum("ij,ij->i", v, z[owner]))


def edge_means(values: Array, volumes: Array, dual: Dual) -> Array:
    """A value per tet, averaged by volume over the tets around each edge; shape (e,)."""
    tet, edge = dual.around.tet, dual.around.edge
    mean: Array = np.bincount(edge, (values * volumes)[tet]) / np.bincount(edge, volumes[tet])
    return mean


def face_data(
    rest: Array,
    volumes: Array,
    dual: Dual,
    image: tuple[Array, Array],
    constants: FaceConstants,
    slots: IntArray,
    printed: bool,
) -> FaceData:
    """Faces for the kernels; ``slots`` is the row of each dual vertex there.

    Weights of the law: ``A0 h0`` with h0 = n0 . d0 for the energy, A0 for the printed forces.
    """
    area = np.linalg.norm(dual.areas, axis=1)
    d = rest[dual.edges[:, 1]] - rest[dual.edges[:, 0]]
    weight = np.einsum("ij,ij->i", dual.areas, d)
    if not (weight > 0.0).all():
        raise IncompatibleError(
            f"{int(np.sum(~(weight > 0)))} of {len(area)} dual faces have a negative area or none.",
            hint='Use dual = "blended", which has none.',
        )
    if printed:
        weight = area
    return FaceData(
        edges=dual.edges,
        start=dual.start,
        fan=slots[dual.fan],
        along=image[0],
        weight=image[1],
        stretch=weight * edge_means(constants.stretch, volumes, dual),
        shear=weight * edge_means(constants.shear, volumes, dual),
        floor=FLAT * area,
    )
