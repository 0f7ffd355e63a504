"""Calibration: the moduli that a body's own mesh makes of constants, and the constants that correct them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.interfaces import Structure
from pliant.mesh.mesh import boundary_triangles
from pliant.models.tets.fields import edge_matrices
from pliant.models.tets.stiffness import gradients

if TYPE_CHECKING:
    from scipy.sparse import bsr_array

ROUNDS = 3


class TetBody(Protocol):
    """What is measured: the runtime of a body of tets (m, 4) with their ``volumes`` (m,) [m3]."""

    structure: Structure
    tets: IntArray
    volumes: Array

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        """Add ``K dx`` at positions ``x`` to ``out``; (n, 3) each."""

    def rest_stiffness(self) -> "bsr_array":
        """A stiffness matrix (3n, 3n) [N/m] near that of the body at rest, as a preconditioner."""


def effective_moduli(mechanics: TetBody) -> tuple[float, float]:
    """Bulk and shear modulus [Pa] of a body at rest: the mean of two tests, by six unit tensors each.

    The surface is loaded with ``sigma n``, or displaced by ``e x``; the exact answer of a homogeneous body of
    any shape is a uniform strain in both. A body whose cells are not alike is softest in the first test and
    stiffest in the second, all others lie between (Reuss and Voigt bounds; their mean is Hill's).
    """
    loaded, displaced = _loaded(mechanics), _displaced(mechanics)
    return 0.5 * (loaded[0] + displaced[0]), 0.5 * (loaded[1] + displaced[1])


def _loaded(mechanics: TetBody) -> tuple[float, float]:
    """Bulk and shear modulus [Pa] from the mean strain under uniform stresses on the surface."""
    tets, volumes = mechanics.tets, mechanics.volumes
    slopes = gradients(np.linalg.inv(edge_matrices(mechanics.structure.rest, tets)).astype(np.float64))
    solve = _solver(mechanics, np.ones_like(mechanics.structure.rest, bool))
    compliance = []
    for sigma in _tensors():
        load = np.zeros_like(mechanics.structure.rest)
        np.add.at(load, tets, volumes[:, None, None] * (slopes @ sigma))
        compliance.append(float(np.sum(load * solve(load))) / float(volumes.sum()))  # sigma : mean strain
    return 1.0 / (3.0 * compliance[0]), 0.5 / float(np.mean(compliance[1:]))


def _displaced(mechanics: TetBody) -> tuple[float, float]:
    """Bulk and shear modulus [Pa] from the energy with the surface displaced uniformly."""
    rest = mechanics.structure.rest
    free = np.ones_like(rest, bool)
    free[np.unique(boundary_triangles(mechanics.tets))] = False
    solve = _solver(mechanics, free) if free.any() else None
    stiffness = []
    for strain in _tensors():
        u = rest @ strain
        force = _product(mechanics, u)
        if solve is not None:
            u -= solve(np.where(free, force, 0.0))
            force = _product(mechanics, u)
        stiffness.append(float(np.sum(u * force)) / float(mechanics.volumes.sum()))
    return stiffness[0] / 3.0, 0.5 * float(np.mean(stiffness[1:]))


def _product(mechanics: TetBody, u: Array) -> Array:
    out = np.zeros_like(u)
    mechanics.add_stiffness_product(mechanics.structure.rest, u, out)
    return out


def _solver(mechanics: TetBody, free: BoolArray) -> Callable[[Array], Array]:
    """Displacements of the degrees of freedom ``free`` (n, 3) under loads (n, 3), by the model's own
    stiffness at rest, preconditioned by that of linear elasticity."""
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import LinearOperator, cg, splu

    rows = np.flatnonzero(free)
    linear = mechanics.rest_stiffness().tocsr()[rows][:, rows]
    shift = 1e-6 * float(linear.diagonal().mean())
    near = splu((linear + shift * eye_array(len(rows))).tocsc()).solve

    def whole(part: Any) -> Array:
        full = np.zeros(free.size)
        full[rows] = np.asarray(part, float).ravel()
        return full.reshape(-1, 3)

    shape = (len(rows), len(rows))
    operator: Any = LinearOperator(
        shape, matvec=lambda u: _product(mechanics, whole(u)).ravel()[rows], dtype=np.float64
    )
    inverse: Any = LinearOperator(shape, matvec=near, dtype=np.float64)

    def solve(load: Array) -> Array:
        u, failed = cg(operator, load.ravel()[rows], rtol=1e-6, maxiter=500, M=inverse)
        if failed:
            raise IncompatibleError("calibrate: the body's stiffness could not be solved for its moduli.")
        return whole(u)

    return solve


def _tensors() -> Array:
    """The hydrostatic unit tensor and five deviatoric ones, all of norm 1; shape (6, 3, 3)."""
    found = [np.eye(3) / np.sqrt(3.0)]
    found += [np.diag([1.0, -1.0, 0.0]) / np.sqrt(2.0), np.diag([1.0, 1.0, -2.0]) / np.sqrt(6.0)]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        one = np.zeros((3, 3))
        one[i, j] = one[j, i] = np.sqrt(0.5)
        found.append(one)
    return np.array(found)


def calibrated(build: Callable[[float, float], TetBody], lame: tuple[Array, Array]) -> tuple[float, float]:
    """The bulk and shear modulus [Pa] that give the body that ``build`` makes those of ``lame`` (per tet)."""
    lam, mu = lame
    if np.ptp(lam) or np.ptp(mu):
        raise IncompatibleError(
            "calibrate works for bodies of one material only.", hint="Leave calibrate or the regions out."
        )
    wanted = float(lam[0] + 2.0 * mu[0] / 3.0), float(mu[0])
    bulk, shear = wanted
    for _ in range(ROUNDS):
        found = effective_moduli(build(bulk, shear))
        bulk, shear = bulk * wanted[0] / found[0], shear * wanted[1] / found[1]
    return bulk, shear
