"""The multiresolution model at work on one body."""

import time as clock
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray
from pliant.interfaces import (
    ChangingTopology,
    Cuttable,
    Damped,
    EnergyTotals,
    FieldData,
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
from pliant.models.multires import contact_input, particle_output, refinement_kernels, transfer_kernels
from pliant.models.multires.cutting import LevelCutting
from pliant.models.multires.finest_mesh import FinestMesh
from pliant.models.multires.galerkin import Galerkin
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.level_cuts import LevelCuts
from pliant.models.multires.level_state import Coupling, LevelState, flagged
from pliant.models.multires.levels import OPERATORS
from pliant.models.multires.prescribed_nodes import PrescribedNodes
from pliant.models.multires.refinement import Refinement
from pliant.models.multires.schwarz import Schwarz
from pliant.models.multires.work_budget import WorkBudget
from pliant.models.tets import fields

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.multires.model import Multires

ADAPT_EVERY = 1.0 / 125.0  # levels change at most this often [s]


class MultiresMechanics(FinestMesh, LevelCutting, Mechanics):
    """Levels, their motion, and which of them is simulated where.

    The body's particles are the nodes of the finest level; where that is not simulated they follow coarser
    ones. ``add_forces`` and ``energy`` are those of the finest mesh at given positions; the body moves by
    ``advance``.
    """

    capabilities = frozenset({SelfStepping, StoredEnergy, Damped, SectionForce, Cuttable, ChangingTopology})
    inversion_safe = True
    recorded = ("level", "eta")

    def __init__(self, structure: Structure, material: "Material", model: "Multires") -> None:
        self.structure, self.material, self.model = structure, material, model
        self.damping_time = material.damping or 0.0
        self.cuts, self._whole = LevelCuts(structure), structure.carrier
        self.topology_version, self.parents = 0, np.arange(len(structure.rest))
        self._set_up(structure)
        self.split: list[BoolArray] = [flagged(level.count) for level in self.hierarchy.levels]
        self.coupling: Coupling | None = None
        self.kind = model.coupling
        self._last: Array = np.hstack([structure.rest, np.zeros_like(structure.rest)])  # as shown: x, v
        self._external: Array = np.zeros_like(structure.rest)
        self._rearranged = False  # loads have to be shared out again
        self._since, self._frame_seconds = np.inf, 0.0
        self.governor = WorkBudget(model)
        self.updates, self.refused = 0, False
        self._shown: tuple[Array, Array] | None = None  # levels and eta of a recorded frame
        self.field_names = (*fields.NAMES, "level", "eta")
        count = len(self.hierarchy.levels)
        self.series_names = ("load", "refused", "updates", "seconds", *(f"active.{k}" for k in range(count)))

    def _set_up(self, structure: Structure) -> None:
        """Make the levels of a structure."""
        self.structure = structure
        lame = elastic.lame_parameters(self.material.young, self.material.poisson)
        meshes, operator = self.cuts.level_meshes(), OPERATORS[self.model.operator]
        self.hierarchy = Hierarchy(meshes, self.cuts.homes, structure.mass, lame, operator)
        self.motion, self._loaded = LevelState(self.hierarchy), False
        self.adaptation = Refinement(self.hierarchy, self.motion.family, self.model.split)
        self.drives = PrescribedNodes(self.hierarchy)

    def stored(self, x: Array, v: Array) -> tuple[float, float]:
        """Kinetic and elastic energy [J] of what is simulated; of the finest mesh, before it begins.

        What others did to the particles since they were shown is not simulated yet: it counts as it would at
        the finest level.
        """
        if self.coupling is None:
            return self.kinetic(v), self.energy(x)
        kinetic, elastic = self.coupling.energy()
        places, speeds = self._last[:, :3], self._last[:, 3:]
        if not np.array_equal(v, speeds):
            kinetic += self.kinetic(v) - self.kinetic(speeds)
        if not np.array_equal(x, places):
            elastic += self.energy(x) - self.energy(places)
        return kinetic, elastic

    def stable_step(self) -> StableStep:
        """None: levels take steps of their own within one of the World's."""
        return StableStep(float("inf"), "levels take steps of their own")

    # ------------------------------------------------------------------------------------------ steps

    def couple(self, kind: str) -> None:
        """Begin with a coupling; all levels are given the values that they have now."""
        self.kind, self.adaptation.whole = kind, kind == "schwarz"
        if kind == "galerkin":
            self.coupling = Galerkin(self.hierarchy, self.motion, self.damping_time)
        else:
            printed = self.model.order == "debunne"
            self.coupling = Schwarz(self.hierarchy, self.motion, self.damping_time, printed)
        self.coupling.arrange(self.split)
        self.coupling.weigh()
        self._rearranged = True

    def report_energy(self, totals: EnergyTotals) -> None:
        """Hand the heat of internal damping since the last call to the ledger."""
        if self.coupling is not None and len(self.coupling.heat):
            totals.dissipated += float(self.coupling.heat[0])
            self.coupling.heat[0] = 0.0

    def _begin(self, v: Array, inverse_mass: Array, damped: bool) -> None:
        held, lossy = bool((inverse_mass == 0.0).any()), damped or self.damping_time > 0.0
        ghosts = (held and lossy) or self.model.order == "debunne"
        kind = self.kind if self.kind != "auto" else "schwarz" if ghosts else "galerkin"
        if self.model.detail == "finest":
            self.split = [np.ones(level.count, bool) for level in self.hierarchy.levels]
            self.split[-1][:] = False
        self.couple(kind)
        self.motion.v[-1][:] = v
        for k in range(len(self.hierarchy.links) - 1, -1, -1):
            self.motion.pull(k, np.arange(self.hierarchy.levels[k].count))
        self._last[:, 3:] = v

    def advance(self, ctx: StepContext) -> None:
        time, dt, x, v, external = ctx.time, ctx.dt, ctx.x, ctx.v, ctx.external
        started, fresh = clock.perf_counter(), self.coupling is None
        self._shown = None
        if self.coupling is None:
            self._begin(v, ctx.inverse_mass, ctx.damped)
        assert self.coupling is not None
        if ctx.keep_heat and not len(self.coupling.heat):
            self.coupling.heat = np.zeros(1)
        if self.drives.hold(ctx.inverse_mass, self.motion) or self._rearranged:
            self.coupling.weigh()
        pushed = contact_input.ExternalChange.since(self._last, x, v, self.drives.driven[-1])
        if len(pushed.rows):
            contact_input.apply_external_changes(pushed, self.structure.mass, self.motion, self.coupling)
        counts = self.counts(dt)
        self._since += dt
        if self.model.detail == "adaptive" and self._since >= ADAPT_EVERY - 1e-9:
            self._adapt(ctx, counts)
            self._since = 0.0
        if not np.array_equal(external, self._external):
            self._external, self._rearranged = external.copy(), True
        if self._rearranged:
            self._rearranged = False
            self._share_loads()
        if fresh and not self.coupling.synchronous:  # so constant loads move bodies exactly from the start
            for k, count in enumerate(counts):
                self.motion.v[k] -= 0.5 * dt / count * self.motion.load[k] * self.motion.inverse[k]
        self.drives.lead(x, dt, self.motion)
        near = contact_input.nearby_obstacles(ctx.obstacles, self.motion, self.coupling, time, dt)
        self.coupling.advance(time, dt, counts, near)
        self.coupling.fill()
        self._show(x, v)
        active = [len(nodes) for nodes in self.coupling.active]
        self.updates = sum(count * nodes for count, nodes in zip(counts, active, strict=True))
        self._frame_seconds = clock.perf_counter() - started
        self.governor.measure(self.updates, self._frame_seconds)

    def _share_loads(self) -> None:
        """Hand what acts on particles to simulated nodes."""
        assert self.coupling is not None
        loaded = bool(self._external.any())
        if loaded or self._loaded:
            self.motion.take_load(self.coupling.share(self._external))
        self._loaded = loaded

    def counts(self, dt: float) -> list[int]:
        """Steps of each level within ``dt``: powers of two, at least as many as the coarser level's."""
        assert self.coupling is not None
        found, least = [], 0
        for limit in self.coupling.limits():
            power = max(least, int(np.ceil(np.log2(max(dt / limit, 1.0)) - 1e-9)))
            found.append(2**power)
            least = power
        return found

    def _show(self, x: Array, v: Array) -> None:
        assert self.coupling is not None
        d, speed, links = self.motion.d, self.motion.v, self.hierarchy.links
        parents = (
            (links[-1].corners, links[-1].weights) if links else (np.zeros((0, 4), int), np.zeros((0, 4)))
        )
        coarse, own = (d[-2:][0], speed[-2:][0]), (d[-1], speed[-1])
        hanging = (self.coupling.hanging[-1], *parents)
        particle_output.write_particles(
            hanging, coarse, own, self.structure.rest, self.drives.driven[-1], x, v, self._last
        )

    # -------------------------------------------------------------------------------------- adaptation

    def _adapt(self, ctx: StepContext, counts: list[int]) -> None:
        assert self.coupling is not None
        a, m = self.adaptation, self.motion
        a.measure(m, self.coupling)
        away = a.near(m, ctx.obstacles, ctx.time + ctx.dt)
        held = self.drives.uncaught
        if self.cuts.any:
            held = [flags | along for flags, along in zip(held, self.cuts.touched(), strict=False)]
        wanted, urgency = a.choose(self.split, away, held)
        split, self.refused = a.within(wanted, urgency, counts, self.governor.allowed_at(ctx.time))
        self.governor.warn(ctx.time, counts[0] * self.hierarchy.levels[0].count, self.refused)
        self.set_split(split)

    def set_split(self, split: list[BoolArray]) -> None:
        """Take over split flags; newborn nodes take displacement and velocity from the coarser level."""
        assert self.coupling is not None
        if all(np.array_equal(a, b) for a, b in zip(split, self.split, strict=True)):
            return
        before, momentum = self.split, None if self.drives.any else self.coupling.momenta()[0]
        energy = sum(self.coupling.energy()) if len(self.coupling.heat) else 0.0
        self.split = split
        for k, link in enumerate(self.hierarchy.links):
            fresh = np.flatnonzero(split[k] & ~before[k])
            born = refinement_kernels.children_of(fresh, link.children_first, link.children)
            self.drives.change(k, np.flatnonzero(split[k] != before[k]))
            self.drives.change(k + 1, born)
            d, v = self.motion.d, self.motion.v
            if self.kind == "schwarz":
                transfer_kernels.interpolate(born, link.push.table, d[k], v[k], d[k + 1], v[k + 1])
        self.coupling.arrange(split)
        self.coupling.weigh()
        if momentum is not None:
            self.coupling.keep_momentum(momentum)
        if len(self.coupling.heat):  # what it takes or gives: another mesh has another stiffness
            self.coupling.surround()
            self.coupling.heat[0] += energy - sum(self.coupling.energy())
        self._rearranged = True

    def topology_change(self) -> TopologyChange:
        """The latest change: structure, and what its particles continue."""
        return TopologyChange(self.structure, self.parents)

    def replay_parameters(self) -> dict[str, Any]:
        """What a budget in seconds came to: time [s] and node updates a frame."""
        decisions = self.governor.decisions
        return {"decisions": [list(pair) for pair in decisions]} if decisions else {}

    def dissipation(self, x: Array, v: Array) -> float:
        """Zero: the heat of damping is counted within the local steps, see ``report_energy``."""
        return 0.0

    @property
    def warnings(self) -> list[str]:  # type: ignore[override]
        return self.governor.warnings

    # ------------------------------------------------------------------- reactions, series, fields, state

    def finish_step(self, ctx: StepContext) -> None:
        """Nothing: ``advance`` takes the whole step."""

    def add_internal_forces(self, out: Array) -> None:
        if self.coupling is not None and self.drives.any:
            held = self.drives.held(self.coupling.active)
            self.coupling.reactions(held)
            self.drives.add_reactions(held, self.motion, self._external if self._loaded else None, out)

    def sample_series(self) -> Sequence[float]:
        budget = self.governor.allowed
        load = 0.0 if not budget else self.updates / budget
        active = [0] * len(self.split) if self.coupling is None else [len(a) for a in self.coupling.active]
        seconds = self._frame_seconds if self.model.seconds is not None else 0.0
        return [load, float(self.refused), float(self.updates), seconds, *(float(n) for n in active)]

    def levels_shown(self) -> Array:
        """The level that each particle follows (0: the coarsest)."""
        levels = [np.full(level.count, float(k)) for k, level in enumerate(self.hierarchy.levels)]
        return self._followed(levels)

    def jumps_shown(self) -> Array:
        """eta of the simulated node that each particle follows."""
        return self._followed(self.adaptation.eta)

    def _followed(self, values: list[Array]) -> Array:
        """Values of nodes, as particles show them that follow these."""
        found = values[0]
        for k, link in enumerate(self.hierarchy.links):
            found = np.where(self.split[k][link.parent], values[k + 1], found[link.parent])
        return found

    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, FieldData]:
        found = self.tet_fields(x, [name for name in names if name in fields.NAMES])
        for name, values in zip(self.recorded, self._shown or (None, None), strict=True):
            if name in names:
                made = self.levels_shown if name == "level" else self.jumps_shown
                found[name] = FieldData(made() if values is None else values)
        return found

    def state(self) -> dict[str, AnyArray]:
        m = self.motion
        found: dict[str, AnyArray] = {
            "x": np.ascontiguousarray(self._last[:, :3]),
            "v": np.ascontiguousarray(self._last[:, 3:]),
            "external": self._external,
            "numbers": np.array([self._since, self._frame_seconds, self.updates, self.refused]),
            "heat": np.zeros(0) if self.coupling is None else self.coupling.heat,
            "left-over": np.zeros(3) if self.coupling is None else self.coupling.left_over,
            "kind": np.array({"auto": 0, "schwarz": 1, "galerkin": 2}[self.kind]),
            "begun": np.array(self.coupling is not None),
            "level": self.levels_shown().astype(np.float32),
            "eta": self.jumps_shown().astype(np.float32),
            "topology-version": np.array(self.topology_version),
        }
        found |= self.drives.state() | self.governor.state()
        for k in range(len(m.d)):
            found |= {f"d{k}": m.d[k], f"v{k}": m.v[k], f"f{k}": m.f[k], f"split{k}": self.split[k]}
            found[f"eta{k}"] = self.adaptation.eta[k]
        return found

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        m, self.topology_version = self.motion, int(state["topology-version"])
        for k in range(len(m.d)):
            m.d[k][:], m.v[k][:], m.f[k][:] = state[f"d{k}"], state[f"v{k}"], state[f"f{k}"]
            self.split[k] = np.array(state[f"split{k}"], bool)
        self.adaptation.take([state[f"eta{k}"] for k in range(len(m.d))])
        self._last = np.hstack([state["x"], state["v"]])
        self._external = np.array(state["external"])
        self._since, self._frame_seconds, updates, refused = (float(n) for n in state["numbers"])
        self.governor.restore(state)
        self.updates, self.refused = int(updates), bool(refused)
        self._shown = (np.array(state["level"]), np.array(state["eta"]))
        self.drives.restore(state, m)
        if bool(state["begun"]):
            self.couple(("auto", "schwarz", "galerkin")[int(state["kind"])])
            assert self.coupling is not None
            self.coupling.heat = np.array(state["heat"])
            self.coupling.left_over = np.array(state["left-over"])
            self._share_loads()
