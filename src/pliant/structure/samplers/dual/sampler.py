"""The sampler for particle models: a particle's mass is that of its dual cell."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array
from pliant.interfaces import Geometry, Structure
from pliant.mesh.mesh import tet_volumes
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
        volumes = dual_cells(mesh.points, mesh.tets, self.recipe).cell_volumes(mesh.points)
        if volumes.min() <= 0.0:
            raise MeshError(
                f"dual = '{self.recipe}': {int(np.sum(volumes <= 0))} of {len(volumes)} cells are empty.",
                hint="Use dual = 'blended', which has none.",
            )
        return replace(whole, mass=floored(cell_masses(volumes, whole)))


def cell_masses(volumes: Array, whole: Structure) -> Array:
    """Cell volume times density; ``whole`` has a quarter of each tet's mass at its corners.

    Where tets of several densities meet, a cell takes their mean by volume.
    """
    tets = whole.cells["tetra"]
    quarters = np.bincount(tets.ravel(), np.repeat(0.25 * tet_volumes(whole.rest, tets), 4), len(volumes))
    masses: Array = volumes * (whole.mass / quarters)
    return masses


def floored(mass: Array) -> Array:
    """Masses of at least 0.02 of the median."""
    return np.maximum(mass, LIGHTEST * float(np.median(mass)))


def mass_added(structure: Structure, dual: Dual) -> float:
    """Share by which the floor raised the body's mass."""
    own = cell_masses(dual.cell_volumes(structure.rest), structure)
    return float(structure.mass.sum() / own.sum() - 1.0)
