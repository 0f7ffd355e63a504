"""Barrier contact of all bodies and obstacles of a World, for implicit integrators."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.contact.barrier import stencil_kernels as kernels
from pliant.contact.barrier.candidates import ContactGeometry
from pliant.contact.barrier.geometry import body_surfaces, obstacle_vertices, pair_tables
from pliant.contact.barrier.potential import ActiveStencils, BarrierPotential, FrictionLag
from pliant.contact.barrier.separation import separate
from pliant.contact.barrier.starts import insets, narrow_reaches, refuse_mesh_overlaps, refuse_overlaps
from pliant.contact.pair_coefficients import check_names
from pliant.core.errors import IncompatibleError
from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.interfaces import ActionRuntime, EnergyTotals, IndexMap

if TYPE_CHECKING:
    from pliant.contact.obstacle import ObstacleRuntime
    from pliant.contact.parameters import Contact
    from pliant.state.contact_impulses import ContactImpulses
    from pliant.state.world import World


@dataclass(frozen=True)
class StageContact:
    """Contact in one stage of a step: the share of the step and the factor with which it acted, what touched,
    its friction, all vertices (v, 3) [m] and the forces on them (v, 3) [N], times the factor."""

    share: float
    factor: float
    active: ActiveStencils
    lag: FrictionLag
    x: Array
    forces: Array


class BarrierContact(ActionRuntime):
    r"""Vertices against triangles and edges against edges, of bodies, within a body and with obstacles.

    A pair that is nearer than d_h stores :math:`m\,k\,d_h^2\,b(d/d_h)`, :math:`b(s) = -(1 - s)^2 \ln s`:
    it grows without bound as the distance goes to zero [LiEtAl2020]_. :math:`d_h = 0.05 (a_i + a_j)` with the
    mean edges a of both surfaces, :math:`k = \min(E_i a_i, E_j a_j)`, m the mollifier of nearly parallel
    edges. Within a body d_h is at most half the distance at rest. Friction is a spring across the normal of
    at most :math:`\mu` times the normal force, whose stretch is kept from step to step.

    Differs from the source: stiffness from the material; friction with a history and an exact cone.
    Integrators evaluate it inside their solves (``integrators/implicit/barrier_stage.py``): it is no force of
    the System.
    """

    stored = "contact"
    implicit_only = True

    def __init__(self, world: "World", contact: "Contact") -> None:
        check_names(world, contact)
        self._check(world, contact)
        self.world, self.contact = world, contact
        self._potential: BarrierPotential | None = None
        self._obstacles: tuple[ObstacleRuntime, ...] = ()
        self._insets: Array = np.zeros(0)
        self._reach: Array | None = None  # of all pairs, as narrowed where bodies touched at the start
        self._heat = self._work = 0.0
        self._last_places: Array | None = None  # of the obstacles, at the end of the last step
        self._restored: Mapping[str, AnyArray] | None = None
        self.held: BoolArray = np.zeros(len(world.bodies), bool)  # bodies that something holds or moves
        self.way: list[Array] | None = None  # places of all particles since the last frame, where recorded
        self.touching = 0  # stencils in contact at the end of the last step
        self.every_obstacle: Callable[[], Sequence[ObstacleRuntime]] = tuple  # acting now or not, in order

    @staticmethod
    def _check(world: "World", contact: "Contact") -> None:
        for part in world.bodies:
            if part.mechanics.can_crack:
                raise IncompatibleError(
                    f"Barrier contact does not follow cracks: body '{part.name}' can break.",
                    hint='Take its strength away, or use [contact] method = "penalty".',
                )
            if part.sticky is not None:
                raise IncompatibleError(
                    "Barrier contact knows no sticky bodies.", hint='Use [contact] method = "penalty".'
                )
        if any(pair.adhesion for pair in contact.pairs):
            raise IncompatibleError(
                "Barrier contact has no adhesion.", hint='Use [contact] method = "penalty".'
            )
        if contact.self_ == "pieces":
            raise IncompatibleError(
                'Barrier contact knows no self = "pieces".', hint="Use self = true or self = false."
            )

    # ------------------------------------------------------------------------------------ geometry

    def potential(self, obstacles: Sequence["ObstacleRuntime"], time: float) -> BarrierPotential:
        """The potential of the bodies and of ``obstacles``, for a step from ``time`` on. Obstacles that join
        the others must not overlap any body."""
        if self._restored is not None:
            self._continue(self._restored)
        if self._potential is None or tuple(obstacles) != self._obstacles:
            self._potential = self._renewed(tuple(obstacles), time)
        return self._potential

    def _build(self, obstacles: tuple["ObstacleRuntime", ...], inset: Array) -> BarrierPotential:
        surfaces = body_surfaces(self.world)
        tables = pair_tables(self.world, self.contact, surfaces, obstacles)
        vertices = obstacle_vertices(obstacles, inset)
        for each in obstacles:
            each.barrier = True
        self._obstacles, self._insets = obstacles, inset
        return BarrierPotential(ContactGeometry(surfaces, vertices, tables, len(self.world.bodies)))

    def _renewed(self, obstacles: tuple["ObstacleRuntime", ...], time: float) -> BarrierPotential:
        """The potential with other obstacles; pairs that were there keep what they had."""
        world, before, old, kept = self.world, self._potential, self._obstacles, self._insets
        if before is None and self.contact.separate:
            surfaces = body_surfaces(world)
            tables = pair_tables(world, self.contact, surfaces, obstacles)
            for text in separate(world, surfaces, tables, obstacles, time, self.held):
                self.diagnostics.note(text)
        inset = insets(world, obstacles, body_surfaces(world), time)
        same = [(k, old.index(each)) for k, each in enumerate(obstacles) if before and each in old]
        for k, was in same:
            inset[k] = kept[was]
        found = self._build(obstacles, inset)
        geometry, many = found.geometry, len(world.bodies)
        known = np.zeros_like(geometry.tables.collides)
        if before is None:
            refuse_overlaps(world, geometry)
            refuse_mesh_overlaps(world, geometry, obstacles, time)
        else:
            pairs = [(k, k) for k in range(many)] + [(many + k, many + was) for k, was in same]
            new, past = (np.array(each) for each in zip(*pairs, strict=True))
            geometry.tables.reach[np.ix_(new, new)] = before.geometry.tables.reach[np.ix_(past, past)]
            known[np.ix_(new, new)] = True
            found.history = before.history
            found.history.forget_from(many)
        self._last_places = None
        x = self.vertices(geometry, world.x, geometry.obstacles.at(obstacles, time))
        for text in narrow_reaches(world, geometry, x, known):
            self.diagnostics.note(text)
        return found

    def _continue(self, state: Mapping[str, AnyArray]) -> None:
        """Go on from a checkpoint."""
        acting = zip(self.every_obstacle(), state["acting"], strict=False)
        found = self._build(tuple(each for each, acts in acting if acts), state["insets"].copy())
        found.geometry.tables.reach[:] = state["reach"]
        found.history.restore(state)
        found.tube.restore(found.geometry, state)
        self._last_places = state["places"].copy()
        self._potential, self._restored = found, None

    def places(self, time: float) -> Array:
        """Where the vertices of the obstacles are at ``time`` (o, 3) [m]."""
        assert self._potential is not None
        return self._potential.geometry.obstacles.at(self._obstacles, time)

    def present_places(self, time: float) -> Array:
        """Where those vertices are at the beginning of a step from ``time`` on."""
        return self.places(time) if self._last_places is None else self._last_places

    @staticmethod
    def vertices(geometry: ContactGeometry, x: Array, places: Array) -> Array:
        """All vertices (v, 3) for particles at ``x``, and those of obstacles at ``places`` (o, 3)."""
        s = geometry.surfaces
        out = np.empty((len(geometry.body), 3))
        kernels.gather(s.first, s.rows, s.weights, x, out)
        out[geometry.count :] = places
        return out

    # ------------------------------------------------------------------------------ end of the step

    def commit(
        self,
        time: float,
        dt: float,
        moved: Array,
        drift: Array,
        stages: Sequence[StageContact],
    ) -> None:
        """Take note of a step that ended at ``time``: ``moved`` (v, 3) [m] of all vertices, ``drift`` (n, 3)
        of all particles; stages: what acted."""
        assert self._potential is not None
        history = self._potential.history
        heat = 0.0
        known, s = self.world.inverse_mass == 0.0, self._potential.geometry.surfaces
        for stage in stages:
            lag = stage.lag
            slip = np.empty_like(lag.force)
            kernels.relative(lag.vertices, lag.w, moved, slip)
            heat -= stage.share * stage.factor * float(np.sum(lag.force * slip))
            on_particles = np.zeros_like(drift)
            own = stage.forces[: self._potential.geometry.count]
            kernels.scatter(s.first, s.rows, s.weights, own, on_particles)
            self._work -= stage.share * float(np.sum((on_particles * drift)[known]))
            self._record(time, dt, moved, stage)
            if self.world.contact_impulses is not None:
                impulses = stage.share * dt * stage.forces[: self._potential.geometry.count]
                kernels.scatter(s.first, s.rows, s.weights, impulses, self.world.contact_impulses.impulse)
                self._measure(self.world.contact_impulses, dt, stage, stage is stages[-1])
        lag = stages[-1].lag
        self._heat += heat - (lag.stored(lag.stretch) - lag.stored(lag.kept))
        final = self._potential.lag(stages[-1].active)
        final.evaluate(moved)
        history.keep(final)
        self.touching = len(stages[-1].active.d)
        self._last_places = self.places(time)

    def _record(self, time: float, dt: float, moved: Array, stage: StageContact) -> None:
        """Hand the impulses on bodies to the obstacles that gave them."""
        geometry = self._potential.geometry if self._potential is not None else None
        assert geometry is not None
        if not len(geometry.obstacles.owner):
            return
        active, lag, span = stage.active, stage.lag, stage.share * stage.factor * dt
        vertices = np.concatenate([active.stencils.vertices, lag.vertices])
        force = np.concatenate([-active.grad, lag.w[:, :, None] * lag.force[:, None, :]])
        kind = geometry.body[vertices]  # (s, 4)
        for k, obstacle in enumerate(self._obstacles):
            own = (kind == geometry.bodies + k).any(axis=1)
            if not own.any():
                continue
            of_bodies = kind[own] < geometry.bodies
            rows, impulse = vertices[own][of_bodies], span * force[own][of_bodies]
            obstacle.record_contact(time, stage.x[rows], impulse, np.zeros(3), 0.0)
            carried = moved[vertices[own][~of_bodies]]
            obstacle.work -= float(np.sum(span * force[own][~of_bodies] * carried)) / dt

    def _measure(self, kept: "ContactImpulses", dt: float, stage: StageContact, last: bool) -> None:
        """Hand the impulses of a stage, vertex by vertex, to ``kept``; which vertices press counts at the
        end of the step."""
        assert self._potential is not None
        if not kept.watches:
            return
        geometry, s = self._potential.geometry, self._potential.geometry.surfaces
        span, lag = stage.share * stage.factor * dt, stage.lag
        across = lag.w[:, :, None] * lag.force[:, None, :]
        for vertices, parts, pressing in (
            (stage.active.stencils.vertices, (-span * stage.active.grad, None), last),
            (lag.vertices, (None, span * across), False),
        ):
            first, second = geometry.body[vertices[:, 0]], geometry.body[vertices[:, 2]]
            for k in range(4):
                at = vertices[:, k]
                mine = geometry.body[at]
                other = np.where(mine == first, second, first)
                normal, side = (np.zeros((len(at), 3)) if part is None else part[:, k] for part in parts)
                for body in np.unique(other):
                    chosen = (other == body) & (mine < geometry.bodies)
                    x, own, i = stage.x[at[chosen]], mine[chosen], at[chosen]
                    rows = [s.rows[s.first[v] : s.first[v + 1]] for v in i] if pressing else None
                    obstacle = body - geometry.bodies
                    giver = self._obstacles[obstacle].name if obstacle >= 0 else np.full(len(i), body)
                    kept.add_between(own, giver, x, normal[chosen], side[chosen], rows, False)

    def rows_in_contact(self, active: ActiveStencils) -> IntArray:
        """Rows of the World whose vertices touch something."""
        assert self._potential is not None
        geometry, s = self._potential.geometry, self._potential.geometry.surfaces
        touching = np.zeros(len(geometry.body), bool)
        touching[active.stencils.vertices] = True
        return np.unique(s.rows[np.repeat(touching[: geometry.count], np.diff(s.first))])

    def take_way(self) -> Array | None:
        """The places (w, n, 3) [m] between which particles went straight since the last call; None where they
        are not recorded."""
        if self.way is None:
            return None
        found = np.array(self.way).reshape(len(self.way), self.world.count, 3)
        self.way = []
        return found

    # ------------------------------------------------------------------------------ ledger, restart

    def potential_energy(self, x: Array) -> float:
        """Energy of the barrier and of the springs of friction [J]."""
        if self._restored is not None:
            self._continue(self._restored)
        found = self._potential
        if found is None:
            return 0.0
        places = self.present_places(0.0)
        at = self.vertices(found.geometry, x, places)
        return found.active(at).energy + found.history.energy

    def report_energy(self, totals: EnergyTotals) -> None:
        """Hand the heat of friction, and the work of prescribed motion against contact, since the last call
        to ``totals``."""
        totals.friction += self._heat
        totals.work += self._work
        self._heat = self._work = 0.0

    def remap(self, change: IndexMap, world: "World") -> None:
        raise IncompatibleError(
            "Barrier contact does not follow changes of the mesh: cuts, cracks, added material.",
            hint='Use [contact] method = "penalty".',
        )

    def state(self) -> dict[str, AnyArray]:
        found = self._potential
        if found is None:
            return {}
        return {
            "acting": np.array([each in self._obstacles for each in self.every_obstacle()], bool),
            "insets": self._insets,
            "reach": found.geometry.tables.reach,
            "heat": np.array([self._heat, self._work]),
            "places": self.present_places(0.0),
            **found.history.state(),
            **found.tube.state(),
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self._potential, self._restored = None, dict(state) if "insets" in state else None
        if self._restored is not None:
            self._heat, self._work = (float(value) for value in state["heat"])
