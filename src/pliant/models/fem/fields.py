"""Stress and other fields of fem bodies, in plain NumPy: also what the compiled laws are tested against."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.interfaces import FieldData
from pliant.models.tets import fields
from pliant.models.tets.stiffness import gradients

if TYPE_CHECKING:
    from pliant.models.fem.mechanics import TetFem

NAMES = (*fields.NAMES, "stress-averaged", "plastic")
_EYE = np.eye(3)


def polar(F: Array) -> Array:
    """The nearest rotations (determinant +1) of matrices (m, 3, 3), by singular values."""
    U, _, W = np.linalg.svd(F)
    sign = np.sign(np.linalg.det(U) * np.linalg.det(W))
    U[:, :, 2] *= sign[:, None]
    return np.asarray(U @ W)


def gram_schmidt(F: Array) -> Array:
    """Columns made orthonormal one after the other, the third by the right-hand rule."""
    a = F[:, :, 0] / np.linalg.norm(F[:, :, 0], axis=1, keepdims=True)
    b = F[:, :, 1] - np.einsum("mi,mi->m", a, F[:, :, 1])[:, None] * a
    b /= np.linalg.norm(b, axis=1, keepdims=True)
    return np.stack([a, b, np.cross(a, b)], axis=2)


def cofactors(F: Array) -> Array:
    """cof F = J F^-T, also of singular matrices."""
    a, b, c = F[:, :, 0], F[:, :, 1], F[:, :, 2]
    return np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=2)


def tensor(voigt: Array) -> Array:
    """Symmetric matrices (m, 3, 3) from (m, 6) xx, yy, zz, yz, xz, xy."""
    return voigt[:, [[0, 5, 4], [5, 1, 3], [4, 3, 2]]]


def hooke(C: Array, strain: Array) -> Array:
    """``C : strain`` of (m, 6, 6) and (m, 3, 3)."""
    gamma = strain[:, [0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]] * [1, 1, 1, 2, 2, 2]
    return tensor(np.einsum("mij,mj->mi", C, gamma))


def _skew_balance(U: Array, T: Array) -> Array:
    """The skew part that makes ``(T + skew) U`` symmetric (see ``general.py``)."""
    K = U @ T - T @ U
    axial = np.stack([K[:, 2, 1], K[:, 0, 2], K[:, 1, 0]], axis=1)
    G = np.trace(U, axis1=1, axis2=2)[:, None, None] * _EYE - U
    w = np.linalg.solve(G, axial[:, :, None])[:, :, 0]
    skew = np.zeros_like(T)
    for (i, j), k in (((2, 1), 0), ((0, 2), 1), ((1, 0), 2)):
        skew[:, i, j], skew[:, j, i] = w[:, k], -w[:, k]
    return skew


def first_piola(mechanics: "TetFem", F: Array, which: IntArray, pressure: Any) -> Array:
    """First Piola-Kirchhoff stresses [Pa] at elastic deformation gradients F of the elements ``which``;
    ``pressure``: averaged ones (m, 1, 1), or 0."""
    model, rest, share = mechanics.model, mechanics.rest, mechanics.share
    lam, mu = (constant[which][:, None, None] for constant in rest.lame)
    bulk = lam + 2.0 / 3.0 * mu
    if model.law == "neo-hookean":
        mu, own = 4.0 / 3.0 * mu, share * bulk + mu / 6.0
        first = np.einsum("mij,mij->m", F, F)[:, None, None]
        swell = own * (np.linalg.det(F)[:, None, None] - 1.0) - 0.75 * mu + pressure
        return np.asarray(mu * (1.0 - 1.0 / (first + 1.0)) * F + swell * cofactors(F))
    C, plastic = rest.stiffness[which], tensor(rest.plastic_strain[which])
    if model.law == "st-venant-kirchhoff":
        R, U = F, 0.5 * (F.transpose(0, 2, 1) @ F + _EYE)
    else:
        R = gram_schmidt(F) if model.rotation == "gram-schmidt" else polar(F)
        U = R.transpose(0, 2, 1) @ F
        U = 0.5 * (U + U.transpose(0, 2, 1))
    strain = U - _EYE - plastic
    volumetric = np.trace(strain, axis1=1, axis2=2)[:, None, None]
    T = hooke(C, strain) + (pressure - (1.0 - share) * bulk * volumetric) * _EYE
    if model.law == "corotational" and model.rotation == "polar" and rest.general:
        T = T + _skew_balance(U, T)
    return np.asarray(R @ T)


def _pressure(mechanics: "TetFem", x: Array, which: IntArray) -> Any:
    """Averaged pressures of tets (m, 1, 1) [Pa], zero without the remedy."""
    if mechanics.pressure is None:
        return 0.0
    mechanics.pressure.update(x, mechanics.rest.rows, mechanics.law)
    values = mechanics.rest.per_tet(mechanics.pressure.extra) / mechanics.rest.volumes
    return values[which][:, None, None]


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
