"""Compiled contact of particles with rigid shapes: signed distances and the response."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.contact.signed_distance import PLANE, push_out, respond, shape_distance
from pliant.core.typing import Array
from pliant.kernels.jit import LIGHT_ROWS, ROW_PARTITIONS, jit, prange, twin


@jit
def shape_distances(shape, size, centre, frame, points, depth, normal):
    """Distances of points (k, 3) from a shape, negative inside, and outward normals (k, 3)."""
    for i in range(points.shape[0]):
        dx = points[i, 0] - centre[0]
        dy = points[i, 1] - centre[1]
        dz = points[i, 2] - centre[2]
        px = frame[0, 0] * dx + frame[1, 0] * dy + frame[2, 0] * dz
        py = frame[0, 1] * dx + frame[1, 1] * dy + frame[2, 1] * dz
        pz = frame[0, 2] * dx + frame[1, 2] * dy + frame[2, 2] * dz
        depth[i], lx, ly, lz = shape_distance(shape, size, px, py, pz)
        for c in range(3):
            normal[i, c] = frame[c, 0] * lx + frame[c, 1] * ly + frame[c, 2] * lz


@twin
def _contacts(shape, size, centre, frame, velocity, restitution, friction, dt, x, v, f, mass, radius, w, out):
    """Push particles out of the shape; add impulse, torque impulse, work and loss to ``out`` (parts, 8).

    Those that it cannot reach are passed over here: a call costs more than all of that test.
    """
    size_bound = size[0] + size[1] + size[2]
    n, parts = x.shape[0], out.shape[0]
    for p in prange(parts):
        own = out[p]
        for i in range(p * n // parts, (p + 1) * n // parts):
            dx = x[i, 0] - centre[0]
            dy = x[i, 1] - centre[1]
            dz = x[i, 2] - centre[2]
            if shape == PLANE:
                if frame[0, 2] * dx + frame[1, 2] * dy + frame[2, 2] * dz - radius[i] >= 0.0:
                    continue
            else:
                bound = size_bound + radius[i]
                if bound < 0.0 or dx * dx + dy * dy + dz * dz > bound * bound:
                    continue
            push_out(
                i, shape, size, centre, frame, velocity, restitution, friction, dt,
                x, v, f, mass, radius, w, own,
            )  # fmt: skip


def resolve_contacts(
    shape: int,
    size: Array,
    centre: Array,
    frame: Array,
    velocity: Array,
    restitution: float,
    friction: float,
    dt: float,
    particles: tuple[Array, Array, Array, Array, Array, Array],
) -> Array:
    """Keep particles (x, v, f, mass, radius, inverse mass) out of one rigid shape; change their velocities.

    A particle moves as far as the surface; one that arrives there is stopped, or reversed times the
    restitution (not if it only rests, its approach being what its load gives it in a step). Friction takes
    the tangential velocity up to ``friction`` times the normal change (Coulomb), and the displacement that
    goes with it: what sticks stays where it is. Returns (8,): the impulse on the shape, its torque about
    ``centre``, the work that the shape did and the energy lost. A contact changes the kinetic energy (of the
    velocity at the full step, half a kick after the one seen here) and, by moving the particle, what
    the forces f on it hold. The contact's force is added to f, so that velocities predicted from f (for
    damping) know of it; every integrator evaluates f again afterwards.
    """
    parallel = particles[0].shape[0] >= LIGHT_ROWS
    out = np.zeros((ROW_PARTITIONS if parallel else 1, 8))
    _contacts[parallel](shape, size, centre, frame, velocity, restitution, friction, dt, *particles, out)
    total: Array = out.sum(axis=0)
    return total


@jit
def respond_to_surface(
    rows, depth, normal, velocity, centre, restitution, friction, dt, x, v, f, mass, w, out
):
    """The contact of particles ``rows`` (k,), ``depth`` (k,) (negative) beyond a surface with normals (k, 3)
    and velocities (k, 3) there, as in ``resolve_contacts``; adds to ``out`` (8,)."""
    for k in range(rows.shape[0]):
        i = rows[k]
        respond(
            i, depth[k], normal[k, 0], normal[k, 1], normal[k, 2], x[i, 0] - centre[0], x[i, 1] - centre[1],
            x[i, 2] - centre[2], velocity[k], restitution, friction, dt, x, v, f, mass, w, out,
        )  # fmt: skip
