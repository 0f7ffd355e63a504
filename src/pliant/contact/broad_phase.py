"""Broad phase: which triangles each vertex, and which edges each edge may touch, from a hashed grid of cells.

A triangle is entered in every cell that its box, widened by the reach of contact, overlaps; a vertex looks
into its own cell. An edge looks into all cells that it overlaps, and takes another edge in the one cell that
holds the lowest corner of the overlap of their boxes. The cost is linear in the number of vertices, triangles
and edges.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.contact.narrow_phase import nearest_on_edges, nearest_on_triangle
from pliant.contact.surfaces import ContactSurfaces
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.jit import SERIAL_ROWS, jit, prange, twin

MOST_CELLS = 100.0  # entries of a feature, on average
FARTHEST = 1e12  # cells from the origin


@jit
def _slot(ix, iy, iz, mask):
    return ((ix * 73856093) ^ (iy * 19349663) ^ (iz * 83492791)) & mask


@jit
def _box(x, corners, reach, out):
    for c in range(3):
        low, high = x[corners[0], c], x[corners[0], c]
        for k in range(1, corners.shape[0]):
            low, high = min(low, x[corners[k], c]), max(high, x[corners[k], c])
        out[c] = low - reach
        out[3 + c] = high + reach


@jit
def _outside(box, region):
    """Whether a box is outside of another one."""
    out = False
    for c in range(3):
        out |= box[c] > region[3 + c] or box[3 + c] < region[c]
    return out


@jit
def _regions(x, body, reach, collides, regions):
    """For each body the box (b, 6) of its parts that may be within the reach (b,) of a body that it collides
    with, either way."""
    many = reach.shape[0]
    boxes = np.empty((many, 6))
    boxes[:, :3] = np.inf
    boxes[:, 3:] = -np.inf
    regions[:, :3] = np.inf
    regions[:, 3:] = -np.inf
    for i in range(x.shape[0]):
        box = boxes[body[i]]
        for c in range(3):
            box[c] = min(box[c], x[i, c])
            box[3 + c] = max(box[3 + c], x[i, c])
    most = reach.max()
    for a in range(many):
        for b in range(many):
            if not (collides[a, b] or collides[b, a]):
                continue
            inside = True
            for c in range(3):
                inside &= (
                    max(boxes[a, c], boxes[b, c] - most) <= min(boxes[a, 3 + c], boxes[b, 3 + c] + most)
                )  # fmt: skip
            if inside:
                for c in range(3):
                    low = max(boxes[a, c], boxes[b, c] - most)
                    high = min(boxes[a, 3 + c], boxes[b, 3 + c] + most)
                    regions[a, c] = min(regions[a, c], low)
                    regions[a, 3 + c] = max(regions[a, 3 + c], high)


@jit
def _entered(boxes, cell):
    """Number of entries of all boxes, as a float: boxes may be of any size."""
    total = 0.0
    for t in range(boxes.shape[0]):
        number = 1.0
        for c in range(3):
            number *= np.floor(boxes[t, 3 + c] / cell) - np.floor(boxes[t, c] / cell) + 1.0
        if boxes[t, 0] <= boxes[t, 3] and number < np.inf:
            total += number
    return total


@jit
def _enter(x, features, body, reach, regions, cell, mask):
    """Boxes (t, 6), features by slot: first (slots + 1,) and entries, ascending in each slot, and the size of
    a cell: ``cell``, doubled until features have ``MOST_CELLS`` entries on average, for a line search may
    look at places that are far away. Features of bodies without a reach, and those outside of their body's
    region or without a finite size, are left out."""
    count = features.shape[0]
    boxes = np.empty((count, 6))
    first = np.zeros(mask + 2, np.int64)
    for t in range(count):
        if reach[body[t]] > 0.0:
            _box(x, features[t], 0.0, boxes[t])
        if reach[body[t]] <= 0.0 or _outside(boxes[t], regions[body[t]]):
            boxes[t, 0], boxes[t, 3] = np.inf, -np.inf
            continue
        for c in range(3):
            boxes[t, c] -= reach[body[t]]
            boxes[t, 3 + c] += reach[body[t]]
        if not (np.abs(boxes[t]).max() < FARTHEST * cell):
            boxes[t, 0], boxes[t, 3] = np.inf, -np.inf
    while _entered(boxes, cell) > MOST_CELLS * count:
        cell *= 2.0
    for t in range(count):
        if boxes[t, 0] > boxes[t, 3]:
            continue
        for ix in range(int(np.floor(boxes[t, 0] / cell)), int(np.floor(boxes[t, 3] / cell)) + 1):
            for iy in range(int(np.floor(boxes[t, 1] / cell)), int(np.floor(boxes[t, 4] / cell)) + 1):
                for iz in range(int(np.floor(boxes[t, 2] / cell)), int(np.floor(boxes[t, 5] / cell)) + 1):
                    first[_slot(ix, iy, iz, mask) + 1] += 1
    for s in range(mask + 1):
        first[s + 1] += first[s]
    entries = np.empty(first[mask + 1], np.int64)
    place = first[: mask + 1].copy()
    for t in range(count):
        if boxes[t, 0] > boxes[t, 3]:
            continue
        for ix in range(int(np.floor(boxes[t, 0] / cell)), int(np.floor(boxes[t, 3] / cell)) + 1):
            for iy in range(int(np.floor(boxes[t, 1] / cell)), int(np.floor(boxes[t, 4] / cell)) + 1):
                for iz in range(int(np.floor(boxes[t, 2] / cell)), int(np.floor(boxes[t, 5] / cell)) + 1):
                    s = _slot(ix, iy, iz, mask)
                    entries[place[s]] = t
                    place[s] += 1
    return boxes, first, entries, cell


@jit
def _linked(i, j, first, other):
    """Whether vertices i and j are the same, or connected."""
    found = i == j
    for k in range(first[i], first[i + 1]):
        found |= other[k] == j
    return found


@twin
def _near(write, x, points, point_body, triangles, tri_body, collides, boxes, first, entries, cell, mask,
          links, linked, piece, whole, apart, rest, counts, starts, found):  # fmt: skip
    """Candidates of the vertices: an upper bound of their number, or those themselves from ``starts`` on, and
    their number. Within a piece of a body (``whole``
    (b,): whether its own parts collide) connected ones are left out, and those that are nearer than ``apart``
    (b,) [m] at rest."""
    for p in prange(points.shape[0]):
        i = points[p]
        mine = point_body[p]
        w = np.empty(3)
        s = _slot(
            int(np.floor(x[i, 0] / cell)), int(np.floor(x[i, 1] / cell)), int(np.floor(x[i, 2] / cell)), mask
        )
        n = 0
        last = -1
        for e in range(first[s], first[s + 1]):
            t = entries[e]
            if t == last or not collides[mine, tri_body[t]]:
                continue
            tri = triangles[t]
            same = tri_body[t] == mine and piece[tri[0]] == piece[i]
            if same and not whole[mine]:
                continue
            box = boxes[t]
            if x[i, 0] < box[0] or x[i, 0] > box[3] or x[i, 1] < box[1] or x[i, 1] > box[4]:
                continue
            if x[i, 2] < box[2] or x[i, 2] > box[5]:
                continue
            if not write:
                n += 1
                continue
            if tri_body[t] == mine and (
                _linked(i, tri[0], links, linked)
                or _linked(i, tri[1], links, linked)
                or _linked(i, tri[2], links, linked)
            ):
                continue
            if same and apart[mine] > 0.0:
                square = nearest_on_triangle(rest[i, 0], rest[i, 1], rest[i, 2], rest, tri, w)
                if square < apart[mine] * apart[mine]:
                    continue
            last = t
            found[starts[p] + n] = t
            n += 1
        counts[p] = n


@twin
def _near_edges(write, x, edges, body, collides, boxes, first, entries, cell, mask,
                links, linked, piece, whole, apart, rest, counts, starts, found):  # fmt: skip
    """Candidates of the edges, as ``_near``; ascending."""
    for e in prange(edges.shape[0]):
        mine = body[e]
        a, b = edges[e, 0], edges[e, 1]
        own = np.empty(6)
        w = np.empty(2)
        _box(x, edges[e], 0.0, own)
        n = 0
        if boxes[e, 0] > boxes[e, 3]:
            own[0], own[3] = 0.0, -2.0 * cell
        for ix in range(int(np.floor(own[0] / cell)), int(np.floor(own[3] / cell)) + 1):
            for iy in range(int(np.floor(own[1] / cell)), int(np.floor(own[4] / cell)) + 1):
                for iz in range(int(np.floor(own[2] / cell)), int(np.floor(own[5] / cell)) + 1):
                    s = _slot(ix, iy, iz, mask)
                    last = -1
                    for k in range(first[s], first[s + 1]):
                        f = entries[k]
                        if f == last or not collides[mine, body[f]]:
                            continue
                        box = boxes[f]
                        if own[0] > box[3] or own[3] < box[0] or own[1] > box[4] or own[4] < box[1]:
                            continue
                        if f == e or own[2] > box[5] or own[5] < box[2]:
                            continue
                        if (
                            int(np.floor(max(own[0], box[0]) / cell)) != ix
                            or int(np.floor(max(own[1], box[1]) / cell)) != iy
                            or int(np.floor(max(own[2], box[2]) / cell)) != iz
                        ):
                            continue
                        last = f
                        if not write:
                            n += 1
                            continue
                        c, d = edges[f, 0], edges[f, 1]
                        same = body[f] == mine and piece[a] == piece[c]
                        if same and not whole[mine]:
                            continue
                        if body[f] == mine and (
                            _linked(a, c, links, linked) or _linked(a, d, links, linked)
                            or _linked(b, c, links, linked) or _linked(b, d, links, linked)
                        ):  # fmt: skip
                            continue
                        if same and nearest_on_edges(rest, a, b, c, d, w) < apart[mine] * apart[mine]:
                            continue
                        place = starts[e] + n
                        while place > starts[e] and found[place - 1] > f:
                            found[place] = found[place - 1]
                            place -= 1
                        found[place] = f
                        n += 1
        counts[e] = n


@jit
def _pairs(starts, counts, found, feature_body, ids):
    """Candidates grouped by other body: (id, body, begin, end) rows; features are sorted by body."""
    rows = np.empty((found.shape[0], 4), np.int64)
    n = 0
    for p in range(ids.shape[0]):
        k, last = starts[p], starts[p] + counts[p]
        while k < last:
            body = feature_body[found[k]]
            end = k
            while end < last and feature_body[found[end]] == body:
                end += 1
            rows[n, 0] = ids[p]
            rows[n, 1] = body
            rows[n, 2] = k
            rows[n, 3] = end
            n += 1
            k = end
    return rows[:n].copy()


@jit
def _points_within(x, points, body, regions):
    """Those of ``points`` that are in the region of their body."""
    out = np.empty(points.shape[0], np.int64)
    n = 0
    for p in range(points.shape[0]):
        i = points[p]
        region = regions[body[i]]
        inside = True
        for c in range(3):
            inside &= region[c] <= x[i, c] <= region[3 + c]
        if inside:
            out[n] = i
            n += 1
    return out[:n].copy()


def _grid(size: float, features: IntArray, reach: Array) -> tuple[float, int]:
    """Size of a cell [m] for features of a mean size, and the number of slots less one."""
    cell = size + 2.0 * float(reach.max()) or 1.0
    return cell, (1 << int(np.ceil(np.log2(2 * len(features) + 2)))) - 1


def triangle_candidates(
    s: ContactSurfaces, collides: BoolArray, reach: Array, x: Array
) -> tuple[IntArray, IntArray]:
    """Pairs (vertex, other body, begin, end) and the triangles that they may touch, (begin, end) in them.

    reach (b,): how far from its triangles a body may touch anything [m]; collides (b, b); x (v, 3) [m].
    """
    cell, mask = _grid(s.triangle_size, s.triangles, reach)
    regions = np.empty((len(reach), 6))
    _regions(x, s.body, reach, collides, regions)
    boxes, first, entries, cell = _enter(x, s.triangles, s.triangle_body, reach, regions, cell, mask)
    points = _points_within(x, s.points, s.body, regions)
    run = _near[len(points) >= SERIAL_ROWS]
    counts = np.zeros(len(points), np.int64)
    starts, nothing = np.zeros(1, np.int64), np.zeros(1, np.int64)
    common = (
        x, points, s.body[points], s.triangles, s.triangle_body, collides, boxes, first, entries, cell,
        mask, s.link_first, s.linked, s.piece, s.whole, s.apart, s.rest,
    )  # fmt: skip
    run(False, *common, counts, starts, nothing)
    starts = np.concatenate([[0], np.cumsum(counts)])
    found = np.empty(int(starts[-1]), np.int64)
    run(True, *common, counts, starts, found)
    return _pairs(starts, counts, found, s.triangle_body, points), found


def edge_candidates(
    s: ContactSurfaces, collides: BoolArray, reach: Array, x: Array
) -> tuple[IntArray, IntArray]:
    """Pairs (number of vertices + edge, other body, begin, end) and the edges that they may touch."""
    if not len(s.edges) or not collides.any():
        return np.empty((0, 4), np.int64), np.empty(0, np.int64)
    cell, mask = _grid(s.edge_size, s.edges, reach)
    regions = np.empty((len(reach), 6))
    _regions(x, s.body, reach, collides, regions)
    boxes, first, entries, cell = _enter(x, s.edges, s.edge_body, reach, regions, cell, mask)
    run = _near_edges[len(s.edges) >= SERIAL_ROWS // 4]
    counts = np.zeros(len(s.edges), np.int64)
    starts, nothing = np.zeros(1, np.int64), np.zeros(1, np.int64)
    common = (
        x, s.edges, s.edge_body, collides, boxes, first, entries, cell, mask, s.link_first, s.linked,
        s.piece, s.whole, s.apart, s.rest,
    )  # fmt: skip
    run(False, *common, counts, starts, nothing)
    starts = np.concatenate([[0], np.cumsum(counts)])
    found = np.empty(int(starts[-1]), np.int64)
    run(True, *common, counts, starts, found)
    ids = s.count + np.arange(len(s.edges))
    return _pairs(starts, counts, found, s.edge_body, ids), found
