"""The sampler for models on tetrahedra: particles are the vertices, masses a quarter of each tet's."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array
from pliant.embedding.barycentric import boundary_carrier, embed
from pliant.interfaces import Geometry, Structure
from pliant.mesh.mesh import Surface, TetMesh, boundary_triangles, tet_edges, tet_volumes

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material


class TetSampler:
    """Particles at the vertices of tets."""

    def sample(self, geometry: Geometry, material: "Material") -> Structure:
        mesh = geometry.tets()
        return sample_tets(mesh, geometry.shown(), density_of_tets(mesh, material))


def density_of_tets(mesh: TetMesh, material: "Material") -> Array:
    """Density [kg/m3] of each tet, by region where the material has regions."""
    density = np.full(len(mesh.tets), material.density)
    for region in material.regions or ():
        if region.density is not None and mesh.regions is not None:
            density[mesh.regions == region.region] = region.density
    return density


def sample_tets(mesh: TetMesh, surface: Surface | None, density: Array) -> Structure:
    """A Structure of the tets of ``mesh``; ``surface`` is carried along (None: the tets' own boundary).

    density [kg/m3]: one per tet.
    """
    volumes = tet_volumes(mesh.points, mesh.tets)
    if len(volumes) == 0:
        raise MeshError("The mesh has no tetrahedra.")
    if volumes.min() <= 0:
        worst = int(np.argmin(volumes))
        raise MeshError(f"Tet {worst} of the mesh is inverted or flat (volume {volumes[worst]:.3g} m3).")
    mass = np.zeros(len(mesh.points))
    np.add.at(mass, mesh.tets.ravel(), np.repeat(0.25 * density * volumes, 4))
    if mass.min() <= 0:
        raise MeshError(f"Point {int(np.argmin(mass))} of the mesh belongs to no tet.")
    edges = tet_edges(mesh.tets)
    lengths = np.linalg.norm(mesh.points[edges[:, 1]] - mesh.points[edges[:, 0]], axis=1)
    if surface is None:
        carrier = boundary_carrier(mesh.points, mesh.tets)
    else:
        carrier = embed(surface, mesh.points, mesh.tets)
    return Structure(
        rest=mesh.points,
        mass=mass,
        cells={"tetra": mesh.tets, "triangle": boundary_triangles(mesh.tets)},
        groups=dict(mesh.groups),
        spacing=float(np.median(lengths)),
        carrier=carrier,
        regions=mesh.regions,
    )
