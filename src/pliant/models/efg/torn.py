"""The carried surface of a phyxel body that has come apart, made when somebody asks for it."""

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pliant.errors import MeshError
from pliant.fracture import cut_surface
from pliant.mesh.types import Surface
from pliant.models.efg.cracks import sheet
from pliant.protocols import Carrier
from pliant.structure.carrier import EmbeddedSurface
from pliant.structure.phyxels.carrying import AROUND, shape_functions
from pliant.typing import AnyArray, Array, IntArray

if TYPE_CHECKING:
    from pliant.models.efg.cracks import Cracks
    from pliant.models.efg.support import Support

DOUBT = 0.6  # a part of the surface belongs to one piece if no other has this share of its points
NUDGE = 0.05  # how far inside a point looks for the phyxels that carry it [spacings]


class TornPhyxels:
    """``whole``, cut along ``cracks`` and closed on both sides; each point is carried by phyxels that see
    each other, so that faces of a crack part."""

    kind: ClassVar[str] = EmbeddedSurface.kind

    def __init__(self, whole: Carrier, cracks: "Cracks", support: "Support") -> None:
        self.whole, self.rest, self.spacing, self.support = whole, cracks.rest, cracks.spacing, support
        self.piece = cracks.pieces()[1]
        self._cracks = cracks.cells, cracks.opened.copy(), cracks.planes.copy()

    @cached_property
    def _made(self) -> EmbeddedSurface:
        try:
            cut = cut_surface(self.whole.surface, *sheet(*self._cracks))
            surface, inward = cut.surface, cut.inward
            part = np.zeros(len(surface.points), np.int64)
            part[surface.triangles.ravel()] = np.repeat(cut.piece, 3)
        except MeshError:  # the cracks touch the surface in an unclear way: show it uncut
            surface, inward = self.whole.surface, np.zeros_like(self.whole.surface.points)
            part = np.zeros(len(surface.points), np.int64)
        around, radius = self._carriers(surface.points + NUDGE * self.spacing * inward, part)
        weights = shape_functions(surface.points, self.rest, around, radius)
        return EmbeddedSurface(surface, around.astype(np.uint32), weights)

    def _homes(self, looking: Array, part: IntArray) -> IntArray:
        """The nearest phyxel of each point, among those of the piece that most points of its ``part`` of the
        surface are nearest to: the smoothed crack passes some phyxels on the wrong side."""
        from scipy.spatial import cKDTree

        home = np.asarray(cKDTree(self.rest).query(looking)[1])
        count = int(part.max()) + 1
        if count > 1:
            for k in range(count):
                mine = np.flatnonzero(part == k)
                votes = np.bincount(self.piece[home[mine]])
                usual = int(np.argmax(votes))
                if np.sort(votes)[-2:].min() > DOUBT * votes[usual] and len(votes) > 1:
                    continue  # a part of the surface that several pieces share: each keeps its own
                wrong = mine[self.piece[home[mine]] != usual]
                own = np.flatnonzero(self.piece == usual)
                if len(wrong):
                    home[wrong] = own[np.asarray(cKDTree(self.rest[own]).query(looking[wrong])[1])]
        return home

    def _carriers(self, looking: Array, part: IntArray) -> tuple[IntArray, Array]:
        """For each point the nearest phyxel and those that it sees, (p, k), and their reach (p,)."""
        home = self._homes(looking, part)
        starts, seen = self.support.starts, self.support.weight > 0.0
        around = np.repeat(home[:, None], AROUND, axis=1)
        radius = np.empty(len(looking))
        for p, i in enumerate(home.tolist()):
            rows = slice(starts[i], starts[i + 1])
            near = self.support.around[rows][seen[rows]].astype(np.int64)
            gap = np.linalg.norm(self.rest[near] - looking[p], axis=1)
            order = np.argsort(gap, kind="stable")[: AROUND - 1]
            around[p, 1 : len(order) + 1] = near[order]
            radius[p] = 1.05 * gap[order[-1]] if len(order) else self.spacing
        return around, radius

    @property
    def surface(self) -> Surface:
        return self._made.surface

    def positions(self, x: Array) -> Array:
        return self._made.positions(x)

    def arrays(self) -> dict[str, AnyArray]:
        return self._made.arrays()
