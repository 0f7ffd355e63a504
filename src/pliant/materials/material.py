"""Materials as scenes give them (``Material``) and as models use them (``ResolvedMaterial``)."""

import math
from dataclasses import fields, replace
from typing import Any, Self

import numpy as np
from pydantic import Field, ValidationInfo, field_validator, model_validator

from pliant.core.parameters import kebab, parameters
from pliant.core.tables import Table
from pliant.core.typing import Array
from pliant.core.units import Density, Number, Pressure, Rate, Speed, Time
from pliant.materials import anisotropic, elastic, presets
from pliant.materials.anisotropic import Frame, Moduli
from pliant.materials.constants import ISOTROPIC, isotropic
from pliant.materials.ranges import RANGES, check_range


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
        from pliant.materials.resolve import merged

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
        from pliant.materials.resolve import merged

        moduli = merged(self).get("moduli")
        if moduli is not None:
            return anisotropic.largest_modulus(anisotropic.read_moduli(moduli))
        return elastic.p_wave_modulus(*self._young_poisson)

    @property
    def wave_speed(self) -> float:
        """Speed of compression waves [m/s], sqrt(p_wave / density)."""
        from pliant.materials.resolve import resolve

        return math.sqrt(self.p_wave / resolve(self).density)


@parameters
class Material(RegionalProperties):
    """A material as given; ``resolve`` makes it complete. SI, or strings with a unit such as ``"3 MPa"``."""

    @staticmethod
    def named(name: str) -> "ResolvedMaterial":
        """The preset ``name``, complete."""
        from pliant.materials.resolve import resolve

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
