"""Penalty contact between all bodies of the World."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.contact import pair_kernels
from pliant.contact.contact_pairs import ContactPairs
from pliant.contact.initial_overlap import allow_new_faces, allow_new_pieces, allow_overlaps
from pliant.contact.pair_coefficients import check_names
from pliant.contact.pair_layout import DAMPING, STIFFNESS
from pliant.contact.surfaces import new_faces
from pliant.core.typing import AnyArray, Array
from pliant.interfaces import ActionRuntime, IndexMap, Projection, StableStep

if TYPE_CHECKING:
    from pliant.contact.parameters import Contact
    from pliant.state.world import World


class PenaltyContact(ActionRuntime):
    r"""Surface particles against the swept surfaces of other bodies.

    Each surface particle of a body is a ball; the other body is its triangles, as thick. The ball takes
    the nearest point of them, and while it is closer than the sum of both radii a spring and a damper push it
    off along the line, never pulling, with the reaction spread over the triangle's corners; and so the
    other way round. Friction is a spring across the line, stretched by the slip, of at most
    :math:`\mu F_N`: it sticks at rest and slides beyond. Its stretch is the pair's history.

    Source: [JanssonVergeest2000]_ 3.2, eqs. (15) to (20). Differs: balls against swept surfaces instead of
    balls against balls, which interlock; friction with a history instead of against the slip alone.
    """

    capabilities = frozenset({Projection})
    account = "friction"
    velocity_dependent = True
    applied_last = True

    def __init__(self, world: "World", contact: "Contact") -> None:
        check_names(world, contact)
        self.world, self.contact = world, contact
        self.sticky = self._sticky_at(0.0)
        self.table = ContactPairs(world, contact, self.sticky)
        self.fresh = False  # whether ``table`` is that of the present positions
        for text in allow_overlaps(self.table, world):
            self.diagnostics.note(text)

    def _sticky_at(self, time: float) -> tuple[bool, ...]:
        return tuple(part.sticky is not None and part.sticky(time) for part in self.world.bodies)

    def _renew(self) -> None:
        """Take over the present surfaces of all bodies."""
        self.table, self.fresh = ContactPairs(self.world, self.contact, self.sticky), False

    # ------------------------------------------------------------------------- what the loop calls

    def project(self, time: float, dt: float, world: "World") -> None:
        """After each drift: look what touches, and bring the stick springs up to date."""
        sticky = self._sticky_at(time)
        if sticky != self.sticky:
            kept, self.sticky = self.table.kept(), sticky
            self._renew()
            self.table.attach(*kept)
        table = self.table
        table.search(world.x)
        pair_kernels.advance(table.arrays(world.v, world.inverse_mass), len(table.pairs), dt)
        self.fresh = True

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        table = self.table
        if not (self.fresh and x is self.world.x):
            table.search(x)
        self.fresh = False
        pair_kernels.pair_forces(table.arrays(v, self.world.inverse_mass), len(table.pairs), table.forces)
        pair_kernels.spread(
            table.pairs, table.surfaces.triangles, table.touched, table.geometry, table.forces, out
        )

    def stable_step(self) -> StableStep:
        """With ``w^2 = 8 k / m`` of a particle between two contacts, damped, on top of the body's own."""
        best, reason, table = float("inf"), "no bodies meet", self.table
        for number, part in enumerate(self.world.bodies):
            if not table.meets[number].any():
                continue
            law = table.laws[number][table.meets[number]]
            own = part.mechanics.stable_step().seconds
            mass = float(table.mass[part.rows].min())
            z = float(law[:, DAMPING].max())
            touch = (
                2.0 / np.sqrt(4.0 * float(law[:, STIFFNESS].max()) / mass) * (np.sqrt(1 + 4 * z * z) - 2 * z)
            )
            both = float(1.0 / np.sqrt(1.0 / own**2 + 1.0 / touch**2))
            if both < best:
                best, reason = both, f"contacts of body '{part.name}'"
        return StableStep(best, reason)

    # -------------------------------------------------------------------------------------- restart

    def remap(self, change: IndexMap, world: "World") -> None:
        (keys, history), pressed = self.table.kept(), self.table.pressed()
        parents = change.parents.reshape(len(change.parents), -1)[:, 0]
        new_row = np.full(int(max(parents.max(), keys[:, 0].max(initial=0))) + 1, -1)
        new_row[parents[::-1]] = np.arange(len(parents))[::-1]
        before = self.table.surfaces.triangles
        self._renew()
        rows = new_row[keys[:, 0]]
        there = rows >= 0
        keys = np.column_stack([rows, keys[:, 1]])[there]
        self.table.attach(keys, history[there])
        parents = parents.copy()
        parents[change.fresh] = -1  # faces of newcomers are new, whatever is near
        allow_new_faces(self.table, world.x, new_faces(self.table.surfaces.triangles, parents, before))
        allow_new_pieces(self.table, world, keys, pressed[there])

    def state(self) -> dict[str, AnyArray]:
        keys, history = self.table.kept()
        return {"keys": keys, "history": history, "sticky": np.array(self.sticky)}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.sticky = tuple(bool(one) for one in state.get("sticky", np.zeros(len(self.world.bodies))))
        self._renew()  # bodies are restored already, their friction with them
        self.table.restore(state["keys"], state["history"])
