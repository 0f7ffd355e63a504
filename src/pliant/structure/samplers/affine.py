"""The sampler for rigid bodies in implicit steps: four particles that carry the whole body."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array
from pliant.embedding.barycentric import EmbeddedSurface
from pliant.interfaces import Geometry, Structure
from pliant.mesh.mesh import Surface, surface_volume
from pliant.structure.samplers.rigid import CELLS, mass_moments

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material

CORNERS = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], float)


@dataclass(frozen=True)
class AffineSampler:
    r"""Four particles of a quarter of the mass m each, at :math:`c + L\tau_k` with the corners
    :math:`\tau_k = (\pm 1, \pm 1, \pm 1)` of a tetrahedron: since :math:`\sum \tau = 0` and
    :math:`\sum \tau \tau^T = 4`, :math:`L = \sqrt{J / m}` gives them the mass, centre c and second moments
    :math:`J = \int \rho\, r r^T` of the volume inside the surface, which follows them as a whole.
    """

    def sample(self, geometry: Geometry, material: "Material") -> Structure:
        surface = geometry.surface()
        volume = surface_volume(surface.points, surface.triangles)
        if not volume > 1e-9 * float(np.linalg.norm(np.ptp(surface.points, axis=0))) ** 3:
            raise MeshError("The surface encloses no volume.", hint="Rigid bodies need a closed surface.")
        mass, centre, second = mass_moments(surface.points, surface.triangles, material.density)
        sizes, axes = np.linalg.eigh(second / mass)
        root = (axes * np.sqrt(np.maximum(sizes, 1e-12 * sizes[2]))) @ axes.T
        handles = centre + CORNERS @ root
        spacing = geometry.spacing() or float(np.cbrt(volume / CELLS))
        return Structure(
            rest=handles,
            mass=np.full(4, 0.25 * mass),
            cells={},
            groups={},
            spacing=spacing,
            carrier=carried_by_handles(geometry.shown() or surface, handles),
        )


def carried_by_handles(surface: Surface, handles: Array) -> EmbeddedSurface:
    """The surface carried by the four handles (4, 3)."""
    frame = np.linalg.inv((handles[1:] - handles[0]).T)
    w = (surface.points - handles[0]) @ frame.T
    weights = np.concatenate([1.0 - w.sum(axis=1, keepdims=True), w], axis=1)
    indices = np.tile(np.arange(4, dtype=np.uint32), (len(w), 1))
    return EmbeddedSurface(surface, indices, weights)
