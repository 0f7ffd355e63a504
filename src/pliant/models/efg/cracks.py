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

MOST = 64  # edges of the front that may go on in a step
CALM, RAISED = 5.0, 1.3
CRUSHED = 0.4  # phyxels with less of their volume left do not crack: their stress is pressure
ACROSS = 0.5  # cosine: faces that look more alike bound a layer
SHIELD = 3.0  # spacings: no crack starts this near to another of about the same direction
STRAIGHT, OPENING, TURN = 0.94, 0.3, 0.4  # cosines to the stress: goes straight on, goes on; share of it
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
        self.calm = CALM * float(np.linalg.norm(np.ptp(rest, axis=0))) / material.wave_speed
        self.sight = Visibility(whole, rest, spacing)
        self._start()

    def _start(self) -> None:
        cells, edges = self.cells, self.cells.edges
        self.opened: BoolArray = np.zeros(len(cells.pairs), bool)
        self.refused: BoolArray = np.zeros(len(cells.pairs), bool)  # would have cut off too little
        self.planes = np.zeros((len(cells.pairs), 6))  # point and normal that an open face stands for
        self.ready = np.full(len(edges.pairs), -np.inf)  # when a crack may go on from an edge
        self.rests = np.full(len(self.rest), -np.inf)  # when a phyxel that could not break may try again
        self.last, self.broken = -np.inf, 0
        self._graph: tuple[int, IntArray] | None = None
        self._rim: IntArray | None = None
        self.sight.clear()

    # ----------------------------------------------------------------------------------- where it breaks

    def break_at(self, time: float, stress: Array, gradients: Array) -> bool:
        """Open faces where Cauchy stress (n, 3, 3) [Pa] exceeds the strength; whether any did."""
        if not (np.einsum("nij,nij->n", stress, stress) > self.strength**2).any():
            return False
        F = gradients.reshape(-1, 3, 3)
        opened = self._go_on(time, *self._pull(stress, F)) if len(self.rim()) else []
        opened += self._begin(time, *self._pull(self._mean(stress), F))
        kept = self._without_crumbs(opened)
        if not kept:
            return False
        self.last, self.broken = time, self.broken + kept
        return True

    def _pull(self, stress: Array, F: Array) -> tuple[Array, Array]:
        """The largest principal stresses over the strength (n,), where they exceed it, and their directions in
        the rest shape (n, 3)."""
        size = np.einsum("nij,nij->n", stress, stress)
        hot = np.flatnonzero(size > self.strength**2)
        hot = hot[(np.linalg.det(F[hot]) > CRUSHED) & np.isfinite(size[hot])]
        values, vectors = np.linalg.eigh(stress[hot])
        excess, normals = np.zeros(len(self.rest)), np.zeros((len(self.rest), 3))
        excess[hot] = values[:, 2] / self.strength
        pulled = np.einsum("nji,nj->ni", F[hot], vectors[:, :, 2])
        normals[hot] = pulled / np.linalg.norm(pulled, axis=1)[:, None]
        return excess, normals

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

    def _go_on(self, time: float, excess: Array, normals: Array) -> list[int]:
        """Let the fronts run; the faces that opened."""
        rim, edges = self.rim(), self.cells.edges
        rim = rim[self.ready[rim] <= time]
        found: list[tuple[float, int, int]] = []
        for e in rim.tolist():
            around = self.cells.pairs[edges.faces[edges.starts[e] : edges.starts[e + 1]]].ravel()
            i = int(around[np.argmax(excess[around])])
            if excess[i] > 1.0:
                found.append((-float(excess[i]), e, i))
        opened: list[int] = []
        for _, e, i in sorted(found)[:MOST]:
            opened += self._extend(time, e, normals[i])
        return opened

    def _extend(self, time: float, e: int, normal: Array) -> list[int]:
        """Open the faces at edge ``e`` where the plane of its open face goes on."""
        cells, edges = self.cells, self.cells.edges
        faces = edges.faces[edges.starts[e] : edges.starts[e + 1]]
        own = faces[self.opened[faces]]
        if len(own) != 1:
            return []  # another edge has taken the crack past this one
        point, m = self.planes[own[0], :3], self.planes[own[0], 3:]
        cosine = float(normal @ m)
        if abs(cosine) < OPENING:
            return []
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
                if self._may_open(f):
                    self._open_one(time, f, at, m, at)
                    opened.append(f)
                else:
                    self.ready[e] = time + 0.2 * self.calm
        return opened

    def _begin(self, time: float, excess: Array, normals: Array) -> list[int]:
        """Start a crack at the phyxel with the largest stress that may; the faces that opened."""
        limit = 1.0 if time - self.last > self.calm else RAISED
        over = np.flatnonzero((excess > limit) & (self.rests <= time))
        for i in over[np.lexsort((over, -excess[over]))][:MOST].tolist():
            n = normals[i] * np.sign(normals[i][np.argmax(np.abs(normals[i]))])
            if not self._shielded(i, n):
                for way in self._sides(i, n, excess):
                    at = self.rest[i] + way * 0.5 * self.spacing * n
                    chosen = [f for f in self._across(i, way * n) if self._may_open(f)]
                    if chosen:
                        for f in chosen:
                            self._open_one(time, f, at, n, self.rest[i])
                        return chosen
            self.rests[i] = time + 0.2 * self.calm
        return []

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

    def _others(self, faces: IntArray, i: int) -> IntArray:
        return np.asarray(self.cells.pairs[faces].sum(axis=1) - i)

    def _may_open(self, face: int) -> bool:
        """Whether no phyxel of a face would be cut off on two opposite sides: a layer of one has no shape."""
        if self.refused[face]:
            return False
        a, b = self.cells.pairs[face].tolist()
        d = self.rest[b] - self.rest[a]
        for i, way in ((a, d), (b, -d)):
            open_ = self._faces_of(i)
            open_ = open_[self.opened[open_]]
            if len(open_):
                e = self.rest[self._others(open_, i)] - self.rest[i]
                cosine = e @ way / (np.linalg.norm(e, axis=1) * np.linalg.norm(way))
                if (cosine < -ACROSS).any():
                    return False
        return True

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
        """Close those of the new ``faces`` that cut off too little; how many stay open."""
        new = np.array(faces, np.int64)
        while len(new):
            count, label = self.pieces()
            small = np.bincount(label, minlength=count) < min(SMALLEST, len(self.rest))
            wrong = new[small[label[self.cells.pairs[new]]].any(axis=1)]
            if not len(wrong):
                self.sight.block(self._corners(new))
                return len(new)
            self.opened[wrong], self.refused[wrong] = False, True
            self._graph = self._rim = None
            new = np.setdiff1d(new, wrong)
        return 0

    def part(self, sides: IntArray, where: BoolArray | None = None) -> bool:
        """Open all faces between phyxels of different ``sides``, crumbs left aside; whether any did."""
        a, b = self.cells.pairs[:, 0], self.cells.pairs[:, 1]
        chosen = (sides[a] != sides[b]) & ~self.opened
        if where is not None:
            chosen &= where[a] & where[b]
        faces = np.flatnonzero(chosen)
        if not len(faces):
            return False
        self.opened[faces] = True
        d = self.rest[b[faces]] - self.rest[a[faces]]
        self.planes[faces, :3] = self.cells.middle[faces]
        self.planes[faces, 3:] = d / np.linalg.norm(d, axis=1)[:, None]
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
        return self.sight.support(self.pieces()[1], np.concatenate(front))

    def _corners(self, faces: IntArray) -> Array:
        triangles, of = self.cells.triangles
        return self.cells.points[triangles[np.isin(of, faces)]]

    def area(self) -> float:
        """Area of all cracks [m2]."""
        return float(self.cells.inner_area[self.opened].sum())

    def sheet(self) -> tuple[Array, IntArray]:
        """The cracks as triangles, smoothed: corners inside move towards the middle of those around them."""
        fans, of = self.cells.triangles
        used, triangles = np.unique(fans[self.opened[of]], return_inverse=True)
        triangles = triangles.reshape(-1, 3)
        points = self.cells.points[used].copy()
        sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        edges, uses = np.unique(sides, axis=0, return_counts=True)
        still = self.cells.outside[used]
        still[edges[uses != 2]] = True  # rims, and lines where cracks meet
        for _ in range(3):
            total, count = np.zeros_like(points), np.zeros(len(points))
            middle = points[triangles].mean(axis=1)
            for c in range(3):
                np.add.at(total, triangles[:, c], middle)
                np.add.at(count, triangles[:, c], 1.0)
            moved = 0.5 * points + 0.5 * total / count[:, None]
            points = np.where(still[:, None], points, moved)
        return points, triangles

    def state(self) -> dict[str, AnyArray]:
        return {
            "opened": self.opened.astype(np.uint8) + 2 * self.refused.astype(np.uint8),
            "planes": self.planes[self.opened],
            "ready": self.ready,
            "rests": self.rests,
            "breaks": np.array([self.last, float(self.broken)]),
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self._start()
        self.opened, self.refused = (state["opened"] & 1).astype(bool), (state["opened"] & 2).astype(bool)
        if self.opened.any():
            self.sight.block(self._corners(np.flatnonzero(self.opened)))
        if "planes" in state:
            self.planes[self.opened] = state["planes"]
            self.ready, self.rests = np.array(state["ready"]), np.array(state["rests"])
            self.last, self.broken = float(state["breaks"][0]), int(state["breaks"][1])
