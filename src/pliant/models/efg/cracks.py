r"""Cracks through phyxel bodies: where they start, how they run, and whom they hide from whom.

A crack is a sheet of faces between the phyxels' cells (``cells.py``) in the rest shape. Where the largest
principal stress of a phyxel exceeds the strength, the faces of its cell across that direction open. A phyxel
beside the front of a crack goes before others, and opens the side on which the crack goes on.

Pairs whose line passes through a sheet do not see each other [BelytschkoLuGu1994]_, but close to the front
they still do a little: their distance counts as :math:`r + h (2 d_s / (\kappa h))^2`, where d_s is how far
from the front the line passes through ([OrganFlemingTerryBelytschko1996]_, in the form of
[PaulyKeiserAdams2005]_); so weights fade as a crack passes.

Source: [Stegmayr2008]_ 4.1.3, which describes and does not do it. Differs: cracks run between phyxels instead
of through them, so none has to be divided and masses stay; one new crack a step, and after a break others
need 1.3 times the strength while its waves cross the body five times.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from pliant.models.efg.cells import Cells
from pliant.models.efg.support import Support, poly6, weighted
from pliant.typing import AnyArray, Array, BoolArray, IntArray

if TYPE_CHECKING:
    from pliant.materials import Resolved as Material

KAPPA = 0.8  # how far transparency reaches, in supports
MOST = 12  # phyxels that may break in a step
CALM, RAISED = 5.0, 1.3
CRUSHED = 0.4  # phyxels with less of their volume left do not crack: their stress is pressure
ACROSS = 0.5  # cosine: faces that open look this much along the stress
SMALLEST = 10  # phyxels: a crack that would cut off less does not open
_SHIFT = np.array([0.0061, 0.0037, 0.0069])  # of the spacing: lines along the lattice miss edges of faces


class Cracks:
    """The cracks of one body."""

    def __init__(
        self, cells: Cells, whole: Support, rest: Array, spacing: float, material: "Material"
    ) -> None:
        self.cells, self.whole, self.rest, self.spacing = cells, whole, rest, spacing
        self.strength = np.inf if material.strength is None else material.strength
        self.speed = material.crack_speed
        self.calm = CALM * float(np.linalg.norm(np.ptp(rest, axis=0))) / material.wave_speed
        self.opened: BoolArray = np.zeros(len(cells.pairs), bool)
        self.ready = np.full(len(rest), -np.inf)  # when a crack's front has come to each phyxel
        self.calm_until = np.full(len(rest), -np.inf)  # when a phyxel away from the front may break again
        self.last, self.broken = -np.inf, 0
        self.d = rest[whole.around] - rest[whole.rows]
        self._crossing: BoolArray = np.zeros(len(whole.around), bool)
        self._where = np.zeros((len(whole.around), 3))
        self._corner_face = np.repeat(np.arange(len(cells.loops)), [len(p) for p in cells.loops])
        self._corners = np.concatenate(cells.loops)
        self._faces_of = _rows(cells.pairs, len(rest))
        self._graph: tuple[int, IntArray] | None = None

    # ----------------------------------------------------------------------------------- where it breaks

    def break_at(self, time: float, stress: Array, gradients: Array) -> bool:
        """Open faces where Cauchy stress (n, 3, 3) [Pa] exceeds the strength; whether any did."""
        size = np.sqrt(np.einsum("nij,nij->n", stress, stress))
        whole = (np.linalg.det(gradients.reshape(-1, 3, 3)) > CRUSHED) & np.isfinite(size)
        front = self._beside_front()
        waits = np.where(front, self.ready, np.maximum(self.ready, self.calm_until))
        may = np.flatnonzero((size > self.strength) & (waits <= time) & whole)
        if not len(may):
            return False
        values, vectors = np.linalg.eigh(stress[may])
        front = front[may]
        excess = values[:, 2] / self.strength
        limit = np.where(front | (time - self.last > self.calm), 1.0, RAISED)
        over = np.flatnonzero(excess > limit)
        over = over[np.lexsort((may[over], -excess[over], ~front[over]))]
        opened: list[int] = []
        for k in over[:MOST]:
            if opened and not front[k]:
                break
            i = int(may[k])
            normal = gradients[i].reshape(3, 3).T @ vectors[k, :, 2]
            normal /= np.linalg.norm(normal)
            normal *= np.sign(normal[np.argmax(np.abs(normal))])  # cracks in one plane take the same side
            faces = self._choose(i, normal)
            if len(faces) and self._allowed(faces):
                self._open(faces)
                opened.append(i)
                self._set_ready(time, i, faces)
            else:
                self.ready[i] = time + 0.2 * self.calm
        if not opened:
            return False
        self.last, self.broken = time, self.broken + len(opened)
        return True

    def _choose(self, i: int, normal: Array) -> IntArray:
        """The closed faces of cell i across ``normal``, on the side where a crack goes on."""
        faces = self._faces_of[i]
        faces = faces[~self.opened[faces]]
        pairs = self.cells.pairs[faces]
        d = self.rest[np.where(pairs[:, 0] == i, pairs[:, 1], pairs[:, 0])] - self.rest[i]
        along = d @ normal / np.linalg.norm(d, axis=1)
        good = np.array([self._leaves_two_layers(int(f)) for f in faces], bool)
        sides = [faces[good & (along > ACROSS)], faces[good & (-along > ACROSS)]]
        torn = self._front_corners()
        score = [
            (
                sum(int(torn[self.cells.loops[f]].sum()) for f in side),
                len(side) > 0,
                float(self.cells.area[side].sum()),
            )
            for side in sides
        ]
        return np.asarray(sides[0] if score[0] >= score[1] else sides[1])

    def _leaves_two_layers(self, face: int) -> bool:
        """Whether no phyxel of a face would be cut off on two opposite sides: a layer of one has no shape."""
        a, b = self.cells.pairs[face]
        d = self.rest[b] - self.rest[a]
        for i, way in ((a, d), (b, -d)):
            open_ = self._faces_of[i]
            open_ = open_[self.opened[open_]]
            pairs = self.cells.pairs[open_]
            e = self.rest[np.where(pairs[:, 0] == i, pairs[:, 1], pairs[:, 0])] - self.rest[i]
            cosine = e @ way / (np.linalg.norm(e, axis=1) * np.linalg.norm(way))
            if (cosine < -ACROSS).any():
                return False
        return True

    def _set_ready(self, time: float, i: int, faces: IntArray) -> None:
        mine = np.unique(np.concatenate([self.cells.loops[f] for f in faces]))
        beside = np.unique(self.cells.pairs[np.unique(self._corner_face[np.isin(self._corners, mine)])])
        if self.speed is not None:
            gap = np.linalg.norm(self.rest[beside] - self.rest[i], axis=1)
            self.ready[beside] = np.maximum(self.ready[beside], time + gap / self.speed)
        own = np.unique(self.cells.pairs[faces])
        self.calm_until[own] = time + self.calm

    def _rim(self) -> IntArray:
        """The front of all cracks: edges (k, 2) that belong to one open face only and do not lie outside."""
        edges = [
            np.column_stack([loop, np.roll(loop, -1)])
            for loop in (self.cells.loops[k] for k in np.flatnonzero(self.opened))
        ]
        if not edges:
            return np.zeros((0, 2), np.int64)
        pairs, uses = np.unique(np.sort(np.concatenate(edges), axis=1), axis=0, return_counts=True)
        return np.asarray(pairs[(uses == 1) & ~self.cells.outside[pairs].all(axis=1)])

    def _front_corners(self) -> BoolArray:
        out = np.zeros(len(self.cells.points), bool)
        out[self._rim()] = True
        return out

    def _beside_front(self) -> BoolArray:
        """Phyxels whose cells touch the front of a crack."""
        out = np.zeros(len(self.rest), bool)
        if self.opened.any():
            near = self._front_corners()[self._corners]
            out[self.cells.pairs[np.unique(self._corner_face[near])]] = True
        return out

    def _allowed(self, faces: IntArray) -> bool:
        """Whether the pieces that opening ``faces`` makes are large enough to have a shape."""
        count, label = self.pieces(also=faces)
        return bool(np.bincount(label, minlength=count).min() >= min(SMALLEST, len(self.rest)))

    def part(self, sides: IntArray, where: BoolArray | None = None) -> bool:
        """Open all faces between phyxels of different ``sides``; whether there were any."""
        a, b = self.cells.pairs[:, 0], self.cells.pairs[:, 1]
        faces = (sides[a] != sides[b]) & ~self.opened
        if where is not None:
            faces &= where[a] & where[b]
        if not faces.any():
            return False
        self._open(np.flatnonzero(faces))
        return True

    def pieces(self, also: IntArray | None = None) -> tuple[int, IntArray]:
        """Number of pieces and the piece of each phyxel (n,); ``also``: with these faces open too."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        if also is None and self._graph is not None:
            return self._graph
        closed = ~self.opened
        if also is not None:
            closed[also] = False
        a, b = self.cells.pairs[closed].T
        graph = coo_array((np.ones(len(a), np.int8), (a, b)), shape=(len(self.rest),) * 2)
        count, label = connected_components(graph, directed=False)
        found = int(count), label.astype(np.int64)
        if also is None:
            self._graph = found
        return found

    # --------------------------------------------------------------------------------- who sees whom

    def _open(self, faces: IntArray) -> None:
        self.opened[faces] = True
        self._graph = None
        self._find_crossings(np.flatnonzero(np.isin(self.cells.of, faces)))

    def _find_crossings(self, triangles: IntArray) -> None:
        """Mark the pairs whose lines pass through new ``triangles``, and where."""
        from scipy.spatial import cKDTree

        corners = self.cells.points[self.cells.triangles[triangles]] + self.spacing * _SHIFT
        middles = corners.mean(axis=1)
        near = (
            np.asarray(cKDTree(middles).query(self.rest)[0]) < float(self.whole.h.max()) + 2.0 * self.spacing
        )
        rows = self.whole.rows
        lines = np.flatnonzero(near[rows] & (rows < self.whole.around))
        start, d = self.rest[rows[lines]], self.d[lines]
        for t in corners:
            hit, point = _through(start, d, t)
            if hit.any():
                self._crossing[lines[hit]] = True
                self._where[lines[hit]] = point[hit]

    def support(self) -> Support:
        """The support with weights as cracks leave them."""
        whole = self.whole
        rows, around = whole.rows, whole.around
        weight = whole.weight.copy()
        crossing = np.flatnonzero(self._crossing)
        label = self.pieces()[1]
        if len(crossing):
            i, j = rows[crossing], around[crossing]
            h = 0.5 * (whole.h[i] + whole.h[j])
            r = (
                np.linalg.norm(self.d[crossing], axis=1)
                + h * (2.0 * self._front_distance(self._where[crossing]) / (KAPPA * h)) ** 2
            )
            weight[crossing] = poly6(r * r, h, float(whole.h.mean()))
        apart = label[rows] != label[around]
        weight[apart] = 0.0
        order = rows.astype(np.int64) * len(whole.h) + around  # the other way round gets the same weight
        lower = rows > around
        weight[lower] = weight[
            np.searchsorted(order, around[lower].astype(np.int64) * len(whole.h) + rows[lower])
        ]
        return weighted(whole.h, whole.starts, around, weight, self.d)

    def _front_distance(self, points: Array) -> Array:
        """How far points on the cracks are from their fronts: edges that belong to one open face only."""
        from scipy.spatial import cKDTree

        rim = self._rim()
        if not len(rim):
            return np.full(len(points), np.inf)
        a, b = self.cells.points[rim[:, 0]], self.cells.points[rim[:, 1]]
        samples = np.concatenate([a + s * (b - a) for s in (0.0, 0.25, 0.5, 0.75, 1.0)])
        return np.asarray(cKDTree(samples).query(points)[0])

    # ----------------------------------------------------------------------------------------- the rest

    def area(self) -> float:
        """Area of all cracks [m2]; what sticks out of the body counts by its corners inside."""
        total = 0.0
        for k in np.flatnonzero(self.opened):
            total += float(self.cells.area[k]) * float(1.0 - self.cells.outside[self.cells.loops[k]].mean())
        return total

    def sheet(self) -> tuple[Array, IntArray]:
        """The cracks as triangles, smoothed: corners inside move towards the middle of those around them."""
        chosen = self.opened[self.cells.of]
        used, triangles = np.unique(self.cells.triangles[chosen], return_inverse=True)
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
            "opened": self.opened.astype(np.uint8),
            "ready": self.ready,
            "calm": self.calm_until,
            "breaks": np.array([self.last, float(self.broken)]),
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.opened[:] = False
        self._crossing[:] = False
        faces = np.flatnonzero(state["opened"])
        if len(faces):
            self._open(faces)
        if "ready" in state:
            self.ready, self.calm_until = np.array(state["ready"]), np.array(state["calm"])
            self.last, self.broken = float(state["breaks"][0]), int(state["breaks"][1])


def _rows(pairs: IntArray, count: int) -> list[IntArray]:
    """The faces of each phyxel."""
    both = np.concatenate([pairs[:, 0], pairs[:, 1]])
    face = np.concatenate([np.arange(len(pairs))] * 2)
    order = np.argsort(both, kind="stable")
    ends = np.searchsorted(both[order], np.arange(count + 1))
    return [face[order][a:b] for a, b in pairwise(ends)]


def _through(start: Array, d: Array, t: Array) -> tuple[BoolArray, Array]:
    """Which segments ``start + s d`` pass through the triangle t (3, 3), and where."""
    e1, e2 = t[1] - t[0], t[2] - t[0]
    p = np.cross(d, e2)
    det = p @ e1
    safe = np.where(np.abs(det) > 1e-300, det, 1.0)
    rel = start - t[0]
    u = np.einsum("mi,mi->m", rel, p) / safe
    q = np.cross(rel, e1)
    v = np.einsum("mi,mi->m", d, q) / safe
    s = q @ e2 / safe
    hit = (np.abs(det) > 1e-300) & (u >= 0) & (v >= 0) & (u + v <= 1) & (s >= 0) & (s <= 1)
    return hit, start + s[:, None] * d
