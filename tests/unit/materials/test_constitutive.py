"""What every constitutive law obeys, one by one as functions of F: a new entry of LAWS is found by itself."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from numba import njit

from pliant.core.rotation import Rotation
from pliant.kernels.tensors import right_cauchy_green, stretch
from pliant.materials.constitutive import LAWS, law_named
from pliant.models.fem import Fem
from pliant.models.fem.law_blocks import law_stresses

MU, BULK = 4e4, 1.1e5
TURN = Rotation(axis=(1, 2, 3), degrees=77).matrix()
EYE = np.eye(3)
NONE = np.zeros((0, 0))


@cache
def energies(name: str) -> Any:
    """W of one F (9,), compiled."""
    law = law_named(name)
    invariants, energy, volumetric, turned = *law.functions[:2], law.functions.volumetric, law.rotation

    @njit
    def both(m: Any, mu: float, bulk: float, k: Any) -> tuple[float, float]:
        f = (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8])
        s = (0.0, 0.0, 0.0)
        if turned:
            s = stretch(f, right_cauchy_green(f))
        i = invariants(f, s)
        return energy(i, mu, bulk, k), volumetric(f, s)

    return both


def energy(name: str, F: Any, bulk: float = BULK, **parameters: Any) -> float:
    return float(energies(name)(np.ravel(F) * 1.0, MU, bulk, law_named(name).constants(parameters))[0])


def swelling(name: str, F: Any) -> float:
    return float(energies(name)(np.ravel(F) * 1.0, MU, BULK, law_named(name).constants({}))[1])


def stress(name: str, F: Any, bulk: float = BULK, pressure: float = 0.0, **parameters: Any) -> Any:
    law, out = law_named(name), np.empty((1, 9))
    constants, one = law.constants(parameters), np.ones(1)
    rows = np.ascontiguousarray(np.reshape(F, (1, 9)), float)
    law_stresses(law, False)(rows, MU * one, bulk * one, 0 * one, pressure * one, NONE, NONE, constants, out)
    return out.reshape(3, 3)


def slope(function: Any, F: Any, h: float = 1e-6) -> Any:
    """The derivative by the nine entries of F, by central differences."""
    out = []
    for i in range(9):
        d = np.zeros(9)
        d[i] = h
        out.append((function(F + d.reshape(3, 3)) - function(F - d.reshape(3, 3))) / (2 * h))
    return np.array(out)


def states(size: float = 0.3, count: int = 6) -> list[Any]:
    generator = np.random.default_rng(3)
    return [EYE + size * generator.uniform(-1, 1, (3, 3)) for _ in range(count)]


@pytest.mark.parametrize("name", list(LAWS))
def test_stress_is_the_derivative_of_the_energy(name: str) -> None:
    inverted = [F @ np.diag([1, 1, -0.4]) for F in states()]
    squeezed = [F @ np.diag([1, 1, 0.15]) for F in states(0.1)]
    for F in [*states(), *inverted, *squeezed]:
        found = stress(name, F).ravel()
        assert np.abs(found - slope(lambda G: energy(name, G), F)).max() < 1e-7 * np.abs(found).max()


@pytest.mark.parametrize("name", list(LAWS))
def test_pressure_acts_on_the_volumetric_strain(name: str) -> None:
    """And W depends on the bulk modulus by K theta^2 / 2 alone: what averaged pressures rely on."""
    for F in states():
        found = (stress(name, F, pressure=1e5) - stress(name, F)).ravel()
        assert np.abs(found - 1e5 * slope(lambda G: swelling(name, G), F)).max() < 1e-3
        more = energy(name, F, bulk=2 * BULK) - energy(name, F, bulk=BULK)
        assert more == pytest.approx(0.5 * BULK * swelling(name, F) ** 2, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", list(LAWS))
def test_nothing_is_stored_or_pulls_at_rest(name: str) -> None:
    for F in (EYE, TURN):
        assert abs(energy(name, F)) < 1e-12 * MU
        assert np.abs(stress(name, F)).max() < 1e-13 * BULK * 10


@pytest.mark.parametrize("name", list(LAWS))
def test_laws_are_objective_and_isotropic(name: str) -> None:
    for F in states():
        own, pull = energy(name, F), stress(name, F)
        assert energy(name, TURN @ F) == pytest.approx(own, rel=1e-11)
        assert energy(name, F @ TURN) == pytest.approx(own, rel=1e-11)
        assert np.abs(stress(name, TURN @ F) - TURN @ pull).max() < 1e-11 * np.abs(pull).max()
        assert np.abs(pull @ F.T - (pull @ F.T).T).max() < 1e-11 * np.abs(pull).max()  # no torque


@pytest.mark.parametrize("name", list(LAWS))
def test_the_tangent_at_rest_is_that_of_linear_elasticity(name: str) -> None:
    """dP = 2 mu sym dF + lambda tr dF, also about a turned rest shape: what stiffness products take."""
    lam = BULK - 2 / 3 * MU
    tangent = slope(lambda G: stress(name, G).ravel(), EYE, 1e-5)
    for i, d in enumerate(np.eye(9).reshape(9, 3, 3)):
        expected = MU * (d + d.T) + lam * np.trace(d) * EYE
        assert np.abs(tangent[i].reshape(3, 3) - expected).max() < 1e-5 * BULK
        turned = (stress(name, TURN @ (EYE + 1e-5 * d)) - stress(name, TURN @ (EYE - 1e-5 * d))) / 2e-5
        assert np.abs(turned - TURN @ expected).max() < 1e-5 * BULK


@pytest.mark.parametrize("name", ["mooney-rivlin", "ogden"])
def test_tangents_of_rubber_are_second_derivatives_of_the_energy(name: str) -> None:
    for F in states(0.2, 3):
        tangent = slope(lambda G: stress(name, G).ravel(), F)
        assert np.abs(tangent - tangent.T).max() < 1e-6 * np.abs(tangent).max()


def rubber(name: str, stretches: Any, **parameters: Any) -> float:
    """The nominal stress along the first axis where the third one is free of stress, J = 1."""
    F = np.diag(stretches)
    P = stress(name, F, **parameters)
    # a pressure q makes the third axis free: P + q cof F
    return float(P[0, 0] - P[2, 2] * F[2, 2] / F[0, 0])


@pytest.mark.parametrize("l", [0.5, 0.8, 1.5, 3.0])
def test_rubber_follows_the_closed_forms_of_incompressible_bodies(l: float) -> None:
    """Uniaxial stretch, equibiaxial stretch and simple shear ([Treloar1944]_ for the tests)."""
    ratio, alpha, mu = 0.4, (1.3, 5.0, -2.0), (6.3, 0.012, -0.1)
    c10, c01 = 0.5 * MU / (1 + ratio), 0.5 * MU * ratio / (1 + ratio)
    scale = 2 * MU / sum(a * m for a, m in zip(alpha, mu, strict=True))
    mooney, ogden = {"ratio": ratio}, {"alpha": alpha, "mu": mu}
    along = (l, l**-0.5, l**-0.5)
    both = (l, l, l**-2)
    assert rubber("mooney-rivlin", along, **mooney) == pytest.approx(
        2 * (l - l**-2) * (c10 + c01 / l), rel=1e-12
    )
    assert rubber("mooney-rivlin", both, **mooney) == pytest.approx(
        2 * (l - l**-5) * (c10 + c01 * l**2), rel=1e-12
    )
    terms = [(a, scale * m) for a, m in zip(alpha, mu, strict=True)]
    assert rubber("ogden", along, **ogden) == pytest.approx(
        sum(m * (l ** (a - 1) - l ** (-0.5 * a - 1)) for a, m in terms), rel=1e-10
    )
    assert rubber("ogden", both, **ogden) == pytest.approx(
        sum(m * (l ** (a - 1) - l ** (-2 * a - 1)) for a, m in terms), rel=1e-10
    )
    F = EYE + (l - 1.0) * np.outer([1, 0, 0], [0, 1, 0])
    for name, given in (("mooney-rivlin", mooney), ("ogden", {"alpha": (2.0, -2.0), "mu": (1.0, -ratio)})):
        shear = (stress(name, F, **given) @ F.T)[0, 1]  # Cauchy's, J = 1
        assert shear == pytest.approx(MU * (l - 1.0), rel=1e-9)


def test_one_law_in_the_words_of_another() -> None:
    """Ogden with alpha = 2 is mu/2 (I1 - 3), Mooney-Rivlin's with ratio 0; with 2 and -2 it is all of it."""
    for F in [*states(), states()[0] @ np.diag([1, 1, -0.4])]:
        first = {"alpha": (2.0,), "mu": (1.0,)}
        assert energy("ogden", F, **first) == pytest.approx(energy("mooney-rivlin", F, ratio=0.0), rel=1e-10)
    for F in states():
        J = np.linalg.det(F)
        plain = 0.5 * MU * (np.sum(F * F) * J ** (-2 / 3) - 3) + 0.5 * BULK * (J - 1) ** 2
        assert energy("mooney-rivlin", F, ratio=0.0) == pytest.approx(plain, rel=1e-11)
        both = {"alpha": (2.0, -2.0), "mu": (1.0, -0.25)}
        assert energy("ogden", F, **both) == pytest.approx(energy("mooney-rivlin", F, ratio=0.25), rel=1e-10)
        pull = stress("mooney-rivlin", F, ratio=0.25)
        assert np.abs(stress("ogden", F, **both) - pull).max() < 1e-10 * np.abs(pull).max()


@pytest.mark.parametrize("name", list(LAWS))
def test_energies_are_finite_everywhere(name: str) -> None:
    flat = [np.zeros((3, 3)), np.diag([1.0, 1, 0]), np.diag([1.0, 0, 0]), -EYE, np.diag([1, 1, -3.0])]
    for F in flat:
        assert np.isfinite(energy(name, F))
        assert np.isfinite(stress(name, F)).all()


@pytest.mark.parametrize(
    ("law", "given", "words"),
    [
        ("ogden", {"alpha": [2.0], "mu": [1.0, 2.0]}, "as many numbers"),
        ("ogden", {"alpha": [2.0], "mu": [-1.0]}, "positive"),
        ("ogden", {"alpha": 2.0}, "a list of numbers"),
        ("ogden", {"beta": [2.0]}, "no parameter 'beta'"),
        ("mooney-rivlin", {"ratio": -0.5}, "negative"),
        ("mooney-rivlin", {"ratios": 0.5}, "did you mean 'ratio'"),
        ("neo-hookean", {"ratio": 0.5}, "it has none"),
        ("neo-hokean", {}, "did you mean 'neo-hookean'"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(law: str, given: Any, words: str) -> None:
    with pytest.raises(Exception, match=words):
        Fem(law=law, law_parameters=given)


def test_scenes_name_laws_and_their_parameters(tmp_path: Any) -> None:
    from pliant.scene.load import read as load
    from pliant.scene.to_toml import to_toml

    text = """schema = 1
[[bodies]]
shape = { box = { size = [0.1, 0.1, 0.1] } }
material = "rubber"
model = { type = "fem", law = "ogden", law-parameters = { alpha = [2, -2], mu = [1, -0.25] } }

[[bodies]]
shape = { box = { size = [0.1, 0.1, 0.1] } }
material = "rubber"
model = { type = "efg", law = "hooke" }
"""
    path = tmp_path / "scene.toml"
    path.write_text(text)
    first, second = load(path).bodies
    assert first.model.law_parameters == {"alpha": (2.0, -2.0), "mu": (1.0, -0.25)}
    assert second.model.law == "st-venant-kirchhoff"  # its earlier name still works
    again = tmp_path / "again.toml"
    again.write_text(to_toml(load(path)))
    assert load(again).bodies[0].model == first.model


def test_the_studio_lists_every_law() -> None:
    from pliant.studio.catalogue import catalogue

    for model in ("fem", "efg"):
        keys = {key["name"]: key for key in catalogue()["models"][model]["keys"]}
        assert keys["law"]["choices"] == list(LAWS)


def test_references_of_laws_are_known() -> None:
    from pliant.validation.citations import library

    assert {key for name in LAWS for key in law_named(name).references} <= set(library())
