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
no digits. Arrays of the kernels: ``material`` (n, 26), what only the phyxel itself needs (``row_layout.py``);
``u_rows`` (n, 12), its displacement moments ``u X^T`` and u; ``q_rows`` (n, 12), its stress moments Q and b;
``u_sum`` (n, 3), the weighted displacement :math:`\sum_j w_{ij} u_j` around it.

Source: [Stegmayr2008]_ 3.2 and 4.1.1. Differs: signs and factors (the strain has its half, the force is then
not twice that; the volume force has the sign that restores), weights symmetric in i and j, and the second
term, which stiffens the motions that H does not see.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from functools import cache
from typing import NamedTuple

import numpy as np

from pliant.core.typing import Kernel
from pliant.kernels.jit import parallel_jit, prange, specialised, specialised_twin
from pliant.kernels.tensors import determinant, times, transposed
from pliant.materials.constitutive.law import Law
from pliant.models.efg.mls_kernels import force_rows, gradient_rows, store_displacement, store_displacements
from pliant.models.efg.row_layout import PARTS, VOLUME, put, take
from pliant.models.efg.stress_kernels import law_kernels, tangent_rows

strain_rows: Kernel = None  # compiled for a law and a kind of flow, see ``law_loops``
phyxel_stress: Kernel = None


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
