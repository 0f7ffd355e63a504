r"""Compiled steps of one body: hanging nodes, masses, contacts with rigid shapes, and kick-drift-kick.

All particles and all nodes that are not simulated hang on coarser ones: values go down the levels with the
weights of ``Hierarchy``, forces come back up with the same weights, so that the simulated nodes q move in a
subspace :math:`u = G q` of the mesh and feel :math:`G^T f`. Each row has one writer, in a fixed order.
"""

# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numpy as np

from pliant.contact.signed_distance import PLANE, shape_distance
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.jit import jit
from pliant.models.multires import element_kernels
from pliant.models.multires.element_kernels import Clusters, MeshTets

cluster_forces, cluster_products = element_kernels.cluster_forces, element_kernels.cluster_products
tet_forces, tet_products = element_kernels.tet_forces, element_kernels.tet_products


class Network(NamedTuple):
    """What never changes with the levels: how nodes hang, rest positions, mesh tets and clusters; particles
    begin at ``begin``."""

    corners: IntArray
    weights: Array
    points: Array
    mesh: MeshTets
    clusters: Clusters
    begin: int


class Acting(NamedTuple):
    """What is simulated now. own (a,): the simulated nodes; hanging: nodes that elements or contacts need, the
    coarser ones first; clusters, tets: the elements; inverse (a,) [1/kg], change (a, 6) and inner (pieces, 6, 6):
    the inverse mass ``v = y + change inner change'^T y / d`` with ``y = p / d``; held (a, 3): prescribed degrees of
    freedom; piece (a,): which connected piece of the body a node belongs to; beta [s]: stiffness damping."""

    own: IntArray
    hanging: IntArray
    clusters: IntArray
    tets: IntArray
    inverse: Array
    change: Array
    inner: Array
    held: BoolArray
    piece: IntArray
    beta: float


class NodeMotion(NamedTuple):
    """Positions x, velocities v, momenta p, forces f, damping forces q (in f) and loads, (n, 3) over all levels;
    p, q and load at simulated nodes, f after ``evaluate`` at those too. led: velocities of prescribed ones."""

    x: Array
    v: Array
    p: Array
    f: Array
    q: Array
    load: Array
    led: Array


class Touching(NamedTuple):
    """Rigid shapes o at the ticks of a step, and pairs of a particle and a shape that may touch.

    kinds, friction (o,), sizes (o, 3), frames (o, 3, 3), places (o, ticks + 1, 3). particle, shape (k,): the
    pairs. stiffness [N/m] and viscosity [N s/m] (k,): of pairs that touch. anchor (k, 3): where a particle
    sticks, relative to the shape. touches (k,). force (k, 3) [N]: on the particle. stored (k,) [J]. out (o, 8):
    impulse, torque impulse, work and heat. firm, slow: stiffness and viscosity of new contacts by mass, times
    dt^2 and dt; mass of particles."""

    kinds: IntArray
    friction: Array
    sizes: Array
    frames: Array
    places: Array
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


# --------------------------------------------------------------------------------------- what hangs on what


@jit
def own_nodes(split, pinned, level, corners, weights, begin, own):
    """The nodes that are simulated: the coarsest, those that hang on a split node, and pinned particles."""
    for i in range(own.shape[0]):
        own[i] = level[i] == 0 or (i >= begin and pinned[i - begin])
        for k in range(4):
            if weights[i, k] != 0.0:
                own[i] |= split[corners[i, k]]


@jit
def count_active(own, pinned, level, weights, begin, children_first, children):
    """The number of simulated nodes that something hangs on, pinned particles apart, and the deepest level."""
    count, deepest = 0, 0
    for i in range(own.shape[0]):
        if not own[i] or (i >= begin and pinned[i - begin]):
            continue
        used = i >= begin
        for e in range(children_first[i], children_first[i + 1]):
            used |= not own[children[e]]
        if used:
            count += 1
            deepest = max(deepest, level[i])
    return count, deepest


@jit
def arrange(split, pinned, level, corners, weights, begin, tets, tet_cluster, cluster_parent, cluster_level,
            summed, own, depth, usable, mesh_tets):  # fmt: skip
    """From the split flags (n,): the nodes that are simulated (own), the deepest level that each node depends on,
    the clusters that may stand for their tets (a cluster may not where one of its particles depends on a
    level below it, and need not where a larger one does), and the mesh tets that are left."""
    own_nodes(split, pinned, level, corners, weights, begin, own)
    for i in range(own.shape[0]):
        depth[i] = level[i]
        if not own[i]:
            depth[i] = 0
            for k in range(4):
                if weights[i, k] != 0.0:
                    depth[i] = max(depth[i], depth[corners[i, k]])
    reached = np.zeros(usable.shape[0], np.int64)
    for t in range(tets.shape[0]):
        e = tet_cluster[t]
        if e >= 0:
            for k in range(4):
                reached[e] = max(reached[e], depth[begin + tets[t, k]])
    for e in range(usable.shape[0] - 1, -1, -1):
        if cluster_parent[e] >= 0:
            reached[cluster_parent[e]] = max(reached[cluster_parent[e]], reached[e])
    for e in range(usable.shape[0]):
        usable[e] = summed and reached[e] <= cluster_level[e]
    for t in range(tets.shape[0]):
        e = tet_cluster[t]
        mesh_tets[t] = e < 0 or not usable[e]
    for e in range(usable.shape[0] - 1, -1, -1):
        if cluster_parent[e] >= 0 and usable[cluster_parent[e]]:
            usable[e] = False


@jit
def restrict_all(own, corners, weights, values):
    """Hand the ``values`` (n, k) of all nodes that are not simulated up to those that they hang on, in place."""
    for i in range(own.shape[0] - 1, -1, -1):
        if own[i]:
            continue
        for k in range(4):
            w = weights[i, k]
            if w != 0.0:
                for c in range(values.shape[1]):
                    values[corners[i, k], c] += w * values[i, c]
        for c in range(values.shape[1]):
            values[i, c] = 0.0


@jit
def interpolate_all(own, corners, weights, x, v):
    """Values of all nodes that hang, the coarser ones first."""
    for i in range(own.shape[0]):
        if not own[i]:
            _hang(i, corners, weights, x)
            _hang(i, corners, weights, v)


@jit
def _hang(i, corners, weights, values):
    a, b, c = 0.0, 0.0, 0.0
    for k in range(4):
        w, j = weights[i, k], corners[i, k]
        a += w * values[j, 0]
        b += w * values[j, 1]
        c += w * values[j, 2]
    values[i, 0], values[i, 1], values[i, 2] = a, b, c


@jit
def hanging_nodes(own, needed, corners, weights):
    """The nodes that are needed and not simulated, and those that they hang on, the coarser ones first."""
    count = 0
    for i in range(own.shape[0] - 1, -1, -1):
        if needed[i] and not own[i]:
            count += 1
            for k in range(4):
                if weights[i, k] != 0.0:
                    needed[corners[i, k]] = True
    found = np.empty(count, np.int64)
    n = 0
    for i in range(own.shape[0]):
        if needed[i] and not own[i]:
            found[n] = i
            n += 1
    return found


@jit
def write_particles(begin, prescribed, motion, x, v, written):
    """Positions and velocities of the particles, but for what is prescribed; and what was written (n, 6)."""
    for i in range(x.shape[0]):
        for c in range(3):
            if not prescribed[i, c]:
                x[i, c] = motion.x[begin + i, c]
                v[i, c] = motion.v[begin + i, c]
            written[i, c] = x[i, c]
            written[i, 3 + c] = v[i, c]


# -------------------------------------------------------------------------------------------------- forces


@jit
def evaluate(network, acting, motion, touching, tick, dt):
    """Forces on the simulated nodes at x, with the shapes at ``tick``; dt [s]: the step."""
    x, v, f, q = motion.x, motion.v, motion.f, motion.q
    corners, weights, begin = network.corners, network.weights, network.begin
    damped = acting.beta > 0.0
    moving = damped or touching.particle.shape[0] > 0
    for k in range(acting.own.shape[0]):
        i = acting.own[k]
        for c in range(3):
            f[i, c] = motion.load[i, c]
            q[i, c] = 0.0
    for k in range(acting.hanging.shape[0]):
        i = acting.hanging[k]
        _hang(i, corners, weights, x)
        if moving:
            _hang(i, corners, weights, v)
        for c in range(3):
            f[i, c] = 0.0
            q[i, c] = 0.0
    law = network.mesh.law
    cluster_forces(acting.clusters, network.clusters, law, network.points, x, f)
    tet_forces(acting.tets, network.mesh, x[begin:], f[begin:])
    if damped:
        cluster_products(acting.clusters, network.clusters, law, x, v, -acting.beta, q)
        tet_products(acting.tets, network.mesh, x[begin:], v[begin:], -acting.beta, q[begin:])
    for k in range(touching.particle.shape[0]):
        _touch(k, begin, touching, tick, dt, x, v, f)
    for k in range(acting.hanging.shape[0] - 1, -1, -1):
        i = acting.hanging[k]
        for e in range(4):
            w, j = weights[i, e], corners[i, e]
            if w != 0.0:
                for c in range(3):
                    f[j, c] += w * f[i, c]
                    q[j, c] += w * q[i, c]
    for k in range(acting.own.shape[0]):
        i = acting.own[k]
        for c in range(3):
            f[i, c] += q[i, c]


@jit
def _touch(k, begin, touching, tick, dt, x, v, f):
    """The penalty force of pair k, into ``touching.force`` and f: springs along the normal and, up to Coulomb's
    limit, to where the particle stuck; a dashpot along the normal."""
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
    if not touching.touches[k]:
        touching.touches[k] = True
        touching.stiffness[k] = touching.firm * touching.mass[i] / (dt * dt)
        touching.viscosity[k] = touching.slow[o] * touching.mass[i] / dt
        anchor[0], anchor[1], anchor[2] = a, b, c
    stiff = touching.stiffness[k]
    before = touching.places[o, max(tick - 1, 0)]
    ux, uy, uz = v[begin + i, 0], v[begin + i, 1], v[begin + i, 2]
    if tick > 0:
        ux -= (place[0] - before[0]) / dt
        uy -= (place[1] - before[1]) / dt
        uz -= (place[2] - before[2]) / dt
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


# --------------------------------------------------------------------------------------------------- steps


@jit
def velocities(acting, motion):
    """Velocities of the simulated nodes from their momenta; prescribed ones are led."""
    own, inverse, change, inner = acting.own, acting.inverse, acting.change, acting.inner
    p, v, rank = motion.p, motion.v, change.shape[1]
    pieces = inner.shape[0]
    z, w = np.zeros((pieces, rank, 3)), np.zeros((pieces, rank, 3))
    for k in range(own.shape[0]):
        i, e = own[k], acting.piece[k]
        for c in range(3):
            if acting.held[k, c]:
                v[i, c] = motion.led[i, c]
                continue
            v[i, c] = inverse[k] * p[i, c]
            for r in range(rank):
                z[e, r, c] += change[k, r] * v[i, c]
    for e in range(pieces):
        for r in range(rank):
            for s in range(rank):
                for c in range(3):
                    w[e, r, c] += inner[e, r, s] * z[e, s, c]
    for k in range(own.shape[0]):
        i, e = own[k], acting.piece[k]
        for c in range(3):
            total = 0.0
            for r in range(rank):
                total += change[k, r] * w[e, r, c]
            v[i, c] += inverse[k] * total


@jit
def take_ticks(count, dt, network, acting, motion, touching):
    """``count`` steps of dt: kick, drift, forces, kick. Forces at the beginning are in ``f``. Returns the heat of
    damping, the work of prescribed motion, and that of loads [J]."""
    own, x, v, p, f, q = acting.own, motion.x, motion.v, motion.p, motion.f, motion.q
    particles, begin = touching.particle, network.begin
    heat, led, given = 0.0, 0.0, 0.0
    was_x, was_force = np.empty((particles.shape[0], 3)), np.empty((particles.shape[0], 3))
    was_stored = np.empty(particles.shape[0])
    for tick in range(1, count + 1):
        for k in range(particles.shape[0]):
            for c in range(3):
                was_x[k, c] = x[begin + particles[k], c]
                was_force[k, c] = touching.force[k, c]
            was_stored[k] = touching.stored[k]
        for k in range(own.shape[0]):
            i = own[k]
            for c in range(3):
                p[i, c] += 0.5 * dt * f[i, c]
        velocities(acting, motion)
        for k in range(own.shape[0]):
            i = own[k]
            for c in range(3):
                x[i, c] += dt * v[i, c]
                heat -= 0.5 * dt * q[i, c] * v[i, c]
                given += dt * motion.load[i, c] * v[i, c]
                if acting.held[k, c]:
                    led -= 0.5 * dt * f[i, c] * v[i, c]
        evaluate(network, acting, motion, touching, tick, dt)
        for k in range(own.shape[0]):
            i = own[k]
            for c in range(3):
                p[i, c] += 0.5 * dt * f[i, c]
                heat -= 0.5 * dt * q[i, c] * v[i, c]
                if acting.held[k, c]:
                    led -= 0.5 * dt * f[i, c] * v[i, c]
        for k in range(particles.shape[0]):
            _book(k, tick, dt, touching, x[begin + particles[k]], was_x[k], was_force[k], was_stored[k])
    velocities(acting, motion)
    return heat, led, given


@jit
def _book(k, tick, dt, touching, x, was_x, was_force, was_stored):
    """Impulse, torque impulse, work and heat of a pair in one tick: the mean force times how far the shape moved
    is its work, and what the pair took and does not store is heat."""
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


@jit
def gradient_jump(nodes, known, offset, tets, g, volumes, first, incident, u, out):
    """rms deviation of the gradients of the tets around each listed node, by volume: zero on linear fields.

    nodes: in the numbers of all levels; those of this level begin at ``offset``. Tets with a corner whose place is
    not ``known`` (n,) are left out."""
    mean, each = np.zeros(9), np.zeros(9)
    for k in range(nodes.shape[0]):
        i = nodes[k] - offset
        total, square = 0.0, 0.0
        mean[:] = 0.0
        for e in range(first[i], first[i + 1]):
            t = incident[e] // 4
            whole = True
            for q in range(4):
                whole &= known[offset + tets[t, q]]
            if not whole:
                continue
            each[:] = 0.0
            for q in range(4):
                j = tets[t, q]
                for a in range(3):
                    for b in range(3):
                        each[3 * a + b] += u[offset + j, a] * g[t, q, b]
            total += volumes[t]
            for c in range(9):
                mean[c] += volumes[t] * each[c]
                square += volumes[t] * each[c] * each[c]
        inverse = 1.0 / total if total > 0.0 else 0.0
        for c in range(9):
            square -= mean[c] * mean[c] * inverse
        out[nodes[k]] = np.sqrt(max(square * inverse, 0.0))
