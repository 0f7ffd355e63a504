"""Which nodes of all levels are simulated, replaced, wanted as ghosts, or at borders.

Compiled, and in proportion to those nodes. Levels are laid end to end; what is looked up by node is scratch
that is left as it was found: ``marks`` false. ``room`` holds lists of nodes.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit

ACTIVE, REPLACED, ABSENT = 0, 1, 2  # how a node stands: simulated, replaced by finer ones, not there


@jit
def list_roles(first, split, children_first, children, before, standing, room):
    """How nodes stand, into ``standing``, where nodes ``before`` were there so far: all of the coarsest are
    there, and the children of split ones. Returns those that are there, the simulated and the replaced ones
    of all levels, in order, each with the place where a level's begin."""
    for e in range(before.shape[0]):
        standing[before[e]] = ABSENT
    levels = first.shape[0] - 1
    begins = np.zeros((3, levels + 1), np.int64)
    there, active, replaced = room[0], room[1], room[2]
    n = 0
    a = 0
    r = 0
    for k in range(levels):
        begin = n
        if k == 0:
            for i in range(first[1]):
                there[n] = i
                n += 1
        else:
            for p in range(first[k - 1], first[k]):
                if split[p]:
                    for e in range(children_first[p], children_first[p + 1]):
                        there[n] = children[e]
                        n += 1
            there[begin:n].sort()
        for e in range(begin, n):
            i = there[e]
            if split[i]:
                standing[i] = REPLACED
                replaced[r] = i
                r += 1
            else:
                standing[i] = ACTIVE
                active[a] = i
                a += 1
        begins[0, k + 1], begins[1, k + 1], begins[2, k + 1] = n, a, r
    lists = there[:n].copy(), active[:a].copy(), replaced[:r].copy()
    return lists[0], begins[0], lists[1], begins[1], lists[2], begins[2]


@jit
def _collect(a, b, nodes, rows_first, columns, standing, marks, room, n):
    """Add the absent columns of rows nodes[a:b] to the list in ``room`` that ends at n; its new end."""
    for e in range(a, b):
        for c in range(rows_first[nodes[e]], rows_first[nodes[e] + 1]):
            j = columns[c]
            if standing[j] == ABSENT and not marks[j]:
                marks[j] = True
                room[n] = j
                n += 1
    return n


@jit
def list_ghosts(first, lists, stiffness, push, pull, standing, marks, room):
    """Nodes that are not there but whose values are wanted: by forces on simulated nodes, by replaced nodes
    of the next coarser level, and by ghosts of the next finer one; and where a level's begin."""
    active, active_first, replaced, replaced_first = lists[2], lists[3], lists[4], lists[5]
    levels = first.shape[0] - 1
    ends = first[:-1].copy()
    for k in range(levels - 1, 0, -1):
        n = ends[k]
        n = _collect(
            active_first[k], active_first[k + 1], active, stiffness[0], stiffness[1], standing, marks, room, n
        )
        n = _collect(
            replaced_first[k - 1], replaced_first[k], replaced, pull[0], pull[1], standing, marks, room, n
        )
        room[first[k] : n].sort()
        ends[k] = n
        if k > 1:
            ends[k - 1] = _collect(
                first[k], n, room, push[0], push[1], standing, marks, room, ends[k - 1]
            )  # fmt: skip
    begins = np.zeros(levels + 1, np.int64)
    for k in range(levels):
        begins[k + 1] = begins[k] + ends[k] - first[k]
    ghosts = np.empty(begins[levels], np.int64)
    for k in range(levels):
        for e in range(ends[k] - first[k]):
            j = room[first[k] + e]
            ghosts[begins[k] + e] = j
            marks[j] = False
    return ghosts, begins


@jit
def list_border(lists, rows_first, columns, marks):
    """Simulated nodes that neighbour replaced ones."""
    active, replaced = lists[2], lists[4]
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
