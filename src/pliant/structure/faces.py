"""Flat faces of bodies whose particles lie inside of them: where the face is, seen from its particles."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.selection import AXES, Select
from pliant.core.typing import Array, IntArray

if TYPE_CHECKING:
    from pliant.interfaces import Structure


def face_distance(structure: "Structure", select: Select) -> float:
    """How far a face of a lattice body is beyond the centres of its outermost elements [spacings]: one half
    where the lattice fits the body.

    Zero for other bodies, whose particles lie on their faces, and for selections other than a plane at the
    ``min`` or ``max`` of a body.
    """
    plane = select.plane
    if plane is None or not isinstance(plane.at, str) or not len(structure.rest):
        return 0.0
    if structure.carrier is None or not {"edge", "hexahedron"} <= structure.cells.keys():
        return 0.0
    shown, own = (p[:, AXES[plane.axis]] for p in (structure.carrier.surface.points, structure.rest))
    if not len(shown):
        return 0.0
    gap = own.min() - shown.min() if plane.at == "min" else shown.max() - own.max()
    return float(np.clip(gap / structure.spacing, 0.0, 1.0))


def face_shares(
    structure: "Structure", select: Select, rows: IntArray, shares: Array
) -> tuple[IntArray, Array]:
    """Particles and their shares of a load that acts on the face of ``rows``, each of which has a share (n,)
    of it: the same force, and the same moment as on the face."""
    partners, distance = face_partners(structure, select, rows)
    if not distance.any():
        return rows, shares
    total: Array = np.zeros(len(structure.rest))
    np.add.at(total, rows, (1.0 + distance) * shares)
    np.add.at(total, partners, -distance * shares)
    held = np.flatnonzero(total)
    return held, total[held]


def face_partners(structure: "Structure", select: Select, rows: IntArray) -> tuple[IntArray, Array]:
    """For particles ``rows`` of a body (its own numbers) the neighbours (n,) one spacing further inside, and
    the distances (n,) of the face [spacings]: the face has the displacement
    ``(1 + distance) u[rows] - distance u[partners]``. Without such a neighbour the distance is zero."""
    distance = face_distance(structure, select)
    if not distance:
        return rows, np.zeros(len(rows))
    from scipy.spatial import cKDTree

    assert select.plane is not None
    inward = np.zeros(3)
    inward[AXES[select.plane.axis]] = structure.spacing if select.plane.at == "min" else -structure.spacing
    off, other = map(np.asarray, cKDTree(structure.rest).query(structure.rest[rows] + inward))
    found = off < 1e-3 * structure.spacing
    return np.where(found, other, rows), np.where(found, distance, 0.0)
