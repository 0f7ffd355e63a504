"""The sub-steps of one step of the coupling ``galerkin``: one compiled loop over all levels.

Nodes and tets have one number in all arrays. The loop returns to its caller where a level has so many tets
that its forces are better computed by several threads, and continues from there.
"""

# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

from pliant.core.typing import Array, IntArray
from pliant.kernels.jit import jit
from pliant.models.multires.substep_kernels import (
    DONE,
    FORCES,
    heat_stride,
    hold_against_obstacles,
    push_out_nearby,
)
from pliant.models.multires.tet_kernels import gather_range, tet_range
from pliant.models.multires.transfer_kernels import interpolate_constrained, restrict_range


class GalerkinNodes(NamedTuple):
    """Active nodes, nodes slaved to parent tets, nodes embedded in child tets, tets that count, their
    corners, and all nodes that forces pass through, each with the places where levels begin."""

    active: IntArray
    active_first: IntArray
    slaved: IntArray
    slaved_first: IntArray
    embedded: IntArray
    embedded_first: IntArray
    tets: IntArray
    tets_first: IntArray
    corners: IntArray
    corners_first: IntArray
    touched: IntArray
    touched_first: IntArray


class TetTable(NamedTuple):
    """Tets of all levels: corners, gradients, volumes and weights, the operator with Lamé's constants, a
    buffer (4 m, 3) for the forces on corners, and the incident tets of nodes."""

    tets: IntArray
    gradients: Array
    volumes: Array
    weight: Array
    operator: int
    lam: float
    mu: float
    buffer: Array
    incident_first: IntArray
    incident: IntArray


@jit
def interpolate_slaved(finest, nodes, tets, d, v):
    """``u = G q``: embedded nodes take the values of the finer tets around them, from fine to coarse; then
    slaved nodes take those of their parent tets, from coarse to fine."""
    parents, parent_weights, children, child_weights = tets
    first = nodes.embedded_first
    for k in range(finest - 1, -1, -1):
        interpolate_constrained(first[k], first[k + 1], nodes.embedded, children, child_weights, d, v, d, v)
    first = nodes.slaved_first
    for k in range(1, finest + 1):
        interpolate_constrained(first[k], first[k + 1], nodes.slaved, parents, parent_weights, d, v, d, v)


@jit
def restrict_constrained(finest, slaved, slaved_first, embedded, embedded_first, tets, values):
    """``G^T``, the transpose of ``interpolate_slaved``: values (n, c) of slaved nodes are added to those of
    their parent tets, from level ``finest`` to coarser ones; then those of embedded nodes move to their child
    tets."""
    parents, parent_weights, children, child_weights = tets
    for k in range(finest, 0, -1):
        restrict_range(slaved_first[k], slaved_first[k + 1], slaved, parents, parent_weights, values, values)
    for k in range(finest):
        a, b = embedded_first[k], embedded_first[k + 1]
        restrict_range(a, b, embedded, children, child_weights, values, values)
        for e in range(a, b):
            for c in range(values.shape[1]):
                values[embedded[e], c] = 0.0


@jit
def _tet_forces(k, nodes, table, beta, d, v, f):
    """``f_i = -sum_t w_t V_t P_t(d + beta v) g_ti`` over the tets t of level k, at their corners i."""
    tet_range(
        nodes.tets_first[k], nodes.tets_first[k + 1], nodes.tets, table.tets, table.gradients, table.volumes,
        table.weight, table.operator, table.lam, table.mu, d, v, beta, table.buffer,
    )  # fmt: skip
    gather_range(
        nodes.corners_first[k], nodes.corners_first[k + 1], nodes.corners, table.incident_first,
        table.incident, table.weight, table.buffer, f,
    )  # fmt: skip


@jit
def _power(k, nodes, v, f):
    """``sum_i v_i . f_i`` [W] over the corners of level k's tets."""
    total = 0.0
    for e in range(nodes.corners_first[k], nodes.corners_first[k + 1]):
        i = nodes.corners[e]
        total += v[i, 0] * f[i, 0] + v[i, 1] * f[i, 1] + v[i, 2] * f[i, 2]
    return total


@jit
def _level_forces(k, nodes, tets, table, damping, heat, seconds, d, v, f):
    """Forces ``G^T f_k`` of level k's tets on the nodes of level k and coarser ones. Where ``seconds`` is not
    zero, the heat ``seconds v . (f_k(d) - f_k(d + damping v))`` is added."""
    for e in range(nodes.touched_first[0], nodes.touched_first[k + 1]):
        for c in range(3):
            f[nodes.touched[e], c] = 0.0
    if seconds > 0.0:
        _tet_forces(k, nodes, table, 0.0, d, v, f)
        heat[0] += seconds * _power(k, nodes, v, f)
    _tet_forces(k, nodes, table, damping, d, v, f)
    if seconds > 0.0:
        heat[0] -= seconds * _power(k, nodes, v, f)
    restrict_constrained(k, nodes.slaved, nodes.slaved_first, nodes.embedded, nodes.embedded_first, tets, f)


@jit
def _keep_pressing(k, contacts, f):
    """Keep the forces of level k's tets on nodes near obstacles, these being of that level or coarser."""
    near = contacts.near
    for e in range(contacts.near_first[0], contacts.near_first[(k + 1) * contacts.kinds.shape[0]]):
        for c in range(3):
            contacts.pressing[k, e, c] = f[near[e], c]


@jit
def run(cursor, times, outside, damping, nodes, tets, table, motion, contacts, heat):
    """Run the sub-steps from ``cursor`` (tick, level, stage) to the end of the step, or to forces that are
    computed outside.

    A step has ``ticks`` of h seconds. With G the interpolation of slaved and embedded nodes, all nodes move
    as ``u = G q``, q the active ones. At tick t, ``c = 1/2`` at both ends of the step and 1 between them, it
    is

        v_q += c periods[k] h M^-1 G^T f_k      for the levels k of which t is a multiple of periods[k]
        v_q += c h M^-1 load,   d_q += h v_q    (no move at the last tick)

    the impulse form of multirate leapfrog: kicks at both ends are half ones, so that velocities are at the
    time of positions. After each move, nodes near obstacles are pushed out of them.

    times: (ticks, h, periods, finest active level); outside: per level whether forces are computed outside;
    damping: beta [s] in ``f(d + beta v)``; nodes: ``GalerkinNodes``; tets: parent and child tets of all nodes
    with weights; table: ``TetTable``; motion: d, v, f, load, M^-1; heat (1,): the energy [J] that damping
    takes is added to it (empty: not counted).
    """
    ticks, tick, periods, finest = times
    active, active_first = nodes.active, nodes.active_first
    d, v, f, load, inverse = motion
    t, k, stage = cursor[0], cursor[1], cursor[2]
    while t <= ticks:
        last = t == ticks
        part = 0.5 if t == 0 or last else 1.0
        if k == 0 and stage == 0 and (t == 0 or last):
            interpolate_slaved(finest, nodes, tets, d, v)
        while k <= finest:
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
                _level_forces(k, nodes, tets, table, damping, heat, seconds, d, v, f)
            _keep_pressing(k, contacts, f)
            kick = part * tick * periods[k]
            for e in range(active_first[0], active_first[k + 1]):
                i = active[e]
                for c in range(3):
                    v[i, c] += kick * inverse[i, c] * f[i, c]
            stage = 0
            k += 1
        drift = 0.0 if last else tick
        for e in range(active_first[0], active_first[finest + 1]):
            i = active[e]
            for c in range(3):
                u = v[i, c] + part * tick * inverse[i, c] * load[i, c]
                v[i, c] = u
                d[i, c] += drift * u
        k = 0
        t += 1
        if last:
            hold_against_obstacles(finest + 1, tick, ticks, periods, contacts, d, v, f, inverse)
            break
        interpolate_slaved(finest, nodes, tets, d, v)
        for j in range(finest, -1, -1):
            if t % periods[j] == 0:
                push_out_nearby(j, tick, t - periods[j], periods[j], contacts, d, v, f, load, inverse)
    return DONE
