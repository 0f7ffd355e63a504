"""Strain, stress and other fields of phyxels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray
from pliant.interfaces import FieldData
from pliant.models.efg import kernels, mls_kernels
from pliant.models.tets.fields import equivalent, stress_fields

if TYPE_CHECKING:
    from pliant.models.efg.mechanics import EfgMechanics

NAMES = ("strain", "stress", "stress-tensor", "principal", "inverted", "plastic")


def cauchy(mechanics: "EfgMechanics", gradients: Array) -> tuple[Array, Array, Array]:
    """Cauchy stresses [Pa] (n, 3, 3), what no principal one of each exceeds (n,), and det F (n,)."""
    m, n = mechanics, len(gradients)
    sigma, bound, volume = np.empty((n, 9)), np.empty(n), np.empty(n)
    run = kernels.law_loops(m.law, m.flow).cauchy_stress
    run(gradients, m.material_rows, m.constants, m.plastic, sigma, bound, volume)
    return sigma.reshape(-1, 3, 3), bound, volume


def efg_fields(mechanics: "EfgMechanics", x: Array, names: Sequence[str]) -> dict[str, FieldData]:
    """strain: equivalent Green strain, 2/3 of the von Mises norm; stress: von Mises of Cauchy [Pa];
    stress-tensor (n, 3, 3) and principal (n, 3), descending [Pa]; inverted: det F <= 0;
    plastic: equivalent plastic strain."""
    gradients = mechanics.gradients(x)
    F = gradients.reshape(-1, 3, 3)
    E = 0.5 * (F.transpose(0, 2, 1) @ F - np.eye(3))
    sigma = cauchy(mechanics, gradients)[0]
    found = stress_fields(sigma, names, "particle")
    if "strain" in names:
        found["strain"] = FieldData(equivalent(E))
    if "inverted" in names:
        found["inverted"] = FieldData(np.linalg.det(F) <= 0.0)
    if "plastic" in names:
        own = mechanics.plasticity
        found["plastic"] = FieldData(np.zeros(len(x)) if own is None else own.equivalent())
    return found


def section_force(mechanics: "EfgMechanics", above: BoolArray) -> tuple[Array, float]:
    """The force (3,) [N] of the pairs that a cut separates on those ``above`` it, and the sum of the sizes of
    theirs; the stress moments are those of the last pass."""
    m, s = mechanics, mechanics.support
    i, j = s.rows, s.around
    cut = above[i] & ~above[j]
    i, j, w = i[cut], j[cut], s.weight[cut].astype(float)
    q, k, u = m.stress_moments[:, :9], m.material_rows[:, mls_kernels.K], m.displacement_moments
    lever = m.reference[j] - m.reference[i]
    forces = np.einsum("mab,mb->ma", (q[i] + q[j]).reshape(-1, 3, 3), lever)
    forces = w[:, None] * (forces + (k[i] + k[j])[:, None] * (u[j, 9:] - u[i, 9:]))
    return forces.sum(axis=0), float(np.linalg.norm(forces, axis=1).sum())
