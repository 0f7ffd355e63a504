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
    ContactSurface,
    Cuttable,
    Damped,
    EnergyKeeping,
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
from pliant.models.multires import element_kernels, level_kernels, motion_kernels
from pliant.models.multires.cut_transfer import continued_after_cut
from pliant.models.multires.cutting import MeshCutting
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.reduced_body import ReducedBody
from pliant.models.multires.work_budget import WorkBudget
from pliant.models.tets import fields
from pliant.models.tets.fields import crossing, resultant

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial
    from pliant.models.multires.model import Multires

READ_LOADS = 0.6  # of the stable step: the scene takes 0.8 of this, which is a tick
REFINE_EVERY = 1.0 / 125.0  # levels change at most this often [s]


class MultiresMechanics(Mechanics):
    """The body as the simulation sees it; what is simulated is its ``ReducedBody``.

    The body's particles are the nodes of the finest level; where that is not simulated they follow coarser
    ones. ``add_forces`` and ``energy`` are those of the finest mesh at given positions."""

    capabilities = frozenset(
        {SelfStepping, EnergyKeeping, StoredEnergy, Damped, SectionForce, Cuttable, ChangingTopology}
    )
    inversion_safe = True
    checks_steps = True
    recorded = ("level", "eta")
    field_names = (*fields.NAMES, "level", "eta")

    def __init__(self, structure: Structure, material: "ResolvedMaterial", model: "Multires") -> None:
        self.material, self.model = material, model
        self.damping_time = material.damping or 0.0
        self.cutting = MeshCutting(structure, structure.carrier)
        self.topology_version, self.parents = 0, np.arange(len(structure.rest))
        self.budget = WorkBudget(model, self.diagnostics)
        self._set_structure(structure)
        self._since_refinement, self._frame_seconds = np.inf, 0.0
        self.refused = 0  # nodes that the budget kept from splitting
        self.change_seconds = 0.0  # of the last step, for choosing and changing levels
        self.work: IntArray = np.zeros(self.hierarchy.count, np.int64)  # node updates of the last step
        self._restored_fields: dict[str, Array] | None = None  # of a recorded frame
        count = self.hierarchy.count
        self.series_names = (
            "load", "refused", "updates", "seconds", "ticks", "changes", "denied", "repaid",
            *(f"active.{k}" for k in range(count)), *(f"work.{k}" for k in range(count)),
        )  # fmt: skip
        self._tell_levels()

    def _set_structure(self, structure: Structure) -> None:
        self.structure = structure
        self.body = ReducedBody(structure, self.material, self.model, self.diagnostics)
        rest = structure.rest
        self._written: Array = np.hstack([rest, np.zeros_like(rest)])  # x and v at the end of the last step
        self._every = np.arange(len(self.hierarchy.mesh.tets))

    @property
    def hierarchy(self) -> Hierarchy:
        """The levels of the body as it is now."""
        return self.body.hierarchy

    @property
    def updates(self) -> int:
        """Node updates of the last step."""
        return int(self.work.sum())

    def _tell_levels(self) -> None:
        """Report the levels that were not made, and pieces that are not connected."""
        h, counts = self.hierarchy, np.diff(self.hierarchy.first)
        if h.count < h.asked:
            made = ", ".join(str(n) for n in counts)
            self.diagnostics.warn(
                f"{h.asked} levels were asked for, and {h.count} made ({made} nodes): a coarser one would "
                "have hardly fewer nodes, or hardly any. A smaller edge leaves room for more"
            )
        number, of = pieces(self.structure.cells["tetra"])
        if number > 1:
            sizes = sorted(np.bincount(of), reverse=True)
            listed = ", ".join(str(size) for size in sizes[:5]) + (", ..." if number > 5 else "")
            self.diagnostics.warn(
                f"the mesh is in {number} pieces that are not connected ({listed} tets): they move apart. "
                'Model key pieces = "joined" joins them; or join them in the surface, or make a body of each'
            )

    # ------------------------------------------------------------------------------- the finest mesh

    def add_elastic_forces(self, x: Array, out: Array) -> None:
        element_kernels.tet_forces(self._every, self.hierarchy.mesh, x, out, False)

    def add_damping_forces(self, x: Array, v: Array, out: Array) -> None:
        element_kernels.tet_products(self._every, self.hierarchy.mesh, x, v, -self.damping_time, out)

    def energy(self, x: Array) -> float:
        return float(element_kernels.tet_energy(self._every, self.hierarchy.mesh, np.ascontiguousarray(x)))

    def section_force(self, x: Array, above: BoolArray) -> dict[str, tuple[Array, float]]:
        mesh = self.hierarchy.mesh
        cut, side = crossing(mesh.tets, above)
        each = np.zeros((len(cut), 4, 3))
        element_kernels.tet_corner_forces(cut, mesh, np.ascontiguousarray(x), each)
        return {"elastic": resultant(each, side)}

    def stable_step(self) -> StableStep:
        """Unlimited: the body takes steps of its own within one of the World's."""
        return StableStep(float("inf"), "levels take steps of their own")

    def stable_step_of_loads(self) -> StableStep:
        """So short that such a step is one tick: loads are then part of the body's own leapfrog."""
        if self.model.steps == "implicit":
            return self.stable_step()
        h = self.hierarchy
        critical = h.critical_step(h.count - 1, np.zeros((len(h.mass), 3), bool))
        beta = self.damping_time
        limit = float(np.sqrt(beta**2 + critical**2) - beta)
        return StableStep(READ_LOADS * limit, f"loads that vary are read once in {READ_LOADS:g} of it")

    def stored(self, x: Array, v: Array) -> tuple[float, float]:
        """Kinetic and elastic energy [J] of what is simulated, with what others have changed since the last
        step; of the finest mesh, before the first step."""
        if not self.body.begun:
            return 0.5 * float(np.sum(self.structure.mass[:, None] * v**2)), self.energy(x)
        return self.body.stored(v - self._written[:, 3:])

    def momenta(self, v: Array) -> tuple[Array, Array] | None:
        return self.body.momenta(v - self._written[:, 3:]) if self.body.begun else None

    def contact_surface(self) -> ContactSurface:
        return ContactSurface(resolves_obstacles=True)

    def scheme_energy(self, external: Array, inverse_mass: Array, dt: float) -> float:
        """None apart: it belongs to the ticks within a step, and is in ``stored``."""
        return 0.0

    # ------------------------------------------------------------------------------------------ steps

    def advance(self, ctx: StepContext) -> None:
        started, body = clock.perf_counter(), self.body
        self._restored_fields = None
        prescribed = ctx.inverse_mass == 0.0
        if not body.begun:
            body.begin(ctx.x, ctx.v, prescribed, ctx.external, ctx.dt)
        else:
            body.set_prescribed(prescribed, ctx.x, ctx.v)
            if not motion_kernels.as_written(ctx.x, ctx.v, self._written):
                x, v = self._written[:, :3], self._written[:, 3:]
                body.take_changes(np.where(prescribed, 0.0, ctx.x - x), np.where(prescribed, 0.0, ctx.v - v))
        self._since_refinement += ctx.dt
        if self.model.detail == "adaptive" and self._since_refinement >= REFINE_EVERY - 1e-9:
            allowed = self.budget.allowed_at(ctx.time)
            least, self.refused = body.refine(ctx, allowed, self._since_refinement)
            self.budget.warn(ctx.time, least, self.refused > 0)
            self._since_refinement = 0.0
        self.change_seconds = clock.perf_counter() - started
        body.advance(ctx, prescribed)
        body.write(prescribed, ctx.x, ctx.v, self._written)
        self.work = body.ticks * body.arrangement.counts
        self.work[-1] -= body.ticks * int((body.pinned & ~self.hierarchy.anchored).sum())
        self._frame_seconds = clock.perf_counter() - started
        taken = self._frame_seconds - self.change_seconds
        self.budget.measure(self.updates, taken, self.change_seconds)

    def finish_step(self, ctx: StepContext) -> None:
        """Take the forces of actions at the end of the step, where these have changed."""
        if (change := self.body.finish(ctx.external, ctx.dt)) is not None:
            change[ctx.inverse_mass == 0.0] = 0.0
            ctx.v[:] += change
            self._written[:, 3:] += change

    def add_internal_forces(self, out: Array) -> None:
        self.body.add_internal_forces(out)

    def add_holding_forces(self, out: Array) -> None:
        """Add the forces on particles that hang on the anchors."""
        self.body.add_holding_forces(out)

    def report_energy(self, totals: EnergyTotals) -> None:
        """Add heat, the work of prescribed motion, and what changes of level took since the last call."""
        self.body.report_energy(totals)

    def replay_parameters(self) -> Table:
        """What a budget in seconds came to: time [s] and node updates a frame."""
        decisions = self.budget.decisions
        return {"decisions": [list(pair) for pair in decisions]} if decisions else {}

    # ------------------------------------------------------------------------------------------- cuts

    def cut(self, x: Array, level: Array) -> bool:
        self._refine_along(level)
        return self._apply_cut(self.cutting.cut(level))

    def mark_cut(self, x: Array, level: Array, past: Array | None = None) -> Array:
        self._refine_along(level)
        self.cutting.mark_cut(level)
        self._apply_cut(True)
        kept = slice(None) if past is None else past[self.parents] <= 0.0
        return np.array(self.structure.rest[kept])

    def open_faces(self, sides: IntArray | None, where: BoolArray | None = None, x: object = None) -> bool:
        if sides is not None:
            corners = self.structure.cells["tetra"]
            low, high = np.full(len(self.structure.rest), np.inf), np.full(len(self.structure.rest), -np.inf)
            np.minimum.at(low, corners, sides[:, None])
            np.maximum.at(high, corners, sides[:, None])
            self.body.simulate(low < high)
        return self._apply_cut(self.cutting.open_faces(sides, where))

    def _refine_along(self, values: Array) -> None:
        """Simulate the particles of tets with ``values`` of both signs, before these are cut."""
        tets = self.structure.cells["tetra"]
        signs = np.sign(values[tets])
        crossed = np.zeros(len(values), bool)
        crossed[tets[signs.min(axis=1) * signs.max(axis=1) <= 0.0].ravel()] = True
        self.body.simulate(crossed)

    def _apply_cut(self, changed: bool) -> bool:
        """If cuts ``changed`` the mesh, continue with the new one; copies of a particle have its values."""
        if not changed:
            return False
        self.parents = self.cutting.parents
        self.topology_version += 1
        structure = self.cutting.cut_structure(self.structure, self.hierarchy.sides)
        self.structure = structure
        self.body = continued_after_cut(self.body, structure, self.parents)
        self._written = self._written[self.parents]
        self._every = np.arange(len(self.hierarchy.mesh.tets))
        return True

    def fracture_statistics(self) -> FractureStatistics:
        return FractureStatistics(pieces(self.structure.cells["tetra"])[0], self.cutting.area(), 0)

    def topology_change(self) -> TopologyChange:
        return TopologyChange(self.structure, self.parents)

    def rebuild(self, structure: Structure) -> None:
        self.cutting = MeshCutting(structure, self.cutting.uncut_carrier)
        self._set_structure(replace(structure, carrier=self.cutting.carrier(structure.spacing)))

    # --------------------------------------------------------------------------- series, fields, state

    def sample_series(self) -> Sequence[float]:
        allowed, body = self.budget.allowed, self.body
        load = 0.0 if not allowed else self.updates / allowed
        levels = np.zeros((2, (len(self.series_names) - 8) // 2))
        if body.begun:  # cuts may leave fewer levels
            levels[0, : len(body.arrangement.counts)] = body.arrangement.counts
            levels[1, : len(self.work)] = self.work
        seconds = self._frame_seconds if self.model.seconds is not None else 0.0
        numbers = (
            self.refused, self.updates, seconds, body.ticks, body.changes, body.denied, body.accounts.repaid,
        )  # fmt: skip
        return [load, *(float(n) for n in numbers), *(float(n) for n in levels.ravel())]

    def particle_levels(self) -> Array:
        """The deepest level that each particle follows (0: the coarsest)."""
        h, depth = self.hierarchy, self.body.arrangement.depth
        own = depth[h.particles].astype(float)
        if h.count == 1:
            return own
        corners, weights = h.nested_corners[h.particles], h.nested_weights[h.particles]
        hanging = np.where(weights != 0.0, depth[corners], 0)
        return np.where(self.body.pinned, hanging.max(axis=1), own)

    def _level_fields(self) -> dict[str, Array]:
        """The level of each particle, and eta of the simulated nodes that it hangs on."""
        h, eta = self.hierarchy, self.body.refinement.eta[:, None] * np.ones(3)
        own = self.body.arrangement.own
        level_kernels.interpolate_all(own, h.nested_corners, h.nested_weights, eta, eta.copy())
        return {"level": self.particle_levels(), "eta": np.ascontiguousarray(eta[h.particles, 0])}

    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, FieldData]:
        """Strains, stresses and the like of the mesh's tets; the level and eta that particles follow."""
        mesh = self.hierarchy.mesh
        lame = np.full(len(mesh.tets), mesh.lam), np.full(len(mesh.tets), mesh.mu)
        wanted = [name for name in names if name in fields.NAMES]
        found = fields.tet_fields(x, self.structure.rest, mesh.tets, lame, wanted)
        if wanted := [name for name in self.recorded if name in names]:
            values = self._restored_fields or self._level_fields()
            found |= {name: FieldData(values[name]) for name in wanted}
        return found

    def state(self) -> dict[str, AnyArray]:
        numbers = [self._since_refinement, self._frame_seconds, self.refused, *self.work]
        return {
            "x": np.ascontiguousarray(self._written[:, :3]),
            "v": np.ascontiguousarray(self._written[:, 3:]),
            "numbers": np.array(numbers),
            **{name: values.astype(np.float32) for name, values in self._level_fields().items()},
            "topology-version": np.array(self.topology_version),
            **self.budget.state(),
            **self.body.state(),
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.topology_version = int(state["topology-version"])
        self._written = np.hstack([state["x"], state["v"]])
        self._since_refinement, self._frame_seconds, refused, *work = (float(n) for n in state["numbers"])
        self.refused, self.work = int(refused), np.array(work, np.int64)
        self._restored_fields = {name: np.array(state[name]) for name in self.recorded}
        self.budget.restore(state)
        self.body.restore(state)
