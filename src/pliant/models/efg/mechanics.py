"""Runtime of the meshless model for one body: forces, stable step, plastic flow, fracture and fields."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.interfaces import (
    ChangingTopology,
    ContactSurface,
    Cuttable,
    Damped,
    ElasticConstraints,
    EnergyTotals,
    FieldData,
    FractureStatistics,
    IncrementalFlow,
    Mechanics,
    SectionForce,
    StableStep,
    StepHook,
    StoredEnergy,
    Structure,
    Tangent,
    TopologyChange,
)
from pliant.materials.constitutive import law_named
from pliant.models.critical_step import explicit_limit
from pliant.models.efg import fields, kernels, mls_kernels
from pliant.models.efg.constraints import PhyxelConstraints
from pliant.models.efg.crack_energy import keep_energy, return_references, stored, unit_references
from pliant.models.efg.fracture import PhyxelChange, PhyxelFracture, check_finite, divided_support
from pliant.models.efg.material_rows import PhyxelShares, material_rows
from pliant.models.efg.measured_step import MeasuredStep
from pliant.models.efg.plasticity import PhyxelPlasticity
from pliant.models.efg.resample import FIRST, MORE, apply_resampling, resample, stretch
from pliant.models.efg.support import MlsSupport, make_support, neighbour_graph, rest_stiffness, supports
from pliant.models.flow_trial import FlowLosses, FlowTrial

if TYPE_CHECKING:
    from scipy.sparse import bsr_array, csr_array

    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.efg.model import Efg


class EfgMechanics(Mechanics):
    """Forces, energy and fields of phyxels; arrays are in the body's own numbering.

    cracking: cracks and cuts of the body; None while nothing can break it and nothing has cut it.
    topology_version rises when who sees whom changes; parents, parent_weights and moved (n, 3) [m] tell how
    the present phyxels follow from those of the version before.
    """

    capabilities = frozenset(
        {StoredEnergy, Damped, Tangent, SectionForce, StepHook, IncrementalFlow, Cuttable, ChangingTopology}
        | {ElasticConstraints}
    )
    field_names = fields.NAMES
    books_fracture = True

    def __init__(self, structure: Structure, material: "Material", model: "Efg") -> None:
        self.structure, self.material, self.model = structure, material, model
        self.components = {ElasticConstraints: PhyxelConstraints(self)}
        self.damping_time = material.damping or 0.0
        self.law = law_named(model.law)
        self.cracking: PhyxelFracture | None = None
        self.constants = self.law.constants(model.law_parameters)
        self.inversion_safe = self.law.safe
        self.volumes = structure.mass / material.density
        self.set_reference(structure.rest)
        self._set_plasticity()
        self._uncut, self.can_crack = structure.carrier, material.strength is not None
        self.topology_version = 0
        self.parent_weights: Array | None = None
        self.moved: Array | None = None
        self.measured_step = MeasuredStep()
        self._start_fracture()

    def set_reference(self, reference: Array) -> None:
        """Count displacements from ``reference`` (n, 3), with the neighbours that phyxels have there."""
        self.reference, self.stiffness_share = reference, np.ones(len(reference))
        if (known := divided_support(self.structure)) is not None:
            self.set_support(known)
            return
        h = supports(reference, self.model, self.structure.spacing)
        self.set_support(make_support(reference, h, self.model.support == "nearest"))

    def _set_plasticity(self) -> None:
        kind = self.model.flow(self.material)
        self.flow, self.plastic = mls_kernels.ELASTIC, np.zeros((1, 9))
        self.plasticity = None if kind is None else PhyxelPlasticity(self, kind)
        self._plastic_heat = self._fracture_energy = 0.0  # since the last report [J]
        self._looked = FIRST
        own = self.plasticity
        self.flow_trial = FlowTrial(own if own and own.variational else None, self._flow)
        self.recorded: tuple[str, ...] = ()
        if self.plasticity is not None:
            self.flow, self.plastic = self.plasticity.flow, self.plasticity.plastic
            self.recorded = self.plasticity.recorded

    def set_support(self, support: MlsSupport) -> None:
        """Take over who sees whom; the hourglass stiffness is that of neighbourhoods without cracks."""
        self.support, n = support, len(self.volumes)
        self.displacement_moments, self.stress_moments = np.zeros((n, 12)), np.zeros((n, 12))
        self.weighted_displacement = np.zeros((n, 3))
        uncracked = support if self.cracking is None else self.cracking.uncracked
        shares = PhyxelShares(self.volumes, self.stiffness_share, self.reference)
        self.material_rows = material_rows(support, uncracked, shares, self.material, self.model)
        self.parallel = len(support.around) >= mls_kernels.PARALLEL_PAIRS

    @property
    def pairs(self) -> tuple[AnyArray, ...]:
        """What every pass over pairs takes first (see ``kernels.py``)."""
        s, moments = self.support, (self.displacement_moments, self.stress_moments)
        return (
            *(s.starts, s.around, s.weight, self.reference, self.material_rows),
            *(*moments, self.weighted_displacement),
        )

    # ---------------------------------------------------------------------------------- forces

    def _run(self, x: Array, forces: bool, energy: bool, out: Array) -> float:
        run = kernels.law_loops(self.law, self.flow).forces[self.parallel]
        total: float = run(*self.pairs, self.constants, self.plastic, x, forces, energy, out)
        return total

    def add_elastic_forces(self, x: Array, out: Array) -> None:
        self.flow_trial.at(x)
        self._run(x, True, False, out)

    def energy(self, x: Array) -> float:
        """Elastic energy [J], that of the hourglass control included; during an implicit solve with the
        potential of the flow."""
        potential = self.flow_trial.at(x)
        return self._run(x, False, True, x) + potential

    def _flow(self, x: Array, dt: float, solved: bool) -> tuple[bool, FlowLosses]:
        assert self.plasticity is not None
        return self.plasticity.step(x, dt, solved)

    def begin_flow(self, dt: float) -> None:
        self.flow_trial.begin(dt)

    def leave_flow(self) -> None:
        self.flow_trial.leave()

    def end_flow(self, x: Array, dt: float) -> None:
        self._plastic_heat += self.flow_trial.end(x, dt)

    def hourglass_energy(self, x: Array) -> float:
        """The part of the energy that keeps motions in check which the fit does not see [J]."""
        return float(stored(self, x).hourglass.sum())

    def gradients(self, x: Array) -> Array:
        """Deformation gradients F of the phyxels, (n, 9), row by row."""
        out = np.empty((len(x), 9))
        kernels.phyxel_gradients(*self.pairs, x, out)
        return out

    # ------------------------------------------------------------------------------- stiffness

    def _add_product(self, x: Array, dx: Array, out: Array, k_share: float) -> None:
        f = self.gradients(x)
        kernels.phyxel_stiffness_product(*self.pairs, self.flow, self.plastic, f, dx, k_share, out)

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        """Add ``K dx``; it leaves out the stiffness that present stresses bring."""
        self._add_product(x, dx, out, 1.0)

    def add_damping_forces(self, x: Array, v: Array, out: Array) -> None:
        self._add_product(x, -self.damping_time * v, out, 0.0)

    def report_energy(self, totals: EnergyTotals) -> None:
        """Add the heat of plastic flow, what resampling took, and what cracks took, since the last call."""
        totals.plastic += self._plastic_heat
        totals.fracture += self._fracture_energy
        self._plastic_heat = self._fracture_energy = 0.0

    def rest_stiffness(self) -> "bsr_array":
        """The stiffness matrix at rest (3n, 3n) [N/m], scipy BSR with 3x3 blocks."""
        return rest_stiffness(self.support, self.reference, self.material_rows)

    def neighbour_graph(self) -> "csr_array":
        """Which phyxels feel each other: those with a neighbour in common; CSR (n, n) without diagonal."""
        return neighbour_graph(self.support)

    def stable_step(self) -> StableStep:
        """That of the rest shape; half of it where the body may flow or break: phyxels come nearer then, and
        neighbourhoods get lopsided. Once it has cracked, what the cracks left."""
        if self.cracking is not None:
            return self.measured_step.look(self, self.topology_version > 0)
        present = replace(self.structure, rest=self.reference)
        limit = explicit_limit(self, present, self.damping_time)
        if self.plasticity is not None and self.plasticity.kind != "small":
            return StableStep(0.5 * limit.seconds, f"{limit.reason}, halved for plastic flow")
        return limit

    # ----------------------------------------------------------------------------------- history

    def after_step(self, time: float, dt: float, x: Array, v: Array) -> bool:
        """Plastic flow and cracks of the step that ended at ``time``; True where they changed the forces."""
        changed = False
        if self.plasticity is not None:
            if not self.flow_trial.take_committed():
                changed, losses = self.plasticity.step(x, dt)
                self._plastic_heat += losses[0]
            version = self.topology_version
            self._plastic_heat += self._resample(time, x)
            changed |= version != self.topology_version
        return self._crack(time, x) or changed

    def _resample(self, time: float, x: Array) -> float:
        """Add and remove phyxels where the body has flowed far; the energy [J] that it took."""
        if not self.model.resample or self.plasticity is None:
            return 0.0
        now = stretch(self.gradients(x))
        if now < self._looked:
            return 0.0
        self._looked = MORE * now
        check_finite(x, time)
        new = resample(x, self.structure, self.support)
        return 0.0 if new is None else apply_resampling(self, new, x)

    def rebuild(self, structure: Structure) -> None:
        """Become the body of ``structure``; ``restore`` brings what else it needs."""
        if len(structure.rest) != len(self.structure.rest):
            self.structure, self.volumes = structure, structure.mass / self.material.density
            self.cracking = None
            self.set_reference(structure.rest)
            self._set_plasticity()
            self._start_fracture()

    def state(self) -> dict[str, AnyArray]:
        own = self.plasticity.state() if self.plasticity is not None else {}
        if self.model.resample or self.cracking is not None:
            own["topology-version"] = np.array(self.topology_version)
        if self.model.resample:
            own["looked"] = np.array(self._looked)
        if self.cracking is not None:
            own |= self.cracking.state()
            if self.topology_version:
                own["stiffness-share"] = self.stiffness_share
                if self.plasticity is None:
                    own["references"] = self.plastic
        return own | self.measured_step.state()

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        if self.plasticity is not None:
            self.plasticity.restore(state)
        if self.model.resample and "looked" in state:
            self.topology_version, self._looked = int(state["topology-version"]), float(state["looked"])
        if "opened" in state:
            self._restore_cracks(state)
            self.measured_step.restore(state)
            if "topology-version" in state:
                self.topology_version = int(state["topology-version"])

    def _restore_cracks(self, state: Mapping[str, AnyArray]) -> None:
        """Take over the cracks of ``state``; a recorded frame has no references and shares."""
        self._apply(self._fracture().restore(state), None)
        if "stiffness-share" in state:
            self.stiffness_share = np.array(state["stiffness-share"])
            if self.plasticity is None:
                self.flow, self.plastic = mls_kernels.LARGE, np.array(state["references"])
            self.set_support(self.support)

    # ---------------------------------------------------------------------------------- fracture

    def _start_fracture(self) -> None:
        """Begin without cracks; cells are made now where the material can break, or when something cuts."""
        self.parents = np.arange(len(self.structure.rest))
        self.cracking = None
        if self.material.strength is not None:
            self._fracture()
            self.recorded = (*self.recorded, "opened")

    def _fracture(self) -> PhyxelFracture:
        if self.cracking is None:
            if self._uncut is None:
                raise IncompatibleError("A body without a surface cannot be cut.")
            if self.plasticity is not None and self.plasticity.kind == "absorb":
                raise IncompatibleError("plasticity = 'absorb' renews neighbours: the body cannot be cut.")
            if self.model.resample:
                raise IncompatibleError("resample = true renews neighbours: the body cannot be cut.")
            self.cracking = PhyxelFracture(
                self.structure, self.support, self._uncut, self.material, self.model.divide
            )
        return self.cracking

    def _crack(self, time: float, x: Array) -> bool:
        """Let the body crack where the stress at ``x`` exceeds the strength; whether it did."""
        if self.cracking is None or not self.cracking.due(time):
            return False
        check_finite(x, time)
        gradients, returned = self.gradients(x), 0.0
        if self.flow == mls_kernels.LARGE and self.plasticity is None:
            self._fracture_energy += (returned := return_references(self, gradients))
        F = gradients.reshape(-1, 3, 3)
        change = self.cracking.crack(time, x, F, *fields.cauchy(self, gradients))
        return self._apply(change, x, F) or returned > 0.0

    def cut(self, x: Array, level: Array) -> bool:
        """Open the body where ``level`` (n,) is zero, through phyxels."""
        F = self.gradients(x).reshape(-1, 3, 3)
        opened, change = self._fracture().cut(level)
        self._apply(change, x, F, reports=False)
        return opened

    def mark_cut(self, x: Array, level: Array, past: Array | None = None) -> Array:
        """Divide the phyxels through which ``level`` (n,) is zero, and remember its two sides; rest positions
        of the phyxels beside it, where ``past`` (n,) is not positive."""
        F = self.gradients(x).reshape(-1, 3, 3)
        beside, change = self._fracture().mark_cut(level, past)
        self._apply(change, x, F)
        return beside

    def open_faces(
        self, sides: IntArray | None, where: BoolArray | None = None, x: Array | None = None
    ) -> bool:
        """Open the body between phyxels of different ``sides`` (n,), or along the marked cut; only among
        ``where`` (n,)."""
        return self._apply(self._fracture().open_faces(sides, where), x, reports=sides is None)

    def _apply(
        self, change: PhyxelChange | None, x: Array | None, F: Array | None = None, reports: bool = True
    ) -> bool:
        """Take over what cracks and cuts have changed, if anything, at ``x`` (n, 3), None at the start of a
        resumed run; F (n, 3, 3): deformation gradients before phyxels were divided. reports: whether the body
        reports the energy that this takes, which actions at an instant book themselves."""
        if change is None:
            return False
        if self.flow == mls_kernels.ELASTIC:
            self.flow, self.plastic = mls_kernels.LARGE, unit_references(len(self.volumes))
        before = None if x is None else stored(self, x)
        whole, new, share = self.structure, change.halves, np.ones(len(change.rest))
        if new is None:
            self.parents, self.moved = np.arange(len(change.rest)), None
        else:
            assert F is not None
            whole, share = change.structure(whole), new.share
            self.volumes, self.reference = change.mass / self.material.density, change.rest
            self.stiffness_share, self.plastic = self.stiffness_share[new.parents], self.plastic[new.parents]
            if self.plasticity is not None:
                self.plasticity.plastic = self.plastic
            self.parents, self.moved = new.parents, np.einsum("nij,nj->ni", F[new.parents], new.offset)
        self.set_support(change.support)
        if before is not None and x is not None:
            place = x[self.parents] if self.moved is None else x[self.parents] + self.moved
            taken, factor = keep_energy(self, before, self.parents, share, place)
            if (factor < 1.0).any():
                self.stiffness_share *= factor
                self.set_support(change.support)
            self._fracture_energy += taken if reports else 0.0
        self.structure = replace(whole, carrier=change.carrier)
        self.topology_version += 1
        return True

    def topology_change(self) -> TopologyChange:
        """The latest change: structure, and what its particles continue."""
        return TopologyChange(self.structure, self.parents, self.parent_weights, self.moved)

    def contact_surface(self) -> ContactSurface:
        """Points without a radius; where the body collides with itself, its pieces do."""
        none = np.zeros(len(self.structure.rest), np.int64)
        return ContactSurface(pieces=none if self.cracking is None else self.cracking.pieces()[1])

    def volume(self, x: Array) -> float | None:
        """Of a body with cracks, ``sum V det F`` [m3]: its surface is cut where it is shown only."""
        if not self.topology_version or self.cracking is None:
            return None
        return float(self.volumes @ np.linalg.det(self.gradients(x).reshape(-1, 3, 3)))

    def fracture_statistics(self) -> FractureStatistics:
        """Pieces, area of cracks and cuts, and the number of faces that cracked."""
        return FractureStatistics(1, 0.0, 0) if self.cracking is None else self.cracking.statistics()

    # ------------------------------------------------------------------------------------ fields

    def section_force(self, x: Array, above: BoolArray) -> dict[str, tuple[Array, float]]:
        """Forces of the pairs that a cut separates."""
        self._run(x, False, False, x)  # leaves Q in stress_moments
        return {"elastic": fields.section_force(self, above)}

    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, FieldData]:
        """Fields per phyxel."""
        return fields.efg_fields(self, x, names)
