"""Broad phase: which points and triangles, and which pairs of edges, may come near each other on their way.

Every feature has the box of its way, widened by how far it may leave it and by half the distance at which
contact begins. The boxes are put in a binary tree, in the order of a space-filling curve (Morton's); each
feature looks for overlaps in it.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.contact.barrier.distance_kernels import EDGE_EDGE, POINT_TRIANGLE, edge_edge, point_triangle
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.jit import SERIAL_ROWS, jit, prange, twin

LEAF = 4  # features in a leaf of the tree
DEEPEST = 64  # more than any tree has levels
CURVE_CELLS = 1024  # of the curve along each axis


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
def _wanted(kind, own, e, other, f, x, way, wide, places, w, n):
    """Whether feature e of ``own`` and f of ``other``, points, edges or triangles, may come near each other
    on their way. places (4, 3), w (4,), n (3,): room to work in."""
    first = own.shape[1]
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
def curve_codes(boxes, low, size, out):
    """Where the centres of ``boxes`` (f, 6) are along the curve through the box from ``low`` of ``size``."""
    for f in range(boxes.shape[0]):
        code = np.int64(0)
        for c in range(3):
            centre = 0.5 * (boxes[f, c] + boxes[f, 3 + c])
            place = int((centre - low[c]) / size * CURVE_CELLS)
            place = min(max(place, 0), CURVE_CELLS - 1)
            for bit in range(10):
                code |= ((place >> bit) & 1) << (3 * bit + c)
        out[f] = code


@jit
def grow_tree(boxes, leaves, tree):
    """Boxes of the nodes (2 leaves, 6) over ``boxes`` in the order of the curve; children of i are 2 i and
    2 i + 1, the leaves are the last half."""
    for i in range(tree.shape[0]):
        for c in range(3):
            tree[i, c] = np.inf
            tree[i, 3 + c] = -np.inf
    for f in range(boxes.shape[0]):
        i = leaves + f // LEAF
        for c in range(3):
            tree[i, c] = min(tree[i, c], boxes[f, c])
            tree[i, 3 + c] = max(tree[i, 3 + c], boxes[f, 3 + c])
    for i in range(leaves - 1, 0, -1):
        for c in range(3):
            tree[i, c] = min(tree[2 * i, c], tree[2 * i + 1, c])
            tree[i, 3 + c] = max(tree[2 * i, 3 + c], tree[2 * i + 1, 3 + c])


@jit
def _apart(a, i, b, k):
    """Whether box i of ``a`` and box k of ``b`` do not overlap."""
    return (
        a[i, 0] > b[k, 3] or a[i, 3] < b[k, 0]
        or a[i, 1] > b[k, 4] or a[i, 4] < b[k, 1]
        or a[i, 2] > b[k, 5] or a[i, 5] < b[k, 2]
    )  # fmt: skip


@jit
def _share_a_vertex(own, e, other, f):
    for a in range(own.shape[1]):
        for b in range(other.shape[1]):
            if own[e, a] == other[f, b]:
                return True
    return False


@twin
def _query(kind, write, own, own_body, boxes, other, other_body, other_boxes, tree, leaves, collides, x, way,
           wide, counts, starts, found):  # fmt: skip
    """How many others each feature may come near, at most; or which, from ``starts`` on, with their number
    in ``counts``. Of two edges, which are the same features, each looks for those after it."""
    same = kind == EDGE_EDGE
    for at in prange(own.shape[0]):
        e = np.int64(at)
        n, begin = np.int64(0), np.int64(0)
        if write:
            begin = starts[e]
            if starts[e + 1] == begin:
                counts[e] = 0
                continue
        places, w, unit = np.empty((4, 3)), np.empty(4), np.empty(3)
        nodes, spans = np.empty(DEEPEST, np.int64), np.empty(DEEPEST, np.int64)
        nodes[0], spans[0] = 1, leaves
        waiting = 1
        after = e + 1 if same else 0
        while waiting > 0:
            waiting -= 1
            i, span = nodes[waiting], spans[waiting]
            if (same and (i + 1) * span - leaves <= e // LEAF) or _apart(boxes, e, tree, i):
                continue
            if span > 1:
                half = span // 2
                nodes[waiting], spans[waiting] = 2 * i, half
                nodes[waiting + 1], spans[waiting + 1] = 2 * i + 1, half
                waiting += 2
                continue
            begins = (i - leaves) * LEAF
            for f in range(max(begins, after), min(begins + LEAF, other.shape[0])):
                if (
                    _apart(boxes, e, other_boxes, f)
                    or not collides[own_body[e], other_body[f]]
                    or _share_a_vertex(own, e, other, f)
                ):
                    continue
                if not write:
                    n += 1
                elif _wanted(kind, own, e, other, f, x, way, wide, places, w, unit):
                    found[begin + n] = f
                    n += 1
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
    used, other_used = np.flatnonzero(every[: len(own)]), np.flatnonzero(every[len(own) :])
    if not len(used) or not len(other_used):
        return np.empty((0, 2), np.int64)
    other_used = other_used[_along_curve(other_boxes[other_used])]
    if same:
        used = other_used
    boxes, other_boxes = boxes[used], other_boxes[other_used]
    leaves = 1 << int(np.ceil(np.log2(max(len(other_used) / LEAF, 1.0))))
    tree = np.empty((2 * leaves, 6))
    grow_tree(other_boxes, leaves, tree)
    run = _query[len(used) >= SERIAL_ROWS]
    counts, nothing = np.zeros(len(used), np.int64), np.zeros(1, np.int64)
    common = (
        own[used], own_body[used], boxes, other[other_used], other_body[other_used], other_boxes, tree,
        leaves, collides, x, way, wide,
    )  # fmt: skip
    run(kind, False, *common, counts, nothing, nothing)
    starts = np.concatenate([[0], np.cumsum(counts)])
    found = np.empty(int(starts[-1]), np.int64)
    run(kind, True, *common, counts, starts, found)
    keep = np.repeat(starts[:-1], counts) + _ramp(counts)
    one, two = np.repeat(used, counts), other_used[found[keep]]
    if same:
        one, two = np.minimum(one, two), np.maximum(one, two)
    keys = np.sort(one * len(other) + two)
    return np.column_stack([keys // len(other), keys % len(other)])


def _along_curve(boxes: Array) -> IntArray:
    """The order of ``boxes`` along the curve."""
    low, high = boxes[:, :3].min(axis=0), boxes[:, 3:].max(axis=0)
    codes = np.empty(len(boxes), np.int64)
    curve_codes(boxes, low, float((high - low).max()) or 1.0, codes)
    return np.argsort(codes, kind="stable")


def _ramp(counts: IntArray) -> IntArray:
    """0, 1, ... for each of ``counts``, one after another."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) - np.repeat(ends - counts, counts), np.int64)
