"""Compiled contacts of particles with rigid shapes: penalty forces, and what they do in a tick."""

# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numpy as np

from pliant.contact.signed_distance import PLANE, shape_distance
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.jit import jit


class Touching(NamedTuple):
    """Rigid shapes o at the ticks of a step, and pairs of a particle and a shape that may touch.

    kinds, friction (o,), sizes (o, 3), frames (o, 3, 3), places (o, ticks + 1, 3); speed (o, 3) [m/s]: of the
    shapes at tick 0. particle, shape (k,): the
    pairs. stiffness [N/m] and viscosity [N s/m] (k,): of pairs that touch. anchor (k, 3): where a particle
    sticks, relative to the shape. touches (k,). force (k, 3) [N]: on the particle. stored (k,) [J]. out (o,
    8): impulse, torque impulse, work and heat. firm, slow: stiffness and viscosity of new contacts by mass,
    times dt^2 and dt; mass of particles."""

    kinds: IntArray
    friction: Array
    sizes: Array
    frames: Array
    places: Array
    speed: Array
    particle: IntArray
    shape: IntArray
    stiffness: Array
    viscosity: Array
    anchor: Array
    touches: BoolArray
    force: Array
    stored: Array
    out: Array
    firm: float
    slow: Array
    mass: Array


@jit
def touch(k, begin, touching, tick, dt, x, v, f):
    """The penalty force of pair k, into ``touching.force`` and f: springs along the normal and, up to
    Coulomb's limit, to where the particle stuck, at first where it came through the surface; a dashpot along
    the normal."""
    o, i = touching.shape[k], touching.particle[k]
    frame, size, kind = touching.frames[o], touching.sizes[o], touching.kinds[o]
    place = touching.places[o, tick]
    force, anchor = touching.force[k], touching.anchor[k]
    a, b, c = x[begin + i, 0] - place[0], x[begin + i, 1] - place[1], x[begin + i, 2] - place[2]
    bound = size[0] + size[1] + size[2]
    far = kind != PLANE and a * a + b * b + c * c > bound * bound
    depth, l, m, n = 0.0, 0.0, 0.0, 0.0
    if not far:
        depth, l, m, n = shape_distance(
            kind, size, frame[0, 0] * a + frame[1, 0] * b + frame[2, 0] * c,
            frame[0, 1] * a + frame[1, 1] * b + frame[2, 1] * c,
            frame[0, 2] * a + frame[1, 2] * b + frame[2, 2] * c,
        )  # fmt: skip
    if far or depth >= 0.0:
        touching.touches[k] = False
        touching.stored[k] = 0.0
        force[0], force[1], force[2] = 0.0, 0.0, 0.0
        return
    nx = frame[0, 0] * l + frame[0, 1] * m + frame[0, 2] * n
    ny = frame[1, 0] * l + frame[1, 1] * m + frame[1, 2] * n
    nz = frame[2, 0] * l + frame[2, 1] * m + frame[2, 2] * n
    speed = touching.speed[o]
    ux, uy, uz = v[begin + i, 0] - speed[0], v[begin + i, 1] - speed[1], v[begin + i, 2] - speed[2]
    if tick > 0:
        before = touching.places[o, tick - 1]
        ux = v[begin + i, 0] - (place[0] - before[0]) / dt
        uy = v[begin + i, 1] - (place[1] - before[1]) / dt
        uz = v[begin + i, 2] - (place[2] - before[2]) / dt
    if not touching.touches[k]:
        touching.touches[k] = True
        touching.stiffness[k] = touching.firm * touching.mass[i] / (dt * dt)
        touching.viscosity[k] = touching.slow[o] * touching.mass[i] / dt
        since = min(dt, depth / min(ux * nx + uy * ny + uz * nz, depth / dt))
        anchor[0], anchor[1], anchor[2] = a - since * ux, b - since * uy, c - since * uz
    stiff = touching.stiffness[k]
    normal = max(0.0, -stiff * depth - touching.viscosity[k] * (ux * nx + uy * ny + uz * nz))
    sx, sy, sz = a - anchor[0], b - anchor[1], c - anchor[2]
    along = sx * nx + sy * ny + sz * nz
    sx, sy, sz = sx - along * nx, sy - along * ny, sz - along * nz
    stick = stiff * np.sqrt(sx * sx + sy * sy + sz * sz)
    most = touching.friction[o] * normal
    if stick > most:
        share = most / stick
        sx, sy, sz = share * sx, share * sy, share * sz
        anchor[0], anchor[1], anchor[2] = a - sx, b - sy, c - sz
    touching.stored[k] = 0.5 * stiff * (depth * depth + sx * sx + sy * sy + sz * sz)
    force[0] = normal * nx - stiff * sx
    force[1] = normal * ny - stiff * sy
    force[2] = normal * nz - stiff * sz
    for e in range(3):
        f[begin + i, e] += force[e]


@jit
def book_contact(k, tick, dt, touching, x, was_x, was_force, was_stored):
    """Impulse, torque impulse, work and heat of a pair in one tick: the mean force times how far the shape
    moved is its work, and what the pair took and does not store is heat."""
    o = touching.shape[k]
    out, place, before = touching.out[o], touching.places[o, tick], touching.places[o, tick - 1]
    a = 0.5 * (touching.force[k, 0] + was_force[0])
    b = 0.5 * (touching.force[k, 1] + was_force[1])
    c = 0.5 * (touching.force[k, 2] + was_force[2])
    px, py, pz = place[0] - before[0], place[1] - before[1], place[2] - before[2]
    out[0] -= dt * a
    out[1] -= dt * b
    out[2] -= dt * c
    rx, ry, rz = x[0] - place[0], x[1] - place[1], x[2] - place[2]
    out[3] -= dt * (ry * c - rz * b)
    out[4] -= dt * (rz * a - rx * c)
    out[5] -= dt * (rx * b - ry * a)
    work = a * px + b * py + c * pz
    out[6] += work
    taken = work - (a * (x[0] - was_x[0]) + b * (x[1] - was_x[1]) + c * (x[2] - was_x[2]))
    out[7] += taken - (touching.stored[k] - was_stored)


@jit
def book_contacts(tick, dt, touching, x, was_x, was_force, was_stored):
    """``book_contact`` of all pairs; x (n, 3) of the particles at the end of the tick."""
    for k in range(touching.particle.shape[0]):
        book_contact(k, tick, dt, touching, x[touching.particle[k]], was_x[k], was_force[k], was_stored[k])


@jit
def near_shape(kind, size, frame, places, x, reach, found):
    """Flag the points x (n, 3) that are nearer than ``reach`` (n,) to a shape at any of its ``places``."""
    bound = size[0] + size[1] + size[2]
    for i in range(x.shape[0]):
        for o in range(places.shape[0]):
            a, b, c = x[i, 0] - places[o, 0], x[i, 1] - places[o, 1], x[i, 2] - places[o, 2]
            if kind != PLANE and a * a + b * b + c * c > (bound + reach[i]) ** 2:
                continue
            distance = shape_distance(
                kind, size, frame[0, 0] * a + frame[1, 0] * b + frame[2, 0] * c,
                frame[0, 1] * a + frame[1, 1] * b + frame[2, 1] * c,
                frame[0, 2] * a + frame[1, 2] * b + frame[2, 2] * c,
            )[0]  # fmt: skip
            found[i] |= distance < reach[i]
