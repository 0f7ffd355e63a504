"""Materials as scenes give them (``Material``) and, resolved, as models use them (``ResolvedMaterial``)."""

import math
from dataclasses import fields, replace
from typing import Any, Self

import numpy as np
from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from pliant.core.errors import MaterialError
from pliant.core.parameters import from_table, kebab, parameters
from pliant.core.registry import nearest
from pliant.core.tables import Table, TableView
from pliant.core.typing import Array
from pliant.core.units import Density, Number, Pressure, Rate, Speed, SurfaceEnergy, Time
from pliant.materials import anisotropic, elastic, presets
from pliant.materials.anisotropic import Frame, Moduli
from pliant.materials.constants import ISOTROPIC, RANGES, check_range, isotropic


@parameters
class Properties:
    """The keys that a material and a region of it share; ``None`` means not given."""

    preset: str | None = None
    """Name of the material that fills in what is not given."""
    young: Pressure | None = None
    """Young's modulus E [Pa]."""
    poisson: Number | None = None
    """Poisson's ratio nu."""
    shear: Pressure | None = None
    """Shear modulus G [Pa]."""
    density: Density | None = None
    """Mass per rest volume [kg/m3]."""
    damping: Time | None = None
    """Stiffness-proportional damping time beta [s]: damping matrix = beta x stiffness matrix."""
    yield_: Pressure | None = None
    """Von Mises stress [Pa] above which deformation stays; none: the material never yields."""
    creep: Rate | None = None
    """Rate [1/s] at which stress above yield relaxes; none: at once."""
    plastic_max: Number | None = None
    """Largest plastic strain; none: no limit."""
    strength: Pressure | None = None
    """Largest principal stress [Pa] that the material bears; none: it never breaks."""
    toughness: SurfaceEnergy | None = None
    """Energy per area [J/m2] that a crack takes; none: what the model's elements store at the strength."""
    crack_speed: Speed | None = None
    """Speed of a crack's front [m/s]; none: as fast as the model allows."""
    friction: Number | None = None
    """Coulomb's coefficient against other bodies."""
    restitution: Number | None = None
    """Speed after over speed before a collision, 0 to 1."""
    frame: Frame | None = None
    """Material axes 1, 2, 3 as rows, or axis 1 and a vector in the 1-2 plane; mesh coordinates."""
    moduli: Moduli | None = None
    """Orthotropic {E1, E2, E3, nu12, nu13, nu23, G12, G13, G23}, or 21 constants [Pa]."""

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, data: Any) -> Any:
        return {"preset": data} if isinstance(data, str) else data

    @field_validator("preset")
    @classmethod
    def _known(cls, name: str | None) -> str | None:
        if name is not None and name not in presets.names():
            raise ValueError(presets.unknown(name))
        return name

    @field_validator(*(f"{key.replace('-', '_')}{'_' * (key == 'yield')}" for key in RANGES))
    @classmethod
    def _possible(cls, value: float | None, info: ValidationInfo) -> float | None:
        return None if value is None else check_range(kebab(info.field_name or ""), value)

    @field_validator("frame", mode="before")
    @classmethod
    def _axes(cls, value: Any) -> Frame | None:
        return None if value is None else anisotropic.read_frame(value)

    @field_validator("moduli", mode="before")
    @classmethod
    def _moduli(cls, value: Any) -> Moduli | None:
        return None if value is None else anisotropic.read_moduli(value)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if sum(getattr(self, key) is not None for key in ISOTROPIC) > 1:
            isotropic(self.given)
        return self

    @property
    def given(self) -> Table:
        """The constants that this very table gives, by scene key (not the preset's)."""
        values = {kebab(entry.name): getattr(self, entry.name) for entry in fields(Properties)}
        return {key: value for key, value in values.items() if key != "preset" and value is not None}


@parameters
class Region(Properties):
    """What differs in one region of a body; with a preset of its own it starts from that one instead."""

    region: int | str = Field(kw_only=True)
    """Number or name of the cell group."""


@parameters
class RegionalProperties(Properties):
    """Constants of a body, with regions that differ, and what follows from them."""

    regions: tuple[Region, ...] = ()
    """What differs in regions of the body."""

    @field_validator("regions")
    @classmethod
    def _once(cls, regions: tuple[Region, ...]) -> tuple[Region, ...]:
        names = [entry.region for entry in regions]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"region {twice[0]!r} is given twice")
        return regions

    @property
    def _young_poisson(self) -> tuple[float, float]:
        constants = merged(self)
        return constants["young"], constants["poisson"]

    @property
    def lame(self) -> tuple[float, float]:
        """Lamé's (lambda, mu) [Pa]."""
        return elastic.lame_parameters(*self._young_poisson)

    @property
    def bulk(self) -> float:
        """Bulk modulus K [Pa]."""
        return elastic.bulk_modulus(*self._young_poisson)

    @property
    def p_wave(self) -> float:
        """Modulus of compression waves [Pa]: lambda + 2 mu; an upper bound for anisotropic materials."""
        moduli = merged(self).get("moduli")
        if moduli is not None:
            return anisotropic.largest_modulus(anisotropic.read_moduli(moduli))
        return elastic.p_wave_modulus(*self._young_poisson)

    @property
    def wave_speed(self) -> float:
        """Speed of compression waves [m/s], sqrt(p_wave / density)."""
        return math.sqrt(self.p_wave / resolve(self).density)


@parameters
class Material(RegionalProperties):
    """A material as given; ``resolve`` makes it complete. SI, or strings with a unit such as ``"3 MPa"``."""

    @staticmethod
    def named(name: str) -> "ResolvedMaterial":
        """The preset ``name``, complete."""
        return resolve(name)


@parameters
class ResolvedMaterial(RegionalProperties):
    """A complete material: no preset left to look up, every constant that models need is a number."""

    young: Pressure = Field(kw_only=True)
    poisson: Number = Field(kw_only=True)
    shear: Pressure = Field(kw_only=True)
    density: Density = Field(kw_only=True)
    damping: Time = 0.0
    friction: Number = 0.5
    restitution: Number = 0.0

    @property
    def anisotropic(self) -> bool:
        """Whether ``moduli`` hold; young, poisson and shear are then an isotropic stand-in."""
        return self.moduli is not None

    def stiffness(self, rotation: Array | None = None) -> Array:
        """The (6, 6) stiffness [Pa] (see ``anisotropic``); ``rotation`` (3, 3) turns the body."""
        if self.moduli is None:
            return anisotropic.isotropic_matrix(self.young, self.poisson)
        return anisotropic.stiffness_matrix(self.moduli, self.frame, rotation)

    def turned(self, rotation: Array) -> "ResolvedMaterial":
        """The material of a body turned by ``rotation`` (3, 3): its axes turn along."""
        regions = tuple(replace(own, frame=_turned(own, rotation)) for own in self.regions)
        return replace(self, frame=_turned(self, rotation), regions=regions)


def _turned(own: Properties, rotation: Array) -> Frame | None:
    if own.moduli is None:
        return own.frame
    axes = anisotropic.read_frame(own.frame) if own.frame is not None else np.eye(3)
    return anisotropic.read_frame(np.asarray(axes) @ rotation.T)


_NEEDS = {
    "creep": "yield",
    "plastic-max": "yield",
    "crack-speed": "strength",
    "toughness": "strength",
    "frame": "moduli",
}

AnyMaterial = str | TableView | RegionalProperties
"""A preset's name, a scene table, or a material."""


def resolve(material: AnyMaterial) -> ResolvedMaterial:
    """The complete material that a name, a scene table or a ``Material`` stands for.

    Regions come out complete as well: see ``by_region``. Raises ``MaterialError``.
    """
    if isinstance(material, ResolvedMaterial):
        return material
    try:
        if not isinstance(material, RegionalProperties):
            material = from_table(Material, material)  # type: ignore[arg-type]  # a name is read too
        table = _complete(merged(material))
        regions = [
            {"region": entry.region, **_complete(merged(entry, table), f"region {entry.region!r}: ")}
            for entry in material.regions
        ]
        return from_table(ResolvedMaterial, {**table, "regions": regions})
    except ValidationError as error:
        raise MaterialError(explain(error)) from None


def by_region(material: AnyMaterial) -> dict[int | str, ResolvedMaterial]:
    """The complete material of each region that ``material`` names."""
    return {entry.region: from_table(ResolvedMaterial, entry.given) for entry in resolve(material).regions}


def merged(spec: Properties, base: TableView | None = None) -> Table:
    """Constants by scene key: those of the preset (or else of ``base``), overridden by those given.

    Young, Poisson and shear are complete in the result. Given on top of an anisotropic preset they make
    the material isotropic; if only moduli are given, they are those of the nearest isotropic material.
    """
    given = spec.given
    start = dict(presets.get(spec.preset).table if spec.preset else base or {})
    own = any(key in given for key in ISOTROPIC)
    if "moduli" in given and not own:
        young, poisson = anisotropic.nearest_isotropic(given["moduli"])
        shear = elastic.shear_modulus(young, poisson)
        return {**start, **given, "young": young, "poisson": poisson, "shear": shear}
    if own and "moduli" not in given:
        start = {key: value for key, value in start.items() if key not in ("moduli", "frame")}
    try:
        return {**start, **given, **isotropic(given, start if "young" in start else None)}
    except ValueError as error:
        raise MaterialError(str(error)) from None


def _complete(table: Table, place: str = "") -> Table:
    """``table`` itself, if nothing is missing and every key in it does something."""
    if "density" not in table:
        raise MaterialError(f"{place}a material needs a density; add one, or name a preset")
    for key, other in _NEEDS.items():
        if key in table and other not in table:
            raise MaterialError(f"{place}{key} does nothing without {other}; add {other}, or leave {key} out")
    return table


def explain(error: ValidationError) -> str:
    """A validation error of a material in one line: the keys, and what is wrong with each."""
    parts = []
    for entry in error.errors(include_url=False):
        place = ".".join(str(part) for part in entry["loc"])
        text = entry["msg"].removeprefix("Value error, ")
        if entry["type"] == "unexpected_keyword_argument":
            known = [kebab(own.name) for own in fields(Material)]
            text = f"unknown key; {nearest(str(entry['loc'][-1]), known)}"
        parts.append(text if text.startswith(place) else f"{place}: {text}")
    return "; ".join(parts)


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
