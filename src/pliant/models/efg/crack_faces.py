"""The open faces between phyxels' cells: pieces, crack fronts, and which faces may open."""

from collections.abc import Mapping

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.mesh.topology import components
from pliant.models.efg.cell_cutter import SplitCells
from pliant.models.efg.cells import VoronoiCells
from pliant.models.efg.support import MlsSupport, connect
from pliant.models.efg.visibility import Visibility, overstretched

SLIVER = 0.3  # spacings squared: smaller faces that a crack goes round open with it
LAYER = 0.6  # spacings: how far behind the face of a crack there has to be another phyxel
JOINS = 0.3  # spacings squared: phyxels with a closed face of this size see each other, whatever passes by
SMALLEST = 10  # phyxels: a crack that would cut off less does not open


class CrackFaces:
    """Faces of ``cells`` that have opened, between phyxels at ``rest`` (n, 3) [m].

    whole: the support of the phyxels without cracks, in units of ``unit`` (see ``poly6``); seen: the support
    with them. speed: how fast a front runs [m/s], None for at once. opened, refused (f,): open faces, and
    those that would have cut off too little; planes (f, 6): point and normal of the plane that an open face
    stands for; parted (p, 2): phyxels that no longer see each other because they were pulled too far apart;
    ready (e,): when a crack may continue from an edge [s]; retry (n,): when a phyxel that could
    not break may try again [s].
    """

    def __init__(
        self,
        cells: VoronoiCells,
        whole: MlsSupport,
        rest: Array,
        spacing: float,
        speed: float | None,
        unit: float,
    ) -> None:
        self.cells, self.rest, self.spacing, self.speed = cells, rest, spacing, speed
        self.sight = Visibility(whole, rest, spacing, unit)
        self.close_all()

    def close_all(self) -> None:
        """Close all faces."""
        cells, edges = self.cells, self.cells.edges
        self.opened: BoolArray = np.zeros(len(cells.pairs), bool)
        self.refused: BoolArray = np.zeros(len(cells.pairs), bool)
        self.planes = np.zeros((len(cells.pairs), 6))
        self.ready = np.full(len(edges.pairs), -np.inf)
        self.retry = np.full(len(self.rest), -np.inf)
        self.parted: IntArray = np.zeros((0, 2), np.int64)
        self.sight.clear()
        self.seen = self.sight.whole
        self.forget()

    def forget(self) -> None:
        """Drop the pieces and fronts that are known: faces have changed."""
        self._graph: tuple[int, IntArray] | None = None
        self._rim: IntArray | None = None

    def faces_of(self, i: int) -> IntArray:
        starts, faces = self.cells.faces_of
        return faces[starts[i] : starts[i + 1]]

    def edges_of(self, face: int) -> list[int]:
        out: list[int] = self.cells.edges.of[self.cells.starts[face] : self.cells.starts[face + 1]].tolist()
        return out

    def at(self, edge: int) -> IntArray:
        """The faces that meet at an edge."""
        edges = self.cells.edges
        return edges.faces[edges.starts[edge] : edges.starts[edge + 1]]

    def open_at(self, edge: int) -> IntArray:
        """The open faces that meet at an edge."""
        faces = self.at(edge)
        return faces[self.opened[faces]]

    def others(self, faces: IntArray, i: int) -> IntArray:
        """The phyxels across ``faces`` of cell i."""
        return np.asarray(self.cells.pairs[faces].sum(axis=1) - i)

    def normals(self, faces: IntArray) -> Array:
        """Across the planes that open faces stand for; a seam's are those of the faces."""
        a, b = self.cells.pairs[faces].T
        own = self.rest[b] - self.rest[a]
        own /= np.linalg.norm(own, axis=1)[:, None]
        kept = self.planes[faces, 3:]
        known = np.any(kept != 0.0, axis=1, keepdims=True)
        return np.where(known, kept, own)

    def may_open(self, face: int, normal: Array) -> bool:
        """Whether the phyxels of a face see others behind them, seen from a crack across ``normal``: a layer
        of one phyxel, between two cracks or along the surface, has no shape."""
        if self.refused[face]:
            return False
        a, b = self.cells.pairs[face].tolist()
        way = normal * np.sign((self.rest[b] - self.rest[a]) @ normal)
        return self.behind(a, -way) and self.behind(b, way)

    def behind(self, i: int, way: Array) -> bool:
        """Whether phyxel i sees another one in the direction ``way`` (3,), at least a layer away."""
        rows = slice(self.seen.starts[i], self.seen.starts[i + 1])
        near = self.seen.around[rows][self.seen.weight[rows] > 0.0]
        return bool(((self.rest[near] - self.rest[i]) @ way > LAYER * self.spacing).any())

    def open_one(self, time: float, face: int, at: Array, normal: Array, from_: Array) -> None:
        """Open a face for the plane through ``at`` across ``normal``; the front arrives at its edges from the
        point ``from_``."""
        self.opened[face] = True
        self.planes[face, :3], self.planes[face, 3:] = at, normal
        if self.speed is not None:
            edges = self.cells.edges
            mine = edges.of[self.cells.starts[face] : self.cells.starts[face + 1]]
            gap = np.linalg.norm(self.cells.points[edges.pairs[mine]].mean(axis=1) - from_, axis=1)
            self.ready[mine] = np.maximum(self.ready[mine], time + gap / self.speed)
        self.forget()

    def open_between(
        self, sides: IntArray, where: BoolArray | None = None, level: Array | None = None
    ) -> bool:
        """Open all faces between phyxels of different ``sides`` (n,), both of them ``where`` (n,); whether
        any stay open: those that cut off too little do not. ``level`` (n,): what is zero at the cut, so that
        its faces become as smooth."""
        a, b = self.cells.pairs[:, 0], self.cells.pairs[:, 1]
        chosen = (sides[a] != sides[b]) & ~self.opened
        if where is not None:
            chosen &= where[a] & where[b]
        faces = np.flatnonzero(chosen)
        if not len(faces):
            return False
        self.opened[faces] = True
        self.planes[faces, :3], self.planes[faces, 3:] = self.cells.middle[faces], 0.0
        if level is not None:
            a, b = a[faces], b[faces]
            share = (level[a] / (level[a] - level[b]))[:, None]
            slope = self.sight.slopes(level)
            slope = slope[a] + slope[b]
            self.planes[faces, :3] = self.rest[a] + share * (self.rest[b] - self.rest[a])
            self.planes[faces, 3:] = slope / np.maximum(np.linalg.norm(slope, axis=1), 1e-300)[:, None]
        self.forget()
        return self.drop_small_pieces(faces.tolist()) > 0

    def part_overstretched(self, x: Array, most: float) -> int:
        """Part the pairs at ``x`` (n, 3) that are ``most`` times as far apart as at rest or more, for good,
        with the faces between them, whatever these cut off: what hangs by such a pair becomes a string.
        Returns how many faces opened, -1 where no pair parted."""
        if not np.isfinite(most):
            return -1
        s = self.seen
        found = overstretched(s.starts, s.around, s.weight, self.rest, x, most)
        closed = self.cells.pairs[~self.opened]
        d, now = self.rest[closed[:, 0]] - self.rest[closed[:, 1]], x[closed[:, 0]] - x[closed[:, 1]]
        far = np.einsum("mi,mi->m", now, now) > most**2 * np.einsum("mi,mi->m", d, d)
        found = np.concatenate([found, closed[far]])
        if not len(found):
            return -1
        self.parted = np.unique(np.concatenate([self.parted, found]), axis=0)
        n = len(self.rest)
        pairs = self.cells.pairs
        torn = np.isin(pairs[:, 0] * n + pairs[:, 1], found[:, 0] * n + found[:, 1])
        faces = np.flatnonzero(torn & ~self.opened)
        self.opened[faces] = True
        self.planes[faces, :3], self.planes[faces, 3:] = self.cells.middle[faces], 0.0
        self.forget()
        self.sight.block(self.corners(faces))
        return len(faces)

    def slivers(self, faces: list[int]) -> list[int]:
        """Open the small faces beside new ones that hold nothing any more: cracks go round most of them."""
        cells, edges = self.cells, self.cells.edges
        found: list[int] = []
        new = np.array(faces, np.int64)
        while len(new):
            around = np.unique(np.concatenate([self.at(e) for f in new.tolist() for e in self.edges_of(f)]))
            small = ~self.opened[around] & (cells.area[around] < SLIVER * self.spacing**2)
            chosen = []
            for f in around[small].tolist():
                torn = [open_ for e in self.edges_of(f) if len(open_ := self.open_at(e))]
                held = [e for e in self.edges_of(f) if not edges.outside[e] and not len(self.open_at(e))]
                if torn and not held and (len(torn) > 1 or cells.area[f] < 0.1 * SLIVER * self.spacing**2):
                    self.planes[f] = self.planes[torn[0][0]]
                    chosen.append(f)
            self.opened[chosen] = True
            new = np.array(chosen, np.int64)
            found += chosen
        if found:
            self.forget()
        return found

    def drop_small_pieces(self, faces: list[int]) -> int:
        """Close those of the new ``faces`` that cut off too little, towards what it has the largest face in
        common with; how many stay open."""
        new = np.array(faces, np.int64)
        while len(new):
            count, label = self.pieces()
            small = np.bincount(label, minlength=count) < min(SMALLEST, len(self.rest))
            sides = label[self.cells.pairs[new]]
            small_side = small[sides] & (sides[:, ::-1] != sides)
            if not small_side.any():
                self.sight.block(self.corners(new))
                return len(new)
            own = int(sides[small_side].min())  # one after the other
            mine = (sides == own).any(axis=1) & (sides[:, 0] != sides[:, 1])
            others = sides[mine].sum(axis=1) - own
            shared = np.bincount(others, self.cells.area[new[mine]], count)
            wrong = new[mine][others == int(np.argmax(shared))]
            self.opened[wrong], self.refused[wrong] = False, True
            self.forget()
            new = np.setdiff1d(new, wrong)
        return 0

    def replace_cells(self, cut: SplitCells) -> None:
        """Continue with cells after cuts through them, and what is known of their faces and edges."""
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

    def replace_phyxels(self, rows: IntArray, moved: Array, divided: IntArray) -> None:
        """Continue with phyxels that follow the old ones ``rows`` (n,), ``moved`` (n, 3) [m] from there, of
        which some are ``divided`` (k,)."""
        self.rest, self.retry = self.rest[rows] + moved, self.retry[rows]
        self._part_halves(rows)
        whole = connect(self.rest, self.sight.whole.h[rows], self.sight.unit)
        open_ = np.flatnonzero(self.opened)
        self.sight = self.sight.followed(whole, self.rest, divided, self.corners(open_))
        self.seen = whole
        self.support()

    def _part_halves(self, rows: IntArray) -> None:
        """Part the halves of phyxels that were parted from others; ``rows`` (n,): see ``replace_phyxels``."""
        before, n, more = int(rows.max(initial=-1)) + 1, len(rows), self.parted
        half = np.arange(before)
        half[rows[before:]] = np.arange(before, n)
        for own in ((True, False), (False, True), (True, True)):
            also = np.where(own, half[self.parted], self.parted)
            more = np.concatenate([more, np.sort(also, axis=1)])
        self.parted = np.unique(more, axis=0)

    def pieces(self) -> tuple[int, IntArray]:
        """Number of pieces and the piece of each phyxel (n,)."""
        if self._graph is None:
            self._graph = components(len(self.rest), self.cells.pairs[~self.opened])
        return self._graph

    def rim(self) -> IntArray:
        """The front of all cracks: edges that belong to one open face only and do not lie outside."""
        if self._rim is None:
            edges = self.cells.edges
            uses = np.bincount(edges.of[self.opened[self.cells.of_corner]], minlength=len(edges.pairs))
            self._rim = np.flatnonzero((uses == 1) & ~edges.outside)
        return self._rim

    def support(self) -> MlsSupport:
        """The support with weights as cracks leave them."""
        ends = self.cells.points[self.cells.edges.pairs[self.rim()]]
        front = [ends[:, 0] + s * (ends[:, 1] - ends[:, 0]) for s in (0.0, 0.25, 0.5, 0.75, 1.0)]
        closed = np.flatnonzero(~self.opened)
        share = np.minimum(self.cells.inner_area[closed] / (JOINS * self.spacing**2), 1.0)
        joined = self.cells.pairs[closed]
        self.seen = self.sight.support(
            self.pieces()[1], np.concatenate(front), joined, share, self.parted, self.seen
        )
        return self.seen

    def corners(self, faces: IntArray) -> Array:
        """Corners (t, 3, 3) [m] of the triangles of ``faces``."""
        return self.cells.points[self.cells.triangles(faces)[0]]

    def state(self) -> dict[str, AnyArray]:
        return {
            "opened": self.opened.astype(np.uint8) + 2 * self.refused.astype(np.uint8),
            "planes": self.planes[self.opened],
            "parted": self.parted,
            "ready": self.ready,
            "rests": self.retry,
            "hidden": self.sight.hit,
            "hidden-where": self.sight.where,
        }

    def restore(self, state: Mapping[str, AnyArray]) -> bool:
        """Continue from ``state``; of a frame only ``opened`` is known, and the answer is False."""
        self.close_all()
        self.opened, self.refused = (state["opened"] & 1).astype(bool), (state["opened"] & 2).astype(bool)
        if "planes" not in state or len(state["planes"]) != np.count_nonzero(self.opened):
            self.sight.block(self.corners(np.flatnonzero(self.opened)))
            return False
        self.planes[self.opened] = state["planes"]
        self.parted = np.array(state.get("parted", ()), np.int64).reshape(-1, 2)
        self.ready, self.retry = np.array(state["ready"]), np.array(state["rests"])
        # faces that were cut after they had opened have other triangles now
        self.sight.hit, self.sight.where = np.array(state["hidden"]), np.array(state["hidden-where"])
        return True
