"""Compiled loops over tets of one level: forces, energies, nodal stiffness, jumps of the gradient. Each
output row has one writer, so the bytes do not depend on the number of threads."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.kernels.jit import SERIAL_ROWS, jit, partition, partition_count, prange, twin
from pliant.kernels.tensors import rotation, times, transposed
from pliant.models.multires.levels import Level


@jit
def _gradient(t, tets, g, u):
    """``grad u`` of a tet, row by row."""
    m00 = 0.0
    m01 = 0.0
    m02 = 0.0
    m10 = 0.0
    m11 = 0.0
    m12 = 0.0
    m20 = 0.0
    m21 = 0.0
    m22 = 0.0
    for k in range(4):
        i = tets[t, k]
        a = g[t, k, 0]
        b = g[t, k, 1]
        c = g[t, k, 2]
        x = u[i, 0]
        y = u[i, 1]
        z = u[i, 2]
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
def _plus_one(h):
    h00, h01, h02, h10, h11, h12, h20, h21, h22 = h
    return 1.0 + h00, h01, h02, h10, 1.0 + h11, h12, h20, h21, 1.0 + h22


@jit
def _symmetric_stress(h, lam, mu):
    """``2 mu sym h + lam tr h``."""
    h00, h01, h02, h10, h11, h12, h20, h21, h22 = h
    p = lam * (h00 + h11 + h22)
    a = mu * (h01 + h10)
    b = mu * (h02 + h20)
    c = mu * (h12 + h21)
    return 2.0 * mu * h00 + p, a, b, a, 2.0 * mu * h11 + p, c, b, c, 2.0 * mu * h22 + p


@jit
def _stress(mode, h, rate, beta, lam, mu):
    """First Piola stress of grad u = h with ``beta`` times its rate (see ``Level`` for the modes)."""
    if mode == 1:
        f = _plus_one(h)
        r = rotation(f)
        back = transposed(r)
        s00, s01, s02, s10, s11, s12, s20, s21, s22 = times(back, f)
        g = (s00 - 1.0, s01, s02, s10, s11 - 1.0, s12, s20, s21, s22 - 1.0)
        stress = _symmetric_stress(g, lam, mu)
        if beta != 0.0:
            d = _symmetric_stress(times(back, rate), lam, mu)
            stress = _sum(stress, d, beta)
        return times(r, stress)
    h = _sum(h, rate, beta)
    if mode == 2:
        h00, h01, h02, h10, h11, h12, h20, h21, h22 = h
        p = (lam + mu) * (h00 + h11 + h22)
        return (
            mu * h00 + p, mu * h01, mu * h02, mu * h10, mu * h11 + p, mu * h12,
            mu * h20, mu * h21, mu * h22 + p,
        )  # fmt: skip
    return _symmetric_stress(h, lam, mu)


@jit
def _sum(a, b, s):
    a00, a01, a02, a10, a11, a12, a20, a21, a22 = a
    b00, b01, b02, b10, b11, b12, b20, b21, b22 = b
    return (
        a00 + s * b00, a01 + s * b01, a02 + s * b02, a10 + s * b10, a11 + s * b11, a12 + s * b12,
        a20 + s * b20, a21 + s * b21, a22 + s * b22,
    )  # fmt: skip


@jit
def tet_range(a, b, ids, tets, g, volumes, weight, mode, lam, mu, d, v, beta, buffer):
    """``-w_t V_t P_t g_ti``: forces on the corners i of tets t = ids[a:b], into rows ``4 t + i`` of the
    buffer."""
    for k in range(a, b):
        t = ids[k]
        scale = -weight[t] * volumes[t]
        h = _gradient(t, tets, g, d)
        rate = _gradient(t, tets, g, v) if beta != 0.0 else h
        p00, p01, p02, p10, p11, p12, p20, p21, p22 = _stress(mode, h, rate, beta, lam, mu)
        for c in range(4):
            x = scale * g[t, c, 0]
            y = scale * g[t, c, 1]
            z = scale * g[t, c, 2]
            buffer[4 * t + c, 0] = p00 * x + p01 * y + p02 * z
            buffer[4 * t + c, 1] = p10 * x + p11 * y + p12 * z
            buffer[4 * t + c, 2] = p20 * x + p21 * y + p22 * z


@twin
def _tets(ids, tets, g, volumes, weight, mode, lam, mu, d, v, beta, buffer):
    for p in prange(partition_count(ids.shape[0])):
        a, b = partition(p, ids.shape[0])
        tet_range(a, b, ids, tets, g, volumes, weight, mode, lam, mu, d, v, beta, buffer)


@jit
def gather_range(a, b, nodes, first, incident, weight, buffer, out):
    """Sum of the buffer's rows of incident tets that count, for nodes i = nodes[a:b]."""
    for k in range(a, b):
        i = nodes[k]
        fx = 0.0
        fy = 0.0
        fz = 0.0
        for e in range(first[i], first[i + 1]):
            c = incident[e]
            if weight[c // 4] > 0.0:
                fx += buffer[c, 0]
                fy += buffer[c, 1]
                fz += buffer[c, 2]
        out[i, 0] = fx
        out[i, 1] = fy
        out[i, 2] = fz


@twin
def _gather(nodes, first, incident, weight, buffer, out):
    for p in prange(partition_count(nodes.shape[0])):
        a, b = partition(p, nodes.shape[0])
        gather_range(a, b, nodes, first, incident, weight, buffer, out)


def tet_forces(
    ids: IntArray, nodes: IntArray, level: Level, weight: Array, d: Array, v: Array, beta: float,
    buffer: Array, out: Array,
) -> None:  # fmt: skip
    """Forces [N] of the listed tets, times their weights (zero: left out), on the listed nodes."""
    _tets[len(ids) >= SERIAL_ROWS](
        ids, level.tets, level.gradients, level.volumes, weight, level.operator, level.lam, level.mu,
        d, v, beta, buffer,
    )  # fmt: skip
    table = nodes, level.incident_first, level.incident
    _gather[len(nodes) >= SERIAL_ROWS](*table, weight, buffer, out)


@jit
def _density(t, tets, g, mode, lam, mu, d):
    """Elastic energy of tet t by its volume [J/m3]."""
    h = _gradient(t, tets, g, d)
    if mode == 1:
        f = _plus_one(h)
        r = rotation(f)
        s = times(transposed(r), f)
        h = (s[0] - 1.0, s[1], s[2], s[3], s[4] - 1.0, s[5], s[6], s[7], s[8] - 1.0)
    p = _stress(2 if mode == 2 else 0, h, h, 0.0, lam, mu)
    total = 0.0
    for c in range(9):
        total += p[c] * h[c]
    return 0.5 * total


@jit
def tet_energies(ids, tets, g, volumes, weight, mode, lam, mu, d, out):
    """Elastic energy of the listed tets, into ``out`` (their count,)."""
    for k in range(ids.shape[0]):
        t = ids[k]
        out[k] = weight[t] * volumes[t] * _density(t, tets, g, mode, lam, mu, d)


@jit
def energy_around(nodes, first, incident, tets, g, volumes, mode, lam, mu, d, corners):
    """A quarter of the elastic energy [J] of the tets around each listed node. corners (m,): scratch, zero
    before and after: how many of a tet's are listed."""
    most = 0
    for k in range(nodes.shape[0]):
        most += first[nodes[k] + 1] - first[nodes[k]]
    found = np.empty(most, np.int64)
    n = 0
    for k in range(nodes.shape[0]):
        for e in range(first[nodes[k]], first[nodes[k] + 1]):
            t = incident[e] // 4
            if corners[t] == 0:
                found[n] = t
                n += 1
            corners[t] += 1
    total = 0.0
    for k in range(n):
        t = found[k]
        total += 0.25 * corners[t] * volumes[t] * _density(t, tets, g, mode, lam, mu, d)
        corners[t] = 0
    return total


@jit
def gradient_jump(nodes, first, incident, tets, g, volumes, u, stamps, now, scratch, out):
    """rms deviation of the gradients of the tets around each listed node, by volume: zero on linear fields.

    scratch (m, 9) holds the gradients of those tets whose ``stamps`` (m,) say ``now``.
    """
    mean = np.zeros(9)
    for k in range(nodes.shape[0]):
        i = nodes[k]
        total = 0.0
        for e in range(first[i], first[i + 1]):
            t = incident[e] // 4
            total += volumes[t]
            if stamps[t] != now:
                stamps[t] = now
                h = _gradient(t, tets, g, u)
                for c in range(9):
                    scratch[t, c] = h[c]
        inverse = 1.0 / total if total > 0.0 else 0.0
        mean[:] = 0.0
        for e in range(first[i], first[i + 1]):
            t = incident[e] // 4
            for c in range(9):
                mean[c] += inverse * volumes[t] * scratch[t, c]
        square = 0.0
        for e in range(first[i], first[i + 1]):
            t = incident[e] // 4
            off = 0.0
            for c in range(9):
                off += (scratch[t, c] - mean[c]) ** 2
            square += volumes[t] * off
        out[i] = np.sqrt(square * inverse)


@jit
def tet_nodal_stiffness(ids, tets, gradients, volumes, weight, lam, mu, counts, blocks):
    """Add the weights of the listed tets to ``counts`` (n,) of their corners i, and
    ``w_t V_t ((lam + mu) g_i g_i^T + mu |g_i|^2 I)`` to the corners' own ``blocks`` (n, 3, 3)."""
    for k in range(ids.shape[0]):
        t = ids[k]
        part = weight[t] * volumes[t]
        for q in range(4):
            i = tets[t, q]
            g = gradients[t, q]
            counts[i] += weight[t]
            along = mu * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
            for a in range(3):
                blocks[i, a, a] += part * along
                for b in range(3):
                    blocks[i, a, b] += part * (lam + mu) * g[a] * g[b]
