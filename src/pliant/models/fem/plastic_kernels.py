"""Compiled loops of plastic flow over tets (``materials/constitutive/plastic_flow.py``)."""

# mypy: disable-error-code="no-untyped-def"

from functools import cache
from typing import Any

import numpy as np

from pliant.core.typing import Kernel
from pliant.kernels.jit import inlined, jit, prange, specialised, specialised_twin
from pliant.materials.constitutive.anisotropic import elastic_strain
from pliant.materials.constitutive.law import Law
from pliant.materials.constitutive.plastic_flow import (
    additive_return,
    deviatoric_excess,
    flowed_row,
    logarithmic_excess,
    multiplicative_return,
    printed_excess,
    printed_return,
)
from pliant.models.fem.law_blocks import LAMBDA, MU, PLASTIC, law_label, law_names, plastic_of
from pliant.models.tets.kernels import SCRATCH, deform_block, gather_edges, take

STRAIN = 16 * 16  # columns of the scratch: elastic strain (6)
EXCESS = 16 * 22
CREEP, CAP = 16, 32  # columns of a plastic row, after the yield limit

prepare: Kernel = None  # the functions of the law, see ``law_names``
gradient: Kernel = None
stretches: Kernel = None
frame: Kernel = None
excess: Kernel = None
strain_block: Kernel = None
flow_lane: Kernel = None
flow_blocks: Kernel = None


def _additive_block(w, row, plastic):
    """Elastic strain (6, tensor components) of each lane into the columns at STRAIN, and its excess."""
    prepare(w, row)
    for i in range(16):
        f = gradient(w, row, i)
        s = stretches(w, i)
        _a, u = frame(f, s)
        e0, e1, e2, e3, e4, e5 = elastic_strain(u, plastic_of(row, i))
        w[STRAIN + i] = e0
        w[STRAIN + 16 + i] = e1
        w[STRAIN + 32 + i] = e2
        w[STRAIN + 48 + i] = 0.5 * e3
        w[STRAIN + 64 + i] = 0.5 * e4
        w[STRAIN + 80 + i] = 0.5 * e5
        w[EXCESS + i] = excess((e0, e1, e2, 0.5 * e3, 0.5 * e4, 0.5 * e5), plastic[i])


@jit
def _multiplicative_block(w, row, plastic):
    """F into the columns 0 to 8, and what may exceed the yield limit."""
    deform_block(w, row)
    for i in range(16):
        f = take(w, i)
        w[EXCESS + i] = logarithmic_excess(f, plastic[i])


@inlined
def _strain_of(w, i):
    n = STRAIN + i
    return w[n], w[n + 16], w[n + 32], w[n + 48], w[n + 64], w[n + 80]


@inlined
def _put_plastic(row, i, p):
    n = PLASTIC + i
    row[n], row[n + 16], row[n + 32], row[n + 48], row[n + 64], row[n + 80] = p


@jit
def _additive_lane(w, row, plastic, flow, i, dt):
    """Move what exceeds the yield limit of lane ``i`` to its plastic strain; the energy it took."""
    heat, new = additive_return(
        _strain_of(w, i),
        plastic_of(row, i),
        row[MU + i],
        plastic[i],
        plastic[CREEP + i],
        plastic[CAP + i],
        dt,
    )
    _put_plastic(row, i, new)
    return heat


@jit
def _printed_lane(w, row, plastic, flow, i, dt):
    """As ``_additive_lane``, by algorithm 4.1 as printed."""
    heat, new = printed_return(
        _strain_of(w, i), plastic_of(row, i), row[MU + i], row[LAMBDA + i],
        plastic[i], plastic[CREEP + i], plastic[CAP + i], dt,
    )  # fmt: skip
    _put_plastic(row, i, new)
    return heat


@jit
def _multiplicative_lane(w, row, plastic, flow, i, dt):
    """Let ``D_m^-1`` of lane ``i`` flow, and ``flow`` grow; the energy it took."""
    room = plastic[CAP + i] - flow[i]
    heat, grown, g, v = multiplicative_return(
        take(w, i), row[MU + i], plastic[i], plastic[CREEP + i], room, dt
    )
    if heat != 0.0:
        flow[i] += grown
        for b in range(3):
            n = 48 * b + i
            row[n], row[n + 16], row[n + 32] = flowed_row(row[n], row[n + 16], row[n + 32], g, v)
    return heat


def _flow_blocks(first, last, index, rest, plastic, flow, dt, x, w):
    flowed = 0
    heat = 0.0
    for b in range(first, last):
        row = rest[b]
        gather_edges(index[b], x, w, 0)
        strain_block(w, row, plastic[b])
        for i in range(16):
            if w[EXCESS + i] > 0.0 and row[MU + i] > 0.0:
                lost = flow_lane(w, row, plastic[b], flow[b], i, dt)
                if lost != 0.0:
                    flowed += 1
                    heat += lost
    return flowed, heat


def _flow_partitions(starts, index, rest, plastic, flow, dt, x):
    """Let the rest rows flow over ``dt`` [s]; how many tets did, and the energy it took [J]."""
    parts = starts.shape[0] - 1
    counts, losses = np.zeros(parts, np.int64), np.zeros(parts)
    for p in prange(parts):
        w = np.empty(SCRATCH)
        n, lost = flow_blocks(starts[p], starts[p + 1], index, rest, plastic, flow, dt, x, w)
        counts[p] = n
        losses[p] = lost
    flowed, heat = 0, 0.0
    for p in range(parts):
        flowed += counts[p]
        heat += losses[p]
    return flowed, heat


def _loops(label: str, strain: Kernel, lane: Any, cached: bool) -> tuple[Kernel, Kernel]:
    names = {"strain_block": strain, "flow_lane": lane}
    names["flow_blocks"] = specialised(_flow_blocks, label, names, cache=cached)
    return specialised_twin(_flow_partitions, label, names, cache=cached)


@cache
def additive_loops(law: Law, printed: bool) -> tuple[Kernel, Kernel]:
    """The serial and the parallel loop of additive flow, compiled for the strain measure of a law."""
    label = law_label(law, True)
    label = f"{label}_printed" if printed else label
    names = law_names(law) | {"excess": printed_excess if printed else deviatoric_excess}
    strain = specialised(_additive_block, label, names, cache=law.cached)
    return _loops(label, strain, _printed_lane if printed else _additive_lane, law.cached)


@cache
def multiplicative_loops() -> tuple[Kernel, Kernel]:
    """The serial and the parallel loop of multiplicative flow, which suits every law."""
    return _loops("multiplicative", _multiplicative_block, _multiplicative_lane, True)
