"""Compiled contact of one particle with a rigid shape: signed distance and response."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit

PLANE, SPHERE, BOX, CAPSULE = 0, 1, 2, 3


@jit
def shape_distance(shape, size, px, py, pz):
    """Signed distance and outward normal of a point in the shape's own frame.

    PLANE: z = 0, outside above. SPHERE: radius size[0]. BOX: half extents size. CAPSULE: radius size[0],
    half length size[1] along z.
    """
    if shape == PLANE:
        return pz, 0.0, 0.0, 1.0
    if shape == BOX:
        qx = abs(px) - size[0]
        qy = abs(py) - size[1]
        qz = abs(pz) - size[2]
        if qx > 0.0 or qy > 0.0 or qz > 0.0:
            qx, qy, qz = max(qx, 0.0), max(qy, 0.0), max(qz, 0.0)
            out = np.sqrt(qx * qx + qy * qy + qz * qz)
            return out, np.sign(px) * qx / out, np.sign(py) * qy / out, np.sign(pz) * qz / out
        if qx >= qy and qx >= qz:
            return qx, np.sign(px) + (px == 0.0), 0.0, 0.0
        if qy >= qz:
            return qy, 0.0, np.sign(py) + (py == 0.0), 0.0
        return qz, 0.0, 0.0, np.sign(pz) + (pz == 0.0)
    if shape == CAPSULE:
        pz = pz - min(max(pz, -size[1]), size[1])
    r = np.sqrt(px * px + py * py + pz * pz)
    if r < 1e-300:
        return -size[0], 0.0, 0.0, 1.0
    return r - size[0], px / r, py / r, pz / r


@jit
def respond(i, depth, nx, ny, nz, dx, dy, dz, velocity, restitution, friction, dt, x, v, f, mass, w, out):
    """The contact of particle i, ``depth`` (negative) beyond a surface with the unit normal n and a velocity;
    (dx, dy, dz): from the point that torques are about. See ``push_out``."""
    ux = v[i, 0] - velocity[0]
    uy = v[i, 1] - velocity[1]
    uz = v[i, 2] - velocity[2]
    approach = ux * nx + uy * ny + uz * nz
    gap = depth - dt * approach  # before the drift
    jx = 0.0
    jy = 0.0
    jz = 0.0
    out_by = -depth if approach >= 0.0 else -min(gap, 0.0)  # what was inside before is moved out as well
    sx = out_by * nx
    sy = out_by * ny
    sz = out_by * nz
    if approach < 0.0:
        pressing = -(f[i, 0] * nx + f[i, 1] * ny + f[i, 2] * nz) / mass[i] * dt
        normal = -approach - max(gap, 0.0) / dt
        if restitution > 0.0 and -approach > 2.0 * pressing:
            normal = -approach + restitution * (-approach - max(pressing, 0.0))
        tx = ux - approach * nx
        ty = uy - approach * ny
        tz = uz - approach * nz
        slip = np.sqrt(tx * tx + ty * ty + tz * tz)
        share = 0.0
        if slip > 0.0:
            share = min(friction * normal / slip, 1.0)
        jx = normal * nx - share * tx
        jy = normal * ny - share * ty
        jz = normal * nz - share * tz
        sx += dt * jx
        sy += dt * jy
        sz += dt * jz
    if w[i, 0] == 0.0:
        sx = 0.0
        jx = 0.0
    if w[i, 1] == 0.0:
        sy = 0.0
        jy = 0.0
    if w[i, 2] == 0.0:
        sz = 0.0
        jz = 0.0
    m = mass[i]
    gain = m * (jx * v[i, 0] + jy * v[i, 1] + jz * v[i, 2] + 0.5 * (jx * jx + jy * jy + jz * jz))
    gain += 0.5 * dt * (jx * f[i, 0] + jy * f[i, 1] + jz * f[i, 2])
    gain -= sx * f[i, 0] + sy * f[i, 1] + sz * f[i, 2]
    x[i, 0] += sx
    x[i, 1] += sy
    x[i, 2] += sz
    v[i, 0] += jx
    v[i, 1] += jy
    v[i, 2] += jz
    f[i, 0] += m * jx / dt
    f[i, 1] += m * jy / dt
    f[i, 2] += m * jz / dt
    out[0] -= m * jx
    out[1] -= m * jy
    out[2] -= m * jz
    out[3] -= m * (dy * jz - dz * jy)
    out[4] -= m * (dz * jx - dx * jz)
    out[5] -= m * (dx * jy - dy * jx)
    given = m * (jx * velocity[0] + jy * velocity[1] + jz * velocity[2])
    out[6] += given
    out[7] += given - gain


@jit
def push_out(
    i, shape, size, centre, frame, velocity, restitution, friction, dt, x, v, f, mass, radius, w, out
):
    """Keep particle i out of the shape; add impulse, torque impulse, work and lost energy to ``out`` (8,).

    x has drifted by ``dt v``. The impulse acts on the velocity of that drift: the particle gets as far as the
    surface and no farther, with the normal velocity ``-gap / dt`` (``gap``: its distance before the drift),
    and the impulse of an inelastic impact is spread over two steps. One that bounces leaves with the
    restitution times the approach velocity of the last step, that is without this step's kick: an elastic
    impact then keeps the energy of the leapfrog scheme exactly. Only what was inside before the drift is
    moved by more than ``dt`` times its change of velocity.

    The lost energy is the impulse times the mean velocity, ``-m j (v + j / 2) + dt / 2 j f``: exact for
    forces that are linear in x. A frictionless flat wall at rest never gives energy, as a particle is never
    closer than its last drift away from the wall.
    """
    if w[i, 0] == 0.0 and w[i, 1] == 0.0 and w[i, 2] == 0.0:
        return
    dx = x[i, 0] - centre[0]
    dy = x[i, 1] - centre[1]
    dz = x[i, 2] - centre[2]
    bound = size[0] + size[1] + size[2] + radius[i]  # at least as far as the shape reaches
    if shape != PLANE and dx * dx + dy * dy + dz * dz > bound * bound:
        return
    px = frame[0, 0] * dx + frame[1, 0] * dy + frame[2, 0] * dz
    py = frame[0, 1] * dx + frame[1, 1] * dy + frame[2, 1] * dz
    pz = frame[0, 2] * dx + frame[1, 2] * dy + frame[2, 2] * dz
    depth, lx, ly, lz = shape_distance(shape, size, px, py, pz)
    depth -= radius[i]
    if depth >= 0.0:
        return
    nx = frame[0, 0] * lx + frame[0, 1] * ly + frame[0, 2] * lz
    ny = frame[1, 0] * lx + frame[1, 1] * ly + frame[1, 2] * lz
    nz = frame[2, 0] * lx + frame[2, 1] * ly + frame[2, 2] * lz
    respond(i, depth, nx, ny, nz, dx, dy, dz, velocity, restitution, friction, dt, x, v, f, mass, w, out)
