r"""Compiled steps of one body: forces on the simulated nodes, their velocities, and kick-drift-kick.

All particles and all nodes that are not simulated hang on coarser ones: values go down the levels with the
weights of ``Hierarchy``, forces come back up with the same weights, so that the simulated nodes q move in a
subspace :math:`u = G q` of the mesh and feel :math:`G^T f`. Each row has one writer, in a fixed order.
"""

# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.jit import jit
from pliant.models.multires.cluster_kernels import Clusters, cluster_forces, cluster_products
from pliant.models.multires.contact_kernels import book_contact, touch
from pliant.models.multires.element_kernels import MeshTets, tet_forces, tet_products
from pliant.models.multires.level_kernels import hang


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
    """What is simulated now. own (a,): the simulated nodes; hanging: nodes that elements or contacts need,
    the coarser ones first; clusters, tets: the elements; inverse (a,) [1/kg], change (a, 8) and inner
    (pieces, 8, 8): the inverse mass ``v = y + change inner change'^T y / d`` with ``y = p / d``; held (a, 3):
    prescribed degrees of freedom; piece (a,): which connected piece of the body a node belongs to; beta [s]:
    stiffness damping."""

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
    """Positions x, velocities v, momenta p, forces f, damping forces q (in f) and loads, (n, 3) over all
    levels; p, q and load at simulated nodes, f after ``evaluate`` at those too. led: velocities of prescribed
    ones."""

    x: Array
    v: Array
    p: Array
    f: Array
    q: Array
    load: Array
    led: Array


@jit
def evaluate(network, acting, motion, touching, tick, dt, weighed):
    """Forces on the simulated nodes at x, with the shapes at ``tick``; dt [s]: the step. Returns the elastic
    energy [J] where it is ``weighed``."""
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
        hang(i, corners, weights, x)
        if moving:
            hang(i, corners, weights, v)
        for c in range(3):
            f[i, c] = 0.0
            q[i, c] = 0.0
    law = network.mesh.law
    energy = cluster_forces(acting.clusters, network.clusters, law, network.points, x, f)
    energy += tet_forces(acting.tets, network.mesh, x[begin:], f[begin:], weighed)
    if damped:
        cluster_products(acting.clusters, network.clusters, law, x, v, -acting.beta, q)
        tet_products(acting.tets, network.mesh, x[begin:], v[begin:], -acting.beta, q[begin:])
    for k in range(touching.particle.shape[0]):
        touch(k, begin, touching, tick, dt, x, v, f)
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
    return energy


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
    """``count`` steps of dt: kick, drift, forces, kick. Forces at the beginning are in ``f``. Returns the
    heat of damping, the work of prescribed motion, that of loads, and the elastic energy at the end [J]."""
    own, x, v, p, f, q = acting.own, motion.x, motion.v, motion.p, motion.f, motion.q
    particles, begin = touching.particle, network.begin
    heat, led, given, energy = 0.0, 0.0, 0.0, 0.0
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
        energy = evaluate(network, acting, motion, touching, tick, dt, tick == count)
        for k in range(own.shape[0]):
            i = own[k]
            for c in range(3):
                p[i, c] += 0.5 * dt * f[i, c]
                heat -= 0.5 * dt * q[i, c] * v[i, c]
                if acting.held[k, c]:
                    led -= 0.5 * dt * f[i, c] * v[i, c]
        for k in range(particles.shape[0]):
            book_contact(
                k, tick, dt, touching, x[begin + particles[k]], was_x[k], was_force[k], was_stored[k]
            )
    velocities(acting, motion)
    return heat, led, given, energy


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


@jit
def as_written(x, v, written):
    """Whether positions and velocities are those that were written."""
    for i in range(x.shape[0]):
        for c in range(3):
            if x[i, c] != written[i, c] or v[i, c] != written[i, 3 + c]:
                return False
    return True
