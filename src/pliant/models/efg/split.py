"""Phyxels that cracks pass through become two.

Where the plane of a crack passes through the cell of a phyxel, the cell is cut, and each half has a phyxel of
its own: at the middle of the half cell (seen from that of the whole), with its share of mass and volume, the
velocity and the plastic state. So mass, centre of mass and momentum, the angular one too, stay exactly;
neighbours are found anew, with the reach that the phyxel had. Halves are not divided again, and one that
would be too small, or see too few others, is not made: the crack passes by that phyxel.

Source: [PaulyKeiserAdams2005]_ samples cracks anew as they grow. Differs: halves of what is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.mesh.bvh import Bvh
from pliant.mesh.mesh import Surface
from pliant.models.efg.cell_cutter import CellCutter, SplitCells
from pliant.models.efg.crack_faces import CrackFaces
from pliant.models.efg.split_volumes import CellSamples, SplitHalves
from pliant.models.efg.support import connect

SNAP = 0.06  # spacings: corners that are nearer to a plane are on it
FAR = 0.25  # of the reach: planes that pass further from a phyxel do not divide it
FEWEST, FLAT = 6, 0.1  # neighbours that a half needs, and how evenly they have to lie around it
BESIDE = 0.3  # spacings: neighbours that are nearer to the plane have a half on either side


class CellPlane(NamedTuple):
    """A plane that is to pass through a phyxel's cell."""

    phyxel: int
    at: Array
    normal: Array


@dataclass(frozen=True)
class SplitResult:
    """Phyxels since the last time: the one before that each continues (n,), its share of that one's mass
    (n,), and where it is, seen from there, in the rest shape (n, 3) [m]."""

    parents: IntArray
    share: Array
    offset: Array


class PhyxelSplitter(CrackFaces):
    """Open faces, also through phyxels. sites (m, 3): the phyxels before any was divided, the first m now;
    cuts (k, 7): phyxel, point and normal of each division, in order; whole_surface: that of the body."""

    sites: Array
    cuts: Array
    whole_surface: Surface
    dividing: bool
    volumes: Array
    rests: Array
    since: SplitResult | None = None
    next: float

    @cached_property
    def _shares(self) -> CellSamples:
        tree = Bvh(self.whole_surface.points, self.whole_surface.triangles)
        found = CellSamples(tree, self.sites)
        for k, (i, *plane) in enumerate(self.cuts.tolist()):
            found.divide(int(i), np.array(plane[:3]), np.array(plane[3:]), len(self.sites) + k)
        return found

    def divide(
        self, time: float, wanted: Sequence[CellPlane], opened: list[int], open_: bool = True
    ) -> list[int]:
        """Divide phyxels where planes are wanted to pass through them, and open the faces between the halves
        unless told not to; all that opened, ``opened`` included."""
        n = len(self.rest)
        made: list[tuple[CellPlane, SplitHalves, int]] = []
        cutter = CellCutter(self.cells, SNAP * self.spacing)
        for i, at, normal in wanted if self.dividing else ():
            if any(i == done[0].phyxel for done in made):
                continue
            if abs((self.rest[i] - at) @ normal) > FAR * self.sight.whole.h[i]:
                continue
            halves = self._shares.halves(i, at, normal)
            if halves is None or not self._sampled(i, at, normal, halves.offset):
                continue
            face = cutter.cut(i, at, normal, n + len(made))
            if face is not None:
                self._shares.divide(i, at, normal, n + len(made))
                made.append((CellPlane(i, at, normal), halves, face))
        if not made:
            return opened
        cut = cutter.result()
        opened = np.flatnonzero(np.isin(cut.origin, opened)).tolist()
        self._take_cells(cut)
        self._take_halves([(passing.phyxel, halves) for passing, halves, _ in made])
        self.cuts = np.concatenate([self.cuts, [[p.phyxel, *p.at, *p.normal] for p, _, _ in made]])
        if not open_:
            return opened
        for passing, _, face in made:
            self.open_one(time, face, passing.at, passing.normal, passing.at)
            self.ready[self.edges_of(face)] = np.maximum(self.ready[self.edges_of(face)], self.next)
        return opened + [face for _, _, face in made]

    def _sampled(self, i: int, at: Array, normal: Array, offset: Array) -> bool:
        """Whether both halves of phyxel i see enough of others on their own side of the plane."""
        rows = slice(self.seen.starts[i], self.seen.starts[i + 1])
        near = self.seen.around[rows][self.seen.weight[rows] > 0.0]
        height = (self.rest[near] - at) @ normal
        for way, place in ((-1.0, self.rest[i] + offset[0]), (1.0, self.rest[i] + offset[1])):
            d = self.rest[near[way * height > -BESIDE * self.spacing]] - place
            if len(d) < FEWEST:
                return False
            spread = np.linalg.eigvalsh(d.T @ d)
            if spread[0] < FLAT * spread[2]:
                return False
        return self.behind(i, normal) and self.behind(i, -normal)

    def _take_cells(self, cut: SplitCells) -> None:
        """Take over cells after cuts, with what is known of their faces and edges."""
        old, many = self.cells.edges, len(self.cells.points)
        known = cut.origin >= 0
        self.opened, self.refused = known & self.opened[cut.origin], known & self.refused[cut.origin]
        self.planes = np.where(known[:, None], self.planes[cut.origin], 0.0)
        self.cells = cut.cells
        ends = self.cells.edges.pairs.copy()
        new = ends[:, 1] >= many  # pairs are sorted: new corners come second, or are both new
        before = np.sort(cut.points_of[ends[new, 1] - many], axis=1)
        part = (before == ends[new, :1]).any(axis=1)
        ends[new] = np.where(part[:, None], before, -1)
        key = ends[:, 0] * many + ends[:, 1]
        was = old.pairs[:, 0] * many + old.pairs[:, 1]
        place = np.minimum(np.searchsorted(was, key), len(was) - 1)
        self.ready = np.where(was[place] == key, self.ready[place], -np.inf)
        self.forget()

    def _take_halves(self, made: list[tuple[int, SplitHalves]]) -> None:
        n = len(self.rest)
        i = np.array([phyxel for phyxel, _ in made])
        share, offset = np.array([h.share for _, h in made]), np.array([h.offset for _, h in made])
        rows = np.concatenate([np.arange(n), i])
        last = self.since or SplitResult(np.arange(n), np.ones(n), np.zeros((n, 3)))
        shares, moved = np.ones(len(rows)), np.zeros((len(rows), 3))
        shares[i], shares[n:] = share[:, 0], share[:, 1]
        moved[i], moved[n:] = offset[:, 0], offset[:, 1]
        self.since = SplitResult(last.parents[rows], last.share[rows] * shares, last.offset[rows] + moved)
        self.rest, self.volumes = self.rest[rows] + moved, self.volumes[rows] * shares
        self.rests = self.rests[rows]
        h = self.sight.whole.h[rows]
        whole = connect(self.rest, h, self.sight.unit)
        self.sight = self.sight.followed(
            whole, self.rest, np.flatnonzero(shares != 1.0), self._corners(self._open())
        )
        self.seen = whole
        self.support()

    def _open(self) -> IntArray:
        return np.flatnonzero(self.opened)
