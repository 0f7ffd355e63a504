"""Warnings about slips."""

from typing import Any

import pytest

from pliant.materials import Material, plausibility


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"young": 3},
            "young = 3 Pa is outside the usual range of solids, 50 Pa to 1300 GPa: did you mean 3 MPa?",
        ),
        ({"preset": "rubber", "young": 3}, "range of rubber, 1 MPa to 10 MPa: did you mean 3 MPa?"),
        ({"preset": "rubber", "young": 3000}, "young = 3 kPa is outside"),
        ({"preset": "steel", "young": 200}, "did you mean 200 GPa?"),
        ({"preset": "jelly", "young": 6}, "did you mean 6 kPa?"),
        ({"density": 1.2}, "density = 1.2 kg/m3 is outside the usual range of solids"),
        ({"density": 1.2}, "did you mean 1200 kg/m3?"),
        ({"preset": "steel", "density": 7.86}, "did you mean 7860 kg/m3?"),
        ({"young": 1e6, "poisson": 0.3, "yield": 2e6}, "yield = 2 MPa is above young"),
        ({"young": 1e6, "poisson": 0.3, "strength": 2e6}, "strength = 2 MPa is above young"),
        ({"poisson": 0.499}, "poisson = 0.499 makes most models stiff"),
        ({"friction": 30}, "friction = 30 is more than"),
        ({"preset": "rubber", "regions": ({"region": 4, "density": 1.2},)}, "region 4: density = 1.2 kg/m3"),
    ],
)
def test_a_slip_is_noticed(table: dict[str, Any], message: str) -> None:
    found = plausibility(Material(**table))
    assert len(found) == 1
    assert message in found[0]


def test_ordinary_materials_raise_no_warning() -> None:
    assert plausibility(Material("rubber", young=2e6, density=1100.0)) == []
    assert plausibility(Material(young=3e6, poisson=0.45, density=1200.0, friction=0.9)) == []


def test_a_value_that_no_unit_explains_gets_no_suggestion() -> None:
    (found,) = plausibility(Material("steel", young=5e10))
    assert "did you mean" not in found
