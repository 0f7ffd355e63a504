"""The law of one touching pair, compiled: what presses, what holds sideways.

n points from the nearest point y of the other body to the particle;
``depth = r_i + r_body - allowed - |x - y|``.
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
    PRESSED,
    REACH,
    STIFFNESS,
)
from pliant.kernels.jit import jit

SIDEWAYS = 0.5  # stiffness of the stick spring over that of the contact
SIDEWAYS_DAMPING = 0.5  # of critical


@jit
def relative(i, tri, w, v, out):
    for c in range(3):
        out[c] = v[i, c] - w[0] * v[tri[0], c] - w[1] * v[tri[1], c] - w[2] * v[tri[2], c]


@jit
def reduced_mass(i, tri, w, mass, inverse_mass):
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
def normal_force(p, g, law, history, m, u):
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
def sideways(p, g, law, history, m, u, most, out):
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
def grip(p, i, tri, g, law, history, rough, normal):
    """The most that friction holds: against what presses, and what sticks presses as hard as it holds."""
    held = law[ADHESION] if history[p, ACTIVE] == PRESSED else 0.0
    return _friction(i, tri, g, law, rough) * max(0.0, normal + held)
