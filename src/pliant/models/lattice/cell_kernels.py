r"""Compiled volume terms of lattice cells: forces, energies, stiffness products, energy-momentum forces.

A cell has eight elements in VTK's order. With its diagonals a = x6 - x0, b = x7 - x1, c = x4 - x2 and
d = x5 - x3, four times its mean edges are a - b - c + d, a + b - c - d and a + b + c + d. Rows of ``rest``
hold 1 / (64 det of the mean edges at rest), the stiffness A against changes of volume and that of the
barrier, B [J]; with :math:`J = \det / \det_0` a cell stores

.. math:: \tfrac12 A (J - 1)^2 + \tfrac12 B \max(0, \tfrac12 - J)^2.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.element_blocks import reduce_rows
from pliant.kernels.jit import inlined, jit, packing, partition, partition_count, prange, twin
from pliant.kernels.tensors import determinant
from pliant.materials.constitutive.discrete_gradient import cofactors, volume_gradient
from pliant.models.springs.kernels import add_row, bring_near, edge_row, shift_of

CRUSHED = 0.5  # the volume ratio J below which the barrier acts
_SIGNS = np.array([[1.0, -1.0, -1.0, 1.0], [1.0, 1.0, -1.0, -1.0], [1.0, 1.0, 1.0, 1.0]])  # edges by diagonal
_ENDS = np.array([[6, 0], [7, 1], [4, 2], [5, 3]])


@jit
def _cell_blocks(first, last, index, rest, near, buffer, shift, w, f, pressure):
    """Forces of some blocks; those in which no cell is under pressure are passed over."""
    for n in range(first, last):
        nodes = index[n]
        row = rest[n]
        for i in range(16):
            k = 4 * i
            edge_row(near, np.uint64(nodes[i, 6]) + shift, np.uint64(nodes[i, 0]) + shift, w, k)
            edge_row(near, np.uint64(nodes[i, 7]) + shift, np.uint64(nodes[i, 1]) + shift, w, 64 + k)
            edge_row(near, np.uint64(nodes[i, 4]) + shift, np.uint64(nodes[i, 2]) + shift, w, 128 + k)
            edge_row(near, np.uint64(nodes[i, 5]) + shift, np.uint64(nodes[i, 3]) + shift, w, 192 + k)
        for i in range(16):
            k = 4 * i
            sx, sy, sz = w[k] - w[128 + k], w[k + 1] - w[129 + k], w[k + 2] - w[130 + k]
            tx, ty, tz = w[64 + k] - w[192 + k], w[65 + k] - w[193 + k], w[66 + k] - w[194 + k]
            px, py, pz = sx - tx, sy - ty, sz - tz
            qx, qy, qz = sx + tx, sy + ty, sz + tz
            rx = w[k] + w[64 + k] + w[128 + k] + w[192 + k]
            ry = w[k + 1] + w[65 + k] + w[129 + k] + w[193 + k]
            rz = w[k + 2] + w[66 + k] + w[130 + k] + w[194 + k]
            det = px * (qy * rz - qz * ry) + py * (qz * rx - qx * rz) + pz * (qx * ry - qy * rx)
            J = det * row[i]
            pressure[i] = (row[16 + i] * (J - 1.0) - row[32 + i] * max(0.0, CRUSHED - J)) * row[i]
        total = 0.0
        for i in range(16):
            total += abs(pressure[i])
        if total == 0.0:
            continue
        for i in range(16):
            k = 4 * i
            s = -pressure[i]
            sx, sy, sz = w[k] - w[128 + k], w[k + 1] - w[129 + k], w[k + 2] - w[130 + k]
            tx, ty, tz = w[64 + k] - w[192 + k], w[65 + k] - w[193 + k], w[66 + k] - w[194 + k]
            px, py, pz = sx - tx, sy - ty, sz - tz
            qx, qy, qz = sx + tx, sy + ty, sz + tz
            rx = w[k] + w[64 + k] + w[128 + k] + w[192 + k]
            ry = w[k + 1] + w[65 + k] + w[129 + k] + w[193 + k]
            rz = w[k + 2] + w[66 + k] + w[130 + k] + w[194 + k]
            ux, uy, uz = s * (qy * rz - qz * ry), s * (qz * rx - qx * rz), s * (qx * ry - qy * rx)
            vx, vy, vz = s * (ry * pz - rz * py), s * (rz * px - rx * pz), s * (rx * py - ry * px)
            nx, ny, nz = s * (py * qz - pz * qy), s * (pz * qx - px * qz), s * (px * qy - py * qx)
            f[k], f[k + 1], f[k + 2], f[k + 3] = ux + vx + nx, uy + vy + ny, uz + vz + nz, w[k + 3]
            f[k + 64], f[k + 65] = vx + nx - ux, vy + ny - uy
            f[k + 66], f[k + 67] = vz + nz - uz, w[k + 3]
            f[k + 128], f[k + 129] = nx - ux - vx, ny - uy - vy
            f[k + 130], f[k + 131] = nz - uz - vz, w[k + 3]
            f[k + 192], f[k + 193] = ux - vx + nx, uy - vy + ny
            f[k + 194], f[k + 195] = uz - vz + nz, w[k + 3]
        for i in range(16):
            k = 4 * i
            a0, a1, a2, a3 = f[k], f[k + 1], f[k + 2], f[k + 3]
            b0, b1, b2, b3 = f[k + 64], f[k + 65], f[k + 66], f[k + 67]
            c0, c1, c2, c3 = f[k + 128], f[k + 129], f[k + 130], f[k + 131]
            d0, d1, d2, d3 = f[k + 192], f[k + 193], f[k + 194], f[k + 195]
            add_row(buffer, np.uint64(nodes[i, 6]) + shift, a0, a1, a2, a3)
            add_row(buffer, np.uint64(nodes[i, 0]) + shift, -a0, -a1, -a2, -a3)
            add_row(buffer, np.uint64(nodes[i, 7]) + shift, b0, b1, b2, b3)
            add_row(buffer, np.uint64(nodes[i, 1]) + shift, -b0, -b1, -b2, -b3)
            add_row(buffer, np.uint64(nodes[i, 4]) + shift, c0, c1, c2, c3)
            add_row(buffer, np.uint64(nodes[i, 2]) + shift, -c0, -c1, -c2, -c3)
            add_row(buffer, np.uint64(nodes[i, 5]) + shift, d0, d1, d2, d3)
            add_row(buffer, np.uint64(nodes[i, 3]) + shift, -d0, -d1, -d2, -d3)


@jit
def _cell_partition(p, low, high, offset, starts, index, rest, x, near, buffer):
    w, f, pressure = np.empty(256), np.empty(256), np.empty(16)
    shift = shift_of(low, offset, p)
    bring_near(low[p], high[p], x, near, shift)
    _cell_blocks(starts[p], starts[p + 1], index, rest, near, buffer, shift, w, f, pressure)


@packing
@twin
def cell_forces(low, high, offset, starts, index, rest, x, near, buffer, out):
    """Add the forces of cells to ``out``; ``near`` is scratch."""
    for p in prange(low.shape[0]):
        _cell_partition(np.int64(p), low, high, offset, starts, index, rest, x, near, buffer)
    for p in prange(partition_count(out.shape[0])):
        begin, end = partition(p, out.shape[0])
        reduce_rows(begin, end, low, high, offset, buffer, out)


@jit
def _edges(nodes, i, x, g):
    """Four times the mean edges of a cell, as rows of g (9)."""
    for e in range(3):
        for c in range(3):
            total = 0.0
            for k in range(4):
                total += _SIGNS[e, k] * (x[nodes[i, _ENDS[k, 0]], c] - x[nodes[i, _ENDS[k, 1]], c])
            g[3 * e + c] = total


@jit
def _spread(nodes, i, s, z, buffer, shift):
    """Add forces s z, z (9) the derivative by the rows of ``_edges``, to the corners of a cell."""
    for k in range(4):
        a, b = np.uint64(nodes[i, _ENDS[k, 0]]) + shift, np.uint64(nodes[i, _ENDS[k, 1]]) + shift
        for c in range(3):
            f = 0.0
            for e in range(3):
                f += _SIGNS[e, k] * z[3 * e + c]
            buffer[a, c] += s * f
            buffer[b, c] -= s * f


@inlined
def _nine(g):
    return (g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7], g[8])


@jit
def _energies(first, last, index, rest, x):
    total = 0.0
    g = np.empty(9)
    for b in range(first, last):
        row = rest[b]
        for i in range(16):
            if row[i] == 0.0:
                continue
            _edges(index[b], i, x, g)
            J = determinant(_nine(g)) * row[i]
            crushed = max(0.0, CRUSHED - J)
            total += 0.5 * row[16 + i] * (J - 1.0) * (J - 1.0) + 0.5 * row[32 + i] * crushed * crushed
    return total


@twin
def cell_energy(starts, index, rest, x):
    """Energy [J] of all cells; partitions are summed in order."""
    sums = np.empty(starts.shape[0] - 1)
    for p in prange(starts.shape[0] - 1):
        sums[p] = _energies(starts[p], starts[p + 1], index, rest, x)
    total = 0.0
    for p in range(sums.shape[0]):
        total += sums[p]
    return total


@jit
def _products(first, last, index, rest, scale, barrier, x, dx, buffer, shift):
    g, h = np.empty(9), np.empty(9)
    for b in range(first, last):
        row = rest[b]
        for i in range(16):
            if row[i] == 0.0:
                continue
            _edges(index[b], i, x, g)
            stiffness = row[16 + i]
            if barrier and determinant(_nine(g)) * row[i] < CRUSHED:
                stiffness += row[32 + i]
            if stiffness == 0.0:
                continue
            _edges(index[b], i, dx, h)
            z = cofactors(_nine(g))
            rate = 0.0
            for c in range(9):
                rate += z[c] * h[c]
            _spread(index[b], i, scale * stiffness * row[i] * row[i] * rate, z, buffer, shift)


@twin
def cell_product(starts, low, offset, index, rest, scale, barrier, x, dx, buffer):
    """``scale K dx`` of the cells into the buffers, K without its geometric part: positive semi-definite.
    Without ``barrier`` it is the stiffness A alone, that of damping."""
    for p in prange(low.shape[0]):
        shift = shift_of(low, offset, np.int64(p))
        _products(starts[p], starts[p + 1], index, rest, scale, barrier, x, dx, buffer, shift)


@jit
def _forces_between(first, last, index, rest, x0, x1, buffer, shift):
    g0, g1 = np.empty(9), np.empty(9)
    for b in range(first, last):
        row = rest[b]
        for i in range(16):
            if row[i] == 0.0:
                continue
            _edges(index[b], i, x0, g0)
            _edges(index[b], i, x1, g1)
            unit = np.cbrt(row[i])  # edges over those at rest: their determinant is J
            for c in range(9):
                g0[c] *= unit
                g1[c] *= unit
            f0, f1 = _nine(g0), _nine(g1)
            j0, j1 = determinant(f0), determinant(f1)
            s = row[16 + i] * (0.5 * (j0 + j1) - 1.0)
            m0, m1 = max(0.0, CRUSHED - j0), max(0.0, CRUSHED - j1)
            if m0 > 0.0 and m1 > 0.0:
                s -= 0.5 * row[32 + i] * (m0 + m1)
            elif m0 > 0.0 or m1 > 0.0:
                s += 0.5 * row[32 + i] * (m1 * m1 - m0 * m0) / (j1 - j0)
            if s == 0.0:
                continue
            columns0 = (f0[0], f0[3], f0[6], f0[1], f0[4], f0[7], f0[2], f0[5], f0[8])
            columns1 = (f1[0], f1[3], f1[6], f1[1], f1[4], f1[7], f1[2], f1[5], f1[8])
            z = volume_gradient(columns0, columns1)
            rows = (z[0], z[3], z[6], z[1], z[4], z[7], z[2], z[5], z[8])
            _spread(index[b], i, -s * unit, rows, buffer, shift)


@twin
def cell_forces_between(starts, low, offset, index, rest, x0, x1, buffer):
    """Forces of the cells in a step from ``x0`` to ``x1`` into the buffers (``springs.energy_momentum``)."""
    for p in prange(low.shape[0]):
        shift = shift_of(low, offset, np.int64(p))
        _forces_between(starts[p], starts[p + 1], index, rest, x0, x1, buffer, shift)


@jit
def cell_ratios(cells, det, x):
    """Volume ratios J (c,) of ``cells`` (c, 8) whose mean edges have the determinants ``det`` at rest."""
    out = np.empty(cells.shape[0])
    g = np.empty(9)
    for k in range(cells.shape[0]):
        _edges(cells, k, x, g)
        out[k] = determinant(_nine(g)) / 64.0 / det[k]
    return out
