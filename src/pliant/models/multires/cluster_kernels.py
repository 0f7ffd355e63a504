r"""Compiled forces and energies of clusters: sums of mesh tets that move with a coarser level.

A cluster is all mesh tets of one cage tet, summed beforehand into one element on the nodes that its particles
hang on. With the sum K of the tets' stiffnesses in these nodes, X their rest positions, g the mean gradients
of their interpolation by volume, and R the rotation nearest to :math:`F = \sum x_j g_j^T`, its energy and
forces are

.. math:: E = \tfrac12 d \cdot K d, \quad d_j = R^T x_j - X_j, \quad f_j = -R (K d)_j + R (b \times g_j),

b solving :math:`(tr S - S)\,b = \sum R^T x_j \times (K d)_j` with F = R S: what R itself changes by, so that
f is the exact gradient of E and has no torque. Linear bodies have R = 1 and b = 0."""

# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numpy as np

from pliant.core.typing import AnyArray, Array, IntArray
from pliant.kernels.jit import jit
from pliant.kernels.tensors import rotation
from pliant.models.multires.element_kernels import COROTATIONAL, DEBUNNE, spin_back


class Clusters(NamedTuple):
    """Elements e with nodes ``nodes[first[e] : first[e + 1]]`` (in the numbers of all levels; none where no
    mesh tet is mostly in e), the mean gradients of these [1/m], and the symmetric stiffness [N/m] of all
    nodes but the first, which follows from these as a rigid shift takes no force, row by row from
    ``matrix_first[e]``, in single precision, as there is much of it to read; diagonal: a third
    of the trace of each node's own block. most: the largest number of nodes of one."""

    first: IntArray
    nodes: IntArray
    gradients: Array
    matrix_first: IntArray
    matrix: AnyArray
    diagonal: Array
    most: int


@jit
def _frame(e, clusters, x, law):
    """F and the rotation of a cluster."""
    f = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    if law != COROTATIONAL:
        return f, f
    f00, f01, f02, f10, f11, f12, f20, f21, f22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(clusters.first[e], clusters.first[e + 1]):
        i = clusters.nodes[k]
        a, b, c = clusters.gradients[k, 0], clusters.gradients[k, 1], clusters.gradients[k, 2]
        f00 += x[i, 0] * a
        f01 += x[i, 0] * b
        f02 += x[i, 0] * c
        f10 += x[i, 1] * a
        f11 += x[i, 1] * b
        f12 += x[i, 1] * c
        f20 += x[i, 2] * a
        f21 += x[i, 2] * b
        f22 += x[i, 2] * c
    f = (f00, f01, f02, f10, f11, f12, f20, f21, f22)
    return f, rotation(f)


@jit
def _turned_back(r, x, y, z):
    """``R^T x``."""
    return (
        r[0] * x + r[3] * y + r[6] * z,
        r[1] * x + r[4] * y + r[7] * z,
        r[2] * x + r[5] * y + r[8] * z,
    )


@jit
def _multiply(e, clusters, d, out):
    """``K d`` of a cluster, in its own frame; d and out: coordinates of all nodes but the first, relative to
    that."""
    n = 3 * (clusters.first[e + 1] - clusters.first[e] - 1)
    k = clusters.matrix_first[e]
    for i in range(n):
        out[i] = 0.0
    for j in range(0, n, 3):
        p, q, r = d[j], d[j + 1], d[j + 2]
        a, b = clusters.matrix[k : k + n], clusters.matrix[k + n : k + 2 * n]
        c = clusters.matrix[k + 2 * n : k + 3 * n]
        for i in range(n):
            out[i] += a[i] * p + b[i] * q + c[i] * r
        k += 3 * n


@jit
def _strained(e, clusters, points, x, r, d):
    """``d_j = R^T x_j - X_j`` of a cluster's nodes, relative to its first one."""
    a = clusters.first[e]
    o = clusters.nodes[a]
    n = 0
    for k in range(a + 1, clusters.first[e + 1]):
        i = clusters.nodes[k]
        p, q, s = _turned_back(r, x[i, 0] - x[o, 0], x[i, 1] - x[o, 1], x[i, 2] - x[o, 2])
        d[n] = p - (points[i, 0] - points[o, 0])
        d[n + 1] = q - (points[i, 1] - points[o, 1])
        d[n + 2] = s - (points[i, 2] - points[o, 2])
        n += 3


@jit
def _add_forces(e, clusters, law, x, f, r, k, factor, out):
    """Add ``factor R (k_j - b x g_j)`` for the forces k on a cluster's nodes in its own frame, b being what
    leaves no torque."""
    g, a, end = clusters.gradients, clusters.first[e], clusters.first[e + 1]
    o = clusters.nodes[a]
    tx, ty, tz, sx, sy, sz, n = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for j in range(a + 1, end):
        i = clusters.nodes[j]
        kx, ky, kz = k[n], k[n + 1], k[n + 2]
        sx, sy, sz = sx + kx, sy + ky, sz + kz
        p, q, s = _turned_back(r, x[i, 0] - x[o, 0], x[i, 1] - x[o, 1], x[i, 2] - x[o, 2])
        tx += q * kz - s * ky
        ty += s * kx - p * kz
        tz += p * ky - q * kx
        n += 3
    if law == COROTATIONAL:
        tx, ty, tz = spin_back(f, r, (tx, ty, tz))
    else:
        tx, ty, tz = 0.0, 0.0, 0.0
    for j in range(a, end):
        i, n = clusters.nodes[j], 3 * (j - a - 1)
        kx, ky, kz = -sx, -sy, -sz
        if j > a:
            kx, ky, kz = k[n], k[n + 1], k[n + 2]
        p = factor * (kx - ty * g[j, 2] + tz * g[j, 1])
        q = factor * (ky - tz * g[j, 0] + tx * g[j, 2])
        s = factor * (kz - tx * g[j, 1] + ty * g[j, 0])
        out[i, 0] += r[0] * p + r[1] * q + r[2] * s
        out[i, 1] += r[3] * p + r[4] * q + r[5] * s
        out[i, 2] += r[6] * p + r[7] * q + r[8] * s


@jit
def cluster_forces(ids, clusters, law, points, x, out):
    """Add the elastic forces [N] of the listed clusters at x to ``out``, over nodes of all levels; returns
    their energy [J]."""
    d, k, energy = np.empty(3 * clusters.most), np.empty(3 * clusters.most), 0.0
    for each in range(ids.shape[0]):
        e = ids[each]
        if clusters.first[e + 1] == clusters.first[e]:
            continue
        f, r = _frame(e, clusters, x, law)
        _strained(e, clusters, points, x, r, d)
        _multiply(e, clusters, d, k)
        for n in range(3 * (clusters.first[e + 1] - clusters.first[e] - 1)):
            energy += 0.5 * d[n] * k[n]
        _add_forces(e, clusters, law, x, f, r, k, -1.0, out)
    return energy


@jit
def cluster_products(ids, clusters, law, x, u, factor, out):
    r"""Add ``factor J^T K J u`` of the listed clusters to ``out``, J the derivative of d at x: K times what d
    changes by, and the transposed of that. Rigid motions u give zero, and there is no torque."""
    d, k = np.empty(3 * clusters.most), np.empty(3 * clusters.most)
    g = clusters.gradients
    for each in range(ids.shape[0]):
        e = ids[each]
        if clusters.first[e + 1] == clusters.first[e]:
            continue
        f, r = _frame(e, clusters, x, law)
        a, end, n = clusters.first[e], clusters.first[e + 1], 0
        o = clusters.nodes[a]
        wx, wy, wz = 0.0, 0.0, 0.0
        for j in range(a + 1, end):
            i = clusters.nodes[j]
            p, q, s = _turned_back(r, u[i, 0] - u[o, 0], u[i, 1] - u[o, 1], u[i, 2] - u[o, 2])
            d[n], d[n + 1], d[n + 2] = p, q, s
            wx += g[j, 1] * s - g[j, 2] * q
            wy += g[j, 2] * p - g[j, 0] * s
            wz += g[j, 0] * q - g[j, 1] * p
            n += 3
        if law == COROTATIONAL:
            wx, wy, wz = spin_back(f, r, (wx, wy, wz))
            n = 0
            for j in range(a + 1, end):
                i = clusters.nodes[j]
                p, q, s = _turned_back(r, x[i, 0] - x[o, 0], x[i, 1] - x[o, 1], x[i, 2] - x[o, 2])
                d[n] -= wy * s - wz * q
                d[n + 1] -= wz * p - wx * s
                d[n + 2] -= wx * q - wy * p
                n += 3
        _multiply(e, clusters, d, k)
        _add_forces(e, clusters, law, x, f, r, k, factor, out)


@jit
def add_diagonals(clusters, cluster_ids, tet_ids, mesh, begin, out):
    """Add the mean diagonal entries [N/m] of the listed clusters and mesh tets to ``out`` (n,)."""
    for k in range(cluster_ids.shape[0]):
        e = cluster_ids[k]
        for j in range(clusters.first[e], clusters.first[e + 1]):
            out[clusters.nodes[j]] += clusters.diagonal[j]
    for k in range(tet_ids.shape[0]):
        t = tet_ids[k]
        stiff = mesh.volumes[t] * (mesh.lam + 4.0 * mesh.mu) / 3.0
        for c in range(4):
            g = mesh.gradients[t, c]
            out[begin + mesh.tets[t, c]] += stiff * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2])


@jit
def cluster_energy(ids, clusters, law, points, x):
    """Elastic energy [J] of the listed clusters."""
    d, k, total = np.empty(3 * clusters.most), np.empty(3 * clusters.most), 0.0
    for each in range(ids.shape[0]):
        e = ids[each]
        if clusters.first[e + 1] == clusters.first[e]:
            continue
        _strained(e, clusters, points, x, _frame(e, clusters, x, law)[1], d)
        _multiply(e, clusters, d, k)
        for j in range(3 * (clusters.first[e + 1] - clusters.first[e] - 1)):
            total += 0.5 * d[j] * k[j]
    return total


@jit
def sum_clusters(tets_first, tets_in, mesh, row_first, row_nodes, row_weights, first, nodes, matrix_first,
                 gradients, matrix, diagonal):  # fmt: skip
    """Sum the stiffnesses of each cluster's tets into ``matrix`` and ``diagonal``, and the mean gradients.

    Tets of cluster e: ``tets_in[tets_first[e] : tets_first[e + 1]]``. Particle i hangs on the nodes
    ``row_nodes[row_first[i] : row_first[i + 1]]`` with weights. nodes: of each cluster, sorted.
    """
    lam, mu = (mesh.lam + mesh.mu, 0.0) if mesh.law == DEBUNNE else (mesh.lam, mesh.mu)
    most = 0
    for e in range(first.shape[0] - 1):
        most = max(most, first[e + 1] - first[e])
    h, found = np.zeros((most, 3)), np.zeros((3 * most, 3 * most))
    used = np.zeros(most, np.int64)
    for e in range(first.shape[0] - 1):
        a = first[e]
        n = first[e + 1] - a
        volume = 0.0
        found[: 3 * n, : 3 * n] = 0.0
        for k in range(tets_first[e], tets_first[e + 1]):
            t = tets_in[k]
            v = mesh.volumes[t]
            volume += v
            h[:n] = 0.0
            for c in range(4):
                i = mesh.tets[t, c]
                for s in range(row_first[i], row_first[i + 1]):
                    j = np.searchsorted(nodes[a : a + n], row_nodes[s])
                    for b in range(3):
                        h[j, b] += row_weights[s] * mesh.gradients[t, c, b]
            count = 0
            for j in range(n):
                if h[j, 0] != 0.0 or h[j, 1] != 0.0 or h[j, 2] != 0.0:
                    used[count] = j
                    count += 1
            for one in range(count):
                j = used[one]
                for b in range(3):
                    gradients[a + j, b] += v * h[j, b]
                for two in range(count):
                    l = used[two]
                    dot = mesh.mu * (h[j, 0] * h[l, 0] + h[j, 1] * h[l, 1] + h[j, 2] * h[l, 2])
                    for p in range(3):
                        for q in range(3):
                            value = lam * h[j, p] * h[l, q] + mu * h[l, p] * h[j, q]
                            found[3 * j + p, 3 * l + q] += v * value
                        found[3 * j + p, 3 * l + p] += v * dot
        place = matrix_first[e]
        for j in range(3, 3 * n):
            for l in range(3, 3 * n):
                matrix[place] = 0.5 * (found[j, l] + found[l, j])
                place += 1
        for j in range(n):
            for b in range(3):
                gradients[a + j, b] /= volume
                diagonal[a + j] += found[3 * j + b, 3 * j + b] / 3.0
