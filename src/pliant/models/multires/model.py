"""Parameters of the multiresolution model."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from pliant.core.errors import IncompatibleError
from pliant.core.parameters import parameters
from pliant.core.units import Number, Time
from pliant.interfaces import Cuttable, Model, Structure
from pliant.structure.samplers.levels import LevelSampler

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.multires.mechanics import MultiresMechanics


@parameters
class Multires(Model):
    r"""Adaptive resolution: levels with meshes and time steps of their own [DebunneDesbrunCaniBarr2000]_.

    levels: meshes of the shape, the body's ``edge`` being the finest one's and each coarser one's twice that.

    operator: "linear", the full linear elastic forces; "corotational", each tet in its rotating frame, for
    large rotations (several times the cost); "debunne", the operator as published, in which a rigid
    rotation causes forces.

    coupling: "schwarz", ghosts that interpolate between levels in space and time, with stiffness damping of a
    quarter of each level's critical step (for held bodies); "galerkin", slaved ghosts and transposed forces,
    which keeps momentum and needs no damping (for bodies that fly or swing); "auto": schwarz where something
    holds the body when it starts and its material or an action damps it, otherwise galerkin. order: "debunne"
    is the published order of updates, which is unstable.

    detail: "adaptive", or "finest" or "coarsest" for that level everywhere. split: a node is replaced by
    finer ones where the strain changes by more than this across a cell, until it is below a fifth of it.
    budget: node updates per frame that may be spent; seconds: the same as time on this machine, measured, so
    that runs differ. decisions: what a budget in seconds came to in an earlier run, pairs of time [s] and
    node updates, so that it is repeated to the byte (``replay.toml`` of the run and takes of the studio have
    them).
    """

    kind: ClassVar[str] = "multires"
    limits: ClassVar[frozenset[str]] = frozenset()
    offers: ClassVar[Mapping[type, str]] = {Cuttable: ""}
    own_step: ClassVar[bool] = True
    subject: ClassVar[str] = "Levels of detail"
    references: ClassVar[tuple[str, ...]] = ("DebunneDesbrunCaniBarr2000",)

    levels: int = Field(default=3, ge=1, le=8)
    operator: Literal["linear", "corotational", "debunne"] = "linear"
    coupling: Literal["auto", "schwarz", "galerkin"] = "auto"
    order: Literal["interpolated", "debunne"] = "interpolated"
    detail: Literal["adaptive", "finest", "coarsest"] = "adaptive"
    split: Number = Field(default=0.05, gt=0)
    budget: int | None = Field(default=None, gt=0)
    seconds: Time | None = Field(default=None, gt=0)
    decisions: tuple[tuple[float, float], ...] | None = None

    @property
    def sampler(self) -> LevelSampler:
        return LevelSampler(self.levels)

    @property
    def constant_strain(self) -> bool:
        return True

    @property
    def locking_remedy(self) -> str | None:
        return 'model = { type = "fem", elements = "quadratic" }'

    def notes(self, material: "Material") -> list[str]:
        """What a user should know before looking at the result."""
        if self.order == "debunne":
            return ['order = "debunne" is the published order of updates: it gains energy at level borders']
        return []

    def predicted_lame(self, material: "Material") -> tuple[float, float] | None:
        """The Lamé constants of the material: tets represent a uniform strain exactly. None for Debunne's
        operator."""
        return material.lame if self.operator != "debunne" else None

    def prepare(self, structure: Structure, material: "Material") -> "MultiresMechanics":
        from pliant.models.multires.mechanics import MultiresMechanics

        if material.regions or material.anisotropic or material.yield_ is not None:
            what = "regions" if material.regions else "moduli" if material.anisotropic else "a yield stress"
            raise IncompatibleError(
                f"Model 'multires' has one elastic, isotropic material; this one has {what}.",
                hint='Use model = "fem".',
            )
        if self.order == "debunne" and self.coupling == "galerkin":
            raise IncompatibleError("order = 'debunne' belongs to coupling = 'schwarz'.")
        if self.budget is not None and self.seconds is not None:
            raise IncompatibleError("Give the model a budget or seconds, not both.")
        if self.decisions is not None and self.seconds is None:
            raise IncompatibleError(
                "decisions repeat what a budget in seconds came to; there is none.", hint="Give seconds too."
            )
        return MultiresMechanics(structure, material, self)
