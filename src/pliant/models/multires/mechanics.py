"""The runtime of the multiresolution model on one body."""

import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.tables import Table
from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.fracture.tet_topology import pieces
from pliant.interfaces import (
    ChangingTopology,
    Cuttable,
    Damped,
    EnergyTotals,
    FieldData,
    FractureStatistics,
    Mechanics,
    SectionForce,
    SelfStepping,
    StableStep,
    StepContext,
    StoredEnergy,
    Structure,
    TopologyChange,
)
from pliant.materials import elastic
from pliant.models.multires import particle_output, refinement_kernels
from pliant.models.multires.contact_input import ExternalChange, NearbyObstacles
from pliant.models.multires.coupling import Coupling
from pliant.models.multires.cutting import LevelCutting, flag_crossed, restrict_to_levels
from pliant.models.multires.finest_mesh import FinestMesh
from pliant.models.multires.galerkin import Galerkin
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.level_state import LevelState, flagged
from pliant.models.multires.levels import OPERATORS
from pliant.models.multires.prescribed_nodes import PrescribedNodes
from pliant.models.multires.refinement import Refinement
from pliant.models.multires.schwarz import Schwarz
from pliant.models.multires.work_budget import WorkBudget
from pliant.models.tets import fields

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial
    from pliant.models.multires.model import Multires

REFINE_EVERY = 1.0 / 125.0  # levels change at most this often [s]
KINDS = ("auto", "schwarz", "galerkin")


class MultiresMechanics(Mechanics):
    """Levels, their motion, and which of them is simulated where.

    The body's particles are the nodes of the finest level; where that is not simulated they follow coarser
    ones. ``add_forces`` and ``energy`` are those of the finest mesh at given positions; the body moves by
    ``advance``. split: flags of each level's nodes that are replaced by finer ones.
    """

    capabilities = frozenset({SelfStepping, StoredEnergy, Damped, SectionForce, Cuttable, ChangingTopology})
    inversion_safe = True
    recorded = ("level", "eta")
    field_names = (*fields.NAMES, "level", "eta")

    def __init__(self, structure: Structure, material: "ResolvedMaterial", model: "Multires") -> None:
        self.material, self.model = material, model
        self.damping_time = material.damping or 0.0
        self.cutting = LevelCutting(structure, structure.carrier)
        self.topology_version, self.parents = 0, np.arange(len(structure.rest))
        self.coupling: Coupling | None = None
        self.coupling_kind: str = model.coupling
        self._set_structure(structure)
        self._reset_particles()
        self._since_refinement, self._frame_seconds = np.inf, 0.0
        self.budget = WorkBudget(model, self.diagnostics)
        self.updates, self.refused = 0, False
        self._restored_fields: dict[str, Array] | None = None  # of a recorded frame
        count = len(self.hierarchy.levels)
        self.series_names = ("load", "refused", "updates", "seconds", *(f"active.{k}" for k in range(count)))

    def _set_structure(self, structure: Structure) -> None:
        """Build the levels of a structure."""
        self.structure = structure
        lame = elastic.lame_parameters(self.material.young, self.material.poisson)
        meshes, operator = self.cutting.level_meshes(), OPERATORS[self.model.operator]
        self.hierarchy = Hierarchy(meshes, self.cutting.containment, structure.mass, lame, operator)
        self.finest = FinestMesh(self.hierarchy.levels[-1])
        self.motion = LevelState(self.hierarchy)
        self.refinement = Refinement(self.motion, self.model.split)
        self.prescribed = PrescribedNodes(self.hierarchy)
        self._loaded = self._loads_stale = False

    def _reset_particles(self) -> None:
        rest = self.structure.rest
        self.split: list[BoolArray] = [flagged(level.count) for level in self.hierarchy.levels]
        self._written: Array = np.hstack([rest, np.zeros_like(rest)])  # x and v at the end of the last step
        self._external: Array = np.zeros_like(rest)
        self._level_loss = 0.0  # energy that changes of level took since the last report [J]

    # ------------------------------------------------------------------------------- the finest mesh

    def add_elastic_forces(self, x: Array, out: Array) -> None:
        self.finest.add_forces(x, np.zeros_like(x), 0.0, out)

    def add_damping_forces(self, x: Array, v: Array, out: Array) -> None:
        self.finest.add_forces(x, v, self.damping_time, out)
        self.finest.add_forces(x, v, 0.0, out, -1.0)

    def energy(self, x: Array) -> float:
        return self.finest.energy(x)

    def section_force(self, x: Array, above: BoolArray) -> dict[str, tuple[Array, float]]:
        return self.finest.section_force(x, above)

    def stable_step(self) -> StableStep:
        """Unlimited: levels take steps of their own within one of the World's."""
        return StableStep(float("inf"), "levels take steps of their own")

    def stored(self, x: Array, v: Array) -> tuple[float, float]:
        """Kinetic and elastic energy [J] of what is simulated; of the finest mesh, before the first step.

        Changes of the particles since the last step are not simulated yet: they count as at the finest level.
        """
        finest = self.finest
        if self.coupling is None:
            return finest.kinetic_energy(v), finest.energy(x)
        kinetic, elastic = self.coupling.energy()
        last_x, last_v = self._written[:, :3], self._written[:, 3:]
        if not np.array_equal(v, last_v):
            kinetic += finest.kinetic_energy(v) - finest.kinetic_energy(last_v)
        if not np.array_equal(x, last_x):
            elastic += finest.energy(x) - finest.energy(last_x)
        return kinetic, elastic

    # ------------------------------------------------------------------------------------------ steps

    def set_coupling(self, kind: str) -> Coupling:
        """Couple the levels, which keep the values that they have now."""
        self.coupling_kind = kind
        if kind == "galerkin":
            coupling: Coupling = Galerkin(self.hierarchy, self.motion, self.damping_time)
        else:
            coupling = Schwarz(self.hierarchy, self.motion, self.damping_time, self.model.order == "debunne")
        coupling.set_active(self.split)
        coupling.update_inverse_mass()
        self.coupling, self._loads_stale = coupling, True
        return coupling

    def _initialise(self, v: Array, inverse_mass: Array, damped: bool) -> Coupling:
        """Choose the coupling, and give all levels the velocities of the particles."""
        held, lossy = bool((inverse_mass == 0.0).any()), damped or self.damping_time > 0.0
        ghosts = (held and lossy) or self.model.order == "debunne"
        auto = "schwarz" if ghosts else "galerkin"
        if self.model.detail == "finest":
            self.split = [np.ones(level.count, bool) for level in self.hierarchy.levels]
            self.split[-1][:] = False
        coupling = self.set_coupling(auto if self.coupling_kind == "auto" else self.coupling_kind)
        self.motion.v[-1][:] = v
        for k in range(len(self.hierarchy.transfers) - 1, -1, -1):
            self.motion.restrict(k, np.arange(self.hierarchy.levels[k].count))
        self._written[:, 3:] = v
        return coupling

    def advance(self, ctx: StepContext) -> None:
        started, fresh, motion = clock.perf_counter(), self.coupling is None, self.motion
        time, dt, x, v = ctx.time, ctx.dt, ctx.x, ctx.v
        self._restored_fields = None
        coupling = self.coupling or self._initialise(v, ctx.inverse_mass, ctx.damped)
        if not len(coupling.heat):
            coupling.heat = np.zeros(1)
        if self.prescribed.update(ctx.inverse_mass, motion) or self._loads_stale:
            coupling.update_inverse_mass()
        prescribed = self.prescribed.flags[-1]
        change = ExternalChange.since(self._written, x, v, prescribed)
        if len(change.rows):
            change.apply(self.structure.mass, motion, coupling)
        counts = coupling.substep_counts(dt)
        self._since_refinement += dt
        if self.model.detail == "adaptive" and self._since_refinement >= REFINE_EVERY - 1e-9:
            self._refine(coupling, ctx, counts)
            self._since_refinement = 0.0
        if not np.array_equal(ctx.external, self._external):
            self._external, self._loads_stale = ctx.external.copy(), True
        if self._loads_stale:
            self._loads_stale = False
            self._restrict_loads(coupling)
        if fresh and not coupling.synchronous:  # so constant loads move bodies exactly from the start
            for k, count in enumerate(counts):
                motion.v[k] -= 0.5 * dt / count * motion.load[k] * motion.inverse[k]
        self.prescribed.set_velocities(x, dt, motion)
        near = NearbyObstacles.of(ctx.obstacles, motion, coupling, time, dt)
        coupling.advance(time, dt, counts, near)
        coupling.prolongate()
        particle_output.write_particles(motion, coupling.constrained[-1], prescribed, x, v, self._written)
        self.updates = sum(n * len(nodes) for n, nodes in zip(counts, coupling.active, strict=True))
        self._frame_seconds = clock.perf_counter() - started
        self.budget.measure(self.updates, self._frame_seconds)

    def _restrict_loads(self, coupling: Coupling) -> None:
        """Put the loads on particles on active nodes."""
        loaded = bool(self._external.any())
        if loaded or self._loaded:
            self.motion.stacked[3][:] = coupling.restrict_loads(self._external)
        self._loaded = loaded

    def finish_step(self, ctx: StepContext) -> None:
        """Nothing: ``advance`` takes the whole step."""

    def add_internal_forces(self, out: Array) -> None:
        if self.coupling is not None and self.prescribed.any:
            nodes = self.prescribed.active_prescribed(self.coupling.active)
            self.coupling.update_forces(nodes)
            external = self._external if self._loaded else None
            self.prescribed.add_reactions(nodes, self.motion, external, out)

    def report_energy(self, totals: EnergyTotals) -> None:
        """Add the heat of internal damping and what changes of level took since the last call."""
        totals.levels += self._level_loss
        self._level_loss = 0.0
        if self.coupling is not None and len(self.coupling.heat):
            totals.damping += float(self.coupling.heat[0])
            self.coupling.heat[0] = 0.0

    # -------------------------------------------------------------------------------------- refinement

    def _refine(self, coupling: Coupling, ctx: StepContext, counts: list[int]) -> None:
        refinement = self.refinement
        refinement.measure(self.motion, coupling)
        distance = refinement.obstacle_distance(self.motion, ctx.obstacles, ctx.time + ctx.dt)
        forced = self.prescribed.unresolved
        if self.cutting.any:
            forced = [a | b for a, b in zip(forced, self.cutting.nodes_at_cuts(), strict=False)]
        whole_tets = self.coupling_kind == "schwarz"
        wanted, urgency = refinement.choose(self.split, distance, forced, whole_tets)
        allowed = self.budget.allowed_at(ctx.time)
        split, self.refused = refinement.within_budget(wanted, urgency, counts, allowed)
        self.budget.warn(ctx.time, counts[0] * self.hierarchy.levels[0].count, self.refused)
        self.set_split(split)

    def set_split(self, split: list[BoolArray]) -> None:
        """Set the split flags; newly active nodes take displacement and velocity from the coarser level."""
        coupling = self.coupling
        assert coupling is not None
        if all(np.array_equal(a, b) for a, b in zip(split, self.split, strict=True)):
            return
        before, momentum = self.split, None if self.prescribed.any else coupling.momenta()[0]
        energy = sum(coupling.energy()) if len(coupling.heat) else 0.0
        self.split = split
        for k, transfer in enumerate(self.hierarchy.transfers):
            parents = np.flatnonzero(split[k] & ~before[k])
            born = refinement_kernels.children_of(parents, transfer.children_first, transfer.children)
            self.prescribed.mark_changed(k, np.flatnonzero(split[k] != before[k]))
            self.prescribed.mark_changed(k + 1, born)
            if self.coupling_kind == "schwarz":
                self.motion.prolongate(k + 1, born)
        coupling.set_active(split)
        coupling.update_inverse_mass()
        if momentum is not None:
            coupling.set_momentum(momentum)
        if len(coupling.heat):  # another mesh has another stiffness
            coupling.refresh_ghosts()
            self._level_loss += energy - sum(coupling.energy())
        self._loads_stale = True

    def replay_parameters(self) -> Table:
        """What a budget in seconds came to: time [s] and node updates a frame."""
        decisions = self.budget.decisions
        return {"decisions": [list(pair) for pair in decisions]} if decisions else {}

    # ------------------------------------------------------------------------------------------- cuts

    def cut(self, x: Array, level: Array) -> bool:
        values = restrict_to_levels(self.hierarchy, level)
        self._refine_along(values)
        return self._apply_cut(self.cutting.cut(values))

    def mark_cut(self, x: Array, level: Array, past: Array | None = None) -> Array:
        values = restrict_to_levels(self.hierarchy, level)
        self._refine_along(values)
        self.cutting.mark_cut(values)
        self._apply_cut(True)
        kept = slice(None) if past is None else past[self.parents] <= 0.0
        return np.array(self.structure.rest[kept])

    def open_faces(self, sides: IntArray | None, where: BoolArray | None = None, x: object = None) -> bool:
        return self._apply_cut(self.cutting.open_faces(self.hierarchy, sides, where))

    def _refine_along(self, values: list[Array]) -> None:
        """Let the finest level take over at tets with ``values`` of both signs, before they are cut."""
        if self.coupling is not None and self.model.detail == "adaptive":
            split = [flags.copy() for flags in self.split]
            flag_crossed(self.hierarchy, values, split)
            self.set_split(self.refinement.grade(split))

    def _apply_cut(self, changed: bool) -> bool:
        """If cuts ``changed`` the levels, continue with the new ones; copies of a node have its values."""
        if not changed:
            return False
        before, split, eta, coupling = self.motion, self.split, self.refinement.eta, self.coupling
        mass, parents = self.structure.mass, self.cutting.parents
        momentum = None if coupling is None or self.prescribed.any else coupling.momenta()[0]
        self._set_structure(self.cutting.cut_structure(self.structure))
        self.parents = parents[-1]
        self.topology_version += 1
        self.motion.copy_from(before, parents)
        self.refinement.set_eta([values[own] for values, own in zip(eta, parents, strict=True)])
        self.split = [flags[own] for flags, own in zip(split, parents, strict=True)]
        self._written = self._written[self.parents]
        share = self.structure.mass / mass[self.parents]
        self._external = self._external[self.parents] * share[:, None]
        if coupling is not None:
            now = self.set_coupling(self.coupling_kind)
            now.heat = coupling.heat
            if momentum is not None:
                now.set_momentum(momentum)
        return True

    def fracture_statistics(self) -> FractureStatistics:
        return FractureStatistics(pieces(self.structure.cells["tetra"])[0], self.cutting.area(), 0)

    def topology_change(self) -> TopologyChange:
        return TopologyChange(self.structure, self.parents)

    def rebuild(self, structure: Structure) -> None:
        self.cutting = LevelCutting(structure, self.cutting.uncut_carrier)
        self._set_structure(replace(structure, carrier=self.cutting.carrier(structure.spacing)))
        self._reset_particles()

    # --------------------------------------------------------------------------- series, fields, state

    def sample_series(self) -> Sequence[float]:
        allowed = self.budget.allowed
        load = 0.0 if not allowed else self.updates / allowed
        active = [0] * len(self.split) if self.coupling is None else [len(a) for a in self.coupling.active]
        seconds = self._frame_seconds if self.model.seconds is not None else 0.0
        return [load, float(self.refused), float(self.updates), seconds, *(float(n) for n in active)]

    def particle_levels(self) -> Array:
        """The level that each particle follows (0: the coarsest)."""
        return self._at_particles([np.full(v.count, float(k)) for k, v in enumerate(self.hierarchy.levels)])

    def _level_fields(self) -> dict[str, Array]:
        """The level of each particle, and eta of the active node that it follows."""
        return {"level": self.particle_levels(), "eta": self._at_particles(self.refinement.eta)}

    def _at_particles(self, values: list[Array]) -> Array:
        """Values of the active nodes that particles follow."""
        found = values[0]
        for k, transfer in enumerate(self.hierarchy.transfers):
            parent = transfer.parent_node
            found = np.where(self.split[k][parent], values[k + 1], found[parent])
        return found

    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, FieldData]:
        found = self.finest.fields(x, [name for name in names if name in fields.NAMES])
        if wanted := [name for name in self.recorded if name in names]:
            values = self._restored_fields or self._level_fields()
            found |= {name: FieldData(values[name]) for name in wanted}
        return found

    def state(self) -> dict[str, AnyArray]:
        m, numbers = self.motion, [self._since_refinement, self._frame_seconds, self.updates, self.refused]
        found: dict[str, AnyArray] = {
            "x": np.ascontiguousarray(self._written[:, :3]),
            "v": np.ascontiguousarray(self._written[:, 3:]),
            "external": self._external,
            "numbers": np.array(numbers),
            "heat": np.zeros(0) if self.coupling is None else self.coupling.heat,
            "left-over": np.zeros(3) if self.coupling is None else self.coupling.force_imbalance,
            "kind": np.array(KINDS.index(self.coupling_kind)),
            "begun": np.array(self.coupling is not None),
            **{name: values.astype(np.float32) for name, values in self._level_fields().items()},
            "topology-version": np.array(self.topology_version),
        }
        found |= self.prescribed.state() | self.budget.state()
        for k in range(len(m.d)):
            found |= {f"d{k}": m.d[k], f"v{k}": m.v[k], f"f{k}": m.f[k], f"split{k}": self.split[k]}
            found[f"eta{k}"] = self.refinement.eta[k]
        return found

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        m, self.topology_version = self.motion, int(state["topology-version"])
        for k in range(len(m.d)):
            m.d[k][:], m.v[k][:], m.f[k][:] = state[f"d{k}"], state[f"v{k}"], state[f"f{k}"]
            self.split[k] = np.array(state[f"split{k}"], bool)
        self.refinement.set_eta([state[f"eta{k}"] for k in range(len(m.d))])
        self._written = np.hstack([state["x"], state["v"]])
        self._external = np.array(state["external"])
        self._since_refinement, self._frame_seconds, updates, refused = (float(n) for n in state["numbers"])
        self.budget.restore(state)
        self.updates, self.refused = int(updates), bool(refused)
        self._restored_fields = {name: np.array(state[name]) for name in self.recorded}
        self.prescribed.restore(state, m)
        if bool(state["begun"]):
            coupling = self.set_coupling(KINDS[int(state["kind"])])
            coupling.heat = np.array(state["heat"])
            coupling.force_imbalance = np.array(state["left-over"])
            self._restrict_loads(coupling)
