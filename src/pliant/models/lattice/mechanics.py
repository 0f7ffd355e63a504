"""Runtime of the lattice model for one body: forces, stable step, fields, plastic flow and fracture."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.interfaces import (
    ChangingTopology,
    ContactSurface,
    Cuttable,
    Damped,
    DiscreteGradient,
    Editable,
    EnergyTotals,
    FieldData,
    FractureStatistics,
    Mechanics,
    Resamplable,
    SectionForce,
    StableStep,
    StepHook,
    StoredEnergy,
    Structure,
    Tangent,
    TopologyChange,
)
from pliant.models.critical_step import explicit_limit
from pliant.models.lattice.body import LatticeBody
from pliant.models.lattice.cut_carrier import EditedLattice
from pliant.models.lattice.editing import LatticeEditor
from pliant.models.lattice.fracture import DistanceFracture, StressFracture
from pliant.models.lattice.resample import (
    carry_over,
    continued_motion,
    element_stiffness,
    interpolation,
    refuse_edited,
    resampled_structure,
    smoothed,
    strain_variation,
)
from pliant.models.springs import energy_momentum
from pliant.models.springs.network import SpringNetwork, spring_resultant, spring_stiffness
from pliant.models.tets.fields import equivalent, stress_fields

if TYPE_CHECKING:
    from scipy.sparse import bsr_array

    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.lattice.model import Lattice

C = TypeVar("C")


class LatticeMechanics(Mechanics):
    """Forces of the connections of a ``LatticeBody``, their plastic flow and their fracture.

    ``editor`` changes the body while it runs.
    """

    capabilities = frozenset(
        {
            *(StoredEnergy, DiscreteGradient, Damped, Tangent, SectionForce, StepHook),
            *(Cuttable, Editable, Resamplable, ChangingTopology),
        }
    )
    field_names = ("strain", "stress", "stress-tensor", "principal", "damage", "plastic")
    inversion_safe = True
    books_fracture = True

    def __init__(self, structure: Structure, material: "Material", model: "Lattice") -> None:
        self.body, self.material = LatticeBody(structure, material, model), material
        self._first = structure
        self.fracture = self._criterion()
        self._stable: tuple[tuple[float, int], StableStep] | None = None
        self.can_crack = self.fracture is not None
        self._fracture_energy = self._plastic_heat = 0.0  # since the last report [J]
        self.editor = LatticeEditor(self.body, self.fracture)
        self._resampling: TopologyChange | None = None  # that made the body of now, unless it changed since
        if isinstance(self.fracture, StressFracture) and self.fracture.diagnostic:
            self.diagnostics.warn(self.fracture.diagnostic)
        cubes = structure.cells["hexahedron"]
        thin = len(structure.rest) - len(np.unique(cubes))
        if thin and len(structure.rest) > 8:
            self.diagnostics.note(
                f"{thin} of {len(structure.rest)} elements are in parts one element thick, which bend freely "
                "and do not keep their volume: a smaller edge cures that"
            )

    def _criterion(self) -> StressFracture | DistanceFracture | None:
        body = self.body
        if self.material.strength is None or not len(body.structure.cells["edge"]):
            return None
        criterion = StressFracture if body.model.fracture == "stress" else DistanceFracture
        return criterion(body, self.material.strength)

    def offer(self, capability: type[C]) -> C | None:
        """Cuts and edits are offered by the editor, the rest by the mechanics itself."""
        return cast(C, self.editor) if capability in (Cuttable, Editable) else super().offer(capability)

    # ------------------------------------------------------------------------- state of the body

    @property
    def structure(self) -> Structure:
        return self.body.structure

    @property
    def connections(self) -> SpringNetwork:
        return self.body.connections

    @property
    def damping_time(self) -> float:
        return self.body.damping_time

    @damping_time.setter
    def damping_time(self, seconds: float) -> None:
        self.body.damping_time = seconds

    @property
    def recorded(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.body.recorded

    @property
    def topology_version(self) -> int:
        return self.body.topology_version

    def topology_change(self) -> TopologyChange:
        """The latest change: structure, and what its particles continue."""
        if self._resampling is not None and self._resampling.structure is self.body.structure:
            return self._resampling
        return TopologyChange(self.body.structure, self.body.parents, new=self.body.newcomers)

    def rebuild(self, structure: Structure) -> None:
        """Become the body of ``structure``, which a resumed run has stored."""
        edited = EditedLattice.of(structure)
        if edited is not None and edited.resampled:
            made = resampled_structure(self.body.structure, self._first, structure.spacing)
            self._become(LatticeBody(made, self.material, self.body.model))
            none = np.arange(len(made.rest))  # states come from the checkpoint
            self._resampling = TopologyChange(self.body.structure, none, velocities=np.zeros_like(made.rest))
            return
        self.editor.rebuild(structure)

    def _become(self, body: LatticeBody) -> None:
        body.topology_version = self.body.topology_version
        self.body, self._stable = body, None
        self.fracture = self._criterion()
        self.editor.take(body, self.fracture)

    def resample(self, edge: float, x: Array, v: Array, free: BoolArray) -> None:
        """Go on with elements of ``edge`` [m]; x, v (n, 3): where the present ones are and how fast; free
        (n,): whether they may move."""
        old = self.body
        refuse_edited(old)
        made = resampled_structure(old.structure, self._first, edge)
        way = interpolation(made, old)
        new = LatticeBody(made, self.material, old.model)
        carry_over(old, new, way)
        strength = self.fracture.strength if isinstance(self.fracture, StressFracture) else None
        self._become(new)
        if isinstance(self.fracture, StressFracture) and strength is not None:
            self.fracture.set_strength(np.ones(len(made.rest), bool), strength[way.home])
        place, every = way.positions(x), element_stiffness(new)
        place = smoothed(place, free[way.home], every, self.energy, self.add_elastic_forces)
        self._resampling = continued_motion(old, new.structure, way, place, x, v, free)
        new.topology_version += 1

    def strain_variation(self, x: Array) -> float:
        """How much the strain changes from one element to the next."""
        return strain_variation(self.body, x)

    def clamp_face(self, rows: IntArray, distance: float, outward: Array) -> None:
        """Let prescribed elements ``rows`` stand for a face ``distance`` spacings beyond their centres; not
        where the body breaks or flows, which goes by the strains of single connections."""
        if self.fracture is None and self.body.flow is None and self.body.model.rule == "calibrated":
            self.body.lengthen_spans(rows, distance)
            self.body.clamped.append((rows, distance * self.body.structure.spacing * outward))

    def contact_surface(self) -> ContactSurface:
        """Elements are balls that touch each other at rest."""
        return ContactSurface(0.5 * self.body.structure.spacing, self.body.friction, self.body.roughness)

    # ------------------------------------------------------------------------------------- forces

    def add_elastic_forces(self, x: Array, out: Array) -> None:
        own = self.body.connections
        if own.blocks is not None:
            own.loops.add_forces(x, out)
        if self.body.volume_cells is not None:
            self.body.volume_cells.add_forces(x, out)
        self.body.softening.add_forces(x, out)

    def add_damping_forces(self, x: Array, v: Array, out: Array) -> None:
        own = self.body.connections
        if own.blocks is not None:
            own.loops.add_damping(self.body.damping_time, x, v, out, own.damped)
        if self.body.volume_cells is not None:
            self.body.volume_cells.add_damping(self.body.damping_time, x, v, out)
        self.body.softening.add_damping(self.body.damping_time, x, v, out)

    def energy(self, x: Array) -> float:
        """``sum k (l - L)^2 / 2``, and that of the cells [J]."""
        own, cells = self.body.connections, self.body.volume_cells
        found = 0.0 if own.blocks is None else own.loops.energy(x)
        found += self.body.softening.energy(x)
        return found if cells is None else found + cells.energy(x)

    def add_forces_between(self, before: Array, after: Array, out: Array) -> None:
        s = self.body.connections.blocks
        if s is not None:
            energy_momentum.spring_forces_between[s.parallel](
                s.starts, s.low, s.offset, s.index, self.body.connections.rest, before, after, s.buffer
            )
            s.add_to(out)
        if self.body.volume_cells is not None:
            self.body.volume_cells.add_forces_between(before, after, out)
        self.body.softening.add_forces_between(before, after, out)

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        if self.body.connections.blocks is not None:
            self.body.connections.loops.add_product(x, dx, out)
        if self.body.volume_cells is not None:
            self.body.volume_cells.add_product(x, dx, out)
        self.body.softening.add_product(x, dx, out)

    def rest_stiffness(self) -> "bsr_array":
        """The stiffness matrix at rest (3n, 3n) [N/m], scipy BSR with 3x3 blocks."""
        own, cells = self.body.connections, self.body.volume_cells
        stiffness = np.where(own.intact, own.own, 0.0)
        stiffness[self.body.softening.which] *= 1.0 - self.body.softening.damage
        found = spring_stiffness(self.body.reference, own.edges, stiffness)
        if cells is None or cells.bulk == 0.0:
            return found
        both: bsr_array = (found + cells.stiffness(self.body.reference)).tobsr((3, 3))
        return both

    def stable_step(self) -> StableStep:
        if self.body.connections.blocks is None:
            return StableStep(float("inf"), "a lone element has no stiffness")
        body, key = self.body, self._stable_key()
        if self._stable is None or self._stable[0] != key:
            limit = explicit_limit(self, replace(body.structure, rest=body.reference), body.damping_time)
            if self.fracture is not None:
                reason = f"{limit.reason}; half of it, as what breaks frees what the scheme's energy hides"
                limit = StableStep(0.5 * limit.seconds, reason)
            self._stable = key, limit
        return self._stable[1]

    def _stable_key(self) -> tuple[float, int]:
        """What the stable step is measured for: the damping time, and how often elements were added. Fewer
        elements or connections are no stiffer."""
        return self.body.damping_time, len(self.body.origin.growths)

    def section_force(self, x: Array, above: BoolArray) -> dict[str, tuple[Array, float]]:
        """Forces of the connections, and of the cells, with ends on both sides of a cut."""
        own, whole, cells = self.body.connections, self.body.connections.intact, self.body.volume_cells
        stiffness, soft = own.own.copy(), self.body.softening
        stiffness[soft.which] = soft.present_stiffness(x)
        force, sizes = spring_resultant(x, own.edges[whole], own.lengths[whole], stiffness[whole], above)
        if cells is not None:
            more, more_sizes = cells.resultant(x, above)
            force, sizes = force + more, sizes + more_sizes
        return {"elastic": (force, sizes)}

    # -------------------------------------------------------------------------- strain and fields

    def strains(self, x: Array) -> Array:
        """Least-squares strains of all elements (n, 6), in the axes of the reference."""
        return self.body.strains(x)

    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, FieldData]:
        body = self.body
        return element_fields(body.strains(x), (body.lam, body.mu), body.connections, names)

    # --------------------------------------------------------------------- plastic flow and fracture

    def after_step(self, time: float, dt: float, x: Array, v: Array) -> bool:
        """Let connections flow, soften and break; True if the forces changed."""
        changed = self._flow(dt, x)
        return (self.fracture is not None and self._break(time, x)) or changed

    def _break(self, time: float, x: Array) -> bool:
        """Let connections soften and break; what they stored less afterwards is energy of fracture."""
        assert self.fracture is not None
        body, soft = self.body, self.body.softening
        before = soft.energy(x)
        grown = soft.advance(x)
        damaged = soft.which
        self._fracture_energy += before - soft.energy(x)
        broken = self.fracture.step(time, x)
        if len(broken):
            self._fracture_energy += body.connection_energy(broken[body.connections.bearing[broken]], x)
            body.break_connections(broken)
        if grown or len(broken):
            self._fracture_energy += body.damage_cells(np.union1d(damaged, broken), x)
        return grown or len(broken) > 0

    def report_energy(self, totals: EnergyTotals) -> None:
        """Hand over what plastic flow and fracture took since the last call."""
        totals.fracture += self._fracture_energy
        totals.plastic += self._plastic_heat
        self._fracture_energy = self._plastic_heat = 0.0

    def fracture_statistics(self) -> FractureStatistics:
        from pliant.mesh.topology import components

        own, body = self.connections, self.body
        pieces = components(own.count, own.edges[own.intact])[0]
        return FractureStatistics(pieces, body.crack_area, len(np.unique(own.edges[~own.intact])))

    def _flow(self, dt: float, x: Array) -> bool:
        """Let elements flow; what their connections stored less afterwards is plastic heat."""
        heat = None if self.body.flow is None else self.body.flow.step(dt, x)
        self._plastic_heat += heat or 0.0
        return heat is not None

    # ----------------------------------------------------------------------------------- restart

    def state(self) -> dict[str, AnyArray]:
        found = self.body.state()
        if self.body.altered and self._stable is not None and self._stable[0][1] == self._stable_key()[1]:
            found["stable"] = np.array([self._stable[0][0], self._stable[1].seconds])
        return found | self.editor.state() | (self.fracture.state() if self.fracture else {})

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.body.restore(state)
        self.editor.restore(state)
        if "stable" in state:  # measured when elements were added, maybe before others broke
            damping, seconds = (float(value) for value in state["stable"])
            limit = StableStep(seconds, "highest frequency when elements were added")
            self._stable = (damping, self._stable_key()[1]), limit
        if self.fracture:
            self.fracture.restore(state)


def element_fields(
    strain: Array, lame: tuple[float, float], own: SpringNetwork, names: Sequence[str]
) -> dict[str, FieldData]:
    """Fields per element from its strain (n, 6): ``sigma = 2 mu e + lambda tr e``.

    strain: equivalent strain, 2/3 of the von Mises norm; stress: von Mises [Pa]; stress-tensor (n, 3, 3) in
    the axes of the rest shape; principal (n, 3), descending; damage: share of broken connections; plastic:
    mean size of the plastic strain of its connections.
    """
    xx, yy, zz, yz, xz, xy = strain.T
    e = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=1).reshape(-1, 3, 3)
    lam, mu = lame
    sigma = 2.0 * mu * e + lam * np.trace(e, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    found = stress_fields(sigma, names, "particle")
    if "strain" in names:
        found["strain"] = FieldData(equivalent(e))
    if "damage" in names:
        found["damage"] = FieldData(_mean_over(own, (~own.intact).astype(float)))
    if "plastic" in names:
        found["plastic"] = FieldData(_mean_over(own, np.abs(own.lengths / own.born - 1.0)))
    return found


def _mean_over(own: SpringNetwork, values: Array) -> Array:
    """Mean of a value per connection over each element's connections (n,)."""
    ends, n = own.edges.T.ravel(), own.count
    total = np.bincount(ends, np.concatenate([values, values]), minlength=n)
    mean: Array = total / np.maximum(np.bincount(ends, minlength=n), 1)
    return mean
