"""Stress and other fields of fem bodies."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.interfaces import FieldData
from pliant.models.fem.law_blocks import law_stresses
from pliant.models.tets import fields
from pliant.models.tets.stiffness import gradients

if TYPE_CHECKING:
    from pliant.models.fem.mechanics import TetFem

NAMES = (*fields.NAMES, "stress-averaged", "plastic")


def first_piola(mechanics: "TetFem", F: Array, which: IntArray, pressure: Array) -> Array:
    """First Piola-Kirchhoff stresses [Pa] at elastic deformation gradients F (m, 3, 3) of the elements
    ``which``; pressure (m,): averaged ones."""
    rest, share = mechanics.rest, mechanics.share
    lam, mu = (constant[which] for constant in rest.lame)
    bulk = lam + 2.0 / 3.0 * mu
    stiffness = rest.stiffness[which][:, *np.triu_indices(6)] if rest.full else np.zeros((0, 21))
    out = np.empty((len(F), 9))
    law_stresses(mechanics.law, rest.full)(
        *(np.ascontiguousarray(F.reshape(-1, 9)), mu, share * bulk, (1.0 - share) * bulk, pressure),
        *(stiffness, rest.plastic_strain[which], mechanics.constants, out),
    )
    return out.reshape(-1, 3, 3)


def _pressure(mechanics: "TetFem", x: Array, which: IntArray) -> Array:
    """Averaged pressures of tets (m,) [Pa], zero without the remedy."""
    if mechanics.pressure is None:
        return np.zeros(len(which))
    mechanics.pressure.update(x, mechanics.rest.rows)
    values: Array = mechanics.rest.per_tet(mechanics.pressure.extra) / mechanics.rest.volumes
    return values[which]


def element_forces(mechanics: "TetFem", x: Array, which: IntArray) -> Array:
    """Elastic forces [N] of the tets ``which`` on their corners, (m, 4, 3)."""
    P = first_piola(mechanics, mechanics.deformation(x, which), which, _pressure(mechanics, x, which))
    inverse, volumes = mechanics.rest.inverse[which], mechanics.rest.volumes[which]
    return np.asarray(-np.einsum("m,mij,mkj->mki", volumes, P, gradients(inverse)))


def cauchy(mechanics: "TetFem", x: Array) -> Array:
    """Cauchy stress ``P F^T / |J|`` of all cells (m, 3, 3) [Pa]."""
    cells = np.arange(len(mechanics.tets))
    F = mechanics.deformation(x, cells)
    P = first_piola(mechanics, F, mechanics.owner(cells), _pressure(mechanics, x, cells))
    J = np.maximum(np.abs(np.linalg.det(F)), 1e-12)
    sigma = P @ F.transpose(0, 2, 1) / J[:, None, None]
    return np.asarray(0.5 * (sigma + sigma.transpose(0, 2, 1)))


def averaged(mechanics: "TetFem", values: Array) -> Array:
    """Volume-weighted means over the tets around each particle, (n, ...)."""
    weights = np.repeat(mechanics.cell_volumes, 4)
    shape = (len(mechanics.structure.rest), *values.shape[1:])
    total, volume = np.zeros(shape), np.zeros(shape[0])
    corners = mechanics.tets.ravel()
    np.add.at(volume, corners, weights)
    np.add.at(total, corners, np.einsum("m...,m->m...", np.repeat(values, 4, axis=0), weights))
    return np.asarray(np.einsum("n...,n->n...", total, 1.0 / volume))


def _strains(mechanics: "TetFem", x: Array, names: Sequence[str]) -> dict[str, FieldData]:
    """What follows from the deformation since the first rest shape alone."""
    cells = np.arange(len(mechanics.tets))
    own = mechanics.owner(cells)
    lam, mu = (constant[own] for constant in mechanics.rest.lame)
    if mechanics.plasticity is not None:
        return fields.tet_fields(x, mechanics.structure.rest, mechanics.tets, (lam, mu), names)
    return fields.deformation_fields(mechanics.deformation(x, cells), (lam, mu), names)


def fem_fields(mechanics: "TetFem", x: Array, names: Sequence[str]) -> dict[str, FieldData]:
    """strain and inverted as in ``tet_fields``; stresses are Cauchy stresses of the model's law [Pa].

    stress: von Mises; stress-tensor (m, 3, 3); principal (m, 3), descending; stress-averaged: von Mises of
    the volume-weighted mean tensor around each particle; plastic: equivalent plastic strain.
    """
    found = _strains(mechanics, x, names)
    if "plastic" in names:
        plastic = mechanics.plasticity
        cells = mechanics.owner(np.arange(len(mechanics.tets)))
        values = np.zeros(len(cells)) if plastic is None else plastic.equivalent()[cells]
        found["plastic"] = FieldData(values, "cell")
    if not {"stress", "stress-tensor", "principal", "stress-averaged"}.isdisjoint(names):
        sigma = cauchy(mechanics, x)
        found |= fields.stress_fields(sigma, names, "cell")
        if "stress-averaged" in names:
            mean = averaged(mechanics, sigma)
            found["stress-averaged"] = FieldData(fields.von_mises(mean), "particle", "Pa")
    return found
