r"""From a material to the constants of dual faces, and the parameters that say how.

Over isotropic face directions, faces with stretch constant E and shear constant G make a solid with

- published form: :math:`\mu = (E + 3G)/5`, :math:`\lambda = (E - 2G)/5`;
- variational form: :math:`\mu = (E + 6G)/5`, :math:`\lambda = (E - 4G)/5`

(:math:`\gamma` of a face is :math:`2(I - nn)\varepsilon n`; averages of nn and nnnn). So the rubber of
[Everts2006]_ (3e6, 1e6) behaves as E = 2.57e6, nu = 0.07. The face traction is that of Hooke's law without
lambda for *every* direction n when E = 2 mu and G = mu (published) or mu / 2 (variational); all of lambda
then goes into :math:`\tfrac12 \lambda V (J - 1)^2` per tet. Differs: [Everts2006]_ uses E and G of the
material directly.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self, TypeVar

import numpy as np
from pydantic import model_validator

from pliant.core.errors import IncompatibleError
from pliant.core.parameters import parameters
from pliant.core.typing import Array
from pliant.core.units import Pressure
from pliant.interfaces import Model, Structure

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.continuum_particles.mechanics import ParticleMechanics

    M = TypeVar("M", bound=ParticleMechanics)

Form = Literal["variational", "everts"]
Mapping = Literal["consistent", "everts"]


@dataclass(frozen=True)
class FaceConstants:
    """Per tet: stretch E and shear G of its faces [Pa], and lambda of the volumetric term [Pa]."""

    stretch: Array
    shear: Array
    bulk: Array

    def lame(self, form: Form) -> tuple[Array, Array]:
        """(lambda, mu) [Pa] of the solid that the faces make on average."""
        once = 1.0 if form == "everts" else 2.0
        mu = (self.stretch + 3.0 * once * self.shear) / 5.0
        return (self.stretch - 2.0 * once * self.shear) / 5.0 + self.bulk, mu


def face_constants(
    lame: tuple[Array, Array],
    form: Form,
    mapping: Mapping = "consistent",
    constants: tuple[float, float] | None = None,
) -> FaceConstants:
    """Constants of the faces for Lame's constants per tet; ``constants``: (E, G) instead."""
    lam, mu = lame
    if mapping == "consistent":
        return FaceConstants(2.0 * mu, mu if form == "everts" else 0.5 * mu, lam.copy())
    none = np.zeros_like(mu)
    if constants is not None:
        return FaceConstants(none + constants[0], none + constants[1], none)
    return FaceConstants(mu * (3.0 * lam + 2.0 * mu) / (lam + mu), mu.copy(), none)


@parameters
class ParticleModel(Model):
    """What the continuum particle models have in common.

    form: ``variational`` has an energy, ``everts`` the published forces, which have none; mapping:
    ``consistent`` gives Hooke's law, ``everts`` passes Young's and the shear modulus through, or
    ``constants`` = [E, G]; calibrate: measure what the mesh makes of the constants, and correct them by it.
    """

    subject: ClassVar[str] = "Particles with volume"
    limits: ClassVar[frozenset[str]] = frozenset()
    references: ClassVar[tuple[str, ...]] = ("Everts2006",)
    takes_moduli: ClassVar[bool] = False

    form: Form = "variational"
    mapping: Mapping = "consistent"
    constants: tuple[Pressure, Pressure] | None = None
    calibrate: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.mapping == "consistent" and self.constants is not None:
            raise ValueError(
                'constants are the E and G of mapping = "everts"; the other mapping takes the material'
            )
        if self.mapping == "everts" and self.calibrate:
            raise ValueError(
                'calibrate corrects mapping = "consistent"; mapping = "everts" is for the record'
            )
        if self.constants is not None and min(self.constants) <= 0:
            raise ValueError("constants must be above 0")
        return self

    @property
    def constant_strain(self) -> bool:
        return True

    def anisotropic(self, material: "Material") -> bool:
        """Whether the material has moduli of its own axes anywhere; IncompatibleError where the model has no
        place for them."""
        from pliant.materials import by_region

        found = any(own.anisotropic for own in (material, *by_region(material).values()))
        if found and not self.takes_moduli:
            raise IncompatibleError(
                f"Model '{self.kind}' is isotropic, but the material has moduli of its own axes.",
                hint="Give young and poisson, or use model = 'fem' or 'cpm2'.",
            )
        return found

    def predicted_lame(self, material: "Material") -> tuple[float, float] | None:
        """Lame's (lambda, mu) [Pa] that the closed form predicts; None for anisotropic materials."""
        if self.anisotropic(material):
            return None
        one = np.array(material.lame)[:, None]
        lam, mu = face_constants((one[0], one[1]), self.form, self.mapping, self.constants).lame(self.form)
        return float(lam[0]), float(mu[0])

    def build(self, structure: Structure, material: "Material", make: "Callable[[FaceConstants], M]") -> "M":
        """The mechanics that ``make`` makes of the constants of faces, calibrated if asked for."""
        from pliant.models.calibration import calibrated
        from pliant.models.regions import lame_per_cell

        self.anisotropic(material)
        lame = lame_per_cell(structure, material)
        if not self.calibrate or self.form == "everts":  # faces of that form carry Hooke's traction exactly
            return make(face_constants(lame, self.form, self.mapping, self.constants))

        def body(bulk: float, shear: float) -> "M":
            even = np.full_like(lame[0], bulk - 2.0 * shear / 3.0), np.full_like(lame[1], shear)
            return make(face_constants(even, self.form))

        return body(*calibrated(body, lame))
