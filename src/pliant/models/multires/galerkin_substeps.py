"""The local steps of one advance of the coupling ``galerkin``: one compiled loop over all levels.

Levels are laid end to end, as in ``schedule``. The loop hands back to its caller where a level has so many
tets that its forces are better made by several threads, and goes on from there.
"""

# mypy: disable-error-code="no-untyped-def"

from pliant.contact.signed_distance import push_out
from pliant.kernels.jit import jit
from pliant.models.multires.schwarz_substeps import DONE, FORCES, heat_stride, push_near
from pliant.models.multires.tet_kernels import gather_range, tet_range
from pliant.models.multires.transfer_kernels import interpolate_constrained_range, restrict_range


@jit
def interpolate_slaves(deepest, lists, links, d, v):
    """Pulled nodes take the values of the finer tets around them, then slaves those of their parent tets."""
    slaves, slaves_first, pulled, pulled_first = lists[2], lists[3], lists[4], lists[5]
    up, up_weights, down, down_weights = links
    for k in range(deepest - 1, -1, -1):
        interpolate_constrained_range(
            pulled_first[k], pulled_first[k + 1], pulled, down, down_weights, d, v, d, v
        )
    for k in range(1, deepest + 1):
        interpolate_constrained_range(
            slaves_first[k], slaves_first[k + 1], slaves, up, up_weights, d, v, d, v
        )


@jit
def _tet_forces(k, lists, elastic, beta, d, v, f):
    tets, gradients, volumes, weight, operator, lam, mu, buffer, around_first, around = elastic
    ids, ids_first, used, used_first = lists[6], lists[7], lists[8], lists[9]
    tet_range(
        ids_first[k], ids_first[k + 1], ids, tets, gradients, volumes, weight, operator, lam, mu,
        d, v, beta, buffer,
    )  # fmt: skip
    gather_range(used_first[k], used_first[k + 1], used, around_first, around, weight, buffer, f)


@jit
def _power(k, lists, v, f):
    used, used_first = lists[8], lists[9]
    total = 0.0
    for e in range(used_first[k], used_first[k + 1]):
        i = used[e]
        total += v[i, 0] * f[i, 0] + v[i, 1] * f[i, 1] + v[i, 2] * f[i, 2]
    return total


@jit
def _level_forces(k, lists, links, elastic, damping, heat, seconds, d, v, f):
    """Forces of level k's tets on its own nodes, and through slaves on all coarser levels."""
    slaves, slaves_first, pulled, pulled_first = lists[2], lists[3], lists[4], lists[5]
    touched, touched_first = lists[10], lists[11]
    up, up_weights, down, down_weights = links
    for e in range(touched_first[0], touched_first[k + 1]):
        for c in range(3):
            f[touched[e], c] = 0.0
    if seconds > 0.0:
        _tet_forces(k, lists, elastic, 0.0, d, v, f)
        heat[0] += seconds * _power(k, lists, v, f)
    _tet_forces(k, lists, elastic, damping, d, v, f)
    if seconds > 0.0:
        heat[0] -= seconds * _power(k, lists, v, f)
    for j in range(k, 0, -1):
        restrict_range(slaves_first[j], slaves_first[j + 1], slaves, up, up_weights, f, f)
    for j in range(k):
        restrict_range(pulled_first[j], pulled_first[j + 1], pulled, down, down_weights, f, f)
        for e in range(pulled_first[j], pulled_first[j + 1]):
            for c in range(3):
                f[pulled[e], c] = 0.0


@jit
def _keep_pressing(k, contacts, f):
    """What the tets of level k press nodes near obstacles with, these being of that level or coarser."""
    kinds, near, near_first, pressing = contacts[0], contacts[3], contacts[4], contacts[11]
    for e in range(near_first[0], near_first[(k + 1) * kinds.shape[0]]):
        for c in range(3):
            pressing[k, e, c] = f[near[e], c]


@jit
def _rest_on_obstacles(deepest, tick, ticks, periods, contacts, d, v, f, inverse):
    """What was pushed last stays out: obstacles take what the last half kick would press into them."""
    kinds, numbers, places, near, near_first, points, mass, radius, x, out, hit, _ = contacts
    for k in range(deepest + 1):
        dt = tick * periods[k]
        for o in range(kinds.shape[0]):
            row = k * kinds.shape[0] + o
            centre = places[o, ticks]
            velocity = (centre - places[o, ticks - periods[k]]) / dt
            size, frame = numbers[o, 0:3], numbers[o, 3:12].copy().reshape(3, 3)
            for e in range(near_first[row], near_first[row + 1]):
                if not hit[e]:
                    continue
                i = near[e]
                fx, fy, fz = f[i, 0], f[i, 1], f[i, 2]
                for c in range(3):
                    x[i, c] = points[i, c] + d[i, c] + dt * v[i, c]
                    f[i, c] = 0.0  # velocities are those of the full step, and no place is changed
                push_out(
                    i, kinds[o], size, centre, frame, velocity, numbers[o, 12], numbers[o, 13], dt,
                    x, v, f, mass, radius, inverse, out[o],
                )  # fmt: skip
                f[i, 0], f[i, 1], f[i, 2] = fx, fy, fz


@jit
def run(cursor, times, outside, damping, lists, links, elastic, motion, contacts, heat):
    """Go on from ``cursor`` (tick, level, stage) to the end of the advance, or to what is done outside.

    times: (ticks, seconds of a tick, ticks of each level's step, deepest level); outside: per level whether
    its forces are; lists: active nodes, slaves, pulled nodes, tets that count, their nodes, and all nodes
    that forces pass through, each with the place where a level's begin; links: parent and child tets of all
    nodes with weights; elastic: what forces of tets want; motion: d, v, f, load, 1 / mass; contacts: as in
    ``schedule``; heat (1,): the energy that damping takes is added to it; none is counted where it is empty.

    Kicks at both ends of the advance are half ones, so that velocities belong to the time of places.
    """
    ticks, tick, periods, deepest = times
    active, active_first = lists[0], lists[1]
    d, v, f, load, inverse = motion
    t, k, stage = cursor[0], cursor[1], cursor[2]
    while t <= ticks:
        last = t == ticks
        part = 0.5 if t == 0 or last else 1.0
        if k == 0 and stage == 0 and (t == 0 or last):
            interpolate_slaves(deepest, lists, links, d, v)
        while k <= deepest:
            if t % periods[k] != 0:
                k += 1
                continue
            if stage == 0:
                if outside[k]:
                    cursor[0], cursor[1], cursor[2] = t, k, 1
                    return FORCES
                stride = heat_stride(ticks // periods[k])
                counted = heat.shape[0] > 0 and damping > 0.0 and not last and (t // periods[k]) % stride == 0
                seconds = stride * tick * periods[k] if counted else 0.0
                _level_forces(k, lists, links, elastic, damping, heat, seconds, d, v, f)
            _keep_pressing(k, contacts, f)
            kick = part * tick * periods[k]
            for e in range(active_first[0], active_first[k + 1]):
                i = active[e]
                for c in range(3):
                    v[i, c] += kick * inverse[i, c] * f[i, c]
            stage = 0
            k += 1
        drift = 0.0 if last else tick
        for e in range(active_first[0], active_first[deepest + 1]):
            i = active[e]
            for c in range(3):
                u = v[i, c] + part * tick * inverse[i, c] * load[i, c]
                v[i, c] = u
                d[i, c] += drift * u
        k = 0
        t += 1
        if last:
            _rest_on_obstacles(deepest, tick, ticks, periods, contacts, d, v, f, inverse)
            break
        interpolate_slaves(deepest, lists, links, d, v)
        for j in range(deepest, -1, -1):
            if t % periods[j] == 0:
                push_near(j, tick, t - periods[j], periods[j], contacts, d, v, f, load, inverse)
    return DONE
