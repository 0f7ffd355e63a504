"""Loops over the pairs of contact, compiled: their history, their forces, their power.

``arrays`` are those that both loops share: v, mass, inverse mass, roughness, pairs, the body of each pair's
particle, triangles, touched, geometry, laws, history.
"""

# mypy: disable-error-code="no-untyped-def"

from typing import Any

import numpy as np

from pliant.contact.pair_force import SIDEWAYS, grip, normal_force, reduced_mass, relative, sideways
from pliant.contact.pair_layout import (
    ACTIVE,
    ADHESION,
    ALLOWED,
    DISTANCE,
    HISTORY,
    PRESSED,
    REACH,
    STIFFNESS,
    TOUCHED,
)
from pliant.core.typing import Array
from pliant.kernels.jit import SERIAL_ROWS, jit, partition, partition_count, prange, twin


@jit
def _advance(
    a, b, dt, v, mass, inverse_mass, rough, pairs, own_body, triangles, touched, geometry, laws, history
):
    u = np.empty(3)
    for p in range(a, b):
        t = touched[p]
        g = geometry[p]
        law = laws[own_body[p], pairs[p, 1]]
        if t < 0:
            if history[p, ACTIVE] > 0.0:
                for c in range(HISTORY):
                    history[p, c] = 0.0
            continue
        i, tri = pairs[p, 0], triangles[t]
        relative(i, tri, g, v, u)
        m = reduced_mass(i, tri, g, mass, inverse_mass)
        normal = normal_force(p, g, law, history, m, u)
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
        most = grip(p, i, tri, g, law, history, rough, normal) / (SIDEWAYS * law[STIFFNESS])
        if square > most * most:
            scale = most / np.sqrt(square)
            for c in range(3):
                history[p, c] *= scale


@jit
def _forces(
    a, b, forces, v, mass, inverse_mass, rough, pairs, own_body, triangles, touched, geometry, laws, history
):
    u = np.empty(3)
    side = np.empty(3)
    for p in range(a, b):
        t = touched[p]
        for c in range(3):
            forces[p, c] = 0.0
        if t < 0:
            continue
        i, tri, g = pairs[p, 0], triangles[t], geometry[p]
        law = laws[own_body[p], pairs[p, 1]]
        relative(i, tri, g, v, u)
        m = reduced_mass(i, tri, g, mass, inverse_mass)
        normal = normal_force(p, g, law, history, m, u)
        most = grip(p, i, tri, g, law, history, rough, normal)
        if normal == 0.0 and most == 0.0:
            continue
        sideways(p, g, law, history, m, u, most, side)
        for c in range(3):
            forces[p, c] = normal * g[3 + c] + side[c]


@twin
def _advance_all(count, arrays, dt):
    for p in prange(partition_count(count)):
        a, b = partition(p, count)
        _advance(a, b, dt, *arrays)


@twin
def _all_forces(count, arrays, forces):
    for p in prange(partition_count(count)):
        a, b = partition(p, count)
        _forces(a, b, forces, *arrays)


@jit
def spread(pairs, triangles, touched, geometry, forces, out):
    """Add the forces of pairs to their particles, in the order of the pairs."""
    for p in range(pairs.shape[0]):
        if touched[p] >= 0:
            i, tri, g = pairs[p, 0], triangles[touched[p]], geometry[p]
            for c in range(3):
                f = forces[p, c]
                out[i, c] += f
                out[tri[0], c] -= g[0] * f
                out[tri[1], c] -= g[1] * f
                out[tri[2], c] -= g[2] * f


def advance(arrays: tuple[Any, ...], count: int, dt: float) -> None:
    """Bring the history up to the present: stick springs turn with the normal, stretch with the slip and
    are cut to what friction can hold; pairs that came apart forget."""
    _advance_all[count >= SERIAL_ROWS](count, arrays, dt)


def pair_forces(arrays: tuple[Any, ...], count: int, forces: Array) -> None:
    """Forces of all pairs on their particles into ``forces`` (p, 3)."""
    _all_forces[count >= SERIAL_ROWS](count, arrays, forces)
