"""The sampler for particle models: a particle's mass is that of its dual cell; cells as blocks of files."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array
from pliant.interfaces import Geometry, Structure
from pliant.mesh.mesh import TetMesh, tet_volumes
from pliant.structure.samplers.dual.cells import Dual, Recipe, dual_cells
from pliant.structure.samplers.tets import density_of_tets, sample_tets

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material

LIGHTEST = 0.02  # of the median mass: the cells of slivers would set the time step


@dataclass(frozen=True)
class DualCellSampler:
    """Particles at the vertices of tets, with ``density x volume of the dual cell`` ([Everts2006]_ 5.5).

    Differs: no mass is below 0.02 of the median one.
    """

    recipe: Recipe = "blended"

    def sample(self, geometry: Geometry, material: "Material") -> Structure:
        mesh = geometry.tets()
        whole = sample_tets(mesh, geometry.shown(), density_of_tets(mesh, material))
        dual = dual_cells(mesh.points, mesh.tets, self.recipe)
        volumes = dual.cell_volumes(mesh.points)
        if volumes.min() <= 0.0:
            raise MeshError(
                f"dual = '{self.recipe}': {int(np.sum(volumes <= 0))} of {len(volumes)} cells are empty.",
                hint="Use dual = 'blended', which has none.",
            )
        if dual.flat.any() and geometry.diagnostics is not None:
            around = len(np.unique(dual.around.edge[dual.flat[dual.around.tet]]))
            geometry.diagnostics.note(
                f"{int(dual.flat.sum())} of {len(mesh.tets)} tets are too flat to have a circumcentre: the "
                f"{around} of {len(dual.edges)} dual faces around them go through barycentres."
            )
        mass = cell_masses(volumes, whole)
        return replace(whole, mass=np.maximum(mass, LIGHTEST * float(np.median(mass))))


def cell_masses(volumes: Array, whole: Structure) -> Array:
    """Cell volume times density; ``whole`` has a quarter of each tet's mass at its corners.

    Where tets of several densities meet, a cell takes their mean by volume.
    """
    tets = whole.cells["tetra"]
    quarters = np.bincount(tets.ravel(), np.repeat(0.25 * tet_volumes(whole.rest, tets), 4), len(volumes))
    masses: Array = volumes * (whole.mass / quarters)
    return masses


def mass_added(structure: Structure, dual: Dual) -> float:
    """Share by which the floor raised the body's mass."""
    own = cell_masses(dual.cell_volumes(structure.rest), structure)
    return float(structure.mass.sum() / own.sum() - 1.0)


def with_cells(mesh: TetMesh, recipe: Recipe = "blended") -> TetMesh:
    """``mesh`` with the blocks of its dual cells in ``extra``; blocks that it came with are kept."""
    if mesh.extra:
        return mesh
    return replace(mesh, extra=str_blocks(dual_cells(mesh.points, mesh.tets, recipe), mesh))


def str_blocks(dual: Dual, mesh: TetMesh) -> dict[str, object]:
    """``voronoivertices``, ``dependencies``, ``voronoiridges`` and ``voronoicells``.

    A ridge is ``p0 p1 count v0 v1 ...``: the face's vertices around the edge, turning right-handed about
    p0 -> p1; the last of a closed face is not said again, and a face on the boundary has the edge's midpoint
    at its end. Vertices that depend on three or two particles repeat the last one.
    """
    fans = [dual.fan[a:b] for a, b in zip(dual.start[:-1], dual.start[1:], strict=True)]
    count = len(dual.particles)
    open_edges = [k for k, fan in enumerate(fans) if fan[0] != fan[-1]]
    middle = {edge: count + place for place, edge in enumerate(open_edges)}
    ends = dual.edges[open_edges].reshape(-1, 2)
    vertices = np.concatenate([dual.vertices(mesh.points), mesh.points[ends].mean(axis=1)])
    ridges, cells = [], [[0] for _ in mesh.points]
    for k, fan in enumerate(fans):
        around = [*fan.tolist(), middle[k]] if k in middle else fan[:-1].tolist()
        i, j = dual.edges[k].tolist()
        ridges.append([i, j, len(around), *around])
        cells[i].append(k)
        cells[j].append(k)
    for cell in cells:
        cell[0] = len(cell) - 1
    return {
        "voronoivertices": vertices,
        "dependencies": np.concatenate([dual.particles, ends[:, [0, 1, 1, 1]]]),
        "voronoiridges": ridges,
        "voronoicells": cells,
    }
