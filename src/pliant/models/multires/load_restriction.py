"""Loads on particles as equivalent loads on active nodes, for the coupling ``schwarz``."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit
from pliant.models.multires.node_roles import ABSENT, ACTIVE


@jit
def _restrict_node(i, corners, weights, values, out, marks, listed, n):
    """``out[corner_iq] += w_iq values_i``; corners are added to ``listed``, whose end is the returned n."""
    for q in range(4):
        j = corners[i, q]
        for c in range(3):
            out[j, c] += weights[i, q] * values[i, c]
        if not marks[j]:
            marks[j] = True
            listed[n] = j
            n += 1
    return n


@jit
def restrict_to_active(first, tets, role, scale, rows, values, rounds, scratch):
    """Equivalent loads on active nodes of loads ``values`` (m, 3) on the finest nodes ``rows``.

    An absent node i has the displacement ``u_i = sum_q w_iq u_q`` of its parent tet, a replaced node that of
    its child tet. With P the matrix of these weights, virtual work is the same for loads F and ``P^T F``, so
    the load of such a node passes to the corners of its tet,

        F_q += w_iq F_i,    F_i = 0,

    which keeps the sum and the moment of all loads. Corners may be absent or replaced themselves: passes from
    the finest level to the coarsest are repeated until all loads are on active nodes, or ``rounds`` times.

    first: where each level begins; tets: corners and weights of parent and child tets of all nodes; scale
    (n,): loads that arrive at active nodes are multiplied by it. Returns active nodes, their loads, and the
    sum (3,) of the loads that are left on other nodes. scratch: three arrays (n, 3) of zeros, three (n,) of
    false, and room for three lists (n,).
    """
    parents, parent_weights, children, child_weights = tets
    loads, flags, lists = scratch
    here, later, kept = loads[0], loads[1], loads[2]
    marks, later_marks, kept_marks = flags[0], flags[1], flags[2]
    listed, later_listed, nodes = lists[0], lists[1], lists[2]
    levels = first.shape[0] - 1
    n = 0
    ends = first[:-1].copy()
    for e in range(rows.shape[0]):
        i = first[levels - 1] + rows[e]
        marks[i] = True
        listed[first[levels - 1] + e] = i
        for c in range(3):
            here[i, c] = values[e, c]
    ends[levels - 1] += rows.shape[0]
    pending = rows.shape[0] > 0
    done = 0
    while pending and done < rounds:
        done += 1
        pending = False
        later_ends = first[:-1].copy()
        for k in range(levels - 1, -1, -1):
            listed[first[k] : ends[k]].sort()
            for e in range(first[k], ends[k]):
                i = listed[e]
                if role[i] == ACTIVE:
                    if not kept_marks[i]:
                        kept_marks[i] = True
                        nodes[n] = i
                        n += 1
                    for c in range(3):
                        kept[i, c] += scale[i] * here[i, c]
                elif role[i] == ABSENT:
                    ends[k - 1] = _restrict_node(
                        i, parents, parent_weights, here, here, marks, listed, ends[k - 1]
                    )
                else:
                    pending = True
                    later_ends[k + 1] = _restrict_node(
                        i, children, child_weights, here, later, later_marks, later_listed, later_ends[k + 1]
                    )
            for e in range(first[k], ends[k]):
                marks[listed[e]] = False
                for c in range(3):
                    here[listed[e], c] = 0.0
        here, later = later, here
        marks, later_marks = later_marks, marks
        listed, later_listed = later_listed, listed
        ends = later_ends
    left = np.zeros(3)
    for k in range(levels):
        for e in range(first[k], ends[k]):
            marks[listed[e]] = False
            for c in range(3):
                left[c] += here[listed[e], c]
                here[listed[e], c] = 0.0
    amounts = np.empty((n, 3))
    for e in range(n):
        kept_marks[nodes[e]] = False
        for c in range(3):
            amounts[e, c] = kept[nodes[e], c]
            kept[nodes[e], c] = 0.0
    return nodes[:n].copy(), amounts, left
