"""The local steps of one advance of the coupling ``schwarz``: one compiled loop over the nodes of all levels.

Levels are laid end to end, so that a node has one number in all arrays. The loop hands back to its caller
where forces are better done outside, and goes on from there.
"""

# mypy: disable-error-code="no-untyped-def"

from pliant.contact.signed_distance import PLANE, push_out
from pliant.kernels.jit import jit
from pliant.models.multires.border_damping_kernels import damp_edge
from pliant.models.multires.transfer_kernels import interpolate_rows, row_power, row_range

DONE, FORCES = 0, 1  # what the loop stopped for


@jit
def heat_stride(count):
    """The power of damping is looked at four times in an advance of ``count`` steps: every this many."""
    return max(1, count // 4)


@jit
def push_near(k, tick, t, period, contacts, d, v, f, load, inverse):
    """Push the listed nodes of level k out of the shapes, whose places are known at every tick; ``hit`` says
    which of them were given another velocity. pressing (levels, nodes, 3): the last forces of each level's
    tets on them; where it is empty, ``f`` are all forces. Forces are those that a node's mass feels, which at
    borders is another than that of its level, ``1 / inverse``."""
    kinds, numbers, places, near, near_first, points, mass, radius, x, out, hit, pressing = contacts
    dt = tick * period
    for o in range(kinds.shape[0]):
        row = k * kinds.shape[0] + o
        a, b = near_first[row], near_first[row + 1]
        if a == b:
            continue
        centre = places[o, t + period]
        velocity = (centre - places[o, t]) / dt
        size, frame = numbers[o, 0:3], numbers[o, 3:12].copy().reshape(3, 3)
        bound = size[0] + size[1] + size[2]
        for e in range(a, b):
            i = near[e]
            if kinds[o] != PLANE:  # those out of reach are passed over here: a call costs more than this test
                away = 0.0
                for c in range(3):
                    away += (points[i, c] + d[i, c] - centre[c]) ** 2
                if away > (bound + radius[i]) ** 2:
                    hit[e] = False
                    continue
            p, q, r = v[i, 0], v[i, 1], v[i, 2]
            fx, fy, fz = f[i, 0], f[i, 1], f[i, 2]
            ratio = mass[i] * max(inverse[i, 0], inverse[i, 1], inverse[i, 2])
            for c in range(3):
                x[i, c] = points[i, c] + d[i, c]
                total = load[i, c] if pressing.shape[0] > 0 else load[i, c] + f[i, c]
                for j in range(pressing.shape[0]):
                    total += pressing[j, e, c]
                f[i, c] = ratio * total
            push_out(
                i, kinds[o], size, centre, frame, velocity, numbers[o, 12], numbers[o, 13], dt,
                x, v, f, mass, radius, inverse, out[o],
            )  # fmt: skip
            for c in range(3):
                d[i, c] = x[i, c] - points[i, c]
            f[i, 0], f[i, 1], f[i, 2] = fx, fy, fz
            hit[e] = v[i, 0] != p or v[i, 1] != q or v[i, 2] != r


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
def refresh_ghosts(deepest, ghosts, ghosts_first, push, d, v):
    """Values of all ghosts from the coarser level as it is now."""
    for k in range(1, deepest + 1):
        interpolate_rows(ghosts_first[k], ghosts_first[k + 1], ghosts, push, d, v, d, v, False)


@jit
def _follow(balance, dt, memory):
    """Forces between nodes should add up to nothing; of what is left over, the slow part is kept."""
    part = min(1.0, dt / memory)
    for c in range(3):
        balance[1, c] += part * (balance[0, c] / dt - balance[1, c])
        balance[0, c] = 0.0


@jit
def run(
    cursor, times, outside, damping, lists, stiffness, push, pull, motion, ends, contacts, heat, ratio,
    balance, memory,
):  # fmt: skip
    """Go on from ``cursor`` (tick, level, stage) to the end of the advance, or to what is done outside.

    times: (ticks, seconds of a tick, ticks of each level's step, deepest level, whether in the text's order);
    outside: per level whether forces are done outside; damping: see ``Damping.table``; lists: active nodes,
    ghosts and replaced nodes of all levels, each with the place where a level's begin; stiffness, push, pull:
    sparse rows; motion: d, v, f, load, 1 / mass; ends: ghosts' d and v at both ends of the coarser level's
    step; contacts: rigid shapes and the nodes near them, see ``push_near``; heat (1,): the energy that
    damping takes is added to it; none is counted where it is empty; ratio: how much of its level's mass each
    node stands for; balance (2, 3): the impulse [N s] of all levels' forces in the coarsest step, and the
    force that was left over lately, in ``memory`` [s].
    """
    ticks, tick, periods, deepest, printed = times
    beta, edge, edge_first, more = damping
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
                    interpolate_rows(
                        replaced_first[k], replaced_first[k + 1], replaced, pull, d, v, d, v, False
                    )
                stage = 1
                if outside[k]:
                    cursor[0], cursor[1], cursor[2] = t, k, stage
                    return FORCES
                row_range(a, b, active, first, columns, blocks, d, v, beta, f)
                power = damp_edge(edge_first[k], edge_first[k + 1], edge, first, columns, v, more[k], f)
                stride = heat_stride(ticks // periods[k])
                if heat.shape[0] > 0 and (t // periods[k]) % stride == 0:
                    power += row_power(a, b, active, first, columns, blocks, v, beta)
                    heat[0] += stride * dt * power
            if stage == 1:
                if below:
                    interpolate_rows(
                        ghosts_first[k + 1], ghosts_first[k + 2], ghosts, push, d, v, d0, v0, True
                    )
                for e in range(a, b):
                    i = active[e]
                    for c in range(3):
                        balance[0, c] += dt * ratio[i] * f[i, c]
                        u = v[i, c] + dt * inverse[i, c] * (f[i, c] + load[i, c])
                        v[i, c] = u
                        d[i, c] += dt * u
                if below and not printed:
                    _carry(replaced_first[k], replaced_first[k + 1], replaced, d, v, dt)
                    _carry(ghosts_first[k], ghosts_first[k + 1], ghosts, d, v, dt)
                push_near(k, tick, t, periods[k], contacts, d, v, f, load, inverse)
            if below:
                interpolate_rows(ghosts_first[k + 1], ghosts_first[k + 2], ghosts, push, d, v, d1, v1, True)
            stage = 0
            k += 1
        t += 1
        if t % periods[0] == 0:
            _follow(balance, tick * periods[0], memory)
        for j in range(deepest - 1, -1, -1):
            if t % periods[j] == 0:
                _blend(ghosts_first[j + 1], ghosts_first[j + 2], ghosts, d1, d1, 0.0, d)
                _blend(ghosts_first[j + 1], ghosts_first[j + 2], ghosts, v1, v1, 0.0, v)
        k = 0
    return DONE
