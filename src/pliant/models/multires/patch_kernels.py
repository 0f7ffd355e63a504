"""Compiled loops over the part of a body around some of its nodes."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit
from pliant.models.multires.element_kernels import (
    add_diagonals,
    cluster_forces,
    cluster_products,
    tet_forces,
    tet_products,
)
from pliant.models.multires.level_kernels import hang


@jit
def hand_flags_up(own, corners, weights, flags):
    """Flag the simulated nodes that flagged ones hang on, and no others."""
    for i in range(own.shape[0] - 1, -1, -1):
        if flags[i] and not own[i]:
            flags[i] = False
            for k in range(4):
                if weights[i, k] != 0.0:
                    flags[corners[i, k]] = True


@jit
def hand_flags_down(own, corners, weights, flags):
    """Flag the nodes that hang on flagged ones too."""
    for i in range(own.shape[0]):
        if not own[i]:
            for k in range(4):
                if weights[i, k] != 0.0:
                    flags[i] |= flags[corners[i, k]]


@jit
def clusters_at(flags, ids, first, nodes):
    """Which of the listed clusters have a flagged node; those of cluster e: ``nodes[first[e] : first[e +
    1]]``."""
    found = np.zeros(ids.shape[0], np.bool_)
    for k in range(ids.shape[0]):
        for j in range(first[ids[k]], first[ids[k] + 1]):
            if flags[nodes[j]]:
                found[k] = True
                break
    return found


@jit
def tets_at(flags, ids, tets, begin):
    """Which of the listed mesh tets have a flagged particle."""
    found = np.zeros(ids.shape[0], np.bool_)
    for k in range(ids.shape[0]):
        for c in range(4):
            found[k] |= flags[begin + tets[ids[k], c]]
    return found


@jit
def flag_nodes_of(clusters, first, nodes, tets, corners, begin, flags):
    """Flag the nodes of the listed clusters and mesh tets."""
    for k in range(clusters.shape[0]):
        for j in range(first[clusters[k]], first[clusters[k] + 1]):
            flags[nodes[j]] = True
    for k in range(tets.shape[0]):
        for c in range(4):
            flags[begin + corners[tets[k], c]] = True


@jit
def restrict_listed(hanging, corners, weights, values):
    """Hand ``values`` (n, 3) of the listed nodes, the coarser ones first, up to what they hang on."""
    for k in range(hanging.shape[0] - 1, -1, -1):
        i = hanging[k]
        for e in range(4):
            w, j = weights[i, e], corners[i, e]
            if w != 0.0:
                for c in range(3):
                    values[j, c] += w * values[i, c]


@jit
def patch_forces(network, hanging, clusters, tets, used, x, out):
    """Elastic forces [N] of the listed elements, on the nodes that are not ``hanging``; ``out`` is set to zero
    at the ``used`` nodes first."""
    begin = network.begin
    for k in range(used.shape[0]):
        for c in range(3):
            out[used[k], c] = 0.0
    cluster_forces(clusters, network.clusters, network.mesh.law, network.points, x, out)
    tet_forces(tets, network.mesh, x[begin:], out[begin:], False)
    restrict_listed(hanging, network.corners, network.weights, out)


@jit
def hang_listed(hanging, corners, weights, x):
    for k in range(hanging.shape[0]):
        hang(hanging[k], corners, weights, x)


@jit
def patch_product(network, free, held, hanging, clusters, tets, used, x, u, full, out, found):
    """``G^T K G u`` of displacements u of the ``free`` nodes (r,), others at rest, into ``found`` (r, 3)."""
    begin, law = network.begin, network.mesh.law
    for k in range(used.shape[0]):
        for c in range(3):
            out[used[k], c] = 0.0
    for k in range(free.shape[0]):
        for c in range(3):
            full[free[k], c] = u[k, c]
    hang_listed(hanging, network.corners, network.weights, full)
    cluster_products(clusters, network.clusters, law, x, full, 1.0, out)
    tet_products(tets, network.mesh, x[begin:], full[begin:], 1.0, out[begin:])
    restrict_listed(hanging, network.corners, network.weights, out)
    for k in range(free.shape[0]):
        for c in range(3):
            found[k, c] = 0.0 if held[k, c] else out[free[k], c]


@jit
def patch_solve(network, free, held, hanging, clusters, tets, used, x, b, most, share):
    """``K u = b`` (r, 3) by conjugate gradients with the diagonal (off that, what hangs is left out), at most
    so many, until the residual has fallen to this share."""
    n = free.shape[0]
    sums, diagonal = np.zeros(x.shape[0]), np.empty(n)
    add_diagonals(network.clusters, clusters, tets, network.mesh, network.begin, sums)
    for k in range(hanging.shape[0] - 1, -1, -1):
        i = hanging[k]
        for e in range(4):
            sums[network.corners[i, e]] += network.weights[i, e] ** 2 * sums[i]
    top = 0.0
    for k in range(n):
        top = max(top, sums[free[k]])
    for k in range(n):
        diagonal[k] = max(sums[free[k]], 1e-9 * top)
    u, r, z, d, product = np.zeros((n, 3)), b.copy(), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
    full, out = np.zeros_like(x), np.zeros_like(x)
    rho = 0.0
    for k in range(n):
        for c in range(3):
            z[k, c] = r[k, c] / diagonal[k]
            d[k, c] = z[k, c]
            rho += r[k, c] * z[k, c]
    first = rho
    for _ in range(most):
        if rho <= share * share * first or rho == 0.0:
            break
        patch_product(network, free, held, hanging, clusters, tets, used, x, d, full, out, product)
        curvature = 0.0
        for k in range(n):
            for c in range(3):
                curvature += d[k, c] * product[k, c]
        if curvature <= 0.0:
            break
        step, last = rho / curvature, rho
        rho = 0.0
        for k in range(n):
            for c in range(3):
                u[k, c] += step * d[k, c]
                r[k, c] -= step * product[k, c]
                z[k, c] = r[k, c] / diagonal[k]
                rho += r[k, c] * z[k, c]
        for k in range(n):
            for c in range(3):
                d[k, c] = z[k, c] + rho / last * d[k, c]
    return u
