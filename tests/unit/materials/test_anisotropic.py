"""Orthotropic and anisotropic stiffness."""

import re
from typing import Any

import numpy as np
import pytest

from pliant.core.typing import Array
from pliant.materials import Material, anisotropic, elastic, resolve

WOOD = dict(resolve("wood").moduli)  # type: ignore[arg-type]


def rotation(seed: int = 1) -> Array:
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    turned: Array = q * np.sign(np.linalg.det(q))
    return turned


def tensor(matrix: Array) -> Array:
    """The (3, 3, 3, 3) stiffness tensor of a matrix in Voigt's order."""
    index = np.array([[0, 5, 4], [5, 1, 3], [4, 3, 2]])
    full: Array = matrix[index[:, :, None, None], index[None, None]]
    return full


def isotropic_moduli(young: float, nu: float) -> dict[str, float]:
    g = elastic.shear_modulus(young, nu)
    return {k: (young if k[0] == "E" else g if k[0] == "G" else nu) for k in anisotropic.ORTHOTROPIC}


def test_equal_moduli_make_the_isotropic_stiffness() -> None:
    matrix = anisotropic.stiffness_matrix(isotropic_moduli(3e6, 0.45))
    np.testing.assert_allclose(matrix, anisotropic.isotropic_matrix(3e6, 0.45), rtol=1e-12, atol=1e-6)
    assert anisotropic.nearest_isotropic(isotropic_moduli(3e6, 0.45)) == pytest.approx((3e6, 0.45), rel=1e-12)


def test_the_compliance_holds_the_engineering_constants() -> None:
    compliance = np.linalg.inv(anisotropic.stiffness_matrix(WOOD))
    assert 1 / compliance[0, 0] == pytest.approx(WOOD["E1"], rel=1e-10)
    assert 1 / compliance[2, 2] == pytest.approx(WOOD["E3"], rel=1e-10)
    assert -compliance[0, 1] / compliance[0, 0] == pytest.approx(WOOD["nu12"], rel=1e-10)
    assert -compliance[1, 2] / compliance[1, 1] == pytest.approx(WOOD["nu23"], rel=1e-10)
    assert [1 / compliance[i, i] for i in (3, 4, 5)] == pytest.approx(
        [WOOD["G23"], WOOD["G13"], WOOD["G12"]], rel=1e-10
    )


def test_turning_follows_the_tensor_rule() -> None:
    matrix, r = anisotropic.stiffness_matrix(WOOD), rotation()
    expected = np.einsum("ia,jb,kc,ld,abcd->ijkl", r, r, r, r, tensor(matrix))
    turned = tensor(anisotropic.rotate_stiffness(matrix, r))
    np.testing.assert_allclose(turned, expected, rtol=0, atol=1e-12 * matrix.max())


def test_an_isotropic_stiffness_has_no_direction() -> None:
    matrix = anisotropic.isotropic_matrix(3e6, 0.45)
    np.testing.assert_allclose(
        anisotropic.rotate_stiffness(matrix, rotation()), matrix, rtol=0, atol=1e-12 * matrix.max()
    )


def test_the_frame_says_where_axis_1_points() -> None:
    upright = Material(preset="wood", frame=((0, 0, 1), (1, 0, 0)))
    compliance = np.linalg.inv(resolve(upright).stiffness())
    assert 1 / compliance[2, 2] == pytest.approx(WOOD["E1"], rel=1e-10)
    assert 1 / compliance[0, 0] == pytest.approx(WOOD["E2"], rel=1e-10)


def test_turning_the_body_turns_the_frame() -> None:
    r = rotation()
    tilted = resolve({"preset": "wood", "frame": r.T.tolist()})
    np.testing.assert_allclose(tilted.stiffness(), resolve("wood").stiffness(r), rtol=1e-9, atol=1e-3)


def test_two_vectors_span_a_frame() -> None:
    frame = anisotropic.read_frame([[2.0, 0.0, 0.0], [5.0, 3.0, 0.0]])
    np.testing.assert_allclose(frame, np.eye(3), atol=1e-15)


def test_21_constants_are_the_upper_triangle_row_by_row() -> None:
    matrix = anisotropic.stiffness_matrix(WOOD)
    given = matrix[np.triu_indices(6)]
    for form in (given, given.tolist(), [f"{entry / 1e6!r} MPa" for entry in given.tolist()]):
        material = resolve({"moduli": form, "density": 500})
        np.testing.assert_allclose(material.stiffness(), matrix, rtol=1e-14, atol=1e-6)


def test_no_wave_is_faster_than_the_bound() -> None:
    directions = np.random.default_rng(2).normal(size=(500, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    christoffel = np.einsum(
        "nj,ijkl,nl->nik", directions, tensor(anisotropic.stiffness_matrix(WOOD)), directions
    )
    fastest = np.linalg.eigvalsh(christoffel).max()
    assert fastest <= anisotropic.largest_modulus(WOOD) <= 1.5 * fastest


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"moduli": {**WOOD, "nu12": 5.0}}, "not positive definite"),
        ({"moduli": {**WOOD, "E1": -1.0}}, "modulus E1 = -1 Pa is not possible: it must be above 0 Pa"),
        ({"moduli": {**WOOD, "E4": 1.0}}, "unknown: E4"),
        ({"moduli": {"E1": 1e9}}, "missing: E2, E3, nu12"),
        ({"moduli": [1.0] * 20}, "21 constants of the stiffness matrix, got 20"),
        ({"moduli": [0.0] * 21}, "not positive definite"),
        ({"moduli": "stiff"}, "a table (E1, nu12, G12, ...) or a list of 21"),
        ({"moduli": isotropic_moduli(1.0, 0.5)}, "lower the Poisson's ratios"),
        ({"frame": [[1, 0, 0], [2, 0, 0]]}, "must not be parallel"),
        ({"frame": [[1, 0, 0], [0, 2, 0], [0, 0, 1]]}, "unit vectors at right angles"),
        ({"frame": [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}, "right-handed"),
        ({"frame": [[1, 0], [0, 1]]}, "two vectors, or three rows"),
        ({"frame": "x"}, "two vectors, or three rows"),
    ],
)
def test_bad_moduli_and_frames_are_refused(table: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Material(**table)
