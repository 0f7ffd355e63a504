"""The local steps of one advance of the coupling ``schwarz``: one compiled loop over the nodes of all levels.

Levels are laid end to end, so that a node has one number in all arrays. The loop hands back to its caller
where forces or contacts are better done outside, and goes on from there.
"""

# mypy: disable-error-code="no-untyped-def"

from pliant.compiled import jit
from pliant.models.multires.kernels import row_range

DONE, FORCES, CONTACTS = 0, 1, 2  # what the loop stopped for


@jit
def _take_rows(a, b, nodes, rows, source, out, packed):
    """``sum_j w_ij source_j`` of nodes i = nodes[a:b], into row i of ``out``, or a... where ``packed``."""
    first, columns, weights = rows
    for k in range(a, b):
        i = nodes[k]
        x = 0.0
        y = 0.0
        z = 0.0
        for e in range(first[i], first[i + 1]):
            j = columns[e]
            w = weights[e]
            x += w * source[j, 0]
            y += w * source[j, 1]
            z += w * source[j, 2]
        target = k if packed else i
        out[target, 0] = x
        out[target, 1] = y
        out[target, 2] = z


@jit
def _blend(a, b, nodes, before, after, theta, out):
    for k in range(a, b):
        i = nodes[k]
        for c in range(3):
            out[i, c] = (1.0 - theta) * before[k, c] + theta * after[k, c]


@jit
def _carry(a, b, nodes, d, v, dt):
    for k in range(a, b):
        i = nodes[k]
        for c in range(3):
            d[i, c] += dt * v[i, c]


@jit
def run(cursor, times, flags, lists, stiffness, push, pull, motion, ends):
    """Go on from ``cursor`` (tick, level, stage) to the end of the advance, or to what is done outside.

    times: (ticks, seconds of a tick, ticks of each level's step, deepest level, whether in the text's order);
    flags: per level whether forces, and whether contacts, are done outside; lists: active nodes, ghosts and
    replaced nodes of all levels, each with the place where a level's begin; stiffness, push, pull: sparse
    rows; motion: d, v, f, load, 1 / mass; ends: ghosts' d and v at both ends of the coarser level's step.
    """
    ticks, tick, periods, deepest, printed = times
    outside, touching, beta = flags
    active, active_first, ghosts, ghosts_first, replaced, replaced_first = lists
    first, columns, blocks = stiffness
    d, v, f, load, inverse = motion
    d0, v0, d1, v1 = ends
    t, k, stage = cursor[0], cursor[1], cursor[2]
    while t < ticks:
        while k <= deepest:
            if t % periods[k] != 0:
                k += 1
                continue
            below = k < deepest
            dt = tick * periods[k]
            a, b = active_first[k], active_first[k + 1]
            if stage == 0:
                if k > 0:
                    theta = 1.0 if printed else (t % periods[k - 1]) / periods[k - 1]
                    _blend(ghosts_first[k], ghosts_first[k + 1], ghosts, d0, d1, theta, d)
                    _blend(ghosts_first[k], ghosts_first[k + 1], ghosts, v0, v1, theta, v)
                if below:
                    _take_rows(replaced_first[k], replaced_first[k + 1], replaced, pull, d, d, False)
                    _take_rows(replaced_first[k], replaced_first[k + 1], replaced, pull, v, v, False)
                stage = 1
                if outside[k]:
                    cursor[0], cursor[1], cursor[2] = t, k, stage
                    return FORCES
                row_range(a, b, active, first, columns, blocks, d, v, beta[k], f)
            if stage == 1:
                if below:
                    _take_rows(ghosts_first[k + 1], ghosts_first[k + 2], ghosts, push, d, d0, True)
                    _take_rows(ghosts_first[k + 1], ghosts_first[k + 2], ghosts, push, v, v0, True)
                for e in range(a, b):
                    i = active[e]
                    for c in range(3):
                        u = v[i, c] + dt * inverse[i, c] * (f[i, c] + load[i, c])
                        v[i, c] = u
                        d[i, c] += dt * u
                if below and not printed:
                    _carry(replaced_first[k], replaced_first[k + 1], replaced, d, v, dt)
                    _carry(ghosts_first[k], ghosts_first[k + 1], ghosts, d, v, dt)
                stage = 2
                if touching[k]:
                    cursor[0], cursor[1], cursor[2] = t, k, stage
                    return CONTACTS
            if below:
                _take_rows(ghosts_first[k + 1], ghosts_first[k + 2], ghosts, push, d, d1, True)
                _take_rows(ghosts_first[k + 1], ghosts_first[k + 2], ghosts, push, v, v1, True)
            stage = 0
            k += 1
        t += 1
        for j in range(deepest - 1, -1, -1):
            if t % periods[j] == 0:
                _blend(ghosts_first[j + 1], ghosts_first[j + 2], ghosts, d1, d1, 0.0, d)
                _blend(ghosts_first[j + 1], ghosts_first[j + 2], ghosts, v1, v1, 0.0, v)
        k = 0
    return DONE
