"""Stress and other fields of fem bodies."""

from collections.abc import Sequence

import numpy as np

from pliant.core.typing import Array
from pliant.interfaces import FieldData, Structure
from pliant.models.fem.elements import TetElements
from pliant.models.fem.plasticity import Plasticity
from pliant.models.tets import fields

NAMES = (*fields.NAMES, "stress-averaged", "plastic")


def cauchy(elements: TetElements, F: Array, x: Array) -> Array:
    """Cauchy stress ``P F^T / |J|`` of all cells (m, 3, 3) [Pa] with elastic deformation gradients F."""
    own = elements.owner(np.arange(len(F)))
    P = elements.first_piola(F, own, elements.pressures(x, own))
    J = np.maximum(np.abs(np.linalg.det(F)), 1e-12)
    sigma = P @ F.transpose(0, 2, 1) / J[:, None, None]
    return np.asarray(0.5 * (sigma + sigma.transpose(0, 2, 1)))


def averaged(structure: Structure, volumes: Array, values: Array) -> Array:
    """Means of ``values`` per tet (m, ...) over the tets around each particle by ``volumes``, (n, ...)."""
    weights, corners = np.repeat(volumes, 4), structure.cells["tetra"].ravel()
    shape = (len(structure.rest), *values.shape[1:])
    total, volume = np.zeros(shape), np.zeros(shape[0])
    np.add.at(volume, corners, weights)
    np.add.at(total, corners, np.einsum("m...,m->m...", np.repeat(values, 4, axis=0), weights))
    return np.asarray(np.einsum("n...,n->n...", total, 1.0 / volume))


def fem_fields(
    structure: Structure,
    elements: TetElements,
    plasticity: Plasticity | None,
    x: Array,
    names: Sequence[str],
) -> dict[str, FieldData]:
    """strain and inverted as in ``tet_fields``; stresses are Cauchy stresses of the model's law [Pa].

    stress: von Mises; stress-tensor (m, 3, 3); principal (m, 3), descending; stress-averaged: von Mises of
    the volume-weighted mean tensor around each particle; plastic: equivalent plastic strain.
    """
    tets = structure.cells["tetra"]
    cells = np.arange(len(tets))
    own, F = elements.owner(cells), elements.deformation(x, cells)
    lam, mu = (constant[own] for constant in elements.rest.lame)
    if plasticity is not None:  # strain counts from the first rest shape
        found = fields.tet_fields(x, structure.rest, tets, (lam, mu), names)
    else:
        found = fields.deformation_fields(F, (lam, mu), names)
    if "plastic" in names:
        values = np.zeros(len(cells)) if plasticity is None else plasticity.equivalent()[own]
        found["plastic"] = FieldData(values, "cell")
    if not {"stress", "stress-tensor", "principal", "stress-averaged"}.isdisjoint(names):
        sigma = cauchy(elements, F, x)
        found |= fields.stress_fields(sigma, names, "cell")
        if "stress-averaged" in names:
            mean = averaged(structure, elements.cell_volumes, sigma)
            found["stress-averaged"] = FieldData(fields.von_mises(mean), "particle", "Pa")
    return found
