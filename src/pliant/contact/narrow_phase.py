"""Nearest triangles of the pairs of contact, compiled.

A pair is a surface particle i and another body; it touches the nearest point of that body's triangles.
"""

# mypy: disable-error-code="no-untyped-def"

from typing import Any

import numpy as np

from pliant.contact.pair_layout import ACTIVE, DISTANCE
from pliant.kernels.jit import SERIAL_ROWS, jit, partition, partition_count, prange, twin

SPARE = 1.3  # how far beyond contact the nearest triangle is looked for [reach]


@jit
def nearest_on_triangle(px, py, pz, x, tri, w):
    """Weights w (3,) of the corners at the nearest point of a triangle (a segment, a point) to p; returns the
    squared distance. After Ericson, Real-Time Collision Detection (2005), 5.1.5."""
    a, b, c = tri[0], tri[1], tri[2]
    abx, aby, abz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    acx, acy, acz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    apx, apy, apz = px - x[a, 0], py - x[a, 1], pz - x[a, 2]
    d1 = abx * apx + aby * apy + abz * apz
    d2 = acx * apx + acy * apy + acz * apz
    v = 0.0
    u = 0.0
    if not (d1 <= 0.0 and d2 <= 0.0):
        bpx, bpy, bpz = px - x[b, 0], py - x[b, 1], pz - x[b, 2]
        d3 = abx * bpx + aby * bpy + abz * bpz
        d4 = acx * bpx + acy * bpy + acz * bpz
        cpx, cpy, cpz = px - x[c, 0], py - x[c, 1], pz - x[c, 2]
        d5 = abx * cpx + aby * cpy + abz * cpz
        d6 = acx * cpx + acy * cpy + acz * cpz
        vc = d1 * d4 - d3 * d2
        vb = d5 * d2 - d1 * d6
        va = d3 * d6 - d5 * d4
        if d3 >= 0.0 and d4 <= d3:
            v = 1.0
        elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
            v = d1 / (d1 - d3)
        elif d6 >= 0.0 and d5 <= d6:
            u = 1.0
        elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
            u = d2 / (d2 - d6)
        elif va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
            u = (d4 - d3) / ((d4 - d3) + (d5 - d6))
            v = 1.0 - u
        else:
            total = va + vb + vc
            v = vb / total
            u = vc / total
    w[0] = 1.0 - v - u
    w[1] = v
    w[2] = u
    ex = apx - v * abx - u * acx
    ey = apy - v * aby - u * acy
    ez = apz - v * abz - u * acz
    return ex * ex + ey * ey + ez * ez


@jit
def _outward(x, tri, n):
    """The triangle's unit normal into n; False for one without an area."""
    a, b, c = tri[0], tri[1], tri[2]
    ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    n[0], n[1], n[2] = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    size = np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
    if size <= 1e-300:
        return False
    for k in range(3):
        n[k] /= size
    return True


@jit
def _search(
    a, b, x, pairs, found, triangles, oriented, limit, history, touched, geometry, moved, slack, near
):
    """Nearest triangles of the pairs a..b: ``touched`` (the triangle, or -1) and ``geometry``.

    The side is the one that the pair had; at first contact with a closed surface, the outer one. Particles
    without a surface are balls, which have one side only.
    moved [m]: how far any point is from where candidates were looked for; slack (p,): a pair that was too far
    apart to touch is left alone until ``moved`` is this large. near (f,): how far candidates were at least,
    when they were looked for [m]: those that cannot be nearest are passed over, which changes no result.
    """
    w = np.empty(3)
    n = np.empty(3)
    for p in range(a, b):
        i, body = pairs[p, 0], pairs[p, 1]
        touched[p] = -1
        if moved < slack[p]:
            continue
        far = SPARE * limit[p]
        best = far * far
        bound = far * (1.0 + 1e-9) + 2.0 * moved
        for k in range(pairs[p, 2], pairs[p, 3]):
            if near[k] > bound:
                continue
            square = nearest_on_triangle(x[i, 0], x[i, 1], x[i, 2], x, triangles[found[k]], w)
            near[k] = np.sqrt(square) - 2.0 * moved
            if square < best:
                best = square
                bound = (near[k] + 2.0 * moved) * (1.0 + 1e-9) + 2.0 * moved
                touched[p] = found[k]
                geometry[p, 0], geometry[p, 1], geometry[p, 2] = w[0], w[1], w[2]
        distance = np.sqrt(best)
        if touched[p] < 0 or distance >= limit[p]:  # both may have come nearer by ``moved`` twice over
            slack[p] = 0.5 * (distance - limit[p]) * (1.0 - 1e-9) - moved
            touched[p] = -1
            continue
        slack[p] = -1.0
        tri = triangles[touched[p]]
        for c in range(3):
            n[c] = x[i, c] - (
                geometry[p, 0] * x[tri[0], c] + geometry[p, 1] * x[tri[1], c] + geometry[p, 2] * x[tri[2], c]
            )
        sign = 1.0
        if tri[0] == tri[1]:
            sign = 1.0
        elif history[p, ACTIVE] > 0.0:
            along = n[0] * history[p, 3] + n[1] * history[p, 4] + n[2] * history[p, 5]
            sign = -1.0 if along < 0.0 else 1.0
        elif oriented[body]:
            away = np.empty(3)
            if _outward(x, tri, away) and n[0] * away[0] + n[1] * away[1] + n[2] * away[2] < 0.0:
                sign = -1.0
        if distance > 1e-9 * limit[p]:
            for c in range(3):
                n[c] *= sign / distance
        elif history[p, ACTIVE] > 0.0:
            for c in range(3):
                n[c] = history[p, 3 + c]
        elif not _outward(x, tri, n):
            n[0], n[1], n[2] = 0.0, 0.0, 1.0
        geometry[p, 3], geometry[p, 4], geometry[p, 5] = n[0], n[1], n[2]
        geometry[p, DISTANCE] = sign * distance


@twin
def _search_all(count, arrays):
    for p in prange(partition_count(count)):
        a, b = partition(p, count)
        _search(a, b, *arrays)


def search(count: int, arrays: tuple[Any, ...]) -> None:
    """Fill ``touched`` and ``geometry`` of all ``count`` pairs; ``arrays`` as ``_search`` takes them."""
    _search_all[count >= SERIAL_ROWS // 4](count, arrays)


@jit
def farthest_move(x, before, points):
    """Square of the largest distance that any of ``points`` has moved from ``before`` (p, 3)."""
    most = 0.0
    for p in range(points.shape[0]):
        i = points[p]
        square = 0.0
        for c in range(3):
            square += (x[i, c] - before[p, c]) ** 2
        most = max(most, square)
    return most
