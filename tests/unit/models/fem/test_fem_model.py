"""What the fem model accepts, refuses and says."""

from typing import Any

import numpy as np
import pytest
from bodies import MATERIAL, block

from pliant.core.errors import IncompatibleError
from pliant.core.rotation import Rotation

MODULI = {"E1": 2e5, "E2": 1e5, "E3": 5e4, "nu12": 0.3, "nu13": 0.2, "nu23": 0.25}
MODULI |= {"G12": 5e4, "G13": 3e4, "G23": 4e4}
WOOD = {"moduli": MODULI, "density": 500.0}


@pytest.mark.parametrize(
    ("keys", "material", "words"),
    [
        ({"law": "neo-hookean", "rotation": "gram-schmidt"}, MATERIAL, "uses no rotation"),
        ({"law": "neo-hookean"}, WOOD, "isotropic"),
        ({"locking": "averaged-pressure"}, WOOD, "isotropic"),
        ({"law": "neo-hookean", "plasticity": "small"}, MATERIAL | {"yield": 1e3}, "adds strains"),
        ({"plasticity": "large"}, MATERIAL, "never yields"),
    ],
)
def test_what_cannot_work_is_refused_with_the_reason(keys: Any, material: Any, words: str) -> None:
    body = block(model={"type": "fem", **keys}, material=material)
    with pytest.raises(IncompatibleError, match=words):
        body.model.prepare(body.structure(), body.resolved_material)


@pytest.mark.parametrize(
    ("keys", "locks"),
    [({}, True), ({"locking": "averaged-pressure"}, False), ({"elements": "quadratic"}, False)],
)
def test_linear_tets_that_lock_name_a_remedy(keys: Any, locks: bool) -> None:
    remedy = block(model={"type": "fem", **keys}).model.locking_remedy
    assert (remedy is not None and "averaged-pressure" in remedy) == locks


def forces(body: Any, x: Any) -> Any:
    structure, out = body.structure(), np.zeros_like(x)
    body.model.prepare(structure, body.resolved_material).add_forces(x, np.zeros_like(x), out)
    return out


@pytest.mark.parametrize("law", ["corotational", "st-venant-kirchhoff"])
def test_material_axes_turn_with_the_body(law: str) -> None:
    """A body placed at an angle has its fibres at that angle: the same forces, turned."""
    model, turn = {"type": "fem", "law": law}, Rotation(axis=(1, 2, 3), degrees=40)
    straight = block(model=model, material=WOOD)
    turned = block(model=model, material=WOOD, rotation=turn)
    x = straight.structure().rest * [1.05, 0.98, 1.02]
    f, g = forces(straight, x), forces(turned, x @ turn.matrix().T)
    assert np.abs(g - f @ turn.matrix().T).max() < 1e-12 * np.abs(f).max()
    assert np.abs(f).max() > 1


def test_a_material_of_turned_axes_is_the_turned_material() -> None:
    """Wood with its fibres along y, pulled along y, is wood with its fibres along x, pulled along x."""
    along = block((2, 2, 2), model="fem", material=WOOD)
    across = block((2, 2, 2), model="fem", material=WOOD | {"frame": [[0, 1, 0], [0, 0, 1], [1, 0, 0]]})
    rest = along.structure().rest
    # energies of the same strain with respect to the fibres
    found = []
    for body, stretch in ((along, [1.1, 1, 0.97]), (across, [0.97, 1.1, 1])):
        mechanics = body.model.prepare(body.structure(), body.resolved_material)
        found.append(mechanics.energy(rest * stretch))
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_a_pulled_orthotropic_bar_has_youngs_modulus_of_its_axis() -> None:
    """Uniaxial stress sigma = E1 e with e2 = -nu12 e, e3 = -nu13 e."""
    body = block(model="fem", material=WOOD)
    structure = body.structure()
    mechanics = body.model.prepare(structure, body.resolved_material)
    e = 1e-6
    x = structure.rest * [1 + e, 1 - 0.3 * e, 1 - 0.2 * e]
    stress = mechanics.fields(x, np.zeros_like(x), ["stress-tensor"])["stress-tensor"].values
    assert stress[:, 0, 0] == pytest.approx(2e5 * e, rel=1e-5)
    assert np.abs(stress[:, [1, 2, 0], [1, 2, 1]]).max() < 1e-5 * 2e5 * e
