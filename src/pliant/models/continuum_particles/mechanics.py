"""The part of the runtime that both continuum particle models share: faces in a mesh of tets."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pliant.core.typing import Array, BoolArray
from pliant.interfaces import (
    Damped,
    FieldData,
    Mechanics,
    SectionForce,
    StableStep,
    StoredEnergy,
    Structure,
    Tangent,
    VolumetricTerm,
)
from pliant.kernels.element_blocks import ElementBlocks, make_blocks
from pliant.mesh.mesh import tet_volumes
from pliant.models.continuum_particles import damping
from pliant.models.continuum_particles.face_law import face_gradients, printed_forces
from pliant.models.continuum_particles.material_mapping import FaceConstants, Form
from pliant.models.critical_step import explicit_limit
from pliant.models.regions import lame_per_cell
from pliant.models.tets import fields
from pliant.models.tets.fields import volumetric_resultant
from pliant.models.tets.stiffness import linear_stiffness

if TYPE_CHECKING:
    from scipy.sparse import bsr_array

    from pliant.materials import ResolvedMaterial as Material


class ParticleMechanics(Mechanics):
    """Fields, damping, stable step, energy and section forces of faces, which have images m of their rest
    normals and area vectors N.

    form: ``variational`` has an energy, and declares it; ``everts``, the printed one, has none.
    ``printed_along``: 0 or 1, how the printed form measures stretch (see ``printed_force``).
    """

    capabilities: frozenset[Any] = frozenset({Damped, Tangent, SectionForce, VolumetricTerm})
    field_names: tuple[str, ...] = fields.NAMES
    printed_along: ClassVar[float]

    def __init__(self, structure: Structure, material: "Material", form: Form) -> None:
        self.structure, self.form = structure, form
        self.tets = structure.cells["tetra"]
        self.volumes = tet_volumes(structure.rest, self.tets)
        self.lame = lame_per_cell(structure, material)
        self.damping_time = material.damping or 0.0
        self.inversion_safe = form == "variational"
        if form == "variational":
            self.capabilities = self.capabilities | {StoredEnergy}
        self.constants: FaceConstants
        self._viscous: tuple[ElementBlocks, Array] | None = None

    @abstractmethod
    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        """Add ``K dx`` with the Gauss-Newton stiffness to ``out``: never negative, exact at rest."""

    @abstractmethod
    def add_elastic_forces(self, x: Array, out: Array) -> None:
        """Add the forces of the faces and of the volumetric term to ``out``."""

    @abstractmethod
    def set_constants(self) -> None:
        """Write ``constants`` into the rows of the kernels."""

    @abstractmethod
    def face_vectors(self, x: Array) -> tuple[Array, Array]:
        """Images m of the rest normals and area vectors N of all faces; (f, 3) each."""

    @abstractmethod
    def face_stiffness(self) -> tuple[Array, Array, Array]:
        """Stretch and shear constants of all faces [J], and the area below which N is softened; (f,) each."""

    @abstractmethod
    def printed_sides(self, above: BoolArray) -> Array:
        """Per face (f,) +1 where the particle that its printed force acts on is ``above`` (n,) and the other
        is not, -1 the other way round, else 0."""

    @abstractmethod
    def face_shifts(self, x: Array, above: BoolArray) -> tuple[Array, Array]:
        """The change of all faces when the particles ``above`` (n,) move by e: dm = weight e, dN = e x arm;
        weight (f,), arm (f, 3) [m]."""

    def add_damping_forces(self, x: Array, v: Array, out: Array) -> None:
        if self._viscous is None:
            blocks = make_blocks(self.tets, len(self.structure.rest))
            rest = self.structure.rest
            rows = damping.damping_rows(blocks, rest, self.tets, self.volumes, self.average_lame)
            self._viscous = blocks, rows
        b, rows = self._viscous
        run = damping.damping_forces[b.parallel]
        run(b.starts, b.low, b.offset, b.index, rows, self.damping_time, x, v, b.buffer)
        b.add_to(out)

    @property
    def average_lame(self) -> tuple[Array, Array]:
        """Lame's constants per tet [Pa] that the faces make on average."""
        return self.constants.lame(self.form)

    def stable_step(self) -> StableStep:
        return explicit_limit(self, self.structure, self.damping_time)

    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, FieldData]:
        """Fields per tet of the continuum that the faces stand for (small-strain Hooke on Green strain)."""
        return fields.tet_fields(x, self.structure.rest, self.tets, self.lame, names)

    def rest_stiffness(self) -> "bsr_array":
        """Stiffness at rest [N/m] of linear elasticity with the same moduli; scipy BSR (3n, 3n)."""
        found: bsr_array = linear_stiffness(self.structure.rest, self.tets, *self.average_lame)
        return found

    def disable_volumetric_term(self) -> None:
        """Drop the volumetric term: a constraint on nodal volumes takes its place, and it would only lock."""
        c = self.constants
        self.constants = FaceConstants(c.stretch, c.shear, np.zeros_like(c.bulk))
        self.set_constants()

    @abstractmethod
    def energy(self, x: Array) -> float:
        """``sum A0 h0 (E/2 eps^2 + G/2 gamma^2) + sum lambda/2 V (J - 1)^2`` [J], of the variational form."""

    def section_force(self, x: Array, above: BoolArray) -> dict[str, tuple[Array, float]]:
        """Forces of faces and of tets that have particles on both sides of a section."""
        stretch, shear, floor = self.face_stiffness()
        none, vectors = np.zeros_like(stretch), self.face_vectors(x)
        return {
            "elastic": self._face_flux(x, above, *vectors, stretch, none, floor),
            "shear": self._face_flux(x, above, *vectors, none, shear, floor),
            "volumetric": volumetric_resultant(x, self.tets, self.volumes, self.constants.bulk, above),
        }

    def _face_flux(
        self, x: Array, above: BoolArray, m: Array, n: Array, stretch: Array, shear: Array, floor: Array
    ) -> tuple[Array, float]:
        if self.form == "everts":
            force = printed_forces(m, n, stretch, shear, floor, self.printed_along)
            on_above = self.printed_sides(above)[:, None] * force
        else:
            gm, gn = face_gradients(m, n, stretch, shear, floor)
            weight, arm = self.face_shifts(x, above)
            on_above = -(weight[:, None] * gm + np.cross(arm, gn))
        return on_above.sum(axis=0), float(np.linalg.norm(on_above, axis=1).sum())
