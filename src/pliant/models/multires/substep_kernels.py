"""What the sub-step loops of both couplings share: contacts with obstacles, and when heat is sampled."""

# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numpy as np

from pliant.contact.signed_distance import PLANE, push_out, shape_distance
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.jit import jit

DONE, FORCES = 0, 1  # what a loop stopped for: the end of the step, or forces that are computed outside of it


class Contacts(NamedTuple):
    """Rigid shapes o and the nodes near them; nodes of all levels have one number.

    kinds, restitution, friction (o,), sizes (o, 3), frames (o, 3, 3): of the shapes; places (o, ticks + 1,
    3): their centres at every tick [m]. near: nodes that may touch shape o, those of level k at
    ``near[near_first[k * o_count + o] : near_first[k * o_count + o + 1]]``. points, mass, radius: of all
    nodes; positions: scratch for them. reaction (o, 8): impulse, torque impulse, work and heat that the
    shapes gave. hit: which near nodes were last given another velocity. pressing (levels, near, 3) [N]: the
    last forces of each level's tets on near nodes; empty where ``f`` has all forces.
    """

    kinds: IntArray
    sizes: Array
    frames: Array
    restitution: Array
    friction: Array
    places: Array
    near: IntArray
    near_first: IntArray
    points: Array
    mass: Array
    radius: Array
    positions: Array
    reaction: Array
    hit: BoolArray
    pressing: Array


@jit
def heat_stride(count):
    """Of ``count`` sub-steps, every this many the power of damping is sampled: four times in a step."""
    return max(1, count // 4)


@jit
def _push_out(i, o, centre, velocity, dt, contacts, v, f, inverse):
    """Push node i, at ``positions[i]``, out of shape o."""
    push_out(
        i, contacts.kinds[o], contacts.sizes[o], centre, contacts.frames[o], velocity,
        contacts.restitution[o], contacts.friction[o], dt, contacts.positions, v, f, contacts.mass,
        contacts.radius, inverse, contacts.reaction[o],
    )  # fmt: skip


@jit
def push_out_nearby(k, tick, t, period, contacts, d, v, f, load, inverse):
    """Push the nodes of level k that are near shapes out of them, at tick ``t + period``; writes d and v.

    The friction of a contact depends on the force on the node, ``mass_i / m_i (load_i + f_i)``: at borders
    the mass that a node stands for is not that of its level, ``m_i = 1 / inverse_i``.
    """
    kinds, near, points, pressing = contacts.kinds, contacts.near, contacts.points, contacts.pressing
    dt = tick * period
    for o in range(kinds.shape[0]):
        row = k * kinds.shape[0] + o
        a, b = contacts.near_first[row], contacts.near_first[row + 1]
        if a == b:
            continue
        centre = contacts.places[o, t + period]
        velocity = (centre - contacts.places[o, t]) / dt
        bound = contacts.sizes[o, 0] + contacts.sizes[o, 1] + contacts.sizes[o, 2]
        for e in range(a, b):
            i = near[e]
            if kinds[o] != PLANE:  # those out of reach are passed over here: a call costs more than this test
                away = 0.0
                for c in range(3):
                    away += (points[i, c] + d[i, c] - centre[c]) ** 2
                if away > (bound + contacts.radius[i]) ** 2:
                    contacts.hit[e] = False
                    continue
            p, q, r = v[i, 0], v[i, 1], v[i, 2]
            fx, fy, fz = f[i, 0], f[i, 1], f[i, 2]
            ratio = contacts.mass[i] * max(inverse[i, 0], inverse[i, 1], inverse[i, 2])
            for c in range(3):
                contacts.positions[i, c] = points[i, c] + d[i, c]
                total = load[i, c] if pressing.shape[0] > 0 else load[i, c] + f[i, c]
                for j in range(pressing.shape[0]):
                    total += pressing[j, e, c]
                f[i, c] = ratio * total
            _push_out(i, o, centre, velocity, dt, contacts, v, f, inverse)
            for c in range(3):
                d[i, c] = contacts.positions[i, c] - points[i, c]
            f[i, 0], f[i, 1], f[i, 2] = fx, fy, fz
            contacts.hit[e] = v[i, 0] != p or v[i, 1] != q or v[i, 2] != r


@jit
def hold_against_obstacles(levels, tick, ticks, periods, contacts, d, v, f, inverse):
    """After the last half kick: what touched a shape last is kept from moving into it; writes v alone."""
    kinds, near, near_first = contacts.kinds, contacts.near, contacts.near_first
    for k in range(levels):
        dt = tick * periods[k]
        for o in range(kinds.shape[0]):
            row = k * kinds.shape[0] + o
            centre = contacts.places[o, ticks]
            velocity = (centre - contacts.places[o, ticks - periods[k]]) / dt
            for e in range(near_first[row], near_first[row + 1]):
                if not contacts.hit[e]:
                    continue
                i = near[e]
                fx, fy, fz = f[i, 0], f[i, 1], f[i, 2]
                for c in range(3):
                    contacts.positions[i, c] = contacts.points[i, c] + d[i, c] + dt * v[i, c]
                    f[i, c] = 0.0  # velocities are those of the full step, and no place is changed
                _push_out(i, o, centre, velocity, dt, contacts, v, f, inverse)
                f[i, 0], f[i, 1], f[i, 2] = fx, fy, fz


@jit
def _distance(shape, size, frame, x, y, z):
    """Signed distance of a point from a shape, relative to its centre."""
    p = frame[0, 0] * x + frame[1, 0] * y + frame[2, 0] * z
    q = frame[0, 1] * x + frame[1, 1] * y + frame[2, 1] * z
    r = frame[0, 2] * x + frame[1, 2] * y + frame[2, 2] * z
    return shape_distance(shape, size, p, q, r)[0]


@jit
def lower_to_distance(shape, size, frame, centre, points, d, reach, distance):
    """Lower ``distance`` (n,) [m] to that of nodes from a rigid shape, where it is within their reach."""
    bound = size[0] + size[1] + size[2]
    for i in range(distance.shape[0]):
        x = points[i, 0] + d[i, 0] - centre[0]
        y = points[i, 1] + d[i, 1] - centre[1]
        z = points[i, 2] + d[i, 2] - centre[2]
        if shape != PLANE and x * x + y * y + z * z > (bound + reach[i]) ** 2:
            continue
        distance[i] = min(distance[i], _distance(shape, size, frame, x, y, z))


@jit
def nodes_within_reach(shape, size, frame, places, nodes, first, points, d, v, spacing, dt):
    """Those of ``nodes`` (level k begins at ``first[k]``) that may touch the shape at any of its ``places``
    within dt, being nearer than ``2 dt |v|`` plus their level's spacing; and where each level begins."""
    found = np.empty(nodes.shape[0], np.int64)
    begins = np.zeros(first.shape[0], np.int64)
    n = 0
    for k in range(first.shape[0] - 1):
        for e in range(first[k], first[k + 1]):
            i = nodes[e]
            speed = np.sqrt(v[i, 0] ** 2 + v[i, 1] ** 2 + v[i, 2] ** 2)
            reach = 2.0 * dt * speed + spacing[k]
            close = False
            for o in range(places.shape[0]):
                x = points[i, 0] + d[i, 0] - places[o, 0]
                y = points[i, 1] + d[i, 1] - places[o, 1]
                z = points[i, 2] + d[i, 2] - places[o, 2]
                close |= _distance(shape, size, frame, x, y, z) < reach
            if close:
                found[n] = i
                n += 1
        begins[k + 1] = n
    return found[:n].copy(), begins
