"""What bodies touch with: triangles with a thickness, and their corners as balls."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.csr import edge_incidence
from pliant.mesh.topology import components

if TYPE_CHECKING:
    from pliant.state.world import BodyState, World

SHELL = 0.2  # thickness of bodies made of points, to either side [spacings]
BALL = 0.5  # radius of particles that have no surface [spacings]


@dataclass(frozen=True)
class ContactSurfaces:
    """All bodies' surfaces in rows of the World.

    triangles (t, 3) with the body of each (t,); points (p,) with the body of each (p,): the corners; radius
    (b,): half the thickness [m]; oriented (b,): triangles face outward everywhere; first, other: connected
    particles of the bodies that meet themselves, as rows of lists; piece (n,): the piece of each particle, of
    which only different ones meet, or a number of its own.
    """

    triangles: IntArray
    triangle_body: IntArray
    points: IntArray
    point_body: IntArray
    radius: Array
    oriented: BoolArray
    first: IntArray
    other: IntArray
    piece: IntArray


def surfaces_of(world: "World", alone: list[bool], apart: list[bool]) -> ContactSurfaces:
    """The surfaces of all bodies; ``alone`` says which bodies meet themselves, ``apart`` those of which only
    different pieces do."""
    triangles, owners, radius, oriented, edges = [], [], [], [], []
    piece = np.arange(world.count)
    for number, part in enumerate(world.bodies):
        contact = part.mechanics.contact_surface()
        own, r = _surface(part)
        triangles.append(own + part.rows.start)
        owners.append(np.full(len(own), number))
        radius.append(r)
        oriented.append("tetra" in part.structure.cells or contact.rigid)
        if alone[number] and contact.pieces is not None:
            piece[part.rows] = part.rows.start + contact.pieces
        elif alone[number] and apart[number]:
            piece[part.rows] = part.rows.start + components(part.count, _edges(part))[1]
        elif alone[number]:
            edges.append(_edges(part) + part.rows.start)
    whole = np.concatenate(triangles)
    points = np.unique(whole)
    body_of = np.repeat(np.arange(len(world.bodies)), [part.count for part in world.bodies])
    pairs = np.concatenate(edges) if edges else np.empty((0, 2), np.int64)
    first, other, _ = edge_incidence(pairs, world.count)
    return ContactSurfaces(
        np.ascontiguousarray(whole),
        np.concatenate(owners),
        points,
        body_of[points],
        np.array(radius),
        np.array(oriented),
        first,
        other,
        piece,
    )


def new_faces(triangles: IntArray, parents: IntArray, before: IntArray) -> IntArray:
    """Those of ``triangles`` (t, 3) that were none ``before``; parents (n,): the old row of each new one."""
    row = np.dtype((np.void, 24))
    was, now = (np.ascontiguousarray(np.sort(t, axis=1)) for t in (before, parents[triangles]))
    return triangles[~np.isin(now.view(row).ravel(), was.view(row).ravel())]


def _surface(part: "BodyState") -> tuple[IntArray, float]:
    """Triangles of a body in its own rows, and half their thickness [m]."""
    structure, contact = part.structure, part.mechanics.contact_surface()
    triangles = structure.cells.get("triangle") if contact.triangles is None else contact.triangles
    radius = contact.radius
    if radius is None:
        radius = structure.spacing * (SHELL if triangles is not None and len(triangles) else BALL)
    if triangles is None or not len(triangles):
        return np.repeat(np.arange(part.count)[:, None], 3, axis=1), radius
    return np.asarray(triangles, np.int64), radius


def _edges(part: "BodyState") -> IntArray:
    """Connected particles of a body (e, 2)."""
    from pliant.mesh.mesh import tet_edges

    cells = part.structure.cells
    if "edge" in cells:
        return cells["edge"]
    if "tetra" in cells:
        return tet_edges(cells["tetra"])
    t = cells.get("triangle", np.empty((0, 3), np.int64))
    return np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]])
