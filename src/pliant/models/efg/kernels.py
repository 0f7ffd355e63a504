r"""Compiled passes over phyxels: deformation and stress, then forces. Each phyxel only reads from others, in
fixed order, so the bytes are the same for any number of threads.

With :math:`y_{ij} = w_{ij} X_{ij}`:

.. math:: H_i = \Bigl(\sum_j u_{ij} y_{ij}^T\Bigr) A_i^{-1}, \quad F_i = 1 + H_i, \quad
          Q_i = V_i P(F_i) A_i^{-1} - k_i H_i, \quad
          f_i = \sum_j (Q_i + Q_j)\,y_{ij} + w_{ij} (k_i + k_j)\,u_{ij},

which is minus the gradient of :math:`\sum_i V_i W(F_i) + \tfrac12 k_i \sum_j w_{ij} |u_{ij} - H_i X_{ij}|^2`.

Differences of pairs are multiplied out, so that all that is left to do per pair is a weighted sum of twelve
numbers of the neighbour, which the compiler packs: in the first pass ``u X^T`` (9) and u (3), in the second
Q (9) and ``b = Q X + k u`` (3). X counts from the middle of the body and u from the first phyxel's, to lose
no digits. Arrays of the kernels: ``material`` (n, 26), what the phyxel itself needs (``mls_kernels.py``);
``u_rows`` (n, 12), its displacement moments ``u X^T`` and u; ``q_rows`` (n, 12), its stress moments Q and b;
``u_sum`` (n, 3), the weighted displacement :math:`\sum_j w_{ij} u_j` around it.

Source: [Stegmayr2008]_ 3.2 and 4.1.1. Differs: signs and factors (the strain has its half, the force is then
not twice that; the volume force has the sign that restores), weights symmetric in i and j, and the second
term, which stiffens the motions that H does not see.

The constitutive law comes from ``materials/constitutive``: the loops are compiled for each that is in use.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from functools import cache
from typing import NamedTuple

import numpy as np

from pliant.core.typing import Kernel
from pliant.kernels.jit import inlined, jit, parallel_jit, prange, specialised, specialised_twin
from pliant.kernels.tensors import (
    combine,
    determinant,
    right_cauchy_green,
    rotated,
    times,
    times_symmetric,
    transposed,
    unrotated,
)
from pliant.materials.constitutive.anisotropic import elastic_strain, half_product, isotropic_hooke, trace
from pliant.materials.constitutive.law import Law
from pliant.models.efg.mls_kernels import (
    ELASTIC,
    FLAT,
    INVERSE,
    LARGE,
    PARTS,
    PROJECTOR,
    SMALL,
    V_KV,
    V_LAMBDA,
    V_MU,
    VOLUME,
    K,
    contract,
    displacement_squares,
    force_rows,
    gradient_rows,
    least_squares_fit,
    plus_unit,
    put,
    store_displacement,
    store_displacements,
    store_stress_moments,
    take,
    take_six,
)
from pliant.models.fem.law_blocks import law_names

invariants: Kernel = None  # the functions of the law that the loops are compiled for, see ``law_names``
energy_density: Kernel = None
stress: Kernel = None
frame: Kernel = None
first_piola: Kernel = None
stretch_at: Kernel = None
elastic_stress: Kernel = None
elastic_energy: Kernel = None
phyxel_stress: Kernel = None
phyxel_energy: Kernel = None
strain_rows: Kernel = None


@inlined
def _bulk(material, i):
    return material[i, V_LAMBDA] + 2.0 / 3.0 * material[i, V_MU]


def _law_stress(f, material, i, k, plastic):
    """V P of the elastic law."""
    return stress(f, stretch_at(f), material[i, V_MU], _bulk(material, i), 0.0, k)


def _law_energy(f, material, i, k, plastic):
    """V W of the elastic law."""
    return energy_density(invariants(f, stretch_at(f)), material[i, V_MU], _bulk(material, i), k)


def _additive_stress(f, material, i, k, plastic):
    """V P with an additive plastic strain, of laws that are linear in a strain measure."""
    a, u = frame(f, stretch_at(f))
    e0, e1, e2, e3, e4, e5 = elastic_strain(u, take_six(plastic, i, 0))
    e = (e0, e1, e2, 0.5 * e3, 0.5 * e4, 0.5 * e5)
    return first_piola(a, u, isotropic_hooke(material[i, V_MU], material[i, V_LAMBDA], e))


def _additive_energy(f, material, i, k, plastic):
    """V W with an additive plastic strain."""
    _a, u = frame(f, stretch_at(f))
    e = elastic_strain(u, take_six(plastic, i, 0))
    e0, e1, e2, e3, e4, e5 = e
    own = (e0, e1, e2, 0.5 * e3, 0.5 * e4, 0.5 * e5)
    return half_product(e, isotropic_hooke(material[i, V_MU], material[i, V_LAMBDA], own))


def _multiplicative_stress(f, material, i, k, plastic):
    """V P of the elastic part of :math:`F = F_e F_p`; columns 0 to 8 of ``plastic`` hold F_p^-1."""
    back = take(plastic, i, 0)
    return times(elastic_stress(times(f, back), material, i, k, plastic), transposed(back))


def _multiplicative_energy(f, material, i, k, plastic):
    return elastic_energy(times(f, take(plastic, i, 0)), material, i, k, plastic)


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
def _flat_stress(f, material, i):
    r"""V P of a phyxel whose neighbours lie in a plane, by Hooke's law on Green's strain in that plane:
    :math:`P = F\Pi (2 \mu e + \lambda\,tr(e)\,\Pi)` with the projector :math:`\Pi` onto it."""
    unit = take_six(material, i, PROJECTOR)
    ft = times_symmetric(f, unit)
    e0, e1, e2, e3, e4, e5 = _flat_strain(ft, unit)
    u0, u1, u2, u3, u4, u5 = unit
    m, t = 2.0 * material[i, V_MU], material[i, V_LAMBDA] * (e0 + e1 + e2)
    s = (m * e0 + t * u0, m * e1 + t * u1, m * e2 + t * u2, m * e3 + t * u3, m * e4 + t * u4, m * e5 + t * u5)
    return times_symmetric(ft, s)


@jit
def _flat_energy(f, material, i):
    """V W of a phyxel whose neighbours lie in a plane."""
    unit = take_six(material, i, PROJECTOR)
    e = _flat_strain(times_symmetric(f, unit), unit)
    e0, e1, e2, e3, e4, e5 = e
    square = e0 * e0 + e1 * e1 + e2 * e2 + 2.0 * (e3 * e3 + e4 * e4 + e5 * e5)
    return material[i, V_MU] * square + 0.5 * material[i, V_LAMBDA] * trace(e) * trace(e)


def _phyxel_stress(f, material, i, k, plastic):
    r"""V P, the stress times the rest volume (9): that of the law, and :math:`k_v (J - 1)\,cof F`."""
    if material[i, FLAT] != 0.0:
        return _flat_stress(f, material, i)
    p = elastic_stress(f, material, i, k, plastic)
    kv = material[i, V_KV]
    if kv != 0.0:
        q = combine(f, right_cauchy_green(f), 0.0, 0.0, kv * (determinant(f) - 1.0))
        return (
            p[0] + q[0], p[1] + q[1], p[2] + q[2], p[3] + q[3], p[4] + q[4], p[5] + q[5],
            p[6] + q[6], p[7] + q[7], p[8] + q[8],
        )  # fmt: skip
    return p


def _phyxel_energy(f, material, i, k, plastic):
    r"""V W, the elastic energy [J], and :math:`\tfrac12 k_v (J - 1)^2`."""
    if material[i, FLAT] != 0.0:
        return _flat_energy(f, material, i)
    total = elastic_energy(f, material, i, k, plastic)
    kv = material[i, V_KV]
    if kv != 0.0:
        j = determinant(f)
        total += 0.5 * kv * (j - 1.0) * (j - 1.0)
    return total


def _strain_rows(a, b, starts, around, weight, material, u_rows, q_rows, u_sum, k, plastic, energy):
    """First pass: Q of the phyxels a to b, and their energy if asked for."""
    whole = 0.0
    total = np.empty(12)
    for i in range(a, b):
        m = least_squares_fit(i, starts, around, weight, u_rows, material, u_sum, total)
        inverse = take_six(material, i, INVERSE)
        h = times_symmetric(m, inverse)
        f = plus_unit(h)
        p = phyxel_stress(f, material, i, k, plastic)
        stiff = material[i, K]
        store_stress_moments(i, h, p, stiff, inverse, material, u_rows, q_rows)
        if energy:
            whole += phyxel_energy(f, material, i, k, plastic)
            if stiff != 0.0:
                squares = displacement_squares(i, starts, around, weight, u_rows)
                whole += 0.5 * stiff * (squares - contract(h, m))
    return whole


@jit
def tangent_rows(
    a, b, starts, around, weight, material, u_rows, q_rows, u_sum, gradients, flow, plastic, k_share
):
    r"""First pass of products with the stiffness: Q of the displacements dx in ``u_rows``.

    :math:`dP = F\,(C : sym(F^T dF))`: symmetric, positive semi-definite, exact at rest, and zero for rigid
    velocities. ``gradients`` (n, 9) holds F. k_share: 1 with, 0 without the hourglass term.
    """
    total = np.empty(12)
    for i in range(a, b):
        m = least_squares_fit(i, starts, around, weight, u_rows, material, u_sum, total)
        inverse = take_six(material, i, INVERSE)
        h = times_symmetric(m, inverse)
        f, df = take(gradients, i, 0), h
        if material[i, FLAT] != 0.0:
            unit = take_six(material, i, PROJECTOR)
            f, df = times_symmetric(f, unit), times_symmetric(h, unit)
        elif flow == LARGE:
            back = take(plastic, i, 0)
            f = times(f, back)
            df = times(h, back)
        lam = material[i, V_LAMBDA] + material[i, V_KV]
        t = isotropic_hooke(material[i, V_MU], lam, unrotated(f, df))
        p = rotated(f, t, 0.0, 0.0, 0.0)
        if flow == LARGE and material[i, FLAT] == 0.0:
            p = times(p, transposed(take(plastic, i, 0)))
        store_stress_moments(i, h, p, k_share * material[i, K], inverse, material, u_rows, q_rows)


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
    names["strain_rows"] = specialised(_strain_rows, label, names, cache=law.cached)
    return names


def _phyxel_forces(
    starts, around, weight, rest, material, u_rows, q_rows, u_sum, k, plastic, x, forces, energy, out
):
    """Add the forces on all phyxels to ``out`` if ``forces``; their energy [J] if ``energy``."""
    n = x.shape[0]
    parts = np.zeros(PARTS)
    for p in prange(PARTS):
        store_displacements(p * n // PARTS, (p + 1) * n // PARTS, x, rest, material, u_rows)
    for p in prange(PARTS):
        a, b = p * n // PARTS, (p + 1) * n // PARTS
        parts[p] = strain_rows(
            a, b, starts, around, weight, material, u_rows, q_rows, u_sum, k, plastic, energy
        )
    if forces:
        for p in prange(PARTS):
            a, b = p * n // PARTS, (p + 1) * n // PARTS
            force_rows(a, b, starts, around, weight, material, u_rows, q_rows, u_sum, 1.0, 1.0, out)
    total = 0.0
    for p in range(PARTS):
        total += parts[p]
    return total


@parallel_jit
def phyxel_gradients(starts, around, weight, rest, material, u_rows, q_rows, u_sum, x, out):
    """Deformation gradients of all phyxels at ``x``, (n, 9)."""
    n = x.shape[0]
    for p in prange(PARTS):
        store_displacements(p * n // PARTS, (p + 1) * n // PARTS, x, rest, material, u_rows)
    for p in prange(PARTS):
        a, b = p * n // PARTS, (p + 1) * n // PARTS
        gradient_rows(a, b, starts, around, weight, material, u_rows, u_sum, out)


@parallel_jit
def phyxel_stiffness_product(
    starts, around, weight, rest, material, u_rows, q_rows, u_sum, flow, plastic, gradients, dx, k_share, out
):
    """Add K dx to ``out``, with the deformation gradients (n, 9) of where K is taken."""
    n = dx.shape[0]
    for p in prange(PARTS):
        for i in range(p * n // PARTS, (p + 1) * n // PARTS):
            store_displacement(
                i, dx[i, 0] - dx[0, 0], dx[i, 1] - dx[0, 1], dx[i, 2] - dx[0, 2], material, u_rows
            )
    for p in prange(PARTS):
        a, b = p * n // PARTS, (p + 1) * n // PARTS
        tangent_rows(
            a, b, starts, around, weight, material, u_rows, q_rows, u_sum, gradients, flow, plastic, k_share
        )
    for p in prange(PARTS):
        a, b = p * n // PARTS, (p + 1) * n // PARTS
        force_rows(a, b, starts, around, weight, material, u_rows, q_rows, u_sum, k_share, -1.0, out)


def _phyxel_cauchy_stress(gradients, material, k, plastic, sigma, bound, volume):
    r"""Cauchy stresses ``P F^T / |J|`` [Pa] (n, 9), J (n,), and what no principal stress exceeds (n,):
    :math:`tr/3 + 2 \sqrt{J_2 / 3}`."""
    n = material.shape[0]
    for p in prange(PARTS):
        for i in range(p * n // PARTS, (p + 1) * n // PARTS):
            f = take(gradients, i, 0)
            j = determinant(f)
            t = times(phyxel_stress(f, material, i, k, plastic), transposed(f))
            over = 1.0 / (material[i, VOLUME] * max(abs(j), 1e-12))
            s0, s1, s2 = t[0] * over, t[4] * over, t[8] * over
            s3, s4, s5 = 0.5 * (t[5] + t[7]) * over, 0.5 * (t[2] + t[6]) * over, 0.5 * (t[1] + t[3]) * over
            put(sigma, i, 0, (s0, s5, s4, s5, s1, s3, s4, s3, s2))
            mean = (s0 + s1 + s2) / 3.0
            d0, d1, d2 = s0 - mean, s1 - mean, s2 - mean
            half = 0.5 * (d0 * d0 + d1 * d1 + d2 * d2) + s3 * s3 + s4 * s4 + s5 * s5
            bound[i] = mean + 2.0 * np.sqrt(half / 3.0)
            volume[i] = j


class LawLoops(NamedTuple):
    """Loops over phyxels that are compiled for a law and a kind of flow."""

    forces: tuple[Kernel, Kernel]
    cauchy_stress: Kernel


@cache
def law_loops(law: Law, flow: int) -> LawLoops:
    """The loops of a law; flow: ELASTIC, SMALL or LARGE."""
    label, names = f"{law.kind.replace('-', '_')}_{flow}", law_kernels(law, flow)
    return LawLoops(
        specialised_twin(_phyxel_forces, label, names, cache=law.cached),
        specialised(_phyxel_cauchy_stress, label, names, parallel=True, cache=law.cached),
    )
