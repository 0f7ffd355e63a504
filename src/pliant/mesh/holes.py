"""Closing the holes of a surface with flat-ish lids."""

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.mesh.topology import Edges, rim_loops


def lids(points: Array, triangles: IntArray) -> list[IntArray]:
    """For every hole the triangles (k, 3) that close it, on the same points, wound like their neighbours."""
    loops = rim_loops(Edges(triangles, len(points)).open_half)
    return [lid(points, loop[::-1]) for loop in loops if len(loop) > 2]


def lid(points: Array, loop: IntArray) -> IntArray:
    """A closed loop of vertices (k,) as k - 2 triangles.

    Ears are clipped off in the loop's mean plane (the normal is the sum of the cross products of
    successive corners), the ear with the widest smallest angle first; a loop that crosses itself there
    still closes, with overlapping triangles.
    """
    x = points[loop] - points[loop].mean(axis=0)
    normal = np.cross(x, np.roll(x, -1, axis=0)).sum(axis=0)
    flat = _projected(x, normal)
    left = list(range(len(loop)))
    score = {k: _ear(flat, left, i) for i, k in enumerate(left)}
    out = []
    while len(left) > 3:
        i = max(range(len(left)), key=lambda i: score[left[i]])
        n = len(left)
        out.append([left[i - 1], left[i], left[(i + 1) % n]])
        neighbours = left[i - 1], left[(i + 1) % n]
        left.pop(i)
        for k in neighbours:
            score[k] = _ear(flat, left, left.index(k))
    out.append(left)
    return np.asarray(loop[np.array(out)])


def _projected(x: Array, normal: Array) -> Array:
    """Coordinates (k, 2) in the plane across ``normal``, counter-clockwise seen from its tip."""
    axis = np.zeros(3)
    axis[np.argmin(np.abs(normal))] = 1.0
    u = np.cross(normal, axis)
    v = np.cross(normal, u)
    basis = np.stack([u, v], axis=1)
    length = np.linalg.norm(basis, axis=0)
    return np.asarray(x @ (basis / np.where(length > 0, length, 1.0)))


def _ear(flat: Array, left: list[int], i: int) -> float:
    """Sine of the smallest angle of the ear at place i; below 0 when it is reflex or holds another corner."""
    n = len(left)
    a, b, c = flat[left[i - 1]], flat[left[i]], flat[left[(i + 1) % n]]
    u, v, w = b - a, c - b, a - c
    area = u[0] * v[1] - u[1] * v[0]
    sides = np.sort(np.linalg.norm([u, v, w], axis=1))
    if sides[1] == 0:
        return -1.0
    sine = float(area / (sides[1] * sides[2]))
    if area <= 0:
        return sine - 1.0
    others = flat[[k for k in left if k not in (left[i - 1], left[i], left[(i + 1) % n])]]
    return sine - 1.0 if _within(others, a, b, c).any() else sine


def _within(p: Array, a: Array, b: Array, c: Array) -> BoolArray:
    """Which of p (k, 2) lie in the counter-clockwise triangle abc, its edges included but not its corners."""
    inside = np.ones(len(p), dtype=bool)
    for s, t in ((a, b), (b, c), (c, a)):
        inside &= (t[0] - s[0]) * (p[:, 1] - s[1]) - (t[1] - s[1]) * (p[:, 0] - s[0]) >= 0
        inside &= ~(p == s).all(axis=1)
    return inside
