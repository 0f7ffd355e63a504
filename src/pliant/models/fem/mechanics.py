"""The finite element model at work on one body."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.interfaces import (
    ChangingTopology,
    Cuttable,
    Damped,
    FieldData,
    SectionForce,
    StableStep,
    StepHook,
    StoredEnergy,
    Structure,
    Tangent,
    VolumetricTerm,
)
from pliant.kernels.element_blocks import WIDTH
from pliant.models.critical_step import element_limit, explicit_limit
from pliant.models.fem import fields, kernels, stiffness_product
from pliant.models.fem.nodal_pressure import NodalPressure
from pliant.models.fem.plasticity import LargePlasticity, SmallPlasticity
from pliant.models.fem.reference import ReferenceTets
from pliant.models.regions import per_cell
from pliant.models.tets.fields import edge_matrices
from pliant.models.tets.fracture import TetFracture
from pliant.models.tets.stiffness import assemble, gradients, stiffness_at

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.fem.model import Fem


class TetFem(TetFracture):
    """Forces, stiffness and fields of linear tets; arrays are in the body's own numbering."""

    capabilities: frozenset[Any] = frozenset(
        {Damped, Tangent, SectionForce, VolumetricTerm, StepHook, Cuttable, ChangingTopology}
    )
    field_names = fields.NAMES

    def __init__(self, structure: Structure, material: "Material", model: "Fem") -> None:
        self.material, self.model = material, model
        self.law, self.constants = model.constitutive, model.constants()
        self.inversion_safe = self.law.safe
        self.damping_time = material.damping or 0.0
        self._keeps_volume = True
        self._quickest: tuple[tuple[int, float], StableStep] | None = None
        self.set_up(structure)
        self.start_breaking(self.cell_strength())

    def set_up(self, structure: Structure) -> None:
        """Make all that depends on the tets."""
        self.structure, material, model = structure, self.material, self.model
        printed = model.rotation == "gram-schmidt"
        small = model.flow(material) in ("small", "cairns")
        full = printed or small or model.anisotropic(material)
        self.frame = stiffness_product.ORTHONORMAL if printed else stiffness_product.POLAR
        self.rest = self._make_rest(structure, material, full)
        self.tets, self.blocks = structure.cells["tetra"], self.rest.blocks
        self._set_pressure()
        self._set_plasticity()
        self._lane_volumes: Array | None = None
        if not self._keeps_volume:
            self.disable_volumetric_term()

    def _make_rest(self, structure: Structure, material: "Material", full: bool) -> ReferenceTets:
        return ReferenceTets(structure, material, full)

    def _set_pressure(self) -> None:
        self.pressure: NodalPressure | None = None
        self.share, self._extra = 1.0, np.zeros((1, WIDTH))  # the share of the bulk modulus that tets keep
        if self.model.locking == "averaged-pressure":
            lam, mu = self.rest.lame
            self.pressure = NodalPressure(self.blocks, self.rest.volumes, lam + 2.0 / 3.0 * mu, self.law)
            self.share, self._extra = 0.0, self.pressure.extra

    def _set_plasticity(self) -> None:
        self.plasticity: SmallPlasticity | LargePlasticity | None = None
        self._plastic_power = 0.0
        kind, structure = self.model.flow(self.material), self._elements_of(self.structure)
        if kind == "large":
            self.plasticity = LargePlasticity(structure, self.material, self.rest)
        elif kind is not None:
            printed = kind == "cairns"
            self.plasticity = SmallPlasticity(structure, self.material, self.rest, self.law, printed)
        self.recorded = self.plasticity.recorded if self.plasticity else ()

    def _elements_of(self, structure: Structure) -> Structure:
        """The structure whose cells are the elements: here, the tets."""
        return structure

    def disable_volumetric_term(self) -> None:
        """Drop the volumetric term: a constraint on nodal volumes takes its place, and it would only lock."""
        self._keeps_volume = False
        if not self.model.anisotropic(self.material):
            self.rest.drop_lambda()
            self.pressure, self.share, self._extra = None, 1.0, np.zeros((1, WIDTH))

    # ---------------------------------------------------------------------------------- forces

    def _run_law(self, x: Array, forces: bool, energy: bool) -> float:
        b, rows = self.blocks, self.rest.rows
        total: float = self.pressure.update(x, rows) if self.pressure else 0.0
        run = kernels.law_loops(self.law, self.rest.full)[b.parallel]
        total += run(
            *(b.starts, b.low, b.offset, b.index, rows, self._extra, self.share),
            *(self.constants, x, b.buffer, forces, energy),
        )
        return total

    def add_forces(self, x: Array, v: Array, out: Array) -> None:
        self._run_law(x, True, False)
        self.blocks.add_to(out)
        self._add_damping(x, v, out)

    def _add_damping(self, x: Array, v: Array, out: Array) -> None:
        if self.damping_time:
            self._add_product(stiffness_product.STRETCHED, x, -self.damping_time * v, out)

    def dissipation(self, x: Array, v: Array) -> float:
        """``beta v . K v`` and what plastic flow took in the last step [W]."""
        if not self.damping_time:
            return self._plastic_power
        out = np.zeros_like(x)
        self._add_damping(x, v, out)
        return self._plastic_power - float(np.sum(out * v))

    # ------------------------------------------------------------------------------- stiffness

    def _add_product(self, frame: int, x: Array, dx: Array, out: Array) -> None:
        b = self.blocks
        run = stiffness_product.product_parallel if b.parallel else stiffness_product.product_serial
        run(b.starts, b.low, b.offset, b.index, self.rest.rows, frame, x, -dx, b.buffer)
        b.add_to(out)

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        """Add ``K dx`` with the warped stiffness: symmetric, positive semi-definite, exact at rest.

        It leaves out the stiffness that present stresses bring (see ``products.py``).
        """
        self._add_product(self.frame, x, dx, out)

    def rest_stiffness(self) -> Any:
        """The stiffness matrix at rest (3n, 3n) [N/m], scipy BSR with 3x3 blocks."""
        rest = self.rest
        parts = stiffness_at(gradients(rest.first_inverse), rest.volumes, rest.stiffness)
        return assemble(parts, self.tets, len(self.structure.rest))

    # ------------------------------------------------------------------------- history and fields

    def after_step(self, time: float, dt: float, x: Array, v: Array) -> bool:
        """Plastic flow and cracks over the step that ended at ``time``; True where forces changed."""
        flowed = False
        if self.plasticity is not None:
            flowed, heat = self._flow(self.plasticity, x, dt)
            self._plastic_power = heat / dt
        if self.cracking is None:
            return flowed
        return self.crack(self.cracking, time, x, self.nodal_stress(x)) or flowed

    def _flow(self, plasticity: SmallPlasticity | LargePlasticity, x: Array, dt: float) -> tuple[bool, float]:
        """Let the tets flow over ``dt``; whether they did, and the energy it took [J]."""
        return plasticity.step(x, dt)

    def state(self) -> dict[str, AnyArray]:
        return {**(self.plasticity.state() if self.plasticity else {}), **self.breaking_state()}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.restore_breaking(state)
        if self.plasticity:
            self.plasticity.restore(state)

    def cell_strength(self) -> Array | None:
        """Strength of each tet [Pa], infinite where it has none."""
        if not self.model.fracture:
            return None
        return per_cell(
            self.structure, self.material, lambda own: np.inf if own.strength is None else own.strength
        )

    def nodal_stress(self, x: Array) -> Array:
        """Mean Cauchy stress around each particle, (n, 6) [Pa], xx, yy, zz, yz, xz, xy."""
        b, out = self.blocks, np.empty((len(x), 6))
        if self.pressure:
            self.pressure.update(x, self.rest.rows)
        if self._lane_volumes is None:
            self._lane_volumes = b.rows(self.rest.volumes)
        rows, volumes = self.rest.rows, self._lane_volumes
        run = kernels.nodal_stress(self.law, self.rest.full)
        run(b.starts, b.index, rows, self._extra, self.share, self.constants, volumes, x, out)
        return out

    def cell_memory(self) -> dict[str, Array]:
        return self.plasticity.cell_memory() if self.plasticity else {}

    def take_cell_memory(self, memory: Mapping[str, Array], origin: IntArray) -> None:
        if self.plasticity:
            self.plasticity.take_cell_memory({name: kept[origin] for name, kept in memory.items()})

    def stable_step(self) -> StableStep:
        """That of the rest shape; half of it where the rest shape may flow, which makes tets slender. Where
        the body may break, that of the quickest tet alone, which holds for all pieces."""
        if self.cracking is not None:
            limit = self._limit_of_tets()
        else:
            limit = explicit_limit(self, self.structure, self.damping_time)
        if isinstance(self.plasticity, LargePlasticity):
            return StableStep(0.5 * limit.seconds, f"{limit.reason}, halved for plastic flow")
        return limit

    def _limit_of_tets(self) -> StableStep:
        """That of the quickest tet; found again only where tets were cut up, not where they were parted."""
        made_for = (len(self.tets), self.damping_time)
        if self._quickest is None or self._quickest[0] != made_for:
            parts = stiffness_at(gradients(self.rest.first_inverse), self.rest.volumes, self.rest.stiffness)
            self._quickest = (made_for, element_limit(parts, self.structure, self.damping_time))
        return self._quickest[1]

    def section_force(self, x: Array, above: BoolArray) -> dict[str, tuple[Array, float]]:
        """Forces of the tets that have particles on both sides of a cut."""
        side = above[self.tets]
        cut = np.flatnonzero(side.any(axis=1) & ~side.all(axis=1))
        forces = fields.element_forces(self, x, cut)
        resultant = (forces * side[cut][:, :, None]).sum(axis=1)
        return {"elastic": (resultant.sum(axis=0), float(np.linalg.norm(resultant, axis=1).sum()))}

    def owner(self, cells: IntArray) -> IntArray:
        """The element that each of ``cells`` belongs to: here, itself."""
        return cells

    def deformation(self, x: Array, cells: IntArray) -> Array:
        """Elastic deformation gradients of some cells (m, 3, 3): from the present rest shape."""
        return np.asarray(edge_matrices(x, self.tets[cells]) @ self.rest.inverse[cells])

    @property
    def cell_volumes(self) -> Array:
        """Rest volumes of the cells [m3]."""
        return self.rest.volumes

    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, FieldData]:
        """Fields per tet, and the averaged stress per particle."""
        return fields.fem_fields(self, x, names)


class HyperelasticTetFem(TetFem):
    """Laws that have an energy."""

    capabilities = TetFem.capabilities | {StoredEnergy}

    def energy(self, x: Array) -> float:
        """Elastic energy [J]; the sum runs over fixed partitions, so any number of threads gives the same."""
        return self._run_law(x, False, True)
