"""Loops over the pairs of contact, compiled: their history, their forces, their energy.

``arrays`` are those that all loops share: velocity, rotation, inverse mass, mass and roughness of the
vertices, pairs, the body of each pair's own side, touched, stencil, geometry, laws, reach, history.
"""

# mypy: disable-error-code="no-untyped-def"

from typing import Any

import numpy as np

from pliant.contact.pair_force import (
    TANGENTIAL,
    contact_velocity,
    depth_of,
    friction_bound,
    normal_force,
    pair_energy,
    reduced_mass,
    tangential_damping,
    tangential_force,
)
from pliant.contact.pair_layout import (
    ACTIVE,
    ADHESION,
    ALLOWED,
    DISTANCE,
    FRESH,
    FRICTION,
    HISTORY,
    KEPT,
    LAST,
    LEVER,
    NORMAL,
    PRESSED,
    STIFFNESS,
    TOUCHED,
    UNIT,
)
from pliant.core.typing import Array
from pliant.kernels.jit import SERIAL_ROWS, jit, partition, partition_count, prange, twin

VERTEX_LIMIT = 0.5  # of tangential dampers at a vertex: dt sum c [mass]
BODY_LIMIT = 0.2  # of those at a rigid body [its mass]: less, as it turns too


@jit
def _advance(
    a, b, dt, overlap, edges_from, given, velocity, spin, yielding, mass, rough, pairs, own_body, touched,
    stencil, geometry, laws, reach, history,
):  # fmt: skip
    """``given[0]`` grows by the energy that the shrinking overlaps give to the contact springs. Edges (pairs
    from ``edges_from`` on) of bodies that overlap do not press: their distance says nothing about sides."""
    u = np.empty(3)
    for p in range(a, b):
        h = history[p]
        if touched[p] < 0:
            if h[ACTIVE] > 0.0:
                for c in range(HISTORY):
                    h[c] = 0.0
            continue
        g = geometry[p]
        vertices = stencil[p]
        law = laws[own_body[p], pairs[p, 1]]
        free = max(0.0, reach[p] - g[DISTANCE])
        allowed = overlap[own_body[p], pairs[p, 1]]
        if p >= edges_from:
            h[ALLOWED] = free if allowed > 0.0 else min(h[ALLOWED], free)
        elif h[KEPT] == FRESH:
            h[ALLOWED] = min(h[ALLOWED], free)
        elif h[ACTIVE] == 0.0:
            h[ALLOWED] = min(allowed, free)
        elif h[KEPT] == 0.0 and h[ALLOWED] > 0.0:
            h[ALLOWED] = min(h[ALLOWED], free)
            if h[ALLOWED] > allowed:
                before = max(0.0, free - h[ALLOWED])
                after = max(0.0, free - allowed)
                given[0] += 0.5 * law[STIFFNESS] * (after * after - before * before)
                h[ALLOWED] = allowed
        contact_velocity(vertices, g, velocity, spin, u)
        m = reduced_mass(vertices, g, yielding, mass)
        depth = depth_of(g, h, reach[p])
        normal = normal_force(depth, g, law, h, m, u)
        along = u[0] * g[UNIT] + u[1] * g[UNIT + 1] + u[2] * g[UNIT + 2]
        out = h[0] * g[UNIT] + h[1] * g[UNIT + 1] + h[2] * g[UNIT + 2]
        square = 0.0
        for c in range(3):
            h[c] += dt * (u[c] - along * g[UNIT + c]) - out * g[UNIT + c]
            square += h[c] * h[c]
            h[NORMAL + c] = g[UNIT + c]
        h[LAST] = g[DISTANCE]
        if depth > 0.0:
            h[ACTIVE] = PRESSED
        elif h[ACTIVE] != PRESSED or -law[STIFFNESS] * depth > law[ADHESION]:
            h[ACTIVE] = TOUCHED
        normal = max(normal, law[STIFFNESS] * depth)  # what dampers take off for a moment is no slip
        most = friction_bound(vertices, g, law, h, rough, normal) / (TANGENTIAL * law[STIFFNESS])
        if square > most * most:
            scale = most / np.sqrt(square)
            for c in range(3):
                h[c] *= scale


@jit
def _stretch(
    a, b, out, displacement, rotation, yielding, mass, rough, pairs, own_body, touched, stencil, geometry,
    laws, reach, history,
):  # fmt: skip
    """The history, with friction springs turned and stretched by displacements and small rotations."""
    u = np.empty(3)
    for p in range(a, b):
        if touched[p] < 0:
            continue
        g, h = geometry[p], out[p]
        for c in range(HISTORY):
            h[c] = history[p, c]
        contact_velocity(stencil[p], g, displacement, rotation, u)
        along = (h[0] + u[0]) * g[UNIT] + (h[1] + u[1]) * g[UNIT + 1] + (h[2] + u[2]) * g[UNIT + 2]
        for c in range(3):
            h[c] += u[c] - along * g[UNIT + c]


@jit
def _forces(
    a, b, vertex_scale, body_scale, forces, velocity, spin, yielding, mass, rough, pairs, own_body, touched,
    stencil, geometry, laws, reach, history,
):  # fmt: skip
    u = np.empty(3)
    side = np.empty(3)
    for p in range(a, b):
        for c in range(3):
            forces[p, c] = 0.0
        if touched[p] < 0:
            continue
        vertices, g, h = stencil[p], geometry[p], history[p]
        law = laws[own_body[p], pairs[p, 1]]
        contact_velocity(vertices, g, velocity, spin, u)
        m = reduced_mass(vertices, g, yielding, mass)
        normal = normal_force(depth_of(g, h, reach[p]), g, law, h, m, u)
        most = friction_bound(vertices, g, law, h, rough, normal)
        if normal == 0.0 and most == 0.0:
            continue
        scale = min(body_scale[own_body[p]], body_scale[pairs[p, 1]])
        for k in range(4):
            if g[k] != 0.0:
                scale = min(scale, vertex_scale[vertices[k]])
        tangential_force(g, law, h, scale * tangential_damping(law, m), u, most, side)
        for c in range(3):
            forces[p, c] = normal * g[UNIT + c] + side[c]


@jit
def damping_scales(
    dt, active, body_mass, vertex_scale, body_scale, velocity, spin, yielding, mass, rough, pairs, own_body,
    touched, stencil, geometry, laws, reach, history,
):  # fmt: skip
    """Factors on the tangential dampers that keep their sum within the explicit limit, per vertex and per
    rigid body (``body_mass`` (b,), 0 for others)."""
    for a in range(active.shape[0]):
        vertex_scale[active[a]] = 0.0
    body_scale[:] = 0.0
    for p in range(touched.shape[0]):
        if touched[p] < 0:
            continue
        vertices, g = stencil[p], geometry[p]
        own, other = own_body[p], pairs[p, 1]
        law = laws[own, other]
        if law[FRICTION] == 0.0 or depth_of(g, history[p], reach[p]) <= 0.0:
            continue
        c = tangential_damping(law, reduced_mass(vertices, g, yielding, mass))
        for k in range(4):
            vertex_scale[vertices[k]] += abs(g[k]) * c
        body_scale[own] += c
        body_scale[other] += c
    for a in range(active.shape[0]):
        i = active[a]
        total = dt * vertex_scale[i] * yielding[i]
        vertex_scale[i] = VERTEX_LIMIT / total if total > VERTEX_LIMIT else 1.0
    for b in range(body_scale.shape[0]):
        total = dt * body_scale[b]
        bound = BODY_LIMIT * body_mass[b]
        body_scale[b] = bound / total if bound > 0.0 and total > bound else 1.0


@twin
def _advance_all(count, arrays, dt, overlap, edges_from, given):
    for p in prange(partition_count(count)):
        a, b = partition(p, count)
        _advance(a, b, dt, overlap, edges_from, given[p], *arrays)


@twin
def _all_forces(count, arrays, vertex_scale, body_scale, forces):
    for p in prange(partition_count(count)):
        a, b = partition(p, count)
        _forces(a, b, vertex_scale, body_scale, forces, *arrays)


@twin
def _stretch_all(count, arrays, out):
    for p in prange(partition_count(count)):
        a, b = partition(p, count)
        _stretch(a, b, out, *arrays)


@jit
def spread(touched, stencil, geometry, forces, force, torque):
    """Add the forces of pairs, and their torques about the vertices, in the order of the pairs."""
    for p in range(touched.shape[0]):
        if touched[p] < 0:
            continue
        g, vertices = geometry[p], stencil[p]
        f0, f1, f2 = forces[p, 0], forces[p, 1], forces[p, 2]
        n0, n1, n2 = g[UNIT], g[UNIT + 1], g[UNIT + 2]
        t0, t1, t2 = n1 * f2 - n2 * f1, n2 * f0 - n0 * f2, n0 * f1 - n1 * f0
        for k in range(4):
            w, i = g[k], vertices[k]
            if w == 0.0:
                continue
            force[i, 0] += w * f0
            force[i, 1] += w * f1
            force[i, 2] += w * f2
            lever = w * (g[LEVER] - g[DISTANCE]) if w > 0.0 else w * g[LEVER]
            torque[i, 0] += lever * t0
            torque[i, 1] += lever * t1
            torque[i, 2] += lever * t2


@jit
def stored_energy(pairs, own_body, touched, geometry, laws, reach, history):
    """Energy of all contact and friction springs [J]."""
    total = 0.0
    for p in range(touched.shape[0]):
        if touched[p] >= 0:
            law = laws[own_body[p], pairs[p, 1]]
            total += pair_energy(depth_of(geometry[p], history[p], reach[p]), law, history[p])
    return total


def advance(arrays: tuple[Any, ...], count: int, dt: float, overlap: Array, edges_from: int) -> float:
    """Bring the history up to the present: overlaps that are left alone shrink; friction springs turn with
    the normal, stretch with the slip and are cut to the bound of friction; pairs that came apart forget.
    Returns the energy that the shrinking overlaps gave to the contacts [J]."""
    given = np.zeros((partition_count(count), 1))
    _advance_all[count >= SERIAL_ROWS](count, arrays, dt, overlap, edges_from, given)
    return float(given.sum())


def stretched(arrays: tuple[Any, ...], count: int, out: Array) -> None:
    """Into ``out`` (p, h) the history of touching pairs, with friction springs stretched by the displacements
    and rotations that ``arrays`` have in place of velocities."""
    _stretch_all[count >= SERIAL_ROWS](count, arrays, out)


def pair_forces(
    arrays: tuple[Any, ...], count: int, vertex_scale: Array, body_scale: Array, forces: Array
) -> None:
    """Forces of all pairs on their own sides into ``forces`` (p, 3)."""
    _all_forces[count >= SERIAL_ROWS](count, arrays, vertex_scale, body_scale, forces)
