"""Compiled loops over the nodes of damped layers at borders between levels."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit
from pliant.models.multires.node_roles import ABSENT


@jit
def rings_around(nodes, first, columns, most, state, rings):
    """Nodes by their number of edges from the listed ones, up to ``most``, on ways through nodes that are not
    absent; and where the last ring begins. rings (n,): scratch, ``most + 1`` before and after."""
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
                if rings[j] > most and state[j] != ABSENT:
                    rings[j] = ring
                    reached[n] = j
                    n += 1
        begin, end = end, n
    for k in range(end):
        rings[reached[k]] = most + 1
    return reached[:end].copy(), begin


@jit
def partial_rows(nodes, first, columns, around_first, around, tets, g, volumes, flags, plain, lam, mu):
    """The listed nodes' stiffness rows, of the flagged tets alone: where each begins, and 3x3 blocks in the
    order of ``columns``. plain: those of the text's operator."""
    begin = np.zeros(nodes.shape[0] + 1, np.int64)
    for k in range(nodes.shape[0]):
        begin[k + 1] = begin[k] + first[nodes[k] + 1] - first[nodes[k]]
    blocks = np.zeros((begin[-1], 3, 3))
    for k in range(nodes.shape[0]):
        i = nodes[k]
        for e in range(around_first[i], around_first[i + 1]):
            t = around[e] // 4
            if not flags[t]:
                continue
            p = around[e] % 4
            for q in range(4):
                row = begin[k] + np.searchsorted(columns[first[i] : first[i + 1]], tets[t, q])
                dot = 0.0
                for c in range(3):
                    dot += g[t, p, c] * g[t, q, c]
                for a in range(3):
                    blocks[row, a, a] += volumes[t] * mu * dot
                    for b in range(3):
                        if plain:
                            blocks[row, a, b] += volumes[t] * (lam + mu) * g[t, p, a] * g[t, q, b]
                        else:
                            blocks[row, a, b] += volumes[t] * (
                                lam * g[t, p, a] * g[t, q, b] + mu * g[t, q, a] * g[t, p, b]
                            )
    return begin, blocks


@jit
def damp_edge(a, b, edge, first, columns, v, beta, f):
    """Add ``-beta sum_j P_ij v_j`` to the forces of nodes a...b of ``edge``: (nodes, where their rows begin,
    blocks P); returns the power [W] that this takes."""
    nodes, begin, blocks = edge
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
def damp_listed(a, b, nodes, edge, first, columns, v, beta, marks, f):
    """``damp_edge`` for those of nodes a...b of ``edge`` that are listed; marks (n,): scratch, false before
    and after."""
    for k in range(nodes.shape[0]):
        marks[nodes[k]] = True
    for k in range(a, b):
        if marks[edge[0][k]]:
            damp_edge(k, k + 1, edge, first, columns, v, beta, f)
    for k in range(nodes.shape[0]):
        marks[nodes[k]] = False
