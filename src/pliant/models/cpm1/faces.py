"""From dual cells and constants to the faces that the kernels work on."""

from dataclasses import dataclass

import numpy as np

from pliant.errors import IncompatibleError
from pliant.models.cpm1.layout import FaceData
from pliant.models.particles.faces import FLAT
from pliant.models.particles.linear import shape_gradients
from pliant.models.particles.mapping import FaceConstants
from pliant.structure.dual import Dual
from pliant.typing import Array, IntArray

UPRIGHT = 1e-9  # sine of the angle between normal and edge below which a face counts as not tilted


@dataclass(frozen=True)
class Image:
    """The image of each face's rest normal, ``m = along (x_j - x_i) + sum weight (x_r - q)`` over a ring of
    particles (flat lists, ring_start (e + 1,)); faces that are not tilted have no ring."""

    along: Array
    ring_start: IntArray
    ring: IntArray
    ring_weight: Array


def normal_images(rest: Array, tets: IntArray, volumes: Array, dual: Dual) -> Image:
    """Weights of ``m = F n0``, F the mean over the tets around the edge by volume.

    Where the normal n0 lies along the edge that is (x_j - x_i) / d0 exactly.
    """
    around, n = dual.around, len(rest)
    d = rest[dual.edges[:, 1]] - rest[dual.edges[:, 0]]
    length = np.linalg.norm(d, axis=1)
    normal = dual.areas / np.linalg.norm(dual.areas, axis=1)[:, None]
    sine = np.linalg.norm(np.cross(normal, d), axis=1) / length
    tilted = sine > UPRIGHT
    gradients = shape_gradients(rest, tets)
    share = volumes[around.tet] / np.bincount(around.edge, volumes[around.tet])[around.edge]
    weight = share[:, None] * np.einsum("wkc,wc->wk", gradients[around.tet], normal[around.edge])
    corner, edge = tets[around.tet], np.repeat(around.edge[:, None], 4, axis=1)
    at_i, at_j = (corner == dual.edges[around.edge, end][:, None] for end in (0, 1))
    along = 0.5 * (
        np.bincount(edge[at_j], weight[at_j], len(d)) - np.bincount(edge[at_i], weight[at_i], len(d))
    )
    others = ~(at_i | at_j) & tilted[edge]
    keys, place = np.unique(edge[others] * n + corner[others], return_inverse=True)
    return Image(
        along=np.where(tilted, along, 1.0 / length),
        ring_start=np.searchsorted(keys // n, np.arange(len(d) + 1)),
        ring=keys % n,
        ring_weight=np.bincount(place.reshape(-1), weight[others], len(keys)),
    )


def edge_means(values: Array, volumes: Array, dual: Dual) -> Array:
    """A value per tet, averaged by volume over the tets around each edge; shape (e,)."""
    tet, edge = dual.around.tet, dual.around.edge
    mean: Array = np.bincount(edge, (values * volumes)[tet]) / np.bincount(edge, volumes[tet])
    return mean


def face_data(
    rest: Array, volumes: Array, dual: Dual, image: Image, constants: FaceConstants, slots: IntArray, printed: bool
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
        fan_start=dual.start,
        fan=slots[dual.fan],
        ring_start=image.ring_start,
        ring=image.ring,
        ring_weight=image.ring_weight,
        along=image.along,
        stretch=weight * edge_means(constants.stretch, volumes, dual),
        shear=weight * edge_means(constants.shear, volumes, dual),
        floor=FLAT * area,
    )
