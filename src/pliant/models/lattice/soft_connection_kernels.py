r"""Compiled loops over connections that soften: few, each with its own damage D.

With stiffness k and the stretch s = l - L, a connection stores :math:`\tfrac12 k (1 - D) s^2` where it is
stretched and :math:`\tfrac12 k s^2` where it is pressed.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit
from pliant.models.springs.kernels import TINY


@jit
def soft_forces(ends, length, stiffness, damage, x, out):
    """Add the forces of the connections ``ends`` (q, 2) to ``out``."""
    for c in range(ends.shape[0]):
        i, j = ends[c, 0], ends[c, 1]
        d0, d1, d2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        size = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2 + TINY)
        k = stiffness[c] * (1.0 - damage[c]) if size > length[c] else stiffness[c]
        s = k * (1.0 - length[c] / size)
        for a, d in ((0, d0), (1, d1), (2, d2)):
            out[i, a] += s * d
            out[j, a] -= s * d


@jit
def soft_damping(ends, length, stiffness, damage, beta, x, v, out):
    """Add forces of ``beta k`` times the rate of the lengths."""
    for c in range(ends.shape[0]):
        i, j = ends[c, 0], ends[c, 1]
        square, rate = TINY, 0.0
        for a in range(3):
            d = x[j, a] - x[i, a]
            square += d * d
            rate += d * (v[j, a] - v[i, a])
        k = stiffness[c] * (1.0 - damage[c]) if square > length[c] * length[c] else stiffness[c]
        s = beta * k * rate / square
        for a in range(3):
            d = x[j, a] - x[i, a]
            out[i, a] += s * d
            out[j, a] -= s * d


@jit
def soft_energies(ends, length, stiffness, damage, x):
    """Energies (q,) [J]."""
    out = np.empty(ends.shape[0])
    for c in range(ends.shape[0]):
        s = _length(ends[c], x) - length[c]
        k = stiffness[c] * (1.0 - damage[c]) if s > 0.0 else stiffness[c]
        out[c] = 0.5 * k * s * s
    return out


@jit
def _length(ends, x):
    i, j = ends[0], ends[1]
    return np.sqrt((x[j, 0] - x[i, 0]) ** 2 + (x[j, 1] - x[i, 1]) ** 2 + (x[j, 2] - x[i, 2]) ** 2 + TINY)


@jit
def soft_product(ends, length, stiffness, damage, x, dx, out):
    """Add ``K dx`` to ``out``, K as for whole connections."""
    for c in range(ends.shape[0]):
        i, j = ends[c, 0], ends[c, 1]
        square, along = TINY, 0.0
        for a in range(3):
            d = x[j, a] - x[i, a]
            square += d * d
            along += d * (dx[j, a] - dx[i, a])
        k = stiffness[c] * (1.0 - damage[c]) if square > length[c] * length[c] else stiffness[c]
        side = k * max(0.0, 1.0 - length[c] / np.sqrt(square))
        s = (k - side) * along / square
        for a in range(3):
            f = s * (x[j, a] - x[i, a]) + side * (dx[j, a] - dx[i, a])
            out[j, a] += f
            out[i, a] -= f


@jit
def soft_forces_between(ends, length, stiffness, damage, x0, x1, out):
    """Add the forces of a step from ``x0`` to ``x1``: they do the work that the energies differ by."""
    for c in range(ends.shape[0]):
        i, j = ends[c, 0], ends[c, 1]
        l0, l1 = _length(ends[c], x0), _length(ends[c], x1)
        s0, s1, k = l0 - length[c], l1 - length[c], stiffness[c]
        soft = k * (1.0 - damage[c])
        if s0 > 0.0 and s1 > 0.0:
            pull = 0.5 * soft * (s0 + s1)
        elif s0 <= 0.0 and s1 <= 0.0:
            pull = 0.5 * k * (s0 + s1)
        else:
            e0 = 0.5 * (soft if s0 > 0.0 else k) * s0 * s0
            e1 = 0.5 * (soft if s1 > 0.0 else k) * s1 * s1
            pull = (e1 - e0) / (s1 - s0)
        s = pull / (l0 + l1)
        for a in range(3):
            f = s * ((x0[j, a] - x0[i, a]) + (x1[j, a] - x1[i, a]))
            out[i, a] += f
            out[j, a] -= f


@jit
def soft_damage(ends, length, onset, end, opening, damage, x):
    """Let damage grow with the largest opening so far, ``m = max(m, s - e0)``:
    ``D = 1 - max(0, 1 - m / e_f) e0 / (e0 + m)``; returns how many changed."""
    changed = 0
    for c in range(ends.shape[0]):
        m = _length(ends[c], x) - length[c] - onset[c]
        if m > opening[c]:
            opening[c] = m
            new = 1.0 - max(0.0, 1.0 - m / end[c]) * onset[c] / (onset[c] + m)
            if new > damage[c]:
                damage[c] = new
                changed += 1
    return changed
