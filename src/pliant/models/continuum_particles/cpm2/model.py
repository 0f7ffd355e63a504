"""Parameters of CPM2."""

from typing import TYPE_CHECKING, ClassVar

from pliant.core.errors import IncompatibleError
from pliant.core.parameters import parameters
from pliant.interfaces import Structure
from pliant.models.continuum_particles.material_mapping import ParticleModel
from pliant.structure.samplers.tets import TetSampler

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.continuum_particles.cpm2.mechanics import Cpm2Mechanics


@parameters
class Cpm2(ParticleModel):
    r"""Continuum particle model 2: six sub-faces in each tet, between the pieces of its particles.

    A sub-face (edge midpoint, two triangle centres, tet centre) with unit rest normal :math:`n_0` has the
    deformed normal :math:`N_d = F n_0` and the geometric normal :math:`N_g \parallel \mathrm{cof}(F)\, n_0`.

    form: ``variational`` takes the energy
    :math:`\tfrac{V}{2} \sum (\tfrac12 E (|N_d| - 1)^2 + \tfrac12 G \gamma^2)` over the six faces,
    :math:`\gamma = \angle(N_d, N_g)`, and its exact gradient; ``everts`` the published forces
    :math:`A_0 (E (N_d \cdot N_g - 1) N_g + G \gamma\, p)` on i, and their opposite on j: no energy.
    mapping: ``consistent`` gives Hooke's law (see ``material_mapping``), ``everts`` passes Young's and the
    shear modulus through, or ``constants`` = [E, G] for both.
    calibrate: measure what the mesh makes of the constants, and correct them by it.
    Materials may have ``moduli`` and a ``frame`` (``cpm2/anisotropy.py``).

    Source: [Everts2006]_ chapter 7. Differs: mapping, the variational form and its normals (see
    ``mechanics``); :math:`\gamma/\sin\gamma` by a polynomial instead of an arctangent.
    Pieces of a tet are a quarter of it each.
    """

    kind: ClassVar[str] = "cpm2"
    sampler: ClassVar[TetSampler] = TetSampler()

    takes_moduli: ClassVar[bool] = True

    def prepare(self, structure: Structure, material: "Material") -> "Cpm2Mechanics":
        from pliant.models.continuum_particles.cpm2.mechanics import Cpm2Mechanics

        if self.anisotropic(material):
            if self.form == "everts" or self.mapping == "everts" or self.calibrate:
                raise IncompatibleError(
                    "Model 'cpm2' takes moduli of the material's own axes in its own form only.",
                    hint="Leave form, mapping and calibrate out.",
                )
            return Cpm2Mechanics(structure, material, self.form, None)
        return self.build(structure, material, lambda own: Cpm2Mechanics(structure, material, self.form, own))
