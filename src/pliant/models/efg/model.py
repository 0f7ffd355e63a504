"""Parameters of the meshless model."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from pliant.core.errors import IncompatibleError
from pliant.core.parameters import parameters
from pliant.core.units import Length, Number, Pressure
from pliant.interfaces import Cuttable, Model, Structure
from pliant.materials.constitutive import LawName, LawParameters, check_parameters, law_named
from pliant.structure.samplers.phyxels import PhyxelSampler, Sampling

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.efg.mechanics import EfgMechanics
    from pliant.models.efg.quadratic import QuadraticPhyxels


@parameters
class Efg(Model):
    r"""Meshless elasticity: particles fit the deformation of their neighbourhood by moving least squares.

    sampling: "lattice" or "bcc" (body-centred), both with particles on the surface, or "octree", finer at the
    surface, and "stencil", a lattice of cells inside ([Stegmayr2008]_ tables 3.1, 3.2).
    count: approximate number of particles; without it the body's ``edge`` is
    their spacing.

    basis: "linear", or "quadratic" (``quadratic.py``), which fits quadratic fields exactly and costs several
    times as much; for elastic bodies that neither break nor are cut.
    law: a name of ``materials.constitutive.LAWS``: "neo-hookean", stable through inversion
    [SmithDeGoesKim2018]_, "st-venant-kirchhoff" (also called "hooke", Stegmayr's), and the others of the fem
    model. law_parameters: those of the law that E and nu do not fix.
    volume_stiffness: k_v [Pa] of the volume-conserving energy :math:`\tfrac12 k_v (J - 1)^2`, eq. (3.60).
    hourglass: stiffness of motions that the fit does not represent, as a fraction of Young's modulus.

    support: the neighbours of a particle: "nearest", those within ``reach`` times the mean distance of the
    ``nearest`` ones; "radius", those within ``radius`` (default ``1.2 reach`` spacings).

    plasticity, of materials that yield: "small" adds plastic strain (laws linear in a strain); "large" lets
    the rest shape flow, for clay and dough; "absorb" is the published scheme for large deformations. "auto":
    small with laws that are linear in a strain, else large. hardening: by how much one unit of plastic
    strain raises the yield stress of "large", as a share of it. resample: whether particles are inserted
    where the body gets thin and merged where it gets dense, of "large" (``models/efg/resample.py``). divide:
    whether cracks, seams and cuts divide particles (``models/efg/split.py``), or pass between them only.

    Source: [Stegmayr2008]_ chapter 3, [MuellerKeiserNealen2004]_. Differs: see ``models/efg/kernels.py``;
    volumes are geometric shares of the body and masses follow from them, instead of a sum over kernels.
    """

    kind: ClassVar[str] = "efg"
    limits: ClassVar[frozenset[str]] = frozenset({"strength", "yield"})
    offers: ClassVar[Mapping[type, str]] = {Cuttable: ""}
    subject: ClassVar[str] = "Meshless bodies"
    references: ClassVar[tuple[str, ...]] = (
        "Stegmayr2008",
        "MuellerKeiserNealen2004",
        "BelytschkoLuGu1994",
        "SmithDeGoesKim2018",
        "WeberAnand1990",
        "PaulyKeiserAdams2005",
        "OrganFlemingTerryBelytschko1996",
        "LancasterSalkauskas1981",
    )

    law: LawName = "neo-hookean"
    law_parameters: LawParameters = Field(default_factory=dict)
    basis: Literal["linear", "quadratic"] = "linear"
    sampling: Sampling = "lattice"
    count: int | None = Field(default=None, ge=8, le=2_000_000)
    volume_stiffness: Pressure = Field(default=0.0, ge=0)
    hourglass: Number = Field(default=0.1, ge=0, le=2)
    support: Literal["nearest", "radius"] = "nearest"
    nearest: int = Field(default=10, ge=4, le=200)
    reach: Number = Field(default=1.75, gt=1, le=6)
    radius: Length | None = Field(default=None, gt=0)
    plasticity: Literal["auto", "small", "large", "absorb"] = "auto"
    hardening: Number = Field(default=0.2, ge=0, le=10)
    resample: bool = False
    divide: bool = True

    @model_validator(mode="after")
    def _consistent(self) -> "Efg":
        if self.radius is not None and self.support != "radius":
            raise ValueError("radius does nothing with support = 'nearest'; say support = 'radius'")
        check_parameters(self.law, self.law_parameters)
        return self

    @property
    def sampler(self) -> PhyxelSampler:
        return PhyxelSampler(self.sampling, self.count)

    def flow(self, material: "Material") -> str | None:
        """The kind of plasticity that a body of this material gets."""
        if material.yield_ is None:
            return None
        if self.plasticity != "auto":
            return self.plasticity
        return "small" if law_named(self.law).linear else "large"

    def predicted_lame(self, material: "Material") -> tuple[float, float]:
        """Those asked for: phyxels away from the surface follow a uniform strain exactly."""
        return material.lame

    def prepare(self, structure: Structure, material: "Material") -> "EfgMechanics | QuadraticPhyxels":
        from pliant.models.efg.mechanics import EfgMechanics
        from pliant.models.efg.quadratic import QuadraticPhyxels

        if material.anisotropic:
            raise IncompatibleError(
                "Model 'efg' is isotropic, but the material has moduli of its own axes.",
                hint="Give young and poisson, or use model = 'fem'.",
            )
        if material.regions:
            raise IncompatibleError(
                "Model 'efg' takes one material for a body, not regions.",
                hint="Leave regions out, or use model = 'fem'.",
            )
        flow = self.flow(material)
        if flow == "absorb" and material.strength is not None:
            raise IncompatibleError(
                "plasticity = 'absorb' renews neighbours in each step, and cracks would be forgotten.",
                hint='Use plasticity = "large", or leave strength out.',
            )
        if not law_named(self.law).linear and flow in ("small", "absorb"):
            raise IncompatibleError(
                f"Law '{self.law}' cannot do plasticity = '{flow}', which adds strains.",
                hint='Use law = "st-venant-kirchhoff", or plasticity = "large".',
            )
        if self.plasticity != "auto" and flow is None:
            raise IncompatibleError(
                f"plasticity = '{self.plasticity}' does nothing: the material never yields.",
                hint="Give the material a yield stress, or leave plasticity out.",
            )
        if self.resample and (flow != "large" or material.strength is not None):
            raise IncompatibleError(
                "resample = true is for bodies that flow, with plasticity = 'large', and do not break.",
                hint="Give the material a yield stress and no strength, or leave resample out.",
            )
        if self.basis == "linear":
            return EfgMechanics(structure, material, self)
        if flow is not None or material.strength is not None:
            raise IncompatibleError(
                "basis = 'quadratic' is for elastic bodies: the material has a yield stress or a strength.",
                hint="Leave these out, or use basis = 'linear'.",
            )
        if law_named(self.law).rotation:
            raise IncompatibleError(
                f"basis = 'quadratic' does not have law = '{self.law}', which needs rotations.",
                hint='Use law = "neo-hookean" or "st-venant-kirchhoff".',
            )
        return QuadraticPhyxels(structure, material, self)
