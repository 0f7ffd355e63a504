"""Values that are possible but unlikely: mostly a unit forgotten."""

import math

from pliant.materials import presets
from pliant.materials.material import Material, Properties

BROAD = {"young": (50.0, 1.3e12), "density": (5.0, 23_000.0)}  # brain slices to diamond, foam to osmium
_UNIT = {"young": "Pa", "density": "kg/m3"}
_SLIPS = {
    "young": (("kPa", 1e3), ("MPa", 1e6), ("GPa", 1e9)),
    "density": (("g/cm3", 1e3), ("g/m3", 1e-3)),
}


def plausibility(material: Material) -> list[str]:
    """Warnings about values that look like a slip, one sentence each; an empty list if all look right.

    Young's modulus and density are held against the usual range of the preset if one is named (so give the
    material as written, before ``resolve``), otherwise against that of all solids. Strength, yield, friction
    and Poisson's ratio against common sense.
    """
    found = _look(material, "")
    for region in material.regions:
        found += _look(region, f"region {region.region!r}: ")
    return found


def _look(spec: Properties, place: str) -> list[str]:
    found = []
    for key, broad in BROAD.items():
        value = spec.given.get(key)
        if value is not None:
            usual, of = broad, "solids"
            if spec.preset:
                preset = presets.get(spec.preset)
                usual, of = (preset.young_range if key == "young" else preset.density_range), preset.name
            if not usual[0] <= value <= usual[1]:
                found.append(place + _unlikely(key, value, usual, of))
    young = spec.young
    for key, stress in (("yield", spec.yield_), ("strength", spec.strength)):
        if stress is not None and young is not None and stress > young:
            found.append(f"{place}{key} = {_number(stress, 'Pa')} is above young: it will hardly be reached")
    if spec.poisson is not None and spec.poisson > 0.495:
        found.append(
            f"{place}poisson = {spec.poisson:g} makes most models stiff; 0.45 to 0.49 does for rubber"
        )
    if spec.friction is not None and spec.friction > 2.0:
        found.append(f"{place}friction = {spec.friction:g} is more than even rubber has (about 1)")
    return found


def _unlikely(key: str, value: float, usual: tuple[float, float], of: str) -> str:
    unit = _UNIT[key]
    text = (
        f"{key} = {_number(value, unit)} is outside the usual range of {of}, "
        f"{_number(usual[0], unit)} to {_number(usual[1], unit)}"
    )
    middle = math.sqrt(usual[0] * usual[1])
    fits = [(name, f) for name, f in _SLIPS[key] if usual[0] <= value * f <= usual[1]]
    if not fits:
        return text
    name, factor = min(fits, key=lambda fit: abs(math.log(value * fit[1] / middle)))
    meant = f"{value:g} {name}" if key == "young" else f"{value * factor:g} {unit}"
    return f"{text}: did you mean {meant}?"


def _number(value: float, unit: str) -> str:
    """A readable quantity: pressures with a prefix."""
    if unit == "Pa":
        for prefix, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
            if value >= factor:
                return f"{value / factor:.4g} {prefix}Pa"
    return f"{value:.6g} {unit}"
