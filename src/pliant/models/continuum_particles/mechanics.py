"""What both continuum particle models do the same way, because they live on tets."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.core.typing import Array, BoolArray
from pliant.interfaces import (
    Damped,
    FieldData,
    Mechanics,
    SectionForce,
    StableStep,
    Structure,
    Tangent,
    VolumetricTerm,
)
from pliant.kernels.element_blocks import make_blocks
from pliant.mesh.mesh import tet_volumes
from pliant.models.continuum_particles import damping
from pliant.models.continuum_particles.material_mapping import FaceConstants, Form
from pliant.models.critical_step import explicit_limit, highest_frequency
from pliant.models.regions import lame_per_cell
from pliant.models.tets import fields
from pliant.models.tets.rotations import TetRotations
from pliant.models.tets.stiffness import linear_stiffness

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material


CRUSHED = 0.5  # of its volume: a tet below it counts as crushed
ROOM = 2.0  # by which the frequency of a crushed body may grow in a few steps
FEWEST, MOST = 3, 100  # parts of an explicit step while a body is crushed


class ParticleMechanics(Mechanics):
    """Base of the two models' runtimes: fields, damping, stable step, what implicit integrators ask for.

    Derived classes give ``add_elastic_forces`` and ``add_stiffness_product``.
    """

    capabilities: frozenset[Any] = frozenset({Damped, Tangent, SectionForce, VolumetricTerm})
    field_names: tuple[str, ...] = fields.NAMES

    def __init__(self, structure: Structure, material: "Material", form: Form) -> None:
        self.structure, self.form = structure, form
        self.tets = structure.cells["tetra"]
        self.volumes = tet_volumes(structure.rest, self.tets)
        self.lame = lame_per_cell(structure, material)
        self.damping_time = material.damping or 0.0
        self.inversion_safe = form == "variational"
        self.constants: FaceConstants
        self._fastest: float | None = None  # frequency at rest [rad/s]
        self._viscous: tuple[Any, Array] | None = None
        self._rotations: TetRotations | None = None

    @abstractmethod
    def add_elastic_forces(self, x: Array, out: Array) -> None:
        """Add the forces of the faces and of the volumetric term to ``out``."""

    def add_forces(self, x: Array, v: Array, out: Array) -> None:
        self.add_elastic_forces(x, out)
        if self.damping_time:
            if self._viscous is None:
                blocks = make_blocks(self.tets, len(self.structure.rest))
                rest = self.structure.rest
                rows = damping.damping_rows(blocks, rest, self.tets, self.volumes, self.average_lame)
                self._viscous = blocks, rows
            b, rows = self._viscous
            run = damping.damping_parallel if b.parallel else damping.damping_serial
            run(b.starts, b.low, b.high, b.offset, b.index, rows, self.damping_time, x, v, b.buffer, out)

    @property
    def average_lame(self) -> tuple[Array, Array]:
        """Lame's constants per tet [Pa] that the faces make on average."""
        return self.constants.lame(self.form)

    def dissipation(self, x: Array, v: Array) -> float:
        """Heat of the internal damping [W]."""
        if not self.damping_time:
            return 0.0
        rest = self.structure.rest
        power = damping.damping_power(x, v, rest, self.tets, self.volumes, self.average_lame)
        return self.damping_time * power

    def stable_step(self) -> StableStep:
        return explicit_limit(self, self.structure, self.damping_time)

    def substeps_at(self, x: Array) -> int:
        """One, unless tets are crushed or inverted: then as the highest frequency at ``x`` asks for, with
        room for a few steps."""
        crushed = tet_volumes(x, self.tets) < CRUSHED * self.volumes
        if not self.inversion_safe or not crushed.any():
            return 1
        if self._fastest is None:
            self._fastest = highest_frequency(self, self.structure)
        now = highest_frequency(self, replace(self.structure, rest=x.copy()))
        return int(np.clip(np.ceil(ROOM * now / self._fastest), FEWEST, MOST))

    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, FieldData]:
        """Fields per tet of the continuum that the faces stand for (small-strain Hooke on Green strain)."""
        return fields.tet_fields(x, self.structure.rest, self.tets, self.lame, names)

    def rest_stiffness(self) -> Any:
        """Stiffness at rest [N/m] of linear elasticity with the same moduli; scipy BSR (3n, 3n)."""
        return linear_stiffness(self.structure.rest, self.tets, *self.average_lame)

    def nodal_rotations(self, x: Array) -> Array:
        """The mean rotation of the tets around each particle; shape (n, 3, 3)."""
        if self._rotations is None:
            inverse = np.linalg.inv(fields.edge_matrices(self.structure.rest, self.tets))
            blocks = make_blocks(self.tets, len(self.structure.rest))
            self._rotations = TetRotations(blocks, inverse.astype(np.float64), self.volumes)
        return self._rotations.nodal(x)

    def _volumetric_energy(self, x: Array) -> float:
        change = tet_volumes(x, self.tets) / self.volumes - 1.0
        return 0.5 * float(np.sum(self.constants.bulk * self.volumes * change**2))

    def _volumetric_flux(self, x: Array, above: BoolArray) -> tuple[Array, float]:
        side = above[self.tets]
        cut = side.any(axis=1) & ~side.all(axis=1)
        tets = self.tets[cut]
        pressure = -self.constants.bulk[cut] * (tet_volumes(x, tets) / self.volumes[cut] - 1.0)
        forces = pressure[:, None, None] * fields.volume_gradients(x, tets)
        resultant = (forces * side[cut][:, :, None]).sum(axis=1)
        return resultant.sum(axis=0), float(np.linalg.norm(resultant, axis=1).sum())
