"""Parameters of the lattice model."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from pliant.core.parameters import parameters
from pliant.core.rotation import Rotation
from pliant.interfaces import Cuttable, Editable, Model, Resamplable, Structure
from pliant.structure.samplers.voxels import VoxelSampler

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.lattice.mechanics import LatticeMechanics


@parameters
class Lattice(Model):
    r"""Lattice springs: elements in the voxels of a body, connected to 26 neighbours [JanssonVergeest2000]_.

    A connection is a spring, :math:`f = k (l - L)` along its line (eq. 15), damped along it (eq. 18) by the
    material's damping time.

    rule: ``calibrated`` takes :math:`k = 1.5\,\mu a`, :math:`0.5\,\mu a` and :math:`0.375\,\mu a` along axes,
    face and body diagonals of a lattice of spacing a: an isotropic solid with :math:`\lambda = \mu`. Cells of
    eight elements add what is missing for a Poisson's ratio above 1/4, :math:`\lambda - \mu`, and a barrier
    below half of their volume (``VolumeCells``). ``text`` is the published :math:`k = E l` (eq. 22), several
    times too stiff.
    compensate: connections that lie in a free face are stiffened by 11/9 (calibrated rule), which makes
    up for the ones that are missing outside.
    fracture: with a material's strength, ``stress`` cuts through the element whose largest principal stress
    exceeds it most; ``distance`` breaks a connection at :math:`l = L (1 + strength / E)`, as published there.
    lattice: turns the lattice against the body's own axes.

    With a yield stress, a connection's rest length follows past the strain yield / E (at ``creep``).
    """

    kind: ClassVar[str] = "lattice"
    offers: ClassVar[Mapping[type, str]] = dict.fromkeys((Cuttable, Editable, Resamplable), "")
    subject: ClassVar[str] = "Clay, blocks and rigid bodies"
    references: ClassVar[tuple[str, ...]] = ("JanssonVergeest2000",)

    rule: Literal["calibrated", "text"] = "calibrated"
    compensate: bool = True
    fracture: Literal["stress", "distance"] = "stress"
    lattice: Rotation | None = None

    @property
    def sampler(self) -> VoxelSampler:
        return VoxelSampler(None if self.lattice is None else self.lattice.matrix())

    def notes(self, material: "Material") -> list[str]:
        """What the model makes of a material that it cannot do in full."""
        if self.rule == "calibrated" and material.poisson < 0.25 - 1e-3:
            return [
                "model 'lattice' has a Poisson's ratio of 1/4 or more; the material's "
                f"{material.poisson:g} is taken as 1/4"
            ]
        return []

    def predicted_lame(self, material: "Material") -> tuple[float, float] | None:
        """Lame's (lambda, mu) [Pa] of the calibrated lattice; None for the published rule."""
        from pliant.models.lattice.stiffness import lame_constants

        return lame_constants(material.young, material.poisson) if self.rule == "calibrated" else None

    def prepare(self, structure: Structure, material: "Material") -> "LatticeMechanics":
        from pliant.core.errors import IncompatibleError
        from pliant.models.lattice.mechanics import LatticeMechanics

        if material.anisotropic:
            raise IncompatibleError("Model 'lattice' does not support anisotropic materials (moduli).")
        if material.toughness is not None and self.fracture == "distance":
            raise IncompatibleError(
                "Model 'lattice' with fracture = \"distance\" does not use toughness.",
                hint='Take fracture = "stress", or leave toughness out.',
            )
        if material.regions:
            raise IncompatibleError("Model 'lattice' has one material per body: regions are not supported.")
        return LatticeMechanics(structure, material, self)
