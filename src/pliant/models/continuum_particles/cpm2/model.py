"""Parameters of CPM2."""

from typing import TYPE_CHECKING, ClassVar

from pydantic import model_validator

from pliant.core.parameters import parameters
from pliant.core.units import Pressure
from pliant.interfaces import Model, Structure
from pliant.models.continuum_particles.material_mapping import Form, Mapping, check_constants, predicted_lame
from pliant.structure.samplers.tets import TetSampler

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.continuum_particles.cpm2.mechanics import Cpm2Mechanics


@parameters
class Cpm2(Model):
    r"""Continuum particle model 2: six sub-faces in each tet, between the pieces of its particles.

    A sub-face (edge midpoint, two triangle centres, tet centre) with unit rest normal :math:`n_0` has the
    deformed normal :math:`N_d = F n_0` and the geometric normal :math:`N_g \parallel \mathrm{cof}(F)\, n_0`.

    form: ``variational`` takes the energy
    :math:`\tfrac{V}{2} \sum (\tfrac12 E (|N_d| - 1)^2 + \tfrac12 G \gamma^2)` over the six faces,
    :math:`\gamma = \angle(N_d, N_g)`, and its exact gradient; ``everts`` the printed forces
    :math:`A_0 (E (N_d \cdot N_g - 1) N_g + G \gamma\, p)` on i, and their opposite on j: no energy.
    mapping: ``consistent`` gives Hooke's law (see ``particles.mapping``), ``everts`` passes Young's and the
    shear modulus through, or ``constants`` = [E, G] for both.
    calibrate: measure what this very mesh makes of the constants, and correct them by it.

    Source: [Everts2006]_ chapter 7. Differs: mapping, the variational form and its normals (see ``faces``);
    :math:`\gamma/\sin\gamma` by a polynomial instead of an arctangent.
    Pieces of a tet are a quarter of it each.
    """

    kind: ClassVar[str] = "cpm2"
    subject: ClassVar[str] = "Particles with volume"
    microseconds: ClassVar[float] = 1.9
    references: ClassVar[tuple[str, ...]] = ("Everts2006",)
    sampler: ClassVar[TetSampler] = TetSampler()

    form: Form = "variational"
    mapping: Mapping = "consistent"
    constants: tuple[Pressure, Pressure] | None = None
    calibrate: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> "Cpm2":
        check_constants(self.mapping, self.constants, self.calibrate)
        return self

    def predicted_lame(self, material: "Material") -> tuple[float, float]:
        """Lame's (lambda, mu) [Pa] that the closed form says the body will have."""
        return predicted_lame(material.lame, self.form, self.mapping, self.constants)

    def prepare(self, structure: Structure, material: "Material") -> "Cpm2Mechanics":
        from pliant.models.continuum_particles.calibration import calibrated
        from pliant.models.continuum_particles.cpm2.mechanics import Cpm2Mechanics
        from pliant.models.continuum_particles.material_mapping import FaceConstants, face_constants
        from pliant.models.regions import lame_per_cell

        lame = lame_per_cell(structure, material)

        def build(constants: FaceConstants) -> Cpm2Mechanics:
            return Cpm2Mechanics(structure, material, self.form, constants)

        if self.calibrate:
            return build(calibrated(build, lame, self.form))
        return build(face_constants(lame, self.form, self.mapping, self.constants))
