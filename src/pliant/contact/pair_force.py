"""The law of one touching pair, compiled: normal and tangential force.

n points from the nearest point y of the other body to the nearest point x of the own one;
``depth = r_own + r_other - allowed - (x - y) n``.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.contact.pair_layout import (
    ACTIVE,
    ADHESION,
    ALLOWED,
    DAMPING,
    DISTANCE,
    FRICTION,
    LEVER,
    PRESSED,
    SLIPPERY,
    STIFFNESS,
    UNIT,
)
from pliant.kernels.jit import jit

TANGENTIAL = 0.5  # stiffness of the friction spring over that of the contact
TANGENTIAL_DAMPING = 0.5  # of critical, at most


@jit
def contact_velocity(vertices, g, v, spin, out):
    """Relative velocity at the contact point, which both sides reach with the rotation around their
    vertices: ``sum w v + omega_own x (c - x) - omega_other x (c - y)``."""
    a0, a1, a2, b0, b1, b2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    out[0], out[1], out[2] = 0.0, 0.0, 0.0
    for k in range(4):
        w, i = g[k], vertices[k]
        for c in range(3):
            out[c] += w * v[i, c]
        if w > 0.0:
            a0 += w * spin[i, 0]
            a1 += w * spin[i, 1]
            a2 += w * spin[i, 2]
        elif w < 0.0:
            b0 += w * spin[i, 0]
            b1 += w * spin[i, 1]
            b2 += w * spin[i, 2]
    own, other = g[LEVER] - g[DISTANCE], g[LEVER]
    s0, s1, s2 = own * a0 + other * b0, own * a1 + other * b1, own * a2 + other * b2
    n0, n1, n2 = g[UNIT], g[UNIT + 1], g[UNIT + 2]
    out[0] += s1 * n2 - s2 * n1
    out[1] += s2 * n0 - s0 * n2
    out[2] += s0 * n1 - s1 * n0


@jit
def reduced_mass(vertices, g, inverse_mass, mass):
    """``1 / sum w^2 / m`` over the vertices that take part; held ones do not yield."""
    total = 0.0
    for k in range(4):
        total += g[k] * g[k] * inverse_mass[vertices[k]]
    return 1.0 / total if total > 0.0 else mass[vertices[0]]


@jit
def friction_of(vertices, g, law, rough):
    """Friction of a pair: that of its bodies, times what its vertices differ from them."""
    if g[SLIPPERY] > 0.0:
        return 0.0
    own, other = 0.0, 0.0
    for k in range(4):
        if g[k] > 0.0:
            own += g[k] * rough[vertices[k]]
        else:
            other -= g[k] * rough[vertices[k]]
    return law[FRICTION] * own * other


@jit
def sticks(depth, law, history):
    """Whether a pair that was pressed holds together at a negative depth."""
    return law[ADHESION] > 0.0 and history[ACTIVE] == PRESSED and -law[STIFFNESS] * depth <= law[ADHESION]


@jit
def normal_force(depth, g, law, history, m, u):
    """Normal force of a pair (0: none) for relative velocity u; it never pulls, unless it sticks."""
    k = law[STIFFNESS]
    held = sticks(depth, law, history)
    if depth <= 0.0 and not held:
        return 0.0
    approach = u[0] * g[UNIT] + u[1] * g[UNIT + 1] + u[2] * g[UNIT + 2]
    force = k * depth - 2.0 * law[DAMPING] * np.sqrt(k * m) * approach
    return max(-law[ADHESION], force) if held else max(0.0, force)


@jit
def tangential_damping(law, m):
    """Coefficient of the damper beside the friction spring [N s/m]."""
    return 2.0 * TANGENTIAL_DAMPING * np.sqrt(TANGENTIAL * law[STIFFNESS] * m)


@jit
def tangential_force(g, law, history, damping, u, most, out):
    """Force of the friction spring and its damper, at most ``most``."""
    k = TANGENTIAL * law[STIFFNESS]
    along = u[0] * g[UNIT] + u[1] * g[UNIT + 1] + u[2] * g[UNIT + 2]
    square = 0.0
    for c in range(3):
        out[c] = -k * history[c] - damping * (u[c] - along * g[UNIT + c])
        square += out[c] * out[c]
    if square > most * most:
        scale = most / np.sqrt(square)
        for c in range(3):
            out[c] *= scale


@jit
def friction_bound(vertices, g, law, history, rough, normal):
    """The largest friction force: against what presses, and what sticks presses as hard as it holds."""
    held = law[ADHESION] if history[ACTIVE] == PRESSED else 0.0
    return friction_of(vertices, g, law, rough) * max(0.0, normal + held)


@jit
def pair_energy(depth, law, history):
    """Energy of the contact spring and the friction spring [J]."""
    energy = 0.0
    if depth > 0.0 or sticks(depth, law, history):
        energy = 0.5 * law[STIFFNESS] * depth * depth
    stretch = history[0] * history[0] + history[1] * history[1] + history[2] * history[2]
    return energy + 0.5 * TANGENTIAL * law[STIFFNESS] * stretch


@jit
def depth_of(g, history, reach):
    return reach - history[ALLOWED] - g[DISTANCE]
