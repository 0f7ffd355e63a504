"""Phyxels that cracks pass through become two.

Where the plane of a crack passes through the cell of a phyxel, the cell is cut, and each half has a phyxel of
its own: at the middle of the half cell (seen from that of the whole), with its share of mass and volume, the
velocity and the plastic state. So mass, centre of mass and momentum, the angular one too, stay exactly;
neighbours are searched again, with the reach that the phyxel had. Halves are not divided again, and one that
would be too small, or see too few others, is not made: the crack passes by that phyxel.

Source: [PaulyKeiserAdams2005]_ samples cracks again as they grow. Differs: halves of what is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.mesh.bvh import Bvh
from pliant.mesh.mesh import Surface
from pliant.models.efg.cell_cutter import CellCutter
from pliant.models.efg.crack_faces import CrackFaces

SNAP = 0.06  # spacings: corners that are nearer to a plane are on it
FAR = 0.25  # of the reach: planes that pass further from a phyxel do not divide it
FEWEST, FLAT = 6, 0.1  # neighbours that a half needs, and how evenly they have to lie around it
BESIDE = 0.3  # spacings: neighbours that are nearer to the plane have a half on either side
POINTS = 1500  # in the surroundings of a phyxel, which reach to either side
WIDE = 0.65  # of the way to its six nearest neighbours
SPREAD = 0.819172513396164 ** np.arange(1, 4)  # steps of a sequence that fills a cube evenly
SMALLEST = 0.3  # of the volume before any division: what a half has at least, so none is divided twice


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


class CellSamples:
    """Points that stand for the volumes of phyxels at ``rest`` (n, 3) in the body that ``tree`` bounds."""

    def __init__(self, tree: Bvh, rest: Array) -> None:
        from scipy.spatial import cKDTree

        self.tree = tree
        self._near = cKDTree(rest)
        self._points: dict[int, Array] = {}
        self._whole: dict[int, int] = {}  # how many points the site of each had

    def halves(self, i: int, at: Array, normal: Array) -> tuple[Array, Array] | None:
        """The halves of phyxel i, of which a plane makes two: shares (2,) of the volume, below and above the
        plane, and offsets (2, 3) [m] from the phyxel; None where one would be too small. Each lies where the
        middle of its half cell does, seen from that of the whole, so the common centre stays."""
        points = self._of(i)
        above = (points - at) @ normal > 0.0
        count = np.array([np.count_nonzero(~above), np.count_nonzero(above)])
        if not len(points) or count.min() < SMALLEST * self._whole[i]:
            return None
        middles = np.stack([points[~above].mean(axis=0), points[above].mean(axis=0)])
        return count / len(points), middles - points.mean(axis=0)

    def divide(self, i: int, at: Array, normal: Array, new: int) -> None:
        """Hand what lies above the plane over to phyxel ``new``."""
        points = self._of(i)
        above = (points - at) @ normal > 0.0
        self._points[i], self._points[new] = points[~above], points[above]
        self._whole[new] = self._whole[i]

    def _of(self, i: int) -> Array:
        if i not in self._points:
            site = self._near.data[i]
            around = np.asarray(self._near.query(site, k=min(7, self._near.n))[0])
            reach = WIDE * float(around[1:].mean())
            points = site + reach * (2.0 * ((0.5 + np.arange(1, POINTS + 1)[:, None] * SPREAD) % 1.0) - 1.0)
            points = points[np.asarray(self._near.query(points)[1]) == i]
            self._points[i] = points[self.tree.inside(points)]
            self._whole[i] = len(self._points[i])
        return self._points[i]


class PhyxelSplitter:
    """Divides phyxels, and the cells of ``faces`` with them.

    volumes (n,) [m3]; sites (m, 3) [m]: the phyxels before any was divided, the first m now; cuts (k, 7):
    phyxel, point and normal of each division, in order; surface: that of the body; enabled: whether phyxels
    are divided at all; since: the divisions that ``take_result`` has not returned yet.
    """

    def __init__(
        self, faces: CrackFaces, surface: Surface, volumes: Array, sites: Array, cuts: Array, enabled: bool
    ) -> None:
        self.faces, self.surface, self.volumes = faces, surface, volumes
        self.sites, self.cuts, self.enabled = sites, cuts, enabled
        self.since: SplitResult | None = None

    @cached_property
    def _shares(self) -> CellSamples:
        tree = Bvh(self.surface.points, self.surface.triangles)
        found = CellSamples(tree, self.sites)
        for k, (i, *plane) in enumerate(self.cuts.tolist()):
            found.divide(int(i), np.array(plane[:3]), np.array(plane[3:]), len(self.sites) + k)
        return found

    def divide(
        self,
        wanted: Sequence[CellPlane],
        opened: list[int],
        time: float | None = None,
        ready: float = 0.0,
    ) -> list[int]:
        """Divide phyxels where planes are wanted to pass through them; the numbers of the faces ``opened``
        after it. With a ``time`` the faces between the halves open, and cracks continue from them at
        ``ready`` [s] at the earliest."""
        faces = self.faces
        n = len(faces.rest)
        made: list[tuple[CellPlane, tuple[Array, Array], int]] = []
        cutter = CellCutter(faces.cells, SNAP * faces.spacing)
        for i, at, normal in wanted if self.enabled else ():
            if any(i == done[0].phyxel for done in made):
                continue
            if abs((faces.rest[i] - at) @ normal) > FAR * faces.sight.whole.h[i]:
                continue
            halves = self._shares.halves(i, at, normal)
            if halves is None or not self._sampled(i, at, normal, halves[1]):
                continue
            face = cutter.cut(i, at, normal, n + len(made))
            if face is not None:
                self._shares.divide(i, at, normal, n + len(made))
                made.append((CellPlane(i, at, normal), halves, face))
        if not made:
            return opened
        cut = cutter.result()
        opened = np.flatnonzero(np.isin(cut.origin, opened)).tolist()
        faces.replace_cells(cut)
        self._take_halves([(passing.phyxel, halves) for passing, halves, _ in made])
        self.cuts = np.concatenate([self.cuts, [[p.phyxel, *p.at, *p.normal] for p, _, _ in made]])
        if time is None:
            return opened
        for passing, _, face in made:
            faces.open_one(time, face, passing.at, passing.normal, passing.at)
            edges = faces.edges_of(face)
            faces.ready[edges] = np.maximum(faces.ready[edges], ready)
        return opened + [face for _, _, face in made]

    def divide_along(self, level: Array) -> Array:
        """Divide the phyxels through whose cells the surface passes where ``level`` (n,) is zero; its values
        for the phyxels that there are then."""
        faces = self.faces
        slope, n = faces.sight.slopes(level), len(level)
        steep = np.linalg.norm(slope, axis=1)
        rows = np.flatnonzero(np.abs(level) < 0.5 * faces.spacing * steep)
        normal = slope[rows] / steep[rows, None]
        at = faces.rest[rows] - (level[rows] / steep[rows])[:, None] * normal
        self.divide([CellPlane(int(i), p, m) for i, p, m in zip(rows.tolist(), at, normal, strict=True)], [])
        if self.since is None or len(faces.rest) == n:
            return level
        parents, offset = self.since.parents, self.since.offset
        return np.asarray(level[parents] + np.einsum("ni,ni->n", slope[parents], offset))

    def take_result(self) -> SplitResult | None:
        """The divisions since the last call."""
        found, self.since = self.since, None
        return found

    def _sampled(self, i: int, at: Array, normal: Array, offset: Array) -> bool:
        """Whether both halves of phyxel i see enough of others on their own side of the plane."""
        faces, seen = self.faces, self.faces.seen
        rows = slice(seen.starts[i], seen.starts[i + 1])
        near = seen.around[rows][seen.weight[rows] > 0.0]
        height = (faces.rest[near] - at) @ normal
        for way, place in ((-1.0, faces.rest[i] + offset[0]), (1.0, faces.rest[i] + offset[1])):
            d = faces.rest[near[way * height > -BESIDE * faces.spacing]] - place
            if len(d) < FEWEST:
                return False
            spread = np.linalg.eigvalsh(d.T @ d)
            if spread[0] < FLAT * spread[2]:
                return False
        return faces.behind(i, normal) and faces.behind(i, -normal)

    def _take_halves(self, made: list[tuple[int, tuple[Array, Array]]]) -> None:
        """Replace phyxels by their halves, and find out whom these see."""
        faces, n = self.faces, len(self.faces.rest)
        i = np.array([phyxel for phyxel, _ in made])
        share, offset = (np.array([halves[k] for _, halves in made]) for k in range(2))
        rows = np.concatenate([np.arange(n), i])
        last = self.since or SplitResult(np.arange(n), np.ones(n), np.zeros((n, 3)))
        shares, moved = np.ones(len(rows)), np.zeros((len(rows), 3))
        shares[i], shares[n:] = share[:, 0], share[:, 1]
        moved[i], moved[n:] = offset[:, 0], offset[:, 1]
        self.since = SplitResult(last.parents[rows], last.share[rows] * shares, last.offset[rows] + moved)
        self.volumes = self.volumes[rows] * shares
        faces.replace_phyxels(rows, moved, np.flatnonzero(shares != 1.0))
