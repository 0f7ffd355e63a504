"""Numbers with units: ``"3 MPa"`` becomes ``3e6``; plain numbers are SI already.

Each quantity is an annotated ``float`` type that parameter classes use for their fields; the unit a
field expects decides which strings it accepts.
"""

import math
import re
from fractions import Fraction
from numbers import Real
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

_PSI = 6894.757293168
_UNITS = {  # by exponents of metre, kilogram, second, kelvin and radian: factors to SI
    (1, 0, 0, 0, 0): {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "km": 1e3, "in": 0.0254, "ft": 0.3048},
    (0, 1, 0, 0, 0): {"kg": 1.0, "g": 1e-3, "t": 1e3},
    (0, 0, 1, 0, 0): {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0},
    (0, 0, -1, 0, 0): {"Hz": 1.0, "kHz": 1e3},
    (1, 1, -2, 0, 0): {"N": 1.0, "mN": 1e-3, "kN": 1e3, "MN": 1e6},
    (-1, 1, -2, 0, 0): {"Pa": 1.0, "hPa": 1e2, "kPa": 1e3, "MPa": 1e6, "GPa": 1e9, "bar": 1e5, "psi": _PSI},
    (2, 1, -2, 0, 0): {"J": 1.0, "Nm": 1.0},
    (2, 1, -3, 0, 0): {"W": 1.0},
    (0, 0, 0, 0, 1): {"rad": 1.0, "deg": math.pi / 180, "turn": 2 * math.pi},
    (0, 0, 0, 0, 0): {"%": 1e-2},
}
_BASE = {unit: (factor, dims) for dims, own in _UNITS.items() for unit, factor in own.items()}
_TERM = re.compile(r"^([A-Za-z%]+)(?:\^?(-?\d+))?$")
_NUMBER = re.compile(r"^\s*([-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*$")
_PLAIN = str.maketrans({"°": "deg", "µ": "u", "μ": "u", "²": "2", "³": "3", "·": "*", "⋅": "*"})


def _unit(text: str) -> tuple[Fraction, tuple[int, ...]]:
    """Exact factor to SI and dimensions of a unit such as ``kg/m3``, ``N*s`` or ``N m``."""
    plain = re.sub(r"\s*([*/])\s*", r"\1", text.translate(_PLAIN).strip())
    if "/" not in plain:
        plain = re.sub(r"\s+", "*", plain)
    factor, dims = Fraction(1), [0] * 5
    pieces = re.split(r"([*/])", plain)
    if pieces[0] in ("", "1"):  # "1/s", "/s", and no unit at all
        pieces = pieces[1:]
    else:
        pieces.insert(0, "*")
    for operator, token in zip(pieces[::2], pieces[1::2], strict=True):
        match = _TERM.match(token)
        if not match or match[1] not in _BASE:
            raise ValueError(f"unknown unit '{token or text}'{_similar(match[1] if match else token)}")
        power = int(match[2] or 1) * (-1 if operator == "/" else 1)
        scale, exponents = _BASE[match[1]]
        factor *= Fraction(repr(scale)) ** power
        dims = [d + power * e for d, e in zip(dims, exponents, strict=True)]
    return factor, tuple(dims)


def _similar(name: str) -> str:
    """A hint for a unit in the wrong case."""
    close = [unit for unit in _BASE if name and unit.lower() == name.lower()]
    return f"; did you mean '{close[0]}'?" if close else ""


def _float(value: Real | Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def parse(value: object, unit: str) -> float:
    """The number of SI ``unit`` that ``value`` (a number, or a string with a unit) stands for."""
    if isinstance(value, bool) or not isinstance(value, (Real, str)):
        raise ValueError(f"expected a number{f' in {unit}' if unit else ''}, got {value!r}")
    if isinstance(value, str):
        match = _NUMBER.match(value)
        if not match:
            raise ValueError(f"expected a number with a unit such as '1 {unit or '%'}', got '{value}'")
        digits = match[1].replace("_", "")
        number = float(digits)
        if match[2]:
            factor, dims = _unit(match[2])
            want = _unit(unit)[1]
            if dims[:4] != want[:4] or (dims[4] and not want[4]):
                raise ValueError(f"'{value}' is not a quantity in {unit or 'plain numbers'}")
            if want[4] and not dims[4]:  # is "2 Hz" 2 or 12.6 rad/s?
                raise ValueError(
                    f"'{value}' does not say which angle: use rad, deg or turn, as in '1 {unit}'"
                )
            if number and math.isfinite(number):  # one rounding: "1 g/cm3" is 1000.0
                number = _float(Fraction(digits) * factor)
    else:
        number = _float(value)
    if not math.isfinite(number):
        raise ValueError(f"expected a finite number, got {value!r}")
    return number


def to_si(text: str) -> tuple[float, str]:
    """The number that ``text`` stands for in SI and the name of its SI unit, "" for none: ``"3 MPa"`` gives
    ``(3e6, "Pa")``; a ``ValueError`` where it is no number with a unit."""
    match = _NUMBER.match(text)
    if not match:
        raise ValueError(f"expected a number with a unit, got '{text}'")
    unit = si_unit(match[2])
    return parse(text, unit), unit


def si_unit(unit: str) -> str:
    """The SI unit of the quantity that is measured in ``unit``: ``kg/m3`` for ``g/cm3``, "" for ``%``."""
    dims = _unit(unit)[1]
    for known, own in _UNITS.items():
        if known == dims and any(dims):
            return next(iter(own))
    above, below = (
        [f"{name}{abs(power) if abs(power) > 1 else ''}" for name, power in _powers(dims) if sign * power > 0]
        for sign in (1, -1)
    )
    return "*".join(above or ["1"] * bool(below)) + "".join(f"/{name}" for name in below)


def _powers(dims: tuple[int, ...]) -> list[tuple[str, int]]:
    return list(zip(("kg", "m", "s", "K", "rad"), (dims[1], dims[0], *dims[2:]), strict=True))


def quantity(unit: str) -> Any:
    """The pydantic validator that reads a quantity in ``unit``."""
    return BeforeValidator(lambda value: parse(value, unit))


def _schema(unit: str) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}], "unit": unit})


Number = Annotated[float, quantity(""), _schema("")]
Length = Annotated[float, quantity("m"), _schema("m")]
Time = Annotated[float, quantity("s"), _schema("s")]
Rate = Annotated[float, quantity("1/s"), _schema("1/s")]
Speed = Annotated[float, quantity("m/s"), _schema("m/s")]
LIGHT = 3e8  # m/s: nothing is faster, and squares of speeds stay numbers
Acceleration = Annotated[float, quantity("m/s2"), _schema("m/s2")]
Pressure = Annotated[float, quantity("Pa"), _schema("Pa")]
SurfaceEnergy = Annotated[float, quantity("J/m2"), _schema("J/m2")]
Density = Annotated[float, quantity("kg/m3"), _schema("kg/m3")]
Force = Annotated[float, quantity("N"), _schema("N")]
Torque = Annotated[float, quantity("N*m"), _schema("N*m")]
Impulse = Annotated[float, quantity("N*s"), _schema("N*s")]
Angle = Annotated[float, quantity("rad"), _schema("rad")]
AngularSpeed = Annotated[float, quantity("rad/s"), _schema("rad/s")]
