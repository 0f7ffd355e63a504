"""Compiled loops over nodes: stiffness rows, interpolation between levels and its transpose, prescribed
nodes. Each output row has one writer, so the bytes do not depend on the number of threads."""

# mypy: disable-error-code="no-untyped-def"

from pliant.core.typing import Array, IntArray
from pliant.kernels.jit import SERIAL_ROWS, jit, partition, partition_count, prange, twin
from pliant.models.multires.levels import Level


@jit
def row_range(a, b, nodes, first, columns, blocks, d, v, beta, out):
    """``f_i = -sum_j K_ij (d_j + beta_i v_j)`` of nodes i = nodes[a:b]."""
    for k in range(a, b):
        i = nodes[k]
        own = beta[i]
        fx = 0.0
        fy = 0.0
        fz = 0.0
        for e in range(first[i], first[i + 1]):
            j = columns[e]
            x = d[j, 0] + own * v[j, 0]
            y = d[j, 1] + own * v[j, 1]
            z = d[j, 2] + own * v[j, 2]
            fx -= blocks[e, 0, 0] * x + blocks[e, 0, 1] * y + blocks[e, 0, 2] * z
            fy -= blocks[e, 1, 0] * x + blocks[e, 1, 1] * y + blocks[e, 1, 2] * z
            fz -= blocks[e, 2, 0] * x + blocks[e, 2, 1] * y + blocks[e, 2, 2] * z
        out[i, 0] = fx
        out[i, 1] = fy
        out[i, 2] = fz


@twin
def _rows(nodes, first, columns, blocks, d, v, beta, out):
    for p in prange(partition_count(nodes.shape[0])):
        a, b = partition(p, nodes.shape[0])
        row_range(a, b, nodes, first, columns, blocks, d, v, beta, out)


def row_forces(nodes: IntArray, level: Level, d: Array, v: Array, beta: Array, out: Array) -> None:
    """``f_i = -sum_j K_ij (d_j + beta_i v_j)`` for the listed nodes."""
    table = nodes, level.first, level.columns, level.blocks
    _rows[len(nodes) >= SERIAL_ROWS](*table, d, v, beta, out)


@jit
def row_power(a, b, nodes, first, columns, blocks, v, beta):
    """``sum_i beta_i v_i . sum_j K_ij v_j`` over nodes i = nodes[a:b]: the power of stiffness damping [W]."""
    total = 0.0
    for k in range(a, b):
        i = nodes[k]
        for e in range(first[i], first[i + 1]):
            j = columns[e]
            for c in range(3):
                total += (beta[i] * v[i, c]) * (
                    blocks[e, c, 0] * v[j, 0] + blocks[e, c, 1] * v[j, 1] + blocks[e, c, 2] * v[j, 2]
                )
    return total


@jit
def interpolate_rows(a, b, nodes, rows, d, v, d_out, v_out, packed):
    """``sum_j w_ij d_j`` of nodes i = nodes[a:b], and of v, into rows i of the outputs, or a... where
    ``packed``."""
    first, columns, weights = rows
    for k in range(a, b):
        i = nodes[k]
        x = 0.0
        y = 0.0
        z = 0.0
        p = 0.0
        q = 0.0
        r = 0.0
        for e in range(first[i], first[i + 1]):
            j = columns[e]
            w = weights[e]
            x += w * d[j, 0]
            y += w * d[j, 1]
            z += w * d[j, 2]
            p += w * v[j, 0]
            q += w * v[j, 1]
            r += w * v[j, 2]
        target = k if packed else i
        d_out[target, 0] = x
        d_out[target, 1] = y
        d_out[target, 2] = z
        v_out[target, 0] = p
        v_out[target, 1] = q
        v_out[target, 2] = r


@jit
def interpolate_node(i, corners, weights, d, v, d_out, v_out):
    """``d_out_i = sum_q w_iq d[corner_iq]``, and v likewise."""
    x = 0.0
    y = 0.0
    z = 0.0
    p = 0.0
    q = 0.0
    r = 0.0
    for k in range(4):
        j = corners[i, k]
        w = weights[i, k]
        x += w * d[j, 0]
        y += w * d[j, 1]
        z += w * d[j, 2]
        p += w * v[j, 0]
        q += w * v[j, 1]
        r += w * v[j, 2]
    d_out[i, 0] = x
    d_out[i, 1] = y
    d_out[i, 2] = z
    v_out[i, 0] = p
    v_out[i, 1] = q
    v_out[i, 2] = r


@jit
def interpolate_constrained(a, b, nodes, corners, weights, d, v, d_out, v_out):
    """``interpolate_node`` for nodes i = nodes[a:b]."""
    for k in range(a, b):
        interpolate_node(nodes[k], corners, weights, d, v, d_out, v_out)


@jit
def interpolate_flagged(a, b, flags, corners, weights, d, v, d_out, v_out):
    """``interpolate_node`` for the flagged ones of nodes a...b."""
    for i in range(a, b):
        if flags[i]:
            interpolate_node(i, corners, weights, d, v, d_out, v_out)


@jit
def restrict_range(a, b, nodes, corners, weights, values, out):
    """Transpose of ``interpolate_constrained``: ``out[corner_iq] += w_iq values_i``, i = nodes[a:b]."""
    for k in range(a, b):
        i = nodes[k]
        for q in range(4):
            j = corners[i, q]
            for c in range(values.shape[1]):
                out[j, c] += weights[i, q] * values[i, c]


@jit
def set_prescribed_velocity(nodes, flags, target, d, v, dt):
    """``v = (target - d) / dt`` for the flagged degrees of freedom of nodes; True if any has to move."""
    moving = False
    for k in range(nodes.shape[0]):
        i = nodes[k]
        for c in range(3):
            if flags[k, c]:
                v[i, c] = (target[k, c] - d[i, c]) / dt
                moving |= v[i, c] != 0.0
    return moving


@jit
def update_prescribed(rows, flags, x, rest, displacement):
    """``displacement = x - rest`` for the flagged degrees of freedom of rows; True if any has changed."""
    changed = False
    for k in range(rows.shape[0]):
        i = rows[k]
        for c in range(3):
            here = x[i, c] - rest[i, c] if flags[i, c] else 0.0
            changed |= here != displacement[k, c]
            displacement[k, c] = here
    return changed


@jit
def finest_targets(nodes, flags, x, rest, d, out):
    """Target displacements ``x - rest`` of the flagged degrees of freedom of nodes; others stay at ``d``."""
    for k in range(nodes.shape[0]):
        i = nodes[k]
        for c in range(3):
            out[k, c] = x[i, c] - rest[i, c] if flags[k, c] else d[i, c]


@jit
def prescribed_targets(corners, weights, finer, out):
    """``out_k = sum_q w_kq finer[corner_kq]``."""
    for k in range(corners.shape[0]):
        for c in range(3):
            total = 0.0
            for q in range(4):
                total += weights[k, q] * finer[corners[k, q], c]
            out[k, c] = total


@jit
def add_reactions(nodes, flags, f, load, nearest, out):
    """Add ``f + load`` of the flagged degrees of freedom of nodes to the rows ``nearest`` of ``out``."""
    for k in range(nodes.shape[0]):
        i = nodes[k]
        for c in range(3):
            if flags[i, c]:
                out[nearest[i], c] += f[i, c] + load[i, c]


@jit
def mark_tets(nodes, first, incident, flags):
    """Flag the tets that are incident to the listed nodes."""
    for k in range(nodes.shape[0]):
        for e in range(first[nodes[k]], first[nodes[k] + 1]):
            flags[incident[e] // 4] = True
