"""Material constants per cell, for bodies made of several materials."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import Array
from pliant.interfaces import Structure

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material


def per_cell(
    structure: Structure, material: "Material", value: Callable[["Material"], Any], cells: str = "tetra"
) -> Array:
    """``value`` of the material of each cell, (m, ...), by region where the material has regions."""
    from pliant.materials import by_region

    own = np.asarray(value(material), float)
    values = np.array(np.broadcast_to(own, (len(structure.cells[cells]), *own.shape)))
    for region, other in by_region(material).items():
        inside = None if structure.regions is None else structure.regions == region
        if inside is None or not inside.any():
            raise IncompatibleError(
                f"The material has a region {region!r}, but no cell of the body belongs to it.",
                hint="Regions come with the mesh file (cell data 'region', gmsh physical volumes).",
            )
        values[inside] = value(other)
    return values


def lame_per_cell(structure: Structure, material: "Material", cells: str = "tetra") -> tuple[Array, Array]:
    """Lame's constants (lambda, mu) [Pa] of each cell."""
    both = per_cell(structure, material, lambda own: own.lame, cells)
    return both[:, 0].copy(), both[:, 1].copy()
