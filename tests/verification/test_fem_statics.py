"""Finite elements against closed forms that need no time: patch test, rigid motion, frequencies."""

from typing import Any

import numpy as np
import pytest
from bodies import MATERIAL, block, shaken
from scipy.linalg import eigh

from pliant.core.rotation import Rotation

LAWS = ["corotational", "st-venant-kirchhoff", "neo-hookean"]
KEYS = [{"law": law, "locking": locking} for law in LAWS for locking in ("none", "averaged-pressure")]
KEYS.append({"rotation": "gram-schmidt"})


def prepared(keys: Any, divisions: tuple[int, int, int] = (3, 3, 3), **options: Any) -> tuple[Any, Any]:
    body = block(divisions, model={"type": "fem", **keys}, **options)
    structure = body.structure()
    return structure, body.model.prepare(structure, body.resolved_material)


def forces(mechanics: Any, x: Any) -> Any:
    out = np.zeros_like(x)
    mechanics.add_forces(x, np.zeros_like(x), out)
    return out


def on_boundary(structure: Any) -> Any:
    return np.isin(np.arange(len(structure.rest)), structure.cells["triangle"])


def irregular(structure: Any) -> Any:
    """The structure with its inner particles moved, so that the tets differ."""
    from dataclasses import replace

    inner = ~on_boundary(structure)
    rest = structure.rest.copy()
    rest[inner] = shaken(rest, 0.02)[inner]
    return replace(structure, rest=rest)


@pytest.mark.parametrize("keys", KEYS)
def test_patch_of_finite_strain(keys: Any) -> None:
    """Under x = F X + c no inner particle feels a force, and the stress is uniform: to 1e-12."""
    body = block((3, 3, 3), model={"type": "fem", **keys})
    structure = irregular(body.structure())
    mechanics = body.model.prepare(structure, body.resolved_material)
    F = np.array([[1.2, 0.1, 0.0], [-0.05, 0.9, 0.15], [0.1, 0.0, 1.1]])
    x = structure.rest @ F.T + 1.0
    f, inner = forces(mechanics, x), ~on_boundary(structure)
    assert inner.sum() == 8
    assert np.abs(f[inner]).max() < 1e-12 * np.abs(f).max()
    stress = mechanics.fields(x, np.zeros_like(x), ["stress-tensor"])["stress-tensor"].values
    assert np.abs(stress - stress[0]).max() < 1e-12 * np.abs(stress).max()


def test_patch_test_of_the_stiffness() -> None:
    """Boundary displaced linearly: the inner particles follow to 1e-12 of the displacement."""
    body = block((3, 3, 3), model="fem")
    structure = irregular(body.structure())
    matrix = body.model.prepare(structure, body.resolved_material).rest_stiffness().toarray()
    H = 1e-3 * np.array([[1.0, 0.4, -0.2], [0.1, -0.5, 0.3], [0.6, 0.2, 0.8]])
    expected = structure.rest @ H.T
    outer = np.repeat(on_boundary(structure), 3)
    inner = ~outer
    u = expected.ravel().copy()
    u[inner] = np.linalg.solve(matrix[np.ix_(inner, inner)], -matrix[np.ix_(inner, outer)] @ u[outer])
    assert np.abs(u.reshape(-1, 3) - expected).max() < 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("degrees", [30.0, 90.0, 180.0])
def test_rigid_motion_is_free_of_forces(keys: Any, degrees: float) -> None:
    structure, mechanics = prepared(keys)
    x = structure.rest @ Rotation(axis=(3, -1, 2), degrees=degrees).matrix().T + [5.0, -3.0, 2.0]
    assert np.abs(forces(mechanics, x)).max() < 1e-12 * MATERIAL["young"] * 0.1**2


def modes(divisions: tuple[int, int, int], **material: float) -> tuple[Any, Any, Any]:
    """Angular frequencies [rad/s], shapes and rest positions of a free bar."""
    structure, mechanics = prepared({}, divisions, material=MATERIAL | material)
    values, vectors = eigh(mechanics.rest_stiffness().toarray(), np.diag(np.repeat(structure.mass, 3)))
    return np.sqrt(np.maximum(values, 0)), vectors.reshape(-1, 3, len(values)), structure


def test_six_modes_are_rigid() -> None:
    omega, _, _ = modes((6, 1, 1))
    assert omega[5] < 1e-5 * omega[6]


def test_axial_frequencies_of_a_free_bar() -> None:
    """omega_n = n pi sqrt(E / rho) / L without lateral contraction; the error goes with (n h / L)^2."""
    omega, shapes, structure = modes((20, 1, 1), poisson=0.0)
    x = structure.rest[:, 0]
    for n, tolerance in ((1, 0.003), (2, 0.01)):
        wave = np.cos(n * np.pi * x / 2.0)
        overlap = np.abs(np.einsum("n,n,nk->k", structure.mass, wave, shapes[:, 0]))
        found = omega[np.argmax(overlap)]
        assert found == pytest.approx(n * np.pi * np.sqrt(1e5 / 1000) / 2.0, rel=tolerance)


def test_nearly_incompressible_bending_is_not_locked() -> None:
    """Energy of pure bending u = k (x z, -nu y z, -(x^2 + nu (z^2 - y^2)) / 2), which is E I k^2 L / 2.

    At nu = 0.49 plain tets on this coarse mesh store more than twice that; averaged pressures cut it down.
    """
    found = {}
    for poisson, locking in ((0.3, "none"), (0.49, "none"), (0.49, "averaged-pressure")):
        structure, mechanics = prepared(
            {"locking": locking}, (12, 2, 2), material=MATERIAL | {"poisson": poisson}
        )
        x, y, z = (structure.rest - structure.rest.mean(axis=0)).T
        k, nu = 1e-4, poisson
        u = k * np.stack([x * z, -nu * y * z, -0.5 * (x**2 + nu * (z**2 - y**2))], axis=1)
        exact = 0.5 * 1e5 * 0.2**4 / 12 * k**2 * 1.2
        found[poisson, locking] = mechanics.energy(structure.rest + u) / exact
    assert found[0.49, "none"] > 2.0
    assert found[0.49, "averaged-pressure"] < 0.75 * found[0.49, "none"]
