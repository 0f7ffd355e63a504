"""Embedded surfaces of bodies that have cracks or were cut, built when they are first asked for.

All of them cut the surface of the whole body along the cracks (``cut_surface``) and embed each point in
elements on its own side. A part of the surface may lie nearest to elements across a crack here and there:
``majority_pieces`` decides by vote to which piece of the body it belongs.
"""

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.embedding.barycentric import EmbeddedSurface, LazyCarrier, boundary_carrier, embed
from pliant.fracture.piece_check import pieces_of_particles, surface_fault
from pliant.fracture.surface_cut import GROUP, cut_surface
from pliant.fracture.tet_topology import boundary_twins, pieces
from pliant.fracture.virtual_nodes import CutMesh, VirtualMesh, tet_with, weights_in
from pliant.interfaces import Carrier
from pliant.mesh.mesh import Surface, boundary_triangles, tet_volumes
from pliant.mesh.topology import merge_points

REACH = (0.25, 0.6, 1.2)  # how far a crack is drawn out of the tets, to cut the embedded surface [spacings]
NUDGE = 0.05  # how far inside a point looks for the tet that carries it [spacings]


def majority_pieces(part: IntArray, piece: IntArray, doubt: float = 1.0) -> IntArray:
    """The piece (p,) of the body that each point of a surface belongs to: the one that most points of its
    ``part`` (p,) of the surface are embedded in, ``piece`` (p,) being that of each point. Where another piece
    has more than ``doubt`` times as many, they share the part, and each point keeps its own."""
    votes = np.zeros((int(part.max()) + 1, int(piece.max()) + 1), np.int64)
    np.add.at(votes, (part, piece), 1)
    ranked = np.sort(votes, axis=1)
    shared = ranked[:, -2:].min(axis=1) > doubt * ranked[:, -1]
    return np.where(shared[part], piece, votes.argmax(axis=1)[part])


def nearest_particles(
    places: Array, rest: Array, part: IntArray, piece: IntArray, doubt: float = 1.0
) -> IntArray:
    """The particle at ``rest`` (n, 3) nearest to each of the ``places`` (p, 3) on a surface, among those of
    the piece that its ``part`` (p,) belongs to; piece (n,): that of each particle."""
    from scipy.spatial import cKDTree

    home = np.asarray(cKDTree(rest).query(places)[1])
    if part.any():
        wanted = majority_pieces(part, piece[home], doubt)
        for k in np.unique(wanted[wanted != piece[home]]):
            wrong, own = np.flatnonzero((wanted == k) & (piece[home] != k)), np.flatnonzero(piece == k)
            home[wrong] = own[np.asarray(cKDTree(rest[own]).query(places[wrong])[1])]
    return home


class CutTetCarrier(LazyCarrier):
    """``whole``, embedded in tets (m, 4) over ``rest`` (n, 3) [m], some of whose faces are open: cut along
    these faces, and closed on both sides.

    A body that shows its own boundary shows the new one. So does one whose embedded surface cannot be cut
    into the pieces that the body is in (``piece_check.py``).
    """

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
        count, piece = pieces(self.tets)
        of_node = np.zeros(len(self.rest), np.int64)
        of_node[self.tets.ravel()] = np.repeat(piece, 4)
        body = pieces_of_particles(self.rest, of_node, tet_volumes(self.rest, self.tets), piece)
        for reach in REACH:
            try:
                cut = cut_surface(self.whole.surface, *self._sheet(triangles, torn, reach))
            except MeshError:
                continue
            if cut.pieces != count:
                continue
            nudged = Surface(cut.surface.points + NUDGE * self.spacing * cut.inward, cut.surface.triangles)
            held = embed(nudged, self.rest, self.tets).indices
            wanted = majority_pieces(cut.piece_of_point, of_node[held[:, 0].astype(np.int64)])
            held = self._by_own_piece(nudged, held, wanted, of_node, piece)
            of_triangle = wanted[cut.surface.triangles[:, 0]]
            if surface_fault(cut.surface, cut.surface.points, of_triangle, body, self.spacing):
                continue
            weights = weights_in(cut.surface.points, self.rest[held])
            return EmbeddedSurface(cut.surface, held, weights, max(0.0, -float(weights.min())))
        return self._boundary(torn)

    def _by_own_piece(
        self, surface: Surface, held: AnyArray, wanted: IntArray, of_node: IntArray, piece: IntArray
    ) -> AnyArray:
        """Corners (p, 4) of the tets that carry points: of a tet of the piece that is ``wanted`` (p,), where
        ``held`` (p, 4) are those of another one. Points outside of the tets may be nearer to one across a
        crack."""
        of_point, found = of_node[held[:, 0].astype(np.int64)], held.copy()
        for k in np.unique(wanted[wanted != of_point]):
            moved = np.flatnonzero((wanted == k) & (of_point != k))
            alone = Surface(surface.points[moved], np.zeros((0, 3), np.int64))
            found[moved] = embed(alone, self.rest, self.tets[piece == k]).indices
        return found

    def _boundary(self, torn: AnyArray) -> EmbeddedSurface:
        plain = boundary_carrier(self.rest, self.tets)
        surface = Surface(plain.surface.points, plain.surface.triangles, groups={GROUP: np.flatnonzero(torn)})
        return EmbeddedSurface(surface, plain.indices, plain.weights)

    def _sheet(self, triangles: IntArray, torn: AnyArray, reach: float) -> tuple[Array, IntArray]:
        """The crack as triangles, its vertices on the outside drawn out by ``reach`` spacings."""
        points, of = merge_points(self.rest)
        outside = of[triangles[~torn]]
        a, b, c = (points[outside[:, k]] for k in range(3))
        normal = np.zeros_like(points)
        for k in range(3):
            np.add.at(normal, outside[:, k], np.cross(b - a, c - a))
        size = np.linalg.norm(normal, axis=1)
        on = size > 0.0
        points = points.copy()
        points[on] += reach * self.spacing * normal[on] / size[on, None]
        faces = of[triangles[torn]]
        _, first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
        return points, faces[np.sort(first)]


class VirtualNodeCarrier(LazyCarrier):
    """``whole``, cut as the shadow is, and embedded in the virtual tets."""

    def __init__(self, whole: Carrier, shadow: CutMesh, mesh: VirtualMesh, spacing: float) -> None:
        self.whole, self.shadow, self.mesh, self.spacing = whole, shadow, mesh, spacing

    def make(self) -> EmbeddedSurface:
        shadow, mesh = self.shadow, self.mesh
        torn = CutTetCarrier(self.whole, shadow.rest, shadow.tets, self.spacing).arrays()
        made = EmbeddedSurface.from_arrays(torn)
        indices = made.indices.astype(np.int64)
        home = shadow.home[0][indices[:, 0]] if indices.shape[1] == 1 else tet_with(shadow.tets, indices)
        weights = weights_in(made.surface.points, shadow.points[shadow.whole[shadow.origin[home]]])
        corners = mesh.tets[mesh.of[home]].astype(np.uint32)
        return EmbeddedSurface(made.surface, corners, weights, made.extrapolation)


def sheet_rim(triangles: IntArray, count: int) -> BoolArray:
    """Which of ``count`` corners lie on the rim of a sheet, or on lines where sheets meet: on edges that do
    not belong to two ``triangles`` (t, 3)."""
    sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    edges, uses = np.unique(sides, axis=0, return_counts=True)
    found = np.zeros(count, bool)
    found[edges[uses != 2]] = True
    return found


def relax_sheet(
    points: Array, triangles: IntArray, corner: IntArray, owner: IntArray, still: BoolArray
) -> Array:
    """``points`` (p, 3) moved half of the way to the mean of the centroids of the triangles around them, but
    those that are ``still`` (p,). corner, owner (3 t,): corners of all triangles and the triangle of each."""
    mean = corner_means(points[triangles].mean(axis=1)[owner], corner, len(points))
    return np.where(still[:, None], points, 0.5 * points + 0.5 * mean)


def corner_means(values: Array, corner: IntArray, count: int) -> Array:
    """Means (count, 3) of ``values`` (m, 3) over the entries of ``corner`` (m,) that name each corner."""
    total = np.stack([np.bincount(corner, values[:, c], count) for c in range(3)], axis=1)
    return np.asarray(total / np.bincount(corner, minlength=count)[:, None])
