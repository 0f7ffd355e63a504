"""Material constants per cell, for bodies made of several materials."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import IncompatibleError
from pliant.protocols import Structure
from pliant.typing import Array

if TYPE_CHECKING:
    from pliant.materials import Resolved as Material


def lame_per_cell(structure: Structure, material: "Material", cells: str = "tetra") -> tuple[Array, Array]:
    """Lame's constants (lambda, mu) [Pa] of each cell, by region where the material has regions."""
    from pliant.materials import by_region

    count = len(structure.cells[cells])
    lam, mu = (np.full(count, value) for value in material.lame)
    for region, own in by_region(material).items():
        inside = None if structure.regions is None else structure.regions == region
        if inside is None or not inside.any():
            raise IncompatibleError(
                f"The material has a region {region!r}, but no cell of the body belongs to it.",
                hint="Regions come with the mesh file (cell data 'region', gmsh physical volumes).",
            )
        lam[inside], mu[inside] = own.lame
    return lam, mu
