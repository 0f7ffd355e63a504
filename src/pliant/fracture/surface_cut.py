"""A closed triangle surface cut along a sheet of triangles, and both faces of the cut closed.

Which faces bound the same wedge of material, and the vertices that follow: around every edge the triangles
are sorted by angle; two neighbours there whose inner faces look at each other belong together. Corners that
are connected through such pairs are one vertex: so pieces that would touch in a vertex or an edge alone are
separate, and both faces of a crack share the vertices of its front.
"""

from dataclasses import dataclass

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.fracture.mesh_intersection import (
    DegenerateIntersection,
    EdgeTriangleHits,
    MeshIntersection,
    intersect_meshes,
    retriangulate,
)
from pliant.mesh.mesh import Surface, surface_volume
from pliant.mesh.topology import Edges, components, merge_points
from pliant.mesh.triangles import double_areas


def paired(points: Array, triangles: IntArray, sheet: IntArray) -> IntArray:
    """Pairs (k, 2) of half-edges (3 t + c runs from corner c of triangle t) that bound one wedge.

    triangles (m, 3) are oriented, material behind their faces; sheet (m,): for the two faces of one sheet
    triangle the same number, for others -1.
    """
    half = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    low, high = half.min(axis=1), half.max(axis=1)
    _, edge, uses = np.unique(low * len(points) + high, return_inverse=True, return_counts=True)
    edge = edge.reshape(-1)
    order = np.argsort(edge, kind="stable")
    start = np.cumsum(uses) - uses
    on_sheet = np.zeros(len(uses), bool)
    on_sheet[edge[np.repeat(sheet >= 0, 3)]] = True
    plain = (uses == 2) & ~on_sheet
    first = start[plain]
    found = [np.column_stack([order[first], order[first + 1]])]
    opposite = half[found[0][:, 0], 0] != half[found[0][:, 1], 0]
    found[0] = found[0][opposite]
    for k in np.flatnonzero(~plain & (uses > 1)):
        found.append(_wedges(points, triangles, sheet, half, order[start[k] : start[k] + uses[k]]))
    return np.concatenate(found)


def _wedges(points: Array, triangles: IntArray, sheet: IntArray, half: IntArray, at: IntArray) -> IntArray:
    """Pairs of the half-edges ``at`` on one edge, neighbours by angle."""
    u, v = sorted(half[at[0]].tolist())
    axis = points[v] - points[u]
    axis = axis / max(float(np.linalg.norm(axis)), 1e-300)
    apex = points[triangles[at // 3, (at % 3 + 2) % 3]] - points[u]
    reach = apex - (apex @ axis)[:, None] * axis
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(axis, helper)
    first /= np.linalg.norm(first)
    angle = np.arctan2(reach @ np.cross(axis, first), reach @ first)
    facets: dict[int, list[int]] = {}  # facet -> its half-edges, one per face
    for i, h in enumerate(at.tolist()):
        own = int(sheet[h // 3])
        facets.setdefault(own if own >= 0 else -2 - h, []).append(i)
    turn = sorted(facets.values(), key=lambda members: (angle[members[0]], members[0]))
    pairs = []
    for k, members in enumerate(turn):
        after = turn[(k + 1) % len(turn)]
        # a face that runs v -> u has its material on the side of growing angle
        ahead = [i for i in members if half[at[i], 0] == v]
        behind = [i for i in after if half[at[i], 0] == u]
        if ahead and behind:
            pairs.append((at[ahead[0]], at[behind[0]]))
    return np.array(pairs, np.int64).reshape(-1, 2)


def vertices_of(triangles: IntArray, pairs: IntArray) -> tuple[IntArray, IntArray]:
    """Triangles (m, 3) over new vertices, numbered in order of first use, and the old vertex of each."""
    nxt = np.array([1, 2, 0])
    a, b = pairs[:, 0], pairs[:, 1]
    a_end, b_end = a // 3 * 3 + nxt[a % 3], b // 3 * 3 + nxt[b % 3]
    # opposite half-edges: the start of one is the end of the other
    links = np.concatenate([np.column_stack([a, b_end]), np.column_stack([a_end, b])])
    _, label = components(triangles.size, links)
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    fresh = rank[inverse.reshape(-1)].reshape(-1, 3)
    old = np.empty(len(first), np.int64)
    old[fresh.ravel()] = triangles.ravel()
    return fresh, old


def pieces_of(count: int, pairs: IntArray) -> IntArray:
    """The piece of each of ``count`` triangles, numbered in order of their first triangle."""
    _, label = components(count, pairs // 3)
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse.reshape(-1)])


GROUP = "crack"  # the new faces
TRIES = 6  # shifts of the sheet that are tried where it touches the surface in an unclear way
_SHIFT = 1e-7  # their size, as a share of the surface's diagonal
_WAYS = np.array([[0.613, 0.371, 0.697], [-0.482, 0.739, 0.470], [0.287, -0.661, 0.693]])


@dataclass(frozen=True)
class CutSurface:
    """What ``cut_surface`` made of a surface of m triangles and a sheet.

    surface: closed, with UVs and groups; the new faces are its group ``crack``;
    origin (t,): the old triangle that each triangle is a part of, or -1 - c for a face of sheet triangle c;
    piece (t,): the piece that each triangle bounds, 0, 1, ...; a crack that does not go through leaves one;
    inward (p, 3): from each point a unit vector into the material on its own side of the crack.
    """

    surface: Surface
    origin: IntArray
    piece: IntArray
    inward: Array

    @property
    def pieces(self) -> int:
        """Number of pieces."""
        return int(self.piece.max()) + 1

    @property
    def piece_of_point(self) -> IntArray:
        """The piece that each point bounds (p,)."""
        found = np.zeros(len(self.surface.points), np.int64)
        found[self.surface.triangles.ravel()] = np.repeat(self.piece, 3)
        return found


def cut_surface(surface: Surface, points: Array, triangles: IntArray) -> CutSurface:
    """Cut ``surface`` along the sheet ``triangles`` (c, 3) over ``points`` (q, 3) [m].

    The sheet may have borders inside (a crack's front), stick out of the surface (what does is left away),
    branch, and consist of several parts; it must not cut itself. To cut all the way out it has to stick out a
    little. Where sheet and surface only touch, the sheet is shifted by 1e-7 of the surface's size. MeshError
    where that does not make it clear what is cut.
    """
    points = np.asarray(points, np.float64)
    merged, of = merge_points(surface.points)
    whole = of[surface.triangles]
    size = float(np.linalg.norm(np.ptp(merged, axis=0)))
    for attempt in range(TRIES):
        shift = _SHIFT * size * (attempt + 1) * _WAYS[attempt % 3] * (1 if attempt < 3 else -1)
        try:
            return _cut(surface, merged, whole, points + shift, triangles)
        except DegenerateIntersection:
            continue
    raise MeshError("The surface cannot be cut along the crack: they touch in too many places.")


def _cut(surface: Surface, base: Array, whole: IntArray, sheet: Array, triangles: IntArray) -> CutSurface:
    """As ``cut_surface``; base, whole: the surface with points merged by position."""
    edges, sheet_edges = Edges(whole, len(base)), Edges(triangles, len(sheet))
    cross = intersect_meshes(base, edges, sheet, sheet_edges)
    offset = len(base) + len(sheet)
    every = np.concatenate([base, sheet, cross.of_surface.points, cross.of_sheet.points])
    first = offset + len(cross.of_surface.edge)
    own, origin = _split(
        every, whole, edges, (cross.of_surface, offset), (cross.of_sheet, first), cross,
        cross.surface_triangle, offset,
    )  # fmt: skip
    lids, source = _split(
        every, triangles + len(base), sheet_edges, (cross.of_sheet, first), (cross.of_surface, offset), cross,
        cross.sheet_triangle, offset,
    )  # fmt: skip
    kept = _inside(surface, every, lids, offset)
    lids, source = lids[kept], source[kept]
    everything = np.concatenate([own, lids, lids[:, ::-1]])
    facet = np.arange(len(lids))
    pairs = paired(every, everything, np.concatenate([np.full(len(own), -1), facet, facet]))
    fresh, old = vertices_of(everything, pairs)
    made = Surface(every[old], fresh)
    return CutSurface(
        _dressed(surface, made, origin, base, whole),
        np.concatenate([origin, -1 - source, -1 - source]),
        _with_cavities(made, pieces_of(len(everything), pairs)),
        _inward(made),
    )


def _split(
    every: Array,
    triangles: IntArray,
    edges: Edges,
    on_edge: tuple[EdgeTriangleHits, int],
    within: tuple[EdgeTriangleHits, int],
    cross: MeshIntersection,
    home: IntArray,
    offset: int,
) -> tuple[IntArray, IntArray]:
    """``triangles`` cut up along the segments of the crossing, and the triangle each part comes from.

    on_edge, within: the hits on its edges and inside its triangles, with the number of the first such point;
    home: the triangle of each segment.
    """
    hits, base = on_edge
    of_edge: dict[int, list[int]] = {}
    for i in np.lexsort((hits.share, hits.edge)).tolist():
        of_edge.setdefault(int(hits.edge[i]), []).append(base + i)
    inner: dict[int, list[int]] = {}
    for i, t in enumerate(within[0].triangle.tolist()):
        inner.setdefault(t, []).append(within[1] + i)
    lines: dict[int, list[tuple[int, int]]] = {}
    for t, (a, b) in zip(home.tolist(), cross.segments.tolist(), strict=True):
        lines.setdefault(t, []).append((a + offset, b + offset))
    touched = sorted({*lines, *inner})
    whole = np.ones(len(triangles), bool)
    whole[touched] = False
    parts, source = [triangles[whole]], [np.flatnonzero(whole)]
    for t in touched:
        corners = triangles[t].tolist()
        sides = []
        for k in range(3):
            found = of_edge.get(int(edges.edge[3 * t + k]), [])
            sides.append(found if corners[k] < corners[(k + 1) % 3] else found[::-1])
        names = [*corners, *(p for side in sides for p in side), *inner.get(t, [])]
        place = {name: i for i, name in enumerate(names)}
        new = retriangulate(
            every[corners],
            [[place[p] for p in side] for side in sides],
            every[names[3:]],
            [(place[a], place[b]) for a, b in lines.get(t, [])],
        )
        parts.append(np.array([[names[i] for i in triangle] for triangle in new], np.int64))
        source.append(np.full(len(new), t))
    return np.concatenate(parts), np.concatenate(source)


def _inside(surface: Surface, every: Array, lids: IntArray, first_cut: int) -> BoolArray:
    """Which parts of the sheet lie inside the surface: the same for all up to the curves it is cut along."""
    from pliant.mesh.bvh import Bvh

    edges = Edges(lids, len(every))
    on_curve = (edges.pairs.min(axis=1) >= first_cut)[edges.edge]
    order = np.argsort(edges.edge, kind="stable")
    same = edges.edge[order][1:] == edges.edge[order][:-1]
    links = np.column_stack([order[:-1], order[1:]])[same & ~on_curve[order[1:]]]
    count, patch = components(len(lids), links // 3)
    area = double_areas(every, lids)
    sample = np.zeros(count, np.int64)
    rank = np.argsort(area, kind="stable")
    sample[patch[rank]] = rank  # the largest of each patch comes last
    inside = Bvh(surface.points, surface.triangles).inside(every[lids[sample]].mean(axis=1))
    return np.asarray(inside[patch])


def _with_cavities(made: Surface, piece: IntArray) -> IntArray:
    """``piece`` with cracks that stay inside a piece counted to it, and numbered through again."""
    from pliant.mesh.bvh import Bvh

    count = int(piece.max()) + 1
    least = 1e-15 * float(np.ptp(made.points, axis=0).max()) ** 3
    parts = [made.triangles[piece == k] for k in range(count)]
    solid = [k for k in range(count) if surface_volume(made.points, parts[k]) > least]
    for k in sorted({*range(count)} - {*solid}):
        at = made.points[parts[k]].mean(axis=1)
        around = [other for other in solid if Bvh(made.points, parts[other]).inside(at).mean() > 0.5]
        piece = np.where(piece == k, around[0] if around else solid[0], piece)
    return np.asarray(np.unique(piece, return_inverse=True)[1].reshape(-1))


def _dressed(surface: Surface, made: Surface, origin: IntArray, base: Array, whole: IntArray) -> Surface:
    """``made`` with the old surface's UVs and groups on its parts, and the group of the new faces."""
    count, old = len(made.triangles), len(origin)
    groups = {name: np.flatnonzero(np.isin(origin, ids)) for name, ids in surface.groups.items()}
    earlier = groups.get(GROUP, np.zeros(0, np.int64))
    groups[GROUP] = np.concatenate([earlier, np.arange(old, count)])
    if surface.uv is None or surface.uv_triangles is None:
        return Surface(made.points, made.triangles, groups=groups)
    corners = made.points[made.triangles[:old]]
    a, b, c = (base[whole[origin, k]][:, None] for k in range(3))
    n = np.cross(b - a, c - a)
    square = np.maximum(np.einsum("mij,mij->mi", n, n), 1e-300)
    w1 = np.einsum("mij,mij->mi", np.cross(corners - a, c - a), n) / square
    w2 = np.einsum("mij,mij->mi", np.cross(b - a, corners - a), n) / square
    u, v, w = (surface.uv[surface.uv_triangles[origin, k]][:, None] for k in range(3))
    uv = u + w1[:, :, None] * (v - u) + w2[:, :, None] * (w - u)
    # new faces: positions seen along the axis that is nearest to their normal
    new = made.points[made.triangles[old:]]
    normal = np.abs(np.cross(new[:, 1] - new[:, 0], new[:, 2] - new[:, 0]))
    seen = np.array([[1, 2], [2, 0], [0, 1]])[np.argmax(normal, axis=1)]
    scale = 1.0 / max(float(np.ptp(made.points, axis=0).max()), 1e-300)
    flat = scale * np.take_along_axis(new, np.repeat(seen[:, None], 3, axis=1), axis=2)
    table, index = np.unique(np.concatenate([uv, flat]).reshape(-1, 2), axis=0, return_inverse=True)
    return Surface(made.points, made.triangles, table, index.reshape(-1, 3), groups)


def _inward(made: Surface) -> Array:
    """From each point a unit vector behind the faces around it, towards their middle."""
    p = made.points[made.triangles]
    normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
    total = np.zeros_like(made.points)
    for k in range(3):
        out, back = p[:, (k + 1) % 3] - p[:, k], p[:, (k + 2) % 3] - p[:, k]
        lengths = np.maximum(np.linalg.norm(out, axis=1) * np.linalg.norm(back, axis=1), 1e-300)
        angle = np.arccos(np.clip(np.einsum("ij,ij->i", out, back) / lengths, -1.0, 1.0))
        middle = p.mean(axis=1) - p[:, k]
        middle /= np.maximum(np.linalg.norm(middle, axis=1), 1e-300)[:, None]
        np.add.at(total, made.triangles[:, k], angle[:, None] * (0.2 * middle - normal))
    return np.asarray(total / np.maximum(np.linalg.norm(total, axis=1), 1e-300)[:, None])
