"""Strain, stress and other fields of phyxels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array
from pliant.interfaces import FieldData
from pliant.models.efg import kernels
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
