r"""Cracks through phyxel bodies: where they start and how they run.

A crack is a sheet of faces between the phyxels' cells (``cells.py``) in the rest shape. Each open face
remembers the plane that it stands for. Where the largest principal stress of a phyxel exceeds the strength, a
plane across it starts: the faces of its cell that the plane parts open. Where the stress beside an edge of
the front exceeds the strength and pulls the crack open, the cells around that edge are told apart by the
plane, turned a little towards the stress, and the faces between the two sides open. So cracks are smooth
although cells are not, and run on along their own plane.

Source: [Stegmayr2008]_ 4.1.3, which describes and does not do it. Differs: cracks run between phyxels instead
of through them, so none has to be divided and masses stay; one new crack a step, none close to another of
about the same direction, and after a break others need 1.3 times the strength while its waves cross the body
five times.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.models.efg.cells import Cells
from pliant.models.efg.support import SIX, Support
from pliant.models.efg.visibility import Visibility
from pliant.typing import AnyArray, Array, BoolArray, IntArray

if TYPE_CHECKING:
    from pliant.materials import Resolved as Material

LOOK = 0.5  # spacings that a wave goes between two looks at the stress
MOST = 64  # edges of the front that may go on in a step
CALM, RAISED = 5.0, 1.3
ACROSS = 0.5  # cosine: cracks that look more alike have about the same direction
SLIVER = 0.3  # spacings squared: smaller faces that a crack goes round open with it
LAYER = 0.6  # spacings: how far behind the face of a crack there has to be another phyxel
SHIELD = 3.0  # spacings: no crack starts this near to another of about the same direction
STRAIGHT, TURN = 0.94, 0.15  # cosine to the stress from which a crack goes straight on; else how it turns
SMALLEST = 10  # phyxels: a crack that would cut off less does not open


class Cracks:
    """The cracks of one body."""

    def __init__(
        self,
        cells: Cells,
        whole: Support,
        rest: Array,
        volumes: Array,
        spacing: float,
        material: "Material",
    ) -> None:
        self.cells, self.rest, self.volumes, self.spacing = cells, rest, volumes, spacing
        self.strength = np.inf if material.strength is None else material.strength
        self.speed = material.crack_speed
        self.young = material.young if material.yield_ is None else 0.0
        self.wave_speed = material.wave_speed
        self.calm = CALM * float(np.linalg.norm(np.ptp(rest, axis=0))) / self.wave_speed
        self.sight = Visibility(whole, rest, spacing)
        self._start()

    def _start(self) -> None:
        cells, edges = self.cells, self.cells.edges
        self.opened: BoolArray = np.zeros(len(cells.pairs), bool)
        self.refused: BoolArray = np.zeros(len(cells.pairs), bool)  # would have cut off too little
        self.planes = np.zeros((len(cells.pairs), 6))  # point and normal that an open face stands for
        self.ready = np.full(len(edges.pairs), -np.inf)  # when a crack may go on from an edge
        self.rests = np.full(len(self.rest), -np.inf)  # when a phyxel that could not break may try again
        self.last, self.next, self.broken = -np.inf, -np.inf, 0.0
        self._graph: tuple[int, IntArray] | None = None
        self._rim: IntArray | None = None
        self.sight.clear()
        self.seen = self.sight.whole

    # ----------------------------------------------------------------------------------- where it breaks

    def break_at(self, time: float, x: Array, stress: Array, F: Array, sound: BoolArray) -> bool:
        """Open faces where Cauchy stress (n, 3, 3) [Pa] exceeds the strength and phyxels are ``sound``;
        whether any did. x (n, 3): positions [m]; F (n, 3, 3): deformation gradients."""
        self.next = time + LOOK * self.spacing / self.wave_speed
        opened = self._go_on(time, x, stress, F, sound)
        opened += self._begin(time, self._mean(stress), F, sound)
        kept = self._without_crumbs(opened + self._slivers(opened))
        if not kept:
            return False
        self.last, self.broken = time, self.broken + kept
        return True

    def _mean(self, stress: Array) -> Array:
        """Means of the stresses of each phyxel and those whose cells touch its own, by volume: phyxels near
        crooked surfaces scatter."""
        a, b = self.cells.pairs[~self.opened].T
        v = self.volumes
        out = np.empty_like(stress)
        total = v + np.bincount(a, v[b], len(v)) + np.bincount(b, v[a], len(v))
        for c, d in SIX:
            own = v * stress[:, c, d]
            around = np.bincount(a, own[b], len(v)) + np.bincount(b, own[a], len(v))
            out[:, c, d] = out[:, d, c] = (own + around) / total
        return out

    def _go_on(self, time: float, x: Array, stress: Array, F: Array, sound: BoolArray) -> list[int]:
        """Let the fronts run; the faces that opened. A front runs where stress pulls its plane apart, or
        where the line from phyxel to phyxel across it is stretched as much as that stress would: what is
        left in front of a crack that has nearly passed is too little to have a stress."""
        edges = self.cells.edges
        rim = self.rim()
        rim = rim[self.ready[rim] <= time]
        if not len(rim):
            return []
        start, count = edges.starts[rim], edges.starts[rim + 1] - edges.starts[rim]
        of = np.repeat(np.arange(len(rim)), count)
        faces = edges.faces[np.repeat(start - np.cumsum(count) + count, count) + np.arange(len(of))]
        own = np.zeros(len(rim), np.int64)
        own[of[self.opened[faces]]] = faces[self.opened[faces]]
        normal = self._normals(own)
        stretch = np.repeat(self._stretch(x, faces, normal[of]), 2)
        cell, of = self.cells.pairs[faces].ravel(), np.repeat(of, 2)
        across = _carried(F[cell], normal[of])
        pull = np.einsum("mi,mij,mj->m", across, stress[cell], across)
        pull = np.where(sound[cell], np.maximum(pull, stretch), 0.0) / self.strength
        order = np.lexsort((cell, -pull, of))
        first = order[np.searchsorted(of[order], np.arange(len(rim)))]
        over = np.flatnonzero(pull[first] > 1.0)
        opened: list[int] = []
        for k in over[np.lexsort((rim[over], -pull[first[over]]))][:MOST].tolist():
            i = int(cell[first[k]])
            opened += self._extend(time, int(rim[k]), _principal(stress[i], F[i]))
        return opened

    def _stretch(self, x: Array, faces: IntArray, normals: Array) -> Array:
        """Young's modulus times the strain of the lines across closed ``faces``, if they go along
        ``normals``; nothing of a body that flows."""
        a, b = self.cells.pairs[faces].T
        d = self.rest[b] - self.rest[a]
        length = np.linalg.norm(d, axis=1)
        along = np.abs(np.einsum("mi,mi->m", d, normals)) > ACROSS * length
        strain = np.linalg.norm(x[b] - x[a], axis=1) / length - 1.0
        return np.where(along & ~self.opened[faces], self.young * strain, 0.0)

    def _extend(self, time: float, e: int, normal: Array) -> list[int]:
        """Open the faces at edge ``e`` where the plane of its open face goes on, turned a little towards
        ``normal``."""
        cells, edges = self.cells, self.cells.edges
        faces, own = self._at(e), self._torn(e)
        if len(own) != 1:
            return []  # another edge has taken the crack past this one
        point, m = self.planes[own[0], :3], self._normals(own)[0]
        cosine = float(normal @ m)
        at = cells.points[edges.pairs[e]].mean(axis=0)
        at = at - (at - point) @ m * m
        if abs(cosine) < STRAIGHT:
            m = m + TURN * np.sign(cosine) * normal
            m = m / np.linalg.norm(m)
        around = np.unique(cells.pairs[faces])
        side = dict(zip(around.tolist(), ((self.rest[around] - at) @ m > 0.0).tolist(), strict=True))
        a, b = cells.pairs[own[0]].tolist()
        along = float((self.rest[b] - self.rest[a]) @ m)
        side[a], side[b] = along < 0.0, along >= 0.0
        opened = []
        for f in faces[~self.opened[faces]].tolist():
            i, j = cells.pairs[f].tolist()
            if side[i] != side[j]:
                if self._may_open(f, m):
                    self._open_one(time, f, at, m, at)
                    opened.append(f)
                else:
                    self.ready[e] = time + 0.2 * self.calm
        return opened

    def _begin(self, time: float, stress: Array, F: Array, sound: BoolArray) -> list[int]:
        """Start a crack at the phyxel with the largest stress that may; the faces that opened."""
        limit = 1.0 if time - self.last > self.calm else RAISED
        may = np.flatnonzero(sound & (self.rests <= time) & (_bound(stress) > limit * self.strength))
        excess = np.zeros(len(self.rest))
        excess[may] = np.linalg.eigvalsh(stress[may])[:, 2] / self.strength
        over = np.flatnonzero(excess > limit)
        for i in over[np.lexsort((over, -excess[over]))][:MOST].tolist():
            n = _principal(stress[i], F[i])
            n = n * np.sign(n[np.argmax(np.abs(n))])
            if not self._shielded(i, n):
                for way in self._sides(i, n, excess):
                    at = self.rest[i] + way * 0.5 * self.spacing * n
                    chosen = [f for f in self._across(i, way * n).tolist() if self._may_open(f, n)]
                    if chosen:
                        for f in chosen:
                            self._open_one(time, f, at, n, self.rest[i])
                        return chosen
            self.rests[i] = time + 0.2 * self.calm
        return []

    def _normals(self, faces: IntArray) -> Array:
        """Across the planes that open faces stand for; a seam's are those of the faces."""
        a, b = self.cells.pairs[faces].T
        own = self.rest[b] - self.rest[a]
        own /= np.linalg.norm(own, axis=1)[:, None]
        kept = self.planes[faces, 3:]
        known = np.any(kept != 0.0, axis=1, keepdims=True)
        return np.where(known, kept, own)

    def _slivers(self, faces: list[int]) -> list[int]:
        """Open the small faces beside new ones that hold nothing any more: cracks go round most of them."""
        cells, edges = self.cells, self.cells.edges
        found: list[int] = []
        new = np.array(faces, np.int64)
        while len(new):
            around = np.unique(np.concatenate([self._at(e) for f in new.tolist() for e in self._edges_of(f)]))
            small = ~self.opened[around] & (cells.area[around] < SLIVER * self.spacing**2)
            chosen = []
            for f in around[small].tolist():
                torn = [open_ for e in self._edges_of(f) if len(open_ := self._torn(e))]
                held = [e for e in self._edges_of(f) if not edges.outside[e] and not len(self._torn(e))]
                if torn and not held and (len(torn) > 1 or cells.area[f] < 0.1 * SLIVER * self.spacing**2):
                    self.planes[f] = self.planes[torn[0][0]]
                    chosen.append(f)
            self.opened[chosen] = True
            new = np.array(chosen, np.int64)
            found += chosen
        if found:
            self._graph = self._rim = None
        return found

    def _shielded(self, i: int, n: Array) -> bool:
        """Whether a crack of about the direction ``n`` passes close by phyxel i."""
        faces = np.flatnonzero(self.opened)
        near = np.linalg.norm(self.cells.middle[faces] - self.rest[i], axis=1) < SHIELD * self.spacing
        return bool((np.abs(self.planes[faces[near], 3:] @ n) > ACROSS).any())

    def _sides(self, i: int, n: Array, excess: Array) -> tuple[float, float]:
        """The side of phyxel i with more stress first; cracks in one plane take the same side."""
        more = [float(excess[self._others(self._across(i, way * n), i)].sum()) for way in (1.0, -1.0)]
        return (1.0, -1.0) if more[0] >= (1.0 - 1e-6) * more[1] else (-1.0, 1.0)

    def _across(self, i: int, n: Array) -> IntArray:
        """The closed faces of cell i whose other cell is beyond a plane half a spacing along ``n``."""
        faces = self._faces_of(i)
        faces = faces[~self.opened[faces]]
        d = self.rest[self._others(faces, i)] - self.rest[i]
        gap = np.linalg.norm(d, axis=1)
        return np.asarray(faces[(d @ n > 0.45 * self.spacing) | (d @ n > 0.8 * gap)])

    def _faces_of(self, i: int) -> IntArray:
        starts, faces = self.cells.faces_of
        return faces[starts[i] : starts[i + 1]]

    def _edges_of(self, face: int) -> list[int]:
        out: list[int] = self.cells.edges.of[self.cells.starts[face] : self.cells.starts[face + 1]].tolist()
        return out

    def _at(self, edge: int) -> IntArray:
        edges = self.cells.edges
        return edges.faces[edges.starts[edge] : edges.starts[edge + 1]]

    def _torn(self, edge: int) -> IntArray:
        faces = self._at(edge)
        return faces[self.opened[faces]]

    def _others(self, faces: IntArray, i: int) -> IntArray:
        return np.asarray(self.cells.pairs[faces].sum(axis=1) - i)

    def _may_open(self, face: int, normal: Array) -> bool:
        """Whether the phyxels of a face see others behind them, seen from a crack across ``normal``: a layer
        of one phyxel, between two cracks or along the surface, has no shape."""
        if self.refused[face]:
            return False
        a, b = self.cells.pairs[face].tolist()
        way = normal * np.sign((self.rest[b] - self.rest[a]) @ normal)
        return self._behind(a, -way) and self._behind(b, way)

    def _behind(self, i: int, way: Array) -> bool:
        rows = slice(self.seen.starts[i], self.seen.starts[i + 1])
        near = self.seen.around[rows][self.seen.weight[rows] > 0.0]
        return bool(((self.rest[near] - self.rest[i]) @ way > LAYER * self.spacing).any())

    def _open_one(self, time: float, face: int, at: Array, normal: Array, from_: Array) -> None:
        self.opened[face] = True
        self.planes[face, :3], self.planes[face, 3:] = at, normal
        if self.speed is not None:
            edges = self.cells.edges
            mine = edges.of[self.cells.starts[face] : self.cells.starts[face + 1]]
            gap = np.linalg.norm(self.cells.points[edges.pairs[mine]].mean(axis=1) - from_, axis=1)
            self.ready[mine] = np.maximum(self.ready[mine], time + gap / self.speed)
        self._graph = self._rim = None

    def _without_crumbs(self, faces: list[int]) -> int:
        """Close those of the new ``faces`` that cut off too little, towards what it has the largest face in
        common with; how many stay open."""
        new = np.array(faces, np.int64)
        while len(new):
            count, label = self.pieces()
            small = np.bincount(label, minlength=count) < min(SMALLEST, len(self.rest))
            sides = label[self.cells.pairs[new]]
            crumb = small[sides] & (sides[:, ::-1] != sides)
            if not crumb.any():
                self.sight.block(self._corners(new))
                return len(new)
            own = int(sides[crumb].min())  # one after the other
            mine = (sides == own).any(axis=1) & (sides[:, 0] != sides[:, 1])
            others = sides[mine].sum(axis=1) - own
            shared = np.bincount(others, self.cells.area[new[mine]], count)
            wrong = new[mine][others == int(np.argmax(shared))]
            self.opened[wrong], self.refused[wrong] = False, True
            self._graph = self._rim = None
            new = np.setdiff1d(new, wrong)
        return 0

    def part(self, sides: IntArray, where: BoolArray | None = None, level: Array | None = None) -> bool:
        """Open all faces between phyxels of different ``sides``, crumbs left aside; whether any did.
        ``level`` (n,): what is zero at the cut, so that its faces become as smooth."""
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
        self._graph = self._rim = None
        return self._without_crumbs(faces.tolist()) > 0

    def pieces(self) -> tuple[int, IntArray]:
        """Number of pieces and the piece of each phyxel (n,)."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        if self._graph is None:
            a, b = self.cells.pairs[~self.opened].T
            graph = coo_array((np.ones(len(a), np.int8), (a, b)), shape=(len(self.rest),) * 2)
            count, label = connected_components(graph, directed=False)
            self._graph = int(count), label.astype(np.int64)
        return self._graph

    # ------------------------------------------------------------------------------------ what they are

    def rim(self) -> IntArray:
        """The front of all cracks: edges that belong to one open face only and do not lie outside."""
        if self._rim is None:
            edges = self.cells.edges
            uses = np.bincount(edges.of[self.opened[self.cells.of_corner]], minlength=len(edges.pairs))
            self._rim = np.flatnonzero((uses == 1) & ~edges.outside)
        return self._rim

    def support(self) -> Support:
        """The support with weights as cracks leave them."""
        ends = self.cells.points[self.cells.edges.pairs[self.rim()]]
        front = [ends[:, 0] + s * (ends[:, 1] - ends[:, 0]) for s in (0.0, 0.25, 0.5, 0.75, 1.0)]
        self.seen = self.sight.support(self.pieces()[1], np.concatenate(front), self.seen)
        return self.seen

    def _corners(self, faces: IntArray) -> Array:
        triangles, of = self.cells.triangles
        return self.cells.points[triangles[np.isin(of, faces)]]

    def area(self) -> float:
        """Area of all cracks [m2]."""
        return float(self.cells.inner_area[self.opened].sum())

    def state(self) -> dict[str, AnyArray]:
        return {
            "opened": self.opened.astype(np.uint8) + 2 * self.refused.astype(np.uint8),
            "planes": self.planes[self.opened],
            "ready": self.ready,
            "rests": self.rests,
            "breaks": np.array([self.last, self.next, float(self.broken)]),
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self._start()
        self.opened, self.refused = (state["opened"] & 1).astype(bool), (state["opened"] & 2).astype(bool)
        if self.opened.any():
            self.sight.block(self._corners(np.flatnonzero(self.opened)))
        if "planes" in state and len(state["planes"]) == self.opened.sum():  # frames record what is open only
            self.planes[self.opened] = state["planes"]
            self.ready, self.rests = np.array(state["ready"]), np.array(state["rests"])
            self.last, self.next, self.broken = (float(value) for value in state["breaks"])


def _bound(stress: Array) -> Array:
    """What no principal stress exceeds: ``tr / 3 + 2 sqrt(J2 / 3)``."""
    mean = np.trace(stress, axis1=1, axis2=2) / 3.0
    square = np.einsum("nij,nij->n", stress, stress)
    return np.asarray(mean + 2.0 * np.sqrt(np.maximum(square - 3.0 * mean * mean, 0.0) / 6.0))


def _carried(F: Array, normals: Array) -> Array:
    """Unit normals (m, 3) of surfaces in the rest shape, where F (m, 3, 3) has taken them: ``cof(F) n``."""
    a, b, c = F[:, :, 0], F[:, :, 1], F[:, :, 2]
    n = normals[:, 0:1] * np.cross(b, c) + normals[:, 1:2] * np.cross(c, a) + normals[:, 2:] * np.cross(a, b)
    return np.asarray(n / np.maximum(np.linalg.norm(n, axis=1), 1e-300)[:, None])


def _principal(stress: Array, F: Array) -> Array:
    """The direction in the rest shape across which the largest principal stress pulls, (3,)."""
    normal = F.T @ np.linalg.eigh(stress)[1][:, 2]
    return np.asarray(normal / np.linalg.norm(normal))
