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
    r"""Adaptive resolution: one displacement field, simulated in coarse coordinates where these suffice.

    levels: the body's mesh, whose edge is the body's, and cages around it, each with twice the edge of the
    last.

    operator: the law of the mesh. "corotational": linear elasticity in rotating frames; "linear": for small
    rotations; "neo-hookean": for large strains, without sums over coarse cells, so that these cost more;
    "debunne": the operator of [DebunneDesbrunCaniBarr2000]_, in which a rigid rotation causes forces.

    detail: "adaptive", or "finest" or "coarsest" for that level everywhere. split: a node is replaced by
    finer ones where the strain changes by more than this across a cell, until it has been below a fifth of it
    for half a second. budget: node updates per frame that may be spent; seconds: the same as time on this
    machine, measured, so that runs differ. decisions: what a budget in seconds came to in an earlier run,
    pairs of time [s] and node updates, so that it is repeated to the byte (``replay.toml`` of the run and
    takes of the studio have them).

    coupling, order: accepted and without effect; before 0.2 levels were meshes of their own that had to be
    coupled, in a certain order of updates."""

    kind: ClassVar[str] = "multires"
    limits: ClassVar[frozenset[str]] = frozenset()
    offers: ClassVar[Mapping[type, str]] = {Cuttable: ""}
    own_step: ClassVar[bool] = True
    subject: ClassVar[str] = "Adaptive resolution"
    references: ClassVar[tuple[str, ...]] = ("DebunneDesbrunCaniBarr2000",)

    levels: int = Field(default=3, ge=1, le=8)
    operator: Literal["corotational", "linear", "neo-hookean", "debunne"] = "corotational"
    detail: Literal["adaptive", "finest", "coarsest"] = "adaptive"
    split: Number = Field(default=0.05, gt=0)
    budget: int | None = Field(default=None, gt=0)
    seconds: Time | None = Field(default=None, gt=0)
    decisions: tuple[tuple[float, float], ...] | None = None
    coupling: Literal["auto", "schwarz", "galerkin"] = "auto"
    order: Literal["interpolated", "debunne"] = "interpolated"

    @property
    def sampler(self) -> LevelSampler:
        return LevelSampler()

    @property
    def constant_strain(self) -> bool:
        return True

    @property
    def locking_remedy(self) -> str | None:
        return 'model = { type = "fem", elements = "quadratic" }'

    def notes(self, material: "Material") -> list[str]:
        """Keys that have no effect any more."""
        given = {"coupling": (self.coupling, "auto"), "order": (self.order, "interpolated")}
        return [
            f'{name} = "{value}" has no effect any more, and can be left out: levels share one field and one '
            "energy, so that there is nothing to couple"
            for name, (value, default) in given.items()
            if value != default
        ]

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
        if self.budget is not None and self.seconds is not None:
            raise IncompatibleError("Give the model a budget or seconds, not both.")
        if self.decisions is not None and self.seconds is None:
            raise IncompatibleError(
                "decisions repeat what a budget in seconds came to; there is none.", hint="Give seconds too."
            )
        return MultiresMechanics(structure, material, self)
