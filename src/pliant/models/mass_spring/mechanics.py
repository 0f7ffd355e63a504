"""Runtime of the mass-spring model for one body: forces, energy, stiffness, fields."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.interfaces import (
    ChangingTopology,
    Cuttable,
    Damped,
    DiscreteGradient,
    FieldData,
    FractureStatistics,
    Mechanics,
    SectionForce,
    StableStep,
    StoredEnergy,
    Structure,
    Tangent,
    VolumetricTerm,
)
from pliant.kernels.element_blocks import make_blocks
from pliant.mesh.mesh import tet_edges, tet_volumes
from pliant.models.critical_step import explicit_limit
from pliant.models.regions import lame_per_cell
from pliant.models.springs import energy_momentum, kernels
from pliant.models.springs.network import SpringForces, spring_resultant, spring_stiffness
from pliant.models.tets import fields
from pliant.models.tets.fields import volumetric_resultant
from pliant.models.tets.fracture import TetFracture
from pliant.models.tets.stiffness import assemble

if TYPE_CHECKING:
    from scipy.sparse import bsr_array

    from pliant.materials import ResolvedMaterial as Material


class MassSpringMechanics(Mechanics):
    """Forces, energy and fields of springs on tet edges; arrays are in the body's own numbering."""

    capabilities = frozenset(
        {
            *(StoredEnergy, DiscreteGradient, Damped, Tangent, SectionForce, VolumetricTerm),
            *(Cuttable, ChangingTopology),
        }
    )
    field_names = fields.NAMES

    def __init__(
        self,
        structure: Structure,
        material: "Material",
        stiffness: float | None,
        constants: tuple[float, float] | None = None,
    ) -> None:
        """``constants``: Lame's (lambda, mu) [Pa] that the springs and the volumetric term are made of, where
        they are not the material's."""
        self.material, self._given, self._constants = material, stiffness, constants
        self.damping_time = material.damping or 0.0
        self._keeps_volume = True
        self._set_up(structure)
        self.fracture = TetFracture(structure, material, self._set_up)
        self.components = {Cuttable: self.fracture, ChangingTopology: self.fracture}

    def _set_up(self, structure: Structure, origin: IntArray | None = None) -> None:
        """Make all that depends on the tets."""
        self.structure, material, stiffness = structure, self.material, self._given
        self.tets = structure.cells["tetra"]
        self.edges = tet_edges(self.tets)
        rest = structure.rest
        self.volumes = tet_volumes(rest, self.tets)
        self.lengths = np.linalg.norm(rest[self.edges[:, 1]] - rest[self.edges[:, 0]], axis=1)
        lam, mu = self.lame = lame_per_cell(structure, material)
        if self._constants is not None:
            lam, mu = (np.full_like(mu, value) for value in self._constants)
        if stiffness is None:
            self.stiffness = 2.5 * self._around_edges(mu * self.volumes) / self.lengths**2
            self.bulk = np.where(lam - mu > 1e-9 * mu, lam - mu, 0.0)
        else:
            self.stiffness = np.full(len(self.edges), stiffness)
            self.bulk = np.zeros(len(self.tets))
        self.volumetric = bool(self.bulk.any())
        self.springs = SpringForces(self.edges, len(rest), self.lengths, self.stiffness)
        if self.volumetric:
            self.springs.add_tets(self.tets, self.volumes, self.bulk)
        self.cells = make_blocks(self.tets, len(rest))
        self._cell_rest = self.cells.rows(6.0 * self.volumes, self.bulk / self.volumes / 36.0)
        if not self._keeps_volume:
            self.disable_volumetric_term()

    def disable_volumetric_term(self) -> None:
        """Drop the volumetric term: a constraint on nodal volumes takes its place, and it would only lock."""
        self._keeps_volume = False
        self.bulk = np.zeros(len(self.tets))
        self.volumetric = False
        self.springs.drop_tets()

    def _around_edges(self, values: Array) -> Array:
        """Sum of a value per tet over the tets around each edge."""
        n = len(self.structure.rest)
        keys = self.edges[:, 0] * n + self.edges[:, 1]
        total = np.zeros(len(self.edges))
        for a, b in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)):
            pair = np.sort(self.tets[:, [a, b]], axis=1)
            np.add.at(total, np.searchsorted(keys, pair[:, 0] * n + pair[:, 1]), values)
        return total

    def add_elastic_forces(self, x: Array, out: Array) -> None:
        self.springs.add_forces(x, out)

    def add_damping_forces(self, x: Array, v: Array, out: Array) -> None:
        """Add ``-beta k (d l / d t)`` along each spring."""
        self.springs.add_damping(self.damping_time, x, v, out)

    def energy(self, x: Array) -> float:
        """``sum k (l - L)^2 / 2 + sum (lambda - mu) V (J - 1)^2 / 2`` [J]."""
        total, c = self.springs.energy(x), self.cells
        if self.volumetric:
            total += kernels.spring_energy[c.parallel](c.starts, c.index, self._cell_rest, x, False)
        return total

    def add_forces_between(self, before: Array, after: Array, out: Array) -> None:
        s, c = self.springs.blocks, self.cells
        energy_momentum.spring_forces_between[self.springs.parallel](
            s.starts, s.low, s.offset, s.index, self.springs.rest, before, after, s.buffer
        )
        s.add_to(out)
        if self.volumetric:
            energy_momentum.volume_forces_between[c.parallel](
                c.starts, c.low, c.offset, c.index, self._cell_rest, before, after, c.buffer
            )
            c.add_to(out)

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        """Add ``K dx``: springs in compression keep no sideways stiffness, and tets only that against changes
        of volume, so that K is positive semi-definite (see ``springs/kernels.py``)."""
        self.springs.add_product(x, dx, out)
        if self.volumetric:
            c = self.cells
            kernels.volume_product[c.parallel](
                c.starts, c.low, c.offset, c.index, self._cell_rest, x, dx, c.buffer
            )
            c.add_to(out)

    def rest_stiffness(self) -> "bsr_array":
        """The stiffness matrix at rest (3n, 3n) [N/m], in 3x3 blocks."""
        rest, n = self.structure.rest, len(self.structure.rest)
        matrix = spring_stiffness(rest, self.edges, self.stiffness)
        if self.volumetric:
            g = fields.volume_gradients(rest, self.tets).reshape(-1, 12)
            weights = (self.bulk / self.volumes)[:, None, None]
            matrix = matrix + assemble(weights * g[:, :, None] * g[:, None, :], self.tets, n)
        return matrix

    def state(self) -> dict[str, AnyArray]:
        return self.fracture.state()

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.fracture.restore(state)

    def fracture_statistics(self) -> FractureStatistics:
        return self.fracture.statistics()

    def stable_step(self) -> StableStep:
        return explicit_limit(self, self.structure, self.damping_time)

    def section_force(self, x: Array, above: BoolArray) -> dict[str, tuple[Array, float]]:
        """Forces of springs and of tets that have particles on both sides of a cut."""
        elastic = spring_resultant(x, self.edges, self.lengths, self.stiffness, above)
        volumetric = volumetric_resultant(x, self.tets, self.volumes, self.bulk, above)
        return {"elastic": elastic, "volumetric": volumetric}

    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, FieldData]:
        """Fields per tet of the continuum that the springs stand for (small-strain Hooke on Green strain)."""
        return fields.tet_fields(x, self.structure.rest, self.tets, self.lame, names)
