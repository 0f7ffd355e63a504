"""Orthotropic moduli in CPM2: uniform strains, forces from the energy, the frame, the tension test."""

from typing import Any

import numpy as np
import pytest
from bodies import block, shaken

from pliant.core.diagnostics import Diagnostics
from pliant.core.errors import IncompatibleError
from pliant.materials.anisotropic import read_frame, read_moduli, stiffness_matrix
from pliant.mesh.shapes import box
from pliant.scene import Body
from pliant.validation.material_card import material_card

MODULI = {"E1": 2e5, "E2": 1e5, "E3": 5e4, "nu12": 0.3, "nu13": 0.2, "nu23": 0.25}
MODULI |= {"G12": 5e4, "G13": 3e4, "G23": 4e4}
WOOD = {"moduli": MODULI, "density": 500.0, "frame": [[1, 1, 0], [0, 1, 1]]}


def prepared(material: Any, **options: Any) -> tuple[Any, Any]:
    body = Body(box(1.0, 1.0, 1.0), edge=0.34, model={"type": "cpm2", **options}, material=material)
    structure = body.structure(Diagnostics())
    return structure, body.model.prepare(structure, body.resolved_material)


def test_uniform_strain_gives_the_stress_of_the_stiffness_everywhere() -> None:
    """Patch test: with ``u = H x`` inner particles are in equilibrium and the energy is ``V/2 e : C : e``."""
    structure, mechanics = prepared(WOOD)
    C = stiffness_matrix(read_moduli(MODULI), read_frame(WOOD["frame"]))
    rest, size = structure.rest, 1e-6
    inside = np.all((rest > 1e-9) & (rest < 1.0 - 1e-9), axis=1)
    assert inside.sum() > 10
    for H in np.random.default_rng(3).uniform(-1, 1, (4, 3, 3)):
        e = 0.5 * (H + H.T)
        voigt = np.array([e[0, 0], e[1, 1], e[2, 2], 2 * e[1, 2], 2 * e[0, 2], 2 * e[0, 1]])
        assert mechanics.energy(rest + size * rest @ H.T) == pytest.approx(
            0.5 * size**2 * voigt @ C @ voigt, rel=2e-5
        )
        product = np.zeros_like(rest)
        mechanics.add_stiffness_product(rest, rest @ H.T, product)
        assert np.abs(product[inside]).max() < 1e-11 * np.abs(product).max()
        stress = (product.T @ rest)[[0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]]  # sum f x / V
        assert stress == pytest.approx(C @ voigt, rel=1e-9, abs=1e-9 * np.abs(C).max())


def test_forces_are_the_gradient_of_the_energy_and_turn_with_the_body() -> None:
    structure, mechanics = prepared(WOOD)
    x = shaken(structure.rest, 0.03)
    forces = np.zeros_like(x)
    mechanics.add_elastic_forces(x, forces)
    d = np.random.default_rng(5).normal(size=x.shape)
    slope = (mechanics.energy(x + 1e-6 * d) - mechanics.energy(x - 1e-6 * d)) / 2e-6
    assert -float(np.sum(forces * d)) == pytest.approx(slope, rel=1e-6)
    c, s = np.cos(0.7), np.sin(0.7)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    assert mechanics.energy(x @ turn.T) == pytest.approx(mechanics.energy(x), rel=1e-10)


def test_the_card_measures_the_moduli_along_the_axes() -> None:
    """The card's E is the mean of the tensions along the three axes of the cube, here E1, E2 and E3."""
    card = material_card("cpm2", {"moduli": MODULI, "density": 500.0}, 0.34)
    assert card.predicted is None
    assert card.effective.young == pytest.approx((2e5 + 1e5 + 5e4) / 3.0, rel=1e-3)
    assert card.effective.shear == pytest.approx((5e4 + 3e4 + 4e4) / 3.0, rel=1e-3)


def test_an_isotropic_stiffness_is_the_isotropic_body() -> None:
    """The moduli of an isotropic material: faces as without them, and the remainder is lambda."""
    young, nu = 1e5, 0.3
    shear = young / (2.0 * (1.0 + nu))
    same: Any = {f"E{i}": young for i in (1, 2, 3)} | {f"nu{i}": nu for i in (12, 13, 23)}
    same |= {f"G{i}": shear for i in (12, 13, 23)}
    structure, mechanics = prepared({"moduli": same, "density": 500.0})
    _, plain = prepared({"young": young, "poisson": nu, "density": 500.0})
    assert mechanics.constants.stretch == pytest.approx(plain.constants.stretch, rel=1e-9)
    x = structure.rest @ (np.eye(3) + 1e-5 * np.array([[1.0, 0.4, 0], [0, -0.5, 0.3], [0.2, 0, 0.7]]))
    assert mechanics.energy(x) == pytest.approx(plain.energy(x), rel=1e-4)


@pytest.mark.parametrize(
    ("model", "text"),
    [("cpm1", "isotropic"), ({"type": "cpm2", "form": "everts"}, "own form"), ("mass-spring", "isotropic"),
     ("lattice", "isotropic")],
)  # fmt: skip
def test_models_without_a_place_for_moduli_refuse_them(model: Any, text: str) -> None:
    body = block((2, 2, 2), model=model, edge=0.1, material={"moduli": MODULI, "density": 500.0})
    with pytest.raises(IncompatibleError, match=text):
        body.model.prepare(body.structure(), body.resolved_material)
