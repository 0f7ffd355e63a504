"""Penalty contact between all bodies of the World."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.contact import pair_kernels, vertex_kernels
from pliant.contact.contact_pairs import ContactPairs, children, inherited, renumbered
from pliant.contact.initial_overlap import (
    OverlapSchedule,
    allow_broken,
    allow_new_faces,
    allow_new_pieces,
    allow_overlaps,
    allow_sudden,
)
from pliant.contact.pair_coefficients import check_names
from pliant.contact.pair_layout import DAMPING, DISTANCE, LEVER, STIFFNESS, UNIT, WEIGHT
from pliant.contact.smooth_surface import SmoothSurfaces
from pliant.contact.surfaces import new_faces
from pliant.core.typing import AnyArray, Array
from pliant.interfaces import ActionRuntime, EnergyTotals, IndexMap, Projection, StableStep

if TYPE_CHECKING:
    from pliant.contact.parameters import Contact
    from pliant.state.contact_impulses import ContactImpulses
    from pliant.state.world import World


STRIDE = 2.0  # how far vertices may move against each other in a step [largest difference of velocities]


class PenaltyContact(ActionRuntime):
    r"""Surfaces of bodies against each other: vertices against triangles, and edges against edges.

    A vertex is a ball, triangles and edges are as thick. A pair is a vertex and the nearest triangle of
    another body, or an edge and the nearest edge; while it is closer than the sum of both radii, the reach R,
    it stores :math:`\tfrac12 k\,(R - d)^2`, and a damper takes energy; it never pulls. The distance d is
    negative inside of closed surfaces. Edges have 0.6 of the reach, so that they act only where vertices do
    not. Friction acts at the common contact point, between both surfaces, where the velocity includes the
    rotation of either side: a spring across the normal, stretched by the slip, of at most
    :math:`\mu F_N`. Its torque about the vertices goes to the particles around them, so that linear and
    angular momentum are kept.

    Source: [JanssonVergeest2000]_ 3.2, eqs. (15) to (20). Differs: balls against swept surfaces instead of
    balls against balls, which interlock; friction with a history, at the contact point.
    """

    capabilities = frozenset({Projection})
    account = "friction"
    velocity_dependent = True
    stored = "contact"
    applied_last = True

    def __init__(self, world: "World", contact: "Contact") -> None:
        check_names(world, contact)
        self.world, self.contact = world, contact
        self.smooth, self.overlaps = SmoothSurfaces(), OverlapSchedule(len(world.bodies))
        self.sticky = self._sticky_at(0.0)
        self.time = self.dt = 0.0  # of the last step
        self.given = 0.0  # energy that shrinking overlaps gave since the last report [J]
        self.table = self._table()
        self.searched = False  # whether ``table`` is that of the World's present positions
        self.fresh = False  # and nothing has been evaluated since they changed
        for text in allow_overlaps(self.table, world, self.overlaps, contact.separate):
            self.diagnostics.note(text)

    def _table(self) -> ContactPairs:
        return ContactPairs(self.world, self.contact, self.sticky, self.smooth)

    def _sticky_at(self, time: float) -> tuple[bool, ...]:
        return tuple(part.sticky is not None and part.sticky(time) for part in self.world.bodies)

    def _renew(self) -> None:
        """Take over the present surfaces of all bodies."""
        self.table, self.fresh, self.searched = self._table(), False, False

    def _left_overlaps(self, time: float) -> Array:
        """Overlaps that pairs of contact bodies are left with (b, b) [m]."""
        source = self.table.surfaces.source
        return np.ascontiguousarray(self.overlaps.at(time)[np.ix_(source, source)])

    # ------------------------------------------------------------------------- what the loop calls

    def project(self, time: float, dt: float, world: "World") -> None:
        """After each drift: find what touches, and bring the friction springs up to date."""
        sticky = self._sticky_at(time)
        if sticky != self.sticky:
            kept, self.sticky = self.table.kept(), sticky
            self._renew()
            self.table.attach(*kept)
        table, self.time, self.dt = self.table, time, dt
        table.stride = STRIDE * dt * float(np.ptp(world.v, axis=0).max(initial=0.0))
        table.search(world.x)
        if len(table.active):
            allow_sudden(table, self.overlaps, time)
            table.move(world.x, world.v, world.inverse_mass)
        self.given += pair_kernels.advance(
            table.arrays(), len(table.pairs), dt, self._left_overlaps(time), table.vertex_pairs
        )
        self.fresh = self.searched = True

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        table, s = self.table, self.table.surfaces
        if not (self.fresh and x is self.world.x):
            table.search(x)
            self.searched = x is self.world.x
        self.fresh = False
        kept = self.world.contact_impulses
        if kept is not None:
            kept.begin_evaluation()
        if not len(table.active):
            return
        history = self._history_at(x)
        table.move(x, v, self.world.inverse_mass)
        arrays = table.arrays(history)
        pair_kernels.damping_scales(
            self.dt, table.active, table.body_mass, table.vertex_scale, table.body_scale, *arrays
        )
        pair_kernels.pair_forces(arrays, len(table.pairs), table.vertex_scale, table.body_scale, table.forces)
        pair_kernels.spread(
            table.touched, table.stencil, table.geometry, table.forces, table.force, table.torque
        )
        receivers = [(table.force, table.torque, out)]
        if kept is not None:
            receivers.insert(0, (table.force.copy(), table.torque.copy(), kept.forces))
            self._measure(kept)
        for receiver in receivers:
            vertex_kernels.add_to_particles(
                table.active, s.first, s.rows, s.weights, s.spin_first, s.spin_rows, x, table.inverses,
                table.x, *receiver,
            )  # fmt: skip

    def _measure(self, kept: "ContactImpulses") -> None:
        """Hand the forces of the pairs, on both sides and at their contact points, to ``kept``."""
        table, s = self.table, self.table.surfaces
        which = np.flatnonzero((table.touched >= 0) & table.forces.any(axis=1))
        if not len(which) or not kept.watches:
            return
        g, corners, force = table.geometry[which], table.stencil[which], table.forces[which]
        weights, n = g[:, WEIGHT : WEIGHT + 4], g[:, UNIT : UNIT + 3]
        own = np.maximum(weights, 0.0)
        point = np.einsum("pk,pki->pi", own, table.x[corners]) / own.sum(axis=1)[:, None]
        point += (g[:, LEVER] - g[:, DISTANCE])[:, None] * n
        along = np.einsum("pi,pi->p", force, n)[:, None] * n
        above, below = (source[which] for source in table.sources)
        for sign, mine, other, taking in (
            (1.0, above, below, weights > 0.0),
            (-1.0, below, above, weights < 0.0),
        ):
            rows = [
                np.concatenate([s.rows[s.first[i] : s.first[i + 1]] for i in row[some]])
                for row, some in zip(corners, taking, strict=True)
            ]
            kept.add_between(mine, other, point, sign * along, sign * (force - along), rows, True)

    def _history_at(self, x: Array) -> Array:
        """The history of touching pairs with particles at ``x``. While an implicit solve looks for the end of
        a step the World is at its beginning, and friction springs stretch by what moved since then."""
        table, world = self.table, self.world
        if x is world.x or not table.rubs:
            return table.history
        table.move(x, x - world.x, world.inverse_mass)
        pair_kernels.stretched(table.arrays(), len(table.pairs), table.stretched)
        return table.stretched

    def potential_energy(self, x: Array) -> float:
        """Energy of the contact and friction springs [J]."""
        t = self.table
        if not (self.searched and x is self.world.x):
            t.search(x)
            self.searched = x is self.world.x
        return float(
            pair_kernels.stored_energy(t.pairs, t.own, t.touched, t.geometry, t.laws, t.reach, t.history)
        )

    def stable_step(self) -> StableStep:
        """With ``w^2 = 8 k / m`` of a particle between two contacts, damped, on top of the body's own."""
        best, reason, table = float("inf"), "no bodies collide", self.table
        for number, part in enumerate(self.world.bodies):
            mine = table.surfaces.source == number
            law = table.laws[mine][table.collides[mine]]
            if not len(law):
                continue
            own = part.mechanics.stable_step().seconds
            stiffness = float(law[:, STIFFNESS].max())
            mass = float(table.surfaces.mass[mine[table.surfaces.body]].min())
            z = float(law[:, DAMPING].max())
            touch = 2.0 / np.sqrt(4.0 * stiffness / mass) * (np.sqrt(1 + 4 * z * z) - 2 * z)
            both = float(1.0 / np.sqrt(1.0 / own**2 + 1.0 / touch**2))
            if both < best:
                best, reason = both, f"contacts of body '{part.name}'"
        return StableStep(best, reason)

    # -------------------------------------------------------------------------------------- restart

    def remap(self, change: IndexMap, world: "World") -> None:
        (keys, history), pressed = self.table.kept(), self.table.pressed()
        parents = change.parents.reshape(len(change.parents), -1)[:, 0]
        before = self.table.surfaces
        new_row = np.full(int(max(parents.max(), before.rows.max(initial=0))) + 1, -1)
        new_row[parents[::-1]] = np.arange(len(parents))[::-1]
        self._renew()
        parents = parents.copy()
        parents[change.fresh] = -1  # faces of newcomers are new, whatever is near
        heirs = children(before, self.table.surfaces, parents)
        keys, there = renumbered(keys, before, self.table.surfaces, new_row)
        keys, of = inherited(keys[there], heirs)
        history, pressed = history[there][of], pressed[there][of]
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        keys, history, pressed = keys[order], history[order], pressed[order]
        self.table.attach(keys, history)
        faces = new_faces(self.table.surfaces, parents, before)
        known = allow_broken(self.table, world, self.contact, keys, pressed)
        allow_new_faces(self.table, world.x, faces, known, self.overlaps, self.time)
        allow_new_pieces(self.table, world, keys, pressed)

    def state(self) -> dict[str, AnyArray]:
        keys, history = self.table.kept()
        return {
            "keys": keys,
            "history": history,
            "sticky": np.array(self.sticky),
            "overlaps": self.overlaps.entries(),
            "last": np.array([self.time, self.dt, self.given]),
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.sticky = tuple(bool(one) for one in state.get("sticky", np.zeros(len(self.world.bodies))))
        self._renew()  # bodies are restored already, their friction with them
        self.table.restore(state["keys"], state["history"])
        self.overlaps.restore(state["overlaps"])
        self.time, self.dt, self.given = (float(value) for value in state["last"])

    def report_energy(self, totals: EnergyTotals) -> None:
        """The energy that shrinking overlaps gave to the contacts is work, and no friction undone."""
        totals.work += self.given
        totals.friction += self.given
        self.given = 0.0
