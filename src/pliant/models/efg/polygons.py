"""Faces of cells as triangles."""

import numpy as np

from pliant.core.typing import Array, IntArray

STRAIGHT = 0.1  # sine: corners that turn less are on an edge


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
    found, own = [np.column_stack([corners[first[k]], corners[k], corners[k + 1]])], [of[k]]
    for f in np.flatnonzero(crooked).tolist():
        ears = _ears(points, corners[starts[f] : starts[f + 1]].tolist())
        found.append(np.array(ears, np.int64).reshape(-1, 3))
        own.append(np.full(len(ears), f))
    triangles, face = np.concatenate(found), np.concatenate(own)
    order = np.argsort(face, kind="stable")
    return triangles[order], face[order]


def _ears(points: Array, loop: list[int]) -> list[tuple[int, int, int]]:
    """Cut off corner after corner, each time the one that leaves the fattest triangles and turns."""
    out = []
    while len(loop) > 3:
        p = points[loop]
        before, after = np.roll(p, 1, axis=0), np.roll(p, -1, axis=0)
        across = after - before
        own = np.cross(p - before, after - p)
        first, second = (
            np.cross(before - np.roll(p, 2, axis=0), across),
            np.cross(across, np.roll(p, -2, axis=0) - after),
        )
        least = np.min([np.linalg.norm(each, axis=1) for each in (own, first, second)], axis=0)
        k = int(np.argmax(least))
        out.append((loop[k - 1], loop[k], loop[(k + 1) % len(loop)]))
        loop = loop[:k] + loop[k + 1 :]
    return [*out, (loop[0], loop[1], loop[2])]
