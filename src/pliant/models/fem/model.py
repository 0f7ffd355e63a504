"""Parameters of the finite element model."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field, model_validator

from pliant.core.errors import IncompatibleError
from pliant.core.parameters import parameters
from pliant.core.typing import Array
from pliant.interfaces import Cuttable, Model, Structure
from pliant.materials.constitutive import (
    GRAM_SCHMIDT,
    Law,
    LawName,
    LawParameters,
    check_parameters,
    law_named,
)
from pliant.structure.samplers.tets import QuadraticTetSampler, TetSampler

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.fem.mechanics import FemMechanics


@parameters
class Fem(Model):
    r"""Finite elements: tetrahedra.

    law: how stress follows from strain, a name of ``materials.constitutive.LAWS``. "corotational": linear
    elasticity in the rotating frame of each tet [Cairns2012]_ [MuellerGross2004]_; "st-venant-kirchhoff":
    Hooke's law on Green's strain, for moderate strains; "neo-hookean": the stable neo-Hookean law
    [SmithDeGoesKim2018]_, for soft bodies and large strains; "mooney-rivlin" and "ogden": rubber.
    Corotational and neo-Hookean bodies recover from inversion. law_parameters: those of the law that E and
    nu do not fix, ``ratio`` of Mooney and Rivlin's, ``alpha`` and ``mu`` of Ogden's.

    rotation: "polar", the rotation nearest to the deformation gradient, or "gram-schmidt" as published in
    [Cairns2012]_ (4.1), which prefers one axis, has no energy and leaves a torque (corotational law only).

    elements: "linear" tets have constant strain; "quadratic" ones a particle in the middle of each edge and
    linear strain: far more accurate in bending, and free of locking, at about ten times the cost of as
    many linear tets.

    locking: "averaged-pressure" takes the volumetric strain of each tet from its particles' neighbourhoods,
    which keeps nearly incompressible bodies from being too stiff [BonetBurton1998]_.

    plasticity, of materials that yield: "small" adds plastic strain, for dents; "large" lets the rest shape
    flow, for clay and dough; "cairns" is algorithm 4.1 of [Cairns2012]_ as published. "auto": small, but
    large with laws that are not linear in a strain.

    fracture: whether the body breaks where its material has a ``strength``; with a ``toughness`` faces of
    cracks hold on until they have taken it [CamachoOrtiz1996]_.
    """

    kind: ClassVar[str] = "fem"
    limits: ClassVar[frozenset[str]] = frozenset({"strength", "toughness", "yield"})
    offers: ClassVar[Mapping[type, str]] = {Cuttable: 'elements = "linear"'}
    subject: ClassVar[str] = "Solids of finite elements"
    references: ClassVar[tuple[str, ...]] = (
        "Cairns2012",
        "MuellerGross2004",
        "SmithDeGoesKim2018",
        "LinChitaluKomura2022",
        "BonetBurton1998",
        "BargteilWojtanHodginsTurk2007",
        "WeberAnand1990",
        "OBrienHodgins1999",
        "CamachoOrtiz1996",
        "HintonRockZienkiewicz1976",
    )
    law: LawName = "corotational"
    law_parameters: LawParameters = Field(default_factory=dict)
    rotation: Literal["polar", "gram-schmidt"] = "polar"
    elements: Literal["linear", "quadratic"] = "linear"
    locking: Literal["none", "averaged-pressure"] = "none"
    plasticity: Literal["auto", "small", "large", "cairns"] = "auto"
    fracture: bool = True

    @model_validator(mode="after")
    def _law_has_those(self) -> Self:
        check_parameters(self.law, self.law_parameters)
        return self

    @property
    def sampler(self) -> TetSampler | QuadraticTetSampler:
        return QuadraticTetSampler() if self.elements == "quadratic" else TetSampler()

    @property
    def constant_strain(self) -> bool:
        return self.elements == "linear"

    @property
    def locking_remedy(self) -> str | None:
        if self.elements == "quadratic" or self.locking != "none":
            return None
        return 'model = { type = "fem", locking = "averaged-pressure" }'

    def bending_remedy(self, edge: float) -> str:
        return 'model = { type = "fem", elements = "quadratic" }'

    def flow(self, material: "Material") -> str | None:
        """The kind of plasticity that a body of this material gets."""
        if all(own.yield_ is None for own in _materials(material)):
            return None
        if self.plasticity != "auto":
            return self.plasticity
        return "small" if law_named(self.law).linear else "large"

    @property
    def constitutive(self) -> Law:
        """The law, as published or not."""
        return GRAM_SCHMIDT if self.rotation == "gram-schmidt" else law_named(self.law)

    def constants(self) -> Array:
        """The constants of the law as its compiled functions read them."""
        return self.constitutive.constants(self.law_parameters)

    def anisotropic(self, material: "Material") -> bool:
        return any(own.anisotropic for own in _materials(material))

    def predicted_lame(self, material: "Material") -> tuple[float, float] | None:
        """Those asked for: tets follow a uniform strain exactly. None for anisotropic ones."""
        return None if self.anisotropic(material) else material.lame

    def prepare(self, structure: Structure, material: "Material") -> "FemMechanics":
        from pliant.models.fem.mechanics import FemMechanics

        for wrong, why, hint in self._conflicts(material):
            if wrong:
                raise IncompatibleError(why, hint=hint)
        return FemMechanics(structure, material, self)

    def _conflicts(self, material: "Material") -> list[tuple[bool, str, str]]:
        """Combinations that cannot work: (it is so, why, what to do)."""
        flow, anisotropic = self.flow(material), self.anisotropic(material)
        quadratic, linear = self.elements == "quadratic", law_named(self.law).linear
        return [
            (
                quadratic and self.rotation == "gram-schmidt",
                "Quadratic tets come with polar rotations only.",
                'Leave rotation out, or use elements = "linear".',
            ),
            (
                quadratic and self.locking != "none",
                "Quadratic tets do not lock: locking = 'averaged-pressure' is for linear ones.",
                "Leave locking out.",
            ),
            (
                quadratic and self.fracture and any(own.strength for own in _materials(material)),
                "Quadratic tets do not break, but the material has a strength.",
                'Use elements = "linear" (with locking = "averaged-pressure"), or fracture = false.',
            ),
            (
                self.rotation == "gram-schmidt" and self.law != "corotational",
                f"Law '{self.law}' uses no rotation: rotation = 'gram-schmidt' would do nothing.",
                'Use law = "corotational", or leave rotation out.',
            ),
            (
                not linear and anisotropic,
                f"Law '{self.law}' is isotropic, but the material has moduli of its own axes.",
                'Use law = "corotational" or "st-venant-kirchhoff".',
            ),
            (
                self.locking == "averaged-pressure" and anisotropic,
                "Averaged pressures need an isotropic material.",
                'Use locking = "none".',
            ),
            (
                self.locking == "averaged-pressure" and flow == "cairns",
                "Averaged pressures need plastic strain that keeps volume; that of cairns does not.",
                'Use plasticity = "small".',
            ),
            (
                not linear and flow in ("small", "cairns"),
                f"Law '{self.law}' cannot do plasticity = '{self.plasticity}', which adds strains.",
                'Use plasticity = "large".',
            ),
            (
                self.plasticity != "auto" and flow is None,
                f"plasticity = '{self.plasticity}' does nothing: the material never yields.",
                "Give the material a yield stress, or leave plasticity out.",
            ),
        ]


def _materials(material: "Material") -> "list[Material]":
    from pliant.materials import by_region

    return [material, *by_region(material).values()]
