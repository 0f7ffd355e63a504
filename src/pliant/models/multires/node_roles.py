"""Roles of nodes in the coupling ``schwarz``: active, replaced, absent; which absent ones are ghosts, and
which active ones are at borders.

Compiled, and in proportion to those nodes; nodes have one number in all levels. What is looked up by node is
scratch that is left as it was found: ``marks`` false. ``scratch`` has scratch for lists of nodes.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit

ACTIVE, REPLACED, ABSENT = 0, 1, 2  # integrated in time, replaced by its finer children, not present


@jit
def list_roles(first, split, children_first, children, before, role, scratch):
    """Set the role of all nodes, where the nodes ``before`` were present so far: all nodes of the coarsest
    level are present, and the children of split ones. Returns the present, the active and the replaced nodes
    of all levels, in order, each followed by the places where levels begin."""
    for e in range(before.shape[0]):
        role[before[e]] = ABSENT
    levels = first.shape[0] - 1
    begins = np.zeros((3, levels + 1), np.int64)
    present, active, replaced = scratch[0], scratch[1], scratch[2]
    n = 0
    a = 0
    r = 0
    for k in range(levels):
        begin = n
        if k == 0:
            for i in range(first[1]):
                present[n] = i
                n += 1
        else:
            for p in range(first[k - 1], first[k]):
                if split[p]:
                    for e in range(children_first[p], children_first[p + 1]):
                        present[n] = children[e]
                        n += 1
            present[begin:n].sort()
        for e in range(begin, n):
            i = present[e]
            if split[i]:
                role[i] = REPLACED
                replaced[r] = i
                r += 1
            else:
                role[i] = ACTIVE
                active[a] = i
                a += 1
        begins[0, k + 1], begins[1, k + 1], begins[2, k + 1] = n, a, r
    lists = present[:n].copy(), active[:a].copy(), replaced[:r].copy()
    return lists[0], begins[0], lists[1], begins[1], lists[2], begins[2]


@jit
def _collect(a, b, nodes, rows_first, columns, role, marks, scratch, n):
    """Add the absent columns of rows nodes[a:b] to the list in ``scratch`` that ends at n; its new end."""
    for e in range(a, b):
        for c in range(rows_first[nodes[e]], rows_first[nodes[e] + 1]):
            j = columns[c]
            if role[j] == ABSENT and not marks[j]:
                marks[j] = True
                scratch[n] = j
                n += 1
    return n


@jit
def list_ghosts(first, roles, stiffness, prolongation, restriction, role, marks, scratch):
    """Absent nodes whose values are read: by forces on active nodes, by replaced nodes of the next coarser
    level, and by ghosts of the next finer one; and where each level begins."""
    _, _, active, active_first, replaced, replaced_first = roles
    levels = first.shape[0] - 1
    ends = first[:-1].copy()
    for k in range(levels - 1, 0, -1):
        n = ends[k]
        n = _collect(
            active_first[k], active_first[k + 1], active, stiffness[0], stiffness[1], role, marks, scratch, n
        )
        n = _collect(
            replaced_first[k - 1], replaced_first[k], replaced, restriction[0], restriction[1], role, marks,
            scratch, n,
        )  # fmt: skip
        scratch[first[k] : n].sort()
        ends[k] = n
        if k > 1:
            ends[k - 1] = _collect(
                first[k], n, scratch, prolongation[0], prolongation[1], role, marks, scratch, ends[k - 1]
            )
    begins = np.zeros(levels + 1, np.int64)
    for k in range(levels):
        begins[k + 1] = begins[k] + ends[k] - first[k]
    ghosts = np.empty(begins[levels], np.int64)
    for k in range(levels):
        for e in range(ends[k] - first[k]):
            j = scratch[first[k] + e]
            ghosts[begins[k] + e] = j
            marks[j] = False
    return ghosts, begins


@jit
def list_border(roles, rows_first, columns, marks):
    """Active nodes that neighbour replaced ones."""
    active, replaced = roles[2], roles[4]
    for e in range(replaced.shape[0]):
        for c in range(rows_first[replaced[e]], rows_first[replaced[e] + 1]):
            marks[columns[c]] = True
    border = np.empty(active.shape[0], np.int64)
    n = 0
    for e in range(active.shape[0]):
        if marks[active[e]]:
            border[n] = active[e]
            n += 1
    for e in range(replaced.shape[0]):
        for c in range(rows_first[replaced[e]], rows_first[replaced[e] + 1]):
            marks[columns[c]] = False
    return border[:n].copy()
