"""How loads on a surface go to particles: areas of particles, and faces of quadratic tets."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.selection import Select
from pliant.core.typing import Array, IntArray
from pliant.mesh.mesh import boundary_triangles
from pliant.structure.samplers.tets import EDGES

if TYPE_CHECKING:
    from pliant.interfaces import Structure
    from pliant.state.world import BodyState

FRAGMENT = 0.25  # largest extent of the pieces that a surface is divided into [spacings]
ROUNDS = 8  # of dividing triangles in four, at most


def quadratic_faces(structure: "Structure") -> IntArray:
    """Boundary faces of quadratic tets (k, 6), facing outward: three corners, then the particles in the
    middle of the edges 01, 12 and 02."""
    elements = structure.cells["tetra10"]
    count = len(structure.rest)
    ends = np.concatenate([np.sort(elements[:, pair], axis=1) for pair in EDGES])
    keys, first = np.unique(ends[:, 0] * count + ends[:, 1], return_index=True)
    middles = elements[:, 4:].T.ravel()[first]
    corners = boundary_triangles(elements[:, :4])
    columns = [corners]
    for a, b in ((0, 1), (1, 2), (0, 2)):
        low, high = np.sort(corners[:, (a, b)], axis=1).T
        columns.append(middles[np.searchsorted(keys, low * count + high)][:, None])
    return np.concatenate(columns, axis=1)


def particle_areas(part: "BodyState", select: Select, rows: IntArray, what: str) -> Array:
    r"""Area (n,) [m2] that each particle of a body stands for on the selected surface at rest.

    :math:`\int N_i\,dA` over the faces whose particles are all in ``rows`` (the body's own numbers): a third
    of a linear face for each corner; a third of a quadratic one for the middle of each edge, and nothing for
    its corners. Bodies without faces (lattices, phyxels) take the selected part of their shown surface, of
    which each particle gets what is nearest to it.
    """
    structure = part.structure
    chosen = np.zeros(len(structure.rest), bool)
    chosen[rows] = True
    areas = np.zeros(len(structure.rest))
    if "tetra10" in structure.cells:
        faces = quadratic_faces(structure)
        faces = faces[chosen[faces].all(axis=1)]
        shares = np.repeat(_areas(structure.rest, faces[:, :3])[:, None] / 3.0, 3, axis=1)
        np.add.at(areas, faces[:, 3:], shares)
    elif "triangle" in structure.cells and "edge" not in structure.cells:  # a lattice's join its centres
        faces = structure.cells["triangle"]
        faces = faces[chosen[faces].all(axis=1)]
        np.add.at(areas, faces, np.repeat(_areas(structure.rest, faces)[:, None] / 3.0, 3, axis=1))
    else:
        areas = _nearest_areas(structure, select, chosen, what, part.name)
    return areas


def _areas(points: Array, triangles: IntArray) -> Array:
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return np.asarray(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1))


def _nearest_areas(structure: "Structure", select: Select, chosen: Array, what: str, name: str) -> Array:
    from scipy.spatial import cKDTree

    if structure.carrier is None:
        raise IncompatibleError(f"{what}: body '{name}' has no surface to act on.")
    surface = structure.carrier.surface
    corners = surface.points[surface.triangles]
    region = select.plane or select.box or select.sphere
    if region is not None:
        inside = region.mask(surface.points, structure.spacing)
        corners = corners[inside[surface.triangles].all(axis=1)]
    for _ in range(ROUNDS):
        wide = np.ptp(corners, axis=1).max(axis=1) > FRAGMENT * structure.spacing
        if not wide.any():
            break
        a, b, c = corners[wide].transpose(1, 0, 2)
        ab, bc, ca = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
        parts = [np.stack(t, axis=1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        corners = np.concatenate([corners[~wide], *parts])
    sizes = 0.5 * np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    tree = cKDTree(structure.rest)
    _, owner = map(np.asarray, tree.query(corners.mean(axis=1)))
    if region is None:
        sizes = np.where(chosen[owner], sizes, 0.0)
    return np.asarray(np.bincount(owner, sizes, minlength=len(structure.rest)))
