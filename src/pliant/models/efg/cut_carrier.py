"""The embedded surface of a phyxel body, cut along its cracks."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.embedding.barycentric import EmbeddedSurface, LazyCarrier
from pliant.embedding.mls import AROUND, shape_functions
from pliant.fracture import CutSurface, cut_surface
from pliant.fracture.cut_carrier import corner_means, nearest_particles, relax_sheet, sheet_rim
from pliant.interfaces import Carrier
from pliant.models.efg.cells import VoronoiCells

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from pliant.models.efg.crack_faces import CrackFaces

SMOOTH = (1.0, 0.6, 0.3, 0.0)  # shares of the way from the cells' faces to smooth ones that are tried
FEW = 14  # phyxels that carry a point at least, where its piece has them
DOUBT = 0.6  # a part of the surface belongs to one piece if no other has this share of its points
NUDGE = 0.05  # how far inside a point looks for the phyxels that carry it [spacings]
UPRIGHT = 0.3  # cosine: how far triangles of a smoothed crack may turn


class CutPhyxelCarrier(LazyCarrier):
    """``whole``, cut along ``cracks`` and closed on both sides; each point is carried by phyxels on
    its own side, so that faces of a crack part."""

    def __init__(self, whole: Carrier, cracks: "CrackFaces") -> None:
        self.whole, self.rest, self.spacing = whole, cracks.rest, cracks.spacing
        self.piece = cracks.pieces()[1]
        self._cracks = cracks.cells, cracks.opened.copy(), cracks.planes.copy()

    def make(self) -> EmbeddedSurface:
        cut = self._cut()
        if cut is None:
            surface, inward = self.whole.surface, np.zeros_like(self.whole.surface.points)
            part = np.zeros(len(surface.points), np.int64)
        else:
            surface, inward, part = cut.surface, cut.inward, cut.piece_of_point
        around, radius = self._carriers(surface.points + NUDGE * self.spacing * inward, part)
        weights = shape_functions(surface.points, self.rest, around, radius)
        return EmbeddedSurface(surface, around.astype(np.uint32), weights)

    def _cut(self) -> CutSurface | None:
        """The surface cut along the smoothed cracks; less smooth where that made them meet, so that pieces
        would be connected, or leave splinters; None where they touch the surface in an unclear way."""
        found: CutSurface | None = None
        pieces, best = int(self.piece.max()) + 1, (True, 0)
        for smooth in SMOOTH:
            try:
                cut = cut_surface(self.whole.surface, *sheet(*self._cracks, smooth))
            except MeshError:
                continue
            fault = cut.pieces < pieces, abs(cut.pieces - pieces)
            if found is None or fault < best:
                found, best = cut, fault
            if not best[1]:
                break
        return found

    def _carriers(self, looking: Array, part: IntArray) -> tuple[IntArray, Array]:
        """For each point the nearest phyxel and others around it on its side of all cracks, (p, k), and their
        reach (p,): those within two steps from cell to cell, more of them where these are few."""
        home = nearest_particles(looking, self.rest, part, self.piece, DOUBT)
        near = self._rings()
        wide = near @ near
        around = np.repeat(home[:, None], AROUND, axis=1)
        radius = np.empty(len(looking))
        for p, i in enumerate(home.tolist()):
            row = near.indices[near.indptr[i] : near.indptr[i + 1]]
            if len(row) < FEW:
                row = wide.indices[wide.indptr[i] : wide.indptr[i + 1]]
            row = row[row != i]
            gap = np.linalg.norm(self.rest[row] - looking[p], axis=1)
            order = np.argsort(gap, kind="stable")[: AROUND - 1]
            around[p, 1 : len(order) + 1] = row[order]
            radius[p] = 1.05 * gap[order[-1]] if len(order) else self.spacing
        return around, radius

    def _rings(self) -> "csr_array":
        """Which phyxels are within two steps from cell to cell of each other, CSR (n, n) with sorted rows."""
        from scipy.sparse import coo_array, eye_array

        cells, opened, _ = self._cracks
        a, b = cells.pairs[~opened].T
        n = len(self.rest)
        pairs = coo_array((np.ones(len(a), np.int32), (a, b)), shape=(n, n))
        graph = (pairs + pairs.T + eye_array(n, dtype=np.int32)).tocsr()
        found: csr_array = (graph @ graph).tocsr()
        found.sort_indices()
        return found


def sheet(cells: VoronoiCells, opened: BoolArray, planes: Array, smooth: float) -> tuple[Array, IntArray]:
    """The open faces as triangles; their corners the share ``smooth`` of the way to where they are on the
    planes of the faces around them, and inside in the middle of what is around them."""
    fans, of = cells.triangles(np.flatnonzero(opened))
    used, triangles = np.unique(fans, return_inverse=True)
    triangles = triangles.reshape(-1, 3)
    points = cells.points[used].copy()
    still = cells.outside[used] | sheet_rim(triangles, len(points))
    corner, owner, face = triangles.ravel(), np.repeat(np.arange(len(triangles)), 3), np.repeat(of, 3)
    for _ in range(3):
        points = relax_sheet(points, triangles, corner, owner, still)
        at, normal = planes[face, :3], planes[face, 3:]
        off = np.einsum("ti,ti->t", points[corner] - at, normal)[:, None] * normal
        points = points - corner_means(off, corner, len(points))
    start = cells.points[used]
    return _unfolded(start + smooth * (points - start), start, triangles), triangles


def _unfolded(points: Array, start: Array, triangles: IntArray) -> Array:
    """``points`` (p, 3), but the corners of triangles that were turned over on their way from ``start``, or
    nearly so, where they started."""
    before = _across(start, triangles)
    points = points.copy()
    for _ in range(20):
        after = _across(points, triangles)
        size = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
        folded = np.unique(triangles[np.einsum("ti,ti->t", before, after) < UPRIGHT * size])
        folded = folded[(points[folded] != start[folded]).any(axis=1)]
        if not len(folded):
            break
        points[folded] = start[folded]
    return points


def _across(points: Array, triangles: IntArray) -> Array:
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return np.cross(b - a, c - a)
