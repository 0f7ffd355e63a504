"""Compiled stress and energy of phyxels, and what they leave for their neighbours (``kernels.py``).

The constitutive law comes from ``materials/constitutive``: the loops are compiled for each that is in use.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from functools import cache

import numpy as np

from pliant.core.typing import Kernel
from pliant.kernels.jit import inlined, jit, specialised
from pliant.kernels.tensors import (
    combine,
    determinant,
    right_cauchy_green,
    rotated,
    stretch,
    times,
    times_symmetric,
    transposed,
    unrotated,
)
from pliant.materials.constitutive.anisotropic import elastic_strain, half_product, isotropic_hooke, trace
from pliant.materials.constitutive.law import Law
from pliant.models.efg.mls_kernels import displacement_squares, least_squares_fit, store_stress_moments
from pliant.models.efg.row_layout import (
    ELASTIC,
    FLAT,
    INVERSE,
    LARGE,
    PROJECTOR,
    SMALL,
    V_KV,
    V_LAMBDA,
    V_MU,
    K,
    contract,
    plus_unit,
    take,
    take_six,
)

invariants: Kernel = None  # the functions of the law that the loops are compiled for, see ``law_names``
energy_density: Kernel = None
law_stress: Kernel = None
frame: Kernel = None
first_piola: Kernel = None
stretch_at: Kernel = None
elastic_stress: Kernel = None
elastic_energy: Kernel = None
phyxel_stress: Kernel = None
phyxel_energy: Kernel = None


@inlined
def _own_stretch(f):
    return stretch(f, right_cauchy_green(f))


@inlined
def _no_stretch(f):
    return 0.0, 0.0, 0.0


@inlined
def _bulk(solid, i):
    return solid[i, V_LAMBDA] + 2.0 / 3.0 * solid[i, V_MU]


def _law_stress(f, solid, i, k, plastic):
    """V P of the elastic law."""
    return law_stress(f, stretch_at(f), solid[i, V_MU], _bulk(solid, i), 0.0, k)


def _law_energy(f, solid, i, k, plastic):
    """V W of the elastic law."""
    return energy_density(invariants(f, stretch_at(f)), solid[i, V_MU], _bulk(solid, i), k)


def _additive_stress(f, solid, i, k, plastic):
    """V P with an additive plastic strain, of laws that are linear in a strain measure."""
    a, u = frame(f, stretch_at(f))
    e0, e1, e2, e3, e4, e5 = elastic_strain(u, take_six(plastic, i, 0))
    e = (e0, e1, e2, 0.5 * e3, 0.5 * e4, 0.5 * e5)
    return first_piola(a, u, isotropic_hooke(solid[i, V_MU], solid[i, V_LAMBDA], e))


def _additive_energy(f, solid, i, k, plastic):
    """V W with an additive plastic strain."""
    _a, u = frame(f, stretch_at(f))
    e = elastic_strain(u, take_six(plastic, i, 0))
    e0, e1, e2, e3, e4, e5 = e
    own = (e0, e1, e2, 0.5 * e3, 0.5 * e4, 0.5 * e5)
    return half_product(e, isotropic_hooke(solid[i, V_MU], solid[i, V_LAMBDA], own))


def _multiplicative_stress(f, solid, i, k, plastic):
    """V P of the elastic part of :math:`F = F_e F_p`; columns 0 to 8 of ``plastic`` hold F_p^-1."""
    back = take(plastic, i, 0)
    return times(elastic_stress(times(f, back), solid, i, k, plastic), transposed(back))


def _multiplicative_energy(f, solid, i, k, plastic):
    return elastic_energy(times(f, take(plastic, i, 0)), solid, i, k, plastic)


@jit
def _flat_strain(f, unit):
    """Green's strain ``(F^T F - unit) / 2`` (6) within the plane that the neighbours sample."""
    c00, c11, c22, c12, c02, c01 = right_cauchy_green(f)
    u00, u11, u22, u12, u02, u01 = unit
    return (
        0.5 * (c00 - u00),
        0.5 * (c11 - u11),
        0.5 * (c22 - u22),
        0.5 * (c12 - u12),
        0.5 * (c02 - u02),
        0.5 * (c01 - u01),
    )


@jit
def _flat_stress(f, solid, i):
    r"""V P of a phyxel whose neighbours lie in a plane, by Hooke's law on Green's strain in that plane:
    :math:`P = F\Pi (2 \mu e + \lambda\,tr(e)\,\Pi)` with the projector :math:`\Pi` onto it."""
    unit = take_six(solid, i, PROJECTOR)
    ft = times_symmetric(f, unit)
    e0, e1, e2, e3, e4, e5 = _flat_strain(ft, unit)
    u0, u1, u2, u3, u4, u5 = unit
    m, t = 2.0 * solid[i, V_MU], solid[i, V_LAMBDA] * (e0 + e1 + e2)
    s = (m * e0 + t * u0, m * e1 + t * u1, m * e2 + t * u2, m * e3 + t * u3, m * e4 + t * u4, m * e5 + t * u5)
    return times_symmetric(ft, s)


@jit
def _flat_energy(f, solid, i):
    """V W of a phyxel whose neighbours lie in a plane."""
    unit = take_six(solid, i, PROJECTOR)
    e = _flat_strain(times_symmetric(f, unit), unit)
    e0, e1, e2, e3, e4, e5 = e
    square = e0 * e0 + e1 * e1 + e2 * e2 + 2.0 * (e3 * e3 + e4 * e4 + e5 * e5)
    return solid[i, V_MU] * square + 0.5 * solid[i, V_LAMBDA] * trace(e) * trace(e)


def _phyxel_stress(f, solid, i, k, plastic):
    r"""V P, the stress times the rest volume (9): that of the law, and :math:`k_v (J - 1)\,cof F`."""
    if solid[i, FLAT] != 0.0:
        return _flat_stress(f, solid, i)
    p = elastic_stress(f, solid, i, k, plastic)
    kv = solid[i, V_KV]
    if kv != 0.0:
        q = combine(f, right_cauchy_green(f), 0.0, 0.0, kv * (determinant(f) - 1.0))
        return (
            p[0] + q[0], p[1] + q[1], p[2] + q[2], p[3] + q[3], p[4] + q[4], p[5] + q[5],
            p[6] + q[6], p[7] + q[7], p[8] + q[8],
        )  # fmt: skip
    return p


def _phyxel_energy(f, solid, i, k, plastic):
    r"""V W, the elastic energy [J], and :math:`\tfrac12 k_v (J - 1)^2`."""
    if solid[i, FLAT] != 0.0:
        return _flat_energy(f, solid, i)
    total = elastic_energy(f, solid, i, k, plastic)
    kv = solid[i, V_KV]
    if kv != 0.0:
        j = determinant(f)
        total += 0.5 * kv * (j - 1.0) * (j - 1.0)
    return total


def strain_rows(a, b, starts, around, weight, solid, first, second, sums, k, plastic, energy):
    """First pass: Q of the phyxels a to b, and their energy if asked for."""
    whole = 0.0
    total = np.empty(12)
    for i in range(a, b):
        m = least_squares_fit(i, starts, around, weight, first, solid, sums, total)
        inverse = take_six(solid, i, INVERSE)
        h = times_symmetric(m, inverse)
        f = plus_unit(h)
        p = phyxel_stress(f, solid, i, k, plastic)
        stiff = solid[i, K]
        store_stress_moments(i, h, p, stiff, inverse, solid, first, second)
        if energy:
            whole += phyxel_energy(f, solid, i, k, plastic)
            if stiff != 0.0:
                squares = displacement_squares(i, starts, around, weight, first)
                whole += 0.5 * stiff * (squares - contract(h, m))
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
        lam = solid[i, V_LAMBDA] + solid[i, V_KV]
        t = isotropic_hooke(solid[i, V_MU], lam, unrotated(f, df))
        p = rotated(f, t, 0.0, 0.0, 0.0)
        if flow == LARGE and solid[i, FLAT] == 0.0:
            p = times(p, transposed(take(plastic, i, 0)))
        store_stress_moments(i, h, p, k_share * solid[i, K], inverse, solid, first, second)


def law_names(law: Law) -> dict[str, Kernel]:
    """What the names of the law's functions stand for in loops over phyxels."""
    own = law.functions
    return {
        "invariants": own.invariants,
        "energy_density": own.energy,
        "law_stress": own.stress,
        "frame": own.frame,
        "first_piola": own.first_piola,
        "stretch_at": _own_stretch if law.rotation else _no_stretch,
    }


_PARTS = {
    ELASTIC: (),
    SMALL: (_additive_stress, _additive_energy),
    LARGE: (_multiplicative_stress, _multiplicative_energy),
}


@cache
def law_kernels(law: Law, flow: int) -> dict[str, Kernel]:
    """``phyxel_stress``, ``phyxel_energy`` and ``strain_rows``, compiled for a law and a kind of flow."""
    label, names = f"{law.kind.replace('-', '_')}_{flow}", law_names(law)
    if flow != SMALL:
        names["elastic_stress"] = specialised(_law_stress, label, names, cache=law.cached)
        names["elastic_energy"] = specialised(_law_energy, label, names, cache=law.cached)
    if flow != ELASTIC:
        both = [specialised(part, label, names, cache=law.cached) for part in _PARTS[flow]]
        names["elastic_stress"], names["elastic_energy"] = both
    names["phyxel_stress"] = specialised(_phyxel_stress, label, names, cache=law.cached)
    names["phyxel_energy"] = specialised(_phyxel_energy, label, names, cache=law.cached)
    names["strain_rows"] = specialised(strain_rows, label, names, cache=law.cached)
    return names
