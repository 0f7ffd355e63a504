"""Nearest points of the pairs of contact, compiled.

A pair is a vertex and the nearest triangle of another body, or an edge and the nearest edge of another body.
Either has four vertices with signed weights: ``x - y = sum w_k x_k`` is the vector from the nearest point y
of the other body to the nearest point x of the own one.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.contact.pair_layout import ACTIVE, DISTANCE, FRESH, KEPT, LAST, LEVER, NORMAL, SIDED, UNIT
from pliant.kernels.jit import SERIAL_ROWS, jit, partition, partition_count, prange, twin

SPARE = 1.3  # how far beyond contact the nearest feature is looked for [limit]
SMALL = 1e-12  # weight of a corner below which the nearest point lies on the opposite edge


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
def nearest_on_edges(x, a, b, c, d, w):
    """Places w[0] on the segment a b and w[1] on c d, from 0 to 1, where they are nearest to each other;
    returns the squared distance. After Ericson (2005), 5.1.9."""
    px, py, pz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    qx, qy, qz = x[d, 0] - x[c, 0], x[d, 1] - x[c, 1], x[d, 2] - x[c, 2]
    rx, ry, rz = x[a, 0] - x[c, 0], x[a, 1] - x[c, 1], x[a, 2] - x[c, 2]
    pp = px * px + py * py + pz * pz
    qq = qx * qx + qy * qy + qz * qz
    pq = px * qx + py * qy + pz * qz
    pr = px * rx + py * ry + pz * rz
    qr = qx * rx + qy * ry + qz * rz
    area = pp * qq - pq * pq
    s = 0.0
    if area > 1e-12 * pp * qq:
        s = min(max((pq * qr - pr * qq) / area, 0.0), 1.0)
    t = (pq * s + qr) / qq
    if t < 0.0:
        t = 0.0
        s = min(max(-pr / pp, 0.0), 1.0)
    elif t > 1.0:
        t = 1.0
        s = min(max((pq - pr) / pp, 0.0), 1.0)
    w[0] = s
    w[1] = t
    ex, ey, ez = rx + s * px - t * qx, ry + s * py - t * qy, rz + s * pz - t * qz
    return ex * ex + ey * ey + ez * ez


@jit
def _add_normal(x, tri, factor, n):
    """Add ``factor`` times the unit normal of a triangle to n; nothing for one without an area."""
    a, b, c = tri[0], tri[1], tri[2]
    ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    size = np.sqrt(nx * nx + ny * ny + nz * nz)
    if size > 1e-300:
        n[0] += factor * nx / size
        n[1] += factor * ny / size
        n[2] += factor * nz / size


@jit
def _angle(x, tri, corner):
    """Angle of a triangle at one of its corners."""
    a, b, c = tri[corner], tri[(corner + 1) % 3], tri[(corner + 2) % 3]
    uu, vv, uv = 0.0, 0.0, 0.0
    for k in range(3):
        u, v = x[b, k] - x[a, k], x[c, k] - x[a, k]
        uu += u * u
        vv += v * v
        uv += u * v
    return np.arccos(min(1.0, max(-1.0, uv / np.sqrt(max(uu * vv, 1e-300)))))


@jit
def pseudo_normal(x, t, w, triangles, across, fan_first, fan, n):
    """Pseudo-normal at a point of triangle t with the weights w, into n: of the face, the sum of both at an
    edge, angle-weighted at a corner (Baerentzen and Aanaes, IEEE TVCG 11 (2005) 243)."""
    n[0], n[1], n[2] = 0.0, 0.0, 0.0
    tri = triangles[t]
    zeros = 0
    edge, corner = -1, -1
    for k in range(3):
        if w[k] < SMALL:
            zeros += 1
            edge = k
        else:
            corner = k
    if zeros == 2:
        i = tri[corner]
        for e in range(fan_first[i], fan_first[i + 1]):
            other, k = fan[e] // 3, fan[e] % 3
            _add_normal(x, triangles[other], _angle(x, triangles[other], k), n)
        return
    _add_normal(x, tri, 1.0, n)
    if zeros == 1 and across[t, edge] >= 0:
        _add_normal(x, triangles[across[t, edge]], 1.0, n)


@jit
def _direct(p, x, stencil, weights, square, sign, fallback, limit, history, geometry, own_radius,
            other_radius, own_ball, other_ball):  # fmt: skip
    """Unit normal, signed distance and lever of pair p; n is ``fallback`` where the distance is nothing."""
    distance = np.sqrt(square)
    g = geometry[p]
    if distance > 1e-9 * limit:
        for c in range(3):
            total = 0.0
            for k in range(4):
                total += weights[k] * x[stencil[k], c]
            g[UNIT + c] = sign * total / distance
    else:
        size = np.sqrt(fallback[0] ** 2 + fallback[1] ** 2 + fallback[2] ** 2)
        for c in range(3):
            if size > 1e-300:
                g[UNIT + c] = fallback[c] / size
            elif history[p, ACTIVE] > 0.0:
                g[UNIT + c] = history[p, NORMAL + c]
            else:
                g[UNIT + c] = 1.0 if c == 2 else 0.0
    g[DISTANCE] = sign * distance
    if own_ball:
        g[LEVER] = g[DISTANCE] - own_radius
    elif other_ball:
        g[LEVER] = other_radius
    else:
        g[LEVER] = g[DISTANCE] * other_radius / (own_radius + other_radius)


@jit
def _vertex_pairs(
    a, b, x, pairs, own, found, triangles, across, fan_first, fan, body_first, closed, piece, radius, ball,
    limit, history, touched, stencil, geometry, moved, slack, near, stride,
):  # fmt: skip
    """Nearest triangles of the pairs a..b: ``touched`` (the triangle, or -1), ``stencil`` and ``geometry``.

    The side is that of the pseudo-normal for surfaces that are closed and no part of the vertex's own piece;
    otherwise there is none, and the distance is positive. Faces of cracks that lay on each other when they
    came about keep the side that they had; at bodies that break, where pseudo-normals of both faces of an
    open crack are equally good, sides change only within ``stride`` [m] of the surface, what a step may
    bring. A vertex inside of a closed surface that was in contact stays so however deep it gets: where it is
    beyond the candidates, all of that body's triangles are looked at.

    moved [m]: how far any point is from where candidates were looked for; slack (p,): a pair that was too far
    apart to touch is left alone until ``moved`` is this large. near (f,): how far candidates were at least,
    when they were looked for [m]: those that cannot be nearest are passed over, which changes no result.
    """
    w = np.empty(3)
    best_w = np.empty(3)
    n = np.empty(3)
    weights = np.empty(4)
    for p in range(a, b):
        i, body = pairs[p, 0], pairs[p, 1]
        touched[p] = -1
        inside = history[p, ACTIVE] > 0.0 and history[p, LAST] < 0.0 and history[p, KEPT] != SIDED
        if moved < slack[p] and not inside:
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
                best_w[0], best_w[1], best_w[2] = w[0], w[1], w[2]
        distance = np.sqrt(best)
        beyond = touched[p] < 0 or distance >= limit[p]
        if beyond and inside and own[p] != body:
            best = np.inf
            for t in range(body_first[body], body_first[body + 1]):
                square = nearest_on_triangle(x[i, 0], x[i, 1], x[i, 2], x, triangles[t], w)
                if square < best:
                    best = square
                    touched[p] = t
                    best_w[0], best_w[1], best_w[2] = w[0], w[1], w[2]
            distance = np.sqrt(best)
            if touched[p] >= 0:
                pseudo_normal(x, touched[p], best_w, triangles, across, fan_first, fan, n)
                along = 0.0
                tri = triangles[touched[p]]
                for c in range(3):
                    y = best_w[0] * x[tri[0], c] + best_w[1] * x[tri[1], c] + best_w[2] * x[tri[2], c]
                    along += (x[i, c] - y) * n[c]
                beyond = along >= 0.0 and distance >= limit[p]
        if beyond:  # both may have come nearer by ``moved`` twice over
            slack[p] = 0.5 * (distance - limit[p]) * (1.0 - 1e-9) - moved
            touched[p] = -1
            continue
        slack[p] = -1.0
        t = touched[p]
        tri = triangles[t]
        stencil[p, 0] = i
        weights[0] = 1.0
        for c in range(3):
            stencil[p, 1 + c] = tri[c]
            weights[1 + c] = -best_w[c]
        along = 0.0
        sign = 1.0
        n[0], n[1], n[2] = 0.0, 0.0, 0.0
        single = tri[0] == tri[1]
        if history[p, KEPT] == SIDED:
            for c in range(3):
                n[c] = history[p, NORMAL + c]
        elif not single and (own[p] != body or piece[i] != piece[tri[0]]):
            pseudo_normal(x, t, best_w, triangles, across, fan_first, fan, n)
        if not single and (history[p, KEPT] == SIDED or closed[body]):
            for c in range(3):
                along += n[c] * (
                    x[i, c]
                    - best_w[0] * x[tri[0], c] - best_w[1] * x[tri[1], c] - best_w[2] * x[tri[2], c]
                )  # fmt: skip
            sign = -1.0 if along < 0.0 else 1.0
            if history[p, KEPT] == FRESH and abs(history[p, LAST]) > stride:
                sign = -1.0 if history[p, LAST] < 0.0 else 1.0
        for k in range(4):
            geometry[p, k] = weights[k]
        _direct(
            p, x, stencil[p], weights, best, sign, n, limit[p], history, geometry, radius[own[p]],
            radius[body], ball[own[p]], ball[body],
        )  # fmt: skip


@jit
def _edge_pairs(
    a, b, x, pairs, own, found, edges, sides, triangles, closed, piece, radius, limit, history, touched,
    stencil, geometry, moved, slack, near, stride, vertices,
):  # fmt: skip
    """Nearest edges of the pairs a..b, as ``_vertex_pairs``; ``pairs[:, 0]`` is ``vertices`` + the edge."""
    w = np.empty(2)
    best_w = np.empty(2)
    n = np.empty(3)
    weights = np.empty(4)
    for p in range(a, b):
        e, body = pairs[p, 0] - vertices, pairs[p, 1]
        touched[p] = -1
        if moved < slack[p]:
            continue
        far = SPARE * limit[p]
        best = far * far
        bound = far * (1.0 + 1e-9) + 2.0 * moved
        for k in range(pairs[p, 2], pairs[p, 3]):
            if near[k] > bound:
                continue
            f = found[k]
            square = nearest_on_edges(x, edges[e, 0], edges[e, 1], edges[f, 0], edges[f, 1], w)
            near[k] = np.sqrt(square) - 2.0 * moved
            if square < best:
                best = square
                bound = (near[k] + 2.0 * moved) * (1.0 + 1e-9) + 2.0 * moved
                touched[p] = f
                best_w[0], best_w[1] = w[0], w[1]
        distance = np.sqrt(best)
        if touched[p] < 0 or distance >= limit[p]:
            slack[p] = 0.5 * (distance - limit[p]) * (1.0 - 1e-9) - moved
            touched[p] = -1
            continue
        slack[p] = -1.0
        f = touched[p]
        s, t = best_w[0], best_w[1]
        stencil[p, 0], stencil[p, 1], stencil[p, 2], stencil[p, 3] = (
            edges[e, 0], edges[e, 1], edges[f, 0], edges[f, 1],
        )  # fmt: skip
        weights[0], weights[1], weights[2], weights[3] = 1.0 - s, s, t - 1.0, -t
        n[0], n[1], n[2] = 0.0, 0.0, 0.0
        sign = 1.0
        if closed[body] and (own[p] != body or piece[edges[e, 0]] != piece[edges[f, 0]]):
            for k in range(2):
                if sides[f, k] >= 0:
                    _add_normal(x, triangles[sides[f, k]], 1.0, n)
            along = 0.0
            for c in range(3):
                total = 0.0
                for k in range(4):
                    total += weights[k] * x[stencil[p, k], c]
                along += total * n[c]
            sign = -1.0 if along < 0.0 else 1.0
            if history[p, KEPT] == FRESH and abs(history[p, LAST]) > stride:
                sign = -1.0 if history[p, LAST] < 0.0 else 1.0
        for k in range(4):
            geometry[p, k] = weights[k]
        _direct(
            p, x, stencil[p], weights, best, sign, n, limit[p], history, geometry, radius[own[p]],
            radius[body], False, False,
        )  # fmt: skip


@twin
def _all_vertex_pairs(count, arrays):
    for p in prange(partition_count(count)):
        a, b = partition(p, count)
        _vertex_pairs(a, b, *arrays)


@twin
def _all_edge_pairs(start, count, arrays):
    for p in prange(partition_count(count)):
        a, b = partition(p, count)
        _edge_pairs(start + a, start + b, *arrays)


def search_vertices(count, arrays) -> None:
    """Fill ``touched``, ``stencil`` and ``geometry`` of the first ``count`` pairs, those of vertices."""
    if count:
        _all_vertex_pairs[count >= SERIAL_ROWS // 4](count, arrays)


def search_edges(start, count, arrays) -> None:
    """The same for ``count`` pairs of edges from ``start`` on."""
    if count:
        _all_edge_pairs[count >= SERIAL_ROWS // 4](start, count, arrays)
