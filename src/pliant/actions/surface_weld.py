"""The surfaces of two bodies that become one: what faces the other closes the gap between them."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray
from pliant.interfaces import Editable
from pliant.mesh.bvh import Bvh
from pliant.mesh.mesh import Surface

if TYPE_CHECKING:
    from pliant.state.world import BodyState, World

FACING = 0.5  # cosine between a point's normal and the way to the other body


def weld(world: "World", one: "BodyState", two: "BodyState", gap: float) -> None:
    """Move points of both shown surfaces that face the other one, up to ``gap`` [m] away, half-way to it."""
    shown, editors = [], []
    for part in (one, two):
        carrier = part.structure.carrier
        editable = part.mechanics.offer(Editable)
        if carrier is None or editable is None:
            return
        editors.append(editable)
        shown.append(Surface(carrier.positions(world.x[part.rows]), carrier.surface.triangles))
    both = ((one, editors[0], shown[0], shown[1]), (two, editors[1], shown[1], shown[0]))
    for part, editor, own, other in both:
        nearest, away, _ = Bvh(other.points, other.triangles).nearest(own.points)
        which = np.flatnonzero((away <= gap) & _facing(own, nearest - own.points, away))
        if len(which) and float(away[which].max()) > 1e-6 * gap:
            places = 0.5 * (own.points[which] + nearest[which])
            editor.weld(world.x[part.rows], which, places)


def _facing(surface: Surface, way: Array, away: Array) -> BoolArray:
    """Which points look along ``way`` (p, 3), or against it, whose length is ``away`` (p,)."""
    a, b, c = (surface.points[surface.triangles[:, k]] for k in range(3))
    normals = np.zeros_like(surface.points)
    for k in range(3):
        np.add.at(normals, surface.triangles[:, k], np.cross(b - a, c - a))
    size = np.linalg.norm(normals, axis=1)
    return np.asarray(np.abs(np.einsum("ij,ij->i", normals, way)) >= FACING * size * away)
