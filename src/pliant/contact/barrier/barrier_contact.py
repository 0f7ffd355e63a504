"""Barrier contact of all bodies and obstacles of a World, for implicit integrators."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.contact.barrier import stencil_kernels as kernels
from pliant.contact.barrier.candidates import ContactGeometry
from pliant.contact.barrier.geometry import body_surfaces, obstacle_vertices, pair_tables
from pliant.contact.barrier.potential import ActiveStencils, BarrierPotential, FrictionLag
from pliant.contact.barrier.starts import insets, narrow_reaches, refuse_overlaps
from pliant.contact.pair_coefficients import check_names
from pliant.core.errors import IncompatibleError
from pliant.core.typing import AnyArray, Array, IntArray
from pliant.interfaces import ActionRuntime, EnergyTotals, IndexMap

if TYPE_CHECKING:
    from pliant.contact.obstacle import ObstacleRuntime
    from pliant.contact.parameters import Contact
    from pliant.state.world import World


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
        """The potential of the bodies that are there and of ``obstacles``, for a step from ``time`` on."""
        if self._potential is not None and tuple(obstacles) == self._obstacles:
            return self._potential
        world, restored = self.world, self._restored
        surfaces = body_surfaces(world)
        self._last_places = None if restored is None else restored["places"].copy()
        self._obstacles = tuple(obstacles)
        self._insets = (
            insets(world, obstacles, surfaces.edge, time) if restored is None else restored["insets"].copy()
        )
        tables = pair_tables(world, self.contact, surfaces, obstacles)
        vertices = obstacle_vertices(obstacles, self._insets)
        geometry = ContactGeometry(surfaces, vertices, tables, len(world.bodies))
        found = BarrierPotential(geometry)
        if restored is None:
            refuse_overlaps(world, geometry)
            x = self.vertices(geometry, world.x, self.places(time))
            for text in narrow_reaches(world, geometry, x):
                self.diagnostics.note(text)
            if self._potential is not None:
                found.history = self._potential.history
        else:
            tables.reach[:] = restored["reach"]
            found.history.restore(restored)
            found.tube.restore(geometry, restored)
            self._restored = None
        for each in obstacles:
            each.barrier = True
        self._potential = found
        return found

    def places(self, time: float) -> Array:
        """Where the obstacles are at ``time`` (k, 3) [m]."""
        return np.array([each.path.at(time) for each in self._obstacles], float).reshape(-1, 3)

    def present_places(self, time: float) -> Array:
        """Where the obstacles are at the beginning of a step from ``time`` on."""
        return self.places(time) if self._last_places is None else self._last_places

    @staticmethod
    def vertices(geometry: ContactGeometry, x: Array, places: Array) -> Array:
        """All vertices (v, 3) for particles at ``x`` and obstacles at ``places``."""
        s = geometry.surfaces
        out = np.empty((len(geometry.body), 3))
        kernels.gather(s.first, s.rows, s.weights, x, out)
        out[geometry.count :] = geometry.obstacles.at(places)
        return out

    # ------------------------------------------------------------------------------ end of the step

    def commit(
        self,
        time: float,
        dt: float,
        moved: Array,
        stages: Sequence[tuple[float, ActiveStencils, FrictionLag, Array]],
    ) -> None:
        """Take note of a step that ended at ``time``: ``moved`` (v, 3) [m] of all vertices; stages: the
        shares of the step, what was in contact, its friction, and the places of the vertices."""
        assert self._potential is not None
        history = self._potential.history
        heat = 0.0
        for share, active, lag, x in stages:
            slip = np.empty_like(lag.force)
            kernels.relative(lag.vertices, lag.w, moved, slip)
            heat -= share * float(np.sum(lag.force * slip))
            self._record(time, share * dt, dt, moved, active, lag, x)
        lag = stages[-1][2]
        self._heat += heat - (lag.stored(lag.stretch) - lag.stored(lag.kept))
        final = self._potential.lag(stages[-1][1])
        final.evaluate(moved)
        history.keep(final)
        self._last_places = self.places(time)

    def _record(
        self,
        time: float,
        span: float,
        dt: float,
        moved: Array,
        active: ActiveStencils,
        lag: FrictionLag,
        x: Array,
    ) -> None:
        """Hand the impulses on bodies to the obstacles that gave them."""
        geometry = self._potential.geometry if self._potential is not None else None
        assert geometry is not None
        if not len(geometry.obstacles.owner):
            return
        vertices = np.concatenate([active.stencils.vertices, lag.vertices])
        force = np.concatenate([-active.grad, lag.w[:, :, None] * lag.force[:, None, :]])
        kind = geometry.body[vertices]  # (s, 4)
        for k, obstacle in enumerate(self._obstacles):
            own = (kind == geometry.bodies + k).any(axis=1)
            if not own.any():
                continue
            of_bodies = kind[own] < geometry.bodies
            rows, impulse = vertices[own][of_bodies], span * force[own][of_bodies]
            carried = moved[np.flatnonzero(geometry.body == geometry.bodies + k)[0]]
            obstacle.record_contact(time, x[rows], impulse, carried / dt, 0.0)

    def rows_in_contact(self, active: ActiveStencils) -> IntArray:
        """Rows of the World whose vertices touch something."""
        assert self._potential is not None
        geometry = self._potential.geometry
        used = np.unique(active.stencils.vertices)
        return np.asarray(geometry.surfaces.rows[used[used < geometry.count]])

    # ------------------------------------------------------------------------------ ledger, restart

    def potential_energy(self, x: Array) -> float:
        """Energy of the barrier and of the springs of friction [J]."""
        found = self._potential
        if found is None:
            return 0.0
        places = self.present_places(0.0)
        at = self.vertices(found.geometry, x, places)
        return found.active(at).energy + found.history.energy

    def report_energy(self, totals: EnergyTotals) -> None:
        """Hand the heat of friction since the last call to ``totals``."""
        totals.friction += self._heat
        self._heat = 0.0

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
            "insets": self._insets,
            "reach": found.geometry.tables.reach,
            "heat": np.array(self._heat),
            "places": self.present_places(0.0),
            **found.history.state(),
            **found.tube.state(),
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self._potential, self._restored = None, dict(state) if "insets" in state else None
        if self._restored is not None:
            self._heat = float(state["heat"])
