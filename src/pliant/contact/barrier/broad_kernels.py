"""Broad phase: which points and triangles, and which pairs of edges, may come near each other on their way.

Every feature has the box of its way, widened by how far it may leave it and by half the distance at which
contact begins. Boxes are entered in a hashed grid; a feature takes another one in the one cell that holds the
lowest corner of the overlap of their boxes. Boxes that cover many cells are compared with all others.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.contact.barrier.distance_kernels import EDGE_EDGE, POINT_TRIANGLE, edge_edge, point_triangle
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.jit import SERIAL_ROWS, jit, prange, twin

MOST_CELLS = 512  # of one box in the grid


@jit
def _slot(ix, iy, iz, mask):
    return ((ix * 73856093) ^ (iy * 19349663) ^ (iz * 83492791)) & mask


@jit
def path_boxes(x, way, wide, features, out):
    """Boxes (f, 6) of features (f, k) whose vertices go from ``x`` along ``way``, widened by the
    largest of their vertices (v,)."""
    for f in range(features.shape[0]):
        more = 0.0
        for k in range(features.shape[1]):
            more = max(more, wide[features[f, k]])
        for c in range(3):
            low, high = np.inf, -np.inf
            for k in range(features.shape[1]):
                i = features[f, k]
                a, b = x[i, c], x[i, c] + way[i, c]
                low = min(low, a, b)
                high = max(high, a, b)
            out[f, c] = low - more
            out[f, 3 + c] = high + more


@jit
def relevant(boxes, body, collides, out):
    """Which features overlap the box of a body that theirs collides with."""
    many = collides.shape[0]
    whole = np.empty((many, 6))
    whole[:, :3] = np.inf
    whole[:, 3:] = -np.inf
    for f in range(boxes.shape[0]):
        for c in range(3):
            whole[body[f], c] = min(whole[body[f], c], boxes[f, c])
            whole[body[f], 3 + c] = max(whole[body[f], 3 + c], boxes[f, 3 + c])
    for f in range(boxes.shape[0]):
        out[f] = False
        for b in range(many):
            if collides[body[f], b] and not out[f]:
                inside = True
                for c in range(3):
                    inside &= boxes[f, c] <= whole[b, 3 + c] and boxes[f, 3 + c] >= whole[b, c]
                out[f] = inside


@jit
def _cells(box, cell, out):
    many = 1.0
    for c in range(3):
        out[c] = int(np.floor(box[c] / cell))
        out[3 + c] = int(np.floor(box[3 + c] / cell))
        many *= out[3 + c] - out[c] + 1
    return many


@jit
def enter(boxes, used, cell, mask):
    """Features by slot: first (slots + 1,) and entries, ascending in each slot; and those too large for the
    grid."""
    first = np.zeros(mask + 2, np.int64)
    large = np.empty(boxes.shape[0], np.int64)
    many = 0
    range_of = np.empty(6, np.int64)
    for turn in range(2):
        if turn == 1:
            for s in range(mask + 1):
                first[s + 1] += first[s]
            entries = np.empty(first[mask + 1], np.int64)
            place = first[: mask + 1].copy()
        for f in range(boxes.shape[0]):
            if not used[f]:
                continue
            if _cells(boxes[f], cell, range_of) > MOST_CELLS:
                if turn == 0:
                    large[many] = f
                    many += 1
                continue
            for ix in range(range_of[0], range_of[3] + 1):
                for iy in range(range_of[1], range_of[4] + 1):
                    for iz in range(range_of[2], range_of[5] + 1):
                        s = _slot(ix, iy, iz, mask)
                        if turn == 0:
                            first[s + 1] += 1
                        else:
                            entries[place[s]] = f
                            place[s] += 1
    return first, entries, large[:many].copy()


@jit
def _apart(boxes, e, others, f):
    """Whether box e of ``boxes`` and box f of ``others`` do not overlap."""
    return (
        boxes[e, 0] > others[f, 3] or boxes[e, 3] < others[f, 0]
        or boxes[e, 1] > others[f, 4] or boxes[e, 4] < others[f, 1]
        or boxes[e, 2] > others[f, 5] or boxes[e, 5] < others[f, 2]
    )  # fmt: skip


@jit
def _wanted(kind, own, e, other, f, x, way, wide, places, w, n):
    """Whether feature e of ``own`` and f of ``other``, points, edges or triangles, may come near each other
    on their way; not where they share a vertex. places (4, 3), w (4,), n (3,): room to work in."""
    first = own.shape[1]
    for a in range(first):
        for b in range(other.shape[1]):
            if own[e, a] == other[f, b]:
                return False
    most0 = most1 = moved0 = moved1 = 0.0  # vertices need not be at the same share of their ways
    for k in range(4):
        i = own[e, k] if k < first else other[f, k - first]
        square = 0.0
        for c in range(3):
            places[k, c] = x[i, c]
            square += way[i, c] * way[i, c]
        if k < first:
            most0, moved0 = max(most0, wide[i]), max(moved0, square)
        else:
            most1, moved1 = max(most1, wide[i]), max(moved1, square)
    if kind == EDGE_EDGE:
        d = edge_edge(places, w, n)
    else:
        d = point_triangle(places, w, n)
    return d <= np.sqrt(moved0) + np.sqrt(moved1) + most0 + most1


@jit
def _take(kind, write, e, f, own, own_body, other, other_body, collides, same, x, way, wide, start, n, found,
          places, w, unit):  # fmt: skip
    """Count, or enter in ascending order, a pair whose boxes overlap."""
    if not collides[own_body[e], other_body[f]] or (same and f <= e):
        return n
    if not write:
        return n + 1
    if not _wanted(kind, own, e, other, f, x, way, wide, places, w, unit):
        return n
    place = start + n
    while place > start and found[place - 1] > f:
        found[place] = found[place - 1]
        place -= 1
    found[place] = f
    return n + 1


@twin
def _query(kind, write, own, own_body, used, other, other_body, boxes, other_boxes, first, entries, large,
           collides, same, x, way, wide, cell, mask, counts, starts, found):  # fmt: skip
    """How many others each feature may come near, at most; or which, from ``starts`` on. same: both
    are edges, and pairs are taken once."""
    for at in prange(own.shape[0]):
        e = np.int64(at)
        counts[e] = 0
        if not used[e]:
            continue
        n = 0
        begin = np.int64(0)
        if write:
            begin = starts[e]
            if starts[e + 1] == begin:
                continue
        range_of = np.empty(6, np.int64)
        places, w, unit = np.empty((4, 3)), np.empty(4), np.empty(3)
        if _cells(boxes[e], cell, range_of) > 64 * MOST_CELLS:
            for f in range(other.shape[0]):
                if not _apart(boxes, e, other_boxes, f):
                    n = _take(kind, write, e, np.int64(f), own, own_body, other, other_body, collides, same,
                              x, way, wide, begin, n, found, places, w, unit)  # fmt: skip
            counts[e] = n
            continue
        for ix in range(range_of[0], range_of[3] + 1):
            for iy in range(range_of[1], range_of[4] + 1):
                for iz in range(range_of[2], range_of[5] + 1):
                    s = _slot(ix, iy, iz, mask)
                    last = -1
                    for k in range(first[s], first[s + 1]):
                        f = entries[k]
                        if f == last or _apart(boxes, e, other_boxes, f):
                            continue
                        last = f
                        if (
                            int(np.floor(max(boxes[e, 0], other_boxes[f, 0]) / cell)) != ix
                            or int(np.floor(max(boxes[e, 1], other_boxes[f, 1]) / cell)) != iy
                            or int(np.floor(max(boxes[e, 2], other_boxes[f, 2]) / cell)) != iz
                        ):
                            continue
                        n = _take(kind, write, e, f, own, own_body, other, other_body, collides, same, x,
                                  way, wide, begin, n, found, places, w, unit)  # fmt: skip
        for k in range(large.shape[0]):
            if not _apart(boxes, e, other_boxes, large[k]):
                n = _take(kind, write, e, large[k], own, own_body, other, other_body, collides, same, x,
                          way, wide, begin, n, found, places, w, unit)  # fmt: skip
        counts[e] = n


def near_pairs(
    x: Array,
    way: Array,
    wide: Array,
    own: IntArray,
    own_body: IntArray,
    other: IntArray,
    other_body: IntArray,
    collides: BoolArray,
) -> IntArray:
    """Pairs (p, 2) of features ``own`` (f, k) and ``other`` (g, l), in ascending order, that may come within
    the sum of their widths while vertices go from ``x`` along ``way``, all (v, 3), and leave that by their
    share of ``wide`` (v,) [m] at most. Points and triangles, or edges and the same edges."""
    if not len(own) or not len(other) or not collides.any():
        return np.empty((0, 2), np.int64)
    same = own.shape[1] == 2
    kind = EDGE_EDGE if same else POINT_TRIANGLE
    boxes, other_boxes = np.empty((len(own), 6)), np.empty((len(other), 6))
    path_boxes(x, way, wide, own, boxes)
    path_boxes(x, way, wide, other, other_boxes)
    every = np.empty(len(own) + len(other), bool)
    relevant(np.concatenate([boxes, other_boxes]), np.concatenate([own_body, other_body]), collides, every)
    used, other_used = every[: len(own)], every[len(own) :]
    if not used.any() or not other_used.any():
        return np.empty((0, 2), np.int64)
    extent = (other_boxes[other_used, 3:] - other_boxes[other_used, :3]).max(axis=1)
    cell = float(np.median(extent)) or 1.0
    mask = (1 << int(np.ceil(np.log2(2 * len(other) + 2)))) - 1
    first, entries, large = enter(other_boxes, other_used, cell, mask)
    run = _query[len(own) >= SERIAL_ROWS]
    counts, nothing = np.zeros(len(own), np.int64), np.zeros(1, np.int64)
    common = (
        own, own_body, used, other, other_body, boxes, other_boxes, first, entries, large, collides, same, x,
        way, wide, cell, mask,
    )  # fmt: skip
    run(kind, False, *common, counts, nothing, nothing)
    starts = np.concatenate([[0], np.cumsum(counts)])
    found = np.empty(int(starts[-1]), np.int64)
    run(kind, True, *common, counts, starts, found)
    keep = np.repeat(starts[:-1], counts) + _ramp(counts)
    return np.column_stack([np.repeat(np.arange(len(own)), counts), found[keep]])


def _ramp(counts: IntArray) -> IntArray:
    """0, 1, ... for each of ``counts``, one after another."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) - np.repeat(ends - counts, counts), np.int64)
