"""Parameters of CPM1."""

from typing import TYPE_CHECKING, ClassVar

from pliant.core.parameters import parameters
from pliant.interfaces import Structure
from pliant.models.continuum_particles.material_mapping import ParticleModel
from pliant.structure.samplers.dual import DualCellSampler, dual_cells
from pliant.structure.samplers.dual.cells import Recipe

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.continuum_particles.cpm1.mechanics import Cpm1Mechanics


@parameters
class Cpm1(ParticleModel):
    r"""Continuum particle model 1: one interaction per edge, over the face between two particles' cells.

    With m the image of the face's rest normal, told from its edge and its vertices (:math:`d/d_0` for a face
    across its edge), and N the face's present area vector, the face is stretched by
    :math:`\epsilon = |m| - 1` and sheared by :math:`\gamma = \angle(m, N)`. Its dual vertices move with their
    particles.

    form: ``variational`` takes the energy
    :math:`\sum A_0 h_0 (\tfrac12 E \epsilon^2 + \tfrac12 G \gamma^2)` and its exact gradient; ``everts`` the
    published forces :math:`A_0 (E \epsilon\, \hat N + G \gamma\, p)` on i, their opposite on j, which have no
    energy: they blow up sooner or later.
    mapping: ``consistent`` gives Hooke's law (see ``material_mapping``), ``everts`` passes Young's and the
    shear modulus through, or ``constants`` = [E, G] for both.
    dual: ``blended``, ``barycentric``, or ``everts`` for the published cells (simple shapes only).
    calibrate: measure what the mesh makes of the constants, and correct them by it.

    Source: [Everts2006]_ chapter 5. Differs: tilted faces, blended cells, mapping, the variational form.
    """

    kind: ClassVar[str] = "cpm1"

    dual: Recipe = "blended"

    @property
    def sampler(self) -> DualCellSampler:
        return DualCellSampler(self.dual)

    def prepare(self, structure: Structure, material: "Material") -> "Cpm1Mechanics":
        from pliant.models.continuum_particles.cpm1.mechanics import Cpm1Mechanics

        dual = dual_cells(structure.rest, structure.cells["tetra"], self.dual)
        return self.build(
            structure, material, lambda own: Cpm1Mechanics(structure, material, self.form, dual, own)
        )
