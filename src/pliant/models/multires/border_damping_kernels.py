"""Compiled loops over the nodes of damped layers at borders between levels, and of the rims of layers."""

# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.kernels.jit import jit
from pliant.models.multires.node_roles import ABSENT


class RimRows(NamedTuple):
    """Nodes on the rims of layers, and the stiffness rows that the layers' tets alone give them: 3x3
    ``blocks`` P_ij of node k at ``begin[k] : begin[k + 1]``, in the order of the node's columns."""

    nodes: IntArray
    begin: IntArray
    blocks: Array


@jit
def rings_around(nodes, first, columns, most, role, rings):
    """Nodes in order of their distance in edges from the listed ones, up to ``most``, on paths through nodes
    that are not absent; and where the last ring begins. rings (n,): scratch, ``most + 1`` before and
    after."""
    reached = np.empty(rings.shape[0], np.int64)
    begin, end = 0, nodes.shape[0]
    for k in range(end):
        reached[k] = nodes[k]
        rings[nodes[k]] = 0
    for ring in range(1, most + 1):
        n = end
        for k in range(begin, end):
            for e in range(first[reached[k]], first[reached[k] + 1]):
                j = columns[e]
                if rings[j] > most and role[j] != ABSENT:
                    rings[j] = ring
                    reached[n] = j
                    n += 1
        begin, end = end, n
    for k in range(end):
        rings[reached[k]] = most + 1
    return reached[:end].copy(), begin


@jit
def partial_rows(nodes, first, columns, incident_first, incident, tets, g, volumes, flags, debunne, lam, mu):
    """Stiffness rows of the listed nodes from the flagged tets alone: where each begins, and 3x3 blocks in
    the order of ``columns``, for nodes p, q of a tet ``V (lam g_p g_q^T + mu g_q g_p^T + mu (g_p . g_q) I)``;
    with Debunne's operator ``V ((lam + mu) g_p g_q^T + mu (g_p . g_q) I)``."""
    begin = np.zeros(nodes.shape[0] + 1, np.int64)
    for k in range(nodes.shape[0]):
        begin[k + 1] = begin[k] + first[nodes[k] + 1] - first[nodes[k]]
    blocks = np.zeros((begin[-1], 3, 3))
    for k in range(nodes.shape[0]):
        i = nodes[k]
        for e in range(incident_first[i], incident_first[i + 1]):
            t = incident[e] // 4
            if not flags[t]:
                continue
            p = incident[e] % 4
            for q in range(4):
                row = begin[k] + np.searchsorted(columns[first[i] : first[i + 1]], tets[t, q])
                dot = 0.0
                for c in range(3):
                    dot += g[t, p, c] * g[t, q, c]
                for a in range(3):
                    blocks[row, a, a] += volumes[t] * mu * dot
                    for b in range(3):
                        if debunne:
                            blocks[row, a, b] += volumes[t] * (lam + mu) * g[t, p, a] * g[t, q, b]
                        else:
                            blocks[row, a, b] += volumes[t] * (
                                lam * g[t, p, a] * g[t, q, b] + mu * g[t, q, a] * g[t, p, b]
                            )
    return begin, blocks


@jit
def add_rim_damping(a, b, rim, first, columns, v, beta, f):
    """``f_i -= beta sum_j P_ij v_j`` for the nodes a...b of the rim; returns the power [W] that this
    takes."""
    nodes, begin, blocks = rim
    power = 0.0
    for k in range(a, b):
        i = nodes[k]
        for e in range(begin[k], begin[k + 1]):
            j = columns[first[i] + e - begin[k]]
            for c in range(3):
                taken = beta * (
                    blocks[e, c, 0] * v[j, 0] + blocks[e, c, 1] * v[j, 1] + blocks[e, c, 2] * v[j, 2]
                )
                f[i, c] -= taken
                power += v[i, c] * taken
    return power


@jit
def add_listed_rim_damping(a, b, nodes, rim, first, columns, v, beta, marks, f):
    """``add_rim_damping`` for those of nodes a...b of the rim that are listed; marks (n,): scratch, false
    before and after."""
    for k in range(nodes.shape[0]):
        marks[nodes[k]] = True
    for k in range(a, b):
        if marks[rim.nodes[k]]:
            add_rim_damping(k, k + 1, rim, first, columns, v, beta, f)
    for k in range(nodes.shape[0]):
        marks[nodes[k]] = False
