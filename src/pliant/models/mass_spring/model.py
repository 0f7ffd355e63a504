"""Parameters of the mass-spring model, and its material rule."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field, model_validator

from pliant.core.errors import IncompatibleError
from pliant.core.parameters import parameters
from pliant.core.units import Number
from pliant.interfaces import Cuttable, Model, Structure
from pliant.structure.samplers.tets import TetSampler

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.mass_spring.mechanics import MassSpringMechanics


@parameters
class MassSpring(Model):
    r"""Springs on the edges of the tets, and a volumetric term per tet.

    A spring of rest length :math:`l` gets :math:`k = E_s \sum V_t / l^2` over the tets around its edge
    [JanssonVergeest2000]_ eq. (21), after Ganovelli. Averaged over edge directions that solid has
    :math:`\lambda = \mu = 2 E_s / 5`: Young's modulus :math:`E_s` and Poisson's ratio 1/4. So
    :math:`E_s = 5\mu/2` gives the right shear modulus, and what :math:`\lambda` has above :math:`\mu` goes
    into :math:`\tfrac12 (\lambda - \mu) V (J - 1)^2` per tet.

    Differs: Everts (2006) stops at Poisson's ratio 1/4. Ratios below 1/4 are refused: the volumetric term
    would be negative and the body unstable.

    stiffness: one constant [N/m] for all springs instead of the material rule (then there is no
    volumetric term, and the material gives only the density). calibrate: measure the bulk and shear modulus
    that the body's own mesh makes of the springs, and correct by it. Two constants cannot make a mesh
    isotropic whose edges prefer some directions; ``pliant card`` shows what is left.
    """

    kind: ClassVar[str] = "mass-spring"
    limits: ClassVar[frozenset[str]] = frozenset()
    oriented: ClassVar[bool] = False  # edges of a mirrored tet are as long as before
    offers: ClassVar[Mapping[type, str]] = {Cuttable: ""}
    subject: ClassVar[str] = "Springs and masses"
    references: ClassVar[tuple[str, ...]] = ("Everts2006", "JanssonVergeest2000")
    sampler: ClassVar[TetSampler] = TetSampler()

    stiffness: Number | None = Field(default=None, gt=0)
    calibrate: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> "MassSpring":
        if self.calibrate and self.stiffness is not None:
            raise ValueError(
                "calibrate corrects the material rule, and stiffness replaces it: give one of them"
            )
        return self

    @property
    def constant_strain(self) -> bool:
        return True

    @property
    def locking_remedy(self) -> str | None:
        """A given stiffness has no volumetric term, and does not lock."""
        return None if self.stiffness is not None else 'model = { type = "fem", elements = "quadratic" }'

    def predicted_lame(self, material: "Material") -> tuple[float, float] | None:
        """Lame's (lambda, mu) [Pa] by the average over edge directions; None for a given stiffness."""
        return material.lame if self.stiffness is None else None

    def prepare(self, structure: Structure, material: "Material") -> "MassSpringMechanics":
        from pliant.materials import by_region
        from pliant.models.mass_spring.mechanics import MassSpringMechanics

        for own in (material, *by_region(material).values()):
            if own.anisotropic:
                raise IncompatibleError(
                    "Model 'mass-spring' is isotropic, but the material has moduli of its own axes.",
                    hint="Give young and poisson, or use model = 'fem' or 'cpm2'.",
                )
            lam, mu = own.lame
            if self.stiffness is None and lam < mu * (1 - 1e-9):
                raise IncompatibleError(
                    f"Model 'mass-spring' cannot do poisson = {own.poisson:g}: springs alone give 1/4, and "
                    "less would need a negative volumetric stiffness, which is unstable.",
                    hint="Use poisson >= 0.25, or another model.",
                )
        if not self.calibrate:
            return MassSpringMechanics(structure, material, self.stiffness)
        from pliant.models.calibration import calibrated
        from pliant.models.regions import lame_per_cell

        def body(bulk: float, shear: float) -> MassSpringMechanics:
            return MassSpringMechanics(structure, material, None, (bulk - 2.0 * shear / 3.0, shear))

        return body(*calibrated(body, lame_per_cell(structure, material)))
