"""Broad phase: which triangles each surface particle may touch, from a hashed grid of cells.

A triangle is entered in every cell that its box, widened by the reach of contact, overlaps; a particle looks
into its own cell. The cost is linear in the number of particles and triangles.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.contact.surfaces import ContactSurfaces
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.jit import SERIAL_ROWS, jit, prange, twin


@jit
def _slot(ix, iy, iz, mask):
    return ((ix * 73856093) ^ (iy * 19349663) ^ (iz * 83492791)) & mask


@jit
def _box(x, tri, reach, out):
    for c in range(3):
        p, q, r = x[tri[0], c], x[tri[1], c], x[tri[2], c]
        out[c] = min(p, q, r) - reach
        out[3 + c] = max(p, q, r) + reach


@jit
def _enter(x, triangles, body, reach, cell, mask):
    """Boxes (t, 6), and triangles by slot: first (slots + 1,) and entries, ascending in each slot."""
    count = triangles.shape[0]
    boxes = np.empty((count, 6))
    first = np.zeros(mask + 2, np.int64)
    for t in range(count):
        _box(x, triangles[t], reach[body[t]], boxes[t])
        for ix in range(int(np.floor(boxes[t, 0] / cell)), int(np.floor(boxes[t, 3] / cell)) + 1):
            for iy in range(int(np.floor(boxes[t, 1] / cell)), int(np.floor(boxes[t, 4] / cell)) + 1):
                for iz in range(int(np.floor(boxes[t, 2] / cell)), int(np.floor(boxes[t, 5] / cell)) + 1):
                    first[_slot(ix, iy, iz, mask) + 1] += 1
    for s in range(mask + 1):
        first[s + 1] += first[s]
    entries = np.empty(first[mask + 1], np.int64)
    place = first[: mask + 1].copy()
    for t in range(count):
        for ix in range(int(np.floor(boxes[t, 0] / cell)), int(np.floor(boxes[t, 3] / cell)) + 1):
            for iy in range(int(np.floor(boxes[t, 1] / cell)), int(np.floor(boxes[t, 4] / cell)) + 1):
                for iz in range(int(np.floor(boxes[t, 2] / cell)), int(np.floor(boxes[t, 5] / cell)) + 1):
                    s = _slot(ix, iy, iz, mask)
                    entries[place[s]] = t
                    place[s] += 1
    return boxes, first, entries


@jit
def _connected(i, tri, first, other):
    """Whether particle i is a corner of the triangle or connected to one."""
    for c in range(3):
        if tri[c] == i:
            return True
        for k in range(first[i], first[i + 1]):
            if other[k] == tri[c]:
                return True
    return False


@twin
def _near(write, x, points, point_body, triangles, tri_body, meets, boxes, first, entries, cell, mask,
          links, linked, piece, counts, starts, found):  # fmt: skip
    """Candidates of the surface particles: counted, or written from ``starts`` on."""
    for p in prange(points.shape[0]):
        i = points[p]
        mine = point_body[p]
        s = _slot(
            int(np.floor(x[i, 0] / cell)), int(np.floor(x[i, 1] / cell)), int(np.floor(x[i, 2] / cell)), mask
        )
        n = 0
        last = -1
        for e in range(first[s], first[s + 1]):
            t = entries[e]
            if t == last or not meets[mine, tri_body[t]]:
                continue
            if tri_body[t] == mine and piece[triangles[t, 0]] == piece[i]:
                continue
            box = boxes[t]
            if x[i, 0] < box[0] or x[i, 0] > box[3] or x[i, 1] < box[1] or x[i, 1] > box[4]:
                continue
            if x[i, 2] < box[2] or x[i, 2] > box[5]:
                continue
            if tri_body[t] == mine and _connected(i, triangles[t], links, linked):
                continue
            last = t
            if write:
                found[starts[p] + n] = t
            n += 1
        counts[p] = n


@jit
def _pairs(starts, found, tri_body, point_index):
    """Candidates grouped by other body: (particle, body, begin, end) rows; triangles are sorted by body."""
    rows = np.empty((found.shape[0], 4), np.int64)
    n = 0
    for p in range(point_index.shape[0]):
        k = starts[p]
        while k < starts[p + 1]:
            body = tri_body[found[k]]
            end = k
            while end < starts[p + 1] and tri_body[found[end]] == body:
                end += 1
            rows[n, 0] = point_index[p]
            rows[n, 1] = body
            rows[n, 2] = k
            rows[n, 3] = end
            n += 1
            k = end
    return rows[:n].copy()


def candidates(s: ContactSurfaces, meets: BoolArray, reach: Array, x: Array) -> tuple[IntArray, IntArray]:
    """Pairs (particle, other body, begin, end) and the triangles that they may touch, (begin, end) in them.

    reach (b,): how far from its triangles a body may touch anything [m]; meets (b, b).
    """
    extent = np.ptp(x[s.triangles], axis=1).max(axis=1)
    cell = float(extent.mean() + 2.0 * reach.max()) or 1.0
    mask = (1 << int(np.ceil(np.log2(2 * len(s.triangles) + 2)))) - 1
    boxes, first, entries = _enter(x, s.triangles, s.triangle_body, reach, cell, mask)
    run = _near[len(s.points) >= SERIAL_ROWS]
    counts = np.zeros(len(s.points), np.int64)
    starts, nothing = np.zeros(1, np.int64), np.zeros(1, np.int64)
    common = (
        x, s.points, s.point_body, s.triangles, s.triangle_body, meets, boxes, first, entries, cell, mask,
        s.first, s.other, s.piece,
    )  # fmt: skip
    run(False, *common, counts, starts, nothing)
    starts = np.concatenate([[0], np.cumsum(counts)])
    found = np.empty(int(starts[-1]), np.int64)
    run(True, *common, counts, starts, found)
    return _pairs(starts, found, s.triangle_body, s.points), found
