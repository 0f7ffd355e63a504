"""Vertices of contact surfaces, compiled: positions, rotation of their surroundings, forces on the particles.

Particles have no rotation of their own. That around a vertex is the least-squares fit to the particles j
around it, :math:`\\omega = M^{-1} \\sum D_j \\times \\Delta v_j` with
:math:`M = \\sum |D_j|^2 1 - D_j D_j^T` and :math:`D_j = x_j - x`. A torque T on a vertex becomes the forces
:math:`A \\times D_j`, :math:`A = M^{-1} T`, whose sum is taken from the vertex: the transpose, so that linear
and angular momentum are kept.
"""

# mypy: disable-error-code="no-untyped-def"

from pliant.contact.pair_layout import DISTANCE, LEVER, SLIPPERY
from pliant.kernels.jit import jit

FLAT = 1e-6  # det M below this times (tr M / 3)^3: particles on a line, which tell no rotation


@jit
def vertex_positions(first, rows, weights, x, before, out):
    """Positions of all vertices into ``out``; returns the square of their largest move from ``before``, apart
    from a move that all have in common."""
    count = out.shape[0]
    m0, m1, m2 = 0.0, 0.0, 0.0
    for i in range(count):
        a, b = first[i], first[i + 1]
        x0, x1, x2 = 0.0, 0.0, 0.0
        for e in range(a, b):
            w, j = weights[e], rows[e]
            x0 += w * x[j, 0]
            x1 += w * x[j, 1]
            x2 += w * x[j, 2]
        out[i, 0], out[i, 1], out[i, 2] = x0, x1, x2
        m0 += x0 - before[i, 0]
        m1 += x1 - before[i, 1]
        m2 += x2 - before[i, 2]
    m0, m1, m2 = m0 / count, m1 / count, m2 / count
    most = 0.0
    for i in range(count):
        d0, d1, d2 = (
            out[i, 0] - before[i, 0] - m0,
            out[i, 1] - before[i, 1] - m1,
            out[i, 2] - before[i, 2] - m2,
        )
        most = max(most, d0 * d0 + d1 * d1 + d2 * d2)
    return most


@jit
def touching_vertices(touched, stencil, geometry, marks, out):
    """Vertices with a weight in any touching pair, ascending, into ``out``; returns how many."""
    for p in range(touched.shape[0]):
        if touched[p] >= 0:
            for k in range(4):
                if geometry[p, k] != 0.0:
                    marks[stencil[p, k]] = True
    n = 0
    for i in range(marks.shape[0]):
        if marks[i]:
            marks[i] = False
            out[n] = i
            n += 1
    return n


@jit
def rotation_inverses(active, first, rows, x, vertices, out):
    """``M^-1`` of the ``active`` vertices, as (xx, xy, xz, yy, yz, zz); zero where there is none."""
    for a in range(active.shape[0]):
        i = active[a]
        xx, xy, xz, yy, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for e in range(first[i], first[i + 1]):
            j = rows[e]
            d0, d1, d2 = x[j, 0] - vertices[i, 0], x[j, 1] - vertices[i, 1], x[j, 2] - vertices[i, 2]
            xx += d1 * d1 + d2 * d2
            yy += d0 * d0 + d2 * d2
            zz += d0 * d0 + d1 * d1
            xy -= d0 * d1
            xz -= d0 * d2
            yz -= d1 * d2
        c0, c1, c2 = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
        det = xx * c0 + xy * c1 + xz * c2
        mean = (xx + yy + zz) / 3.0
        if det <= FLAT * mean * mean * mean:
            for c in range(6):
                out[i, c] = 0.0
            continue
        out[i, 0], out[i, 1], out[i, 2] = c0 / det, c1 / det, c2 / det
        out[i, 3], out[i, 4] = (xx * zz - xz * xz) / det, (xy * xz - xx * yz) / det
        out[i, 5] = (xx * yy - xy * xy) / det


@jit
def contact_levers(touched, stencil, geometry, inverses):
    """Lone particles, and rows of them, cannot take a torque: the contact point is theirs where the other
    side can, and there is no friction where it cannot either."""
    for p in range(touched.shape[0]):
        if touched[p] < 0:
            continue
        g = geometry[p]
        own, other = False, False
        for k in range(4):
            lone = inverses[stencil[p, k], 0] == 0.0
            own |= g[k] > 0.0 and lone
            other |= g[k] < 0.0 and lone
        g[SLIPPERY] = 1.0 if own and other else 0.0
        if own and not other:
            g[LEVER] = g[DISTANCE]
        elif other and not own:
            g[LEVER] = 0.0


@jit
def vertex_motion(
    active, first, rows, weights, spin_first, spin_rows, x, v, inverse_mass, mass, inverses, vertices,
    velocity, spin, yielding,
):  # fmt: skip
    """Velocity, rotation and inverse mass (0: held) of the ``active`` vertices."""
    for a in range(active.shape[0]):
        i = active[a]
        free = False
        for c in range(3):
            total = 0.0
            for e in range(first[i], first[i + 1]):
                total += weights[e] * v[rows[e], c]
            velocity[i, c] = total
        for e in range(first[i], first[i + 1]):
            free |= inverse_mass[rows[e], 0] > 0.0
        yielding[i] = 1.0 / mass[i] if free else 0.0
        t0, t1, t2 = 0.0, 0.0, 0.0
        if inverses[i, 0] != 0.0:
            for e in range(spin_first[i], spin_first[i + 1]):
                j = spin_rows[e]
                d0, d1, d2 = x[j, 0] - vertices[i, 0], x[j, 1] - vertices[i, 1], x[j, 2] - vertices[i, 2]
                u0, u1, u2 = v[j, 0] - velocity[i, 0], v[j, 1] - velocity[i, 1], v[j, 2] - velocity[i, 2]
                t0 += d1 * u2 - d2 * u1
                t1 += d2 * u0 - d0 * u2
                t2 += d0 * u1 - d1 * u0
        m = inverses[i]
        spin[i, 0] = m[0] * t0 + m[1] * t1 + m[2] * t2
        spin[i, 1] = m[1] * t0 + m[3] * t1 + m[4] * t2
        spin[i, 2] = m[2] * t0 + m[4] * t1 + m[5] * t2


@jit
def add_to_particles(
    active, first, rows, weights, spin_first, spin_rows, x, inverses, vertices, force, torque, out
):
    """Add forces and torques on the ``active`` vertices to the particles; sets both to zero."""
    for a in range(active.shape[0]):
        i = active[a]
        t0, t1, t2 = torque[i, 0], torque[i, 1], torque[i, 2]
        m = inverses[i]
        a0 = m[0] * t0 + m[1] * t1 + m[2] * t2
        a1 = m[1] * t0 + m[3] * t1 + m[4] * t2
        a2 = m[2] * t0 + m[4] * t1 + m[5] * t2
        if a0 != 0.0 or a1 != 0.0 or a2 != 0.0:
            for e in range(spin_first[i], spin_first[i + 1]):
                j = spin_rows[e]
                d0, d1, d2 = x[j, 0] - vertices[i, 0], x[j, 1] - vertices[i, 1], x[j, 2] - vertices[i, 2]
                f0, f1, f2 = a1 * d2 - a2 * d1, a2 * d0 - a0 * d2, a0 * d1 - a1 * d0
                out[j, 0] += f0
                out[j, 1] += f1
                out[j, 2] += f2
                force[i, 0] -= f0
                force[i, 1] -= f1
                force[i, 2] -= f2
        for c in range(3):
            for e in range(first[i], first[i + 1]):
                out[rows[e], c] += weights[e] * force[i, c]
            force[i, c] = 0.0
            torque[i, c] = 0.0
