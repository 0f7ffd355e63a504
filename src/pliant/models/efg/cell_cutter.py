"""Cells cut by planes: what divides a phyxel."""

from dataclasses import dataclass

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.kernels.csr import take_rows
from pliant.models.efg.cells import Hull, VoronoiCells

Edge = tuple[int, int]
Loop = list[int]


@dataclass(frozen=True)
class SplitCells:
    """Cells after cuts. origin (f,): the face before that each is (a part of), -1 for those in cuts; point_of
    (q, 2): the ends of the edge before on which each new corner lies."""

    cells: VoronoiCells
    origin: IntArray
    points_of: IntArray


class CellCutter:
    """Cuts cells one after the other; faces between cells and edges stay common to all that touch there.

    Faces are numbered as in ``cells``; -1 - k is face k of the hull. ``gap`` [m]: corners that are nearer to
    a plane count as on it.
    """

    def __init__(self, cells: VoronoiCells, gap: float) -> None:
        self.cells, self.gap = cells, gap
        self.points: list[Array] = []
        self.ends: list[Edge] = []
        self.loops: dict[int, Loop] = {}  # of faces that have changed, and of new ones
        self.pairs: dict[int, Edge] = {}  # their phyxels; a hull's second one is -1
        self.origin: dict[int, int] = {}  # of new ones
        self._of: dict[int, set[int]] = {}
        self._next, self._next_hull = len(cells.pairs), -1 - len(cells.hull.of)

    def cut(self, i: int, at: Array, normal: Array, new: int) -> int | None:
        """Cut the cell of phyxel ``i``: what lies along ``normal`` becomes that of ``new``. The face between
        them; None, and nothing is changed, where the cut is not one simple loop."""
        faces = sorted(self._faces_of(i))
        names = sorted({p for f in faces for p in self._loop(f)})
        distance = (np.array([self._point(p) for p in names]) - at) @ normal if names else np.zeros(0)
        side = dict(zip(names, np.where(np.abs(distance) < self.gap, 0.0, distance).tolist(), strict=True))
        added: dict[Edge, int] = {}
        places: list[Array] = []
        halves: dict[int, tuple[Loop, Loop]] = {}
        bounds: tuple[set[Edge], set[Edge]] = (set(), set())
        for f in faces:
            loop = self._with_crossings(self._loop(f), side, added, places)
            parts = _split(loop, side)
            if parts is None:
                return None
            halves[f] = parts
            for part, found in zip(parts, bounds, strict=True):
                found |= {e for e in _edges(part) if side[e[0]] == 0.0 and side[e[1]] == 0.0}
        section = _ring(bounds[0] & bounds[1])
        if section is None:
            return None
        self.points += places
        self.ends += list(added)
        for edge, p in added.items():
            for f in self._around(i, edge):
                self.loops[f] = _inserted(self._loop(f), edge, p)
        for f, (below, above) in halves.items():
            if below and above:
                self.loops[f] = below
                self._add(f, above, new, self._other(f, i))
            elif above:
                self._hand_over(f, i, new)
        return self._add(None, section, i, new)

    def result(self) -> SplitCells:
        """The cells after all cuts; new corners count as outside where both ends of their edge are."""
        cells, hull = self.cells, self.cells.hull
        inner = [f for f in self.loops if f >= 0]
        outer = [f for f in self.loops if f < 0]
        count, many = self._next, -1 - self._next_hull
        pairs = np.concatenate([cells.pairs, np.zeros((count - len(cells.pairs), 2), np.int64)])
        for f, pair in self.pairs.items():
            if f >= 0:
                pairs[f] = sorted(pair)
        of = np.concatenate([hull.of, np.zeros(many - len(hull.of), np.int64)])
        for f, pair in self.pairs.items():
            if f < 0:
                of[-1 - f] = pair[0]
        origin = np.arange(count)
        origin[len(cells.pairs) :] = [self.origin[f] for f in range(len(cells.pairs), count)]
        rows = _replaced(cells.starts, cells.corners, {f: self.loops[f] for f in inner}, count)
        around = _replaced(hull.starts, hull.corners, {-1 - f: self.loops[f] for f in outer}, many)
        points = np.concatenate([cells.points, np.array(self.points).reshape(-1, 3)])
        outside = np.concatenate([cells.outside, np.zeros(len(self.points), bool)])
        for k, (a, b) in enumerate(self.ends):
            outside[len(cells.points) + k] = outside[a] and outside[b]
        made = VoronoiCells(points, outside, pairs, *rows, Hull(of, *around))
        return SplitCells(made, origin, np.array(self.ends, np.int64).reshape(-1, 2))

    # ------------------------------------------------------------------------------------- what is where

    def _point(self, p: int) -> Array:
        n = len(self.cells.points)
        return self.cells.points[p] if p < n else self.points[p - n]

    def _loop(self, f: int) -> Loop:
        if f in self.loops:
            return self.loops[f]
        table, k = (self.cells, f) if f >= 0 else (self.cells.hull, -1 - f)
        loop: Loop = table.corners[table.starts[k] : table.starts[k + 1]].tolist()
        return loop

    def _pair(self, f: int) -> Edge:
        if f in self.pairs:
            return self.pairs[f]
        if f < 0:
            return int(self.cells.hull.of[-1 - f]), -1
        a, b = self.cells.pairs[f].tolist()
        return a, b

    def _other(self, f: int, i: int) -> int:
        a, b = self._pair(f)
        return b if a == i else a

    def _faces_of(self, i: int) -> set[int]:
        if i not in self._of:
            starts, faces = self.cells.faces_of
            own = faces[starts[i] : starts[i + 1]].tolist() if i + 1 < len(starts) else []
            begin, order = self.cells.outer_faces_of
            outer = order[begin[i] : begin[i + 1]].tolist() if i + 1 < len(begin) else []
            self._of[i] = {*own, *(-1 - k for k in outer)}
        return self._of[i]

    def _around(self, i: int, edge: Edge) -> list[int]:
        """All faces at an edge of cell i, from cell to cell."""
        seen, found, todo = {i}, set(), [i]
        while todo:
            cell = todo.pop()
            for f in self._faces_of(cell):
                if edge in _edges(self._loop(f)):
                    found.add(f)
                    k = self._other(f, cell)
                    if k >= 0 and k not in seen:
                        seen.add(k)
                        todo.append(k)
        return sorted(found)

    # ------------------------------------------------------------------------------------------- changes

    def _with_crossings(
        self, loop: Loop, side: dict[int, float], added: dict[Edge, int], places: list[Array]
    ) -> Loop:
        """``loop`` with corners where its edges pass through the plane."""
        out: Loop = []
        for a, b in zip(loop, loop[1:] + loop[:1], strict=True):
            out.append(a)
            if side[a] * side[b] < 0.0:
                edge = (min(a, b), max(a, b))
                if edge not in added:
                    share = side[edge[0]] / (side[edge[0]] - side[edge[1]])
                    added[edge] = len(self.cells.points) + len(self.points) + len(places)
                    first, second = self._point(edge[0]), self._point(edge[1])
                    places.append(first + share * (second - first))
                    side[added[edge]] = 0.0
                out.append(added[edge])
        return out

    def _add(self, origin: int | None, loop: Loop, i: int, j: int) -> int:
        """A new face between phyxels i and j (-1: none), a part of ``origin``."""
        if j < 0:
            f, self._next_hull = self._next_hull, self._next_hull - 1
        else:
            f, self._next = self._next, self._next + 1
            self.origin[f] = -1 if origin is None else self.origin.get(origin, origin)
            self._faces_of(j).add(f)
        self._faces_of(i).add(f)
        self.loops[f], self.pairs[f] = loop, (i, j)
        return f

    def _hand_over(self, f: int, i: int, new: int) -> None:
        self.loops[f], self.pairs[f] = self._loop(f), (new, self._other(f, i))
        self._faces_of(i).discard(f)
        self._faces_of(new).add(f)


def _edges(loop: Loop) -> set[Edge]:
    return {(min(a, b), max(a, b)) for a, b in zip(loop, loop[1:] + loop[:1], strict=True)}


def _inserted(loop: Loop, edge: Edge, p: int) -> Loop:
    out: Loop = []
    for a, b in zip(loop, loop[1:] + loop[:1], strict=True):
        out.append(a)
        if (min(a, b), max(a, b)) == edge:
            out.append(p)
    return out


def _split(loop: Loop, side: dict[int, float]) -> tuple[Loop, Loop] | None:
    """The parts of a loop below and above the plane (one may be empty); None where it lies in the plane, or
    passes it more than twice."""
    signs = [np.sign(side[p]) for p in loop]
    below, above = any(s < 0 for s in signs), any(s > 0 for s in signs)
    if not (below or above):
        return None
    if not (below and above):
        return (loop, []) if below else ([], loop)
    zeros = [k for k, s in enumerate(signs) if s == 0]
    if len(zeros) != 2:
        return None
    first, second = loop[zeros[0] : zeros[1] + 1], loop[zeros[1] :] + loop[: zeros[0] + 1]
    if len(first) < 3 or len(second) < 3:
        return None
    return (first, second) if side[first[1]] < 0.0 else (second, first)


def _ring(edges: set[Edge]) -> Loop | None:
    """The corners of edges in order, if they make one ring."""
    near: dict[int, list[int]] = {}
    for a, b in sorted(edges):
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    if len(near) < 3 or any(len(ends) != 2 for ends in near.values()):
        return None
    ring = [min(near)]
    last, now = ring[0], near[ring[0]][0]
    while now != ring[0]:
        ring.append(now)
        first, second = near[now]
        last, now = now, second if first == last else first
    return ring if len(ring) == len(near) else None


def _replaced(
    starts: IntArray, corners: IntArray, loops: dict[int, Loop], count: int
) -> tuple[IntArray, IntArray]:
    """A CSR table with some of its rows replaced, and with rows added."""
    old = len(starts) - 1
    sizes = np.concatenate([np.diff(starts), np.zeros(count - old, np.int64)])
    for row, loop in loops.items():
        sizes[row] = len(loop)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    out = np.empty(int(ends[-1]), np.int64)
    same = np.setdiff1d(np.arange(old), np.fromiter(loops, np.int64, len(loops)))
    _, values = take_rows(starts, corners, same)
    size = sizes[same]
    begin = np.cumsum(size) - size
    out[np.repeat(ends[same] - begin, size) + np.arange(int(size.sum()))] = values
    for row, loop in loops.items():
        out[ends[row] : ends[row + 1]] = loop
    return ends, out
