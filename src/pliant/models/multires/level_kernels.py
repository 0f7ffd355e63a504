"""Compiled loops over the levels of a body: what is simulated, what hangs on it, and how fast the strain
changes."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit


@jit
def own_nodes(split, pinned, level, corners, weights, begin, own):
    """The nodes that are simulated: the coarsest and the anchors, those that hang on a split node, and pinned
    particles."""
    for i in range(own.shape[0]):
        own[i] = level[i] <= 0 or (i >= begin and pinned[i - begin])
        for k in range(4):
            if weights[i, k] != 0.0:
                own[i] |= split[corners[i, k]]


@jit
def count_active(nodes, split, pinned, anchored, level, corners, weights, begin, coarsest, first, children,
                 own):  # fmt: skip
    """The number of simulated nodes that something hangs on, pinned particles apart, and the deepest level,
    if the listed ``nodes`` are ``split``. coarsest: how many nodes are always simulated, the anchors among
    them; own (n,): all False, and so again at the end. The work is that of the nodes that are simulated."""
    found = np.empty(own.shape[0], np.int64)
    for i in range(coarsest):
        own[i], found[i] = True, i
    n = coarsest
    for k in range(nodes.shape[0]):
        for e in range(first[nodes[k]], first[nodes[k] + 1]):
            j = children[e]
            if own[j]:
                continue
            for c in range(4):
                own[j] |= weights[j, c] != 0.0 and split[corners[j, c]]
            if own[j]:
                found[n] = j
                n += 1
    count, deepest = 0, 0
    for k in range(n):
        i = found[k]
        if i >= begin and pinned[i - begin]:
            continue
        used = i >= begin
        for e in range(first[i], first[i + 1]):
            j = children[e]
            used |= not own[j] and not (j >= begin and (anchored[j - begin] or pinned[j - begin]))
        if used:
            count += 1
            deepest = max(deepest, level[i])
    for k in range(n):
        own[found[k]] = False
    return count, deepest


@jit
def arrange(split, pinned, level, corners, weights, begin, tets, tet_cluster, cluster_parent, cluster_level,
            summed, own, depth, usable, mesh_tets):  # fmt: skip
    """From the split flags (n,): the nodes that are simulated (own), the deepest level that each node depends
    on, the clusters that may stand for their tets (a cluster may not where one of its particles depends on a
    level below it, and need not where a larger one does), and the mesh tets that are left."""
    own_nodes(split, pinned, level, corners, weights, begin, own)
    for i in range(own.shape[0]):
        depth[i] = level[i]
        if not own[i]:
            depth[i] = 0
            for k in range(4):
                if weights[i, k] != 0.0:
                    depth[i] = max(depth[i], depth[corners[i, k]])
    reached = np.zeros(usable.shape[0], np.int64)
    for t in range(tets.shape[0]):
        e = tet_cluster[t]
        if e >= 0:
            for k in range(4):
                reached[e] = max(reached[e], depth[begin + tets[t, k]])
    for e in range(usable.shape[0] - 1, -1, -1):
        if cluster_parent[e] >= 0:
            reached[cluster_parent[e]] = max(reached[cluster_parent[e]], reached[e])
    for e in range(usable.shape[0]):
        usable[e] = summed[cluster_level[e]] and reached[e] <= cluster_level[e]
    for t in range(tets.shape[0]):
        e = tet_cluster[t]
        mesh_tets[t] = e < 0 or not usable[e]
    for e in range(usable.shape[0] - 1, -1, -1):
        if cluster_parent[e] >= 0 and usable[cluster_parent[e]]:
            usable[e] = False


@jit
def restrict_all(own, corners, weights, values):
    """Hand the ``values`` (n, k) of all nodes that are not simulated up to those that they hang on, in
    place."""
    for i in range(own.shape[0] - 1, -1, -1):
        if own[i]:
            continue
        for k in range(4):
            w = weights[i, k]
            if w != 0.0:
                for c in range(values.shape[1]):
                    values[corners[i, k], c] += w * values[i, c]
        for c in range(values.shape[1]):
            values[i, c] = 0.0


@jit
def hung_masses(own, corners, weights, begin, mass, points, moments, hung):
    """Masses and first moments ``G^T (m, m X)`` (n, 4) of the simulated nodes, and lumped masses ``|G|^T (m
    |G| 1)`` (n,), of particles that begin at ``begin``; zero elsewhere."""
    n = own.shape[0]
    share = np.ones(n)
    for i in range(n):
        if not own[i]:
            share[i] = 0.0
            for k in range(4):
                share[i] += abs(weights[i, k]) * share[corners[i, k]]
    for i in range(begin, n):
        m = mass[i - begin]
        moments[i, 0] = m
        for c in range(3):
            moments[i, 1 + c] = m * points[i, c]
        hung[i] = m * share[i]
    for i in range(n - 1, -1, -1):
        if own[i]:
            continue
        for k in range(4):
            w, j = weights[i, k], corners[i, k]
            if w != 0.0:
                hung[j] += abs(w) * hung[i]
                for c in range(4):
                    moments[j, c] += w * moments[i, c]
        hung[i] = 0.0
        moments[i] = 0.0


@jit
def staying(prescribed, x, v, rest, near, out):
    """Flag particles that are prescribed in all directions, at rest, and as ``near`` to their rest places."""
    for i in range(x.shape[0]):
        out[i] = True
        for c in range(3):
            out[i] &= prescribed[i, c] and v[i, c] == 0.0 and abs(x[i, c] - rest[i, c]) <= near


@jit
def worst_children(split, eta, first, children, out):
    """The largest eta of what hangs on each split node of ``out``: infinite where that is split too."""
    for i in range(out.shape[0]):
        if split[i]:
            for e in range(first[i], first[i + 1]):
                j = children[e]
                out[i] = max(out[i], np.inf if split[j] else eta[j])


@jit
def interpolate_all(own, corners, weights, x, v):
    """Values of all nodes that hang, the coarser ones first."""
    for i in range(own.shape[0]):
        if not own[i]:
            hang(i, corners, weights, x)
            hang(i, corners, weights, v)


@jit
def hang(i, corners, weights, values):
    a, b, c = 0.0, 0.0, 0.0
    for k in range(4):
        w, j = weights[i, k], corners[i, k]
        a += w * values[j, 0]
        b += w * values[j, 1]
        c += w * values[j, 2]
    values[i, 0], values[i, 1], values[i, 2] = a, b, c


@jit
def hanging_nodes(own, needed, corners, weights):
    """The nodes that are needed and not simulated, and those that they hang on, the coarser ones first."""
    count = 0
    for i in range(own.shape[0] - 1, -1, -1):
        if needed[i] and not own[i]:
            count += 1
            for k in range(4):
                if weights[i, k] != 0.0:
                    needed[corners[i, k]] = True
    found = np.empty(count, np.int64)
    n = 0
    for i in range(own.shape[0]):
        if needed[i] and not own[i]:
            found[n] = i
            n += 1
    return found


@jit
def gradient_jump(nodes, known, offset, tets, g, volumes, first, incident, u, out):
    """rms deviation of the gradients of the tets around each listed node, by volume: zero on linear fields.

    nodes: in the numbers of all levels; those of this level begin at ``offset``. Tets with a corner whose
    place is not ``known`` (n,) are left out."""
    mean, each = np.zeros(9), np.zeros(9)
    for k in range(nodes.shape[0]):
        i = nodes[k] - offset
        total, square = 0.0, 0.0
        mean[:] = 0.0
        for e in range(first[i], first[i + 1]):
            t = incident[e] // 4
            whole = True
            for q in range(4):
                whole &= known[offset + tets[t, q]]
            if not whole:
                continue
            each[:] = 0.0
            for q in range(4):
                j = tets[t, q]
                for a in range(3):
                    for b in range(3):
                        each[3 * a + b] += u[offset + j, a] * g[t, q, b]
            total += volumes[t]
            for c in range(9):
                mean[c] += volumes[t] * each[c]
                square += volumes[t] * each[c] * each[c]
        inverse = 1.0 / total if total > 0.0 else 0.0
        for c in range(9):
            square -= mean[c] * mean[c] * inverse
        out[nodes[k]] = np.sqrt(max(square * inverse, 0.0))
