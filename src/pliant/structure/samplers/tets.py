"""Samplers for models on tetrahedra, linear ones with particles at the vertices and quadratic ones with
particles at the middles of edges too.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array, IntArray
from pliant.embedding.barycentric import boundary_carrier, embed
from pliant.interfaces import Geometry, Structure
from pliant.mesh.mesh import Surface, TetMesh, boundary_triangles, tet_edges, tet_volumes

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material

EDGES = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))  # of particles 4 to 9, as VTK has them
_CORNERS = ((0, 4, 6, 7), (4, 1, 5, 8), (6, 5, 2, 9), (7, 8, 9, 3))
_CORE = ((6, 8, 4, 5), (6, 8, 5, 9), (6, 8, 9, 7), (6, 8, 7, 4))
PIECES = np.array(_CORNERS + _CORE)  # the eight linear tets that fill a quadratic one
CORNER_MASS, EDGE_MASS = 1.0 / 36.0, 4.0 / 27.0  # shares of a tet's mass


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


class QuadraticTetSampler:
    r"""Particles at the vertices of tets, then one in the middle of each edge.

    Masses are the diagonal of the consistent mass matrix, scaled to the tet's mass: 1/36 of it for a corner,
    4/27 for an edge (row sums would be negative at the corners) [HintonRockZienkiewicz1976]_. Cells:
    "tetra10" (m, 10), and "tetra" (8 m, 4), the pieces that show, measure and meet things as any tets do.
    """

    def sample(self, geometry: Geometry, material: "Material") -> Structure:
        mesh = geometry.tets()
        elements, points = with_edge_points(mesh)
        density = density_of_tets(mesh, material)
        pieces = elements[:, PIECES].reshape(-1, 4)
        regions = None if mesh.regions is None else np.repeat(mesh.regions, 8)
        fine = TetMesh(points, pieces, regions=regions, groups=_groups(mesh, elements, len(points)))
        structure = sample_tets(fine, geometry.shown(), np.repeat(density, 8))
        share = np.array([CORNER_MASS] * 4 + [EDGE_MASS] * 6)
        weights = (density * tet_volumes(points, mesh.tets))[:, None] * share
        mass = np.zeros(len(points))
        np.add.at(mass, elements.ravel(), weights.ravel())
        return replace(structure, mass=mass, cells={**structure.cells, "tetra10": elements})


def with_edge_points(mesh: TetMesh) -> tuple[IntArray, Array]:
    """Quadratic tets (m, 10) on the points of ``mesh`` and, after them, the middles of its edges."""
    edges, count = tet_edges(mesh.tets), len(mesh.points)
    keys = edges[:, 0] * count + edges[:, 1]
    columns = [mesh.tets]
    for a, b in EDGES:
        low, high = np.sort(mesh.tets[:, (a, b)], axis=1).T
        columns.append((count + np.searchsorted(keys, low * count + high))[:, None])
    middles = 0.5 * (mesh.points[edges[:, 0]] + mesh.points[edges[:, 1]])
    return np.concatenate(columns, axis=1), np.concatenate([mesh.points, middles])


def _groups(mesh: TetMesh, elements: IntArray, count: int) -> dict[str, IntArray]:
    """Groups of points, with the middles of the edges whose both ends they hold."""
    found = {}
    for name, ids in mesh.groups.items():
        inside = np.zeros(count, bool)
        inside[ids] = True
        for k, (a, b) in enumerate(EDGES):
            both = inside[elements[:, a]] & inside[elements[:, b]]
            inside[elements[both, 4 + k]] = True
        found[name] = np.flatnonzero(inside)
    return found
