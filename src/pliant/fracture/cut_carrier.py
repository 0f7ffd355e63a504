"""The carried surface of a body that has come apart, made when somebody asks for it."""

from typing import ClassVar

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import AnyArray, Array, IntArray
from pliant.embedding.barycentric import EmbeddedSurface, boundary_carrier, embed
from pliant.embedding.lazy import LazyCarrier
from pliant.fracture.surface_cut import GROUP, cut_surface
from pliant.fracture.tet_topology import boundary_twins, pieces
from pliant.fracture.virtual_nodes import weights_in
from pliant.interfaces import Carrier
from pliant.mesh.mesh import Surface, boundary_triangles
from pliant.mesh.topology import components, merge_points

REACH = 0.25  # how far a crack is drawn out of the tets, so that it cuts the carried surface [spacings]
NUDGE = 0.05  # how far inside a point looks for the tet that carries it [spacings]


class CutTetCarrier(LazyCarrier):
    """``whole``, carried by tets (m, 4) over ``rest`` (n, 3) [m] that have come apart along some of their
    faces: open along these faces, and closed on both sides.

    A body that shows its own boundary shows the new one. So does one whose carried surface cannot be cut.
    """

    kind: ClassVar[str] = EmbeddedSurface.kind

    def __init__(self, whole: Carrier, rest: Array, tets: IntArray, spacing: float) -> None:
        self.whole, self.rest, self.tets, self.spacing = whole, rest, tets, spacing

    def make(self) -> EmbeddedSurface:
        triangles = boundary_triangles(self.tets)
        torn = boundary_twins(self.rest, triangles)
        own = isinstance(self.whole, EmbeddedSurface) and self.whole.indices.shape[1] == 1
        if own:
            return self._boundary(torn)
        if not torn.any():
            return embed(self.whole.surface, self.rest, self.tets)
        try:
            cut = cut_surface(self.whole.surface, *self._sheet(triangles, torn))
        except MeshError:
            return self._boundary(torn)
        nudged = Surface(cut.surface.points + NUDGE * self.spacing * cut.inward, cut.surface.triangles)
        held = self._by_own_piece(nudged, embed(nudged, self.rest, self.tets).indices)
        weights = weights_in(cut.surface.points, self.rest[held])
        return EmbeddedSurface(cut.surface, held, weights, max(0.0, -float(weights.min())))

    def _by_own_piece(self, surface: Surface, held: AnyArray) -> AnyArray:
        """Corners (n, 4) of the tets that carry points, where each part of the surface is carried by one
        piece: that of most of its points. Points outside of the tets may be nearer to one across a crack."""
        count, piece = pieces(self.tets)
        if count == 1:
            return held
        ends = surface.triangles
        parts, part = components(len(surface.points), np.concatenate([ends[:, :2], ends[:, 1:]]))
        of_node = np.zeros(len(self.rest), np.int64)
        of_node[self.tets.ravel()] = np.repeat(piece, 4)
        of_point = of_node[held[:, 0].astype(np.int64)]
        votes = np.zeros((parts, count), np.int64)
        np.add.at(votes, (part, of_point), 1)
        wanted, found = votes.argmax(axis=1)[part], held.copy()
        for k in np.unique(wanted[wanted != of_point]):
            moved = np.flatnonzero((wanted == k) & (of_point != k))
            alone = Surface(surface.points[moved], np.zeros((0, 3), np.int64))
            found[moved] = embed(alone, self.rest, self.tets[piece == k]).indices
        return found

    def _boundary(self, torn: AnyArray) -> EmbeddedSurface:
        plain = boundary_carrier(self.rest, self.tets)
        surface = Surface(plain.surface.points, plain.surface.triangles, groups={GROUP: np.flatnonzero(torn)})
        return EmbeddedSurface(surface, plain.indices, plain.weights)

    def _sheet(self, triangles: IntArray, torn: AnyArray) -> tuple[Array, IntArray]:
        """The crack as triangles, its vertices on the outside drawn out a little."""
        points, of = merge_points(self.rest)
        outside = of[triangles[~torn]]
        a, b, c = (points[outside[:, k]] for k in range(3))
        normal = np.zeros_like(points)
        for k in range(3):
            np.add.at(normal, outside[:, k], np.cross(b - a, c - a))
        size = np.linalg.norm(normal, axis=1)
        on = size > 0.0
        points = points.copy()
        points[on] += REACH * self.spacing * normal[on] / size[on, None]
        faces = of[triangles[torn]]
        _, first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
        return points, faces[np.sort(first)]
