"""Voronoi cells around phyxels, along whose faces a body can crack."""

# mypy: disable-error-code="no-untyped-def"

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.kernels.csr import incidence, take_rows
from pliant.kernels.jit import jit
from pliant.mesh.bvh import Bvh
from pliant.mesh.mesh import Surface
from pliant.mesh.topology import components

TINY = 0.02  # of the spacing: corners of cells that are nearer to each other are one
_GHOSTS = 0.85  # of the spacing: empty places get a point of their own, whose cells belong to no phyxel
_AROUND = 2  # layers of them
_BEYOND = (0.1, 0.3, 0.8)  # of the spacing: how far cells at the surface reach out of it
STRAIGHT = 0.1  # sine: corners that turn less are on an edge


@dataclass(frozen=True)
class VoronoiCells:
    """The faces between the Voronoi cells of phyxels, in the rest shape.

    points (p, 3): corners; outside (p,): those that lie outside the body; pairs (f, 2): the two phyxels of
    each face; corners (c,): of all faces in order round each, face k has corners[starts[k]:starts[k + 1]].
    hull: the faces that belong to one phyxel, which close the cells at the surface.
    """

    points: Array
    outside: BoolArray
    pairs: IntArray
    starts: IntArray
    corners: IntArray
    hull: "Hull"

    def arrays(self) -> dict[str, AnyArray]:
        """Everything needed to store them and to have them again."""
        own = {"points": self.points, "outside": self.outside, "pairs": self.pairs}
        own |= {"starts": self.starts, "corners": self.corners}
        return own | {f"hull-{name}": array for name, array in vars(self.hull).items()}

    @classmethod
    def of(cls, arrays: Mapping[str, AnyArray]) -> "VoronoiCells":
        """Cells as ``arrays`` has stored them."""
        own = {name: np.array(array) for name, array in arrays.items()}
        hull = Hull(*(own[f"hull-{name}"].astype(np.int64) for name in ("of", "starts", "corners")))
        pairs, starts, corners = (own[name].astype(np.int64) for name in ("pairs", "starts", "corners"))
        return cls(own["points"], own["outside"].astype(bool), pairs, starts, corners, hull)

    @cached_property
    def of_corner(self) -> IntArray:
        """The face of each entry of ``corners``, (c,)."""
        return np.repeat(np.arange(len(self.pairs)), np.diff(self.starts))

    @cached_property
    def middle(self) -> Array:
        """Middles of the corners of each face, (f, 3) [m]."""
        return _summed(self.points[self.corners], self.of_corner, len(self.pairs)) / self._sizes[:, None]

    @cached_property
    def area(self) -> Array:
        """Areas (f,) [m2]."""
        return _areas(self.points, self.starts, self.corners)

    @cached_property
    def inner_area(self) -> Array:
        """Areas (f,) [m2]; what sticks out of the body counts by its corners inside."""
        out = np.bincount(self.of_corner, self.outside[self.corners], len(self.pairs))
        return np.asarray(self.area * (1.0 - out / self._sizes))

    @cached_property
    def _sizes(self) -> Array:
        return np.diff(self.starts).astype(float)

    def triangles(self, faces: IntArray) -> tuple[IntArray, IntArray]:
        """``faces``, ascending, cut into triangles (t, 3), and the face of each (t,)."""
        triangles, of = triangulated(self.points, *take_rows(self.starts, self.corners, faces))
        return triangles, faces[of]

    @cached_property
    def edges(self) -> "CellEdges":
        """The edges where faces meet."""
        ahead = np.arange(1, len(self.corners) + 1)
        ahead[self.starts[1:] - 1] = self.starts[:-1]
        sides = np.sort(np.column_stack([self.corners, self.corners[ahead]]), axis=1)
        many = np.int64(len(self.points))
        keys, of = np.unique(sides[:, 0] * many + sides[:, 1], return_inverse=True)
        pairs, of = np.column_stack([keys // many, keys % many]), np.asarray(of.reshape(-1))
        order, ends = incidence(of, len(pairs))
        faces = self.of_corner[order]
        at = np.repeat(np.arange(len(pairs)), 2 * np.diff(ends))
        count = np.int64(self.pairs.max(initial=0) + 1)
        cells = np.unique(at * count + self.pairs[faces].ravel()) // count
        open_ = np.bincount(cells, minlength=len(pairs)) > np.diff(ends)  # one of them belongs to no phyxel
        return CellEdges(pairs, of, ends, faces, open_ | self.outside[pairs].all(axis=1))

    @cached_property
    def outer_faces_of(self) -> tuple[IntArray, IntArray]:
        """CSR rows: the faces of the hull of each phyxel."""
        order = np.argsort(self.hull.of, kind="stable")
        return np.searchsorted(self.hull.of[order], np.arange(int(self.pairs.max(initial=0)) + 2)), order

    @cached_property
    def faces_of(self) -> tuple[IntArray, IntArray]:
        """CSR rows: the faces of each phyxel."""
        entries, starts = incidence(self.pairs.T, int(self.pairs.max(initial=0)) + 1)
        return starts, entries % len(self.pairs)


@dataclass(frozen=True)
class Hull:
    """Outer faces of cells: of (h,) the phyxel of each; starts and corners as those of Cells."""

    of: IntArray
    starts: IntArray
    corners: IntArray


@dataclass(frozen=True)
class CellEdges:
    """pairs (e, 2) of corners; of (c,): the edge from each corner of a face to the next; faces at edge k:
    faces[starts[k]:starts[k + 1]]; outside (e,): both corners lie outside the body, or cells end there."""

    pairs: IntArray
    of: IntArray
    starts: IntArray
    faces: IntArray
    outside: BoolArray


def voronoi_cells(rest: Array, spacing: float, surface: Surface) -> VoronoiCells:
    """Cells of phyxels at ``rest`` (n, 3), bounded by ghosts around the body; corners close to each other
    become one, and faces that have no area then are left out. ``surface``: that of the body."""
    from scipy.spatial import Voronoi

    count = len(rest)
    tree = Bvh(surface.points, surface.triangles)
    ghosts = _ghosts(rest, spacing)
    found = Voronoi(np.concatenate([rest, ghosts[~tree.inside(ghosts)]]))
    merged, points = _merged(found.vertices, TINY * spacing)
    mine = (found.ridge_points < count).sum(axis=1)
    own, (starts, corners) = _faces(found.ridge_vertices, np.flatnonzero(mine == 2), merged)
    large = np.flatnonzero(_areas(points, starts, corners) > (0.01 * spacing) ** 2)
    starts, corners = take_rows(starts, corners, large)
    pairs = np.sort(found.ridge_points[own[large]], axis=1).astype(np.int64)
    outer, around = _faces(found.ridge_vertices, np.flatnonzero(mine == 1), merged)
    hull = Hull(found.ridge_points[outer].min(axis=1).astype(np.int64), *around)
    used = np.union1d(corners, hull.corners)
    outside = np.zeros(len(points), bool)
    outside[used] = ~tree.inside(points[used])
    return _out(VoronoiCells(points, outside, pairs, starts, corners, hull), tree, spacing)


def _faces(
    ridges: list[list[int]], which: IntArray, merged: IntArray
) -> tuple[IntArray, tuple[IntArray, IntArray]]:
    """Those of the ridges ``which`` that are faces once corners are ``merged``, and their loops (CSR)."""
    loops = [ridges[k] for k in which.tolist()]
    sizes = np.fromiter((len(r) for r in loops), np.int64, len(loops))
    flat = np.fromiter(chain.from_iterable(loops), np.int64, int(sizes.sum()))
    starts, corners, kept = _loops(flat, sizes, merged)
    return which[kept], (starts, corners)


def _out(cells: VoronoiCells, tree: Bvh, spacing: float) -> VoronoiCells:
    """``cells`` with their outer corners drawn well out of the body, as far as they do not come near to
    another part of it: a straight edge from one side of a corner of the body to another has to pass it."""
    ends = np.union1d(np.flatnonzero(cells.outside), cells.edges.pairs[cells.edges.outside])
    start = cells.points[ends]
    nearest, distance, _ = tree.nearest(start)
    way = np.where(cells.outside[ends], 1.0, -1.0)[:, None] * (start - nearest)
    way /= np.maximum(distance, 1e-9 * spacing)[:, None]
    points, outside = cells.points.copy(), cells.outside.copy()
    for beyond in _BEYOND:
        to = nearest + beyond * spacing * way
        clear = (tree.nearest(to)[1] > 0.7 * beyond * spacing) & (distance < beyond * spacing)
        points[ends[clear]] = to[clear]
    outside[ends] = ~tree.inside(points[ends])
    return replace(cells, points=points, outside=outside)


def _loops(flat: IntArray, sizes: IntArray, merged: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Loops with merged corners, as CSR rows, and which they are: closed ones with three corners or more
    that do not meet themselves."""
    of = np.repeat(np.arange(len(sizes)), sizes)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    name = np.where(flat >= 0, merged[flat], -1)
    before = np.arange(-1, len(flat) - 1)
    before[ends[:-1]] = ends[1:] - 1
    stays = name != name[before]
    bad = np.bincount(of, flat < 0, len(sizes)) > 0
    of, name = of[stays], name[stays]
    order = np.lexsort((name, of))
    twice = (of[order][1:] == of[order][:-1]) & (name[order][1:] == name[order][:-1])
    bad[of[order][1:][twice]] = True
    left = np.bincount(of, minlength=len(sizes))
    kept = np.flatnonzero(~bad & (left >= 3))
    starts = np.concatenate([[0], np.cumsum(left)])
    return (*take_rows(starts, name, kept), kept)


def _summed(values: Array, of: IntArray, count: int) -> Array:
    return np.stack([np.bincount(of, values[:, c], count) for c in range(3)], axis=1)


def _areas(points: Array, starts: IntArray, corners: IntArray) -> Array:
    of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    ahead = np.arange(1, len(corners) + 1)
    ahead[starts[1:] - 1] = starts[:-1]
    base = points[corners[starts[:-1]]][of]
    cross = np.cross(points[corners] - base, points[corners[ahead]] - base)
    return np.asarray(0.5 * np.linalg.norm(_summed(cross, of, len(starts) - 1), axis=1))


def _ghosts(rest: Array, spacing: float) -> Array:
    """Points on a grid around the body, away from its phyxels."""
    from scipy.spatial import cKDTree

    low, high = rest.min(axis=0) - _AROUND * spacing, rest.max(axis=0) + _AROUND * spacing
    axes = [np.linspace(a, b, max(2, round((b - a) / spacing) + 1)) for a, b in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    distance = np.asarray(cKDTree(rest).query(grid, distance_upper_bound=(_AROUND + 0.5) * spacing)[0])
    return np.asarray(grid[(distance > _GHOSTS * spacing) & np.isfinite(distance)])


def _merged(points: Array, gap: float) -> tuple[IntArray, AnyArray]:
    """Numbers of the points once those within ``gap`` of each other are one, and the middles of these."""
    from scipy.spatial import cKDTree

    count, name = components(len(points), cKDTree(points).query_pairs(gap, output_type="ndarray"))
    size = np.bincount(name, minlength=count)
    return name, _summed(points, name, count) / size[:, None]


def triangulated(points: Array, starts: IntArray, corners: IntArray) -> tuple[IntArray, IntArray]:
    """Faces, CSR loops of ``corners``, cut into triangles (t, 3), and the face of each (t,), ascending.

    They are fans; but where a corner lies on an edge (cells next to it were cut there), ears are cut off, the
    fattest first: a fan would have triangles without an area.
    """
    of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    place = np.arange(len(corners))
    first, last = starts[of], starts[of + 1] - 1
    ahead, back = np.where(place == last, first, place + 1), np.where(place == first, last, place - 1)
    to, since = points[corners[ahead]] - points[corners], points[corners] - points[corners[back]]
    turn = np.linalg.norm(np.cross(since, to), axis=1)
    flat = turn < STRAIGHT * np.linalg.norm(since, axis=1) * np.linalg.norm(to, axis=1)
    crooked = np.bincount(of, flat, len(starts) - 1) > 0
    k = place[(place > first) & (place < last) & ~crooked[of]]
    fans = np.column_stack([corners[first[k]], corners[k], corners[k + 1]])
    ears, owner = cut_ears(points, starts, corners, np.flatnonzero(crooked))
    triangles, face = np.concatenate([fans, ears]), np.concatenate([of[k], owner])
    order = np.argsort(face, kind="stable")
    return triangles[order], face[order]


@jit
def _double_area(points, a, b, c):
    """Twice the area of a triangle of corners a, b, c."""
    u0, u1, u2 = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1], points[b, 2] - points[a, 2]
    v0, v1, v2 = points[c, 0] - points[b, 0], points[c, 1] - points[b, 1], points[c, 2] - points[b, 2]
    w0, w1, w2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
    return np.sqrt(w0 * w0 + w1 * w1 + w2 * w2)


@jit
def cut_ears(points, starts, corners, faces):
    """Triangles (t, 3) of ``faces`` and the face of each (t,): corner after corner is cut off, each time the
    one that leaves the fattest triangles of its own and with the corners next to it."""
    total = 0
    for f in faces:
        total += starts[f + 1] - starts[f] - 2
    triangles, owner = np.empty((total, 3), np.int64), np.empty(total, np.int64)
    count = 0
    for f in faces:
        loop = corners[starts[f] : starts[f + 1]].copy()
        n = len(loop)
        while n > 3:
            best, chosen = -1.0, 0
            for k in range(n):
                far, before, own = loop[(k - 2) % n], loop[(k - 1) % n], loop[k]
                after, beyond = loop[(k + 1) % n], loop[(k + 2) % n]
                least = _double_area(points, before, own, after)
                least = min(least, _double_area(points, far, before, after))
                least = min(least, _double_area(points, before, after, beyond))
                if least > best:
                    best, chosen = least, k
            triangles[count, 0], triangles[count, 1] = loop[(chosen - 1) % n], loop[chosen]
            triangles[count, 2], owner[count] = loop[(chosen + 1) % n], f
            count += 1
            for k in range(chosen, n - 1):
                loop[k] = loop[k + 1]
            n -= 1
        triangles[count, 0], triangles[count, 1], triangles[count, 2] = loop[0], loop[1], loop[2]
        owner[count] = f
        count += 1
    return triangles, owner
