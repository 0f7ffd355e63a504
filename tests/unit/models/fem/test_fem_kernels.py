"""Compiled laws against plain NumPy, and their building blocks."""

from typing import Any

import numpy as np
import pytest
from bodies import MATERIAL, block, shaken

from pliant.kernels.jit import threads_in_use, use_threads
from pliant.kernels.tensors import symmetric_eigen
from pliant.materials.constitutive import LAWS
from pliant.models.tets.kernels import SCRATCH, put, rotate_block, stretch_block
from pliant.models.tets.stiffness import gradients

MODULI = {"E1": 2e5, "E2": 1e5, "E3": 5e4, "nu12": 0.3, "nu13": 0.2, "nu23": 0.25}
MODULI |= {"G12": 5e4, "G13": 3e4, "G23": 4e4}
WOOD = {"moduli": MODULI, "density": 500.0, "frame": [[1, 1, 0], [0, 1, 1]]}


def prepared(
    model: Any, material: Any = None, divisions: tuple[int, int, int] = (3, 2, 2)
) -> tuple[Any, Any]:
    body = block(divisions, model=model, material=material or MATERIAL)
    structure = body.structure()
    return structure, body.model.prepare(structure, body.resolved_material)


def polar(F: Any) -> Any:
    """The nearest rotations (determinant +1) of matrices (m, 3, 3), by singular values."""
    U, _, W = np.linalg.svd(F)
    U[:, :, 2] *= np.sign(np.linalg.det(U) * np.linalg.det(W))[:, None]
    return U @ W


def gram_schmidt(F: Any) -> Any:
    a = F[:, :, 0] / np.linalg.norm(F[:, :, 0], axis=1, keepdims=True)
    b = F[:, :, 1] - np.einsum("mi,mi->m", a, F[:, :, 1])[:, None] * a
    b /= np.linalg.norm(b, axis=1, keepdims=True)
    return np.stack([a, b, np.cross(a, b)], axis=2)


def tensor(voigt: Any) -> Any:
    return voigt[:, [[0, 5, 4], [5, 1, 3], [4, 3, 2]]]


def skew_balance(U: Any, T: Any) -> Any:
    """The skew part that makes ``(T + skew) U`` symmetric."""
    K = U @ T - T @ U
    axial = np.stack([K[:, 2, 1], K[:, 0, 2], K[:, 1, 0]], axis=1)
    G = np.trace(U, axis1=1, axis2=2)[:, None, None] * np.eye(3) - U
    w = np.linalg.solve(G, axial[:, :, None])[:, :, 0]
    skew = np.zeros_like(T)
    for (i, j), k in (((2, 1), 0), ((0, 2), 1), ((1, 0), 2)):
        skew[:, i, j], skew[:, j, i] = w[:, k], -w[:, k]
    return skew


def first_piola(mechanics: Any, F: Any, pressure: Any) -> Any:
    """First Piola-Kirchhoff stresses of linear laws and of the neo-Hookean one, in plain NumPy."""
    model, rest, share = mechanics.model, mechanics.elements.rest, 1.0 - mechanics.elements.withheld()
    lam, mu = (constant[:, None, None] for constant in rest.lame)
    bulk = lam + 2.0 / 3.0 * mu
    if model.law == "neo-hookean":
        mu, own = 4.0 / 3.0 * mu, share * bulk + mu / 6.0
        first, J = np.einsum("mij,mij->m", F, F)[:, None, None], np.linalg.det(F)[:, None, None]
        cofactors = np.stack([np.cross(F[:, :, k - 2], F[:, :, k - 1]) for k in range(3)], axis=2)
        return mu * (1.0 - 1.0 / (first + 1.0)) * F + (own * (J - 1.0) - 0.75 * mu + pressure) * cofactors
    if model.law == "st-venant-kirchhoff":
        R, U = F, 0.5 * (F.transpose(0, 2, 1) @ F + np.eye(3))
    else:
        R = gram_schmidt(F) if model.rotation == "gram-schmidt" else polar(F)
        U = R.transpose(0, 2, 1) @ F
        U = 0.5 * (U + U.transpose(0, 2, 1))
    strain = U - np.eye(3) - tensor(rest.plastic_strains[:, 0])
    volumetric = np.trace(strain, axis1=1, axis2=2)[:, None, None]
    gamma = strain[:, [0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]] * [1, 1, 1, 2, 2, 2]
    T = tensor(np.einsum("mij,mj->mi", rest.stiffness, gamma))
    T = T + (pressure - (1.0 - share) * bulk * volumetric) * np.eye(3)
    if model.law == "corotational" and model.rotation == "polar":
        T = T + skew_balance(U, T)
    return R @ T


def forces(mechanics: Any, x: Any) -> Any:
    out = np.zeros_like(x)
    mechanics.add_forces(x, np.zeros_like(x), out)
    return out


@pytest.mark.parametrize("size", [0.01, 0.3])  # moved a little; thrown about, half of the tets inverted
@pytest.mark.parametrize("locking", ["none", "averaged-pressure"])
@pytest.mark.parametrize(
    ("keys", "material"),
    [
        ({}, None),
        ({"rotation": "gram-schmidt"}, None),
        ({"law": "st-venant-kirchhoff"}, None),
        ({"law": "neo-hookean"}, None),
        ({}, MATERIAL | {"yield": 500.0}),
        ({"law": "st-venant-kirchhoff"}, MATERIAL | {"yield": 500.0}),
        ({"law": "neo-hookean"}, MATERIAL | {"yield": 500.0}),
        ({}, WOOD),
        ({"law": "st-venant-kirchhoff"}, WOOD),
    ],
)
def test_compiled_forces_are_those_of_numpy(keys: Any, material: Any, locking: str, size: float) -> None:
    """With plastic strain in it where the material yields."""
    if locking != "none" and material is WOOD:
        pytest.skip("averaged pressures are for isotropic materials")
    structure, mechanics = prepared({"type": "fem", "locking": locking, **keys}, material)
    mechanics.after_step(0.0, 0.01, shaken(structure.rest, 0.02, seed=5), np.zeros_like(structure.rest))
    x = shaken(structure.rest, size)
    expected, elements = np.zeros_like(x), mechanics.elements
    which = np.arange(len(elements.nodes))
    pressure = elements.pressures(x, which)[:, None, None]
    P = first_piola(mechanics, elements.deformation(x, which), pressure)
    slopes = gradients(elements.rest.inverses[:, 0])
    np.add.at(expected, elements.nodes, -np.einsum("m,mij,mkj->mki", elements.rest.volumes, P, slopes))
    assert np.abs(forces(mechanics, x) - expected).max() < 1e-10 * np.abs(expected).max()


def rotations(F: Any) -> tuple[Any, Any]:
    """The compiled rotations and sums of stretches of 16 matrices."""
    w = np.zeros(SCRATCH)
    w[:144] = F.reshape(16, 9).T.ravel()
    stretch_block(w)
    sums = w[192:208].copy()
    rotate_block(w)
    return w[:144].reshape(9, 16).T.reshape(16, 3, 3), sums


def test_rotations_are_the_nearest_ones_also_of_inverted_matrices() -> None:
    generator = np.random.default_rng(0)
    for scale in (1e-6, 1e-3, 0.3, 1.0, 1e3):
        for _ in range(50):
            F = np.eye(3) + scale * generator.normal(size=(16, 3, 3))
            found, sums = rotations(F)
            signed = np.linalg.svd(F, compute_uv=False) * [1, 1, 0]
            smallest = np.linalg.svd(F, compute_uv=False)[:, 2] * np.sign(np.linalg.det(F))
            gap = (signed[:, 1] + smallest) / np.linalg.norm(F, axis=(1, 2))  # unique where it is not zero
            error = np.abs(found - polar(F)).max(axis=(1, 2))
            assert (error < 1e-13 + 1e-14 / gap**2).all()
            assert sums == pytest.approx(signed.sum(axis=1) + smallest, rel=1e-9)


def test_rotations_of_degenerate_matrices_are_finite() -> None:
    F = np.zeros((16, 3, 3))
    F[1] = np.diag([1, 1, 0])
    F[2] = np.diag([1, 0, 0])
    F[3] = np.diag([1, 1, -1])
    F[4] = -np.eye(3)
    F[5] = np.diag([1e-200, 0, 0])
    found, _ = rotations(F)
    assert np.isfinite(found).all()
    assert np.abs(found).max() < 2
    assert np.abs(found[1] - np.eye(3)).max() < 1e-14


def test_put_is_the_layout_of_blocks() -> None:
    w = np.zeros(SCRATCH)
    put(w, 3, tuple(range(9)))
    assert [w[16 * c + 3] for c in range(9)] == list(range(9))


def test_eigenvectors_of_symmetric_matrices() -> None:
    generator = np.random.default_rng(1)
    cases = [generator.normal(size=(3, 3)) for _ in range(100)] + [
        np.eye(3),
        np.diag([2.0, 1, 2]),
        np.zeros((3, 3)),
    ]
    for a in cases:
        m = a + a.T
        values, vectors = symmetric_eigen((m[0, 0], m[1, 1], m[2, 2], m[1, 2], m[0, 2], m[0, 1]))
        vectors = np.reshape(vectors, (3, 3))
        assert np.abs(values - np.linalg.eigvalsh(m)).max() < 1e-13
        assert np.abs(vectors @ np.diag(values) @ vectors.T - m).max() < 1e-13
        assert np.abs(vectors.T @ vectors - np.eye(3)).max() < 1e-14


@pytest.mark.parametrize("law", ["corotational", "neo-hookean"])
def test_any_number_of_threads_gives_the_same_bytes(law: str) -> None:
    structure, mechanics = prepared(
        {"type": "fem", "law": law, "locking": "averaged-pressure"}, divisions=(10, 10, 10)
    )
    x = shaken(structure.rest, 0.02)
    before, found = threads_in_use(), []
    try:
        for threads in (1, 2):
            use_threads(min(threads, before))
            found.append((mechanics.energy(x), forces(mechanics, x)))
    finally:
        use_threads(before)
    (e, f), (other_e, other_f) = found
    assert e == other_e
    assert np.array_equal(f, other_f)


@pytest.mark.parametrize("law", list(LAWS))
def test_energies_of_tiny_strains_keep_their_digits(law: str) -> None:
    """W = (strain)^2 (lambda / 2 + mu) V at a strain of 1e-7, not lost in rounding; turned as well."""
    structure, mechanics = prepared({"type": "fem", "law": law})
    lam, mu = 1e5 * 0.3 / (1.3 * 0.4), 1e5 / 2.6
    expected = (0.5 * lam + mu) * 1e-14 * 0.3 * 0.2 * 0.2
    assert mechanics.energy(structure.rest * [1 + 1e-7, 1, 1]) == pytest.approx(expected, rel=1e-5)


def test_dropped_volume_terms_leave_no_lambda() -> None:
    """Pure swelling then meets 2 mu / 3 only: W = 3 mu s^2 V."""
    structure, mechanics = prepared({"type": "fem", "locking": "averaged-pressure"})
    mechanics.disable_volumetric_term()
    expected = 3 * 1e5 / 2.6 * 0.01**2 * 0.3 * 0.2 * 0.2
    assert mechanics.energy(1.01 * structure.rest) == pytest.approx(expected, rel=1e-12)
