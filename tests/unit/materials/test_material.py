"""Materials: what may be given, what it is completed to, what is refused."""

import math
import re
from typing import Any

import pytest
from pydantic import ValidationError

from pliant.core.errors import MaterialError
from pliant.core.parameters import from_table, to_table
from pliant.materials import Material, Region, ResolvedMaterial, by_region, elastic, resolve

PLAIN = {"young": 3e6, "poisson": 0.45, "density": 1200.0}


@pytest.mark.parametrize(
    "table",
    [
        {"young": "3 MPa", "poisson": 0.45},
        {"young": 3e6, "shear": 3e6 / 2.9},
        {"shear": 3e6 / 2.9, "poisson": 0.45},
        {"young": 3e6, "poisson": 0.45, "shear": 3e6 / 2.9 * (1 + 9e-7)},
    ],
)
def test_two_constants_determine_the_third(table: dict[str, Any]) -> None:
    material = resolve({**table, "density": "1.2 g/cm3"})
    assert (material.young, material.poisson) == pytest.approx((3e6, 0.45), rel=1e-12)
    assert material.shear == pytest.approx(3e6 / 2.9, rel=1e-6)
    assert material.density == 1200.0


def test_three_constants_must_agree() -> None:
    with pytest.raises(MaterialError, match=r"do not agree: young = 3e.06 Pa and poisson = 0.45 make shear"):
        resolve({**PLAIN, "shear": 3e6 / 2.9 * (1 + 2e-6)})


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"young": 1e6}, (1e6, 0.45)),
        ({"poisson": 0.3}, (3e6, 0.3)),
        ({"shear": 1e6}, (2.9e6, 0.45)),
        ({"young": 2.6e6, "shear": 1e6}, (2.6e6, 0.3)),
        ({"shear": 1e6, "poisson": 0.3}, (2.6e6, 0.3)),
        ({}, (3e6, 0.45)),
    ],
)
def test_a_given_constant_overrides_the_preset_and_keeps_the_others(
    change: dict[str, float], expected: tuple[float, float]
) -> None:
    material = resolve({"preset": "rubber", **change})
    assert (material.young, material.poisson) == pytest.approx(expected, rel=1e-12)
    assert material.shear == pytest.approx(elastic.shear_modulus(*expected), rel=1e-12)
    assert material.density == 1200.0
    assert material.preset is None


def test_all_forms_of_a_name_give_the_same_material() -> None:
    rubber = resolve("rubber")
    assert rubber == resolve({"preset": "rubber"}) == resolve(Material("rubber")) == Material.named("rubber")
    assert rubber == resolve(from_table(Material, "rubber"))  # type: ignore[arg-type]
    assert resolve(rubber) is rubber


def test_moduli_and_speeds() -> None:
    material = Material(young=1.0, poisson=0.25, density=1.0)
    assert material.lame == pytest.approx((0.4, 0.4), rel=1e-15)
    assert material.bulk == pytest.approx(2 / 3, rel=1e-15)
    assert material.p_wave == pytest.approx(1.2, rel=1e-15)
    assert material.wave_speed == pytest.approx(math.sqrt(1.2), rel=1e-15)
    assert Material("rubber").wave_speed == resolve("rubber").wave_speed
    assert Material(young=1.0, poisson=0.25).bulk == pytest.approx(2 / 3)  # no density needed


def test_defaults_are_no_damping_and_some_friction() -> None:
    material = resolve(PLAIN)
    assert (material.damping, material.friction, material.restitution) == (0.0, 0.5, 0.0)
    assert (material.yield_, material.strength, material.moduli) == (None, None, None)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("young", -1, "young = -1 Pa is not possible: it must be above 1e-09 and below 1e+15 Pa"),
        ("young", 0, "young = 0 Pa is not possible"),
        ("young", "3 m", "'3 m' is not a quantity in Pa"),
        ("young", math.nan, "finite"),
        ("poisson", 0.5, "use 0.49, or add the action volume-constraint"),
        ("poisson", -1, "it must be above -1 and below 0.5"),
        ("shear", 0, "shear = 0 Pa is not possible"),
        ("density", 0, "density = 0 kg/m3 is not possible: it must be above 1e-06 and below 1e+09 kg/m3"),
        ("damping", -1e-9, "damping = -1e-09 s is not possible: it must be at least 0 s"),
        ("yield", 0, "yield = 0 Pa is not possible"),
        ("creep", 0, "creep = 0 1/s is not possible"),
        ("plastic-max", 0, "plastic-max = 0 is not possible"),
        ("strength", -5, "strength = -5 Pa is not possible"),
        ("crack-speed", 0, "crack-speed = 0 m/s is not possible"),
        ("friction", -0.1, "friction = -0.1 is not possible: it must be at least 0"),
        ("restitution", 1.1, "restitution = 1.1 is not possible: it must be at least 0 and at most 1"),
        ("preset", "ruber", "unknown material 'ruber'; did you mean 'rubber'?"),
        ("preset", "xyzzyx", "unknown material 'xyzzyx'; known: aluminium, balsa"),
    ],
)
def test_an_impossible_value_is_refused_everywhere(key: str, value: object, message: str) -> None:
    with pytest.raises(MaterialError, match=re.escape(message)):
        resolve({**PLAIN, key: value})
    name = {"yield": "yield_"}.get(key, key.replace("-", "_"))
    with pytest.raises(ValueError, match=re.escape(message)):
        Material(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("limits", [{"damping": 0}, {"friction": 0}, {"restitution": 0}, {"restitution": 1}])
def test_the_closed_ends_of_ranges_are_allowed(limits: dict[str, float]) -> None:
    assert resolve({**PLAIN, **limits})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"young": 3e6, "density": 1.0}, "needs two of young, poisson and shear, and only young is given"),
        ({"density": 1.0}, "needs two of young, poisson and shear, and none is given"),
        ({"young": 3e6, "poisson": 0.45}, "needs a density"),
        ({"young": 3e6, "shear": 1e6, "density": 1.0}, "make poisson = 0.5"),
        ({"young": 3e6, "shear": 5e5, "density": 1.0}, "shear must be more than a third of young"),
        ({**PLAIN, "creep": 1.0}, "creep does nothing without yield"),
        ({**PLAIN, "plastic-max": 1.0}, "plastic-max does nothing without yield"),
        ({**PLAIN, "crack-speed": 1.0}, "crack-speed does nothing without strength"),
        ({**PLAIN, "frame": [[1, 0, 0], [0, 1, 0]]}, "frame does nothing without moduli"),
        ({**PLAIN, "yuong": 1.0}, "yuong: unknown key; did you mean 'young'?"),
        ({**PLAIN, "colour": 1.0}, "colour: unknown key; known: "),
        ({**PLAIN, "regions": [{"region": 1, "young": -1}]}, "regions.0.young: young = -1 Pa"),
        ({**PLAIN, "regions": [{"region": 1}, {"region": 1}]}, "region 1 is given twice"),
        ({**PLAIN, "regions": [{"young": 1e6}]}, "regions.0.region"),
        ({**PLAIN, "regions": [{"region": "a", "creep": 1.0}]}, "region 'a': creep does nothing without"),
    ],
)
def test_what_cannot_be_completed_says_what_to_add(table: dict[str, Any], message: str) -> None:
    with pytest.raises(MaterialError, match=re.escape(message)):
        resolve(table)


def test_regions_override_the_body_or_start_from_their_own_preset() -> None:
    table = {
        "preset": "clay",
        "regions": [{"region": 1, "young": "1 MPa"}, {"region": "core", "preset": "steel", "density": 8000}],
    }
    material = resolve(table)
    parts = by_region(table)
    assert parts == by_region(material)
    assert list(parts) == [1, "core"]
    assert (parts[1].young, parts[1].poisson, parts[1].yield_) == (1e6, 0.45, material.yield_)
    assert (parts["core"].young, parts["core"].density, parts["core"].creep) == (2e11, 8000.0, None)


def test_isotropic_constants_on_an_orthotropic_preset_make_it_isotropic() -> None:
    assert resolve("wood").anisotropic
    assert not resolve({"preset": "wood", "young": 1e10}).anisotropic
    assert resolve({"preset": "wood", "density": 400}).anisotropic
    with pytest.raises(MaterialError, match="frame does nothing"):
        resolve({"preset": "wood", "young": 1e10, "frame": [[1, 0, 0], [0, 1, 0]]})


@pytest.mark.parametrize(
    "material",
    [
        Material("rubber"),
        Material(preset="clay", young="3 MPa", yield_=4e4, plastic_max=0.5),  # type: ignore[arg-type]
        Material(young=1e6, shear=4e5, density=1.0, crack_speed=3.0, strength=1.0),
        Material(preset="wood", frame=((1, 0, 0), (1, 1, 0)), regions=(Region(region=1, density=2.0),)),
        Material(moduli=tuple(resolve("rubber").stiffness()[i, j] for i in range(6) for j in range(i, 6))),
        resolve({"preset": "wood", "regions": [{"region": "a", "preset": "clay"}]}),
    ],
)
def test_a_material_survives_its_scene_table(material: Material) -> None:
    table = to_table(material)
    assert from_table(type(material), table) == material
    assert not any("_" in key for key in table)


def test_a_table_holds_only_what_was_given() -> None:
    assert to_table(Material("rubber", yield_=2e6)) == {"preset": "rubber", "yield": 2e6}
    assert Material("rubber", yield_=2e6).given == {"yield": 2e6}


def test_a_material_is_frozen() -> None:
    material = resolve("rubber")
    assert isinstance(material, ResolvedMaterial)
    with pytest.raises((AttributeError, ValidationError)):
        setattr(material, "young", 1.0)  # noqa: B010
