"""Compiled stress and energy of phyxels, and what they leave for their neighbours (``kernels.py``)."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.kernels.jit import jit
from pliant.models.efg.laws import (
    HOOKE,
    green_strain,
    hooke_energy,
    hooke_stress,
    neo_hookean_energy,
    neo_hookean_stress,
    times_symmetric,
)
from pliant.models.efg.mls_kernels import displacement_squares, least_squares_fit, store_stress_moments
from pliant.models.efg.row_layout import (
    FLAT,
    INVERSE,
    LARGE,
    NONE,
    PROJECTOR,
    SMALL,
    UNIT,
    V_KV,
    V_LAMBDA,
    V_MU,
    K,
    contract,
    plus_unit,
    take,
    take_six,
)
from pliant.models.tets.kernels import times, transposed


@jit
def stress(f, solid, i, law, flow, plastic):
    """V P, the stress times the rest volume, (9)."""
    mu, lam, kv = solid[i, V_MU], solid[i, V_LAMBDA], solid[i, V_KV]
    if solid[i, FLAT] != 0.0:
        unit = take_six(solid, i, PROJECTOR)
        ft = times_symmetric(f, unit)
        return hooke_stress(ft, green_strain(ft, unit, NONE), unit, mu, lam, 0.0)
    if flow == LARGE:
        back = take(plastic, i, 0)
        fe = times(f, back)
        if law == HOOKE:
            p = hooke_stress(fe, green_strain(fe, UNIT, NONE), UNIT, mu, lam, kv)
        else:
            p = neo_hookean_stress(fe, mu, lam, kv)
        return times(p, transposed(back))
    if law == HOOKE:
        own = take_six(plastic, i, 0) if flow == SMALL else NONE
        return hooke_stress(f, green_strain(f, UNIT, own), UNIT, mu, lam, kv)
    return neo_hookean_stress(f, mu, lam, kv)


@jit
def stored(f, solid, i, law, flow, plastic):
    """V W, the elastic energy [J]."""
    mu, lam, kv = solid[i, V_MU], solid[i, V_LAMBDA], solid[i, V_KV]
    if solid[i, FLAT] != 0.0:
        unit = take_six(solid, i, PROJECTOR)
        ft = times_symmetric(f, unit)
        return hooke_energy(ft, green_strain(ft, unit, NONE), mu, lam, 0.0)
    fe = times(f, take(plastic, i, 0)) if flow == LARGE else f
    if law == HOOKE:
        own = take_six(plastic, i, 0) if flow == SMALL else NONE
        return hooke_energy(fe, green_strain(fe, UNIT, own), mu, lam, kv)
    return neo_hookean_energy(fe, mu, lam, kv)


@jit
def strain_rows(a, b, starts, around, weight, solid, first, second, sums, law, flow, plastic, energy):
    """First pass: Q of the phyxels a to b, and their energy if asked for."""
    whole = 0.0
    total = np.empty(12)
    for i in range(a, b):
        m = least_squares_fit(i, starts, around, weight, first, solid, sums, total)
        inverse = take_six(solid, i, INVERSE)
        h = times_symmetric(m, inverse)
        f = plus_unit(h)
        p = stress(f, solid, i, law, flow, plastic)
        k = solid[i, K]
        store_stress_moments(i, h, p, k, inverse, solid, first, second)
        if energy:
            whole += stored(f, solid, i, law, flow, plastic)
            if k != 0.0:
                whole += 0.5 * k * (displacement_squares(i, starts, around, weight, first) - contract(h, m))
    return whole


@jit
def tangent_rows(a, b, starts, around, weight, solid, first, second, sums, gradients, flow, plastic, k_share):
    r"""First pass of products with the stiffness: Q of the displacements dx in ``first``.

    :math:`dP = F\,(C : sym(F^T dF))`: symmetric, positive semi-definite, exact at rest, and zero for rigid
    velocities. ``gradients`` (n, 9) holds F. k_share: 1 with, 0 without the hourglass term.
    """
    total = np.empty(12)
    for i in range(a, b):
        m = least_squares_fit(i, starts, around, weight, first, solid, sums, total)
        inverse = take_six(solid, i, INVERSE)
        h = times_symmetric(m, inverse)
        f, df = take(gradients, i, 0), h
        if solid[i, FLAT] != 0.0:
            f = times_symmetric(f, take_six(solid, i, PROJECTOR))
        elif flow == LARGE:
            back = take(plastic, i, 0)
            f = times(f, back)
            df = times(h, back)
        g = times(transposed(f), df)
        mu, lam = solid[i, V_MU], solid[i, V_LAMBDA] + solid[i, V_KV]
        t = lam * (g[0] + g[4] + g[8])
        s = (
            2.0 * mu * g[0] + t, 2.0 * mu * g[4] + t, 2.0 * mu * g[8] + t,
            mu * (g[5] + g[7]), mu * (g[2] + g[6]), mu * (g[1] + g[3]),
        )  # fmt: skip
        p = times_symmetric(f, s)
        if flow == LARGE and solid[i, FLAT] == 0.0:
            p = times(p, transposed(take(plastic, i, 0)))
        store_stress_moments(i, h, p, k_share * solid[i, K], inverse, solid, first, second)
