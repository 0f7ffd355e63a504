"""Calibration: what a very mesh makes of the constants, and the constants that make it right."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.errors import IncompatibleError
from pliant.models.particles.linear import shape_gradients
from pliant.models.particles.mapping import FaceConstants, Form, face_constants
from pliant.typing import Array

ROUNDS = 3


def effective_moduli(mechanics: Any) -> tuple[float, float]:
    """Bulk and shear modulus [Pa] of a body at rest, from its mean strain under six uniform stresses.

    The surface is loaded with ``sigma n``; the exact answer of a homogeneous body of any shape is a uniform
    strain. Solved with the model's own stiffness, preconditioned by that of linear elasticity.
    """
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import LinearOperator, cg, splu

    rest, tets, volumes = mechanics.structure.rest, mechanics.tets, mechanics.volumes
    n, gradients, total = len(rest), shape_gradients(rest, tets), float(volumes.sum())
    linear = mechanics.rest_stiffness()
    shift = 1e-6 * float(linear.diagonal().mean())
    solve = splu((linear + shift * eye_array(3 * n)).tocsc()).solve

    def product(u: Any) -> Any:
        out = np.zeros((n, 3))
        mechanics.add_stiffness_product(rest, np.asarray(u, float).reshape(-1, 3), out)
        return out.ravel()

    operator: Any = LinearOperator((3 * n, 3 * n), matvec=product, dtype=np.float64)
    inverse: Any = LinearOperator((3 * n, 3 * n), matvec=solve, dtype=np.float64)
    compliance = []
    for sigma in _stresses():
        load = np.zeros((n, 3))
        np.add.at(load, tets, volumes[:, None, None] * (gradients @ sigma))
        u, failed = cg(operator, load.ravel(), rtol=1e-6, maxiter=500, M=inverse)
        if failed:
            raise IncompatibleError("calibrate: the body's stiffness could not be solved for its moduli.")
        compliance.append(float(load.ravel() @ u) / total)  # sigma : mean strain
    return 1.0 / (3.0 * compliance[0]), 0.5 / float(np.mean(compliance[1:]))


def _stresses() -> Array:
    """The hydrostatic unit stress and five deviatoric ones, all of norm 1; shape (6, 3, 3)."""
    found = [np.eye(3) / np.sqrt(3.0)]
    found += [np.diag([1.0, -1.0, 0.0]) / np.sqrt(2.0), np.diag([1.0, 1.0, -2.0]) / np.sqrt(6.0)]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        one = np.zeros((3, 3))
        one[i, j] = one[j, i] = np.sqrt(0.5)
        found.append(one)
    return np.array(found)


def calibrated(build: Callable[[FaceConstants], Any], lame: tuple[Array, Array], form: Form) -> FaceConstants:
    """The constants with which the body that ``build`` makes has the bulk and shear modulus of ``lame``.

    The printed form needs none: its faces carry Hooke's traction exactly.
    """
    lam, mu = lame
    if np.ptp(lam) or np.ptp(mu):
        raise IncompatibleError(
            "calibrate works for bodies of one material only.", hint="Leave calibrate or the regions out."
        )
    wanted = float(lam[0] + 2.0 * mu[0] / 3.0), float(mu[0])
    bulk, shear = wanted
    constants = face_constants(lame, form)
    if form == "everts":
        return constants
    for _ in range(ROUNDS):
        found = effective_moduli(build(constants))
        bulk, shear = bulk * wanted[0] / found[0], shear * wanted[1] / found[1]
        constants = face_constants(
            (np.full_like(lam, bulk - 2.0 * shear / 3.0), np.full_like(mu, shear)), form
        )
    return constants
