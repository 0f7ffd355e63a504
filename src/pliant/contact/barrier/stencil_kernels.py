"""Potential, forces and stiffness of stencils in contact."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.contact.barrier.distance_kernels import (
    EDGE_EDGE,
    barrier,
    mollifier,
    motion_bound,
    stencil_distance,
)
from pliant.core.typing import Array, IntArray
from pliant.kernels.jit import SERIAL_ROWS, jit, partition, partition_count, prange, twin

MORE = 1.0 + 1e-9  # against rounding, where a bound of a distance is used for it


@jit
def gather(first, rows, weights, x, out):
    """``out = S x``: vertices as weighted sums of particles."""
    for i in range(first.shape[0] - 1):
        for c in range(3):
            total = 0.0
            for k in range(first[i], first[i + 1]):
                total += weights[k] * x[rows[k], c]
            out[i, c] = total


@jit
def scatter(first, rows, weights, f, out):
    """``out += S^T f``."""
    for i in range(first.shape[0] - 1):
        for k in range(first[i], first[i + 1]):
            for c in range(3):
                out[rows[k], c] += weights[k] * f[i, c]


@twin
def _distances(x, kinds, stencils, normals, offsets, d):
    count = kinds.shape[0]
    for q in prange(partition_count(count)):
        first, last = partition(np.int64(q), count)
        places, w, n = np.empty((4, 3)), np.empty(4), np.empty(3)
        for s in range(first, last):
            for k in range(4):
                for c in range(3):
                    places[k, c] = x[stencils[s, k], c]
            d[s] = stencil_distance(kinds[s], places, normals[s], w, n) - offsets[s]


def distances(x: Array, kinds: IntArray, stencils: IntArray, normals: Array, offsets: Array) -> Array:
    """Distances (s,) [m] of stencils, less their offsets."""
    d = np.empty(len(kinds))
    _distances[len(kinds) >= SERIAL_ROWS](x, kinds, stencils, normals, offsets, d)
    return d


@twin
def _within(x, kinds, stencils, normals, offsets, reach, since, known, near, looked):
    count = kinds.shape[0]
    for q in prange(partition_count(count)):
        first, last = partition(np.int64(q), count)
        places, w, n = np.empty((4, 3)), np.empty(4), np.empty(3)
        total = 0
        for s in range(first, last):
            for k in range(4):
                for c in range(3):
                    places[k, c] = x[stencils[s, k], c] - since[stencils[s, k], c]
            near[s] = False
            if known[s] - motion_bound(kinds[s], places) > MORE * reach[s]:
                continue
            total += 1
            for k in range(4):
                for c in range(3):
                    places[k, c] = x[stencils[s, k], c]
            near[s] = stencil_distance(kinds[s], places, normals[s], w, n) - offsets[s] < reach[s]
        looked[q] = total


def within(
    x: Array, kinds: IntArray, stencils: IntArray, normals: Array, offsets: Array, reach: Array, since: Array,
    known: Array,
) -> tuple[IntArray, int]:  # fmt: skip
    """The stencils whose distance is below their ``reach``, and of how many it was measured: the others
    cannot be near, by their distances ``known`` with vertices at ``since`` (v, 3)."""
    near, looked = np.empty(len(kinds), bool), np.zeros(partition_count(len(kinds)), np.int64)
    run = _within[len(kinds) >= SERIAL_ROWS]
    run(x, kinds, stencils, normals, offsets, reach, since, known, near, looked)
    return np.flatnonzero(near), int(looked.sum())


@twin
def _evaluate(x, kinds, stencils, normals, offsets, reach, stiffness, threshold, d, w, n, values, grad):
    """Of each stencil: distance, weights (4,), unit vector (3,); values (s, 4): energy [J], normal force [N],
    curvature along n [N/m], mollifier; grad (s, 4, 3): the gradient of the energy."""
    for s in prange(kinds.shape[0]):
        places, slope = np.empty((4, 3)), np.zeros((4, 3))
        for k in range(4):
            for c in range(3):
                places[k, c] = x[stencils[s, k], c]
        d[s] = stencil_distance(kinds[s], places, normals[s], w[s], n[s]) - offsets[s]
        if d[s] >= reach[s]:
            values[s, 0] = values[s, 1] = values[s, 2] = 0.0
            values[s, 3] = 1.0
            grad[s] = 0.0
            continue
        if not d[s] > 0.0:
            values[s, 0] = values[s, 1] = values[s, 2] = np.inf
            values[s, 3] = 1.0
            grad[s] = 0.0
            continue
        b, b1, b2 = barrier(d[s] / reach[s])
        m = 1.0
        if kinds[s] == EDGE_EDGE:
            m = mollifier(places, threshold[s], slope)
        plain = stiffness[s] * reach[s] * reach[s] * b
        push = -m * stiffness[s] * reach[s] * b1
        values[s, 0] = m * plain
        values[s, 1] = push
        values[s, 2] = m * stiffness[s] * b2
        values[s, 3] = m
        for k in range(4):
            for c in range(3):
                grad[s, k, c] = -push * w[s, k] * n[s, c] + plain * slope[k, c]


def evaluate(
    x: Array,
    kinds: IntArray,
    stencils: IntArray,
    normals: Array,
    offsets: Array,
    reach: Array,
    stiffness: Array,
    threshold: Array,
    out: tuple[Array, ...],
) -> None:
    """Fill ``out`` (d, w, n, values, grad) for all stencils."""
    _evaluate[len(kinds) >= SERIAL_ROWS](
        x, kinds, stencils, normals, offsets, reach, stiffness, threshold, *out
    )


@jit
def add_gradient(stencils, grad, factor, out):
    """``out += factor grad`` at the vertices."""
    for s in range(stencils.shape[0]):
        for k in range(4):
            for c in range(3):
                out[stencils[s, k], c] += factor * grad[s, k, c]


@jit
def relative(stencils, w, moved, out):
    """``out = sum w moved`` of each stencil."""
    for s in range(stencils.shape[0]):
        for c in range(3):
            total = 0.0
            for k in range(4):
                total += w[s, k] * moved[stencils[s, k], c]
            out[s, c] = total


@jit
def friction(stencils, w, n, load, spring, kept, moved, stretch, force):
    """Friction springs: the stretch ``T (kept + sum w moved)`` across n (s, 3) [m] and the force on the first
    side (s, 3) [N], of at most ``load``; spring [N/m]: its stiffness below that. Returns the energy [J]."""
    total = 0.0
    for s in range(stencils.shape[0]):
        along = 0.0
        for c in range(3):
            u = kept[s, c]
            for k in range(4):
                u += w[s, k] * moved[stencils[s, k], c]
            stretch[s, c] = u
            along += u * n[s, c]
        square = 0.0
        for c in range(3):
            stretch[s, c] -= along * n[s, c]
            square += stretch[s, c] * stretch[s, c]
        size = np.sqrt(square)
        if load[s] <= 0.0 or spring[s] <= 0.0:
            for c in range(3):
                force[s, c] = 0.0
            continue
        pull = spring[s] * size
        if pull <= load[s]:
            total += 0.5 * spring[s] * square
            factor = spring[s]
        else:
            total += load[s] * (size - 0.5 * load[s] / spring[s])
            factor = load[s] / size
        for c in range(3):
            force[s, c] = -factor * stretch[s, c]
    return total


@jit
def add_forces(stencils, w, force, factor, out):
    """``out += factor w force`` at the vertices."""
    for s in range(stencils.shape[0]):
        for k in range(4):
            for c in range(3):
                out[stencils[s, k], c] += factor * w[s, k] * force[s, c]


@jit
def stiffness_product(stencils, w, n, along, across, dx, factor, out):
    """``out += factor C dx``, ``C = sum w w^T (along n n^T + across (1 - n n^T))``, at the vertices."""
    for s in range(stencils.shape[0]):
        r0 = r1 = r2 = 0.0
        for k in range(4):
            i = stencils[s, k]
            r0 += w[s, k] * dx[i, 0]
            r1 += w[s, k] * dx[i, 1]
            r2 += w[s, k] * dx[i, 2]
        dot = (along[s] - across[s]) * (r0 * n[s, 0] + r1 * n[s, 1] + r2 * n[s, 2])
        f0 = factor * (dot * n[s, 0] + across[s] * r0)
        f1 = factor * (dot * n[s, 1] + across[s] * r1)
        f2 = factor * (dot * n[s, 2] + across[s] * r2)
        for k in range(4):
            i = stencils[s, k]
            out[i, 0] += w[s, k] * f0
            out[i, 1] += w[s, k] * f1
            out[i, 2] += w[s, k] * f2


@jit
def off_path(x, start, way, margin):
    """The largest distance of vertices x from their ways, over the margin (v,) of each."""
    worst = 0.0
    for i in range(x.shape[0]):
        dot = 0.0
        length = 0.0
        for c in range(3):
            dot += way[i, c] * (x[i, c] - start[i, c])
            length += way[i, c] * way[i, c]
        t = 0.0
        if length > 0.0:
            t = min(max(dot / length, 0.0), 1.0)
        square = 0.0
        for c in range(3):
            r = x[i, c] - start[i, c] - t * way[i, c]
            square += r * r
        worst = max(worst, np.sqrt(square) / margin[i])
    return worst
