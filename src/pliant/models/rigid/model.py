"""Parameters of the rigid model."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from pliant.core.parameters import parameters
from pliant.core.units import Number
from pliant.interfaces import Model, Structure
from pliant.structure.samplers.affine import AffineSampler
from pliant.structure.samplers.rigid import RigidSampler

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.rigid.affine import AffineMechanics
    from pliant.models.rigid.mechanics import RigidMechanics


@parameters
class Rigid(Model):
    r"""A body that does not deform: six degrees of freedom, with the mass, centre and inertia of its closed
    surface [DullweberLeimkuhlerMcLachlan1997]_.

    It collides with the ground and obstacles by impulses, with their restitution and friction, and with
    other bodies of all models through contact. ``fix``, ``move`` and the like on some of its particles are
    joints: one held particle is a ball joint, a row of them a hinge, a face holds the whole body.

    stiffness: of its contacts with other bodies [N/m] (default: :math:`0.6\,E a` of the material, as for
    lattice bodies; a is the body's ``edge``, which also sets the contact resolution of its surface). Of the
    material, density, friction and restitution are used.

    motion: "affine" is the default, and required, with implicit steps and barrier contact: four internal
    particles carry the surface, which is what collides, and a stiffness of 100 MPa at 1000 kg/m3 keeps them
    rigid [LanEtAl2022]_. Such a body can be held or moved as a whole only.
    """

    kind: ClassVar[str] = "rigid"
    limits: ClassVar[frozenset[str]] = frozenset()
    deforms: ClassVar[bool] = False
    own_step: ClassVar[bool] = True
    subject: ClassVar[str] = "Clay, blocks and rigid bodies"
    references: ClassVar[tuple[str, ...]] = ("DullweberLeimkuhlerMcLachlan1997",)

    stiffness: Number | None = Field(default=None, gt=0)
    motion: Literal["rigid", "affine"] | None = None

    @property
    def sampler(self) -> RigidSampler | AffineSampler:
        """What makes its particles."""
        return AffineSampler() if self.motion == "affine" else RigidSampler()

    def in_scene(self, implicit: bool, barrier: bool) -> "Rigid":
        return replace(self, motion="affine") if self.motion is None and implicit and barrier else self

    def prepare(self, structure: Structure, material: "Material") -> "RigidMechanics | AffineMechanics":
        if self.motion == "affine":
            from pliant.models.rigid.affine import AffineMechanics

            return AffineMechanics(structure, material)
        from pliant.models.rigid.mechanics import RigidMechanics

        return RigidMechanics(structure, material, self.stiffness)
