"""The sub-steps of one step of the coupling ``schwarz``: one compiled loop over the nodes of all levels.

Nodes have one number in all arrays. The loop returns to its caller where the forces of a level are computed
outside of it, by several threads or tet by tet, and continues from there.
"""

# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

from pliant.core.typing import IntArray
from pliant.kernels.jit import jit
from pliant.models.multires.border_damping_kernels import add_rim_damping
from pliant.models.multires.substep_kernels import DONE, FORCES, heat_stride, push_out_nearby
from pliant.models.multires.transfer_kernels import interpolate_rows, row_power, row_range


class SchwarzNodes(NamedTuple):
    """Active nodes, ghosts and replaced nodes of all levels, each with the places where levels begin."""

    active: IntArray
    active_first: IntArray
    ghosts: IntArray
    ghosts_first: IntArray
    replaced: IntArray
    replaced_first: IntArray


@jit
def _blend(a, b, nodes, before, after, theta, out):
    """``out_i = (1 - theta) before_k + theta after_k`` for i = nodes[k], k = a...b."""
    for k in range(a, b):
        i = nodes[k]
        for c in range(3):
            out[i, c] = (1.0 - theta) * before[k, c] + theta * after[k, c]


@jit
def _drift(a, b, nodes, d, v, dt):
    """``d_i += dt v_i`` for i = nodes[a:b]."""
    for k in range(a, b):
        i = nodes[k]
        for c in range(3):
            d[i, c] += dt * v[i, c]


@jit
def interpolate_ghosts(finest, nodes, prolongation, d, v):
    """Values of all ghosts from the coarser level as it is now, ``u_i = sum_j P_ij u_j``."""
    ghosts, first = nodes.ghosts, nodes.ghosts_first
    for k in range(1, finest + 1):
        interpolate_rows(first[k], first[k + 1], ghosts, prolongation, d, v, d, v, False)


@jit
def _filter_imbalance(balance, dt, memory):
    """Forces between nodes should add up to zero. Their mean over the last coarsest step, ``r = balance_0 /
    dt``, is low-pass filtered: ``balance_1 += min(1, dt / memory) (r - balance_1)``; balance_0 is reset."""
    part = min(1.0, dt / memory)
    for c in range(3):
        balance[1, c] += part * (balance[0, c] / dt - balance[1, c])
        balance[0, c] = 0.0


@jit
def run(
    cursor, times, outside, damping, nodes, stiffness, prolongation, restriction, motion, ends, contacts,
    heat, ratio, balance, memory,
):  # fmt: skip
    """Run the sub-steps from ``cursor`` (tick, level, stage) to the end of the step, or to forces that are
    computed outside.

    A step has ``ticks`` of h seconds; level k takes a sub-step of ``dt = periods[k] h`` where the tick t is a
    multiple of periods[k], coarse levels first. With ``theta = (t mod periods[k - 1]) / periods[k - 1]`` it
    is

        u_g = (1 - theta) u_g0 + theta u_g1     ghosts g of level k, both for d and v
        u_r = sum_j R_rj u_j                    replaced nodes r, from the finer level
        f_i = -sum_j K_ij (d_j + beta_i v_j)    active nodes i, and the rim damping of layers
        u_g0 = sum_j P_gj u_j                   ghosts of level k + 1, at the start of the sub-step
        v_i += dt / m_i (f_i + load_i),   d_i += dt v_i
        d_r += dt v_r,  d_g += dt v_g           replaced nodes and ghosts move on with their velocity
        u_g1 = sum_j P_gj u_j                   ghosts of level k + 1, at its end

    after which nodes near obstacles are pushed out of them. In the published order theta is 1 and the last
    move is left out.

    times: (ticks, h, periods, finest active level, whether in the published order); outside: per level
    whether forces are computed outside; damping: a ``DampingTable``; nodes: ``SchwarzNodes``; stiffness,
    prolongation, restriction: sparse rows K, P, R; motion: d, v, f, load, 1 / m; ends: d and v of ghosts at
    both ends of the coarser level's sub-step (u_g0, u_g1); heat (1,): the energy [J] that damping takes is
    added to it (empty: not counted); ratio: how much of its level's mass each node stands for; balance (2,
    3): the impulse [N s] of all levels' forces in the coarsest sub-step, and the force imbalance [N],
    filtered over ``memory`` [s].
    """
    ticks, tick, periods, finest, published = times
    beta, rim, rim_first, extra_beta = damping
    active, active_first, ghosts, ghosts_first, replaced, replaced_first = nodes
    first, columns, blocks = stiffness
    d, v, f, load, inverse = motion
    d0, v0, d1, v1 = ends
    t, k, stage = cursor[0], cursor[1], cursor[2]
    while t < ticks:
        while k <= finest:
            if t % periods[k] != 0:
                k += 1
                continue
            below = k < finest
            dt = tick * periods[k]
            a, b = active_first[k], active_first[k + 1]
            if stage == 0:
                if k > 0:
                    theta = 1.0 if published else (t % periods[k - 1]) / periods[k - 1]
                    _blend(ghosts_first[k], ghosts_first[k + 1], ghosts, d0, d1, theta, d)
                    _blend(ghosts_first[k], ghosts_first[k + 1], ghosts, v0, v1, theta, v)
                if below:
                    interpolate_rows(
                        replaced_first[k], replaced_first[k + 1], replaced, restriction, d, v, d, v, False
                    )
                stage = 1
                if outside[k]:
                    cursor[0], cursor[1], cursor[2] = t, k, stage
                    return FORCES
                row_range(a, b, active, first, columns, blocks, d, v, beta, f)
                power = add_rim_damping(
                    rim_first[k], rim_first[k + 1], rim, first, columns, v, extra_beta[k], f
                )
                stride = heat_stride(ticks // periods[k])
                if heat.shape[0] > 0 and (t // periods[k]) % stride == 0:
                    power += row_power(a, b, active, first, columns, blocks, v, beta)
                    heat[0] += stride * dt * power
            if stage == 1:
                if below:
                    interpolate_rows(
                        ghosts_first[k + 1], ghosts_first[k + 2], ghosts, prolongation, d, v, d0, v0, True
                    )
                for e in range(a, b):
                    i = active[e]
                    for c in range(3):
                        balance[0, c] += dt * ratio[i] * f[i, c]
                        u = v[i, c] + dt * inverse[i, c] * (f[i, c] + load[i, c])
                        v[i, c] = u
                        d[i, c] += dt * u
                if below and not published:
                    _drift(replaced_first[k], replaced_first[k + 1], replaced, d, v, dt)
                    _drift(ghosts_first[k], ghosts_first[k + 1], ghosts, d, v, dt)
                push_out_nearby(k, tick, t, periods[k], contacts, d, v, f, load, inverse)
            if below:
                interpolate_rows(
                    ghosts_first[k + 1], ghosts_first[k + 2], ghosts, prolongation, d, v, d1, v1, True
                )
            stage = 0
            k += 1
        t += 1
        if t % periods[0] == 0:
            _filter_imbalance(balance, tick * periods[0], memory)
        for j in range(finest - 1, -1, -1):
            if t % periods[j] == 0:
                _blend(ghosts_first[j + 1], ghosts_first[j + 2], ghosts, d1, d1, 0.0, d)
                _blend(ghosts_first[j + 1], ghosts_first[j + 2], ghosts, v1, v1, 0.0, v)
        k = 0
    return DONE
