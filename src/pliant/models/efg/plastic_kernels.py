"""Compiled plastic flow of phyxels, once per accepted step (``materials/constitutive/plastic_flow.py``)."""

# mypy: disable-error-code="no-untyped-def"

from functools import cache

import numpy as np

from pliant.core.typing import Kernel
from pliant.kernels.jit import jit, prange, specialised
from pliant.kernels.tensors import times
from pliant.materials.constitutive.anisotropic import elastic_strain
from pliant.materials.constitutive.law import Law
from pliant.materials.constitutive.plastic_flow import (
    additive_return,
    flowed_row,
    logarithmic_excess,
    multiplicative_return,
)
from pliant.models.efg.row_layout import FLAT, PARTS, V_MU, take, take_six
from pliant.models.efg.stress_kernels import law_names

LIMIT, RATE, CAP, HARDENING = 0, 1, 2, 3  # constants: yield as a norm of strain, creep [1/s], largest norm
FLOWED = 9  # column of ``plastic``: accumulated norm

frame: Kernel = None  # the functions of the law, see ``law_names``
stretch_at: Kernel = None
flow_one: Kernel = None


def _additive(i, f, solid, constants, plastic, dt):
    """Additive flow on the law's strain measure; the energy it took [J]."""
    _a, u = frame(f, stretch_at(f))
    old = take_six(plastic, i, 0)
    e0, e1, e2, e3, e4, e5 = elastic_strain(u, old)
    e = (e0, e1, e2, 0.5 * e3, 0.5 * e4, 0.5 * e5)
    heat, new = additive_return(e, old, solid[i, V_MU], constants[LIMIT], constants[RATE], constants[CAP], dt)
    for c in range(6):
        plastic[i, c] = new[c]
    return heat


@jit
def _multiplicative(i, f, solid, constants, plastic, dt):
    """Multiplicative flow of ``F_p^-1``; the energy it took [J]. Hardening raises the limit."""
    limit = constants[LIMIT] * (1.0 + constants[HARDENING] * plastic[i, FLOWED])
    room = constants[CAP] - plastic[i, FLOWED]
    fe = times(f, take(plastic, i, 0))
    if not logarithmic_excess(fe, limit) > 0.0:
        return 0.0
    heat, grown, g, v = multiplicative_return(fe, solid[i, V_MU], limit, constants[RATE], room, dt)
    if heat != 0.0:
        plastic[i, FLOWED] += grown
        for r in range(0, 9, 3):
            p = plastic[i]
            p[r], p[r + 1], p[r + 2] = flowed_row(p[r], p[r + 1], p[r + 2], g, v)
    return heat


def _flow_all(gradients, solid, constants, plastic, dt):
    """Let ``plastic`` flow; how many phyxels did, and the energy it took [J]."""
    n = solid.shape[0]
    counts, losses = np.zeros(PARTS, np.int64), np.zeros(PARTS)
    for p in prange(PARTS):
        for i in range(p * n // PARTS, (p + 1) * n // PARTS):
            if solid[i, FLAT] != 0.0:
                continue
            lost = flow_one(np.int64(i), take(gradients, i, 0), solid, constants, plastic, dt)
            if lost != 0.0:
                counts[p] += 1
                losses[p] += lost
    flowed, heat = 0, 0.0
    for p in range(PARTS):
        flowed += counts[p]
        heat += losses[p]
    return flowed, heat


@cache
def flow_loop(law: Law, additive: bool) -> Kernel:
    """The loop of plastic flow over phyxels, additive in the strain measure of a law or multiplicative."""
    label = law.kind.replace("-", "_")
    if additive:
        one = specialised(_additive, label, law_names(law), cache=law.cached)
        return specialised(_flow_all, label, {"flow_one": one}, parallel=True, cache=law.cached)
    return specialised(_flow_all, "multiplicative", {"flow_one": _multiplicative}, parallel=True)
