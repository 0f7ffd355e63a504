r"""Compiled forces and energies of one body: mesh tets, and clusters of them that move with a coarser level.

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

from pliant.core.typing import Array, IntArray
from pliant.kernels.jit import jit
from pliant.kernels.tensors import determinant, rotation, times, transposed
from pliant.materials.constitutive import neo_hookean

LINEAR, COROTATIONAL, DEBUNNE, NEO_HOOKEAN = 0, 1, 2, 3
LAWS = {
    "linear": LINEAR,
    "corotational": COROTATIONAL,
    "debunne": DEBUNNE,
    "neo-hookean": NEO_HOOKEAN,
}


class MeshTets(NamedTuple):
    """Mesh tets (m, 4) over particles, gradients (m, 4, 3) [1/m] of their shape functions, volumes (m,) [m3];
    a law and Lame's constants [Pa]."""

    tets: IntArray
    gradients: Array
    volumes: Array
    law: int
    lam: float
    mu: float


class Clusters(NamedTuple):
    """Elements e with nodes ``nodes[first[e] : first[e + 1]]`` (in the numbers of all levels), the mean
    gradients of these [1/m], and 3x3 stiffness blocks (9,) [N/m] of all pairs of nodes j <= l, row by row
    from ``block_first[e]``. most: the largest number of nodes of one."""

    first: IntArray
    nodes: IntArray
    gradients: Array
    block_first: IntArray
    blocks: Array
    most: int


@jit
def _gradient(t, tets, g, u):
    """``sum u_i g_i^T`` of a tet, row by row."""
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(4):
        i = tets[t, k]
        a, b, c = g[t, k, 0], g[t, k, 1], g[t, k, 2]
        x, y, z = u[i, 0], u[i, 1], u[i, 2]
        m00 += x * a
        m01 += x * b
        m02 += x * c
        m10 += y * a
        m11 += y * b
        m12 += y * c
        m20 += z * a
        m21 += z * b
        m22 += z * c
    return m00, m01, m02, m10, m11, m12, m20, m21, m22


@jit
def _less_one(f):
    f00, f01, f02, f10, f11, f12, f20, f21, f22 = f
    return f00 - 1.0, f01, f02, f10, f11 - 1.0, f12, f20, f21, f22 - 1.0


@jit
def _hooke(h, law, lam, mu):
    """``2 mu sym h + lam tr h``; ``mu h + (lam + mu) tr h`` in Debunne's operator."""
    h00, h01, h02, h10, h11, h12, h20, h21, h22 = h
    if law == DEBUNNE:
        p = (lam + mu) * (h00 + h11 + h22)
        return (
            mu * h00 + p, mu * h01, mu * h02, mu * h10, mu * h11 + p, mu * h12,
            mu * h20, mu * h21, mu * h22 + p,
        )  # fmt: skip
    p = lam * (h00 + h11 + h22)
    a, b, c = mu * (h01 + h10), mu * (h02 + h20), mu * (h12 + h21)
    return 2.0 * mu * h00 + p, a, b, a, 2.0 * mu * h11 + p, c, b, c, 2.0 * mu * h22 + p


@jit
def _stress(f, law, lam, mu):
    """First Piola stress of F."""
    if law == NEO_HOOKEAN:
        return neo_hookean.stress(f, (0.0, 0.0, 0.0), mu, lam + 2.0 / 3.0 * mu, 0.0, 0.0)
    if law == COROTATIONAL:
        r = rotation(f)
        return times(r, _hooke(_less_one(times(transposed(r), f)), law, lam, mu))
    return _hooke(_less_one(f), law, lam, mu)


@jit
def _density(f, law, lam, mu):
    """Elastic energy by volume [J/m3]."""
    if law == NEO_HOOKEAN:
        found = neo_hookean.invariants(f, (0.0, 0.0, 0.0))
        return neo_hookean.energy(found, mu, lam + 2.0 / 3.0 * mu, 0.0)
    h = _less_one(times(transposed(rotation(f)), f) if law == COROTATIONAL else f)
    p = _hooke(h, law, lam, mu)
    total = 0.0
    for c in range(9):
        total += p[c] * h[c]
    return 0.5 * total


@jit
def _warped(f, rate, law, lam, mu):
    """The stress that a small change ``rate`` of F causes with the stiffness at rest, turned with the tet."""
    if law in (LINEAR, DEBUNNE):
        return _hooke(rate, law, lam, mu)
    r = rotation(f)
    return times(r, _hooke(times(transposed(r), rate), LINEAR, lam, mu))


@jit
def _scatter(t, p, scale, tets, g, out):
    p00, p01, p02, p10, p11, p12, p20, p21, p22 = p
    for c in range(4):
        x, y, z = scale * g[t, c, 0], scale * g[t, c, 1], scale * g[t, c, 2]
        i = tets[t, c]
        out[i, 0] += p00 * x + p01 * y + p02 * z
        out[i, 1] += p10 * x + p11 * y + p12 * z
        out[i, 2] += p20 * x + p21 * y + p22 * z


@jit
def tet_forces(ids, mesh, x, out):
    """Add the elastic forces [N] of the listed tets at x (n, 3) to ``out``."""
    for k in range(ids.shape[0]):
        t = ids[k]
        p = _stress(_gradient(t, mesh.tets, mesh.gradients, x), mesh.law, mesh.lam, mesh.mu)
        _scatter(t, p, -mesh.volumes[t], mesh.tets, mesh.gradients, out)


@jit
def tet_products(ids, mesh, x, u, factor, out):
    """Add ``factor K u`` of the listed tets to ``out``, K the stiffness at rest turned with each tet at x."""
    for k in range(ids.shape[0]):
        t = ids[k]
        f = _gradient(t, mesh.tets, mesh.gradients, x)
        p = _warped(f, _gradient(t, mesh.tets, mesh.gradients, u), mesh.law, mesh.lam, mesh.mu)
        _scatter(t, p, factor * mesh.volumes[t], mesh.tets, mesh.gradients, out)


@jit
def tet_energy(ids, mesh, x):
    """Elastic energy [J] of the listed tets."""
    total = 0.0
    for k in range(ids.shape[0]):
        t = ids[k]
        f = _gradient(t, mesh.tets, mesh.gradients, x)
        total += mesh.volumes[t] * _density(f, mesh.law, mesh.lam, mesh.mu)
    return total


@jit
def tet_corner_forces(ids, mesh, x, out):
    """Forces on the corners of each listed tet, into ``out`` (k, 4, 3)."""
    for k in range(ids.shape[0]):
        t = ids[k]
        p = _stress(_gradient(t, mesh.tets, mesh.gradients, x), mesh.law, mesh.lam, mesh.mu)
        for c in range(4):
            for a in range(3):
                total = 0.0
                for b in range(3):
                    total -= mesh.volumes[t] * p[3 * a + b] * mesh.gradients[t, c, b]
                out[k, c, a] = total


# ---------------------------------------------------------------------------------------------- clusters


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
    """``K d`` of a cluster, in its own frame; d and out (k, 3)."""
    n = clusters.first[e + 1] - clusters.first[e]
    k, blocks = clusters.block_first[e], clusters.blocks
    for j in range(n):
        out[j, 0], out[j, 1], out[j, 2] = 0.0, 0.0, 0.0
    for j in range(n):
        x, y, z = d[j, 0], d[j, 1], d[j, 2]
        a = blocks[k, 0] * x + blocks[k, 1] * y + blocks[k, 2] * z
        b = blocks[k, 3] * x + blocks[k, 4] * y + blocks[k, 5] * z
        c = blocks[k, 6] * x + blocks[k, 7] * y + blocks[k, 8] * z
        k += 1
        for l in range(j + 1, n):
            p, q, r = d[l, 0], d[l, 1], d[l, 2]
            b0, b1, b2 = blocks[k, 0], blocks[k, 1], blocks[k, 2]
            b3, b4, b5 = blocks[k, 3], blocks[k, 4], blocks[k, 5]
            b6, b7, b8 = blocks[k, 6], blocks[k, 7], blocks[k, 8]
            a += b0 * p + b1 * q + b2 * r
            b += b3 * p + b4 * q + b5 * r
            c += b6 * p + b7 * q + b8 * r
            out[l, 0] += b0 * x + b3 * y + b6 * z
            out[l, 1] += b1 * x + b4 * y + b7 * z
            out[l, 2] += b2 * x + b5 * y + b8 * z
            k += 1
        out[j, 0] += a
        out[j, 1] += b
        out[j, 2] += c


@jit
def _strained(e, clusters, points, x, r, d):
    """``d_j = R^T x_j - X_j`` of a cluster's nodes, relative to its first one."""
    a = clusters.first[e]
    o = clusters.nodes[a]
    for k in range(a, clusters.first[e + 1]):
        i = clusters.nodes[k]
        p, q, s = _turned_back(r, x[i, 0] - x[o, 0], x[i, 1] - x[o, 1], x[i, 2] - x[o, 2])
        d[k - a, 0] = p - (points[i, 0] - points[o, 0])
        d[k - a, 1] = q - (points[i, 1] - points[o, 1])
        d[k - a, 2] = s - (points[i, 2] - points[o, 2])


@jit
def _spin_back(f, r, torque):
    """``b`` of ``(tr S - S) b = torque`` with S = R^T F; zero where that is singular."""
    s = times(transposed(r), f)
    trace = s[0] + s[4] + s[8]
    a, b, c = 0.5 * (s[1] + s[3]), 0.5 * (s[2] + s[6]), 0.5 * (s[5] + s[7])
    m = (trace - s[0], -a, -b, -a, trace - s[4], -c, -b, -c, trace - s[8])
    det = determinant(m)
    if abs(det) < 1e-9:
        return 0.0, 0.0, 0.0
    x, y, z = torque
    return (
        determinant((x, m[1], m[2], y, m[4], m[5], z, m[7], m[8])) / det,
        determinant((m[0], x, m[2], m[3], y, m[5], m[6], z, m[8])) / det,
        determinant((m[0], m[1], x, m[3], m[4], y, m[6], m[7], z)) / det,
    )


@jit
def cluster_forces(ids, clusters, law, points, x, out):
    """Add the elastic forces [N] of the listed clusters at x to ``out``, over nodes of all levels."""
    d, k = np.empty((clusters.most, 3)), np.empty((clusters.most, 3))
    for each in range(ids.shape[0]):
        e = ids[each]
        f, r = _frame(e, clusters, x, law)
        _strained(e, clusters, points, x, r, d)
        _multiply(e, clusters, d, k)
        a = clusters.first[e]
        o = clusters.nodes[a]
        tx, ty, tz = 0.0, 0.0, 0.0
        count = clusters.first[e + 1] - a
        if law == COROTATIONAL:
            for j in range(count):
                i = clusters.nodes[a + j]
                p, q, s = _turned_back(r, x[i, 0] - x[o, 0], x[i, 1] - x[o, 1], x[i, 2] - x[o, 2])
                tx += q * k[j, 2] - s * k[j, 1]
                ty += s * k[j, 0] - p * k[j, 2]
                tz += p * k[j, 1] - q * k[j, 0]
            tx, ty, tz = _spin_back(f, r, (tx, ty, tz))
        for j in range(count):
            i = clusters.nodes[a + j]
            g = clusters.gradients
            gx, gy, gz = g[a + j, 0], g[a + j, 1], g[a + j, 2]
            p = ty * gz - tz * gy - k[j, 0]
            q = tz * gx - tx * gz - k[j, 1]
            s = tx * gy - ty * gx - k[j, 2]
            out[i, 0] += r[0] * p + r[1] * q + r[2] * s
            out[i, 1] += r[3] * p + r[4] * q + r[5] * s
            out[i, 2] += r[6] * p + r[7] * q + r[8] * s


@jit
def cluster_products(ids, clusters, law, x, u, factor, out):
    """Add ``factor K u`` of the listed clusters to ``out``, K turned with each cluster at x."""
    d, k = np.empty((clusters.most, 3)), np.empty((clusters.most, 3))
    for each in range(ids.shape[0]):
        e = ids[each]
        r = _frame(e, clusters, x, law)[1]
        a = clusters.first[e]
        count = clusters.first[e + 1] - a
        for j in range(count):
            i = clusters.nodes[a + j]
            d[j, 0], d[j, 1], d[j, 2] = _turned_back(r, u[i, 0], u[i, 1], u[i, 2])
        _multiply(e, clusters, d, k)
        for j in range(count):
            i = clusters.nodes[a + j]
            p, q, s = factor * k[j, 0], factor * k[j, 1], factor * k[j, 2]
            out[i, 0] += r[0] * p + r[1] * q + r[2] * s
            out[i, 1] += r[3] * p + r[4] * q + r[5] * s
            out[i, 2] += r[6] * p + r[7] * q + r[8] * s


@jit
def cluster_energy(ids, clusters, law, points, x):
    """Elastic energy [J] of the listed clusters."""
    d, k, total = np.empty((clusters.most, 3)), np.empty((clusters.most, 3)), 0.0
    for each in range(ids.shape[0]):
        e = ids[each]
        _strained(e, clusters, points, x, _frame(e, clusters, x, law)[1], d)
        _multiply(e, clusters, d, k)
        for j in range(clusters.first[e + 1] - clusters.first[e]):
            total += 0.5 * (d[j, 0] * k[j, 0] + d[j, 1] * k[j, 1] + d[j, 2] * k[j, 2])
    return total


@jit
def sum_clusters(tets_first, tets_in, mesh, row_first, row_nodes, row_weights, first, nodes, blocks_first,
                 gradients, blocks):  # fmt: skip
    """Sum the stiffnesses of each cluster's tets into ``blocks``, and the mean gradients.

    Tets of cluster e: ``tets_in[tets_first[e] : tets_first[e + 1]]``. Particle i hangs on the nodes
    ``row_nodes[row_first[i] : row_first[i + 1]]`` with weights. nodes: of each cluster, sorted.
    """
    law, lam, mu = mesh.law, mesh.lam, mesh.mu
    most = 0
    for e in range(first.shape[0] - 1):
        most = max(most, first[e + 1] - first[e])
    h = np.zeros((most, 3))
    for e in range(first.shape[0] - 1):
        a = first[e]
        n = first[e + 1] - a
        volume = 0.0
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
            place = blocks_first[e]
            for j in range(n):
                for b in range(3):
                    gradients[a + j, b] += v * h[j, b]
                for l in range(j, n):
                    dot = h[j, 0] * h[l, 0] + h[j, 1] * h[l, 1] + h[j, 2] * h[l, 2]
                    if dot == 0.0 and (h[l, 0] == 0.0 and h[l, 1] == 0.0 and h[l, 2] == 0.0):
                        continue
                    for p in range(3):
                        for q in range(3):
                            value = lam * h[j, p] * h[l, q] + mu * h[l, p] * h[j, q]
                            if law == DEBUNNE:
                                value = (lam + mu) * h[j, p] * h[l, q]
                            blocks[place + l - j, 3 * p + q] += v * value
                        blocks[place + l - j, 4 * p] += v * mu * dot
                place += n - j
        for j in range(n):
            for b in range(3):
                gradients[a + j, b] /= volume
