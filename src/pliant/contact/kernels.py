"""Narrow phase and forces of contact, compiled.

A pair is a surface particle i and another body; it touches the nearest point of that body's triangles,
``y = sum w_c x_c``; n points from y to the particle; ``depth = r_i + r_body - allowed - |x - y|``.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.compiled import SERIAL_ROWS, jit, parallel_jit, prange
from pliant.typing import Array, BoolArray, IntArray

PARTS = 64
# columns of a pair's history
XI, NORMAL, ALLOWED, ACTIVE = 0, 3, 6, 7
HISTORY = 8
# columns of a pair's geometry: weights of the corners, unit normal, signed distance
WEIGHT, UNIT, DISTANCE = 0, 3, 6
GEOMETRY = 7
# columns of a pair of bodies
STIFFNESS, DAMPING, FRICTION, REACH, ADHESION = 0, 1, 2, 3, 4
LAW = 5
TOUCHED, PRESSED = 1.0, 2.0  # of a pair's ACTIVE: near enough; pressed at least once, so that it may stick
SPARE = 1.3  # how far beyond contact the nearest triangle is looked for [reach]
SIDEWAYS = 0.5  # stiffness of the stick spring over that of the contact
SIDEWAYS_DAMPING = 0.5  # of critical


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
def _search(a, b, x, pairs, found, triangles, oriented, limit, history, touched, geometry, moved, slack):
    """Nearest triangles of the pairs a..b: ``touched`` (the triangle, or -1) and ``geometry``.

    The side is the one that the pair had; at first contact with a closed surface, the outer one. Particles
    without a surface are balls, which have one side only.
    moved [m]: how far any point is from where candidates were looked for; slack (p,): a pair that was too far
    apart to touch is left alone until ``moved`` is this large.
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
        for k in range(pairs[p, 2], pairs[p, 3]):
            square = nearest_on_triangle(x[i, 0], x[i, 1], x[i, 2], x, triangles[found[k]], w)
            if square < best:
                best = square
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


@jit
def _search_serial(x, pairs, found, triangles, oriented, limit, history, touched, geometry, moved, slack):
    n = pairs.shape[0]
    _search(0, n, x, pairs, found, triangles, oriented, limit, history, touched, geometry, moved, slack)


@parallel_jit
def _search_parallel(x, pairs, found, triangles, oriented, limit, history, touched, geometry, moved, slack):
    n = pairs.shape[0]
    for c in prange(PARTS):
        _search(c * n // PARTS, (c + 1) * n // PARTS, x, pairs, found, triangles, oriented, limit, history,
                touched, geometry, moved, slack)  # fmt: skip


def search(
    x: Array, pairs: IntArray, found: IntArray, triangles: IntArray, oriented: BoolArray, limit: Array,
    history: Array, touched: IntArray, geometry: Array, moved: float, slack: Array,
) -> None:  # fmt: skip
    """Fill ``touched`` and ``geometry`` of all pairs at positions ``x``."""
    run = _search_parallel if len(pairs) >= SERIAL_ROWS // 4 else _search_serial
    run(x, pairs, found, triangles, oriented, limit, history, touched, geometry, moved, slack)


@jit
def _relative(i, tri, w, v, out):
    for c in range(3):
        out[c] = v[i, c] - w[0] * v[tri[0], c] - w[1] * v[tri[1], c] - w[2] * v[tri[2], c]


@jit
def _reduced_mass(i, tri, w, mass, inverse_mass):
    """``1 / sum w^2 / m`` over the particles that take part; held ones do not yield."""
    total = 0.0
    if inverse_mass[i, 0] > 0.0:
        total = 1.0 / mass[i]
    for c in range(3):
        if inverse_mass[tri[c], 0] > 0.0:
            total += w[c] * w[c] / mass[tri[c]]
    return 1.0 / total if total > 0.0 else mass[i]


@jit
def _friction(i, tri, w, law, rough):
    """Friction of a pair: that of its bodies, times what its particles differ from them."""
    return law[FRICTION] * rough[i] * (w[0] * rough[tri[0]] + w[1] * rough[tri[1]] + w[2] * rough[tri[2]])


@jit
def _normal(p, g, law, history, m, u):
    """Normal force of a pair (0: none) for relative velocity u; it never pulls, unless it sticks."""
    depth = law[REACH] - history[p, ALLOWED] - g[DISTANCE]
    k = law[STIFFNESS]
    sticks = law[ADHESION] > 0.0 and history[p, ACTIVE] == PRESSED and -k * depth <= law[ADHESION]
    if depth <= 0.0 and not sticks:
        return 0.0
    approach = u[0] * g[3] + u[1] * g[4] + u[2] * g[5]
    force = k * depth - 2.0 * law[DAMPING] * np.sqrt(k * m) * approach
    return max(-law[ADHESION], force) if sticks else max(0.0, force)


@jit
def _sideways(p, g, law, history, m, u, most, out):
    """Force of the stick spring and its damper, at most ``most``."""
    k = SIDEWAYS * law[STIFFNESS]
    damping = 2.0 * SIDEWAYS_DAMPING * np.sqrt(k * m)
    along = u[0] * g[3] + u[1] * g[4] + u[2] * g[5]
    square = 0.0
    for c in range(3):
        out[c] = -k * history[p, c] - damping * (u[c] - along * g[3 + c])
        square += out[c] * out[c]
    if square > most * most:
        scale = most / np.sqrt(square)
        for c in range(3):
            out[c] *= scale


@jit
def _grip(p, i, tri, g, law, history, rough, normal):
    """The most that friction holds: against what presses, and what sticks presses as hard as it holds."""
    held = law[ADHESION] if history[p, ACTIVE] == PRESSED else 0.0
    return _friction(i, tri, g, law, rough) * max(0.0, normal + held)


@jit
def advance(dt, v, mass, inverse_mass, rough, pairs, own_body, triangles, touched, geometry, laws, history):
    """Bring the history up to the present: stick springs turn with the normal, stretch with the slip and
    are cut to what friction can hold; pairs that came apart forget."""
    u = np.empty(3)
    for p in range(pairs.shape[0]):
        t = touched[p]
        g = geometry[p]
        law = laws[own_body[p], pairs[p, 1]]
        if t < 0:
            if history[p, ACTIVE] > 0.0:
                for c in range(HISTORY):
                    history[p, c] = 0.0
            continue
        i, tri = pairs[p, 0], triangles[t]
        _relative(i, tri, g, v, u)
        m = _reduced_mass(i, tri, g, mass, inverse_mass)
        normal = _normal(p, g, law, history, m, u)
        along = u[0] * g[3] + u[1] * g[4] + u[2] * g[5]
        out = history[p, 0] * g[3] + history[p, 1] * g[4] + history[p, 2] * g[5]
        square = 0.0
        for c in range(3):
            history[p, c] += dt * (u[c] - along * g[3 + c]) - out * g[3 + c]
            square += history[p, c] * history[p, c]
            history[p, 3 + c] = g[3 + c]
        depth = law[REACH] - history[p, ALLOWED] - g[DISTANCE]
        if depth > 0.0:
            history[p, ACTIVE] = PRESSED
        elif history[p, ACTIVE] != PRESSED or -law[STIFFNESS] * depth > law[ADHESION]:
            history[p, ACTIVE] = TOUCHED
        most = _grip(p, i, tri, g, law, history, rough, normal) / (SIDEWAYS * law[STIFFNESS])
        if square > most * most:
            scale = most / np.sqrt(square)
            for c in range(3):
                history[p, c] *= scale


@jit
def add_forces(
    x, v, mass, inverse_mass, rough, pairs, own_body, triangles, touched, geometry, laws, history, forces, out
):
    """Forces of all pairs into ``forces`` (on the particle) and ``out``, in the order of the pairs."""
    u = np.empty(3)
    side = np.empty(3)
    for p in range(pairs.shape[0]):
        t = touched[p]
        for c in range(3):
            forces[p, c] = 0.0
        if t < 0:
            continue
        i, tri, g = pairs[p, 0], triangles[t], geometry[p]
        law = laws[own_body[p], pairs[p, 1]]
        _relative(i, tri, g, v, u)
        m = _reduced_mass(i, tri, g, mass, inverse_mass)
        normal = _normal(p, g, law, history, m, u)
        most = _grip(p, i, tri, g, law, history, rough, normal)
        if normal == 0.0 and most == 0.0:
            continue
        _sideways(p, g, law, history, m, u, most, side)
        for c in range(3):
            f = normal * g[3 + c] + side[c]
            forces[p, c] = f
            out[i, c] += f
            out[tri[0], c] -= g[0] * f
            out[tri[1], c] -= g[1] * f
            out[tri[2], c] -= g[2] * f


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


@jit
def power(v, pairs, triangles, touched, geometry, forces):
    """Rate of work of the contact forces on the bodies [W]."""
    u = np.empty(3)
    total = 0.0
    for p in range(pairs.shape[0]):
        if touched[p] >= 0:
            _relative(pairs[p, 0], triangles[touched[p]], geometry[p], v, u)
            for c in range(3):
                total += forces[p, c] * u[c]
    return total
