"""Rigid bodies in implicit steps: four particles and a stiffness that lets them deform by very little."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array
from pliant.interfaces import (
    ContactSurface,
    DiscreteGradient,
    FieldData,
    StoredEnergy,
    Structure,
    Tangent,
)
from pliant.materials import ResolvedMaterial
from pliant.mesh.mesh import surface_volume, tet_volumes
from pliant.models.fem.mechanics import FemMechanics
from pliant.models.fem.model import Fem

if TYPE_CHECKING:
    from scipy.sparse import csr_array

WAVE_SPEED = 316.0  # of the stiffness that holds the body together [m/s]: 100 MPa at 1000 kg/m3


class AffineMechanics(FemMechanics):
    r"""A body of four particles that moves affinely, as one corotational tetrahedron with the body's volume,
    :math:`E = \rho c^2` and no Poisson's ratio: its strain under loads p is about p/E, 1e-4 under its own
    weight where it is one metre large. Source: affine body dynamics [LanEtAl2022]_. Differs: the energy is
    that of a corotational tetrahedron.
    """

    capabilities = frozenset({Tangent, StoredEnergy, DiscreteGradient})

    def __init__(self, structure: Structure, material: ResolvedMaterial) -> None:
        young, density = WAVE_SPEED**2 * material.density, material.density
        stiff = ResolvedMaterial(young=young, poisson=0.0, shear=0.5 * young, density=density)
        corners = np.arange(4)[None]
        volume = float(tet_volumes(structure.rest, corners)[0])
        if volume < 0.0:
            corners = corners[:, [0, 2, 1, 3]]
        mass = float(structure.mass.sum())
        share = mass / material.density / abs(volume)
        whole = replace(structure, cells={"tetra": corners}, volume_share=np.array([share]))
        super().__init__(whole, stiff, Fem())
        self.capabilities = frozenset({Tangent, StoredEnergy, DiscreteGradient})
        self.components = {}
        self.body = structure
        self.friction = material.friction

    field_names = ()

    def neighbour_graph(self) -> "csr_array":
        from scipy.sparse import csr_array

        return csr_array(np.ones((4, 4)) - np.eye(4))

    def contact_surface(self) -> ContactSurface:
        return ContactSurface(friction=self.friction, rigid=True)

    def volume(self, x: Array) -> float | None:
        carrier = self.body.carrier
        assert carrier is not None
        return surface_volume(carrier.positions(x), carrier.surface.triangles)

    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, FieldData]:
        return {}
