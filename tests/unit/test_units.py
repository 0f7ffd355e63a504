"""Texts with units."""

import math
import re

import numpy as np
import pytest
from pydantic import TypeAdapter

from pliant.core import units


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("3 MPa", "Pa", 3e6),
        ("3MPa", "Pa", 3e6),
        ("1 g/cm3", "kg/m3", 1000.0),
        ("1 g/cm^3", "kg/m3", 1000.0),
        ("1 g/cm³", "kg/m3", 1000.0),
        ("1.2 t / m3", "kg/m3", 1200.0),
        ("5 cm", "m", 0.05),
        ("-5 µm", "m", -5e-6),
        (".5 in", "m", 0.0127),
        ("1_000 mm", "m", 1.0),
        ("2.5e-1 ms", "s", 2.5e-4),
        ("5 N m", "N*m", 5.0),
        ("5 N*m", "N*m", 5.0),
        ("5 Nm", "N*m", 5.0),
        ("5 N·m", "N*m", 5.0),
        ("10 N*s", "N*s", 10.0),
        ("2 kg*m/s", "N*s", 2.0),
        ("2 /s", "1/s", 2.0),
        ("2 1/s", "1/s", 2.0),
        ("2 kHz", "1/s", 2000.0),
        ("9.81 m/s2", "m/s2", 9.81),
        ("9.81 m s-2", "m/s2", 9.81),
        ("40 %", "", 0.4),
        ("0.45", "", 0.45),
        ("12", "Pa", 12.0),
        ("1 N/m2", "Pa", 1.0),
    ],
)
def test_a_text_is_read_as_si_with_one_rounding(text: str, unit: str, value: float) -> None:
    assert units.parse(text, unit) == value


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("90 deg/s", "rad/s", math.pi / 2),
        ("180°", "rad", math.pi),
        ("1 turn/min", "rad/s", math.pi / 30),
        ("1 rad", "rad", 1.0),
        ("1 psi", "Pa", 6894.757293168),
    ],
)
def test_angles_become_radians(text: str, unit: str, value: float) -> None:
    assert units.parse(text, unit) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("value", "unit", "message"),
    [
        ("3 m", "Pa", "'3 m' is not a quantity in Pa"),
        ("3 m s", "s", "'3 m s' is not a quantity in s"),
        ("3 kPa", "", "not a quantity in plain numbers"),
        ("30 deg", "", "not a quantity in plain numbers"),
        ("90 deg/s", "1/s", "not a quantity in 1/s"),
        ("2 Hz", "rad/s", "does not say which angle: use rad, deg or turn"),
        ("3 mpa", "Pa", "unknown unit 'mpa'; did you mean 'MPa'"),
        ("3 000", "m", "unknown unit '000'"),
        ("3,5 MPa", "Pa", "unknown unit ',5'"),
        ("3 parsec", "m", "unknown unit 'parsec'"),
        ("3 m/", "m", "unknown unit"),
        ("3 m//s", "m/s", "unknown unit"),
        ("3 kg/m s2", "Pa", "unknown unit"),
        ("MPa", "Pa", "expected a number with a unit such as '1 Pa', got 'MPa'"),
        ("", "m", "expected a number with a unit"),
        ("nan", "m", "expected a number"),
        ("1e999 m", "m", "finite"),
        ("1e308 GPa", "Pa", "finite"),
        (math.nan, "m", "finite"),
        (math.inf, "m", "finite"),
        (10**400, "m", "finite"),
        (True, "m", "expected a number in m, got True"),
        (None, "m", "expected a number in m, got None"),
        ([1.0], "", "expected a number, got"),
    ],
)
def test_a_bad_quantity_says_what_is_wrong(value: object, unit: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        units.parse(value, unit)


@pytest.mark.parametrize("value", [3, 3.0, np.float64(3), np.float32(3), np.int64(3)])
def test_numbers_of_every_kind_are_si_already(value: object) -> None:
    result = units.parse(value, "Pa")
    assert result == 3.0
    assert type(result) is float


def test_a_quantity_type_reads_texts_in_parameter_classes() -> None:
    assert TypeAdapter(units.Density).validate_python("1 g/cm3") == 1000.0
    assert TypeAdapter(units.AngularSpeed).validate_python("90 deg/s") == pytest.approx(math.pi / 2)
