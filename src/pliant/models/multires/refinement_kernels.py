"""Compiled loops that choose which nodes are replaced by finer ones."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit


@jit
def choose(split, eta, distance, spacing, forced, children, threshold, shares, wanted, urgency):
    """Which nodes should be split, into ``wanted``, and how urgent each is (forced ones: 1e9), into
    ``urgency``.

    A node is split where eta exceeds the threshold, and merged where all its children are below ``merge``
    times that. children: of all nodes, as sparse rows; shares: (merge, reach, leave), the latter two in
    spacings: the distance from a tool within which nodes are split, and within which they may not merge.
    """
    children_first, columns = children
    merge, reach, leave = shares
    for i in range(wanted.shape[0]):
        worst = 0.0
        if split[i]:
            for e in range(children_first[i], children_first[i + 1]):
                j = columns[e]
                worst = max(worst, np.inf if split[j] else eta[j])
        now = distance[i] < reach * spacing[i] or forced[i]
        kept = split[i] and (worst > merge * threshold or distance[i] < leave * spacing[i])
        wanted[i] = now or kept or (not split[i] and eta[i] > threshold)
        own = 2.0 * min(worst, 1e6) if split[i] else eta[i]
        urgency[i] = 1e9 if now else own


@jit
def whole_tets(nodes, first, incident, tets, flags):
    """For each listed node without an incident tet of flagged corners, flag all corners of the incident tet
    that has most of them."""
    for k in range(nodes.shape[0]):
        i = nodes[k]
        best, most = -1, 0
        for e in range(first[i], first[i + 1]):
            t = incident[e] // 4
            count = 0
            for q in range(4):
                count += flags[tets[t, q]]
            if count > most:
                best, most = t, count
        if best >= 0 and most < 4:
            for q in range(4):
                flags[tets[best, q]] = True


@jit
def split_in_order(order, costs, most, first, columns, parent, flags):
    """Split nodes in order, and the parents of all that neighbour them, and so on, up to the first whose
    costs would bring the sum above ``most``; returns the sum."""
    fresh = np.empty(flags.shape[0], np.int64)
    total = 0.0
    for k in range(order.shape[0]):
        if flags[order[k]]:
            continue
        fresh[0] = order[k]
        flags[order[k]] = True
        n = 1
        done = 0
        while done < n:
            i = fresh[done]
            done += 1
            total += costs[i]
            if parent[i] < 0:
                continue
            for e in range(first[i], first[i + 1]):
                p = parent[columns[e]]
                if not flags[p]:
                    flags[p] = True
                    fresh[n] = p
                    n += 1
        if total > most:
            for e in range(n):
                flags[fresh[e]] = False
                total -= costs[fresh[e]]
            return total
    return total


@jit
def children_of(nodes, first, children):
    """All children of the listed nodes, in order."""
    n = 0
    for k in range(nodes.shape[0]):
        n += first[nodes[k] + 1] - first[nodes[k]]
    found = np.empty(n, np.int64)
    n = 0
    for k in range(nodes.shape[0]):
        for e in range(first[nodes[k]], first[nodes[k] + 1]):
            found[n] = children[e]
            n += 1
    found.sort()
    return found
