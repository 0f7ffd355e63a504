"""Bodies as the page draws them: what stays the same in one message, what moves in another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.core.typing import AnyArray, Array, IntArray
from pliant.interfaces import Carrier, FieldData, Mechanics, Structure
from pliant.mesh.mesh import tet_edges
from pliant.render.geometry import split_at_edges
from pliant.render.scalar_fields import as_scalars, on_particles, on_surface

OWN_FIELDS = ("displacement", "velocity", "force")


@dataclass
class ShownBody:
    """A body to show: its rows of the World, its structure and its mechanics."""

    name: str
    model: str
    rows: slice
    structure: Structure
    mechanics: Mechanics

    @property
    def fields(self) -> list[str]:
        """Fields that it can be coloured by."""
        return list(dict.fromkeys([*OWN_FIELDS, *self.mechanics.field_names]))


def scene_arrays(bodies: Sequence[ShownBody]) -> dict[str, AnyArray]:
    """What stays the same while the topology does, by ``NUMBER/NAME``.

    corners: triangles over points that are doubled along sharp edges; origin: the surface point of each of
    those; owner: the particle nearest to each surface point; rest, tets, edges: the particles' own.
    """
    arrays: dict[str, AnyArray] = {}
    for number, body in enumerate(bodies):
        structure = body.structure
        tets = structure.cells.get("tetra")
        arrays[f"{number}/rest"] = structure.rest
        if tets is not None and len(tets):
            arrays[f"{number}/tets"] = tets
            arrays[f"{number}/edges"] = tet_edges(tets)
        if structure.carrier is not None:
            origin, corners = split_at_edges(structure.carrier.surface)
            arrays[f"{number}/origin"], arrays[f"{number}/corners"] = origin, corners
            arrays[f"{number}/owner"] = _owners(structure.carrier, structure.rest)
    return arrays


def _owners(carrier: Carrier, rest: Array) -> IntArray:
    """For each point of a carried surface the particle that holds most of it, or else the nearest one."""
    held = carrier.arrays()
    if "indices" in held and "weights" in held and held["weights"].shape == held["indices"].shape:
        most = np.argmax(held["weights"], axis=1)
        return np.asarray(held["indices"][np.arange(len(most)), most])
    from scipy.spatial import cKDTree

    return np.asarray(cKDTree(rest).query(carrier.surface.points)[1])


def dual_arrays(bodies: Sequence[ShownBody]) -> dict[str, AnyArray]:
    """Dual cells, by ``NUMBER/NAME``: vertices follow the particles by weights, faces are triangles.

    cell-corners: triangles over the dual vertices, then the midpoints of edges; cell-face: the edge that
    each triangle's face crosses; cell-edges: its two particles.
    """
    from pliant.structure.samplers.dual.cells import dual_cells, face_triangles

    arrays: dict[str, AnyArray] = {}
    for number, body in enumerate(bodies):
        tets = body.structure.cells.get("tetra")
        if tets is None or not len(tets):
            continue
        dual = dual_cells(body.structure.rest, tets)
        corners, face = face_triangles(dual)
        arrays[f"{number}/cell-particles"] = dual.particles
        arrays[f"{number}/cell-weights"] = dual.weights
        arrays[f"{number}/cell-corners"] = corners
        arrays[f"{number}/cell-face"] = face
        arrays[f"{number}/cell-edges"] = dual.edges
    return arrays


Fields = Callable[[ShownBody, str], FieldData]


def frame_arrays(
    bodies: Sequence[ShownBody], x: Array, colours: Sequence[str], particles: bool, field: Fields
) -> tuple[dict[str, AnyArray], dict[str, str]]:
    """What moves, by ``NUMBER/NAME``, and the unit of each colour: points of the surface, particles where
    asked or where there is no surface, ``surface-values.COLOUR`` and ``values.COLOUR`` for each colour."""
    arrays: dict[str, AnyArray] = {}
    units: dict[str, str] = {}
    for number, body in enumerate(bodies):
        own, carrier = x[body.rows], body.structure.carrier
        if carrier is not None:
            arrays[f"{number}/surface"] = carrier.positions(own)
        if particles or carrier is None:
            arrays[f"{number}/particles"] = own
        for colour in colours:
            name = colour.partition(".")[0]
            if name not in body.fields:
                continue
            data = as_scalars(field(body, name), colour)
            units[colour] = data.unit or units.get(colour, "")
            values = on_particles(data, body.structure)
            if carrier is not None:
                arrays[f"{number}/surface-values.{colour}"] = on_surface(values, body.structure)
            if particles or carrier is None:
                arrays[f"{number}/values.{colour}"] = values
    return arrays, units
